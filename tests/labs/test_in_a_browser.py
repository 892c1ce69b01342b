"""Labs in a real, headless Chromium: open, predict, move a slider, see the number change, no error in the console."""

import pytest

from dp_bandit_envs.course.notebooks import LABS, START_PAGE
from tests.labs.browser import LabPage, chromium, labs_served, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"labs are not opened in a browser: {missing()}")
ORDINARY = ("what-is-a-bandit", "price-of-privacy")
"""The labs that `make test` opens; `make test-slow` opens all."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        yield driver


def visit(driver, address, name):
    page = LabPage(driver, address, name)
    page.predict()
    before = page.answer()
    assert page.sliders()
    page.move()
    assert page.answer() != before
    assert page.errors() == []


def test_two_labs_answer_to_their_sliders(browser, tmp_path, monkeypatch):
    # A few rounds are played, not compiled: this is about the page.
    monkeypatch.setenv("LAB_HORIZON", "60")
    monkeypatch.delenv("DP_BANDIT_ENVS_COMPILE", raising=False)
    with labs_served(tmp_path) as address:
        for name in ORDINARY:
            visit(browser, address, name)


@pytest.mark.slow
@pytest.mark.parametrize("read_only", [True, False], ids=["read-only", "edit"])
@pytest.mark.parametrize("name", [lab.name for lab in LABS])
def test_every_lab_answers_to_its_sliders(browser, tmp_path, name, read_only):
    with labs_served(tmp_path, read_only=read_only) as address:
        visit(browser, address, name)


@pytest.mark.slow
def test_the_start_page_leads_to_every_lab(browser, tmp_path):
    with labs_served(tmp_path, read_only=False) as address:
        page = LabPage(browser, address, START_PAGE)
        page.wait(
            "all labs",
            lambda: (
                {f"?file={lab.file}" for lab in LABS}
                <= set(page.script("return all(document, 'a').map(e => e.getAttribute('href') || '')"))
            ),
        )
        assert page.errors() == []
