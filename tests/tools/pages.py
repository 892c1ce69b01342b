"""The README and the pages of docs/, and what stands in them: code blocks, commands, links and headings."""

import re
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = ("docs/_build/", "docs/generated/")
"""What `make docs` writes; no page of ours."""
PAGES = {
    name: path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not (name := path.relative_to(ROOT).as_posix()).startswith(MADE)
}
"""The text of each page by its path."""
NEIGHBOURS = "docs/adapters/"
"""Pages whose code needs other packages; tests/neighbours/ runs it."""
OURS = [name for name in PAGES if not name.startswith(NEIGHBOURS)]
"""The pages whose code needs nothing else."""


def in_order(name: str) -> list[tuple[str, str]]:
    """Return the languages of a page's blocks, and the blocks."""
    return re.findall(r"^```(\S*)\n(.*?)^```", PAGES[name], re.DOTALL | re.MULTILINE)


def blocks(name: str, language: str | None = None) -> list[str]:
    """Return a page's code blocks in a language; without one, the languages of all blocks."""
    found = in_order(name)
    return [each for each, _ in found] if language is None else [code for each, code in found if each == language]


def lines(name: str, start: str = "") -> list[str]:
    """Return the lines of a page's blocks for a shell that begin with a word; a script, with `#!`, has its own test."""
    shells = [*blocks(name, "bash"), *blocks(name, "powershell")]
    typed = [code for code in shells if not code.startswith("#!")]
    return [line for code in typed for line in code.strip().splitlines() if line.startswith(start)]


SIZE = re.compile(r"\b(horizon|rounds|trials)( ?= ?)(2\*\*\d+|[\d_]+)")


def small(code: str) -> str:
    """Return a block with shorter and fewer games, which need not be compiled.

    A block that is about compiling has as many games as before.
    """

    def smaller(found: re.Match[str]) -> str:
        name, equals, number = found.groups()
        most, less = (6, 6) if name == "trials" else (1000, 300)
        keeps = name == "trials" and '"compiled"' in code
        return found[0] if keeps or eval(number) <= most else f"{name}{equals}{less}"

    return SIZE.sub(smaller, code)


def run(*code: str) -> None:
    """Run blocks as one program, as Python does with `-W error`; the process is this one, as compiling is dear."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile("\n\n".join(code), "<string>", "exec"), {"__name__": "__main__"})


def save_files(codes: list[str], folder: Path) -> list[str]:
    """Write the blocks whose first line is a comment with a file's name, such as `# anna.py`; return the modules."""
    files = {found[1]: code for code in codes if (found := re.match(r"# (\w+)\.py\n", code))}
    for module, code in files.items():
        (folder / f"{module}.py").write_text(code, encoding="utf-8")
    return [*files]


def prose(text: str) -> str:
    """Return a text without its code blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Return the anchors of a text's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.strip()).lower().replace(" ", "-") for heading in headings}
