"""`HybridSums` for many games at once."""

from typing import Any, SupportsFloat

from dp_bandit_envs.wrappers.vector.boundary import VectorEnv
from dp_bandit_envs.wrappers.vector.counter_sums import CounterSums


class HybridSums(CounterSums):
    """Running sums with the noise of hybrid counters; see `dp_bandit_envs.wrappers.HybridSums`."""

    def __init__(self, env: VectorEnv, *, epsilon: SupportsFloat, pad_unplayed: bool = False, **options: Any) -> None:
        super().__init__(env, epsilon=epsilon, counter="hybrid", pad_unplayed=pad_unplayed, **options)
