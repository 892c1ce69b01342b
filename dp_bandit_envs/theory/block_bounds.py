"""Upper bounds on the pseudo-regret of algorithms that learn from blocks of gains: AdaP-UCB and DP-SE.

They hold under the conditions stated in `stochastic_bounds`.
"""

import math
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.theory.optimism import Means, gaps_of, plays_until_small, regret_of_plays


def adap_ucb_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat, alpha: SupportsFloat = 3.1) -> float:
    r"""Return the bound of AdaP-UCB, whose episodes double an arm's count and use the last episode's gains only.

    .. math:: E[n_a] \le 2 N + \Big(2^{-\alpha} + \tfrac12\Big) \Big( \frac{r}{(1 - r)^2} + \frac{3 r}{1 - r} \Big),
              \quad r = 2^{2 - \alpha}

    with N the smallest power of two from which on :math:`2\,\mathrm{bonus}(N, T) \le \Delta_a`. The index at an
    episode's start, from the n gains of the arm's last episode alone, is :math:`\hat\mu + \mathrm{Lap}(1/(\epsilon n))`
    plus the bonus :math:`\sqrt{\alpha \ln(2t) / (2n)} + \alpha \ln t / (\epsilon n)`.

    Proof. An estimate is off to one side by the bonus with probability at most :math:`c\, t^{-\alpha}`,
    :math:`c = 2^{-\alpha} + 1/2`: Hoeffding for the gains, :math:`e^{-x}/2` for the noise. An arm's count at an
    episode's start is 1, with n = 1, or 2n, and n is a power of two. As long as no estimate is off, an episode of arm a
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
    horizon = checks.integer("horizon", horizon, at_least=1)
    alpha = checks.greater_than("alpha", alpha, 2)
    root = math.sqrt(alpha * math.log(2 * horizon) / 2)
    slope = alpha * math.log(horizon) / checks.epsilon(epsilon)
    r = math.exp2(2 - alpha)
    failures = (math.exp2(-alpha) + 0.5) * (r / (1 - r) ** 2 + 3 * r / (1 - r))

    def pulls(gap: float) -> float:
        power = 1 << (math.ceil(plays_until_small(gap, root, slope, horizon)) - 1).bit_length()
        return 2 * power + failures

    return regret_of_plays(gaps, [pulls(gap) if gap > 0 else 0.0 for gap in gaps], horizon)


def dp_se_bound(means: Means, horizon: SupportsIndex, epsilon: SupportsFloat) -> float:
    r"""Return the bound of DP-SE: successive elimination, with each epoch using its own gains only.

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \sum_{e=1}^{e_a} R_e + \frac{\pi^2}{12} \max_a \Delta_a, \quad
              R_e = \Big\lceil \max \Big( \frac{32}{D^2} \ln \frac{8 K e^2}{\beta},
              \frac{8}{\epsilon D} \ln \frac{4 K e^2}{\beta} \Big) \Big\rceil + 1

    for :math:`D = 2^{-e}`, :math:`\beta = 1/T`, and :math:`e_a` the first epoch with :math:`4 (h + c) < \Delta_a`,
    :math:`h^2 = \ln(8 K e^2/\beta) / (2 R_e)`, :math:`c = \ln(4 K e^2/\beta) / (\epsilon R_e)`. Epoch e plays every
    surviving arm :math:`R_e` times, adds :math:`\mathrm{Lap}(1/(\epsilon R_e))` to its mean, and drops it if the
    largest is more than 2 (h + c) above.

    Proof. The average of :math:`R_e` gains is off by more than h, and the noise exceeds c, with probability at most
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
    horizon = checks.integer("horizon", horizon, at_least=1)
    epsilon = checks.epsilon(epsilon)

    def pulls(gap: float) -> float:
        total, epoch = 0, 0
        while total < horizon:
            epoch += 1
            union = 4 * len(gaps) * epoch * epoch * horizon
            of_gains, of_noise = math.log(2 * union), math.log(union) / epsilon
            inverse = math.ldexp(1.0, epoch)
            length = max(32 * of_gains * inverse * inverse, 8 * of_noise * inverse)
            if not length < horizon:
                break
            plays = math.ceil(length) + 1
            total += plays
            if 4 * (math.sqrt(of_gains / (2 * plays)) + of_noise / plays) < gap:
                return float(total)
        return float(horizon)

    regret = regret_of_plays(gaps, [pulls(gap) if gap > 0 else 0.0 for gap in gaps], horizon)
    return min(regret + math.pi**2 / 12 * max(gaps), horizon * max(gaps))
