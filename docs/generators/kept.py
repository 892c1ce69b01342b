"""Keeps what takes long to make under docs/_build, until the package's code or the maker's own changes."""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path

from dp_bandit_envs.compiling.functions import written_out

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "_build" / "kept"
PACKAGES = ("dp_bandit_envs", "agents", "wrappers", "docs/generators")
LEFT_OUT = ("adapters", "audits", "cli", "conformance", "figures")
"""Parts of the package that no page here plays."""


@functools.cache
def code_digest() -> str:
    """Return a digest of the byte code that pages depend on; docstrings, comments and lines do not count."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if not set(LEFT_OUT) & set(path.relative_to(ROOT).parts):
                code = compile(path.read_bytes(), path.name, "exec", optimize=2, dont_inherit=True)
                digest.update(written_out(code).encode())
    return digest.hexdigest()


def kept(name: str, make: Callable[[], str], *, folder: Path = FOLDER, key: str | None = None) -> str:
    """Return a text that was made by the same code before, or make and keep it.

    Args:
        name: The file's name.
        make: Makes the text.
        folder: Where it is kept.
        key: What the text depends on; by default the code.
    """
    path = folder / name
    stamp = f"<!-- {code_digest() if key is None else key} -->\n"
    if path.is_file():
        head, _, text = path.read_text(encoding="utf-8").partition("\n")
        if head + "\n" == stamp:
            return text
    text = make()
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(stamp + text, encoding="utf-8")
    return text


def write(path: Path, text: str) -> None:
    """Write a page, unless it says the same already: Sphinx reads again what has a new date."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
