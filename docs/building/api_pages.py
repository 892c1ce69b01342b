"""Writes the pages of the API: the package's public names by what they are for, then each subpackage's own names."""

import importlib
from pathlib import Path

import dp_bandit_envs

TOPICS = {
    "Play, simulate, compare": ["play", "Game", "simulate", "Simulation", "compare", "Comparison", "load"],
    "Algorithms": [
        "make_algorithm",
        "algorithm_names",
        "Algorithm",
        "register_algorithm",
        "calibrate",
        "advise",
        "Advice",
    ],
    "Agents": [
        "Agent",
        "Exp3",
        "Exp3Set",
        "Htinf",
        "Imed",
        "KlUcb",
        "SuccessiveElimination",
        "ThompsonSampling",
        "TsallisInf",
        "TsMaxN",
        "Ucb",
        "UcbMaxN",
        "Uniform",
    ],
    "Privacy": [
        "PrivacyGuarantee",
        "Ledger",
        "LaplaceClipRescale",
        "RandomizedResponse",
        "MiniBatchAverage",
        "BlockSums",
        "CounterSums",
        "ExactSums",
        "HybridSums",
        "IntervalSums",
        "register_private",
    ],
    "Environments": ["BanditEnv", "BanditVectorEnv", "Adversary", "register_adversary"],
}
SUBPACKAGES = [
    "adapters",
    "adversaries",
    "advice",
    "agents",
    "algorithms",
    "audits",
    "comparison",
    "conformance",
    "decisions",
    "graphs",
    "metrics",
    "privacy",
    "privacy.counters",
    "privacy.mechanisms",
    "recorded_data",
    "simulation",
    "wrappers",
    "wrappers.vector",
]


def first_sentence(module: str) -> str:
    """Return what a module says it is, in one line."""
    return (importlib.import_module(module).__doc__ or "").strip().splitlines()[0]


def autosummary(module: str, names: list[str]) -> list[str]:
    """Return a table of names, with a page for each."""
    rows = [f"   {name}" for name in names]
    return [
        f".. currentmodule:: {module}",
        "",
        ".. autosummary::",
        "   :toctree: names",
        "   :nosignatures:",
        "",
        *rows,
        "",
    ]


def titled(title: str, under: str) -> list[str]:
    """Return a heading."""
    return [title, under * len(title), ""]


def own_names(subpackage: str) -> list[str]:
    """Return a subpackage's public names that are not documented elsewhere: classes and functions, in order."""
    module = importlib.import_module(f"dp_bandit_envs.{subpackage}")
    return [name for name in module.__all__ if name not in dp_bandit_envs.__all__ and callable(getattr(module, name))]


def index() -> str:
    """Return the first page."""
    lines = [*titled("API", "="), "Every public name. Those of the package itself come first:", ""]
    for topic, names in TOPICS.items():
        lines += [*titled(topic, "-"), *autosummary("dp_bandit_envs", names)]
    lines += [*titled("In subpackages", "-"), ".. toctree::", "   :maxdepth: 1", ""]
    lines += [f"   {name}" for name in SUBPACKAGES if own_names(name)]
    return "\n".join([*lines, ""])


def page(subpackage: str) -> str:
    """Return the page of a subpackage."""
    module = f"dp_bandit_envs.{subpackage}"
    return "\n".join([*titled(module, "="), first_sentence(module), "", *autosummary(module, own_names(subpackage))])


def write(folder: Path) -> None:
    """Write all pages; those that have not changed are left alone, so that a second build is quick."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"index": index()} | {name: page(name) for name in SUBPACKAGES if own_names(name)}
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
