"""The other privacy wrappers for many games at once; the docstrings of the scalar ones describe them."""

from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.mechanisms.interval_sums import PAPER_DELTA
from dp_bandit_envs.wrappers.vector.vector_boundary import VectorEnv, VectorPrivacyBoundary


class RandomizedResponse(VectorPrivacyBoundary):
    """`RandomizedResponse` in every game; see `dp_bandit_envs.wrappers.RandomizedResponse`."""

    def __init__(self, env: VectorEnv, *, epsilon: SupportsFloat) -> None:
        super().__init__(env, mechanisms.RandomizedResponse(epsilon=epsilon))


class MiniBatchAverage(VectorPrivacyBoundary):
    """`MiniBatchAverage` in every game; see `dp_bandit_envs.wrappers.MiniBatchAverage`."""

    def __init__(self, env: VectorEnv, *, batch_size: SupportsIndex) -> None:
        super().__init__(env, mechanisms.MiniBatchAverage(batch_size=batch_size))


class ExactSums(VectorPrivacyBoundary):
    """`ExactSums` in every game; see `dp_bandit_envs.wrappers.ExactSums`."""

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env, mechanisms.ExactSums())


class BlockSums(VectorPrivacyBoundary):
    """`BlockSums` in every game; see `dp_bandit_envs.wrappers.BlockSums`."""

    def __init__(
        self,
        env: VectorEnv,
        *,
        epsilon: SupportsFloat,
        ratio: SupportsFloat = 2.0,
        first: SupportsIndex = 1,
        keep: bool = False,
        lengths: Iterable[int] | None = None,
    ) -> None:
        super().__init__(
            env, mechanisms.BlockSums(epsilon=epsilon, ratio=ratio, first=first, keep=keep, lengths=lengths)
        )


class IntervalSums(VectorPrivacyBoundary):
    """`IntervalSums` in every game; see `dp_bandit_envs.wrappers.IntervalSums`."""

    def __init__(
        self,
        env: VectorEnv,
        *,
        epsilon: SupportsFloat,
        v: SupportsFloat = 1.1,
        delta: SupportsFloat = PAPER_DELTA,
        release: str = "once",
        intervals: str = "lemma",
    ) -> None:
        super().__init__(
            env, mechanisms.IntervalSums(epsilon=epsilon, v=v, delta=delta, release=release, intervals=intervals)
        )


class CounterSums(VectorPrivacyBoundary):
    """`CounterSums` in every game; see `dp_bandit_envs.wrappers.CounterSums`."""

    def __init__(
        self,
        env: VectorEnv,
        *,
        epsilon: SupportsFloat,
        counter: str,
        pad_unplayed: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(
            env, mechanisms.CounterSums(counter=counter, epsilon=epsilon, pad_unplayed=pad_unplayed, **options)
        )


class HybridSums(CounterSums):
    """`HybridSums` in every game; see `dp_bandit_envs.wrappers.HybridSums`."""

    def __init__(self, env: VectorEnv, *, epsilon: SupportsFloat, pad_unplayed: bool = False, **options: Any) -> None:
        super().__init__(env, epsilon=epsilon, counter="hybrid", pad_unplayed=pad_unplayed, **options)
