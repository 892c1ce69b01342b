"""Upper bounds on the pseudo-regret of UCB under local privacy, where every gain is released with noise of its own.

They hold under the conditions stated in `stochastic_bounds`.
"""

import math
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.theory.optimism import Means, gaps_of, optimistic_bound, plays_until_small, regret_of_plays


def ldp_laplace_bonus(epsilon: SupportsFloat) -> tuple[float, float]:
    r"""Return A and B of LDP-UCB-L's bonus :math:`\sqrt{A \ln t / n} + B \ln t / n`: 2 + 16 / epsilon^2, 4 / epsilon.

    The average of n gains, each with Laplace noise of scale :math:`b = 1/\epsilon`, is above its mean by the bonus or
    more with probability at most :math:`t^{-4}`, and below likewise. Proof. For 0 < s < 1/b the logarithm of the moment
    generating function of one noisy gain minus its mean is at most

    .. math:: \frac{s^2}{8} - \ln(1 - b^2 s^2) \le \frac{s^2}{8} + \frac{b^2 s^2}{1 - b^2 s^2}
              \le \frac{v s^2}{2 (1 - b s)}, \quad v = \tfrac14 + 2 b^2,

    by Hoeffding's lemma, :math:`-\ln(1 - x) \le x / (1 - x)` and :math:`b^2 s^2 \le b s`. Chernoff's bound at
    :math:`s = \sqrt{2L} / (\sqrt{v n} + b \sqrt{2L})` then reads: the average is above its mean by
    :math:`\sqrt{2 v L / n} + b L / n` or more with probability at most :math:`e^{-L}`. Put :math:`L = 4 \ln t`.

    Args:
        epsilon: Privacy parameter, in (0, inf]; inf gives UCB's bonus, (2, 0).

    Source: Ren, Zhou, Liu and Shroff (2020), algorithm LDP-UCB-L; Boucheron, Lugosi and Massart (2013), section 2.4.
    Differs from the source in: the second term. A square root alone does not cover the noise of a few gains: that of
        one exceeds 4 ln t / epsilon, not some square root of ln t, with probability t^-4 / 2. The source forces plays
        instead, see `ldp_ucb_l_paper_bound`.
    """
    slope = 4 / checks.epsilon(epsilon)
    return 2 + slope * slope, slope


def ldp_ucb_l_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat) -> float:
    """Return the bound of LDP-UCB-L, improved: `optimistic_bound` with c = 1 for the bonus of `ldp_laplace_bonus`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    variance, slope = (
        (factor * math.log(horizon) for factor in ldp_laplace_bonus(epsilon)) if horizon > 1 else (0.0, 0.0)
    )
    return optimistic_bound(means, horizon, lambda gap: plays_until_small(gap, math.sqrt(variance), slope, horizon), 1)


LDP_FORCED = 4.0
"""LDP-UCB-L plays an arm first until it has more than this many times ln(t + 1) gains."""


def ldp_paper_bonus(epsilon: float) -> float:
    """Return the factor of sqrt(ln t / n) in the bonus of LDP-UCB-L: sqrt(2) + sqrt(32) / epsilon."""
    return math.sqrt(2) + math.sqrt(32) / epsilon


def ldp_ucb_l_paper_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat) -> float:
    r"""Return the bound of LDP-UCB-L as its authors run it: arms with at most 4 ln(t + 1) gains are played first.

    Proof. The index is :math:`\hat\mu + \sqrt{2 \ln t / n} + \sqrt{32 b^2 \ln t / n}` with noise of scale
    :math:`b = 1/\epsilon`. By Hoeffding the average gain is off by the first root with probability at most
    :math:`t^{-4}`. The logarithm of the moment generating function of one draw of noise is
    :math:`-\ln(1 - b^2 s^2) \le 2 b^2 s^2` for :math:`b^2 s^2 \le 1/2`. Chernoff's bound at :math:`s = u / (4 b^2)`,
    for u the second root, gives :math:`e^{-n u^2 / (8 b^2)} = t^{-4}`, and
    :math:`b^2 s^2 = 2 \ln t / n \le 1/2` requires :math:`n \ge 4 \ln t`, which the forced plays ensure.
    So `optimistic_bound` holds with c = 2 for the plays by index, and no arm with more than :math:`4 \ln T` gains is
    forced. Without noise nothing is forced, and c = 1.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
    """
    horizon, epsilon = checks.integer("horizon", horizon, at_least=1), checks.epsilon(epsilon)
    if math.isinf(epsilon):
        return ldp_ucb_l_bound(means, horizon, epsilon)
    log = math.log(horizon)
    root, forced = ldp_paper_bonus(epsilon) * math.sqrt(log), min(math.floor(LDP_FORCED * log) + 1, horizon)
    return optimistic_bound(means, horizon, lambda gap: max(plays_until_small(gap, root, 0.0, horizon), forced), 2)


def ldp_ucb_b_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat) -> float:
    r"""Return the bound of LDP-UCB-B, which is UCB on randomized responses.

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \Big( \frac{8 \ln T}{(s \Delta_a)^2} + 1 + \frac{\pi^2}{3} \Big),
              \quad s = \frac{e^\epsilon - 1}{e^\epsilon + 1}

    Proof. A gain g in [0, 1] is released as 1 with probability :math:`(g (e^\epsilon - 1) + 1) / (e^\epsilon + 1)` and
    as 0 otherwise, so UCB meets Bernoulli arms with gaps :math:`s \Delta_a`. `ucb_bound` bounds how often it plays
    them, and each play costs :math:`\Delta_a`. Mapping the responses back to the scale of gains, bonus included,
    leaves the order of the indices as it is.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf]; inf gives `ucb_bound`.

    Source: Ren, Zhou, Liu and Shroff (2020), algorithm LDP-UCB-B.
    """
    gaps = gaps_of(means)
    horizon = checks.integer("horizon", horizon, at_least=1)
    kept = math.tanh(checks.epsilon(epsilon) / 2)

    def pulls(gap: float) -> float:
        square = (kept * gap) * (kept * gap)
        return (8 * math.log(horizon) / square if square > 0 else math.inf) + 1 + math.pi**2 / 3

    return regret_of_plays(gaps, [pulls(gap) if gap > 0 else 0.0 for gap in gaps], horizon)
