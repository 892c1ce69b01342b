"""Attacks through what a foreign game or mechanism says of its values: no noise may be scaled to less than it is."""

import math

import gymnasium as gym
import pytest

from dp_bandit_envs.adversaries import Deterministic
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.privacy.facts import Values, all_gains_of_arms
from dp_bandit_envs.privacy.mechanisms import MiniBatchAverage
from dp_bandit_envs.wrappers import CounterSums, LaplaceClipRescale, PrivacyBoundary, vector
from tests.tools.refusals import refused
from tests.tools.vector_sums import factor_of

D = 5
RIGHT = all_gains_of_arms(D)
IMPOSSIBLE = {
    "a norm with a typing error": RIGHT._replace(norm="linf"),
    "L2 left at its default": Values(complete=True),
    "a sup norm too small": RIGHT._replace(own=0.1),
    "an L1 norm like a sup norm": RIGHT._replace(norm="l1"),
    "an L2 norm like a sup norm": RIGHT._replace(norm="l2"),
    "no distance": RIGHT._replace(l2=0.0),
    "a negative distance": RIGHT._replace(own=-1.0),
    "NaN": RIGHT._replace(l2=math.nan),
    "an empty range": RIGHT._replace(high=0.0),
    "an infinite range": RIGHT._replace(low=-math.inf),
    "text": RIGHT._replace(high="1"),
}


class Declares(ExpertsEnv):
    """A foreign game of five experts that says what it likes of its values."""

    def __init__(self, values, sensitivity=float(D)):
        super().__init__(gains=Deterministic(D, 4))
        self._declared, self.sensitivity = values, sensitivity

    @property
    def values(self):
        """What it likes."""
        return self._declared


@pytest.mark.parametrize("how", IMPOSSIBLE)
def test_values_that_cannot_be_or_do_not_fit_the_sensitivity_are_refused(how):
    """A norm that nobody knows had Laplace noise for one coordinate: five times the epsilon that was stated."""
    many = gym.vector.SyncVectorEnv([lambda: Declares(RIGHT), lambda: Declares(IMPOSSIBLE[how])])
    for noise in ("laplace", "own-norm", "gaussian"):
        arguments = {"counter": "binary", "epsilon": 1.0, "noise": noise}
        CounterSums(Declares(RIGHT), **arguments)
        with refused(ValueError, "CounterSums"):
            CounterSums(Declares(IMPOSSIBLE[how]), **arguments)
        with refused(ValueError, "CounterSums"):
            vector.CounterSums(many, **arguments)


def test_values_that_are_none_are_refused():
    with refused(TypeError, "LaplaceClipRescale"):
        LaplaceClipRescale(Declares((0.0, 1.0)), epsilon=1.0)


@pytest.mark.parametrize("order", [1, -1])
def test_noise_of_many_games_is_scaled_to_the_farthest_of_them_in_each_norm(order):
    """Two games of one sensitivity: the first had decided how far all their values may be apart."""
    wide = RIGHT._replace(l2=4.0, own=2.0)
    declared = [RIGHT, wide][::order]
    many = gym.vector.SyncVectorEnv([lambda each=each: Declares(each) for each in declared])
    for noise, factor in (("gaussian", 4.0), ("own-norm", 2.0)):
        env = vector.CounterSums(many, counter="binary", epsilon=1.0, noise=noise)
        assert (env.below.values.l2, env.below.values.own) == (4.0, 2.0)
        assert factor_of(env.mechanism, env.below) >= factor


def test_games_with_values_in_different_norms_are_not_played_together():
    other = RIGHT._replace(norm="l2", own=math.sqrt(D))
    many = gym.vector.SyncVectorEnv([lambda: Declares(RIGHT), lambda: Declares(other)])
    with refused(ValueError, "norm of values"):
        vector.LaplaceClipRescale(many, epsilon=1.0)


@pytest.mark.parametrize("values", [Values(), RIGHT._replace(l2=0.5)])
def test_a_sensitivity_smaller_than_another_distance_is_refused(values):
    """Laplace noise would be scaled to 0.4, for values that differ by 1 in L2, or in the sup norm."""
    with refused(ValueError, "sensitivity"):
        LaplaceClipRescale(Declares(values, sensitivity=0.4), epsilon=1.0)


class Twice(MiniBatchAverage):
    """A foreign mechanism that says that a round counts twice, but not in how many values."""

    def sensitivity(self, below):
        """Return twice that below."""
        return 2 * below.sensitivity


def test_a_mechanism_whose_distances_do_not_fit_its_sensitivity_is_refused():
    """Gaussian noise above it would have been scaled to half of the distance."""
    with refused(ValueError, "Twice"):
        PrivacyBoundary(Declares(RIGHT), Twice(batch_size=1))
