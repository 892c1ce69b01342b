"""Upper bounds on the pseudo-regret of UCB and its private forms, at any horizon and with every constant.

All hold for independent gains in [0, 1] whose mean differs between arms but not between rounds. The number of rounds
played so far is t; an index policy plays each arm once and then the arm with the largest index. Each docstring proves
its bound, from Hoeffding's inequality and the tails of Laplace noise; none is asymptotic. Further bounds
are in `counter_bounds`, `block_bounds` and `local_bounds`. KL-UCB, Thompson sampling, DP-IMED and others have no bound
with a short proof.

DP-UCB (Tossou and Dimitrakakis 2016, theorem 3.3) has none here because its proof has a gap. Its index has no bonus for
the noise, so the noise must be small compared with the ordinary bonus. The proof requires that of the arm to be given
up, but it is needed for the best arm as well, and the proof does not say how often that arm is played. Theorem 3.5, for
DP-UCB-INT without a bonus for its noise, has the same gap.

The bounds ignore the rounding of released sums to a grid of less than a hundredth of the noise.
"""

import math
from collections.abc import Callable, Iterable
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.interval_ends import zeta
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
    Differs from the source in: all arms together get at most T rounds, so the bound is never above :math:`T \Delta`.
    """
    return ldp_ucb_b_bound(means, horizon, math.inf)


def counter_ucb_bound(means: Means, horizon: SupportsIndex, width: Width) -> float:
    r"""Return the bound of UCB on a counter's sums, with index :math:`s/n + \sqrt{2 \ln t / n} + w(n, t^{-4})/n`.

    This is DP-UCB-BOUND. Here s is a counter's noisy sum of n gains, and w a width that its noise exceeds with
    probability at most :math:`t^{-4}`. Proof: by Hoeffding and the width, `optimistic_bound` holds with c = 2, and
    :math:`n_0` is found by search: for n from :math:`2^k` to :math:`2^{k+1} - 1` let W be the width at the last of
    them, with :math:`T^{-4}`; then :math:`2 (\sqrt{2 \ln T / n} + W/n) \le \Delta` is a quadratic inequality in
    :math:`1/\sqrt n`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        width: The width w for a number of items and a failure probability in (0, 1): the same as in the agent's index.
            Over the items :math:`2^k, ..., 2^{k+1} - 1` it must be largest at the last one. That is so for counters
            whose noise follows the binary digits (hybrid, segment trees, binary) and for widths that never fall.

    Source: Tossou and Dimitrakakis (2016), theorem 3.2.
    Differs from the source in: its condition :math:`n \ge B (\ln B + 7)` is for one particular width, and misses a
        factor of 2, a gap, the base 2 of a logarithm and the second half of epsilon. The proof only requires that noise
        rarely exceeds the width, so the smaller width of `laplace_width` gives a smaller bound.
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    root = math.sqrt(2 * math.log(horizon))
    blocks = range(horizon.bit_length())
    # Nothing is decided in a game of one round, whose failure probability would be 1.
    widths = [checks.at_least("width", width((2 << k) - 1, float(max(horizon, 2)) ** -4), 0) for k in blocks]

    def enough(gap: float) -> float:
        for k in reversed(blocks):
            count = plays_until_small(gap, root, widths[k], horizon)
            if count > (1 << k):
                return min(count, float(2 << k))
        return 1.0

    return optimistic_bound(means, horizon, enough, 2)


def private_ucb_bound(
    means: Means, horizon: SupportsIndex, width: SupportsFloat, failure_probability: SupportsFloat
) -> float:
    r"""Return the bound of Private-UCB, whose index is :math:`s/n + \sqrt{2 \ln t / n} + \Gamma/n`.

    Proof. The event of failure is that some noisy sum s of some arm in the game is off by more than :math:`\Gamma`.
    Without failure, `optimistic_bound` holds with c = 1, because only the average gain can be far from its mean. With
    failure, the regret is at most :math:`T \max_a \Delta_a`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        width: The index's :math:`\Gamma`, at least 0.
        failure_probability: Probability that noise exceeds :math:`\Gamma` anywhere in the game, in [0, 1]. By the
            union bound, :math:`K T` times that of one sum; `laplace_width` tests whether a :math:`\Gamma` is enough.

    Source: Mishra and Thakurta (2015), theorem 4 and lemma 5.
    Differs from the source in: the constants, which it does not give; and in expectation, not with high probability.
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    width = checks.at_least("width", width, 0)
    failure_probability = checks.in_range("failure_probability", failure_probability, 0, 1)
    root = math.sqrt(2 * math.log(horizon))
    bound = optimistic_bound(means, horizon, lambda gap: plays_until_small(gap, root, width, horizon), 1)
    worst = horizon * max(gaps_of(means))
    return min(bound + failure_probability * worst, worst)


def dp_ucb_int_bound(
    means: Means, horizon: SupportsIndex, ends: Iterable[int], v: SupportsFloat, slope: SupportsFloat = 3.5
) -> float:
    r"""Return the bound of DP-UCB-INT with a bonus for its noise; its means are released at the ends of intervals.

    .. math:: E[n_a] \le W(\Delta_a) + \sum_{t \ge 2} 2 t \Big( t^{-4} + \frac{t^{-s}}{2} \Big)
              = W(\Delta_a) + 2 (\zeta(3) - 1) + \zeta(s - 1) - 1

    with s the slope and W the first end from which on :math:`2\,\mathrm{bonus}(W, T) \le \Delta_a`. The index, from
    the n gains of an arm's last release, is the noisy mean plus
    :math:`\mathrm{bonus}(n, t) = \sqrt{2 \ln t / n} + s \ln t\, n^{v/2 - 1}`.

    Proof. As in `optimistic_bound`: an average is off by the first term with probability at most :math:`t^{-4}`, by
    Hoeffding, and its noise, of scale :math:`n^{v/2 - 1}`, by the second with :math:`t^{-s}/2`. An arm's n is one of at
    most t ends. Until its release at W an arm is played at most W times; each play after that is a failure.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        ends: The numbers of gains at which means are released, ascending.
        v: How fast the noise falls, in (1, 1.5].
        slope: s, greater than 2; or 0 for no noise, which also drops the last two terms.

    Source: Tossou and Dimitrakakis (2016), theorem 3.5.
    Differs from the source in: the bonus for the noise, without which the theorem does not hold; and the constants.
    """
    gaps = gaps_of(means)
    horizon = checks.integer("horizon", horizon, at_least=1)
    v, slope = checks.in_range("v", v, 1, 1.5), checks.at_least("slope", slope, 0)
    log = math.log(horizon)
    reached = [int(end) for end in ends if end <= horizon]
    failures = 2 * (ZETA_3 - 1)
    if slope > 0:
        failures += zeta(checks.greater_than("slope", slope, 2) - 1) - 1

    def pulls(gap: float) -> float:
        for end in reached:
            if 2 * (math.sqrt(2 * log / end) + slope * log * end ** (v / 2 - 1)) <= gap:
                return end + failures
        return float(horizon)

    return regret_of_plays(gaps, [pulls(gap) if gap > 0 else 0.0 for gap in gaps], horizon)
