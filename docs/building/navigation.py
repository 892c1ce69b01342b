"""The table of contents of the documentation's site: each caption with its pages, and the pages below a page.

The pages are plain Markdown, which reads well in the repository too; `contents_of` adds Sphinx's lists to them.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = "README"
"""The first page; its lists are the bar at the side of every page."""
GENERATED = "docs/generated"
"""Pages made from the code for the site only; git ignores them."""

CAPTIONS = {
    "Start": ["docs/install", "docs/first-game", "docs/comparing", "docs/suite", "docs/command-line", "docs/index"],
    "Teach and learn": ["docs/labs", "docs/grading", f"{GENERATED}/examples/index"],
    "Guides": [
        "docs/algorithms",
        "docs/guarantees",
        "docs/threat-model",
        "docs/regret",
        "docs/real-data",
        "docs/own-loop",
        "docs/results-folder",
        "docs/counters",
        "docs/graphs",
        "docs/experts-and-points",
        "docs/cluster",
    ],
    "Your own parts": [
        "docs/own-agent",
        "docs/own-adversary",
        "docs/own-mechanism",
        "docs/conformance",
        f"{GENERATED}/rules",
        "docs/audits",
    ],
    "With other packages": [
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
    "Reference": ["docs/environments", f"{GENERATED}/algorithms/index", f"{GENERATED}/api/index"],
    "What was measured and proved": [
        "docs/reproductions/figure-1",
        "docs/reproductions/figure-2",
        "docs/reproductions/figure-graph",
        "docs/reproductions/price-of-privacy",
        "docs/errata",
        "docs/benchmarks",
        "docs/notes/accounting",
        "docs/own-draws",
        "docs/notes/exp3-privacy",
        "docs/notes/thompson-privacy",
        "docs/notes/own-norm-noise",
        "docs/notes/lower-bounds",
        "docs/notes/upper-bounds",
    ],
    "Project": ["CONTRIBUTING", "docs/architecture", "CHANGELOG"],
}
BELOW = {"docs/environments": [f"{GENERATED}/environments/index"]}


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
