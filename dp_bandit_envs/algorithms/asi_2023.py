"""Lazy-Hedge and DP-Epochs, for prediction with expert advice, after Asi, Feldman, Koren and Talwar (2023)."""

import functools
from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.epoch_leader import EpochLeader
from dp_bandit_envs.agents.hedge import default_learning_rate
from dp_bandit_envs.agents.lazy_hedge import LazyHedge
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.privacy.accounting import zcdp_within
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, at_delta
from dp_bandit_envs.privacy.hedge_privacy import LazySettings, lazy_hedge_guarantee, lazy_settings
from dp_bandit_envs.theory.adversarial_bounds import without_memory
from dp_bandit_envs.theory.experts_bounds import epoch_leader_bound, lazy_hedge_regret_bound

PAPER = "Asi, Feldman, Koren and Talwar (2023), Private Online Prediction from Experts"


def lazy_hedge(*, epsilon: SupportsFloat = 1.0, delta: SupportsFloat = 1e-6) -> Algorithm:
    """Lazy-Hedge (after Asi, Feldman, Koren and Talwar 2023): Hedge that draws an arm afresh in a few rounds only.

    Rule: keeps its arm with probability (1 - p) e^(-a (1 - g)), where g is the gain that the arm just had, and
    otherwise draws it afresh with probability proportional to e^(a S), where S is an arm's sum so far; after n fresh
    draws the arm stays. The rate a, p and n are those of the largest a that rho-zCDP allows, with rho from (epsilon,
    delta).

    Private because a changed round changes once how likely the arm is kept, and moves the laws of at most n later
    draws: keeping an arm reveals nothing about earlier rounds.

    In every round its arm has exactly Hedge's law. With fewer draws each may be at a larger learning rate. Against
    gains fixed in advance the regret is of order T^(1/3) ln K / sqrt(rho), without the factor K or sqrt(K) of counters.
    The guarantee also holds if an adversary reacts to the arms; the regret bound does not.

    Differs from the source in: the arm is kept with a probability that makes the law exact, with constants and
        accounting of its own (docs/own-draws.md).
    """
    epsilon, delta = checks.epsilon(epsilon), checks.delta(delta)
    rho = zcdp_within(epsilon, delta)

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        own = lazy_hedge_guarantee(_settings(rho, n_arms, horizon))
        return at_delta(own, delta)

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
    """DP-Epochs (after Asi, Feldman, Koren and Talwar 2023): one private draw an epoch, for independent gains only.

    Rule: epochs have 1, 1, 2, 4, 8, ... rounds; in each it plays one arm, drawn with probability proportional to
    e^(epsilon S / 2), where S is an arm's sum in the epoch before.

    Private because the draw is the exponential mechanism, and every round counts in one draw: all arms together are
    epsilon-DP, without a delta.

    Differs from the source in: constants; the source was read in its abstract only.
    """
    epsilon = checks.epsilon(epsilon)

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return PrivacyGuarantee(
            epsilon=epsilon,
            rho=max((epsilon / 2) ** 2 / 2, 5e-324),
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
