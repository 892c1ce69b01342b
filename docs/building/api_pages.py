"""Writes the pages of the API: the package's public names by what they are for, then each subpackage's own names.

`docs/api.md` lists the same names for readers of the repository; `python docs/generators tables` writes it.
"""

import functools
import html
import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import dp_bandit_envs

TOPICS = {
    "games": ("Play, simulate, compare", "play simulate compare Comparison load evaluate reproduce OutsideGame"),
    "choosing": (
        "Algorithms by name",
        "make_algorithm algorithm_names Algorithm register_algorithm calibrate",
    ),
    "players": (
        "Agents",
        "Agent Exp3",
    ),
    "protection": (
        "Privacy",
        "PrivacyGuarantee Ledger LaplaceClipRescale register_private",
    ),
    "surroundings": (
        "Environments and adversaries",
        "BanditEnv Adversary register_adversary environment_names",
    ),
}
ROOT = Path(__file__).parents[2]
PLACES = ("dp_bandit_envs/**/__init__.py", "dp_bandit_envs/[!_]*.py", "agents/__init__.py", "wrappers/**/__init__.py")


def subpackages() -> list[str]:
    """Return the subpackages and modules that list their names; the command line has a page of its own."""
    paths = {path.relative_to(ROOT) for place in PLACES for path in ROOT.glob(place)}
    listed = [path for path in paths if "__all__ = " in (ROOT / path).read_text(encoding="utf-8")]
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in listed}
    return sorted({name.removeprefix("dp_bandit_envs").removeprefix(".") for name in names} - {"", "cli"})


def titled(title: str, under: str) -> list[str]:
    """Return a heading."""
    return [title, under * len(title), ""]


def own_names(subpackage: str) -> list[str]:
    """Return a subpackage's public classes and functions that no page by topic has."""
    module = importlib.import_module(f"dp_bandit_envs.{subpackage}")
    topics = {one for _, names in TOPICS.values() for one in names.split()} | set(dp_bandit_envs.__all__)
    return [name for name in module.__all__ if name not in topics and callable(getattr(module, name))]


def entries(module: str, names: list[str]) -> list[str]:
    """Return a table of names, and below it what each of them is."""
    lines = [f".. currentmodule:: {module}", "", ".. autosummary::", "   :nosignatures:", ""]
    lines += [*(f"   {name}" for name in names), ""]
    for name in names:
        thing = getattr(importlib.import_module(module), name)
        kind = "autoclass" if inspect.isclass(thing) else "autofunction"
        ours = inspect.isclass(thing) and any(base.__module__.startswith("dp_bandit_envs") for base in thing.__bases__)
        lines += [*titled(name, "-"), f".. {kind}:: {name}", *["   :show-inheritance:"] * ours, ""]
    return lines


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    written = {}
    for page, (title, names) in TOPICS.items():
        written[page] = [*titled(title, "="), *entries("dp_bandit_envs", names.split())]
    for name in filter(own_names, subpackages()):
        module = f"dp_bandit_envs.{name}"
        said = inspect.getdoc(importlib.import_module(module)) or ""
        written[name] = [*titled(name, "="), said.split("\n\n")[0], "", *entries(module, own_names(name))]
    written["index"] = [
        *titled("API", "="),
        "Every public name in one line; the names of ``dp_bandit_envs`` itself have an example each.",
        "",
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   {page}" for page in written),
        "",
        ".. raw:: html",
        "",
        *(f"   {line}" for line in index_in_html().splitlines()),
        "",
    ]
    return {page: "\n".join(lines) for page, lines in written.items()}


def first_sentence(thing: object) -> str:
    """Return the first sentence of a docstring, as plain text."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    sentence = re.split(r"(?<=[.?!]) (?=[A-Z`:])", text)[0]
    return re.sub(r":\w+:`([^`]*)`", r"\1", sentence)


@functools.cache
def listed() -> dict[str, list[tuple[str, str, str]]]:
    """Return, for each page, its names: the name as one types it, the anchor, and the first sentence."""
    rows = {}
    for page, (_, names) in TOPICS.items():
        rows[page] = [("dp_bandit_envs", name) for name in names.split()]
    for page in filter(own_names, subpackages()):
        rows[page] = [(f"dp_bandit_envs.{page}", name) for name in own_names(page)]
    return {
        page: [
            (name, f"{module}.{name}", first_sentence(getattr(importlib.import_module(module), name)))
            for module, name in names
        ]
        for page, names in rows.items()
    }


def title_of(page: str) -> str:
    """Return the heading under which a page's names are listed."""
    return TOPICS[page][0] if page in TOPICS else f"dp_bandit_envs.{page}"


