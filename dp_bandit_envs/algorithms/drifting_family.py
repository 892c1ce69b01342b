"""For means that change: confidence bounds over a window, with a discount, on randomized responses, or with restarts.

They are tuned for S changes of the means (`shifts`), or need no such number. See `docs/regret.md` for their regret in
`DPBandit-Shifting-v0`.
"""

from collections.abc import Sequence
from typing import Any, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.drifting import BONUS, DiscountedUcb, RestartedUcb, SlidingWindow, restart_period
from dp_bandit_envs.agents.random_labels import RandomLabels
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.ucb_family import PAPER_ALPHA
from dp_bandit_envs.privacy.mechanisms.block_sums import RestartedSums
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.drifting_bounds import (
    discounted_ucb_bound,
    restarted_bound,
    window_klucb_bound,
    window_ucb_bound,
)
from dp_bandit_envs.wrappers import PrivacyBoundary, RandomizedResponse

SHIFTS = 5
"""Default number of shifts of `DPBandit-Shifting-v0`."""


def sw_ucb(
    *, window: SupportsIndex | None = None, shifts: SupportsIndex = SHIFTS, bonus: SupportsFloat = BONUS
) -> Algorithm:
    r"""SW-UCB (Garivier and Moulines 2011): UCB on the gains of the last w rounds; not private.

    Rule: plays the arm with the largest :math:`\hat\mu_i + \sqrt{\xi \ln \min(t, w) / n_i}`, where :math:`\hat\mu_i` is
    the mean of its :math:`n_i` gains in the last w rounds; w is by default :math:`2 \sqrt{T \ln T / S}`.

    Not private because the arms are a deterministic function of exact sums: one changed gain can change every later
    arm.

    Differs from the source in: xi is .6 (bonus), as its theorems need more than 1/2.
    """
    agent = SlidingWindow(window=window, shifts=shifts, bonus=bonus)
    parameters: dict[str, Any] = {"window": agent.window, "shifts": agent.shifts, "bonus": agent.bonus}
    return Algorithm(
        name="SW-UCB",
        make_agent=lambda: SlidingWindow(**parameters),
        stochastic_bound=lambda means, t: window_ucb_bound(means, t, agent.window_in(t), agent.bonus),
        parameters=parameters,
        reference="Garivier and Moulines (2011), SW-UCB",
    )


def d_ucb(
    *, discount: SupportsFloat | None = None, shifts: SupportsIndex = SHIFTS, bonus: SupportsFloat = BONUS
) -> Algorithm:
    r"""D-UCB (Garivier and Moulines 2011): UCB on discounted gains; not private.

    Rule: plays the arm with the largest :math:`\hat\mu_i + 2 \sqrt{\xi \ln n / n_i}`, where a gain from s rounds ago
    has weight :math:`\gamma^s` in the mean :math:`\hat\mu_i`, in :math:`n_i` and in :math:`n = \sum_i n_i`; gamma is by
    default :math:`1 - \sqrt{S / T} / 4`.

    Not private because the arms are a deterministic function of exact sums: one changed gain can change every later
    arm.

    Differs from the source in: xi is .6 (bonus), as its theorems need more than 1/2.
    """
    agent = DiscountedUcb(discount=discount, shifts=shifts, bonus=bonus)
    parameters: dict[str, Any] = {"discount": agent.discount, "shifts": agent.shifts, "bonus": agent.bonus}
    return Algorithm(
        name="D-UCB",
        make_agent=lambda: DiscountedUcb(**parameters),
        stochastic_bound=lambda means, t: discounted_ucb_bound(means, t, agent.discount_in(t), agent.bonus),
        parameters=parameters,
        reference="Garivier and Moulines (2011), D-UCB",
    )


