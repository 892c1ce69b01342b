"""A lab as a notebook of Jupyter's says what it says in marimo; its slides have its questions and no answers."""

import ast
import json
import re
import warnings

import pytest

from dp_bandit_envs.course import exporting
from dp_bandit_envs.course.checking import Verdict
from dp_bandit_envs.course.exporting import cells_of, export, first_choices, ipynb, states
from dp_bandit_envs.course.notebooks import LABS, find
from tests.labs.test_notebooks import FOLDER, SOLVED, run, solved, unsolved

pytest.importorskip("marimo")
WIDEST = 500
"""A picture's width, of whose 350 pixels on a telephone letters of 7.5 points (10 pixels) are 7 high: 350 / 7 * 10."""


def source_of(name):
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def in_jupyter(name, replaced=()):
    """Run a lab's copy from top to bottom; return the verdicts of its cells as text, and all that it shows."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.reads(ipynb(find(name), source_of(name)), 4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        for task in replaced:
            if re.search(rf"^(def {task}\(|{task} =)", cell.source, re.MULTILINE):
                cell.source = f"from dp_bandit_envs.labs.solutions.{name} import {task}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own
        nbclient.NotebookClient(notebook, timeout=300).execute()
    shown = [each.data for cell in notebook.cells for each in cell.get("outputs", []) if "data" in each]
    verdicts = [each["text/plain"] for each in shown if 'class="verdict"' in each.get("text/html", "")]
    return [eval(each, {"Verdict": Verdict}) for each in verdicts], "\n".join(map(str, shown))


def test_a_notebook_of_jupyter_waits_for_answers_and_judges_solutions_as_marimo_does(monkeypatch):
    monkeypatch.setenv("LAB_HORIZON", "1024")
    verdicts, text = in_jupyter("counters", SOLVED["counters"][:1])
    right, wrong = solved("counters")[0][0], unsolved("counters")[0][1]
    assert [tuple(each) for each in verdicts] == [tuple(right), tuple(wrong)]
    assert "Choose one; then the answer appears" in text and "This waits for a cell above" in text
    assert "You said" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", [lab.file.removesuffix(".py") for lab in LABS])
def test_every_lab_runs_in_jupyter_with_the_verdicts_of_marimo(name, monkeypatch):
    monkeypatch.setenv("LAB_HORIZON", "1024")
    verdicts, _ = in_jupyter(name)
    assert set(map(tuple, verdicts)) == set(
        map(tuple, run(name, "edit")[0])
    )  # marimo counts a name that is shown twice


@pytest.mark.parametrize("name", [lab.file.removesuffix(".py") for lab in LABS])
def test_cells_are_those_of_the_file(name):
    source = source_of(name)
    written = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
    for function, cell in zip(written, cells_of(source), strict=True):
        code = [ast.unparse(part) for part in function.body if not isinstance(part, ast.Return)]
        assert [ast.unparse(part) for part in ast.parse(cell.code).body] == code
        assert cell.hidden == ("hide_code" in ast.unparse(function.decorator_list[0]))
        returned = {each.id for each in ast.walk(function.body[-1]) if isinstance(each, ast.Name)}
        assert set(cell.gives) <= returned and cell.needs == tuple(each.arg for each in function.args.args)


def test_slides_have_the_questions_and_one_picture_each_but_no_answers(tmp_path):
    notebook, deck = export(find("counters"), tmp_path)
    text = deck.read_text(encoding="utf-8")
    slides = re.findall(r"<section>.*?</section>", text, re.DOTALL)
    assert [each.count("<img") for each in slides].count(1) == 2 and max(each.count("<img") for each in slides) == 1
    assert "<li>about 3 times</li>" in text and "Find out, and write down" in text
    assert not any(word in text for word in ("You said", "Task 1", "verdict", "node_scale", "marimo-", "<li><b>"))
    assert all(int(width) <= WIDEST for width in re.findall(r'<img [^>]*width="(\d+)"', text))
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert json.loads(notebook.read_text(encoding="utf-8"))["nbformat"] == 4


def test_a_slider_has_all_its_states():
    """The answer of each state is that of a slider at this value; only cells that depend on it run again."""
    source = source_of("counters")
    assert source.count("range(6, 15)") == 1
    cells = cells_of(source.replace("range(6, 15)", "range(11, 14)"))
    names = {}
    with first_choices("edit") as sliders:
        shown = {each.cell: each.html for each in exporting.run(cells, names)}
        found = dict(states(cells, names, sliders[0]))
    assert list(found) == [11, 12, 13]
    (answering,) = (cell for cell in cells if 'id="answer"' in cell.code)
    assert [f"T = {2**power - 1:,}," in found[power][answering] for power in found] == [True] * 3
    words = [re.search('id="answer">(.*?)</p>', each)[1] for each in (shown[answering], found[12][answering])]
    assert words[0] == words[1] and len(found[11]) < len(cells) / 2
