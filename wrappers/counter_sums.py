"""Adds up each arm's gains with a continual counter, so that every running total may be published."""

from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.privacy import sums
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.sums_boundary import SumsBoundary


class CounterSums(SumsBoundary):
    """Running sums with the noise of one counter for each arm.

    Each counter has the whole of epsilon: a round's gain enters the sum of the arm played and no other, so arms compose
    in parallel. Where one round reveals several gains (sensitivity s > 1), the noise is s times as large.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS`; `dp-bandit counters` compares them.
        pad_unplayed: Whether the counters of arms that revealed nothing get a 0 in every round, so that all arms have
            the same noise (DP-UCB). Their counts stay.
        options: What the counter takes besides: `budget` of the hybrid one, `base` of the k-ary one, `delta` of the
            square-root one.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.
    """

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        counter: str,
        pad_unplayed: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(env)
        self._use(counted_sums(self._horizon_below, self._sensitivity_below, epsilon, counter, pad_unplayed, **options))


def counted_sums(
    rounds: int, sensitivity: float, epsilon: SupportsFloat, counter: str, pad: bool, **options: Any
) -> sums.CounterSums:
    """Return the mechanism of both forms of the wrapper."""
    name = checks.known_name("counter", counter, COUNTERS)
    if "horizon" in options:
        raise TypeError("the counters' horizon is that of the game; horizon= belongs to the environment.")
    if "rng" in options:
        raise TypeError("the noise is drawn from the game's own stream; rng cannot be given. Use reset(seed=...).")
    return sums.CounterSums(
        name,
        epsilon=checks.epsilon(epsilon),
        horizon=rounds,
        sensitivity=sensitivity,
        pad=checks.boolean("pad_unplayed", pad),
        **options,
    )
