"""Laplace noise: its draw and scale, and the grid that keeps floating-point numbers from revealing a gain."""

import math

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray

MARGIN = 1 + 1e-9
"""A factor on all scales of noise, far above all rounding errors of a draw, so that the requested epsilon holds."""
GRID_BITS = 9
"""Eight bits of grid, plus 1 because frexp returns a mantissa in [1/2, 1)."""
DEVIATION = math.sqrt(2)
"""The standard deviation of Laplace noise of scale 1."""
SMALLEST_GRIDDED = 2.0**-30
"""Noise below this scale gives no useful privacy, and its grid would be too fine for doubles."""
LARGEST_GRID = 900
"""The exponent of the largest grid, 2^900, so that `to_grid` does not overflow: noise of 2^909 needs no larger grid."""
ROUNDER = 1.5 * 2.0**52
"""Adding and subtracting it rounds a double to an integer."""


def draw(scale: float, rng: np.random.Generator) -> float:
    """Return a Laplace draw; for scale 0, return 0 without drawing."""
    return rng.laplace(0.0, scale) if scale > 0.0 else 0.0


def noisy(value: float, scale: float, grid: float, rng: np.random.Generator) -> float:
    """Return the value plus Laplace noise, on the grid; the value itself for scale 0."""
    return to_grid(value + draw(scale, rng), grid)


def to_grid(number: float, grid: float) -> float:
    """Return the multiple of `grid` nearest to a number; the number itself for grid 0.

    Doubles are unevenly spaced, so gain + noise skips some doubles, depending on the gain. A release that a gain cannot
    produce rules that gain out with certainty, whatever epsilon is (Mironov 2012). On a coarse grid, all points near a
    gain can be reached from every other gain. Beyond 38 scales, fast draws are sparser than the grid, and some points
    cannot: `privacy.accounting` includes this cost, and secure draws avoid it.
    """
    # A grid is a power of two, so this is ROUNDER's rounding of number / grid, times grid, to the last bit.
    shift = ROUNDER * grid
    return number + shift - shift if grid > 0.0 else number


def to_grid_array(numbers: FloatArray, grid: float) -> FloatArray:
    """Apply `to_grid` to each number of an array."""
    if grid == 0:
        return numbers
    shift = ROUNDER * grid
    rounded: FloatArray = numbers + shift - shift
    return rounded


def grid_of(deviation: float) -> float:
    """Return the grid for noise of this standard deviation; 0 for noise that needs none.

    It is the power of two in (1/512, 1/256] of the deviation, so that rounding adds less than a millionth to the
    variance. Rounding noisy values is post-processing, so any grid is private; a finer grid would reveal more of the
    draws' own step size (`privacy.accounting`).
    """
    if deviation < SMALLEST_GRIDDED:
        return 0.0
    return math.ldexp(1.0, min(math.frexp(deviation)[1] - GRID_BITS, LARGEST_GRID))


def noise_scale(sensitivity: float, epsilon: float) -> float:
    """Return the scale of Laplace noise that makes a value of that L1 sensitivity epsilon-DP; 0 for epsilon = inf.

    It is 1e-9 more than sensitivity / epsilon, which covers all rounding.
    """
    scale = MARGIN * (sensitivity / checks.epsilon(epsilon))
    if not math.isfinite(scale):
        raise ValueError(f"{sensitivity!r} / {epsilon!r} is too large for a noise scale; use a larger epsilon.")
    return scale


def default_bound(scale: float, releases: int) -> float:
    """Return scale times ln(releases), the paper's ln(T) / epsilon: P(a release falls outside) <= 1 / releases."""
    return scale * log(releases) if releases > 1 else 0.0
