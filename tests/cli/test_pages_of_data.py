"""docs/recorded-data.md and docs/advice.md, followed from top to bottom in one folder, as a reader does."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
QUICK = ["--algorithm", "DP-KLUCB", "--gap", "0.3", "--trials", "4", "--jobs", "1"]


def blocks(name):
    return re.findall(r"```(\w+)\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)


def command(dp_bandit, line):
    words = shlex.split(line)[1:]
    small = {"run": ["--trials", "2", "--out", "results"], "advise": QUICK}
    return words, *dp_bandit(*words, *small.get(words[0], []))


def python(code, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_messy_file_is_cleaned_and_played_and_advised_on_as_the_pages_say(dp_bandit, tmp_path):
    said = ""
    for language, code in blocks("recorded-data.md"):
        if language == "python":
            said += python(code, tmp_path)
            continue
        for line in code.strip().splitlines():
            words, exit_code, out, err = command(dp_bandit, line)
            said += out
            # Before anything is decided, problems are open.
            assert (exit_code, err) == (1 if words[0] == "data" and "--out" not in words else 0, ""), line
    page = (DOCS / "recorded-data.md").read_text(encoding="utf-8")
    quoted = [
        line for line in page.splitlines() if re.match(r"    (\w+\.csv|TO DECIDE|done|\d+ persons|Replayed)", line)
    ]
    assert len(quoted) == 9
    for line in quoted:
        assert line.strip().removesuffix("...").strip() in said, line
    lines = [line for language, code in blocks("advice.md") if language == "bash" for line in code.strip().splitlines()]
    assert any("clean.csv" in line for line in lines)
    for line in lines:
        _, exit_code, out, err = command(dp_bandit, line)
        assert (exit_code, err) == (0, "") and "What to take" in out


@pytest.mark.parametrize("name", ["recorded-data.md", "advice.md"])
def test_every_block_has_a_language_that_runs(name):
    assert {language for language, _ in blocks(name)} == {"python", "bash"}
