"""Adds up each arm's gains with the hybrid counter, so that every running total may be published."""

from typing import Any, SupportsFloat

from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.counter_sums import CounterSums


class HybridSums(CounterSums):
    """Running sums with the noise of one hybrid counter for each arm.

    Each counter has the whole of epsilon: a round's gain enters the sum of the arm played and no other, so arms compose
    in parallel. Where one round reveals several gains (sensitivity s > 1), the noise is s times as large.

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        pad_unplayed: Whether the counters of arms that revealed nothing get a 0 in every round, so that all arms have
            the same noise (DP-UCB). Their counts stay.
        options: `budget`: `"split"`, or `"paper"`, which is 2 epsilon-DP.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.
    """

    def __init__(self, env: Environment, *, epsilon: SupportsFloat, pad_unplayed: bool = False, **options: Any) -> None:
        super().__init__(env, epsilon=epsilon, counter="hybrid", pad_unplayed=pad_unplayed, **options)
