"""Reads docstrings, which are plain text, as Sphinx wants them, and gives pictures their size.

Single backticks are code, and a link where they name a part of ours; headings as Gymnasium writes them, and the words
that begin a paragraph of ours, become bold; types of arrays become one word.
"""

import importlib
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.domains.python import PyObject, PyXRefRole

import dp_bandit_envs

NAME = re.compile(r"[A-Za-z_][\w.]*(\(\))?")
BEGINNING = re.compile(r"(Source|Protects|Differs from [^:]+):(?= )")
HIDDEN = "\x01 "
PACKAGE = "dp_bandit_envs"
TOP = set(dp_bandit_envs.__all__)
ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[[\w.~]+\]\]")


def named(role, rawtext, text, lineno, inliner, options=None, content=()):
    """Return a reference if the text can be a name, and code otherwise."""
    plain = text.replace("\x00", "\\")
    if NAME.fullmatch(plain):
        return LINK("py:obj", rawtext, plain, lineno, inliner, options or {}, content)
    return [nodes.literal(rawtext, plain)], []


LINK = PyXRefRole(warn_dangling=False)


def bold_beginnings(app, what, name, thing, options, lines):
    """Set headings and the first words of paragraphs in bold."""
    text = "\n".join(lines)
    text = re.sub(r"^## (.+)$", r"\n**\1**\n", text, flags=re.MULTILINE)
    lines[:] = re.sub(rf"^{BEGINNING.pattern}", r"**\1:**", text, flags=re.MULTILINE).split("\n")


def short_signature(app, what, name, thing, options, signature, returned):
    """Write arrays in one word; a protocol has no arguments of its own."""
    if getattr(thing, "_is_protocol", False):
        return "", None
    return tuple(text and ARRAY.sub("numpy.ndarray", text) for text in (signature, returned))


def without_noise(app, what, name, thing, skip, options):
    """Leave out an agent's table of functions, and fields that say no more than their number."""
    field = (getattr(thing, "__doc__", None) or "").startswith("Alias for field number")
    return True if name == "functions" or field else None


def hide_colon(app, what, name, thing, options, lines):
    """Keep the colon of an attribute's sentence from napoleon, which takes what is before it for a type."""
    if what == "attribute":
        lines[:] = [line.replace(": ", HIDDEN) for line in lines]


def show_colon(app, what, name, thing, options, lines):
    """Bring the colon back."""
    lines[:] = [line.replace(HIDDEN, ": ") for line in lines]


def our_bases(app, name, thing, options, bases):
    """Name a class's bases without the types in brackets."""
    bases[:] = [getattr(base, "__origin__", base) for base in bases]


def give_pictures_their_size(app, doctree):
    """Set a scale: a scaled picture has its size and is a link to itself; thumbnails of programs get a text."""
    for image in doctree.findall(nodes.image):
        sized = {"scale", "width", "height"} & set(image.attributes)
        if not sized and not image["uri"].startswith("http") and "/thumb/" not in image["uri"]:
            image["scale"] = 100
        example = re.search(r"sphx_glr_(\d+)_(\w+)_thumb", image["uri"])
        if example and not image.get("alt"):
            image["alt"] = f"Thumbnail of example {int(example[1])}, {example[2].replace('_', ' ')}"


def give_names_all_addresses(app, doctree):
    """Add the anchors at which the pages of the source look for names: that of the package, and the subpackage's."""
    for signature in doctree.findall(addnodes.desc_signature):
        module, name = signature.get("module") or "", signature.get("fullname") or ""
        if not module.startswith(PACKAGE) or not name:
            continue
        thing = getattr(importlib.import_module(module), name.partition(".")[0], None)
        within = getattr(thing, "__module__", "").rpartition(".")[0]
        for other in {PACKAGE, within} - {module, ""}:
            address = f"{other}.{name}"
            # A name of the package itself is that of its own page.
            if address not in signature["ids"] and not (other == PACKAGE and name.partition(".")[0] in TOP):
                signature["ids"].append(address)


def setup(app):
    """Register the role, which conf.py makes the default one."""
    app.add_role("named", named)
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("autodoc-process-docstring", hide_colon, priority=400)
    app.connect("autodoc-process-docstring", show_colon, priority=600)
    app.connect("autodoc-process-docstring", bold_beginnings)
    app.connect("autodoc-process-bases", our_bases)
    app.connect("autodoc-process-signature", short_signature)
    app.connect("autodoc-skip-member", without_noise)
    app.connect("doctree-read", give_pictures_their_size)
    app.connect("doctree-read", give_names_all_addresses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
