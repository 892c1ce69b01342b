"""The Laplace mechanism on one gain, then back to [0, 1]: the code that every wrapper and the simulator share."""

import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.rounding import divide_up


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
        gain += rng.laplace(0.0, scale)
    if reject and (gain < -bound or gain > 1.0 + bound):
        return 0.0, False
    gain = min(max(gain, -bound), 1.0 + bound)
    return (gain + bound) / (1.0 + 2.0 * bound), True


def noise_scale(sensitivity: float, epsilon: float) -> float:
    """Return the scale of Laplace noise that makes a value of that L1 sensitivity epsilon-DP; 0 for epsilon = inf."""
    return divide_up(sensitivity, checks.epsilon(epsilon))


def default_bound(scale: float, releases: int) -> float:
    """Return scale times ln(releases): the paper's ln(T) / epsilon; about one release in that many falls outside."""
    return scale * math.log(releases) if releases > 1 else 0.0
