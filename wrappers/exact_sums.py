"""Adds up each arm's gains and hands on the totals, without noise of its own."""

from dp_bandit_envs.privacy import sums
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.sums_boundary import SumsBoundary


class ExactSums(SumsBoundary):
    """Exact running sums of what is below: for agents such as `Ucb`, without privacy of its own.

    Around a wrapper that adds noise to each gain, such as `RandomizedResponse`, the sums are noisy, and the guarantee
    is that wrapper's: adding up is post-processing.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
    """

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._use(sums.ExactSums())
