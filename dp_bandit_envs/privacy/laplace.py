"""The Laplace mechanism on one gain, then back to [0, 1]: the code that every wrapper and the simulator share."""

import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.rounding import divide_up
from dp_bandit_envs.protocols import FloatArray

GRID_BITS = 11
"""math.frexp counts one power of two more than the largest up to the scale; ten are the grid."""
SMALLEST_GRIDDED = 2.0**-30
"""Noise below this scale protects nobody, and a grid for it would be too fine for doubles."""
ROUNDER = 1.5 * 2.0**52
"""Near this number doubles are the whole numbers, so that adding it rounds."""


class LaplaceMechanism(NamedTuple):
    """Parameters of `release`.

    Attributes:
        scale: Scale b of the Laplace noise, in units of gain; its variance is 2 b^2. 0 means no noise.
        bound: How far outside [0, 1] a noisy gain may fall, at least 0.
        reject: Whether a noisy gain outside [-bound, 1 + bound] is withheld, instead of moved to the nearest end.
    """

    scale: float
    bound: float
    reject: bool


def release(gain: float, scale: float, bound: float, reject: bool, rng: np.random.Generator) -> tuple[float, bool]:
    """Add noise to a gain, reject or clip it outside [-bound, 1 + bound], and rescale that interval to [0, 1].

    Everything after the noise is post-processing. Source: Tossou and Dimitrakakis (2017), algorithm 1 and theorem
    3.1, with the rescaling applied to the noisy gain (the theorem prints the true one).

    Returns:
        The released gain in [0, 1], and whether there is one.
    """
    if scale > 0.0:
        gain = on_grid(gain + rng.laplace(0.0, scale), scale)
    if reject and (gain < -bound or gain > 1.0 + bound):
        return 0.0, False
    gain = min(max(gain, -bound), 1.0 + bound)
    # Adding b twice and 2 b once do not round alike.
    return min((gain + bound) / (1.0 + 2.0 * bound), 1.0), True


def release_by(gain: float, mechanism: LaplaceMechanism, rng: np.random.Generator) -> tuple[float, bool]:
    """Do the same with the parameters of a mechanism."""
    return release(gain, mechanism.scale, mechanism.bound, mechanism.reject, rng)


def on_grid(noisy: float, scale: float) -> float:
    """Round a noisy gain to a grid of about scale / 1000, so that which doubles can occur does not depend on the gain.

    Doubles are spaced unevenly, so gain + noise has holes in different places for different gains, and a value in a
    hole of one gain rules it out with certainty, whatever epsilon is (Mironov 2012). On the grid every point can be
    reached from every gain. What is left of the difference between floating-point and real noise is a matter of its
    far tail: NumPy's Laplace draws end at 37 scales, where real ones have a probability of e^-37.
    """
    return to_grid(noisy, grid_of(scale))


def grid_of(scale: float) -> float:
    """Return the largest power of two up to the scale, over 2^10; 0 for scales that need no grid."""
    if scale < SMALLEST_GRIDDED:
        return 0.0
    return math.ldexp(1.0, math.frexp(scale)[1] - GRID_BITS)


def to_grid(noisy: float, grid: float) -> float:
    """Return the multiple of `grid` nearest to a number; the number itself for grid 0."""
    return (noisy / grid + ROUNDER - ROUNDER) * grid if grid > 0.0 else noisy


def on_grid_array(noisy: FloatArray, scale: float) -> FloatArray:
    """Do the same as `on_grid` to an array."""
    grid = grid_of(scale)
    if grid == 0:
        return noisy
    rounded: FloatArray = (noisy / grid + ROUNDER - ROUNDER) * grid
    return rounded


def noise_scale(sensitivity: float, epsilon: float) -> float:
    """Return the scale of Laplace noise that makes a value of that L1 sensitivity epsilon-DP; 0 for epsilon = inf."""
    return divide_up(sensitivity, checks.epsilon(epsilon))


def default_bound(scale: float, releases: int) -> float:
    """Return scale times ln(releases): the paper's ln(T) / epsilon; about one release in that many falls outside."""
    return scale * math.log(releases) if releases > 1 else 0.0
