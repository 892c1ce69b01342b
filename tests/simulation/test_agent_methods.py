"""What the writer of an agent with three methods reads if one is missing, has other names, or asks for another key."""

import gymnasium as gym
import pytest

from dp_bandit_envs import Algorithm, LaplaceClipRescale, play
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.conformance import check_agent
from dp_bandit_envs.errors import ConformanceError
from tests.tools.refusals import missing, refused


class Fine:
    """Plays arm 0."""

    def begin(self, *, n_arms, horizon, rng):
        """Begin."""

    def select_arm(self):
        """Return arm 0."""
        return 0

    def update(self, arm, observation):
        """Learn nothing."""


class WithoutUpdate(Fine):
    """Cannot learn."""

    update = None


class WithoutRng(Fine):
    """Cannot be given a stream."""

    def begin(self, n_arms, horizon):
        """Begin."""


class AsksForReward(Fine):
    """Looks for what is not there."""

    def update(self, arm, observation):
        """Fail."""
        observation["reward"]


class LosesItsOwnKey(Fine):
    """Fails with a dict of its own."""

    def update(self, arm, observation):
        """Fail."""
        {}[arm]


def game(wrap=lambda env: env):
    return wrap(gym.make("DPBandit-Stochastic-v0", horizon=5))


def test_the_missing_method_is_named():
    with refused(TypeError, "WithoutUpdate", "no update"):
        play(game(), WithoutUpdate())


def test_names_of_arguments_are_shown():
    with refused(TypeError, "begin(n_arms=, horizon=, rng=)", "WithoutRng.begin(n_arms, horizon)"):
        play(game(), WithoutRng())


def test_an_agent_that_fits_is_played():
    assert play(game(), Fine()).arms.tolist() == [0] * 5


@pytest.mark.parametrize("wrap", [lambda env: env, lambda env: LaplaceClipRescale(env, epsilon=1.0)])
def test_a_missing_key_comes_with_those_that_there_are(wrap):
    with pytest.raises(KeyError) as caught:
        play(game(wrap), AsksForReward())
    assert not missing("\n".join(caught.value.__notes__), "gain", "observed")


def test_another_key_error_stays_as_it_is():
    with pytest.raises(KeyError) as caught:
        play(game(), LosesItsOwnKey())
    assert not hasattr(caught.value, "__notes__")


def test_check_agent_names_the_key_and_refuses_a_maker_of_algorithms():
    with refused(ConformanceError, "KeyError", "'reward'"):
        check_agent(AsksForReward)
    with refused(ConformanceError, "Algorithm", "the agent's class"):
        check_agent(lambda: Algorithm("mine", Exp3))