def sw_klucb_cf(
    *, epsilon: SupportsFloat = 1.0, window: SupportsIndex | None = None, shifts: SupportsIndex = SHIFTS
) -> Algorithm:
    r"""SW-KLUCB-CF (Gajane 2023): KL-UCB on randomized responses of the last w rounds.

    Rule: a gain g becomes a coin that shows 1 with probability :math:`\frac{g (e^\epsilon - 1) + 1}{e^\epsilon + 1}`.
    It plays the arm with the largest q for which :math:`n_i \, \mathrm{kl}(\hat\mu_i, q) \le \ln m + 3 \ln \ln m`, with
    m = min(t, w) and :math:`\hat\mu_i` the mean of its :math:`n_i` coins in the last w rounds; w is by default
    :math:`\sqrt{T \ln T / S}`.

    Private because a changed gain changes the probabilities of its one answer by a factor of at most e^epsilon.

    Differs from the source in: q is not mapped back to the mean of the gain, which gives the same order of arms up to
        ties at 1. The paper's window was not available to us. New arms are tried in an order drawn at random
        (`RandomLabels`). The order depends on no gain, so the guarantee is unchanged.
    """
    epsilon = checks.epsilon(epsilon)
    agent = SlidingWindow(window=window, shifts=shifts, index="kl")
    parameters: dict[str, Any] = {"window": agent.window, "shifts": agent.shifts}
    return Algorithm(
        name="SW-KLUCB-CF",
        make_agent=lambda: RandomLabels(SlidingWindow(index="kl", **parameters)),
        wrapping=lambda env: RandomizedResponse(env, epsilon=epsilon),
        stochastic_bound=lambda means, t: window_klucb_bound(means, t, agent.window_in(t), epsilon),
        parameters={"epsilon": epsilon, **parameters},
        reference="Gajane (2023), SW-KLUCB-CF",
    )


def restarted_adap_ucb(
    *, epsilon: SupportsFloat = 1.0, period: SupportsIndex | None = None, alpha: SupportsFloat = PAPER_ALPHA
) -> Algorithm:
    r"""Restarted-AdaP-UCB (after Azize and Basu 2022): AdaP-UCB, restarted every H rounds.

    Rule: as AdaP-UCB, with t the rounds since the last restart. An arm once chosen is played until it has twice as many
    gains, and the noisy mean :math:`\hat\mu_i` of these last :math:`n_i` gains is released. At a restart open blocks
    are dropped; H is by default :math:`T^{2/3}`, rounded up. In a period without a change the regret is AdaP-UCB's in H
    rounds, and in a period with a change at most H: with S changes :math:`S H + (T / H + 1) R(H)` in total.

    Private because a changed gain is in one block of one arm in one period, whose sum is released once, with noise 1 /
    epsilon. Periods are disjoint, so together they cost no more than one (parallel composition).

    Differs from the source in: the restarts, as in Besbes, Gur and Zeevi (2014); new arms are tried in an order drawn
        at random (`RandomLabels`). The order depends on no gain, so the guarantee is unchanged.
    """
    epsilon, alpha = checks.epsilon(epsilon), checks.greater_than("alpha", alpha, 0)
    fixed_period = None if period is None else checks.integer("period", period, at_least=1)

    def wrapping(env: Environment) -> Environment:
        rounds = fixed_period or restart_period(env.get_wrapper_attr("horizon"))
        return PrivacyBoundary(env, RestartedSums(epsilon=epsilon, period=rounds))

    def bound(means: Sequence[float], horizon: int) -> float:
        return restarted_bound(means, horizon, fixed_period or restart_period(horizon), epsilon, alpha)

    return Algorithm(
        name="Restarted-AdaP-UCB",
        make_agent=lambda: RandomLabels(RestartedUcb(epsilon=epsilon, period=fixed_period, alpha=alpha)),
        wrapping=wrapping,
        stochastic_bound=bound if alpha > 2 else None,
        parameters={"epsilon": epsilon, "period": fixed_period, "alpha": alpha},
        reference="AdaP-UCB of Azize and Basu (2022), with the restarts of Besbes, Gur and Zeevi (2014)",
    )
