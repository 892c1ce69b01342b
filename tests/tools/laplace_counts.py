"""Counts exactly how many of NumPy's uniform numbers lead to each released number of one Laplace draw."""

import math

import numpy as np

from dp_bandit_envs.privacy.laplace import grid_of, to_grid_array

UNIFORMS = 2**53 - 1
"""NumPy draws k / 2^53 with k = 0, ..., 2^53 - 1, and again for k = 0."""
FAR = 37.5
"""No draw is farther away than this, in scales."""


def draws(k: np.ndarray, scale: float) -> np.ndarray:
    """Return what NumPy makes of the uniform numbers k / 2^53 (`random_laplace` in its distributions.c)."""
    u = k * 2.0**-53
    upper = u >= 0.5
    logs = np.log(np.where(upper, 2.0 - u - u, u + u))
    return np.where(upper, 0.0 - scale * logs, 0.0 + scale * logs)


def points(scale: float) -> np.ndarray:
    """Return all numbers that a gain in [0, 1] can lead to, in grid steps, ascending."""
    grid = grid_of(scale)
    return np.arange(math.floor(-FAR * scale / grid), math.ceil((1 + FAR * scale) / grid) + 1)


def counts(gain: float, scale: float) -> np.ndarray:
    """Return for each of these points how many k lead to it; what is released never falls as k grows."""
    grid, wanted = grid_of(scale), points(scale)
    low, high = np.ones(len(wanted), np.int64), np.full(len(wanted), UNIFORMS + 1)
    while np.any(low < high):
        middle = (low + high) // 2
        reached = to_grid_array(gain + draws(middle, scale), grid) / grid >= wanted
        low, high = np.where(reached, low, np.minimum(middle + 1, high)), np.where(reached, middle, high)
    found = np.diff(np.append(low, UNIFORMS + 1))
    assert found.sum() == UNIFORMS and (found >= 0).all()
    return found


def counted_delta(epsilon: float, one: np.ndarray, other: np.ndarray) -> float:
    """Return the smallest delta for which (epsilon, delta)-DP holds between two counts, in both directions."""
    both = [np.maximum(a - math.exp(epsilon) * b, 0.0).sum() for a, b in ((one, other), (other, one))]
    return float(max(both)) / UNIFORMS


def masses(scale: float) -> np.ndarray:
    """Return the mass of each point's cell for gain 0 and real Laplace noise of this scale."""
    edges = (np.append(points(scale), points(scale)[-1] + 1) - 0.5) * (grid_of(scale) / scale)
    low, high = edges[:-1], edges[1:]
    nearer = np.where(low >= 0, low, -high)
    cell = 0.5 * np.exp(-nearer) * -np.expm1(-(high - low))
    around = (low < 0) & (high > 0)
    return np.where(around, -0.5 * (np.expm1(low) + np.expm1(-high)), cell)
