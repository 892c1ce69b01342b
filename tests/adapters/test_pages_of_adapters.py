"""The pages of docs/adapters/: their code runs, and they state the guarantee."""

import importlib.util
import subprocess
import sys

import pytest

from tests.tools.pages import NEIGHBOURS, PAGES, blocks

NAMES = [name[len(NEIGHBOURS) : -3] for name in PAGES if name.startswith(NEIGHBOURS)]
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


@pytest.mark.thorough
@pytest.mark.slow_cases(
    "cleanrl", "foreign-environments", "mabwiser", "stable-baselines3", "text-observations", "torchrl"
)
@pytest.mark.parametrize("name", NAMES)
def test_the_code_of_a_page_runs(name, tmp_path):
    """Its blocks run from top to bottom in one process, with warnings as errors."""
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed; pip install 'dp-bandit-envs[neighbours]'")
    code = "\n\n".join(blocks(f"{NEIGHBOURS}{name}.md", "python"))
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_page_states_the_guarantee_and_the_limits():
    assert len(NAMES) == 10 and set(NEEDS) <= set(NAMES)
    for name in NAMES:
        text = PAGES[f"{NEIGHBOURS}{name}.md"]
        assert text.count("**Guarantee.**") == text.count("**Limits.**") >= 1, name
