"""The pages of docs/adapters/: their code runs, and they say what is guaranteed."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = {path.stem: path for path in sorted((Path(__file__).parents[2] / "docs" / "adapters").glob("*.md"))}
NEEDS = {
    "cleanrl": "torch",
    "mabwiser": "mabwiser",
    "minari": "minari",
    "river": "river",
    "stable-baselines3": "stable_baselines3",
    "torchrl": "torchrl",
    "vowpal-wabbit": "vowpalwabbit",
}
"""The package that a page's code needs; the others need none."""


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_runs(name, tmp_path):
    """Its blocks run from top to bottom in one process, with warnings as errors."""
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed; pip install 'dp-bandit-envs[neighbours]'")
    code = "\n\n".join(re.findall(r"^```python\n(.*?)^```", PAGES[name].read_text(encoding="utf-8"), re.S | re.M))
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_page_says_what_is_guaranteed_and_what_is_not():
    assert len(PAGES) == 10 and set(NEEDS) <= set(PAGES)
    for name, path in PAGES.items():
        text = path.read_text(encoding="utf-8")
        assert text.count("**What is guaranteed.**") == text.count("**Limits.**") >= 1, name
