r"""The loss at a delta of several Laplace draws that a changed round moves: numerical composition, rounded up.

If a change is hidden by moving draw i by :math:`r_i` scales, and by nothing else, the privacy loss is the sum of
:math:`|z_i + r_i| - |z_i|`, which are independent. Each lies in [-r, r], is r with probability 1/2, and at most l < r
with probability :math:`e^{(l - r) / 2} / 2`. They are rounded up to a grid and added by Fourier transforms.
"""

import math

import numpy as np

from dp_bandit_envs.protocols import FloatArray

POINTS = 2**16
"""Points of the grid between 0 and the sum of all moves."""
FLOOR = 1e-13
"""What rounding errors of the transforms may add to delta."""


def epsilon_of_moves(moves: FloatArray, delta: float) -> float:
    """Return an epsilon that holds at delta, at most a hundredth above the smallest for a few hundred draws.

    Args:
        moves: By how many scales each draw is moved, `(draws,)`.
        delta: In (0, 1).
    """
    distances = np.abs(moves[moves != 0])
    pure = float(distances.sum())
    if not pure:
        return 0.0
    step = pure / POINTS
    size = 2 ** math.ceil(math.log2(2 * (POINTS + 2 * len(distances)) + 2))
    product = np.ones(size // 2 + 1, complex)
    offset = 0
    for distance in distances:
        steps = math.ceil(distance / step)
        ends = np.arange(-steps, steps) * step
        below = np.concatenate([[0.0], np.exp((np.maximum(ends, -distance) - distance) / 2) / 2, [1.0]])
        product *= np.fft.rfft(np.diff(below), size)
        offset += steps
    chances = np.maximum(np.fft.irfft(product, size), 0.0)[: 2 * offset + 1]
    losses = (np.arange(len(chances)) - offset) * step

    def rest(epsilon: float) -> float:
        above = losses > epsilon
        return float((chances[above] * -np.expm1(epsilon - losses[above])).sum()) + FLOOR

    low, high = 0.0, pure
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if rest(middle) <= delta else (middle, high)
    return high


def dominates(one: FloatArray, other: FloatArray) -> bool:
    """Whether every draw is moved at least as far by one change as by another, in some order: then it loses more."""
    first, second = (np.sort(np.abs(moves))[::-1] for moves in (one, other))
    return bool((first >= second * (1 - 1e-12)).all())
