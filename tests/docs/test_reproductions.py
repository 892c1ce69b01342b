"""The pages of reproductions and of the suite: every number is that of stored results."""

import importlib
import json
import re

import pytest
from typer.testing import CliRunner

from dp_bandit_envs.cli.app import app
from dp_bandit_envs.experiments.report import draw_figures, numbers_json
from dp_bandit_envs.figures.reproduction import study_of
from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.suite.reference import reference
from dp_bandit_envs.suite.sheet import ALL_AXES, best_of
from dp_bandit_envs.suite.task_table import AXES, TASKS
from tests.docs.test_generated_pages import reproduction_pages
from tests.tools.pages import PAGES, ROOT, prose

drawn_again, suite_page = (importlib.import_module(f"generators.{name}") for name in ("drawn_again", "suite_page"))
NAMES = reproduction_pages.PAGES
MARKED = reproduction_pages.MARKED
SETTINGS = (
    r"\((AAAI )?\d{4}\)|\b\w+ and \w+ \d{4}\b|\(AAAI \d{4}\)",
    r"epsilon (= |of )(1|10|0\.1|0\.3)\b(?!\.\d)|at 0\.1\b|\| 1, [A-Z]|\| 0\.1, [A-Z]|2 arms, 0\.1|10 arms, (1|0\.1)",
    r"\b(10|2)[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\b[dK] = \d+|delta = (T⁻²|1e-6)|1 / (epsilon|sqrt\(T\))|T\^\(2/3\)|ln² T|EXP[23]",
    r"within 1\.5 of|gap of 0\.5|a 99 % quantile|seeing 2 to 10 of 20 arms|epsilon of 0\.3 and less",
    r"\b(2|10|two) arms|[Tt]ables? (1 and 2|[12]|3\.2\.1)|[Ff]igure \d|E6|errata\]",
    r"Means \([.\d, ]+\) above and \([.\d, ]+\) below|epsilon from 0\.05 to 2|95 % confidence|24 groups|t / 2",
)
"""What a page says of games, papers and guarantees: these numbers were chosen, not measured."""


