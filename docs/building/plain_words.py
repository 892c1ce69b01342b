"""Reads single backticks in docstrings, which are plain text, as code, and as a link where they name a part of ours.

Pictures get their size, so that a click opens a large one.
"""

import re

from docutils import nodes
from sphinx.domains.python import PyXRefRole

NAME = re.compile(r"[A-Za-z_][\w.]*(\(\))?")


def named(role, rawtext, text, lineno, inliner, options=None, content=()):
    """Return a reference if the text can be a name, and code otherwise."""
    plain = text.replace("\x00", "\\")
    if NAME.fullmatch(plain):
        return LINK("py:obj", rawtext, plain, lineno, inliner, options or {}, content)
    return [nodes.literal(rawtext, plain)], []


LINK = PyXRefRole(warn_dangling=False)


def give_pictures_their_size(app, doctree):
    """Set a scale: a scaled picture has its size, and is a link to itself."""
    for image in doctree.findall(nodes.image):
        if not {"scale", "width", "height"} & set(image.attributes) and not image["uri"].startswith("http"):
            image["scale"] = 100


def setup(app):
    """Register the role, which conf.py makes the default one."""
    app.add_role("named", named)
    app.connect("doctree-read", give_pictures_their_size)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
