"""ERRATA.md: each entry has its five parts, its tests exist, and each number is used once."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ERRATA = (ROOT / "ERRATA.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^### E(\d+) \((S|m)\): .+$", ERRATA, re.MULTILINE)


def test_every_number_is_used_once_and_in_order():
    assert [int(number) for number, _ in ENTRIES] == list(range(1, len(ENTRIES) + 1))
    assert len(re.findall("^### ", ERRATA, re.MULTILINE)) == len(ENTRIES) > 0


def test_every_reference_is_to_an_entry():
    assert {int(number) for number in re.findall(r"\bE(\d+)\b", ERRATA)} <= {int(number) for number, _ in ENTRIES}


def test_every_entry_says_all_and_names_a_test_that_exists():
    for entry in re.split(r"^### ", ERRATA, flags=re.MULTILINE)[1:]:
        parts = re.findall(r"^- \*\*(\w+)\*\*: ", entry, re.MULTILINE)
        assert parts == ["Claimed", "True", "Why", "Here", "Test"], entry
        line = entry.split("- **Test**: ")[1].split("\n\n")[0]
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", line)
        assert named, entry
        for path, name in named:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (path, name)
