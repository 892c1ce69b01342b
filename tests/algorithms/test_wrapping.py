"""What is said if the `wrapping` of an own algorithm is no function from an environment to a wrapped one."""

import gymnasium as gym
import pytest

from dp_bandit_envs import Algorithm, LaplaceClipRescale, play
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.wrappers import ExactSums
from tests.tools.refusals import refused


def game():
    return gym.make("DPBandit-Stochastic-v0", horizon=5)


def test_a_wrapped_environment_and_a_class_with_parameters_are_refused():
    with refused(TypeError, "wrapping", "lambda env", "a LaplaceClipRescale"):
        Algorithm("mine", Exp3, LaplaceClipRescale(game(), epsilon=1.0))
    with refused(TypeError, "wrapping", "lambda env", "LaplaceClipRescale", "epsilon"):
        Algorithm("mine", Exp3, LaplaceClipRescale)


@pytest.mark.parametrize("returned, word", [(None, "None"), (3, "int")])
def test_a_function_that_returns_no_environment_is_refused(returned, word):
    with refused(TypeError, "wrapping", "lambda env", word):
        play(game(), Algorithm("mine", Exp3, lambda env: returned))


def test_a_class_that_needs_the_environment_alone_is_a_wrapping():
    assert isinstance(Algorithm("mine", Exp3, ExactSums).wrap(game()), ExactSums)
