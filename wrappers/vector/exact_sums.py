"""`ExactSums` for many games at once."""

from dp_bandit_envs.privacy import sums
from dp_bandit_envs.wrappers.vector.boundary import VectorEnv
from dp_bandit_envs.wrappers.vector.sums_boundary import VectorSumsBoundary


class ExactSums(VectorSumsBoundary):
    """Exact running sums of every game; see `dp_bandit_envs.wrappers.ExactSums`.

    Args:
        env: Vector bandit environments, or a vector privacy wrapper around them that hands on gains.
    """

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        self._use(sums.ExactSums())
