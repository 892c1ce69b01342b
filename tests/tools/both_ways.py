"""`simulate` against `play` to the last bit, and agents that play another game if a last bit is another."""

import functools
import math
import re
from typing import NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs import LaplaceClipRescale, play, simulate
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.wrappers import MiniBatchAverage

SEED = 20170208
HORIZON = 331
"""Prime: no batch size, block length or life of a graph divides it."""
CURVES = (
    *("external_regret", "policy_regret", "pseudo_regret", "dynamic_regret", "collected", "switches"),
    *("rounds_until_stop", "error"),
)


def assert_same(
    game, algorithms, *, trials=2, first_trial=0, horizon=HORIZON, seed=SEED, jobs=1, engine="compiled", **options
):
    """Compare at every round, so that equal curves leave no room for other arms; return these by name and trial.

    A game is an id, with a horizon and other options, or a function that makes one; an engine is a pattern.
    """
    named = isinstance(game, str)
    make = functools.partial(gym.make, game, horizon=horizon, **options) if named else game
    rounds = make().get_wrapper_attr("horizon")
    simulation = simulate(
        game,
        algorithms,
        **({"horizon": horizon, "env_kwargs": options} if named else {}),
        trials=trials,
        first_trial=first_trial,
        seed=seed,
        jobs=jobs,
        checkpoints=range(1, rounds + 1),
    )
    arms = {}
    for algorithm in algorithms:
        outcome = simulation[algorithm.name]
        assert re.fullmatch(engine, outcome.engine), outcome.reason
        for trial in range(trials):
            env = make()
            played = play(env, algorithm, seed=seed, trial=first_trial + trial)
            arms[algorithm.name, trial] = played.arms
            assert played.arms.shape == (rounds,)
            without_means = env.unwrapped.adversary.means is None or isinstance(env.unwrapped, PointEnv)
            assert (played.pseudo_regret is None) == without_means
            for curve in CURVES:
                expected, found, where = getattr(played, curve), getattr(outcome, curve), (algorithm.name, trial, curve)
                assert (expected is None) == (found is None), where
                assert expected is None or np.array_equal(found[trial], expected), where
            assert np.array_equal(outcome.pulls[trial], np.bincount(played.arms, minlength=played.n_plays))
    return arms


def batch(env, batch_size=7):
    return MiniBatchAverage(env, batch_size=batch_size)


def laplace(env, epsilon=2.0, **options):
    return LaplaceClipRescale(env, epsilon=epsilon, **options)


# Small bounds, so that a good share of the gains falls outside and both ways of dealing with it matter.
ORDERS = {
    "bare": lambda env: env,
    "Laplace": laplace,
    "Laplace, small bound": lambda env: laplace(env, bound=0.1),
    "Laplace, clipped": lambda env: laplace(env, bound=0.1, outside="clip"),
    "Laplace, bound 0": lambda env: laplace(env, bound=0.0),
    "Laplace without noise": lambda env: laplace(env, math.inf),
    "batch": batch,
    "batch of 1": lambda env: batch(env, 1),
    "batch of the whole game": lambda env: batch(env, HORIZON),
    "Laplace around batch": lambda env: laplace(batch(env), 0.3),
    "Laplace around batch, clipped": lambda env: laplace(batch(env), 0.3, bound=0.05, outside="clip"),
    "batch around Laplace": lambda env: batch(laplace(env), 3),
    "batch around Laplace, small bound": lambda env: batch(laplace(env, bound=0.4), 2),
    "batch around Laplace, clipped": lambda env: batch(laplace(env, bound=0.1, outside="clip")),
    "Laplace around batch around Laplace": lambda env: laplace(batch(laplace(env), 3), 1.0, bound=0.5),
    "the same, clipped": lambda env: laplace(
        batch(laplace(env, bound=0.1, outside="clip")), 1.0, bound=0.2, outside="clip"
    ),
    "the same, clipped inside": lambda env: laplace(batch(laplace(env, bound=0.1, outside="clip"), 2), 1.0, bound=0.2),
    "the same, clipped outside": lambda env: laplace(batch(laplace(env, bound=0.4), 2), 1.0, bound=0.2, outside="clip"),
}
"""Wrappers that release gains, from the outside in."""


class Bits(NamedTuple):
    """What these agents know: a number that mixes every bit that they have ever seen."""

    mixed: int
    n_arms: int


def arm_of_bits(state, rng):
    return int(state.mixed + 1000.0 * rng.random()) % state.n_arms


def mix_bits(state, arm, seen):
    # 2^52 times a number in [0, 1] keeps all bits that the number has from 1/2 on.
    bits = int(seen.gains[arm] * 4503599627370496.0) + int(seen.observed[arm])
    return Bits((31 * state.mixed + bits + arm) % 1000003, state.n_arms)


def mix_sums(state, arm, seen):
    mixed = state.mixed
    for each in range(state.n_arms):
        # 2^52 times what is after the point keeps all bits of a sum of 1/2 or more in size.
        whole = math.floor(seen.sums[each])
        bits = int((seen.sums[each] - whole) * 4503599627370496.0)
        mixed = (31 * mixed + bits + int(whole) + int(seen.counts[each])) % 1000003
        mixed = (31 * mixed + int(seen.releases[each])) % 1000003
    return Bits((31 * mixed + arm) % 1000003, state.n_arms)


class LastBit(FunctionalAgent):
    """Plays another game from then on if the last bit of anything it is told is another; it learns nothing."""

    functions = Functions(arm_of_bits, mix_bits)

    def initial_state(self, n_arms, horizon):
        return Bits(0, n_arms)


class BitsOfSums(LastBit):
    """Is told of released sums."""

    functions = Functions(arm_of_bits, mix_sums)
    learns_from = Sums
