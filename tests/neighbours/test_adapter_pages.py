"""The pages of docs/adapters/ whose code needs another package."""

import importlib.util

import pytest

from tests.tools.adapter_pages import NEEDS, run_page


@pytest.mark.parametrize("name", NEEDS)
def test_the_code_of_a_page_runs(name, tmp_path):
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed; pip install 'dp-bandit-envs[neighbours]'")
    assert run_page(name, tmp_path)
