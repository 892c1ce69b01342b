"""`BlockSums` for many games at once."""

from collections.abc import Iterable
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs.wrappers.block_sums import block_sums
from dp_bandit_envs.wrappers.vector.boundary import VectorEnv
from dp_bandit_envs.wrappers.vector.sums_boundary import VectorSumsBoundary


class BlockSums(VectorSumsBoundary):
    """Sums of growing blocks of gains, each released once; see `dp_bandit_envs.wrappers.BlockSums`.

    Args:
        env: Vector bandit environments, or a vector privacy wrapper around them that hands on gains.
        epsilon: Privacy parameter of each game, in (0, inf].
        ratio: By how much an arm's number of released gains grows from release to release, at least 1.
        first: The number of gains in an arm's first block, at least 1.
        keep: Whether `sum` and `count` cover all full blocks.
        lengths: The lengths of the blocks instead.
    """

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
        super().__init__(env)
        self._use(block_sums(self._horizon_below, self._sensitivity_below, epsilon, ratio, first, keep, lengths))
