"""Pages that are made from the code when the site is built: each environment, each algorithm, and their pictures.

`conf.py` lists this package as an extension of Sphinx.
"""

from typing import Any

LINKED = ("ERRATA",)
"""Pages whose papers become links on the site only; the others have them in their text."""


def link_papers(app: Any, page: str, source: list[str]) -> None:
    """Link the papers of a page."""
    from generators.papers import in_markdown

    if page in LINKED:
        source[0] = in_markdown(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Have the pages written before Sphinx looks for them."""
    from generators.pages import write_all
    from generators.papers import in_docstring

    app.connect("builder-inited", lambda app: write_all())
    app.connect("source-read", link_papers)
    app.connect("autodoc-process-docstring", in_docstring, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
