"""Upper bounds on regret in games that reveal the gains of all arms, at any horizon and with every constant.

K is the number of arms, T the horizon, a a learning rate; all bounds are in units of gain. Gains are fixed in advance
(an oblivious adversary); that of `epoch_leader_bound` is for gains that are independent over the rounds.
"""

import math
from collections.abc import Sequence


def hedge_regret_bound(n_arms: int, horizon: int, learning_rate: float) -> float:
    """Return ln K / a + a T / 8; inf for a = 0 (Cesa-Bianchi and Lugosi 2006, theorem 2.2)."""
    if learning_rate == 0:
        return math.inf
    return math.log(n_arms) / learning_rate + learning_rate * horizon / 8


def lazy_hedge_regret_bound(
    n_arms: int, horizon: int, learning_rate: float, redraw_probability: float, most_draws: int
) -> float:
    """Return Hedge's bound, plus T times the probability that lazy Hedge runs out of draws.

    Until then its arms have Hedge's law. A round wants a fresh draw with a probability of at most `redraw_probability`,
    whatever was played before, so the number of draws is at most binomial.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        learning_rate: a, in 1 / gain.
        redraw_probability: The probability of a fresh draw after a gain of 0.
        most_draws: Number of draws after the first round.
    """
    short = binomial_tail(horizon - 1, redraw_probability, most_draws)
    return hedge_regret_bound(n_arms, horizon, learning_rate) + horizon * short


def binomial_tail(trials: int, probability: float, most: int) -> float:
    """Return the probability of more than `most` successes, for `most` of at least the mean."""
    if most >= trials or probability == 0:
        return 0.0
    if probability >= 1:
        return 1.0
    odds = math.log(probability) - math.log1p(-probability)
    first = most + 1
    log = math.lgamma(trials + 1) - math.lgamma(first + 1) - math.lgamma(trials - first + 1)
    term = math.exp(log + first * odds + trials * math.log1p(-probability))
    total = 0.0
    successes = first
    while successes <= trials and term > total * 1e-17:
        total += term
        term *= (trials - successes) / (successes + 1) * math.exp(odds)
        successes += 1
    return min(1.0, total)


def noisy_hedge_rate(n_arms: int, horizon: int, noise_scale: float) -> float:
    """Return sqrt(ln K / (T (1/8 + b^2))), at most 1 / (2 b), for Laplace noise of scale b on every gain."""
    rate = math.sqrt(math.log(n_arms) / (horizon * (0.125 + noise_scale**2)))
    return min(rate, 0.5 / noise_scale) if noise_scale > 0 else rate


def noisy_hedge_regret_bound(n_arms: int, horizon: int, learning_rate: float, noise_scale: float) -> float:
    r"""Return the bound of Hedge on gains with Laplace noise of scale b, clipped to [-B, 1 + B] with B = b ln T.

    .. math:: \frac{\ln K}{a} + T \Big( \frac a 8 - \frac{\ln(1 - a^2 b^2)}{a} \Big) + \frac{b + 1}{2} [b > 0]

    Derived here. Let w be Hedge's probabilities and Y the clipped noisy gains of a round, independent of w. The
    potential :math:`\ln \sum_i e^{a \sum Y_i} / a` grows by :math:`\ln E_w e^{a Y} / a`, in the mean over the noise at
    most :math:`\ln E_w E e^{a Y} / a` (Jensen). Without clipping :math:`E e^{a Y} = e^{a g} / (1 - a^2 b^2)`, and
    Hoeffding's lemma gives :math:`\ln E_w e^{a g} / a \le E_w g + a / 8`. Clipping adds to the first at most
    :math:`a e^{a g} b e^{-B / b} / 2`, and takes from the comparator's mean at most :math:`e^{-B / b} / 2`, as
    :math:`e^{-B / b} = 1 / T`; over all rounds these are b / 2 and 1 / 2.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        learning_rate: a, in 1 / gain, with a b < 1; otherwise the bound is inf.
        noise_scale: b, in units of gain, at least 0.
    """
    product = learning_rate * noise_scale
    if product >= 1:
        return math.inf
    noise = -math.log1p(-product * product) / learning_rate
    clipped = (noise_scale + 1) / 2 if noise_scale > 0 else 0.0
    return hedge_regret_bound(n_arms, horizon, learning_rate) + horizon * noise + clipped


def epoch_leader_bound(means: Sequence[float], horizon: int, epsilon: float) -> float:
    r"""Return a bound on the pseudo-regret of `EpochLeader` for gains that are independent over the rounds.

    After an epoch of n rounds an arm at a gap :math:`\Delta` is drawn with a probability of at most
    :math:`E \min(1, e^{-\epsilon D / 2})`, with D its distance to the best arm: a sum of n independent numbers in
    [-1, 1] of mean :math:`\Delta`. For every c of at most :math:`\epsilon / 2` that is at most
    :math:`E e^{-c D} \le e^{-n (c \Delta - c^2 / 2)}` (Hoeffding's lemma); c = min(:math:`\Delta`,
    :math:`\epsilon / 2`) is the best. An epoch costs its length times the sum of :math:`\Delta` times that over the
    arms, or the largest gap; the first, before anything is seen, the mean gap. Derived here; the arms may depend on
    each other.

    Args:
        means: The arms' means, at least 2.
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
    """
    gaps = [max(means) - mean for mean in means]
    total = sum(gaps) / len(gaps)
    played, seen = 1, 1
    while played < horizon:
        length = min(played, horizon - played)
        cost = 0.0
        for gap in gaps:
            c = min(gap, epsilon / 2)
            cost += gap * math.exp(-seen * (c * gap - c * c / 2))
        total += length * min(cost, max(gaps))
        seen = length
        played += length
    return total
