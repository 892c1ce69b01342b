"""Upper bounds on the pseudo-regret of UCB from gains that were made private one by one.

They hold as those in `stochastic_bounds` do.
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
    rounds = checks.integer("horizon", horizon, at_least=1)
    variance, slope = (factor * math.log(rounds) for factor in ldp_laplace_bonus(epsilon)) if rounds > 1 else (0.0, 0.0)
    return optimistic_bound(means, rounds, lambda gap: plays_until_small(gap, math.sqrt(variance), slope, rounds), 1)


LDP_FORCED = 4.0
"""Times ln(t + 1): the gains that an arm must have before its index counts, in LDP-UCB-L."""


def ldp_paper_bonus(epsilon: float) -> float:
    """Return what sqrt(ln t / n) is multiplied by in the bonus of LDP-UCB-L: sqrt(2) + sqrt(32) / epsilon."""
    return math.sqrt(2) + math.sqrt(32) / epsilon


def ldp_ucb_l_paper_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat) -> float:
    r"""Return the bound of LDP-UCB-L as its authors run it, which plays an arm with at most 4 ln(t + 1) gains first.

    Proof. The index is :math:`\hat\mu + \sqrt{2 \ln t / n} + \sqrt{32 b^2 \ln t / n}` with noise of scale
    :math:`b = 1/\epsilon`. By Hoeffding the gains stray by the first root with probability at most :math:`t^{-4}`. The
    logarithm of the moment generating function of one draw of noise is :math:`-\ln(1 - b^2 s^2) \le 2 b^2 s^2` for
    :math:`b^2 s^2 \le 1/2`. Chernoff's bound at :math:`s = u / (4 b^2)`, for u the second root, gives
    :math:`e^{-n u^2 / (8 b^2)} = t^{-4}`, and :math:`b^2 s^2 = 2 \ln t / n \le 1/2` asks for :math:`n \ge 4 \ln t`:
    that is what is forced. So `optimistic_bound` holds with c = 2 for the plays by index, and no arm is forced with
    more than :math:`4 \ln T` gains. Without noise nothing is forced, and c = 1.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
    """
    rounds, size = checks.integer("horizon", horizon, at_least=1), checks.epsilon(epsilon)
    if math.isinf(size):
        return ldp_ucb_l_bound(means, rounds, size)
    log = math.log(rounds)
    root, forced = ldp_paper_bonus(size) * math.sqrt(log), min(math.floor(LDP_FORCED * log) + 1, rounds)
    return optimistic_bound(means, rounds, lambda gap: max(plays_until_small(gap, root, 0.0, rounds), forced), 2)


def ldp_ucb_b_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat) -> float:
    r"""Return the bound of LDP-UCB-B, which is UCB on randomized responses.

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \Big( \frac{8 \ln T}{(s \Delta_a)^2} + 1 + \frac{\pi^2}{3} \Big),
              \quad s = \frac{e^\epsilon - 1}{e^\epsilon + 1}

    Proof. A gain g in [0, 1] is released as 1 with probability :math:`(g (e^\epsilon - 1) + 1) / (e^\epsilon + 1)` and
    as 0 otherwise, so to UCB the arms are Bernoulli with gaps :math:`s \Delta_a`, and `ucb_bound` says how often it
    plays them; each time costs :math:`\Delta_a`. Mapping the responses back to the scale of gains, bonus included,
    leaves the order of the indices as it is.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf]; inf gives `ucb_bound`.

    Source: Ren, Zhou, Liu and Shroff (2020), algorithm LDP-UCB-B.
    """
    gaps = gaps_of(means)
    rounds = checks.integer("horizon", horizon, at_least=1)
    kept = math.tanh(checks.epsilon(epsilon) / 2)

    def pulls(gap: float) -> float:
        square = (kept * gap) * (kept * gap)
        return (8 * math.log(rounds) / square if square > 0 else math.inf) + 1 + math.pi**2 / 3

    return regret_of_plays(gaps, [pulls(gap) if gap > 0 else 0.0 for gap in gaps], rounds)