def in_markdown() -> str:
    """Return `docs/api.md`."""
    tables = importlib.import_module("generators.registry_tables")
    lines = [
        "# Every public name",
        "",
        "This page is made from the docstrings and the registry by `python docs/generators tables`. `help(name)` in"
        " Python, or the API of the site (`make docs`), has arguments, shapes, errors and an example.",
        "",
        tables.who_plays_what(),
        tables.sources(),
    ]
    for page, names in listed().items():
        heading = title_of(page)
        lines += [f"## {heading}" if page in TOPICS else f"## `{heading}`", "", "| name | |", "| --- | --- |"]
        lines += [f"| `{name}` | {_escaped(text)} |" for name, _, text in names] + [""]
    linked: str = importlib.import_module("generators.papers").in_markdown("\n".join(lines))
    return linked


def _escaped(text: str) -> str:
    return re.sub(r"(`[^`]*`)|([|*_<>\[\]])", lambda found: found[1] or f"\\{found[2]}", text)


def index_in_html() -> str:
    """Return the table of all names, environments and algorithms, which `api_filter.js` filters by feedback."""
    registry_tables = importlib.import_module("generators.registry_tables")
    slugs = (
        importlib.import_module("generators.environment_pages"),
        importlib.import_module("generators.algorithm_pages"),
    )
    from dp_bandit_envs.algorithms import ALGORITHMS, algorithm_names

    parts = [_controls(registry_tables.FEEDBACK)]
    for page, names in listed().items():
        rows = [(name, f"{page}.html#{anchor}", text, _feedback_of_name(anchor)) for name, anchor, text in names]
        parts.append(_table(title_of(page), rows))
    first_line: Callable[[str], str] = slugs[0].first_line
    environments = dict.fromkeys(game.name for game in registry_tables.games())
    parts.append(
        _table(
            "Environments",
            [
                (
                    f"DPBandit-{name}-v0",
                    f"../environments/{slugs[0].slug(f'DPBandit-{name}-v0')}.html",
                    first_line(f"DPBandit-{name}-v0"),
                    registry_tables.feedback_of_environment(name),
                )
                for name in environments
            ],
        )
    )
    parts.append(
        _table(
            "Algorithms",
            [
                (
                    name,
                    f"../algorithms/{slugs[1].slug(name)}.html",
                    first_sentence(ALGORITHMS[name]).partition(": ")[2],
                    registry_tables.feedback_of_algorithm(name),
                )
                for name in algorithm_names()
            ],
        )
    )
    return "\n".join(parts)


def _feedback_of_name(anchor: str) -> list[str]:
    """Return the kinds of feedback of an agent's class; of other names none."""
    module, _, name = anchor.rpartition(".")
    agent = getattr(importlib.import_module(module), name)
    if not hasattr(agent, "select_arm") and not hasattr(agent, "select_point"):
        return []
    needs = getattr(agent, "feedback", "any")
    if hasattr(agent, "select_point"):
        return ["payoff" if needs == "payoff" else "vector"]
    return [kind for kind in ("bandit", "graph", "full") if needs != "full" or kind == "full"]


def _controls(kinds: dict[str, str]) -> str:
    options = "".join(f'<option value="{kind}">{html.escape(words)}</option>' for kind, words in kinds.items())
    return (
        '<div class="api-filter"><label>Name <input type="search" id="api-name" placeholder="Ledger"></label>'
        ' <label>A round reveals <select id="api-feedback"><option value="">anything</option>'
        f"{options}</select></label>"
        ' <span id="api-count" role="status"></span></div>'
    )


def _table(title: str, rows: list[tuple[str, str, str, list[str]]]) -> str:
    body = "\n".join(
        f'<tr data-feedback="{" ".join(feedback)}">'
        f'<td><a href="{html.escape(link)}"><code>{html.escape(name)}</code></a></td><td>{_code(text)}</td></tr>'
        for name, link, text, feedback in rows
    )
    table = f'<table class="api-index"><tbody>\n{body}\n</tbody></table>'
    return f'<div class="api-part"><h2>{html.escape(title)}</h2>\n{table}</div>'


def _code(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def write(folder: Path) -> None:
    """Write all pages; those that have not changed are left alone, so that a second build is quick."""
    folder.mkdir(parents=True, exist_ok=True)
    for page, text in pages().items():
        path = folder / f"{page}.rst"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
