"""Prediction with expert advice: Hedge; private by few or soft draws of its own, or by fresh noise in every round."""

import functools
import math
from collections.abc import Callable
from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.epoch_leader import EpochLeader
from dp_bandit_envs.agents.hedge import Hedge, default_learning_rate
from dp_bandit_envs.agents.lazy_hedge import LazyHedge
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.algorithms.algorithm import Algorithm, set_of
from dp_bandit_envs.draws import square
from dp_bandit_envs.privacy.accounting import zcdp_within
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, at_delta
from dp_bandit_envs.privacy.hedge_privacy import LazySettings, hedge_guarantee, lazy_hedge_guarantee, lazy_settings
from dp_bandit_envs.privacy.laplace import default_bound, noise_scale
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.adversarial_bounds import without_memory
from dp_bandit_envs.theory.experts_bounds import (
    epoch_leader_bound,
    fresh_noise_bound,
    fresh_noise_rate,
    hedge_regret_bound,
    lazy_hedge_regret_bound,
    noisy_hedge_rate,
    noisy_hedge_regret_bound,
)
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale

PAPER = "Asi, Feldman, Koren and Talwar (2023), Private Online Prediction from Experts"

L1_DISTANCES: dict[str, Callable[[int], float]] = {
    "simplex": float,
    "ball": lambda dimension: 2 * math.sqrt(dimension),
    "cube": lambda dimension: 2.0,
}
"""The L1 distance of two gain vectors, which the noise is scaled to, by dimension."""


