"""The labs elsewhere: in Jupyter, as slides for a lecture, and to read; all are made from their own cells."""

import ast
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from inspect import cleandoc
from pathlib import Path
from types import CodeType
from typing import Any, Final, NamedTuple
from unittest import mock

from dp_bandit_envs.course.notebooks import Cell, Lab, cells_of, linked
from dp_bandit_envs.optional import require

# ---- Run here, cell by cell, without a browser ----


class Shown(NamedTuple):
    """What a cell shows, as marimo's HTML; `stopped` if `mo.stop` has ended it."""

    cell: Cell
    html: str
    stopped: bool


@contextmanager
def first_choices(mode: str) -> Iterator[list[Any]]:
    """Make the first choice of each prediction, in a mode of marimo; yield the sliders that are made."""
    marimo = require("marimo", extra="labs")
    sliders: list[Any] = []

    class Predicted(marimo.ui.radio):  # type: ignore[name-defined, misc]
        def __init__(self, options: Any, value: Any = None, **more: Any) -> None:
            super().__init__(options, value=next(iter(options)) if value is None else value, **more)

    class Listed(marimo.ui.slider):  # type: ignore[name-defined, misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.label_shown = kwargs["label"]
            self.again = lambda value: type(self)(*args, **{**kwargs, "value": value})
            sliders.append(self)

    with (
        mock.patch.object(marimo.ui, "radio", Predicted),
        mock.patch.object(marimo.ui, "slider", Listed),
        mock.patch.object(marimo, "app_meta", lambda: mock.Mock(mode=mode)),
    ):
        yield sliders


def run(cells: Iterable[Cell], names: dict[str, Any]) -> Iterator[Shown]:
    """Run cells, which take and add names, and yield what each shows: nothing if it needs a name that nobody gave."""
    marimo = require("marimo", extra="labs")
    for cell in cells:
        if not names.keys() >= set(cell.needs):
            yield Shown(cell, "", True)
            continue
        code, last = halves(cell.code)
        try:
            exec(code, names)
            value, stopped = eval(last, names) if last else None, False
        except marimo.MarimoStopError as stop:
            value, stopped = stop.output, True
        yield Shown(cell, "" if value is None else marimo.as_html(value).text, stopped)


def halves(code: str) -> tuple[CodeType, CodeType | None]:
    """Return the code of a cell but for a last expression, and that of this expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    whole = compile(tree, "<lab>", "exec")
    return whole, compile(ast.Expression(last.value), "<lab>", "eval") if isinstance(last, ast.Expr) else None


def states(cells: list[Cell], names: dict[str, Any], slider: Any) -> Iterator[tuple[Any, dict[Cell, str]]]:
    """Yield each value of a slider of `first_choices`, and what the cells that depend on it show then; all have run."""
    (name,) = (each for each, value in names.items() if value is slider)
    changed, asked = {name}, []
    for cell in cells:
        if changed & set(cell.needs):
            asked.append(cell)
            changed |= set(cell.gives)
    for value in slider.steps:
        moved = slider.again(value)
        yield value, {shown.cell: shown.html for shown in run(asked, {**names, name: moved})}


ELEMENT: Final = re.compile(r"<marimo-(?!ui-element|tex|accordion)([\w-]+)([^>]*)>(.*?)</marimo-\1>", re.DOTALL)
TEX: Final = re.compile(r"<marimo-tex[^>]*>\|\|([\[(])(.*?)\|\|[\])]</marimo-tex>", re.DOTALL)
FOLDED: Final = re.compile(r"<marimo-accordion([^>]*)>(.*?)</marimo-accordion>", re.DOTALL)


def still(output: str, formula: Callable[[str, str], str]) -> str:
    """Return what a cell shows as HTML without scripts; `formula` writes LaTeX, "inline" or as a "block"."""
    output = ELEMENT.sub(_control, output)
    output = FOLDED.sub(lambda found: f"<details open>{found[2]}</details>", output)
    output = re.sub(r"</?marimo-ui-element[^>]*>", "", output)
    output = TEX.sub(lambda found: formula(html.unescape(found[2]), "inline" if found[1] == "(" else "block"), output)
    return re.sub(r' class="markdown[^"]*"', "", output)  # its "contents" means something else elsewhere


def _control(found: re.Match[str]) -> str:
    """Return a picture, or what a control says: its label, and the value or choices that it has at first."""
    given = {name: json.loads(html.unescape(value)) for name, value in re.findall(r"data-([\w-]+)='(.*?)'", found[2])}
    if found[1] == "mime-renderer":
        bundle = json.loads(given["data"])
        picture, size = bundle["image/png"], bundle["__metadata__"]["image/png"]["width"]
        return f'<img alt="What the lab draws at these settings" width="{size}" src="{picture}">'
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


# ---- Slides ----

DECK: Final = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 1.3rem/1.45 system-ui, sans-serif; scroll-snap-type: y proximity; }}
body {{ margin: 0; }}
section {{ box-sizing: border-box; min-height: 100vh; padding: 6vh 8vw; scroll-snap-align: start; display: flex;
  flex-direction: column; justify-content: center; border-bottom: 1px solid #8884; break-after: page; }}
section > * {{ max-width: 60rem; flex: none; }}
section:has(img) {{ height: 100vh; }}
section > img {{ flex: 0 1 auto; min-height: 0; }}
.paragraph {{ display: block; margin: 0.8em 0; }}
img {{ max-width: 100%; width: 60rem; max-height: 75vh; object-fit: contain; object-position: left;
  background: #fff; }}
table {{ border-collapse: collapse; }} td, th {{ padding: 0.2em 0.8em; border-bottom: 1px solid #8886; }}
pre {{ font-size: 0.8em; overflow-x: auto; }}
@media (max-width: 48em) {{ :root {{ font-size: 1rem; }} section {{ padding: 1.5rem; }} }}
</style></head>
<body>
{slides}
<script>
const slides = [...document.querySelectorAll("section")];
onkeydown = event => {{
  const by = {{ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1}}[event.key];
  if (!by) return;
  event.preventDefault();
  const here = slides.findLastIndex(each => each.offsetTop <= scrollY + innerHeight / 3);
  slides[Math.min(Math.max(here + by, 0), slides.length - 1)].scrollIntoView();
}};
</script>
</body></html>
"""
PICTURE: Final = re.compile(r"<img [^>]*>")
HEADING: Final = re.compile(r"<h[12][^>]*>.*?</h[12]>", re.DOTALL)
FEW: Final = 700
"""Fewer letters than these share a slide with a picture, or with another text."""
ANSWER: Final = re.compile(r"^mo\.stop\(\w+\.value is None, ", re.MULTILINE)
"""A cell that shows its answer to whoever has predicted."""


