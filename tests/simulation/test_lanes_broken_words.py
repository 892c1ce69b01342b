"""Gains outside their range and mechanisms that break their word stop lanes as they stop single games."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, MiniBatchAverage, play, simulate
from dp_bandit_envs.adversaries import Adversary, Stochastic
from dp_bandit_envs.agents import Hedge
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import BoundaryError, GainRangeError
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale
from tests.tools.refusals import refused


def too_much(state, t, row, rng):
    for arm in range(len(row)):
        row[arm] = 1.0 if t < 40 else 1.0 + 2.0**-52


def not_a_number(state, t, row, rng):
    for arm in range(len(row)):
        row[arm] = 0.5 if t < 40 else math.nan


def too_little(state, t, row, rng):
    for arm in range(len(row)):
        row[arm] = 1.0 if t < 40 else -1e-300


# Only functions of the package are compiled into lanes.
too_much.__module__ = too_little.__module__ = not_a_number.__module__ = Stochastic.__module__


@pytest.mark.parametrize("function", [too_much, too_little, not_a_number])
def test_gains_outside_the_range_are_refused(function, monkeypatch):
    monkeypatch.setattr(Stochastic, "next_round", staticmethod(function))
    for trials in (1, 3):
        assert simulate("DPBandit-Stochastic-v0", "EXP3", horizon=39, trials=trials)["EXP3"].collected[0, -1] > 19
        with refused(GainRangeError, "Stochastic", "[0, 1]"):
            simulate("DPBandit-Stochastic-v0", "EXP3", horizon=40, trials=trials)


class Wild(Adversary):
    """Gains leave the range in round 40 of some games."""

    def begin(self, rng):
        """Draw in which."""
        self._t, self._wild = 0, rng.random() < 0.5

    def next_gains(self, rounds):
        """Return halves, and then nothing allowed."""
        t = self._t + np.arange(1, rounds + 1)
        self._t += rounds
        return np.where((t[:, np.newaxis] >= 40) & self._wild, -1e-300, 0.5) * np.ones(self.n_arms)


def test_gains_of_an_adversary_of_your_own_are_checked_too():
    assert simulate(lambda: BanditEnv(Wild(3, 39)), "EXP3", trials=20)["EXP3"].engine == "lanes"
    with refused(GainRangeError, "Wild", "[0, 1]"):
        simulate(lambda: BanditEnv(Wild(3, 40)), "EXP3", trials=20)


def withholds(state, arm, gain, rng):
    return gain, 1 if rng.random() < 0.99 else 0


def exceeds(state, arm, gain, rng):
    return (gain if rng.random() < 0.99 else 1.0 + 2.0**-52), 1


def no_number(state, arm, gain, rng):
    state.exact[arm] += gain
    return (state.exact[arm] if rng.random() < 0.99 else np.inf), 1


for _function in (withholds, exceeds, no_number):
    _function.__module__ = LaplaceClipRescale.__module__


def wrong(env):
    return LaplaceClipRescale(env, epsilon=2.0, outside="clip")


LAYERS = {
    "alone": wrong,
    "below a batch": lambda env: MiniBatchAverage(wrong(env), batch_size=2),
    "above a batch": lambda env: wrong(MiniBatchAverage(env, batch_size=2)),
}


# Each is compiled twice; every layer and both wrongs are in the first three.
BROKEN = [
    *[("alone", exceeds), ("below a batch", withholds), ("above a batch", exceeds)],
    *[
        pytest.param(*other, marks=pytest.mark.slow)
        for other in (("alone", withholds), ("below a batch", exceeds), ("above a batch", withholds))
    ],
]


@pytest.mark.parametrize(("layers", "release"), BROKEN)
def test_a_mechanism_that_breaks_its_word_is_stopped(release, layers, monkeypatch):
    """One release in a hundred is wrong; noise without a limit never withholds a gain."""
    monkeypatch.setattr(mechanisms.LaplaceClipRescale, "release", staticmethod(release))
    player = Algorithm("wrong", Exp3, LAYERS[layers])
    for trials in (1, 16):
        with refused(ValueError, "mechanism"):
            simulate("DPBandit-Stochastic-v0", [player], horizon=2000, trials=trials)
    with refused(BoundaryError, "[0, 1]" if release is exceeds else "withheld"):
        play(gym.make("DPBandit-Stochastic-v0", horizon=2000), player)


def test_a_sum_that_is_no_number_is_stopped(monkeypatch):
    monkeypatch.setattr(mechanisms.ExactSums, "release", staticmethod(no_number))
    for wrapping in (ExactSums, lambda env: ExactSums(MiniBatchAverage(env, batch_size=2))):
        player = Algorithm("wrong", Hedge, wrapping)
        for trials in (1, 16):
            with refused(ValueError, "mechanism"):
                simulate("DPBandit-Experts-v0", [player], horizon=2000, trials=trials, env_kwargs={"n_arms": 3})
