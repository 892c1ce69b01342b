"""The labs for a browser play short games without a compiler, and import only what a browser's Python has."""

import importlib.util
import json
import re
from importlib import metadata

import pytest

from dp_bandit_envs.course.notebooks import find
from tests.test_light_install import BROWSER, ROOT, light

pytest.importorskip("marimo")
spec = importlib.util.spec_from_file_location("browser_labs", ROOT / "docs" / "generators" / "browser_labs.py")
browser_labs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(browser_labs)

IN_PYODIDE = {"numpy", "matplotlib", "cloudpickle", "typing_extensions"}
"""What we need of Pyodide's own packages."""
PURE = {"gymnasium", "farama_notifications"}
"""Wheels of pure Python, which a browser takes from PyPI."""
PLAYED = """
Refuse.missing.remove("matplotlib")
import json
from dp_bandit_envs.course.exporting import cells_of, first_choices, run
names = {}
with first_choices("edit"):
    texts = [shown.html for shown in run(cells_of(SOURCE), names)]
print(json.dumps(["".join(texts), names.get("TRIALS", 0), sorted(set(Refuse.missing) & set(sys.modules))]))
"""


@pytest.mark.parametrize("name", browser_labs.LABS)
def test_a_lab_plays_without_a_compiler(name):
    source = browser_labs.notebook(find(name), "package.whl")
    assert re.search(r"(?m)^async def _\(\):$", source) and '"public" / "package.whl"' in source
    assert ("400 rounds in place of 10,000" in source) == (name != "counters")
    # Here there is no micropip, and nothing to install.
    native = re.sub(r"    import micropip\n|    await micropip.*\n", "", source).replace("async def", "def")
    code = f"{BROWSER}SOURCE = {native!r}\n{PLAYED}"
    (line,), _ = light(code)
    text, trials, compiled = json.loads(line)
    assert 'id="answer"' in text and "You said" in text and text.count("Not yet") == 2
    assert compiled == [] and trials == (0 if name == "counters" else 5)


def test_the_wheel_needs_only_what_a_browser_can_load():
    needed = [each for each in metadata.requires("dp-bandit-envs") if "extra ==" not in each]
    names = {re.match(r"[\w-]+", each)[0] for each in needed}
    names |= {re.match(r"[\w-]+", each)[0] for each in metadata.requires("gymnasium") if "extra ==" not in each}
    assert {name.lower().replace("-", "_") for name in names} - {"dp_bandit_envs"} <= IN_PYODIDE | PURE
