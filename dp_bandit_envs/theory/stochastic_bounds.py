"""Upper bounds on the pseudo-regret of stochastic bandit algorithms, at any horizon and with every constant.

All hold for gains in [0, 1] that are independent over rounds, each arm's with one mean. "Played so far" is t; an
index policy plays each arm once and then the arm with the largest index. Each docstring proves its bound, from
Hoeffding's inequality and tails of Laplace noise; none is asymptotic. Algorithms that are not here (KL-UCB, Thompson
sampling, DP-IMED and others) have no bound that a few lines prove.

DP-UCB (Tossou and Dimitrakakis 2016, theorem 3.3) is not here either. Its index has no bonus for the noise, so the
noise must be small beside the ordinary bonus; the proof asks that of the arm to be given up, but it is needed of the
best arm as well, and the proof does not say how often that one is played. Theorem 3.5, for DP-UCB-INT without a bonus
for its noise, has the same gap.

The grid on which sums are released, a thousandth of the noise's scale, is left out of account.
"""

import math
from collections.abc import Callable, Iterable
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.mechanisms.interval_sums import zeta
from dp_bandit_envs.theory.local_bounds import ldp_ucb_b_bound
from dp_bandit_envs.theory.optimism import (
    ZETA_3,
    Means,
    gaps_of,
    optimistic_bound,
    plays_until_small,
    regret_of_plays,
)

Width = Callable[[int, float], float]


def ucb_bound(means: Means, horizon: SupportsIndex) -> float:
    r"""Return UCB's bound :math:`\sum_{a: \Delta_a > 0} \frac{8 \ln T}{\Delta_a} + (1 + \frac{\pi^2}{3}) \Delta_a`.

    The index is :math:`\hat\mu + \sqrt{2 \ln t / n}`. Twice the bonus is at most the gap from
    :math:`n = \lceil 8 \ln T / \Delta^2 \rceil` on; the rest is in `optimistic_bound`, with c = 1 by Hoeffding.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.

    Source: Auer, Cesa-Bianchi and Fischer (2002), theorem 1.
    Differs from the source in: no more than T rounds are shared out, so the bound is never above :math:`T \Delta`.
    """
    return ldp_ucb_b_bound(means, horizon, math.inf)


def dp_ucb_bound_bound(means: Means, horizon: SupportsIndex, width: Width) -> float:
    r"""Return the bound of DP-UCB-BOUND, whose index is :math:`s/n + \sqrt{2 \ln t / n} + w(n, t^{-4})/n`.

    Here s is a counter's noisy sum of n gains, and w a width that its noise exceeds with probability at most
    :math:`t^{-4}`. Proof: Hoeffding and the width make `optimistic_bound` hold with c = 2, and :math:`n_0` is found by
    looking: for n from :math:`2^k` to :math:`2^{k+1} - 1` let W be the width at the last of them, with :math:`T^{-4}`;
    then :math:`2 (\sqrt{2 \ln T / n} + W/n) \le \Delta` is a quadratic inequality in :math:`1/\sqrt n`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        width: The width w for a number of items and a failure probability in (0, 1): the same as in the agent's index.
            Over the items :math:`2^k, ..., 2^{k+1} - 1` it must be largest at the last one. That is so for counters
            whose noise follows the binary digits (hybrid, segment trees, binary) and for widths that never fall.

    Source: Tossou and Dimitrakakis (2016), theorem 3.2.
    Differs from the source in: its :math:`n \ge B (\ln B + 7)` has lost a factor of 2, a gap, the base 2 of a logarithm
        and the second half of the budget, and stands for one width. The proof needs of a width only that noise rarely
        exceeds it, so the smaller one of `laplace_width` gives a smaller bound, for the same reasons.
    """
    rounds = checks.integer("horizon", horizon, at_least=1)
    root = math.sqrt(2 * math.log(rounds))
    blocks = range(rounds.bit_length())
    # Nothing is decided in a game of one round, whose failure probability would be 1.
    widths = [checks.at_least("width", width((2 << k) - 1, float(max(rounds, 2)) ** -4), 0) for k in blocks]

    def enough(gap: float) -> float:
        for k in reversed(blocks):
            count = plays_until_small(gap, root, widths[k], rounds)
            if count > (1 << k):
                return min(count, float(2 << k))
        return 1.0

    return optimistic_bound(means, rounds, enough, 2)


