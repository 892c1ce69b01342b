"""DP-SE, of Sajed and Sheffet (2019)."""

from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.successive_elimination import SuccessiveElimination, epoch_lengths
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.block_bounds import dp_se_bound
from dp_bandit_envs.wrappers import BlockSums


def dp_se(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    """DP-SE (Sajed and Sheffet 2019): successive elimination with new noisy means in every epoch.

    Rule: in epoch e each arm that is left is played equally often, and the sum of these gains is released with noise;
    older gains are forgotten. An arm is dropped if its noisy mean is below the largest by more than twice the widths
    for chance and for noise, each of which the length of the epoch makes 2^-e / 8 at most.

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: the logarithms use the number of all arms K, not the number of survivors |S|, so that
        the lengths of epochs are known beforehand; that costs 2 to 3 % of regret.
    """
    epsilon = checks.epsilon(epsilon)

    def wrapping(env: Environment) -> Environment:
        n_arms, horizon = env.get_wrapper_attr("n_arms"), env.get_wrapper_attr("horizon")
        # Noise is multiplied by the sensitivity, as at a smaller epsilon.
        of_a_gain = epsilon / env.get_wrapper_attr("sensitivity")
        return BlockSums(env, epsilon=epsilon, lengths=epoch_lengths(n_arms, horizon, of_a_gain))

    return Algorithm(
        name="DP-SE",
        make_agent=lambda: SuccessiveElimination(epsilon=epsilon),
        wrapping=wrapping,
        stochastic_bound=lambda means, horizon: dp_se_bound(means, horizon, epsilon),
        parameters={"epsilon": epsilon},
        reference="Sajed and Sheffet (2019), algorithm 2",
    )
