"""The privacy wrappers: a class for each mechanism of `privacy.mechanisms`, by the same name."""

from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.mechanisms.interval_sums import PAPER_DELTA
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary
from dp_bandit_envs.wrappers.wrapper_class import privacy_wrapper


@privacy_wrapper
class LaplaceClipRescale(PrivacyBoundary):
    """Adds Laplace noise of scale sensitivity / epsilon to every revealed gain and rescales the result to [0, 1]."""

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        bound: SupportsFloat | None = None,
        outside: str = "reject",
        draws: str = "fast",
    ) -> None:
        super().__init__(env, mechanisms.LaplaceClipRescale(epsilon=epsilon, bound=bound, outside=outside, draws=draws))


@privacy_wrapper
class RandomizedResponse(PrivacyBoundary):
    """Replaces each gain by a random bit, which is more often 1 for larger gains."""

    def __init__(self, env: Environment, *, epsilon: SupportsFloat, draws: str = "fast") -> None:
        super().__init__(env, mechanisms.RandomizedResponse(epsilon=epsilon, draws=draws))


@privacy_wrapper
class MiniBatchAverage(PrivacyBoundary):
    """Plays each chosen arm for `batch_size` rounds (tau) and then releases the average gain: T // tau releases."""

    def __init__(self, env: Environment, *, batch_size: SupportsIndex) -> None:
        super().__init__(env, mechanisms.MiniBatchAverage(batch_size=batch_size))


@privacy_wrapper
class ExactSums(PrivacyBoundary):
    """Releases exact running sums, for agents such as `Ucb`; it adds no privacy."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env, mechanisms.ExactSums())


@privacy_wrapper
class BlockSums(PrivacyBoundary):
    """Sums each arm's gains in growing blocks; a block's sum is released with noise once the block is full."""

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        ratio: SupportsFloat = 2.0,
        first: SupportsIndex = 1,
        keep: bool = False,
        lengths: Iterable[int] | None = None,
        delta: SupportsFloat | None = None,
        draws: str = "fast",
    ) -> None:
        options: dict[str, Any] = {"ratio": ratio, "first": first, "keep": keep, "lengths": lengths}
        super().__init__(env, mechanisms.BlockSums(epsilon=epsilon, delta=delta, draws=draws, **options))


@privacy_wrapper
class BatchSums(PrivacyBoundary):
    """Sums each arm's gains in a batch of rounds; at its end all of these sums are released, each with noise once."""

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        lengths: Iterable[int],
        delta: SupportsFloat | None = None,
        draws: str = "fast",
    ) -> None:
        super().__init__(env, mechanisms.BatchSums(epsilon=epsilon, lengths=lengths, delta=delta, draws=draws))


@privacy_wrapper
class IntervalSums(PrivacyBoundary):
    """Releases an arm's mean over all of its gains at the ends of growing intervals, with less and less noise."""

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        v: SupportsFloat = 1.1,
        delta: SupportsFloat = PAPER_DELTA,
        release: str = "once",
        intervals: str = "lemma",
        draws: str = "fast",
    ) -> None:
        options: dict[str, Any] = {"v": v, "delta": delta, "release": release, "intervals": intervals}
        super().__init__(env, mechanisms.IntervalSums(epsilon=epsilon, draws=draws, **options))


@privacy_wrapper
class CounterSums(PrivacyBoundary):
    """Releases running sums, with one private counter for each arm, or one on vectors."""

    def __init__(
        self,
        env: Environment,
        *,
        counter: str,
        epsilon: SupportsFloat,
        noise: str | None = None,
        delta: SupportsFloat | None = None,
        pad_unplayed: bool = False,
        draws: str = "fast",
        **options: Any,
    ) -> None:
        options |= {"noise": noise, "delta": delta, "pad_unplayed": pad_unplayed}
        super().__init__(env, mechanisms.CounterSums(counter=counter, epsilon=epsilon, draws=draws, **options))


@privacy_wrapper
class HybridSums(PrivacyBoundary):
    """Releases running sums, with one hybrid counter for each arm."""

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        noise: str | None = None,
        delta: SupportsFloat | None = None,
        pad_unplayed: bool = False,
        draws: str = "fast",
        **options: Any,
    ) -> None:
        options |= {"noise": noise, "delta": delta, "pad_unplayed": pad_unplayed}
        super().__init__(env, mechanisms.HybridSums(epsilon=epsilon, draws=draws, **options))