def private_ucb_bound(
    means: Means, horizon: SupportsIndex, width: SupportsFloat, failure_probability: SupportsFloat
) -> float:
    r"""Return the bound of Private-UCB, whose index is :math:`s/n + \sqrt{2 \ln t / n} + \Gamma/n`.

    Proof. Let no noisy sum s of any arm in the whole game be off by more than :math:`\Gamma`, but with a failure
    probability. Without failure `optimistic_bound` holds with c = 1, because only the gains can stray; with it, the
    regret is at most :math:`T \max_a \Delta_a`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        width: The index's :math:`\Gamma`, at least 0.
        failure_probability: With which :math:`\Gamma` may be exceeded at all, in [0, 1]. By the union bound,
            :math:`K T` times that of one sum; `laplace_width` says whether a :math:`\Gamma` is wide enough.

    Source: Mishra and Thakurta (2015), theorem 4 and lemma 5.
    Differs from the source in: the constants, which it does not give; and in expectation, not with high probability.
    """
    rounds = checks.integer("horizon", horizon, at_least=1)
    slope = checks.at_least("width", width, 0)
    failure = checks.in_range("failure_probability", failure_probability, 0, 1)
    root = math.sqrt(2 * math.log(rounds))
    bound = optimistic_bound(means, rounds, lambda gap: plays_until_small(gap, root, slope, rounds), 1)
    worst = rounds * max(gaps_of(means))
    return min(bound + failure * worst, worst)


def dp_ucb_int_bound(
    means: Means, horizon: SupportsIndex, ends: Iterable[int], v: SupportsFloat, slope: SupportsFloat = 3.5
) -> float:
    r"""Return the bound of DP-UCB-INT with a bonus for its noise, which learns at the ends of intervals only.

    .. math:: E[n_a] \le W(\Delta_a) + \sum_{t \ge 2} 2 t \Big( t^{-4} + \frac{t^{-s}}{2} \Big)
              = W(\Delta_a) + 2 (\zeta(3) - 1) + \zeta(s - 1) - 1

    with s the slope and W the first end from which on :math:`2\,\mathrm{bonus}(W, T) \le \Delta_a`. The index, from
    the n gains of an arm's last release, is the noisy mean plus
    :math:`\mathrm{bonus}(n, t) = \sqrt{2 \ln t / n} + s \ln t\, n^{v/2 - 1}`.

    Proof. As in `optimistic_bound`: a mean strays by the first term with probability at most :math:`t^{-4}`, by
    Hoeffding, and its noise, of scale :math:`n^{v/2 - 1}`, by the second with :math:`t^{-s}/2`. An arm's n is one of at
    most t ends. Until its release at W an arm is played at most W times; each play after that is a failure.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        ends: The numbers of gains at which means are released, ascending.
        v: How fast the noise falls, in (1, 1.5].
        slope: s, greater than 2; 0 without noise, and without its term.

    Source: Tossou and Dimitrakakis (2016), theorem 3.5.
    Differs from the source in: the bonus for the noise, without which the theorem does not hold; and the constants.
    """
    gaps = gaps_of(means)
    rounds = checks.integer("horizon", horizon, at_least=1)
    power, s = checks.in_range("v", v, 1, 1.5), checks.at_least("slope", slope, 0)
    log = math.log(rounds)
    reached = [int(end) for end in ends if end <= rounds]
    failures = 2 * (ZETA_3 - 1)
    if s > 0:
        failures += zeta(checks.greater_than("slope", s, 2) - 1) - 1

    def pulls(gap: float) -> float:
        for end in reached:
            if 2 * (math.sqrt(2 * log / end) + s * log * end ** (power / 2 - 1)) <= gap:
                return end + failures
        return float(rounds)

    return regret_of_plays(gaps, [pulls(gap) if gap > 0 else 0.0 for gap in gaps], rounds)


