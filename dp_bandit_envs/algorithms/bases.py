"""Algorithms without noise: EXP3, Tsallis-INF, HTINF and uniform play, with their regret bounds."""

import math
from typing import Any, SupportsFloat

from dp_bandit_envs.agents.exp3 import Exp3
from dp_bandit_envs.agents.tsallis_inf import SKIP_SHARE, Htinf, TsallisInf
from dp_bandit_envs.agents.uniform import Uniform
from dp_bandit_envs.algorithms.algorithm import Algorithm, without_memory
from dp_bandit_envs.privacy.exp3 import EXP3_ONLY, exp3_guarantee
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee


def exp3(*, exploration_rate: SupportsFloat | None = None, label: str = "EXP3") -> Algorithm:
    """EXP3 (Auer et al. 2003): regret at most 2 sqrt((e - 1) T K ln K); by itself hardly private.

    Differs from the source in: nothing that is known.
    """
    agent = Exp3(exploration_rate=exploration_rate)

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return exp3_guarantee(n_arms=n_arms, draws=horizon, exploration_rate=agent.rate(n_arms, horizon))

    def paper_guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        gamma = agent.rate(n_arms, horizon)
        ratio = math.log((n_arms * (1 - gamma) + gamma) / gamma)
        chernoff = 2 * (1 - gamma) * horizon + 2 * math.sqrt(2 * math.log(horizon) / horizon)
        return PrivacyGuarantee(
            epsilon=min(2 * horizon, horizon * ratio, chernoff),
            theorem="Tossou and Dimitrakakis (2017), theorem 3.3, as printed",
            agents=EXP3_ONLY,
        )

    return Algorithm(
        name=label,
        make_agent=lambda: Exp3(exploration_rate=exploration_rate),
        own_guarantee=guarantee,
        paper_guarantee_of=paper_guarantee,
        bound=without_memory(exp3_regret_bound) if exploration_rate is None else None,
        parameters={"exploration_rate": exploration_rate},
        reference="Auer, Cesa-Bianchi, Freund and Schapire (2003); Tossou and Dimitrakakis (2017), equation 2.1",
    )


def tsallis_inf(*, label: str = "Tsallis-INF") -> Algorithm:
    """Tsallis-INF (Zimmert and Seldin 2021): regret at most 4 sqrt(K T) + 1; not private.

    Differs from the source in: nothing that is known.
    """
    return Algorithm(
        name=label,
        make_agent=TsallisInf,
        bound=without_memory(tsallis_regret_bound),
        reference="Zimmert and Seldin (2021), theorem 1",
    )


def htinf(*, sigma: SupportsFloat = 1.0, label: str = "HTINF") -> Algorithm:
    """HTINF (Huang, Dai and Huang 2022): Tsallis-INF for losses with heavy tails; not private by itself.

    Differs from the source in: nothing that is known.
    """
    sigma = Htinf(sigma=sigma).sigma
    return Algorithm(
        name=label,
        make_agent=lambda: Htinf(sigma=sigma),
        bound=without_memory(lambda n_arms, horizon: htinf_regret_bound(n_arms, horizon, sigma)),
        parameters={"sigma": sigma},
        reference="Huang, Dai and Huang (2022), HTINF with tail index 2",
    )


def uniform(*, label: str = "Uniform") -> Algorithm:
    """Uniform play: the baseline, which learns nothing and leaks nothing.

    Differs from the source in: nothing; it has no source.
    """
    return Algorithm(
        name=label,
        make_agent=Uniform,
        own_guarantee=lambda n_arms, horizon: PrivacyGuarantee(
            epsilon=0.0, theorem="the arms played do not depend on the gains", agents="Uniform"
        ),
        bound=without_memory(lambda n_arms, horizon: horizon * (1 - 1 / n_arms)),
        reference="none: the baseline",
    )


def exp3_regret_bound(n_arms: int, horizon: int) -> float:
    """Return 2 sqrt((e - 1) T K ln K) (Auer et al. 2003, corollary 3.2)."""
    return 2 * math.sqrt((math.e - 1) * horizon * n_arms * math.log(n_arms))


def tsallis_regret_bound(n_arms: int, horizon: int) -> float:
    """Return 4 sqrt(K T) + 1 (Zimmert and Seldin 2021, theorem 1)."""
    return 4 * math.sqrt(n_arms * horizon) + 1


def htinf_regret_bound(n_arms: int, horizon: int, sigma: float) -> float:
    r"""Return the bound of HTINF for losses with :math:`E[\ell^2] \le \sigma^2` and tail index 2; inf for sigma < 1.

    Derived here, for losses whose part beyond any threshold is not negative on average (noise that is symmetric
    around a loss in [0, 1]): the regulariser costs :math:`2 \sigma \sqrt T (\sqrt K - 1)`; each round costs at most
    :math:`2 \eta_t \sigma^2 \sqrt K`, as the thresholds keep :math:`(1 - \Theta)^{-3} = 2`; and skipping costs
    :math:`E[|\ell|; |\ell| > r_i] \le \sigma^2 / r_i`, on average over the arms at most
    :math:`\eta_t \sigma^2 \sqrt K / \Theta`. Summed with :math:`\sum_t \eta_t \le 2 \sqrt T / \sigma`.
    """
    if sigma < 1:
        # A loss may be 1, so no smaller sigma covers all.
        return math.inf
    root = math.sqrt(horizon * n_arms)
    return sigma * (2 * (root - math.sqrt(horizon)) + 4 * root + 2 * root / SKIP_SHARE)


BASES: dict[str, Any] = {"EXP3": exp3, "Tsallis-INF": tsallis_inf, "HTINF": htinf, "Uniform": uniform}
"""What can stand inside `DP-Lambda-Lap` by name."""
