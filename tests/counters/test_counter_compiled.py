"""The compiled functions of a counter are its Python ones, to the last bit."""

import math

import numpy as np
import pytest

from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.privacy.counters import COUNTERS
from tests.tools.counter_noise import LAPLACE, counter, measured_noise


@pytest.mark.parametrize("name", LAPLACE)
@pytest.mark.parametrize("epsilon", [0.7, math.inf])
def test_compiled_noise_equals_the_python_one_bit_for_bit(name, epsilon):
    """Two arms in turns and one stream, so that a draw too many or too few shows in all that follows."""
    some = counter(name, 200, epsilon)
    compiled = Compiled(COUNTERS[name].noise, {})
    states, streams = [some.new_state(2), some.new_state(2)], [np.random.default_rng(11), np.random.default_rng(11)]
    arms = np.random.default_rng(12).permutation(np.repeat([0, 1], 200)).tolist()
    python = [some.noise(states[0], arm, streams[0]) for arm in arms]
    machine = [compiled(states[1], arm, streams[1]) for arm in arms]
    assert machine == python
    assert streams[0].bit_generator.state == streams[1].bit_generator.state
    for one, other in zip(*states, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", LAPLACE)
def test_a_compiled_loop_equals_advance(name):
    """Compiled into a loop that calls it, as the simulator does, `insert` still gives the same noise."""
    some = counter(name, 100)
    at = np.arange(1, 101)
    state, rng = some.new_state(3), np.random.default_rng(13)
    python = [[some.noise(state, arm, rng)[0] for _ in at] for arm in range(3)]
    assert np.array_equal(measured_noise(some, name, at, 3, seed=13).T, python)
