"""The pages of reproductions: their numbers and pictures from results.

Each number stands between comments, `<!--KEY : FORMAT-->1,774 ± 4<!---->`, and is that of an entry of the JSON file
beside the page. A KEY is `folder/panel/algorithm`; one with `*` gives the cells of a table's row. After `#` a KEY names
a field; without one it is the mean with its standard error, and what the paper says where that is known, in brackets.
A FORMAT is one of Python, or `power` for a power of two.
"""

import fnmatch
import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path

from generators import ROOT
from generators.drawn_again import draw_figure_1_twice, draw_results

FOLDER = ROOT / "docs" / "reproductions"
PAGES = ("figure-1", "figure-2", "figure-graph", "price-of-privacy")
"""In the order of the papers."""
FOLDERS = {
    "figure-1": ("figure-1", "figure-1-epsilon-1", "figure-1-epsilon-0.1"),
    "figure-2": ("figure-2-modern",),
}
"""The folders of results that a page quotes, where they are not one of its own name."""
PICTURES = {"figure-2-modern": "figure-2"}
MARKED = re.compile(r"<!--([^\n>]+?) : ([^\s>-]+)-->(.*?)<!---->", re.DOTALL)
Numbers = Mapping[str, Mapping[str, float | None]]


def remake(results: Path, names: tuple[str, ...] = PAGES) -> None:
    """Take the numbers and pictures of pages from folders that `dp-bandit reproduce` wrote below `results`."""
    for name in names:
        page, results_by_key = FOLDER / f"{name}.md", {}
        for folder in FOLDERS.get(name, (name,)):
            numbers = json.loads((results / folder / "numbers.json").read_text(encoding="utf-8"))
            results_by_key |= {f"{folder}/{key}": entry for key, entry in numbers.items()}
            picture = PICTURES.get(folder, folder)
            if any((ROOT / "examples").glob(f"{picture}*.png")):
                draw_results(results / folder, picture)
        text = page.read_text(encoding="utf-8")
        quoted = [key for key in results_by_key if any(matches(key, marked) for marked, _, _ in MARKED.findall(text))]
        lines = (f"{json.dumps(key)}: {json.dumps(results_by_key[key])}" for key in quoted)
        page.with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        page.write_text(refreshed(text, stored(name)), encoding="utf-8")
        if name == PAGES[0]:
            draw_figure_1_twice(*(results / folder for folder in FOLDERS[name][:2]))


def stored(name: str) -> Numbers:
    """Return the results beside a page."""
    numbers: Numbers = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return numbers


def refreshed(text: str, numbers: Numbers) -> str:
    """Return a page with the numbers of its results."""
    return MARKED.sub(functools.partial(_shown, numbers), text)


def _shown(numbers: Numbers, marked: re.Match[str]) -> str:
    key, form = marked[1], marked[2]
    cells = [_in_format(entry, form, key.partition("#")[2]) for name, entry in numbers.items() if matches(name, key)]
    if not cells:
        raise KeyError(f"{key} is not among the stored results.")
    return f"<!--{key} : {form}-->{' | '.join(cells)}<!---->"


def matches(name: str, key: str) -> bool:
    """Return whether an entry is one that a KEY stands for."""
    return fnmatch.fnmatchcase(name, key.partition("#")[0].replace("[", "[[]"))


def _in_format(entry: Mapping[str, float | None], form: str, field: str) -> str:
    if field or "error" not in entry:
        return _number(entry[field or next(iter(entry))], form)
    error = "" if entry["error"] is None else f" ± {_number(entry['error'], form)}"
    term = f" ({_number(entry['term'], form)})" if "term" in entry else ""
    return f"{_number(entry['mean'], form)}{error}{term}"


def _number(value: float | None, form: str) -> str:
    if value is None:
        return "none"
    if form == "power":
        power = int(value).bit_length() - 1
        assert value == 2**power, value
        return "2" + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return format(value, form)
