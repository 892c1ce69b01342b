"""Tsallis-INF, of Zimmert and Seldin (2021)."""

from dp_bandit_envs.agents.tsallis_inf import TsallisInf
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.adversarial_bounds import tsallis_regret_bound, without_memory


def tsallis_inf() -> Algorithm:
    """Tsallis-INF (Zimmert and Seldin 2021): regret at most 4 sqrt(K T) + 1; not private.

    Rule: `TsallisInf` learns from the gains themselves. It draws from the distribution that minimises its estimated
    loss less a multiple of the sum of the square roots of its entries.

    Not private because it learns from exact gains, and nothing is known of what its own draws hide.

    Differs from the source in: nothing that is known.
    """
    return Algorithm(
        name="Tsallis-INF",
        make_agent=TsallisInf,
        bound=without_memory(tsallis_regret_bound),
        reference="Zimmert and Seldin (2021), theorem 1",
    )