def text_of(name):
    return PAGES[f"docs/reproductions/{name}.md"]


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_a_page_is_that_of_the_stored_results(name):
    text, numbers = text_of(name), reproduction_pages.stored(name)
    assert MARKED.findall(text) and reproduction_pages.refreshed(text, numbers) == text
    # No number stands outside of the marks but what was chosen.
    rest = re.sub(r"\]\([^)]*\)|`[^`\n]*`|<!-- .*? -->", " ", prose(MARKED.sub(" ", text)))
    for chosen in SETTINGS:
        rest = re.sub(chosen, " ", rest)
    assert re.findall(r".{0,30}[\d⁰¹²³⁴⁵⁶⁷⁸⁹]+.{0,20}", rest) == []
    # At the start of a line a mark would be a block of HTML, which ends the paragraph.
    assert not re.search(r"^\s*<!--[^ ]", text, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_digit_is_found(name):
    text, numbers = text_of(name), reproduction_pages.stored(name)
    for marked in MARKED.finditer(text):
        digit = re.search(r"\d(?=[^\d]*$)|[⁰¹²³⁴⁵⁶⁷⁸⁹](?=[^⁰-⁹]*$)", marked[3])
        if digit is None:
            continue
        place = marked.start(3) + digit.start()
        wrong = text[:place] + ("7" if digit[0] != "7" else "8") + text[place + 1 :]
        assert reproduction_pages.refreshed(wrong, numbers) == text != wrong


@pytest.mark.parametrize("name", NAMES)
def test_stored_results_are_those_of_the_experiments_as_they_are(name):
    """Every entry is quoted, and names a game and an algorithm that the command plays today at full size."""
    known = set()
    for folder in reproduction_pages.FOLDERS.get(name, (name,)):
        plan = study_of(folder)
        for one in plan.experiments:
            start = f"{folder}/{one.name}/" if len(plan.experiments) > 1 else f"{folder}/"
            for game in one.games:
                for spec in one.algorithms_of(game):
                    known.add((f"{start}{game.key}/{spec.label}", one.trials_of(spec)))
    numbers = reproduction_pages.stored(name)
    assert numbers and {(key, entry["trials"]) for key, entry in numbers.items() if "trials" in entry} <= known
    quoted = [marked for marked, _, _ in MARKED.findall(text_of(name))]
    assert all(any(reproduction_pages.matches(key, marked) for marked in quoted) for key in numbers)


@pytest.mark.slow
def test_a_page_is_made_again_from_what_the_command_writes(tmp_path, monkeypatch):
    """Small games: the page then has the means of their report."""
    monkeypatch.setattr(reproduction_pages, "FOLDER", tmp_path)
    monkeypatch.setattr(reproduction_pages, "ROOT", tmp_path)
    monkeypatch.setattr(drawn_again, "FOLDER", tmp_path / "examples")
    # A page's picture has no note below it, the command's has one.
    monkeypatch.setattr(drawn_again, "draw_figures", lambda *arguments, note: draw_figures(*arguments))
    picture, narrow = (tmp_path / "examples" / f"figure-2{end}.png" for end in drawn_again.WIDTHS)
    picture.parent.mkdir()
    picture.write_bytes(b"an older picture")
    (tmp_path / "figure-2.md").write_text(text_of("figure-2"), encoding="utf-8")
    out = tmp_path / "results" / "figure-2-modern"
    words = ["reproduce", "figure-2-modern", "--horizon", "200", "--trials", "5", "--jobs", "1", "--out", str(out)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    reproduction_pages.remake(tmp_path / "results", ("figure-2",))
    # Drawn again from the stored arrays, the figure is the one that the command drew.
    assert picture.read_bytes() == (out / "figure.png").read_bytes() != narrow.read_bytes()
    page, report = ((tmp_path / one).read_text(encoding="utf-8") for one in ("figure-2.md", out / "report.md"))
    numbers = json.loads((out / "numbers.json").read_text(encoding="utf-8"))
    for name in ("UCB", "DP-KLUCB"):
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        found = [numbers[key] for key in numbers if key.endswith(f"/{name}")]
        cells = [f"{one['mean']:,.1f} ± {one['error']:,.1f}" for one in found]
        assert len(cells) == 4 and " | ".join(cells) in row and all(f"| {cell} |" in report for cell in cells)
    assert reproduction_pages.stored("figure-2").keys() <= {f"figure-2-modern/{key}" for key in numbers}


def test_formats_by_hand_and_what_has_no_error_is_none_in_json():
    numbers = {
        "f/a/X": {"trials": 3, "mean": 1234.5, "error": 6.5, "median": 7.0},
        "f/b/X": {"mean": 0.26, "error": 0.04, "term": 0.5},
        "f/free": {"from": 65536},
    }
    for mark, expected in {
        "f/a/X : ,.0f": "1,234 ± 6",
        "f/*/X : .1f": "1234.5 ± 6.5 | 0.3 ± 0.0 (0.5)",
        "f/a/X#median : .0f": "7",
        "f/free#from : power": "2¹⁶",
    }.items():
        assert (
            reproduction_pages.refreshed(f"a <!--{mark}-->?<!----> b", numbers) == f"a <!--{mark}-->{expected}<!----> b"
        )
    with pytest.raises(KeyError, match="f/c/X"):
        reproduction_pages.refreshed("<!--f/c/X : .1f-->?<!---->", numbers)
    # A single game has no standard error, and JSON no NaN.
    text = numbers_json([], study_of("figure-1").view, {"one": {"mean": 2.0, "error": float("nan")}})
    assert json.loads(text) == {"one": {"mean": 2.0, "error": None}}
    assert reproduction_pages.refreshed("<!--one : .1f-->?<!---->", json.loads(text)) == "<!--one : .1f-->2.0<!---->"


def test_tables_are_made_from_the_reference():
    """If this fails after `make reference`, run `python docs/generators suite`."""
    page = PAGES["docs/suite.md"]
    assert suite_page.with_tables(page) == page
    assert {found[2] for found in suite_page.MARKED.finditer(page)} == set(suite_page.TABLES)


def test_which_to_take_names_the_best_of_each_axis():
    """By a second route: from the rows of the file."""
    rows = re.findall(r"^\| (.*) \|$", suite_page.by_axis(), re.MULTILINE)[2:]
    assert len(rows) == 1 + len(AXES)
    for axis, row in zip((ALL_AXES, *AXES), rows, strict=True):
        for level, cell in zip((0.1, 1.0, 10.0), row.split(" | ")[1:], strict=True):
            name, score = re.match(r"`([^`]+)` (-?[\d.]+)", cell).groups()
            best = best_of(reference(), "quick", level, axis)[0]
            assert suite_page._code(best[0]) == f"`{name}`" and float(score) == pytest.approx(best[1], abs=0.0051)


@pytest.mark.thorough
def test_the_page_names_every_task_and_the_picture_is_that_of_the_reference():
    for task in TASKS.values():
        assert task.axis in PAGES["docs/suite.md"] and task.name.partition("/")[2] in PAGES["docs/suite.md"]
    figure = suite_page.picture_of_reference(suite_page.DOTS, suite_page.SIZE)
    assert (ROOT / "examples" / "suite.png").read_bytes() == as_bytes(figure, "png")
