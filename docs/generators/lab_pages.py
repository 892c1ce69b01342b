"""The labs as pages to read: each is run once, and written with its outputs and without its controls."""

import base64
import html
import io
import json
import re

from dp_bandit_envs.course import exporting
from dp_bandit_envs.course.exporting import cells_of, first_choices, run, states
from dp_bandit_envs.course.notebooks import LABS, Lab, linked as with_links
from generators.kept import ROOT

HEADING = re.compile(r"<h([1-6])[^>]*>(.*?)</h\1>", re.DOTALL)


def page(lab: Lab) -> str:
    """Run a lab and return its page."""
    number = LABS.index(lab) + 1
    parts = [
        head(lab),
        f"# Lab {number}: {lab.title}",
        f"*To read only: this is how the lab looks when it has run, with the first answer to each question for a"
        f" prediction. Its first slider moves here, too: what it shows was made beforehand. `dp-bandit lab {lab.name}`"
        f" opens the lab, for about {lab.minutes} minutes; see [labs](/docs/labs.md).*",
    ]
    source = with_links((ROOT / "examples" / "labs" / lab.file).read_text(encoding="utf-8"), "../../..")
    cells, names = cells_of(source), {}
    with first_choices("edit") as sliders:
        ran = list(run(cells, names))
        found = list(states(cells, names, sliders[0]))
    control = slider(sliders[0], [value for value, _ in found])
    for shown in ran:
        if not shown.cell.hidden:
            parts.append(f"```python\n{shown.cell.code}\n```")
        outputs = [made.get(shown.cell, "") for _, made in found]
        if len(set(outputs)) > 1:
            parts.append(
                moving(control, outputs, found.index(next(each for each in found if each[0] == sliders[0].value)))
            )
            control = ""
        elif shown.html:
            parts.append(still(shown.html))
    return "\n\n".join(parts) + "\n"


def head(lab: Lab) -> str:
    """Return what a page begins with: its description for search engines, as the first paragraph is that of all."""
    words = f"{lab.question} Lab {LABS.index(lab) + 1} of a course on private bandits."
    return f"---\nmyst:\n  html_meta:\n    description: {json.dumps(words)}\n---"


def slider(first, values: list) -> str:
    """Return a slider that chooses among states, without Python; it begins at its value in the lab."""
    shown = html.escape(json.dumps([f"{value:,}" for value in values]))
    return (
        f'<label class="lab-slider">{first.label_shown} <input type="range" max="{len(values) - 1}"'
        f' data-shown="{shown}" value="{values.index(first.value)}"> <output>{first.value:,}</output></label>'
    )


def moving(control: str, outputs: list[str], here: int) -> str:
    """Return what a cell shows in each state of the first slider: all of it but one is hidden.

    Args:
        control: The slider, above the first such cell.
        outputs: What the cell shows in each state.
        here: The state at first.
    """
    heading = [f"{'#' * int(depth)} {_plain(words)}" for depth, words in HEADING.findall(outputs[here])]
    each = (
        f'<div data-state="{place}"{"" if place == here else " hidden"}>'
        f"{small(exporting.still(HEADING.sub('', output), _mathml))}</div>"
        for place, output in enumerate(outputs)
    )
    return "\n\n".join([*heading, f'````{{raw}} html\n<div class="lab">{control}{"".join(each)}</div>\n````'])


def small(page: str) -> str:
    """Return a page whose pictures have 64 colours at most, in a third of the bytes."""
    from PIL import Image

    def fewer(found: re.Match[str]) -> str:
        written = io.BytesIO()
        picture = Image.open(io.BytesIO(base64.b64decode(found[1]))).convert("RGB")
        picture.quantize(64, dither=Image.Dither.NONE).save(written, "png", optimize=True)
        return f'src="data:image/png;base64,{base64.b64encode(written.getvalue()).decode()}"'

    return re.sub(r'src="data:image/png;base64,([^"]+)"', fewer, page)


def index() -> str:
    """Return the page that lists them."""
    lines = ["# The labs, to read", "The labs of the [course](/docs/labs.md) with their outputs, for a first look."]
    lines.append(
        "\n".join(f"{place}. [{lab.title}]({lab.name}.md): {lab.question}" for place, lab in enumerate(LABS, 1))
    )
    lines.append("\n".join(["```{toctree}", ":hidden:", "", *(lab.name for lab in LABS), "```"]))
    return "\n\n".join(lines) + "\n"


def linked(text: str) -> str:
    """Return the course's page with each lab's name in a table as a link to the page that shows it."""
    for lab in LABS:
        text = text.replace(f"| `{lab.name}` |", f"| [`{lab.name}`](/docs/generated/labs/{lab.name}.md) |")
    return text


def still(output: str) -> str:
    """Return an output without scripts: controls become words, formulas MathML, headings those of a page."""
    output = exporting.still(output, _mathml)
    output = re.sub(r"<h1[^>]*>.*?</h1>", "", output, flags=re.DOTALL)
    parts, place = [], 0
    for found in HEADING.finditer(output):
        parts += [_raw(output[place : found.start()]), f"{'#' * int(found[1])} {_plain(found[2])}"]
        place = found.end()
    return "\n\n".join(filter(None, [*parts, _raw(output[place:])]))


def _mathml(latex: str, display: str) -> str:
    from building.math_in_html import mathml

    return mathml(latex, display)


def _raw(text: str) -> str:
    """Return HTML as MyST takes it; elements that a heading has cut in two are whole on both sides of it."""
    text = text.strip()
    if not (_plain(text) or "<img" in text):
        return ""
    depth = least = 0
    for slash in re.findall(r"<(/?)(?:span|div)\b", text):
        depth += -1 if slash else 1
        least = min(least, depth)
    whole = (
        "<div>" * -least + re.sub(r"</span>", "</div>", re.sub(r"<span\b", "<div", text)) + "</div>" * (depth - least)
    )
    return f'````{{raw}} html\n<div class="lab">{whole}</div>\n````'


def _plain(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", text)).strip()
