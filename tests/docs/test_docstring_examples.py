"""Every public name of the package has an example in its docstring, and it prints what the docstring says."""

import doctest

import gymnasium as gym
import pytest

import dp_bandit_envs
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.envs import registration

NAMES = [name for name in dp_bandit_envs.__all__ if name != "__version__"]
REGISTERED = (gym.registry, ALGORITHMS, registration.GAMES)


@pytest.fixture
def registers_as_before():
    """Take away what an example adds to the tables of this process."""
    before = [dict(table) for table in REGISTERED]
    yield
    for table, rows in zip(REGISTERED, before, strict=True):
        table.clear()
        table.update(rows)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_the_example_prints_what_it_says(name, registers_as_before):
    thing = getattr(dp_bandit_envs, name)
    found = doctest.DocTestParser().get_doctest(thing.__doc__ or "", {}, name, None, None)
    assert len(found.examples) >= 2 and "Example:" in thing.__doc__
    assert any(example.want for example in found.examples)
    told = []
    doctest.DocTestRunner(verbose=False).run(found, out=told.append)
    assert not told, "".join(told)
