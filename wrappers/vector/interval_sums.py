"""`IntervalSums` for many games at once."""

from typing import SupportsFloat

from dp_bandit_envs.wrappers.interval_sums import PAPER_DELTA, interval_sums
from dp_bandit_envs.wrappers.vector.boundary import VectorEnv
from dp_bandit_envs.wrappers.vector.sums_boundary import VectorSumsBoundary


class IntervalSums(VectorSumsBoundary):
    """Means released at the ends of growing intervals; see `dp_bandit_envs.wrappers.IntervalSums`.

    Args:
        env: Vector bandit environments, or a vector privacy wrapper around them that hands on gains.
        epsilon: Target for each game, in (0, inf].
        v: How fast the noise falls, in (1, 1.5].
        delta: The delta of the target, in (0, 1).
        release: `"once"` or `"redraw"`.
        intervals: `"lemma"` or `"uniform"`.
    """

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
        super().__init__(env)
        self._use(interval_sums(self._horizon_below, self._sensitivity_below, epsilon, v, delta, release, intervals))
