"""Releases the sum of each block of an arm's gains once, with one draw of noise."""

import math
from collections.abc import Iterable
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.privacy import sums
from dp_bandit_envs.privacy.laplace import noise_scale
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.sums_boundary import SumsBoundary


class BlockSums(SumsBoundary):
    """Each arm's gains in blocks that grow; the sum of a block is released when it is full, with Laplace noise.

    The scale is sensitivity / epsilon for every block: a gain is in one block of one arm, so it is released once, and
    there is nothing to compose. What an agent divides by the count is a mean with noise of scale 1 / (epsilon n).

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        ratio: By how much an arm's number of released gains grows from release to release, at least 1. With 2, blocks
            have 1, 1, 2, 4, 8, ... gains; with 1, every gain is released by itself, which is local privacy.
        first: The number of gains in an arm's first block, at least 1.
        keep: Whether `sum` and `count` cover all full blocks, each with its own noise; otherwise the last one only.
        lengths: The lengths of the blocks instead, each at least 1; the last is that of all that follow.

    Protects: one round's gains of all arms, centrally (locally, with blocks of 1).

    Source: Azize and Basu (2022) and Hu and Hegde (2022) for doubling blocks that forget; Azize, Wu, Honda, Orabona,
    Ito and Basu (2025) for geometric blocks that keep; Sajed and Sheffet (2019) for lengths of its own.
    """

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        ratio: SupportsFloat = 2.0,
        first: SupportsIndex = 1,
        keep: bool = False,
        lengths: Iterable[int] | None = None,
    ) -> None:
        super().__init__(env)
        self._use(block_sums(self._horizon_below, self._sensitivity_below, epsilon, ratio, first, keep, lengths))


def block_sums(
    horizon: int,
    sensitivity: float,
    epsilon: SupportsFloat,
    ratio: SupportsFloat,
    first: SupportsIndex,
    keep: bool,
    lengths: Iterable[int] | None,
) -> sums.BlockSums:
    """Return the mechanism of both forms of the wrapper."""
    if lengths is None:
        growth, start = checks.at_least("ratio", ratio, 1), checks.integer("first", first, at_least=1)
        if not math.isfinite(growth):
            raise ValueError(f"ratio must be finite; received {ratio!r}.")
        blocks = sums.geometric_blocks(growth, horizon, first=start)
    else:
        try:
            lengths = tuple(lengths)
        except TypeError:
            raise TypeError(f"lengths must be several numbers, one for each block; received {lengths!r}.") from None
        # A block longer than the game is never full.
        blocks = tuple(min(checks.integer("a length", length, at_least=1), horizon + 1) for length in lengths)
        if not blocks:
            raise ValueError("lengths must name at least one block; received none.")
    noise_scale(sensitivity, checks.epsilon(epsilon))
    return sums.BlockSums(checks.epsilon(epsilon), blocks, checks.boolean("keep", keep), sensitivity)
