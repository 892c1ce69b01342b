"""Releases each arm's mean at the ends of growing intervals, with less and less noise (DP-UCB-INT)."""

import math
from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.privacy import sums
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.sums_boundary import SumsBoundary

INTERVALS = ("lemma", "uniform")
RELEASES = ("once", "redraw")
PAPER_DELTA = math.exp(-10)


class IntervalSums(SumsBoundary):
    r"""Releases an arm's mean over all of its gains at the ends of growing intervals, with less and less noise.

    At n = W_1, W_2, ... gains the mean gets Laplace noise of scale :math:`n^{v/2 - 1}`. Released is the mean times n,
    as `sum`, with `count` n. Each release covers all gains so far and is :math:`n^{-v/2}`-DP, and they compose to
    (epsilon, delta): rho-zCDP with rho half the sum of :math:`W_j^{-v}`. A round's gain enters the sum of one arm only.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
        epsilon: Target for all releases together, in (0, inf]; the paper's input parameter follows from it by its
            corollary 3.2. The guarantee states what is spent, which is less.
        v: How fast the noise falls, in (1, 1.5].
        delta: The delta of the target, in (0, 1).
        release: `"once"` draws the noise of a release once. `"redraw"` draws it again in every round, as the paper's
            algorithm 3 is printed: it is here to show what that does, and has no guarantee.
        intervals: `"lemma"` for those of lemma B.1, `"uniform"` for ceil(1 / input) gains each.

    Protects: one round's gains of all arms, centrally.

    Source: Tossou and Dimitrakakis (2016), algorithm 3, theorem 3.4, lemma B.1.
    """

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        v: SupportsFloat = 1.1,
        delta: SupportsFloat = PAPER_DELTA,
        release: str = "once",
        intervals: str = "lemma",
    ) -> None:
        super().__init__(env)
        self._use(
            interval_sums(self._horizon_below, self._sensitivity_below, epsilon, v, delta, release, intervals),
        )


def checked_v(v: SupportsFloat) -> float:
    """Return v as a float, or raise if it is not in (1, 1.5]."""
    exponent = checks.real("v", v)
    if not 1 < exponent <= 1.5:
        raise ValueError(f"v must be in (1, 1.5]; received {v!r}.")
    return exponent


def interval_sums(
    horizon: int,
    sensitivity: float,
    epsilon: SupportsFloat,
    v: SupportsFloat,
    delta: SupportsFloat,
    release: str,
    intervals: str,
) -> sums.IntervalSums:
    """Return the mechanism of both forms of the wrapper."""
    exponent = checked_v(v)
    if horizon > checks.MOST_ROUNDS_IN_MEMORY:
        raise ValueError(
            f"IntervalSums works out its intervals for at most {checks.MOST_ROUNDS_IN_MEMORY:,} rounds; received a"
            f" horizon of {horizon:,}. Use HybridSums or BlockSums."
        )
    checks.one_of("release", release, RELEASES)
    checks.one_of("intervals", intervals, INTERVALS)
    return sums.IntervalSums(
        checks.epsilon(epsilon),
        checks.delta(delta),
        exponent,
        horizon,
        intervals,
        release == "redraw",
        sensitivity,
    )
