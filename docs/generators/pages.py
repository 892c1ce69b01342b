"""Writes all pages that are made from the code, under docs/generated/; an extension of Sphinx.

What takes long to make is kept under docs/_build until the package's code or the maker's own changes.
"""

import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dp_bandit_envs.algorithms import algorithm_names
from dp_bandit_envs.compiling.functions import code_text
from dp_bandit_envs.course.notebooks import LABS
from dp_bandit_envs.envs.registration import GAMES
from generators import ROOT, algorithm_pages, environment_pages, lab_pages, rule_tables
from generators.papers import in_docstring, in_markdown

GENERATED = ROOT / "docs" / "generated"
KEPT = ROOT / "docs" / "_build" / "kept"
PACKAGES = ("dp_bandit_envs", "agents", "wrappers", "docs/generators")
LEFT_OUT = ("adapters", "audits", "cli", "conformance", "figures", "suite")
"""Parts of the package that no page here plays."""


def write_all(folder: Path = GENERATED) -> None:
    """Write the pages of all environments, algorithms, rules and labs."""
    drawn = {}
    for id_ in GAMES:
        text = kept(f"environment-{id_}", lambda id_=id_: json.dumps(environment_pages.pictures_of(id_)))
        drawn[id_] = environment_pages.Pictures(*json.loads(text))
        page = environment_pages.page(id_, drawn[id_])
        write(folder / "environments" / f"{environment_pages.slug(id_)}.md", in_markdown(page))
    write(folder / "environments" / "index.md", in_markdown(environment_pages.index(drawn)))
    for name in algorithm_names():
        curve = kept(f"curve-{name}", lambda name=name: algorithm_pages.curve_of(name))
        page = algorithm_pages.page(name, curve)
        write(folder / "algorithms" / f"{algorithm_pages.slug(name)}.md", in_markdown(page))
    write(folder / "algorithms" / "index.md", in_markdown(algorithm_pages.index(algorithm_names())))
    write(folder / "rules.md", in_markdown(rule_tables.page()))
    for lab in LABS:
        page = kept(f"lab-{lab.name}", lambda lab=lab: lab_pages.page(lab), depends=lab_pages.to_read(lab))
        write(folder / "html" / "labs" / f"{lab.name}.html", page)


def write(path: Path, text: str) -> None:
    """Write a page, unless it says the same already: Sphinx reads again what has a new date."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def kept(name: str, make: Callable[[], str], *, depends: str = "", folder: Path = KEPT) -> str:
    """Return a text that was made by the same code, from the same text that it depends on, or make and keep it."""
    key = hashlib.sha256(f"{code_digest()} {depends}".encode()).hexdigest()
    path = folder / f"{name}.txt"
    if path.is_file():
        stamp, _, text = path.read_text(encoding="utf-8").partition("\n")
        if stamp == key:
            return text
    text = make()
    write(path, f"{key}\n{text}")
    return text


@functools.cache
def code_digest() -> str:
    """Return a digest of the byte code that pages depend on; docstrings, comments and lines do not count."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if not set(LEFT_OUT) & set(path.relative_to(ROOT).parts):
                code = compile(path.read_bytes(), path.name, "exec", optimize=2, dont_inherit=True)
                digest.update(code_text(code).encode())
    return digest.hexdigest()


def setup(app: Any) -> dict[str, bool]:
    """Have the pages written before Sphinx looks for them."""
    app.connect("builder-inited", lambda app: write_all())
    app.connect("autodoc-process-docstring", in_docstring, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
