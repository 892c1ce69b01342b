"""Hedge, of Freund and Schapire (1997), and DP-Hedge, the same at a rate that makes its own draws private."""

import functools
import math
from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.hedge import Hedge, default_learning_rate
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.privacy.accounting import zcdp_within
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, at_delta
from dp_bandit_envs.privacy.hedge_privacy import hedge_guarantee
from dp_bandit_envs.theory.adversarial_bounds import without_memory
from dp_bandit_envs.theory.experts_bounds import hedge_regret_bound
from dp_bandit_envs.wrappers import ExactSums


def hedge(*, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """Hedge (Freund and Schapire 1997): regret at most sqrt(T ln K / 2) when every gain is revealed; hardly private.

    Rule: draws an arm with probability proportional to e^(a S), where S is the exact sum of all its gains so far and a
    = sqrt(8 ln K / T).

    Hardly private because there are T draws. Each is the exponential mechanism, and together they guarantee T a^2 / 2
    zCDP at learning rate a, which is 4 ln K at the default one.

    Differs from the source in: gains for losses; the rate is that of Cesa-Bianchi and Lugosi (2006), sqrt(8 ln K / T).
    """
    rate = Hedge(learning_rate=learning_rate).rate
    return Algorithm(
        name="Hedge",
        make_agent=lambda: Hedge(learning_rate=learning_rate),
        wrapping=ExactSums,
        feedback="full",
        own_guarantee=lambda n_arms, horizon: hedge_guarantee(
            draws=_draws(horizon), learning_rate=rate(n_arms, horizon)
        ),
        bound=without_memory(lambda n_arms, horizon: hedge_regret_bound(n_arms, horizon, rate(n_arms, horizon))),
        parameters={"learning_rate": learning_rate},
        reference="Freund and Schapire (1997); Cesa-Bianchi and Lugosi (2006), theorem 2.2",
    )


def dp_hedge(*, epsilon: SupportsFloat = 1.0, delta: SupportsFloat = 1e-6) -> Algorithm:
    """DP-Hedge: Hedge without noise, at a learning rate so small that the arms it draws are (epsilon, delta)-DP.

    Rule: draws an arm with probability proportional to e^(a S), where S is the exact sum of all its gains so far, with
    a = sqrt(2 rho / (T - 1)), at most Hedge's, and rho the zCDP that is within (epsilon, delta).

    Private because each draw is the exponential mechanism of McSherry and Talwar (2007) on the sums so far; T draws of
    bounded range 2 a are (T - 1) a^2 / 2 zCDP.

    The regret is of order sqrt(T ln(1 / delta)) ln K / epsilon. For few arms counters have less, because any number of
    arms may be drawn from sums that are released once.

    Finer accounting of zCDP would gain next to nothing. EXP3 forgets a changed gain, because its updates pull the
    scores of two games together; Hedge adds the same gains in both, and the difference stays. If round 1 is changed
    from (1, 0) to (0, 1) and all other gains are equal, each later draw has a KL divergence of a tanh(a / 2), so rho is
    at least (T - 1) a^2 / 2 (1 - a^2 / 12).

    Differs from the source in: no paper states it with these constants; the first draw, which sees nothing, is not
        counted.
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    rate = functools.partial(_private_rate, zcdp_within(epsilon, delta))

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        own = hedge_guarantee(draws=_draws(horizon), learning_rate=rate(n_arms, horizon))
        return at_delta(own, delta)

    return Algorithm(
        name="DP-Hedge",
        make_agent=lambda: Hedge(learning_rate=rate),
        wrapping=ExactSums,
        feedback="full",
        own_guarantee=guarantee,
        bound=without_memory(lambda n_arms, horizon: hedge_regret_bound(n_arms, horizon, rate(n_arms, horizon))),
        parameters={"epsilon": epsilon, "delta": delta},
        reference="Freund and Schapire (1997) with the exponential mechanism of McSherry and Talwar (2007)",
    )


def _private_rate(rho: float, n_arms: int, horizon: int) -> float:
    """Return the largest rate up to the default at which all draws of a game are rho-zCDP."""
    return min(default_learning_rate(n_arms, horizon), math.sqrt(2 * rho / (_draws(horizon) - 1)))


def _draws(horizon: int) -> int:
    """Return how many draws to count in a game of `horizon` steps, at least 2.

    Above batches of tau >= 2 rounds an unfinished last batch is one more step, whose draw has seen all gains. There a
    round moves scores by a / tau only, so horizon draws after the first cost at most horizon a^2 / 8: no more than the
    (horizon - 1) a^2 / 2 that are counted, except where the horizon is 1.
    """
    return max(horizon, 2)
