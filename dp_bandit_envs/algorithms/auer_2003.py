"""EXP3, of Auer, Cesa-Bianchi, Freund and Schapire (2003)."""

from typing import SupportsFloat

from dp_bandit_envs.agents.exp3 import Exp3
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.privacy.exp3_privacy import EXP3_ONLY, exp3_guarantee
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.theory.adversarial_bounds import exp3_regret_bound, without_memory
from dp_bandit_envs.theory.printed_epsilons import exp3_printed_epsilon


def exp3(*, exploration_rate: SupportsFloat | None = None) -> Algorithm:
    """EXP3 (Auer et al. 2003): regret at most 2 sqrt((e - 1) T K ln K); by itself hardly private.

    Rule: `Exp3` learns from the gains themselves. It draws each arm with a probability that grows with the arm's
    estimated gain, mixed with uniform play.

    Hardly private because there are T draws. A changed gain moves the scores by at most 1 and the difference never
    grows, so every later draw loses at most 1; all of them together protect nobody.

    Differs from the source in: nothing that is known.
    """
    rate = Exp3(exploration_rate=exploration_rate).rate

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return exp3_guarantee(n_arms=n_arms, draws=horizon, exploration_rate=rate(n_arms, horizon))

    def paper_guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return PrivacyGuarantee(
            epsilon=exp3_printed_epsilon(n_arms, horizon, rate(n_arms, horizon)),
            theorem="Tossou and Dimitrakakis (2017), theorem 3.3, as printed",
            agents=EXP3_ONLY,
        )

    return Algorithm(
        name="EXP3",
        make_agent=lambda: Exp3(exploration_rate=exploration_rate),
        own_guarantee=guarantee,
        paper_guarantee_of=paper_guarantee,
        bound=without_memory(exp3_regret_bound) if exploration_rate is None else None,
        parameters={"exploration_rate": exploration_rate},
        reference="Auer, Cesa-Bianchi, Freund and Schapire (2003); Tossou and Dimitrakakis (2017), equation 2.1",
    )