def slides(lab: Lab, source: str) -> str:
    """Run a lab and return a lecture's slides of it: its texts, each picture, and its questions without the answers."""
    found: list[str] = []
    heading = ""
    with first_choices("run"):
        for shown in run(cells_of(source), {}):
            if shown.stopped or ANSWER.search(shown.cell.code):
                continue
            # What a student opens after thinking is an answer, too.
            output = still(FOLDED.sub("", shown.html), _formula)
            output = re.sub(r'<div class="control">.*?</div>', "", output, flags=re.DOTALL)
            output = re.sub(r"<li><b>(.*?)</b></li>", r"<li>\1</li>", output)  # nothing is chosen
            headings = HEADING.findall(output)
            heading = headings[0] if headings else heading
            words, pictures = PICTURE.sub("", output), PICTURE.findall(output)
            if not shown.cell.hidden and shown.html:
                words = f"<pre>{html.escape(shown.cell.code)}</pre>{words}"
            said = _letters(HEADING.sub("", words))
            if pictures and said < FEW:
                found += [f"{'' if headings else heading}{words}{pictures.pop(0)}"]
            elif not headings and said and found and not pictures and _letters(found[-1]) + said < FEW:
                found[-1] += words
            elif said:
                found.append(words)
            found += [f"{heading}{picture}" for picture in pictures]
    sections = "\n".join(f"<section>{each}</section>" for each in found)
    return DECK.format(title=html.escape(lab.title), slides=sections)


def _letters(output: str) -> int:
    """Return how many letters a part of a page shows; a picture counts as many."""
    return len(re.sub(r"<[^>]*>|\s", "", PICTURE.sub("x" * FEW, output)))


def _formula(latex: str, display: str) -> str:
    converter = require("latex2mathml.converter", extra="labs")
    return str(converter.convert(latex, display=display))


# ---- For Jupyter, Colab and VS Code ----

ABOUT: Final = """\
*This is a copy of the lab `{name}` for Jupyter, Colab and VS Code. It needs this package and ipywidgets:
`pip install 'dp-bandit-envs[labs]' ipywidgets`. Cells do not run by themselves here: choose an answer or move a slider,
and then run the cells below it.*"""
MARIMOS: Final = {
    "the yellow square at the bottom right, marimo's stop button": "interrupting the kernel",
    "import marimo as mo": "import dp_bandit_envs.course.in_jupyter as mo",
}
"""What marimo's notebooks say, and what stands for it in Jupyter's."""
ONLY_TEXT: Final = re.compile(r'mo\.md\(\s*r?"""((?:(?!""").)*)"""\s*\)\Z', re.DOTALL)


def ipynb(lab: Lab, source: str) -> str:
    """Return a lab as a notebook of Jupyter's."""
    written = [_text(ABOUT.format(name=lab.name))]
    for cell in cells_of(source):
        # A lecture's pages have no tasks; a student's notebook has.
        code = re.sub(r"^mo\.stop\(mo\.app_meta.*\n", "", cell.code, flags=re.MULTILINE)
        for theirs, ours in MARIMOS.items():
            code = code.replace(theirs, ours)
        text = ONLY_TEXT.search(code)
        if text:
            code = code[: text.start()].strip()
        if code:
            written.append(_code(code, cell.hidden))
        if text:
            written.append(_text(ast.literal_eval(text[0].removeprefix("mo.md"))))
    for place, each in enumerate(written):
        each["id"] = f"cell-{place}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": written, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _text(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": cleandoc(text).splitlines(keepends=True)}


def _code(code: str, hidden: bool) -> dict[str, Any]:
    folded = {"jupyter": {"source_hidden": True}, "cellView": "form"} if hidden else {}
    empty: dict[str, Any] = {"execution_count": None, "outputs": []}
    return {"cell_type": "code", "metadata": folded, "source": code.splitlines(keepends=True), **empty}


def export(lab: Lab, folder: Path) -> list[Path]:
    """Write a lab as a notebook of Jupyter's and as slides, in place of what was there, and return the files' paths."""
    source = linked(resources.files("dp_bandit_envs.labs").joinpath(lab.file).read_text(encoding="utf-8"))
    stem = lab.file.removesuffix(".py")
    written = {f"{stem}.ipynb": ipynb(lab, source), f"{stem}-slides.html": slides(lab, source)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in written]
