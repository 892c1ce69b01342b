"""A mechanism of a user's own runs in all three drivers, without a line in `simulation/` or `wrappers/`."""

import math
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, simulate
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.errors import BoundaryError
from dp_bandit_envs.privacy import InputFacts, Mechanism, Noise, PrivacyGuarantee
from dp_bandit_envs.privacy.facts import all_gains_of_arms
from dp_bandit_envs.wrappers import MiniBatchAverage, PrivacyBoundary
from dp_bandit_envs.wrappers.vector import VectorPrivacyBoundary
from tests.simulation.test_play_equals_simulate import assert_same
from tests.tools.refusals import refused


class Share(NamedTuple):
    """Chance of a coin, and a place for each arm that counts its gains."""

    honest: float
    seen: np.ndarray


def honest_or_not(state, arm, gain, rng):
    state.seen[arm] += 1
    if rng.random() < state.honest:
        return math.floor(gain + rng.random()), 1
    return (1.0 if rng.random() < 0.5 else 0.0), state.seen[arm] % 3


class Warner(Mechanism):
    """A truthful coin with some chance, otherwise any coin; every third lie is withheld."""

    release = staticmethod(honest_or_not)

    def __init__(self, honest):
        self.honest = honest

    def new_state(self, inputs):
        """Return what the coins need."""
        return Share(self.honest, np.zeros(inputs.n_values, np.int64))

    def guarantee(self, inputs):
        """Return the worst of the two answers, with the chance of being withheld."""
        return PrivacyGuarantee(epsilon=math.log((2 * self.honest + 1) / (1 - self.honest)), model="local")


class Sevens(NamedTuple):
    """Sums and numbers of gains."""

    sums: np.ndarray
    counts: np.ndarray
    scale: float


def every_seventh(state, arm, gain, rng):
    state.sums[arm] += gain
    state.counts[arm] += 1
    if state.counts[arm] % 7:
        return 0.0, 0
    return state.sums[arm] + rng.laplace(0.0, state.scale), state.counts[arm]


def tick(state, arm, rng):
    # Arms that wait draw too, so that the drivers must agree on when they wait.
    return rng.random(), 0


def no_release(state):
    state.sums[0] += 0.0


class EverySeventh(Mechanism):
    """Releases a sum after every seventh gain of an arm; no guarantee is claimed."""

    release = staticmethod(every_seventh)
    releases_sums = True

    def __init__(self, scale, idle=False):
        self.scale = scale
        self.idle = tick if idle else None
        self.forget = no_release

    def new_state(self, inputs):
        """Return empty sums."""
        return Sevens(np.zeros(inputs.n_values), np.zeros(inputs.n_values, np.int64), self.scale * inputs.sensitivity)

    def guarantee(self, inputs):
        """Claim nothing."""
        return PrivacyGuarantee.none("a test")

    def noise(self, inputs):
        """Tell agents the scale."""
        return Noise(inputs.sensitivity, self.scale * inputs.sensitivity)


def clock(state):
    state.seen[0] += 1


def every_third_step(state, arm, gain, rng):
    return (gain, 1) if state.seen[0] % 3 else (0.0, 0)


class ByTheClock(Warner):
    """Releases by how many steps there were."""

    release = staticmethod(every_third_step)
    forget = staticmethod(clock)


def sums_by_the_clock(state, arm, gain, rng):
    state.sums[arm] += gain
    state.counts[arm] += 1
    return (state.sums[arm], state.counts[arm]) if state.counts[-1] % 3 == 0 else (0.0, 0)


def tick_of_sums(state):
    state.counts[-1] += 1


class SumsByTheClock(EverySeventh):
    """Forgets after it got the step's gain, not before."""

    release = staticmethod(sums_by_the_clock)

    def __init__(self):
        super().__init__(0.0)
        self.forget = tick_of_sums


def in_every_round(state, arm, gain, rng):
    state.seen[arm] += 1
    return gain * rng.random(), state.seen[arm] % 2


class InEveryRound(Warner):
    """Makes batches, and releases in the middle of them too: the last release counts."""

    release = staticmethod(in_every_round)
    batch_size = 3