def adap_ucb_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat, alpha: SupportsFloat = 3.1) -> float:
    r"""Return the bound of AdaP-UCB, which plays in episodes that double an arm's count and then forgets.

    .. math:: E[n_a] \le 2 N + \Big(2^{-\alpha} + \tfrac12\Big) \Big( \frac{r}{(1 - r)^2} + \frac{3 r}{1 - r} \Big),
              \quad r = 2^{2 - \alpha}

    with N the smallest power of two from which on :math:`2\,\mathrm{bonus}(N, T) \le \Delta_a`. The index at an
    episode's start, from the n gains of the arm's last episode alone, is :math:`\hat\mu + \mathrm{Lap}(1/(\epsilon n))`
    plus the bonus :math:`\sqrt{\alpha \ln(2t) / (2n)} + \alpha \ln t / (\epsilon n)`.

    Proof. An estimate strays to one side by the bonus with probability at most :math:`c\, t^{-\alpha}`,
    :math:`c = 2^{-\alpha} + 1/2`: Hoeffding for the gains, :math:`e^{-x}/2` for the noise. An arm's count at an
    episode's start is 1, with n = 1, or 2n, and n is a power of two. As long as nothing strays, an episode of arm a
    starts with :math:`n \le N/2` only, and ends with a count of at most 2N. Any other starts after t rounds because the
    best arm's estimate is too low, for one of at most :math:`\lfloor \lg t \rfloor + 1` counts, and is at most t
    rounds long; or because arm a's is too high, and then is as long as its count, and the counts up to t add up to at
    most 2t. So failures cost at most :math:`\sum_{t \ge 2} c\, t^{1 - \alpha} (\lfloor \lg t \rfloor + 3)` rounds. In
    :math:`[2^k, 2^{k+1})` a term is at most :math:`2^{k (1 - \alpha)} (k + 3)`; sum over :math:`k \ge 1`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
        alpha: The index's parameter, greater than 2; the source asks for more than 3. The bound also holds if t is the
            number of the round to come.

    Source: Azize and Basu (2022), AdaP-UCB.
    Differs from the source in: the constants.
    """
    gaps = gaps_of(means)
    rounds = checks.integer("horizon", horizon, at_least=1)
    a = checks.greater_than("alpha", alpha, 2)
    root = math.sqrt(a * math.log(2 * rounds) / 2)
    slope = a * math.log(rounds) / checks.epsilon(epsilon)
    r = math.exp2(2 - a)
    failures = (math.exp2(-a) + 0.5) * (r / (1 - r) ** 2 + 3 * r / (1 - r))

    def pulls(gap: float) -> float:
        power = 1 << (math.ceil(plays_until_small(gap, root, slope, rounds)) - 1).bit_length()
        return 2 * power + failures

    return regret_of_plays(gaps, [pulls(gap) if gap > 0 else 0.0 for gap in gaps], rounds)


def dp_se_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat) -> float:
    r"""Return the bound of DP-SE, successive elimination in epochs that start afresh.

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \sum_{e=1}^{e_a} R_e + \frac{\pi^2}{12} \max_a \Delta_a, \quad
              R_e = \Big\lceil \max \Big( \frac{32}{D^2} \ln \frac{8 K e^2}{\beta},
              \frac{8}{\epsilon D} \ln \frac{4 K e^2}{\beta} \Big) \Big\rceil + 1

    for :math:`D = 2^{-e}`, :math:`\beta = 1/T`, and :math:`e_a` the first epoch with :math:`4 (h + c) < \Delta_a`,
    :math:`h^2 = \ln(8 K e^2/\beta) / (2 R_e)`, :math:`c = \ln(4 K e^2/\beta) / (\epsilon R_e)`. Epoch e plays every
    surviving arm :math:`R_e` times, adds :math:`\mathrm{Lap}(1/(\epsilon R_e))` to its mean, and drops it if the
    largest is more than 2 (h + c) above.

    Proof. The mean of :math:`R_e` gains strays by more than h, and the noise by more than c, with probability at most
    :math:`\beta / (4 K e^2)` each: for all arms and epochs together at most :math:`\beta \pi^2 / 12`, at a cost of at
    most :math:`T \max_a \Delta_a`. Otherwise the best arm is at most 2 (h + c) below any and stays, and an arm with
    :math:`\Delta_a > 4 (h + c)` is more than 2 (h + c) below it and goes. As h and c are below D/8, that is so once
    :math:`D \le \Delta_a`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].

    Source: Sajed and Sheffet (2019), algorithm 2.
    Differs from the source in: the number of all arms K stands in place of the number of survivors.
    """
    gaps = gaps_of(means)
    rounds = checks.integer("horizon", horizon, at_least=1)
    budget = checks.epsilon(epsilon)

    def pulls(gap: float) -> float:
        total, epoch = 0, 0
        while total < rounds:
            epoch += 1
            union = 4 * len(gaps) * epoch * epoch * rounds
            of_gains, of_noise = math.log(2 * union), math.log(union) / budget
            inverse = math.ldexp(1.0, epoch)
            length = max(32 * of_gains * inverse * inverse, 8 * of_noise * inverse)
            if not length < rounds:
                break
            plays = math.ceil(length) + 1
            total += plays
            if 4 * (math.sqrt(of_gains / (2 * plays)) + of_noise / plays) < gap:
                return float(total)
        return float(rounds)

    regret = regret_of_plays(gaps, [pulls(gap) if gap > 0 else 0.0 for gap in gaps], rounds)
    return min(regret + math.pi**2 / 12 * max(gaps), rounds * max(gaps))
