"""Pages that are made from the code when the site is built: each environment, each algorithm, and their pictures.

`conf.py` lists this package as an extension of Sphinx.
"""

from typing import Any

FOUND_FIRST = {"docs/guarantees": ("epsilon", "delta", "privacy"), "docs/labs": ("teach", "course", "learn")}
"""Words for which the site's search names a page first: entries of Sphinx's index, which count most."""
LINKED = ("ERRATA",)
"""Pages whose papers become links on the site only; the others have them in their text."""


def prepare(app: Any, page: str, source: list[str]) -> None:
    """Add the entries of the index below a page's title, and the links to papers."""
    from generators.papers import in_markdown

    if page in LINKED:
        source[0] = in_markdown(source[0])
    if page in FOUND_FIRST:
        title, _, rest = source[0].partition("\n")
        entries = "".join(f"single: ! {word}\n" for word in FOUND_FIRST[page])
        source[0] = f"{title}\n\n```{{index}}\n{entries}```\n{rest}"


def setup(app: Any) -> dict[str, bool]:
    """Have the pages written before Sphinx looks for them."""
    from generators.pages import write_all
    from generators.papers import in_docstring

    app.connect("builder-inited", lambda app: write_all())
    app.connect("source-read", prepare)
    app.connect("autodoc-process-docstring", in_docstring, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