def hedge(*, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """Hedge (Freund and Schapire 1997): regret at most sqrt(T ln K / 2) when every gain is revealed; barely private.

    Rule: draws an arm with probability proportional to e^(a S), where S is the exact sum of all its gains and a =
    sqrt(8 ln K / T).

    Hardly private because there are T draws. Each is the exponential mechanism, and together they guarantee T a^2 / 2
    zCDP at learning rate a, which is 4 ln K at the default rate.

    Differs from the source in: gains instead of losses; the rate of Cesa-Bianchi and Lugosi (2006), sqrt(8 ln K / T).
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

    Rule: draws an arm with probability proportional to e^(a S), where S is the exact sum of all its gains. The rate is
    a = sqrt(2 rho / (T - 1)), at most Hedge's, with rho the largest zCDP parameter that implies (epsilon, delta).

    Private because each draw is the exponential mechanism of McSherry and Talwar (2007) on the current sums; T draws of
    bounded range 2 a are (T - 1) a^2 / 2 zCDP.

    The regret is of order sqrt(T ln(1 / delta)) ln K / epsilon. For few arms counters have less regret, because any
    number of arms may be drawn from sums that are released once.

    Finer accounting of zCDP would gain very little. EXP3 forgets a changed gain, because its updates pull the scores of
    two games together; Hedge adds the same gains in both, and the difference stays. If round 1 is changed from (1, 0)
    to (0, 1) and all other gains are equal, each later draw has a KL divergence of a tanh(a / 2), so rho is at least (T
    - 1) a^2 / 2 (1 - a^2 / 12).

    Differs from the source in: no paper states it with these constants; the first draw, which sees no gains, is not
        counted.
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    rate = functools.partial(_private_rate, zcdp_within(epsilon, delta))

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        guarantee = hedge_guarantee(draws=_draws(horizon), learning_rate=rate(n_arms, horizon))
        return at_delta(guarantee, delta)

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
    """Return the largest rate, up to the default, such that all draws of a game together are rho-zCDP."""
    return min(default_learning_rate(n_arms, horizon), math.sqrt(2 * rho / (_draws(horizon) - 1)))


def _draws(horizon: int) -> int:
    """Return the number of draws to count in a game of `horizon` steps, at least 2.

    Above batches of tau >= 2 rounds, an unfinished last batch is one more step, whose draw has seen all gains. A round
    then moves scores by a / tau only, so horizon draws after the first cost at most horizon a^2 / 8. Unless the horizon
    is 1, this is at most the counted (horizon - 1) a^2 / 2.
    """
    return max(horizon, 2)


def lazy_hedge(*, epsilon: SupportsFloat = 1.0, delta: SupportsFloat = 1e-6) -> Algorithm:
    """Lazy-Hedge (after Asi, Feldman, Koren and Talwar 2023): Hedge that draws an arm afresh in a few rounds only.

    Rule: keeps its arm with probability (1 - p) e^(-a (1 - g)), where g is the gain that the arm just had. Otherwise it
    draws the arm afresh with probability proportional to e^(a S), where S is an arm's current sum; after n fresh draws
    the arm stays. The rate a, with p and n, is the largest that rho-zCDP allows, with rho from (epsilon, delta).

    Private because a changed round changes once the probability of keeping the arm, and moves the laws of at most n
    later draws: keeping an arm does not depend on earlier rounds.

    In every round its arm has exactly Hedge's law. With fewer draws, each may use a larger learning rate. Against an
    oblivious adversary the regret is of order T^(1/3) ln K / sqrt(rho), without the factor K or sqrt(K) of counters.
    The guarantee also holds if an adversary reacts to the arms; the regret bound does not.

    Differs from the source in: the arm is kept with a probability that makes the law exact, with this project's
        constants and accounting (docs/notes/own-draws.md).
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    rho = zcdp_within(epsilon, delta)

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        guarantee = lazy_hedge_guarantee(_settings(rho, n_arms, horizon))
        return at_delta(guarantee, delta)

    def bound(n_arms: int, horizon: int) -> float:
        chosen = _settings(rho, n_arms, horizon)
        return lazy_hedge_regret_bound(
            n_arms, horizon, chosen.learning_rate, chosen.redraw_probability, chosen.most_draws
        )

    return Algorithm(
        name="Lazy-Hedge",
        make_agent=lambda: LazyHedge(
            learning_rate=functools.partial(_setting, "learning_rate", rho),
            fresh_probability=functools.partial(_setting, "fresh_probability", rho),
            most_draws=functools.partial(_setting, "most_draws", rho),
        ),
        feedback="full",
        own_guarantee=guarantee,
        bound=without_memory(bound),
        parameters={"epsilon": epsilon, "delta": delta},
        reference=f"{PAPER}; Geulen, Vöcking and Winkler (2010), shrinking dartboard",
    )


def _settings(rho: float, n_arms: int, horizon: int) -> LazySettings:
    return lazy_settings(horizon, rho, default_learning_rate(n_arms, horizon))


def _setting(name: str, rho: float, n_arms: int, horizon: int) -> Any:
    return getattr(_settings(rho, n_arms, horizon), name)


def dp_epochs(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    """DP-Epochs (after Asi, Feldman, Koren and Talwar 2023): one private draw per epoch, for independent gains only.

    Rule: epochs have 1, 1, 2, 4, 8, ... rounds; in each it plays one arm, drawn with probability proportional to
    e^(epsilon S / 2), where S is an arm's sum in the previous epoch.

    Private because the draw is the exponential mechanism, and every round influences one draw: all arms together are
    epsilon-DP, without a delta.

    Differs from the source in: constants; only the source's abstract was available.
    """
    epsilon = checks.epsilon(epsilon)

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return PrivacyGuarantee(
            epsilon=epsilon,
            rho=max(square(epsilon / 2) / 2, 5e-324),
            theorem=(
                "exponential mechanism, once an epoch on scores that one round moves by epsilon / 2 at most, each round"
                " in one epoch; of bounded range epsilon, hence epsilon^2 / 8 zCDP"
            ),
            agents="EpochLeader",
        )

    none = PrivacyGuarantee.none("epsilon is inf, so the leader of each epoch is played")
    return Algorithm(
        name="DP-Epochs",
        make_agent=lambda: EpochLeader(epsilon=epsilon),
        feedback="full",
        own_guarantee=guarantee if epsilon < float("inf") else lambda n_arms, horizon: none,
        stochastic_bound=lambda means, horizon: epoch_leader_bound(means, horizon, epsilon),
        parameters={"epsilon": epsilon},
        reference=f"{PAPER}, stochastic adversaries",
    )


def noisy_hedge(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    """Noisy-Hedge: Hedge on gains that get fresh Laplace noise of scale K / epsilon in every round, on every arm.

    Rule: all K gains of a round get Laplace noise of scale K / epsilon, are clipped at ln T times the scale outside
    their range and rescaled, which the learning rate undoes. `Hedge` plays by their sums; on points `RegularizedLeader`
    does, with noise of scale D / epsilon in every coordinate and D the L1 distance of two gain vectors.

    Private because a changed round moves the gains by at most K in L1, the noise is scaled to this distance, and they
    are released once. The true gains need not be stored, so this is local privacy.

    A baseline, not the best algorithm of a paper: its regret is of order sqrt(T ln K) K / epsilon, so privacy is never
    free. Sums from a counter get the noise once, not T times. On the ball and on the cube it is of order d sqrt(T) /
    epsilon. The previous best of Agarwal and Singh's table 1 for experts is sqrt(T ln K) / epsilon, the order of
    `DP-Hedge`; Thakurta and Smith (2013) read sums from a tree, too.

    Differs from the source in: it has no source; it is the Laplace mechanism on each round, with clipping, and Hedge.
    """
    epsilon = checks.epsilon(epsilon)

    def wrapping(env: Environment) -> Environment:
        return ExactSums(LaplaceClipRescale(env, epsilon=epsilon, outside="clip"))

    def bound(env: Environment) -> float:
        name, dimension = set_of(env)
        horizon, scale = env.get_wrapper_attr("horizon"), noise_scale(L1_DISTANCES[name](dimension), epsilon)
        game: Any = env.unwrapped
        if game.adversary.memory:
            return math.inf
        if name == "simplex":
            return noisy_hedge_regret_bound(dimension, horizon, noisy_hedge_rate(dimension, horizon, scale), scale)
        rate = fresh_noise_rate(name, dimension, horizon, scale)
        return fresh_noise_bound(name, dimension, horizon, rate, scale)

    return Algorithm(
        name="Noisy-Hedge",
        make_agent=lambda: Hedge(learning_rate=functools.partial(_rate, epsilon, "simplex")),
        make_point_agent=lambda: RegularizedLeader(learning_rate=functools.partial(_rate, epsilon)),
        wrapping=wrapping,
        feedback="full",
        bound_in=bound,
        parameters={"epsilon": epsilon},
        reference="Dwork and Roth (2014), theorem 3.6 (Laplace mechanism), on each round; bound derived",
    )


def _rate(epsilon: float, set_name: str, dimension: int, horizon: int) -> float:
    """Return the rate for rescaled gains, which are shrunk by 1 + 2 b ln T / (width of the range)."""
    scale = noise_scale(L1_DISTANCES[set_name](dimension), epsilon)
    if set_name == "simplex":
        return noisy_hedge_rate(dimension, horizon, scale) * (1 + 2 * default_bound(scale, horizon))
    return fresh_noise_rate(set_name, dimension, horizon, scale) * (1 + default_bound(scale, horizon))
