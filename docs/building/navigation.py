"""The table of contents of the documentation's site: each caption with its pages, and the pages below a page.

The pages are plain Markdown, which reads well in the repository too; `contents_of` adds Sphinx's lists to them.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = "docs/index"
"""The first page; its lists are the bar at the side of every page."""
GENERATED = "docs/generated"
"""Pages made from the code for the site only; git ignores them."""

CAPTIONS = {
    "Tutorials": [
        "docs/install",
        "docs/first-game",
        "docs/comparing",
        "docs/real-data",
        "docs/labs",
        f"{GENERATED}/examples/index",
    ],
    "How-to": [
        "docs/own-agent",
        "docs/own-adversary",
        "docs/own-mechanism",
        "docs/own-loop",
        "docs/using-guarantees",
        "docs/conformance",
        "docs/audits",
        "docs/cluster",
        "docs/grading",
    ],
    "How-to, with other packages": [
        "docs/adapters/stable-baselines3",
        "docs/adapters/river",
        "docs/adapters/mabwiser",
        "docs/adapters/vowpal-wabbit",
        "docs/adapters/functions",
        "docs/adapters/foreign-environments",
        "docs/adapters/cleanrl",
        "docs/adapters/torchrl",
        "docs/adapters/minari",
        "docs/adapters/text-observations",
    ],
    "Reference": [
        "docs/environments",
        "docs/algorithms",
        f"{GENERATED}/api/index",
        "docs/api",
        "docs/command-line",
        "docs/results-folder",
        "docs/suite",
        "docs/counters",
        "docs/graphs",
        "docs/experts-and-points",
        f"{GENERATED}/rules",
        "docs/glossary",
        "docs/faq",
        "docs/errata",
    ],
    "Background": [
        "docs/guarantees",
        "docs/threat-model",
        "docs/seeds",
        "docs/floating-point",
        "docs/regret",
        "docs/notes/benchmarks",
        "docs/reproductions/figure-1",
        "docs/reproductions/figure-2",
        "docs/reproductions/figure-graph",
        "docs/reproductions/price-of-privacy",
        "docs/notes/more-measurements",
    ],
    "Proofs": [
        "docs/notes/accounting",
        "docs/notes/own-draws",
        "docs/notes/exp3-privacy",
        "docs/notes/thompson-privacy",
        "docs/notes/own-norm-noise",
        "docs/notes/lower-bounds",
        "docs/notes/upper-bounds",
        "docs/notes/identification",
    ],
    "Project": ["CONTRIBUTING", "docs/architecture", "SECURITY", "CHANGELOG"],
}
BELOW = {
    "docs/environments": [f"{GENERATED}/environments/index"],
    "docs/algorithms": [f"{GENERATED}/algorithms/index"],
}


def exists(page: str) -> bool:
    """Whether a page is there: other parts of the project bring some of them, and the site builds some."""
    return any((ROOT / f"{page}{suffix}").is_file() for suffix in (".md", ".rst"))


def contents(pages: list[str], caption: str = "") -> str:
    """Return the hidden list of pages under a caption, in MyST."""
    head = [":hidden:"] + ([f":caption: {caption}"] if caption else [])
    return "\n".join(["", "```{toctree}", *head, "", *(f"/{page}" for page in pages if exists(page)), "```", ""])


def contents_of(page: str) -> str:
    """Return the lists that belong to a page."""
    if page == HOME:
        return "".join(contents(pages, caption) for caption, pages in CAPTIONS.items())
    return contents(BELOW[page]) if any(map(exists, BELOW.get(page, []))) else ""
