"""What the documents and docstrings name exists: files, modules, make targets, functions, options and tests."""

import functools
import importlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.test_layers import MODULES
from tests.tools.pages import OURS, PAGES, anchors, blocks, lines, prose

ROOT = Path(__file__).parents[1]
ABOUT_OTHER_PROGRAMS = "docs/install.md"
OTHER_DOCUMENTS = {
    name: (ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
}
GONE = "## Moved or gone before the release"
# Pages about other packages name what those packages have; the changelog of a version that is out need not be true now.
DOCUMENTS = {name: PAGES[name] for name in OURS} | {
    name: text.partition(GONE)[0] for name, text in OTHER_DOCUMENTS.items()
}
FOLDERS = ("dp_bandit_envs", "agents", "wrappers", "tests", "examples")
SOURCES = {
    path: path.read_text(encoding="utf-8") for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))
}
PROGRAM = "\n".join(
    [(ROOT / "pyproject.toml").read_text(encoding="utf-8")]
    + [text for path, text in SOURCES.items() if not path.is_relative_to(ROOT / "tests")]
)
# A name that a reader chooses, and words of Python and other programs.
OTHERS = {"MyMechanism", "export", "ipynb", "sbatch", "wasm", "deps", "DeprecationWarning"}
# What stands in files of a reader's.
OF_READERS = {"mine.py", "report.md", "game/algorithm/measure", "game/checkpoints"}


def spans(document):
    """Return what stands between backticks outside of code blocks, each once."""
    return sorted(set(re.findall(r"`([^`]+)`", prose(DOCUMENTS[document]))) - OF_READERS)


PATH = re.compile(r"[\w.-]*/[\w./-]*|\w+\.(?:py|md|toml|txt)")
DOTTED = re.compile(r"dp_bandit_envs(?:\.\w+)+")


def exists(path):
    """Return whether a path of a document is there, from the root or from the package, or as the start of a name."""
    places = [place / path for place in (ROOT, ROOT / "dp_bandit_envs")]
    return any(place.exists() or list(place.parent.glob(f"{place.name}_*")) for place in places)


def resolve(dotted):
    """Import the longest part of a dotted name that is a module, and look up the rest."""
    parts = dotted.split(".")
    if parts[1] == "labs":  # notebooks stand above all layers
        return importlib.import_module(dotted)
    for end in range(len(parts), 0, -1):
        if ".".join(parts[:end]) in MODULES:
            thing = importlib.import_module(".".join(parts[:end]))
            for name in parts[end:]:
                thing = getattr(thing, name)
            return thing
    raise AttributeError(dotted)


@functools.cache
def known():
    """Return the words of the program, of tests' names, and of the code of pages, which is run."""
    words = set(re.findall(r"\w+", PROGRAM)) | {path.stem for path in SOURCES} | OTHERS
    words |= {path.parent.name for path in SOURCES}
    words |= set(re.findall(r"\w+", "\n".join(code for page in OURS for code in blocks(page, "python"))))
    return words | {name for text in SOURCES.values() for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}


every_document = pytest.mark.parametrize("document", DOCUMENTS)


@every_document
def test_files_and_folders_exist(document):
    made_by_commands = (".venv/", "results/", "docs/_build/", "docs/generated/")
    paths = [span for span in spans(document) if PATH.fullmatch(span)]
    assert [path for path in paths if not path.startswith(made_by_commands) and not exists(path)] == []


@pytest.mark.parametrize("document", PAGES | OTHER_DOCUMENTS)
def test_links_lead_to_files_and_headings(document):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose((PAGES | OTHER_DOCUMENTS)[document])):
        path, _, anchor = link.partition("#")
        if not re.match(r"https?://", link):
            target = (ROOT / document).parent / path if path else ROOT / document
            assert target.is_file(), link
            assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


def test_make_targets_exist():
    """Those between backticks, and those at the beginning of a line of code."""
    named = {target for text in DOCUMENTS.values() for target in re.findall(r"`make ([a-z][\w-]*)", text)}
    named |= {line.split()[1] for name in OURS for line in lines(name, "make ")}
    assert {"figure-1", "test"} <= named
    done = subprocess.run(["make", "--dry-run", *sorted(named)], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_every_name_stands_in_the_program():
    """A part that was renamed is named by its old name until someone looks."""
    for document in [name for name in DOCUMENTS if name != ABOUT_OTHER_PROGRAMS]:
        words = " ".join(span for span in spans(document) if not PATH.fullmatch(span))
        names = set(re.findall(r"[A-Za-z_]\w{3,}", words))
        assert names - known() == set()


def test_dotted_names_resolve():
    for dotted in set(DOTTED.findall("\n".join([*DOCUMENTS.values(), PROGRAM]))):
        if "stable_baselines3" not in dotted:
            resolve(dotted)


def test_docstrings_and_comments_name_files_and_tests_that_exist():
    for path, text in SOURCES.items():
        for named in re.findall(rf"(?<=[`\s(])(?:{'|'.join(FOLDERS)})/[\w/]+\.py\b", text):
            assert (ROOT / named).is_file(), (path, named)
    # `test_...` in a comment, a docstring or a document is a test or a file of tests.
    functions = {name for text in SOURCES.values() for name in re.findall(r"^ *def (\w+)", text, re.MULTILINE)}
    everything = "\n".join([*DOCUMENTS.values(), *SOURCES.values()])
    assert set(re.findall(r"`(test_\w+)`", everything)) <= functions | {path.stem for path in SOURCES}
