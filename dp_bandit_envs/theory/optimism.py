"""The regret of an optimistic index policy, from how often it can play each worse arm.

Gains in [0, 1] are independent, with a mean that differs between arms but not between rounds. The number of rounds
played so far is t; an index policy plays each arm once and then the arm with the largest index.
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
    played again. If its estimate is below :math:`\mu_a + \mathrm{bonus}`, its index is below :math:`\mu^*`; then the
    best arm's index is below :math:`\mu^*` too, so the best arm's estimate is too low. So one of the two estimates is
    off by its bonus, for one of at most t values of n each, which has probability at most
    :math:`2 t \cdot c\, t^{-4}`. (Auer et al. 2002 count pairs of values and get :math:`t^{-2}`.) As each arm is
    played once first, t is at least 2.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        enough: Gives for a gap the smallest n >= 1 from which on twice the bonus is at most the gap; the horizon if
            there is none below it.
        failure_weight: The factor c of the failure probability.
    """
    gaps = gaps_of(means)
    horizon = checks.integer("horizon", horizon, at_least=1)
    failures = 2 * failure_weight * (ZETA_3 - 1)
    return regret_of_plays(gaps, [enough(gap) + failures if gap > 0 else 0.0 for gap in gaps], horizon)


def gaps_of(means: Means) -> list[float]:
    """Return the gap of each arm: the largest mean minus its own."""
    numbers = arm_means(means)
    return [max(numbers) - number for number in numbers]


def plays_until_small(gap: float, root: float, slope: float, horizon: int) -> float:
    """Return the smallest n >= 1 with 2 (root / sqrt(n) + slope / n) <= gap, or the horizon if that is smaller."""
    inverse = (root + math.sqrt(root * root + 2 * slope * gap)) / gap
    count = inverse * inverse
    return float(max(1, math.ceil(count))) if count < horizon else float(horizon)


def regret_of_plays(gaps: list[float], pulls: list[float], horizon: int) -> float:
    """Return the largest regret if each arm is played at most as often as `pulls` allows, and all of them T times."""
    regret, left = 0.0, float(horizon)
    for gap, most in sorted(zip(gaps, pulls, strict=True), reverse=True):
        regret += gap * min(most, left)
        left -= min(most, left)
    return regret
