"""HTINF, of Huang, Dai and Huang (2022)."""

from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.tsallis_inf import Htinf
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.adversarial_bounds import htinf_regret_bound, without_memory


def htinf(*, sigma: SupportsFloat = 1.0) -> Algorithm:
    """HTINF (Huang, Dai and Huang 2022): Tsallis-INF for losses with heavy tails; not private by itself.

    Rule: `Htinf` learns from the gains themselves, as Tsallis-INF does, but skips a loss that is too large for the
    probability of its arm.

    Not private because it learns from exact gains, and nothing is known of what its own draws hide.

    Differs from the source in: nothing that is known.
    """
    sigma = checks.greater_than("sigma", sigma, 0)
    return Algorithm(
        name="HTINF",
        make_agent=lambda: Htinf(sigma=sigma),
        bound=without_memory(lambda n_arms, horizon: htinf_regret_bound(n_arms, horizon, sigma)),
        parameters={"sigma": sigma},
        reference="Huang, Dai and Huang (2022), HTINF with tail index 2",
    )
