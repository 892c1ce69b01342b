"""Gives each page a description for search engines, and a telephone the narrow drawing of a large picture."""

import html
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

LETTERS = 160
"""Search engines show about so many of a description."""
TOO_SHORT = 40


class NarrowPictures(SphinxTransform):
    """Put `figure-narrow.png` beside each picture `figure.png` that has one; the style sheet shows one of them."""

    default_priority = 200

    def apply(self, **options):
        """Look at all pictures of a page."""
        for image in list(self.document.findall(nodes.image)):
            uri = Path(image["uri"])
            beside = uri.with_stem(f"{uri.stem}-narrow")
            if "://" in image["uri"] or not Path(self.env.relfn2path(beside.as_posix())[1]).is_file():
                continue
            narrow = image.deepcopy()
            narrow["uri"] = beside.as_posix()
            image["classes"].append("wide")
            narrow["classes"].append("narrow")
            image.parent.insert(image.parent.index(image) + 1, narrow)


def description(doctree):
    """Return the beginning of a page's first real paragraph, cut between words; "" if there is none."""
    for paragraph in doctree.findall(nodes.paragraph):
        # Without the texts of pictures, which `astext` has.
        text = " ".join("".join(paragraph.findall(nodes.Text)).split())
        if isinstance(paragraph.parent, nodes.section) and len(text) >= TOO_SHORT:
            sentences = re.match(rf".{{{TOO_SHORT},{LETTERS}}}[.?!](?= |$)", text)
            return sentences[0] if sentences else text[:LETTERS].rpartition(" ")[0] + " ..."
    return ""


def add_description(app, page, template, context, doctree):
    """Add the description to a page's head."""
    if doctree is None:
        return
    title = re.sub(r"<[^>]+>", "", context.get("title", ""))
    text = description(doctree) or f"{html.unescape(title)}: a page of dp-bandit-envs."
    if 'name="description"' not in context.get("metatags", ""):
        head = f'<meta name="description" content="{html.escape(text)}" />\n'
        context["metatags"] = context.get("metatags", "") + head


def setup(app):
    """Register both."""
    app.add_transform(NarrowPictures)
    app.connect("html-page-context", add_description)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
