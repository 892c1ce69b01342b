"""What `marimo export` makes of the labs: pages to read, and notebooks of Jupyter's with the cells of the lab."""

import ast
import json
import re
import subprocess
import sys
from importlib import metadata

import pytest

from dp_bandit_envs.course.notebooks import LABS, cells_of, find
from tests.docs.test_generated_pages import lab_pages
from tests.labs.test_notebooks import FOLDER
from tests.test_light_install import BROWSER, light

pytest.importorskip("marimo")
IN_PYODIDE = {"numpy", "matplotlib", "cloudpickle", "typing_extensions"}
"""What we need of Pyodide's own packages."""
PURE = {"gymnasium", "farama_notifications"}
"""Wheels of pure Python, which a browser takes from PyPI."""
PLAYED = """
Refuse.missing.remove("matplotlib")
from dp_bandit_envs.labs.counters import app
outputs, _ = app.run(defs={"guess": type("Guess", (), {"value": "a guess"})})
print("answer" in "".join(each.text for each in outputs if hasattr(each, "text")))
print(sorted(set(Refuse.missing) & set(sys.modules)))
"""


def source_of(name):
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def exported(kind, source, folder):
    """Export a lab's text as a user does, and return the file's text."""
    (folder / "lab.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "marimo", "-q", "export", kind, "lab.py", "-o", "exported"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return (folder / "exported").read_text(encoding="utf-8")


def alone(code):
    """Return code without spaces and comments: an export indents texts and imports anew."""
    return re.sub(r"\s|\\n", "", ast.unparse(ast.parse(code)))


@pytest.mark.parametrize("name", [lab.file.removesuffix(".py") for lab in LABS])
def test_cells_are_those_of_the_file(name):
    source = source_of(name)
    written = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
    for function, cell in zip(written, cells_of(source), strict=True):
        code = [ast.unparse(part) for part in function.body if not isinstance(part, ast.Return)]
        assert [ast.unparse(part) for part in ast.parse(cell).body] == code


def test_a_notebook_of_jupyters_has_the_cells_of_the_lab(tmp_path):
    """Texts alone become Markdown; cells may stand in another order."""
    source = source_of("counters")
    cells = json.loads(exported("ipynb", source, tmp_path))["cells"]
    code = sorted(alone("".join(each["source"])) for each in cells if each["cell_type"] == "code")
    assert code == sorted(alone(each) for each in cells_of(source) if not each.startswith("mo.md(r"))
    assert any("".join(each["source"]).startswith("# Counters") for each in cells if each["cell_type"] == "markdown")


@pytest.mark.parametrize("name", [lab.name for lab in LABS])
def test_a_page_to_read_has_its_predictions_made_and_no_checks(name):
    source, read = source_of(find(name).file.removesuffix(".py")), lab_pages.to_read(find(name))
    ast.parse(read)
    assert read.count("mo.ui.radio(value=") == source.count("mo.ui.radio(") >= 1
    assert "import judged" not in read and read.count("def judged(") == 1
    assert f"`dp-bandit lab {name}` opens the lab" in read and "](../docs/" in read


@pytest.mark.thorough
def test_the_page_of_a_lab(tmp_path, monkeypatch):
    """Its answer and pictures are there, and no box says that something is missing."""
    page = lab_pages.page(find("counters"))
    assert "You said" in page and "Worst standard deviation up to T = 4,095" in page and "data:image/png" in page
    assert "a check says here what is wrong" in page and 'class=\\"verdict' not in page


@pytest.mark.slow
@pytest.mark.parametrize("name", [lab.name for lab in LABS])
def test_every_lab_becomes_a_page(name, tmp_path, monkeypatch):
    """As a user exports it, before the prediction; and as the site has it."""
    monkeypatch.setenv("LAB_HORIZON", "1024")
    lab = find(name)
    plain = exported("html", source_of(lab.file.removesuffix(".py")), tmp_path)
    page = lab_pages.page(lab)
    assert "marimo-radio" in plain and "You said" in page and 'class=\\"verdict' not in page
    # A cell may wait for another one, and none fails.
    assert set(re.findall('"ename": *"(.*?)"', plain + page)) <= {"ancestor-stopped"}


@pytest.mark.thorough
def test_a_lab_plays_without_a_compiler_as_in_a_browser():
    assert light(BROWSER + PLAYED)[0] == ["True", "[]"]


def test_the_wheel_needs_only_what_a_browser_can_load():
    needed = [each for each in metadata.requires("dp-bandit-envs") if "extra ==" not in each]
    names = {re.match(r"[\w-]+", each)[0] for each in needed}
    names |= {re.match(r"[\w-]+", each)[0] for each in metadata.requires("gymnasium") if "extra ==" not in each}
    assert {name.lower().replace("-", "_") for name in names} - {"dp_bandit_envs"} <= IN_PYODIDE | PURE
