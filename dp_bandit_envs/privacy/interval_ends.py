"""The ends of the intervals of `IntervalSums`, and the privacy loss of all releases together."""

import functools
import math
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.accounting import DominatingNoise, laplace_law
from dp_bandit_envs.protocols import IntArray


class IntervalLoss(NamedTuple):
    """The privacy loss of all releases: rho, a pure epsilon, and a noise law for any delta."""

    rho: float
    pure: float
    noise_law: DominatingNoise

    def epsilon(self, delta: float) -> float:
        """Return the epsilon at a delta; for a single release the pure epsilon."""
        least = self.noise_law.epsilon(delta)
        return self.pure if self.noise_law.draws <= 1 or least >= self.noise_law.pure else least


@functools.lru_cache(maxsize=256)
def interval_loss(epsilon_in: float, v: float, horizon: int, intervals: str) -> IntervalLoss:
    """Return the privacy loss of the releases at `interval_ends`."""
    # A power may be rounded down; its inverse is the distance of neighbours in scales.
    distances = interval_ends(epsilon_in, v, horizon, intervals) ** (-v / 2) * (1 + 1e-14)
    rho = math.fsum(distances**2) / 2 * (1 + 1e-12)
    return IntervalLoss(rho, math.fsum(distances) * (1 + 1e-12), laplace_law(distances))


def paper_input(epsilon: float, delta: float, v: float, horizon: int = 0, intervals: str = "lemma") -> float:
    r"""Return the input parameter for a target, by Tossou and Dimitrakakis (2016), at most 1.

    By corollary 3.2; for a pure target by corollary 3.1, with the sum itself instead of its bound:

    .. math:: \epsilon_{in} = \Big( \sqrt{\frac{L + 4 \epsilon'}{8 \zeta(v)}} - \sqrt{\frac{L}{8 \zeta(v)}} \Big)^2,
              \quad L = \ln(1 / \delta'); \qquad \epsilon_{in} = \epsilon' \Big/ \sum_{n=1}^T n^{-v/2}
    """
    if math.isinf(epsilon):
        return 1.0
    if intervals == "pure":
        return min(1.0, epsilon / float(np.cumsum(np.arange(1, horizon + 1, dtype=float) ** (-v / 2))[-1]))
    log, divisor = -math.log(delta), 8 * zeta(v)
    # The difference of the roots, written without cancellation.
    root = 4 * epsilon / divisor / (math.sqrt((log + 4 * epsilon) / divisor) + math.sqrt(log / divisor))
    return min(1.0, root**2)


def zeta(v: float) -> float:
    """Return the Riemann zeta function for v > 1, by the Euler-Maclaurin formula."""
    first = 20.0
    head = math.fsum(math.pow(n, -v) for n in range(1, 20))
    tail = math.pow(first, 1 - v) / (v - 1) + math.pow(first, -v) / 2 + v * math.pow(first, -v - 1) / 12
    return head + tail - v * (v + 1) * (v + 2) * math.pow(first, -v - 3) / 720


@functools.lru_cache(maxsize=64)
def interval_ends(epsilon_in: float, v: float, horizon: int, intervals: str) -> IntArray:
    r"""Return the ends :math:`W_1 < W_2 < \ldots` up to the horizon.

    `"lemma"`: :math:`W_{j+1}` is the first y with :math:`\sum_{i = W_j + 1}^y i^{-v} \ge y^{-v} / \epsilon_{in}`, so
    that the squares of the releases' losses add up to at most :math:`\epsilon_{in} \sum_i i^{-v}`. `"pure"`: the same
    with v / 2, so that the losses themselves add up to at most :math:`\epsilon_{in} \sum_i i^{-v/2}`. `"uniform"`:
    every :math:`\lceil 1 / \epsilon_{in} \rceil` gains.
    """
    if epsilon_in * horizon < 1e-9:
        # One interval would be as long as a thousand million games.
        return np.array([], np.int64)
    if intervals == "uniform":
        step = math.ceil(1 / epsilon_in)
        return np.arange(step, horizon + 1, step)
    terms = np.arange(1, horizon + 1, dtype=float) ** (-v / 2 if intervals == "pure" else -v)
    before = np.concatenate([[0.0], np.cumsum(terms)])
    # y ends the interval after W if before[y] - terms(y) / epsilon_in >= before[W]; the left side grows with y.
    reach = before[1:] - terms / epsilon_in
    ends = []
    last = 0
    while True:
        # At epsilon_in = 1 the two sides are equal in every round, up to rounding.
        following = last + 1 + int(np.searchsorted(reach[last:], before[last] - 1e-12))
        if following > horizon:
            break
        ends.append(following)
        last = following
    return np.array(ends, np.int64)


def checked_v(v: SupportsFloat) -> float:
    """Return v as a float, or raise if it is not in (1, 1.5]."""
    exponent = checks.real("v", v)
    if not 1 < exponent <= 1.5:
        raise ValueError(f"v must be in (1, 1.5]; received {v!r}.")
    return exponent
