"""docs/errata.md: each entry has its five parts, its tests exist, each number is used once, and the table agrees."""

import ast
import re

import pytest

from tests.tools.pages import PAGES, ROOT

ERRATA = PAGES["docs/errata.md"]
HEADING = re.compile(r"E(\d+) \((S|m)\): .+")
SECTIONS = [section.split("\n### ") for section in re.split(r"^## ", ERRATA, flags=re.MULTILINE)[1:]]
"""The head of each section, and its entries."""
ENTRIES = [(head, entry) for head, *entries in SECTIONS for entry in entries]
TESTED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ADDRESS = re.compile(r"\]\((https://[^)]+)\)")
NUMBER = re.compile(r"\d*\.?\d+")


def table():
    """Return the cells of each row of the table."""
    rows = re.findall(r"^\| (\[E.*) \|$", ERRATA, re.MULTILINE)
    return [row.split(" | ") for row in rows]


def test_every_number_is_used_once_and_in_order():
    numbers = [int(HEADING.match(entry)[1]) for _, entry in ENTRIES]
    assert numbers == list(range(1, len(ENTRIES) + 1))
    assert len(re.findall("^### ", ERRATA, re.MULTILINE)) == len(ENTRIES) > 0


def test_every_reference_is_to_an_entry():
    assert {int(number) for number in re.findall(r"\bE(\d+)\b", ERRATA)} <= set(range(1, len(ENTRIES) + 1))


@pytest.mark.thorough
def test_every_entry_says_all_and_names_a_test_that_exists():
    for _, entry in ENTRIES:
        parts = re.findall(r"^- \*\*(\w+)\*\*: ", entry, re.MULTILINE)
        assert parts == ["Claimed", "True", "Why", "Here", "Test"], entry
        named = TESTED.findall(entry.split("- **Test**: ")[1])
        assert named, entry
        for path, name in named:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (path, name)


def test_the_table_agrees_with_the_entries():
    """In number, paper, kind and tests; a number in "what holds" stands in the entry, too."""
    for (number, paper, kind, holds, tests), (head, entry) in zip(table(), ENTRIES, strict=True):
        title = entry.splitlines()[0]
        anchor = re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
        assert number == f"[{title.split()[0]}](#{anchor})"
        assert kind == HEADING.match(entry)[2], number
        addresses = set(ADDRESS.findall(paper))
        assert addresses <= set(ADDRESS.findall(head + entry)) and addresses >= set(ADDRESS.findall(head)), number
        assert set(NUMBER.findall(holds)) <= set(NUMBER.findall(entry)), number
        paths = dict.fromkeys(path for path, _ in TESTED.findall(entry))
        assert tests == ", ".join(f"[{(ROOT / path).stem}](../{path})" for path in paths), number
