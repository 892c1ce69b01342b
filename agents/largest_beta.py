"""Finds the arm with the largest of many independent Beta draws, without making the draws that cannot win.

The distribution of the result is exact. Thompson sampling does this in every round. The arm played last gets an
ordinary draw, the floor. Another arm costs an upper bound on its chance to exceed the floor, and a coin of that
probability; only an arm whose coin falls on heads is drawn. One uniform number u decides the coins up to the first
head, that of the first arm with (1 - c_1) (1 - c_2) ... (1 - c_i) <= u.
"""

from collections.abc import Sequence

import numpy as np

from dp_bandit_envs.agents.beta_draws import above, rough_chance


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
    floor = 0.0
    u = rng.random()
    tails = 1.0
    for place in range(-1, len(alphas)):
        arm = first if place < 0 else place
        if place == first:
            continue
        alpha, beta = alphas[arm], betas[arm]
        # 1 for a floor of 0, so that the first arm is drawn.
        bound = rough_chance(alpha, beta, floor)
        tails *= 1.0 - bound
        if u < tails:
            continue
        draw = rng.beta(alpha, beta) if bound == 1.0 else above(alpha, beta, floor, bound, rng)
        if draw > floor:
            best = arm
            floor = draw
        u = rng.random()
        tails = 1.0
    return best
