"""Finds the arm with the largest of many independent Beta draws, without making the draws that cannot win.

The distribution of the result is exact. Thompson sampling does this in every round. The arm played last gets an
ordinary draw, the floor. Another arm costs an upper bound on its chance to exceed the floor, and a coin of that
probability; only an arm whose coin falls on heads is drawn. One uniform number u decides the coins up to the first
head, that of the first arm with (1 - c_1) (1 - c_2) ... (1 - c_i) <= u.
"""

from collections.abc import MutableSequence, Sequence
from typing import Final

import numpy as np

from dp_bandit_envs.agents.beta_draws import UNKNOWN, above, chance, log_scale, rough_chance
from dp_bandit_envs.arithmetic import log

MANY: Final = 32
"""From so many arms on, `among_many` is faster; chosen by timing."""


def one_by_one(alphas: Sequence[float], betas: Sequence[float], first: int, rng: np.random.Generator) -> int:
    """Return the arm with the largest of K independent draws from Beta(alphas[i], betas[i]).

    Args:
        alphas: First parameters, shape `(n_arms,)`, each at least 1.
        betas: Second parameters, shape `(n_arms,)`, each at least 1.
        first: The arm drawn first: best one that is likely to win, such as the arm played last. It determines the
            running time, not the law.
        rng: Source of randomness.
    """
    best = first
    floor = rng.beta(alphas[first], betas[first])
    u = rng.random()
    tails = 1.0
    for arm in range(len(alphas)):
        bound = rough_chance(alphas[arm], betas[arm], floor) if arm != first else 0.0
        tails *= 1.0 - bound
        if u < tails:
            continue
        alpha, beta = alphas[arm], betas[arm]
        draw = rng.beta(alpha, beta) if bound == 1.0 else above(alpha, beta, floor, bound, rng)
        if draw > floor:
            best = arm
            floor = draw
        u = rng.random()
        tails = 1.0
    return best


def among_many(
    alphas: Sequence[float],
    betas: Sequence[float],
    scales: MutableSequence[float],
    chances: MutableSequence[float],
    first: int,
    rng: np.random.Generator,
) -> int:
    """Return the arm with the largest draw, as `one_by_one` does, by tighter bounds, found for several arms at once.

    Args:
        alphas: As in `one_by_one`.
        betas: As in `one_by_one`.
        scales: The `log_scale` of each arm, or UNKNOWN; written where it is needed.
        chances: Room for as many numbers.
        first: As in `one_by_one`.
        rng: Source of randomness.
    """
    best = first
    floor = rng.beta(alphas[first], betas[first])
    log_floor, log_rest = log(floor), log(1.0 - floor)
    # A loop of its own, without random numbers, so that machine code takes several arms at once.
    for arm in range(len(alphas)):
        chances[arm] = chance(alphas[arm], betas[arm], scales[arm], floor, log_floor, log_rest)
    chances[first] = 0.0
    u = rng.random()
    tails = 1.0
    for arm in range(len(alphas)):
        tails *= 1.0 - chances[arm]
        if u < tails:
            continue
        draw = 0.0
        bound = chances[arm]
        if bound == 1.0:
            if scales[arm] == UNKNOWN:
                scales[arm] = log_scale(alphas[arm], betas[arm])
            bound = chance(alphas[arm], betas[arm], scales[arm], floor, log_floor, log_rest)
            if rng.random() >= bound:
                bound = 0.0
        if bound == 1.0:
            draw = rng.beta(alphas[arm], betas[arm])
        elif bound > 0.0:
            draw = above(alphas[arm], betas[arm], floor, bound, rng)
        if draw > floor:
            best = arm
            floor = draw
            log_floor, log_rest = log(floor), log(1.0 - floor)
        u = rng.random()
        tails = 1.0
    return best
