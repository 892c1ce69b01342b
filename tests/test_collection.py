"""The suite itself: each test has one name, the same on every machine and in every process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def collected(hash_seed):
    """Return the names of all tests, as a process of its own finds them."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed), "PYTEST_ADDOPTS": ""}
    done = subprocess.run([*command, "tests"], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_names_of_tests_are_the_same_in_every_process(request):
    """Parallel workers compare names, and a name with a memory address or from a set's order differs between them."""
    here = [item.nodeid for item in request.session.items]
    # Where the whole suite is run it was collected here, with another hash seed; otherwise a second process tells.
    whole = len(here) > 1000 and os.environ.get("PYTHONHASHSEED", "random") == "random"
    first, second = here if whole else collected(1), collected(2)
    # With `-m` this process may have left some out.
    known = set(first if whole else second)
    assert first == [name for name in second if name in known]
    assert [name for name in second if "0x" in name] == []
    assert len(second) == len(set(second)) > 1000