CHAINS = {
    "gains": (Exp3, lambda env: PrivacyBoundary(env, Warner(0.5))),
    "batches of gains": (Exp3, lambda env: MiniBatchAverage(PrivacyBoundary(env, Warner(0.9)), batch_size=2)),
    "sums, idle": (Ucb, lambda env: PrivacyBoundary(env, EverySeventh(2.0, idle=True))),
    "sums of gains": (Ucb, lambda env: PrivacyBoundary(PrivacyBoundary(env, Warner(0.5)), EverySeventh(0.5))),
    "sums of batches": (
        Ucb,
        lambda env: PrivacyBoundary(MiniBatchAverage(env, batch_size=3), EverySeventh(0.5, idle=True)),
    ),
    "clock": (Exp3, lambda env: PrivacyBoundary(env, ByTheClock(0.5))),
    "sums by the clock": (Ucb, lambda env: PrivacyBoundary(env, SumsByTheClock())),
    "early releases": (Exp3, lambda env: PrivacyBoundary(PrivacyBoundary(env, InEveryRound(0.5)), Warner(0.7))),
    "sums of early releases": (
        Ucb,
        lambda env: PrivacyBoundary(PrivacyBoundary(env, InEveryRound(0.5)), EverySeventh(0.5)),
    ),
}
GRAPHS = {"early releases": "erdos-renyi", "sums of early releases": "erdos-renyi", "sums, idle": "complete"}
"""Chains that are played on a graph, too."""
MORE = ("batches of gains", "sums of gains", "sums of batches", "sums by the clock", "early releases")
"""Chains whose parts are all in the others."""


@pytest.mark.thorough
@pytest.mark.slow_cases("sums of early releases")
@pytest.mark.parametrize("chain", [pytest.param(one, marks=pytest.mark.slow) if one in MORE else one for one in CHAINS])
def test_compiled_equals_played(chain):
    player = Algorithm(chain, *CHAINS[chain])
    assert_same("DPBandit-Stochastic-v0", {}, [player], horizon=97)
    if chain in GRAPHS:
        graph = {"graph": GRAPHS[chain], "n_arms": 6, **({} if GRAPHS[chain] == "complete" else {"redraw_every": 2})}
        assert_same("DPBandit-Graph-v0", graph, [player], horizon=97, trials=1)


@pytest.mark.parametrize("mechanism", [Warner(0.5), EverySeventh(2.0, idle=True)], ids=["gains", "sums"])
def test_many_games_equal_single_ones(mechanism):
    many = VectorPrivacyBoundary(gym.make_vec("DPBandit-Stochastic-v0", num_envs=3, horizon=40), mechanism)
    single = [PrivacyBoundary(gym.make("DPBandit-Stochastic-v0", horizon=40), mechanism) for _ in range(3)]
    many.reset(seed=5)
    for number, env in enumerate(single):
        env.reset(seed=5 + number)
    for t in range(40):
        arms = np.array([t % 4, 0, t // 9 % 4])
        released, rewards, *_ = many.step(arms)
        for number, env in enumerate(single):
            alone, reward, *_ = env.step(int(arms[number]))
            assert reward == rewards[number]
            for key, part in alone.items():
                assert np.array_equal(part, released[key][number])


def leaks(state, arm, gain, rng):
    return 1.5 + gain, 1


class Leaks(Warner):
    """Releases a gain outside [0, 1]."""

    release = staticmethod(leaks)


@pytest.mark.thorough
def test_a_released_gain_outside_the_range_is_refused_in_all_three():
    env = PrivacyBoundary(gym.make("DPBandit-Deterministic-v0", horizon=9), Leaks(0.5))
    env.reset(seed=1)
    with refused(BoundaryError, "[0, 1]"):
        env.step(0)
    envs = VectorPrivacyBoundary(gym.make_vec("DPBandit-Deterministic-v0", num_envs=2, horizon=9), Leaks(0.5))
    envs.reset(seed=1)
    with refused(BoundaryError, "[0, 1]"):
        envs.step(np.zeros(2, int))
    player = Algorithm("leaks", Exp3, lambda env: PrivacyBoundary(env, Leaks(0.5)))
    with refused(ValueError, "[0, 1]"):
        simulate("DPBandit-Deterministic-v0", [player], horizon=50)


def test_a_mechanism_is_what_the_boundary_says_of_it():
    env = PrivacyBoundary(gym.make("DPBandit-Graph-v0", horizon=9, graph="complete", n_arms=5), EverySeventh(2.0))
    assert env.noise == Noise(5.0, 10.0, 0.0)
    assert env.inputs == InputFacts(5, 9, 5.0, 5, noise=Noise(5.0), values=all_gains_of_arms(5))
    assert env.horizon == 9 and env.sensitivity == math.inf
    env.mechanism.scale = 0.0
    assert env.mechanism.scale == 2.0
