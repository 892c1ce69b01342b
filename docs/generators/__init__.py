"""Pages that are made from the code when the site is built: each environment, each algorithm, and their pictures.

`conf.py` lists this package as an extension of Sphinx.
"""

from typing import Any


def setup(app: Any) -> dict[str, bool]:
    """Have the pages written before Sphinx looks for them."""
    from generators.pages import write_all

    app.connect("builder-inited", lambda app: write_all())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
