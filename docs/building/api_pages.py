"""Writes the pages of the API: the package's public names by what they are for, then each subpackage's own names."""

import importlib
import inspect
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
    contents = [".. toctree::", "   :maxdepth: 1", ""]
    written["index"] = [
        *titled("API", "="),
        "Every public name, with an example for each that ``dp_bandit_envs`` itself has:",
        "",
        *contents,
        *(f"   {page}" for page in TOPICS),
        "",
        "In the subpackages, what is needed for parts of your own:",
        "",
        *contents,
        *(f"   {name}" for name in written if name not in TOPICS),
        "",
    ]
    return {page: "\n".join(lines) for page, lines in written.items()}


def write(folder: Path) -> None:
    """Write all pages; those that have not changed are left alone, so that a second build is quick."""
    folder.mkdir(parents=True, exist_ok=True)
    for page, text in pages().items():
        path = folder / f"{page}.rst"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
