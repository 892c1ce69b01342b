"""The page on conformance lists every rule of every check, as the source has it, and its code runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.conformance_rules import FOLDER, MODULES, rules_of

PAGE = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")
SECTIONS = {
    title.strip().lower(): set(re.findall(r"^\|[^|]*\| `(.+)` \|$", body, re.MULTILINE))
    for title, body in re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
}


@pytest.mark.parametrize("check", MODULES)
def test_the_tables_are_the_rules_in_the_source(check):
    assert SECTIONS[check] == set().union(*(rules_of(module) for module in MODULES[check]))


def test_every_file_with_rules_is_among_them():
    known = {module for modules in MODULES.values() for module in modules}
    assert {path.stem for path in FOLDER.glob("*.py") if rules_of(path.stem)} == known


def test_the_code_of_the_page_runs(tmp_path):
    code = "\n\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert "begin must forget the game before" in done.stdout and "passes" in done.stdout
