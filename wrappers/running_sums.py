"""Adds up each arm's gains and hands on the totals, without noise of its own."""

from dp_bandit_envs.privacy.sums import ExactSums
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.sums_boundary import SumsBoundary


class RunningSums(SumsBoundary):
    """Exact running sums of what is below: for agents such as `Ucb`, without privacy of its own.

    Around a wrapper that adds noise to each gain, such as `RandomisedResponse`, the sums are noisy, and the guarantee
    is that wrapper's: adding up is post-processing.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
    """

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._use(ExactSums())
