"""`CounterSums` for many games at once."""

from typing import Any, SupportsFloat

from dp_bandit_envs.wrappers.counter_sums import counted_sums
from dp_bandit_envs.wrappers.vector.boundary import VectorEnv
from dp_bandit_envs.wrappers.vector.sums_boundary import VectorSumsBoundary


class CounterSums(VectorSumsBoundary):
    """Running sums with the noise of counters; see `dp_bandit_envs.wrappers.CounterSums`.

    Args:
        env: Vector bandit environments, or a vector privacy wrapper around them that hands on gains.
        epsilon: Privacy parameter of each game, in (0, inf].
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS`.
        pad_unplayed: Whether the counters of arms that revealed nothing get a 0 in every round.
        options: What the counter takes besides.
    """

    def __init__(
        self,
        env: VectorEnv,
        *,
        epsilon: SupportsFloat,
        counter: str,
        pad_unplayed: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(env)
        self._use(counted_sums(self._horizon_below, self._sensitivity_below, epsilon, counter, pad_unplayed, **options))
