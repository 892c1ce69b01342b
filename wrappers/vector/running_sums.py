"""`RunningSums` for many games at once."""

from dp_bandit_envs.privacy.sums import ExactSums
from dp_bandit_envs.wrappers.vector.boundary import VectorEnv
from dp_bandit_envs.wrappers.vector.sums_boundary import VectorSumsBoundary


class RunningSums(VectorSumsBoundary):
    """Exact running sums of every game; see `dp_bandit_envs.wrappers.RunningSums`.

    Args:
        env: Vector bandit environments, or a vector privacy wrapper around them that hands on gains.
    """

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        self._use(ExactSums())
