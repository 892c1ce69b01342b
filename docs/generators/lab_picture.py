"""Photographs lab 2 for the page of the labs, wide and on a telephone, in Chromium: `python docs/generators lab`."""

import io
import shutil
import tempfile
from pathlib import Path

from dp_bandit_envs.course.notebooks import copy_labs, find, served
from generators.drawn_again import FOLDER

LAB = find("price-of-privacy")
WIDTHS = {"": (860, 1.4), "-narrow": (390, 2.0)}
"""The end of a picture's name, the width of the window, and how many dots of the picture one of the window has."""
PATIENCE = 180
"""Seconds to wait: the lab's first answer compiles seven learners."""
MARGIN = 12
PART = """
const all = (root, selector) => [...root.querySelectorAll(selector),
    ...[...root.querySelectorAll("*")].filter(e => e.shadowRoot).flatMap(e => all(e.shadowRoot, selector))];
const choices = all(document, "button[role=radio]"), part = document.querySelector("#try-it")?.closest(".output");
if (!choices.some(each => each.dataset.state === "checked")) choices[0]?.click();
if (!part || !all(part, "img").some(each => each.complete && each.naturalWidth)) return null;
const place = part.getBoundingClientRect(), top = document.querySelector("#try-it").getBoundingClientRect().top;
return [place.left, top, place.right, place.bottom];
"""
"""Makes the prediction; returns where on the page the sliders and what they show are, or null until they are there."""


def photograph() -> None:
    """Open the lab as in a lecture, and write what its sliders show."""
    from PIL import Image
    from selenium import webdriver
    from selenium.webdriver.support.wait import WebDriverWait

    options, driver = webdriver.ChromeOptions(), webdriver.ChromeService(shutil.which("chromedriver"))
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as folder:
        copy_labs(Path(folder))
        lab = served(Path(folder), LAB.file, read_only=True)
        with lab as (address, _), webdriver.Chrome(options, driver) as browser:
            for end, (width, scale) in WIDTHS.items():
                # So high that nothing has to be scrolled.
                size = {"width": width, "height": 6_000, "deviceScaleFactor": scale, "mobile": False}
                browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                browser.get(address)
                place = WebDriverWait(browser, PATIENCE).until(lambda _: browser.execute_script(PART))
                whole = Image.open(io.BytesIO(browser.get_screenshot_as_png()))
                box = [scale * (each + side * MARGIN) for each, side in zip(place, (-1, -1, 1, 1), strict=True)]
                shown = whole.convert("RGB").crop([round(each) for each in box])
                shown.quantize(256).save(FOLDER / f"lab-2{end}.png", optimize=True)
