"""Breaks one line in a copy of the package, and runs tests there."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.mutations.broken_lines import Mutation

ROOT = Path(__file__).parents[2]
PACKAGE = "dp_bandit_envs"
MAPPED = ("agents", "wrappers")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
FAILED, PASSED = 1, 0
"""Exit codes of pytest; all others mean that tests could not run."""


class Result(NamedTuple):
    """What became of a broken line.

    Attributes:
        caught: Whether a test failed; None if the tests could not run.
        by: The first test that failed, or pytest's last words if none could run.
        seconds: How long the tests took.
    """

    caught: bool | None
    by: str
    seconds: float


class Copy:
    """A copy of the package and its tests in a folder, in which lines can be broken.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, ignore=LEFT_OUT)
        for part in MAPPED:
            shutil.copytree(ROOT / part, folder / PACKAGE / part, ignore=LEFT_OUT)
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=LEFT_OUT)
        for page in ("pyproject.toml", "README.md", *(path.relative_to(ROOT) for path in ROOT.glob("docs/**/*.md"))):
            (folder / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / page, folder / page)

    def path(self, file: str) -> Path:
        """Return where a file of the repository is in the copy."""
        return self.folder / (f"{PACKAGE}/{file}" if file.split("/")[0] in MAPPED else file)

    def play(self, mutation: Mutation) -> Result:
        """Break a line, run its tests, and repair it."""
        path = self.path(mutation.file)
        whole = path.read_text(encoding="utf-8")
        if whole.count(mutation.old) != 1:
            return Result(None, f"the line occurs {whole.count(mutation.old)} times", 0.0)
        path.write_text(whole.replace(mutation.old, mutation.new), encoding="utf-8")
        try:
            return self.run(mutation.tests)
        finally:
            path.write_text(whole, encoding="utf-8")

    def run(self, tests: tuple[str, ...]) -> Result:
        """Run tests in the copy."""
        started = time.perf_counter()
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(self.folder / "compiled"),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", *tests]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        seconds = time.perf_counter() - started
        if done.returncode not in (PASSED, FAILED):
            return Result(None, " ".join(done.stdout.split()[-30:]), seconds)
        first = re.search(r"^FAILED \S*::(\S+)", done.stdout, re.MULTILINE)
        return Result(done.returncode == FAILED, first[1] if first else "", seconds)

    def selections(self, mutations: tuple[Mutation, ...]) -> list[tuple[str, ...]]:
        """Return the different selections of tests of these mutations."""
        return list(dict.fromkeys(mutation.tests for mutation in mutations))
