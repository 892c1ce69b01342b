"""The tables of docs/suite.md are those of the suite's reference."""

import importlib
import re

import pytest

from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.suite.reference import reference
from dp_bandit_envs.suite.sheet import ALL_AXES, best_of
from dp_bandit_envs.suite.task_table import AXES, TASKS
from tests.docs.test_generated_pages import reproduction_pages  # which finds the generators
from tests.tools.pages import PAGES, ROOT

suite_page = importlib.import_module("generators.suite_page")
assert reproduction_pages


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


def test_the_page_names_every_task_and_the_picture_is_that_of_the_reference():
    for task in TASKS.values():
        assert task.axis in PAGES["docs/suite.md"] and task.name.partition("/")[2] in PAGES["docs/suite.md"]
    figure = suite_page.picture_of_reference(suite_page.DOTS, suite_page.SIZE)
    assert (ROOT / "examples" / "suite.png").read_bytes() == as_bytes(figure, "png")
