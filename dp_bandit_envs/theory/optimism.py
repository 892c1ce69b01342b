"""Counting plays: what a bandit index that is optimistic, and never much so, costs over a game.

Gains in [0, 1] are independent over rounds, each arm's with one mean. "Played so far" is t; an index policy plays each
arm once and then the arm with the largest index.
"""

import math
from collections.abc import Callable, Sequence
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.theory.lower_bounds import arm_means

Means = Sequence[SupportsFloat]

ZETA_3 = 1.2020569031595942
"""The sum of t^-3 over t = 1, 2, ..."""


def optimistic_bound(
    means: Means, horizon: SupportsIndex, enough: Callable[[float], float], failure_weight: float
) -> float:
    r"""Return the regret of any index that is optimistic: an estimate of the mean from n gains, plus bonus(n, t).

    .. math:: E[n_a] \le n_0(\Delta_a) + 2 c \sum_{t \ge 2} t^{-3} = n_0(\Delta_a) + 2 c (\zeta(3) - 1)

    Proof. Let an estimate from n gains be above its mean by bonus(n, t) or more with probability at most
    :math:`c\, t^{-4}`, and below likewise, and let :math:`2\, \mathrm{bonus}(n, t) \le \Delta_a` for all
    :math:`n \ge n_0` and :math:`t \le T`. Suppose that after t rounds arm a was played :math:`n \ge n_0` times and is
    played again. If its estimate is below :math:`\mu_a + \mathrm{bonus}`, its index is below :math:`\mu^*`; then so is
    the best arm's, which makes the best arm's estimate too low. One of the two has failed, for one of at most t values
    of n each, so this has probability at most :math:`2 t \cdot c\, t^{-4}`. (Auer et al. 2002 count pairs of values
    and get :math:`t^{-2}`.) As each arm is played once first, t is at least 2.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        enough: For a gap, the smallest n from which on twice the bonus is at most the gap, at least 1; the horizon if
            there is none below it.
        failure_weight: c.
    """
    gaps = gaps_of(means)
    rounds = checks.integer("horizon", horizon, at_least=1)
    failures = 2 * failure_weight * (ZETA_3 - 1)
    return regret_of_plays(gaps, [enough(gap) + failures if gap > 0 else 0.0 for gap in gaps], rounds)


def gaps_of(means: Means) -> list[float]:
    """Return by how much each arm's mean is below the largest."""
    numbers = arm_means(means)
    return [max(numbers) - number for number in numbers]


def plays_until_small(gap: float, root: float, slope: float, horizon: int) -> float:
    """Return the smallest n >= 1 with 2 (root / sqrt(n) + slope / n) <= gap, but at most the horizon."""
    inverse = (root + math.sqrt(root * root + 2 * slope * gap)) / gap
    count = inverse * inverse
    return float(max(1, math.ceil(count))) if count < horizon else float(horizon)


def regret_of_plays(gaps: list[float], pulls: list[float], horizon: int) -> float:
    """Return the largest sum of gap times plays if no arm has more than its plays, and all together the horizon's."""
    regret, left = 0.0, float(horizon)
    for gap, most in sorted(zip(gaps, pulls, strict=True), reverse=True):
        regret += gap * min(most, left)
        left -= min(most, left)
    return regret
