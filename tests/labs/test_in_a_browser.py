"""Labs in a real, headless Chromium: open, predict, move a slider, see the number change, no error in the console."""

import contextlib
import functools
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dp_bandit_envs.checks import installed
from dp_bandit_envs.course.notebooks import LABS, START_PAGE, STYLE, copy_labs, find, served

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120
"""Seconds to wait for a page before giving up: compiling may take a minute on a busy machine. No test measures time."""
IN_SHADOWS = """
const all = (root, selector) => [...root.querySelectorAll(selector),
    ...[...root.querySelectorAll('*')].filter(e => e.shadowRoot).flatMap(e => all(e.shadowRoot, selector))];
"""
"""A function that finds elements inside marimo's elements, too."""


@functools.cache
def missing() -> str | None:
    """Return why no lab can be opened here, and what to install; None if it can."""
    for module, extra in (("marimo", "labs"), ("selenium", "test")):
        if not installed(module):
            return f"there is no {module}: pip install -e '.[{extra}]'"
    if not (program("chromium", "google-chrome", "chrome") and program("chromedriver")):
        return "there is no Chromium with its driver: on Debian, apt-get install chromium chromium-driver"
    return None


def program(*names: str) -> str | None:
    """Return the path of the first of these programs that is installed."""
    return next(filter(None, map(shutil.which, names)), None)


@contextlib.contextmanager
def chromium(width: int = 1200, height: int = 1400) -> Iterator["object"]:
    """Start a browser with a fresh profile, and quit it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium", "google-chrome", "chrome")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(prefix="labs-browser-", ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--window-size={width},{height}", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(program("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


@contextlib.contextmanager
def labs_served(folder: Path, *, read_only: bool = True) -> Iterator[str]:
    """Serve copies of all labs from a folder; yield an address to which a file name is added."""
    copy_labs(folder)
    with served(folder, "", read_only=read_only) as (address, _):
        yield address


class LabPage:
    """A lab that is open in a browser.

    Args:
        driver: The browser.
        address: The address of the labs, as of `labs_served`.
        name: The lab's name, or a file's name with .py.
    """

    def __init__(self, driver, address, name):
        self.driver = driver
        driver.get("about:blank")
        driver.get_log("browser")  # the last page's server may be gone; what it said then is not of this page
        file = name if name.endswith(".py") else find(name).file
        driver.get(address.replace("file=", f"file={file}"))

    def script(self, code, *arguments):
        """Run JavaScript in which `all(document, selector)` finds elements, and return what it returns."""
        return self.driver.execute_script(IN_SHADOWS + code, *arguments)

    def wait(self, what, condition):
        """Wait until a condition holds and return its value, or raise with what the page shows."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{what} did not come; the page shows: {self.text()[-1500:]}")

    def text(self):
        """Return all text of the page."""
        return self.driver.find_element("tag name", "body").text

    def answer(self):
        """Return the text of the element `answer`, or None if there is none."""
        return self.script("const e = all(document, '#answer')[0]; return e ? e.innerText : null")

    def predict(self):
        """Make all predictions that are asked for, one after the other: the first choice, or the number as it is."""
        self.wait("a question", lambda: self.script("return all(document, 'button[role=radio], form').length"))
        end = time.monotonic() + PATIENCE
        while self.answer() is None and time.monotonic() < end:
            self.script(
                """for (const group of all(document, '[role=radiogroup]'))
                    if (!group.querySelector('[data-state=checked]')) group.querySelector('button[role=radio]').click();
                for (const button of all(document, 'form button')) if (!button.disabled) button.click();"""
            )
            time.sleep(0.3)
        self.wait("the answer", self.answer)

    def sliders(self):
        """Return the labels of all sliders."""
        return self.script("return all(document, 'marimo-slider').map(e => e.dataset.label || '')")

    def move(self, place=0, steps=1):
        """Move a slider to the right, at its end to the left; return the seconds until the answer changes."""
        before = self.answer()
        thumb = self.script(
            "return all(all(document, 'marimo-slider')[arguments[0]].shadowRoot, '[role=slider]')[0]", place
        )
        at_end = thumb.get_attribute("aria-valuenow") == thumb.get_attribute("aria-valuemax")
        self.script("arguments[0].focus()", thumb)
        began = time.monotonic()
        thumb.send_keys(("\ue012" if at_end else "\ue014") * steps)
        self.wait("another answer", lambda: self.answer() not in (None, before))
        return time.monotonic() - began

    def errors(self):
        """Return the errors that the browser's console has had, and those that cells show."""
        said = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return said + self.script("return all(document, '.marimo-error, [data-error]').map(e => e.innerText)")


pytestmark = pytest.mark.skipif(missing() is not None, reason=f"labs are not opened in a browser: {missing()}")


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        yield driver


@pytest.mark.thorough
def test_a_wide_table_scrolls_on_a_telephone_and_its_headings_have_room(browser, tmp_path):
    heads = ["rounds T", "binary tree", "wide tree", "wide tree, joint noise", "noise on rounds", "regret, at most"]
    table = f"<table><tr><th>{'<th>'.join(heads)}<tr><td>{'<td>'.join(['16,777,216'] * 6)}</table>"
    page = f"<!doctype html><style>{STYLE}</style><span class=markdown>{table}</span>"
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        widths = [each.size["width"] for each in browser.find_elements("css selector", "th")]
        page_and_table = browser.execute_script(
            "return [document.documentElement, document.querySelector('table')].map(e => e.scrollWidth > e.clientWidth)"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert min(widths) >= 70 and page_and_table == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("read_only", [True, False], ids=["read-only", "edit"])
@pytest.mark.parametrize("name", [lab.name for lab in LABS])
def test_every_lab_answers_to_its_sliders(browser, tmp_path, name, read_only):
    with labs_served(tmp_path, read_only=read_only) as address:
        page = LabPage(browser, address, name)
        page.predict()
        before = page.answer()
        assert page.sliders()
        page.move()
        assert page.answer() != before
        assert page.errors() == []


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
