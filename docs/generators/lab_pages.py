"""The labs as pages to read: each is run once, and written with its outputs and without its controls."""

import html
import json
import re
import subprocess
import sys
from pathlib import Path

from dp_bandit_envs.course.notebooks import LABS, Lab
from generators.kept import ROOT

RUNNER = Path(__file__).with_name("run_lab.py")
ELEMENT = re.compile(r"<marimo-(?!ui-element|tex|accordion)([\w-]+)([^>]*)>(.*?)</marimo-\1>", re.DOTALL)
TEX = re.compile(r"<marimo-tex[^>]*>\|\|([\[(])(.*?)\|\|[\])]</marimo-tex>", re.DOTALL)
FOLDED = re.compile(r"<marimo-accordion([^>]*)>(.*?)</marimo-accordion>", re.DOTALL)
HEADING = re.compile(r"<h([1-6])[^>]*>(.*?)</h\1>", re.DOTALL)


def page(lab: Lab) -> str:
    """Run a lab and return its page."""
    number = LABS.index(lab) + 1
    parts = [
        f"# Lab {number}: {lab.title}",
        f"*To read only: this is how the lab looks when it has run, with the first answer to each question for a"
        f" prediction. `dp-bandit lab {lab.name}` opens it, for about {lab.minutes} minutes; see"
        f" [labs](/docs/labs.md).*",
    ]
    for code, output in cells_of(exported(lab)):
        if code:
            parts.append(f"```python\n{code}\n```")
        if output:
            parts.append(still(output))
    return "\n\n".join(parts) + "\n"


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


def exported(lab: Lab) -> str:
    """Run a lab in a process of its own, and return what marimo writes.

    Raises:
        RuntimeError: If a cell fails.
    """
    command = [sys.executable, str(RUNNER), f"examples/labs/{lab.file}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    if done.returncode or "</html>" not in done.stdout:
        raise RuntimeError(f"the lab {lab.name} cannot be written: {done.stderr[-2000:]}")
    return done.stdout


def cells_of(written: str) -> list[tuple[str, str]]:
    """Return the code of each cell that does not hide it, "" of others, and its output as HTML."""
    notebook, session = (_after(written, f'"{name}":')["cells"] for name in ("notebook", "session"))
    found = []
    for cell, ran in zip(notebook, session, strict=True):
        data = [one.get("data", {}) for one in ran["outputs"]]
        output = "".join(one.get("text/markdown") or one.get("text/html") or "" for one in data)
        found.append(("" if cell["config"]["hide_code"] else cell["code"], output))
    return found


def _after(text: str, word: str):
    start = text.index(word) + len(word)
    return json.JSONDecoder().raw_decode(text[start:].lstrip())[0]


def still(output: str) -> str:
    """Return an output without scripts: controls become words, formulas MathML, headings those of a page."""
    from building.math_in_html import mathml

    output = ELEMENT.sub(_control, output)
    output = FOLDED.sub(lambda found: f"<details open>{found[2]}</details>", output)
    output = re.sub(r"</?marimo-ui-element[^>]*>", "", output)
    output = TEX.sub(lambda found: mathml(html.unescape(found[2]), "inline" if found[1] == "(" else "block"), output)
    output = re.sub(r' class="markdown[^"]*"', "", output)  # its "contents" means something else to the site
    output = re.sub(r"<h1[^>]*>.*?</h1>", "", output, flags=re.DOTALL)
    parts, place = [], 0
    for found in HEADING.finditer(output):
        parts += [_raw(output[place : found.start()]), f"{'#' * int(found[1])} {_plain(found[2])}"]
        place = found.end()
    return "\n\n".join(filter(None, [*parts, _raw(output[place:])]))


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


def _control(found: re.Match[str]) -> str:
    """Return a picture, or what a control says: its label, and the value or choices that it has at first."""
    given = {name: json.loads(html.unescape(value)) for name, value in re.findall(r"data-([\w-]+)='(.*?)'", found[2])}
    if found[1] == "mime-renderer":
        bundle = json.loads(given["data"])
        picture, size = bundle["image/png"], bundle["__metadata__"]["image/png"]["width"]
        return f'<img alt="What the lab draws at its first settings" width="{size}" src="{picture}">'
    label, value, steps = given.get("label") or "", given.get("initial-value"), given.get("steps")
    if found[1] == "radio":
        choices = (f"<b>{one}</b>" if one == value else one for one in given["options"])
        return f"<div>{label}<ul>{''.join(f'<li>{one}</li>' for one in choices)}</ul></div>"
    if found[1] == "button" or value is None:
        return f'<div class="control">{label}</div>'
    if steps and isinstance(value, int):
        value = steps[value]
    if isinstance(value, bool):
        value = "on" if value else "off"
    shown = ", ".join(map(str, value)) if isinstance(value, list) else value
    return f'<div class="control">{label} <b>{shown}</b></div>'
