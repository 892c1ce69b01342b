"""Tsallis-INF, of Zimmert and Seldin (2021)."""

from dp_bandit_envs.agents.tsallis_inf import TsallisInf
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.adversarial_bounds import tsallis_regret_bound, without_memory


def tsallis_inf() -> Algorithm:
    """Tsallis-INF (Zimmert and Seldin 2021): regret at most 4 sqrt(K T) + 1; not private.

    Differs from the source in: nothing that is known.
    """
    return Algorithm(
        name="Tsallis-INF",
        make_agent=TsallisInf,
        bound=without_memory(tsallis_regret_bound),
        reference="Zimmert and Seldin (2021), theorem 1",
    )
