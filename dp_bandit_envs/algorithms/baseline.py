"""Uniform play: the baseline without a paper, which learns nothing and leaks nothing."""

from dp_bandit_envs.agents.uniform import Uniform
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.theory.adversarial_bounds import uniform_regret_bound, without_memory


def uniform() -> Algorithm:
    """Uniform play: the baseline, which learns nothing and leaks nothing.

    Rule: each round plays an arm at random, all equally likely.

    Private because the arms do not depend on the gains at all: epsilon is 0.

    Differs from the source in: nothing; it has no source.
    """
    return Algorithm(
        name="Uniform",
        make_agent=Uniform,
        own_guarantee=lambda n_arms, horizon: PrivacyGuarantee(
            epsilon=0.0, theorem="the arms played do not depend on the gains", agents="Uniform"
        ),
        bound=without_memory(uniform_regret_bound),
        reference="none: the baseline",
    )
