"""Draws an arm in proportion to weights, for agents that make their weights afresh."""

import numpy as np

from dp_bandit_envs.protocols import FloatArray


def draw_weighted(weights: FloatArray, rng: np.random.Generator) -> int:
    """Draw an arm in proportion to its weight."""
    total = 0.0
    for weight in weights:
        total += weight
    left = rng.random() * total
    last = len(weights) - 1
    for arm in range(last):
        left -= weights[arm]
        if left < 0.0:
            return arm
    # Rounding may leave a little; an arm of weight 0 is never played.
    while weights[last] == 0.0:
        last -= 1
    return last
