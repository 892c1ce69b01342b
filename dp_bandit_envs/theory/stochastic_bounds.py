"""Upper bounds on the pseudo-regret of UCB and its private forms, non-asymptotic, with explicit constants.

All hold for independent gains in [0, 1] with constant means. `means` are the arms' means, at least 2, each in [0, 1],
and `horizon` is the number of rounds T, at least 1. The number of rounds played is t; an index policy plays each arm
once and then the arm with the largest index. Each docstring proves its bound, from Hoeffding's inequality and the tails
of Laplace noise. There are bounds for UCB, for sums of counters and of intervals, for blocks of gains (AdaP-UCB,
AdaC-UCB, DP-SE), for local privacy (LDP-UCB), and for KL-UCB, AdaP-KLUCB and Gaussian-TS;
docs/notes/upper-bounds.md explains why other algorithms have none. The bounds ignore the rounding of released sums to a
grid of less than a hundredth of the noise.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.draws import square
from dp_bandit_envs.privacy.counters import make_counter
from dp_bandit_envs.privacy.counters.counter import laplace_width
from dp_bandit_envs.privacy.interval_ends import zeta
from dp_bandit_envs.theory.argument_ranges import arm_means, checked, function
from dp_bandit_envs.theory.divergences import bernoulli_kl
from dp_bandit_envs.theory.tails import regret_of_plays

Means = Sequence[SupportsFloat]
Width = Callable[[int, float], float]
ZETA_3 = 1.2020569031595942
"""The sum of t^-3 over t = 1, 2, ..."""
LDP_FORCED = 4.0
"""LDP-UCB-L plays an arm first until it has more than this many times ln(t + 1) gains."""


@checked()
def optimistic_bound(means: Means, horizon: int, enough: Callable[[float], float], failure_weight: float) -> float:
    r"""Return a regret bound for any optimistic index: an estimate of the mean from n gains, plus bonus(n, t).

    .. math:: E[n_a] \le n_0(\Delta_a) + 2 c \sum_{t \ge 2} t^{-3} = n_0(\Delta_a) + 2 c (\zeta(3) - 1)

    Proof. Let an estimate from n gains be above its mean by bonus(n, t) or more with probability at most
    :math:`c\, t^{-4}`, and below likewise, and let :math:`2\, \mathrm{bonus}(n, t) \le \Delta_a` for all
    :math:`n \ge n_0` and :math:`t \le T`. Suppose that after t rounds arm a was played :math:`n \ge n_0` times and is
    played again. If its estimate is below :math:`\mu_a + \mathrm{bonus}`, its index is below :math:`\mu^*`; then the
    best arm's index is below :math:`\mu^*` too, so the best arm's estimate is too low. So one of the two estimates is
    off by its bonus, at one of at most t values of n, which has probability at most :math:`2 t \cdot c\, t^{-4}`. (Auer
    et al. 2002 count pairs of values and get :math:`t^{-2}`.) As each arm is played once first, t is at least 2.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        enough: Returns, for a gap, the smallest n >= 1 such that twice the bonus stays at most the gap; at most the
            horizon.
        failure_weight: The factor c of the failure probability.
    """
    failures = 2 * failure_weight * (ZETA_3 - 1)
    return regret_of_gaps(means, horizon, lambda gap: enough(gap) + failures)


def _gaps_of(means: Means) -> list[float]:
    """Return the gap of each arm: the largest mean minus its own."""
    numbers = arm_means(means)
    return [max(numbers) - number for number in numbers]


def _plays_until_small(gap: float, root: float, slope: float, horizon: int) -> float:
    """Return the smallest n >= 1 with 2 (root / sqrt(n) + slope / n) <= gap, or the horizon if that is smaller."""
    inverse = (root + math.sqrt(root * root + 2 * slope * gap)) / gap
    count = inverse * inverse
    return float(max(1, math.ceil(count))) if count < horizon else float(horizon)


@checked()
def regret_of_gaps(means: Means, horizon: int, plays: Callable[[float], float]) -> float:
    """Return `regret_of_plays` with the pulls that a function returns for each gap above 0."""
    gaps = _gaps_of(means)
    most = {gap: plays(gap) if gap > 0 else 0.0 for gap in set(gaps)}
    return regret_of_plays(gaps, [most[gap] for gap in gaps], horizon)


@checked()
def ucb_bound(means: Means, horizon: int) -> float:
    r"""Return UCB's bound :math:`\sum_{a: \Delta_a > 0} \frac{8 \ln T}{\Delta_a} + (1 + \frac{\pi^2}{3}) \Delta_a`.

    The index is :math:`\hat\mu + \sqrt{2 \ln t / n}`. Twice the bonus is at most the gap from
    :math:`n = \lceil 8 \ln T / \Delta^2 \rceil` on; the rest follows from `optimistic_bound`, with c = 1 by Hoeffding.

    Source: Auer, Cesa-Bianchi and Fischer (2002), theorem 1.
    Differs from the source in: all arms together get at most T rounds, so the bound is never above :math:`T \Delta`.
    """
    return ldp_ucb_b_bound(means, horizon, math.inf)


@checked()
def ucb_max_n_bound(means: Means, horizon: int, choices: int = 1) -> float:
    r"""Return the bound of UCB-MaxN on graphs on which every arm reveals itself: C times as many plays as for UCB.

    .. math:: E[n_j] \le C N + 2 (\zeta(3) - 1), \quad N = \lceil 8 \ln T / \Delta_j^2 \rceil

    Proof. UCB chooses arm i, and arm j is played, whose mean is the largest among the arms that reveal i. Let both have
    N gains or more. If the best arm's index is at least :math:`\mu^*`, then so is arm i's, and half the gap of j covers
    its bonus; so arm j's mean, which is no less than arm i's, is at least :math:`\mu_j + \Delta_j / 2`: too high by
    its own bonus or more. So one of the estimates of j and of the best arm is off, as in `optimistic_bound` with c = 1.

    Every play of j reveals j, and on one fixed graph all i that it is played for: C = 1. Where graphs change, it
    reveals the i that it is played for, N times at most for each i before both have N gains: C is the number of arms.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        choices: C, at least 1.

    Source: Caron, Kveton, Lelarge and Bhagat (2012), for UCB-MaxN.
    Differs from the source in: the proof and the constants; no clique cover.
    """
    root = math.sqrt(2 * math.log(horizon))
    # At least 2 plays of j, so that t is at least 2.
    return optimistic_bound(
        means, horizon, lambda gap: choices * max(2.0, _plays_until_small(gap, root, 0.0, horizon)), 1
    )


@checked(width=function)
def counter_ucb_bound(means: Means, horizon: int, width: Width) -> float:
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
            Over the items :math:`2^k, ..., 2^{k+1} - 1` it must be largest at the last item. This holds for counters
            whose noise follows the binary digits (hybrid, segment trees, binary) and for non-decreasing widths.

    Source: Tossou and Dimitrakakis (2016), theorem 3.2.
    Differs from the source in: the source's condition :math:`n \ge B (\ln B + 7)` is for one particular width, and
    misses a factor of 2, a gap, the base 2 of a logarithm and the second half of epsilon. The proof only requires that
    noise rarely exceeds the width, so the smaller `laplace_width` gives a smaller bound.
    """
    root = math.sqrt(2 * math.log(horizon))
    blocks = range(horizon.bit_length())
    # Nothing is decided in a game of one round, whose failure probability would be 1.
    widths = [checks.at_least("width", width((2 << k) - 1, float(max(horizon, 2)) ** -4), 0) for k in blocks]

    def enough(gap: float) -> float:
        for k in reversed(blocks):
            count = _plays_until_small(gap, root, widths[k], horizon)
            if count > (1 << k):
                return min(count, float(2 << k))
        return 1.0

    return optimistic_bound(means, horizon, enough, 2)


@checked()
def named_counter_bound(means: Means, horizon: int, counter: str, epsilon: float, **options: Any) -> float:
    """Return `counter_ucb_bound` with a counter's width from the agents' `counter_width`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        counter: `"hybrid"`, `"segment-trees"` or `"binary"`, whose noise follows the binary digits.
        epsilon: Privacy parameter of the counter, in (0, inf].
        options: Further arguments of the counter.
    """
    noise = make_counter(counter, epsilon=epsilon, horizon=horizon, **options)
    # The index looks its width up at the end of a step of t, where t^-4 is up to half as large.
    return counter_ucb_bound(means, horizon, lambda n, failure: laplace_width(noise.scales(n), failure / 2))


@checked()
def private_ucb_bound(means: Means, horizon: int, width: float, failure_probability: float) -> float:
    r"""Return the bound of Private-UCB, whose index is :math:`s/n + \sqrt{2 \ln t / n} + \Gamma/n`.

    Proof. The event of failure is that some noisy sum s of some arm in the game is off by more than :math:`\Gamma`.
    Without failure, `optimistic_bound` holds with c = 1, because only the average gain can be far from its mean. With
    failure, the regret is at most :math:`T \max_a \Delta_a`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        width: The index's :math:`\Gamma`, at least 0.
        failure_probability: Probability that noise exceeds :math:`\Gamma` anywhere in the game, in [0, 1]. By the union
            bound, :math:`K T` times the probability for one sum; `laplace_width` tests whether a :math:`\Gamma`
            suffices.

    Source: Mishra and Thakurta (2015), theorem 4 and lemma 5.
    Differs from the source in: explicit constants; in expectation, not with high probability.
    """
    root = math.sqrt(2 * math.log(horizon))
    bound = optimistic_bound(means, horizon, lambda gap: _plays_until_small(gap, root, width, horizon), 1)
    worst = horizon * max(_gaps_of(means))
    return min(bound + failure_probability * worst, worst)


@checked()
def private_ucb_gamma(n_arms: int, horizon: int, epsilon: float, failure_probability: float) -> float:
    r"""Return :math:`\Gamma = K \ln^2 T \ln(K T \ln T / \gamma) / \epsilon`, Private-UCB's allowance for noise.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1; ln T counts as at least 1.
        epsilon: Privacy parameter of all K counters together, in (0, inf].
        failure_probability: :math:`\gamma`, in (0, 1].

    Source: Mishra and Thakurta (2015), algorithm 1.
    """
    log = max(math.log(horizon), 1.0)
    return n_arms * log**2 / epsilon * math.log(n_arms * horizon * log / failure_probability)


@checked()
def private_ucb_paper_bound(means: Means, horizon: int, epsilon: float, failure_probability: float) -> float:
    """Return `private_ucb_bound` with the paper's `private_ucb_gamma`; inf where it is too small for the noise.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter of all K counters together, in (0, inf]; each counter has epsilon / K.
        failure_probability: Probability that noise exceeds the allowance anywhere in the game, in (0, 1].

    Source: Mishra and Thakurta (2015), theorem 4.
    """
    n_arms = len(arm_means(means))
    noise = make_counter("binary", epsilon=epsilon / n_arms, horizon=horizon)
    # Of all counts up to T, the last 2^k - 1 needs the most nodes.
    noisiest = noise.scales((1 << (horizon + 1).bit_length() - 1) - 1)
    gamma = private_ucb_gamma(n_arms, horizon, epsilon, failure_probability)
    share = failure_probability / (n_arms * horizon)
    if not (share > 0 and laplace_width(noisiest, share) <= gamma):
        return math.inf
    return private_ucb_bound(means, horizon, gamma, failure_probability if gamma > 0 else 0.0)


@checked()
def private_ucb_default_bound(means: Means, horizon: int, epsilon: float) -> float:
    r"""Return the bound of Private-UCB with :math:`\gamma = t^{-4}`: `optimistic_bound` with c = 2 and its width at T.

    Proof. The noise of a sum comes from at most m = ceil(lg(T + 1)) nodes of scale b each. By Chernoff's bound at
    :math:`s = 1 / (\sqrt 2 b)`, where a node's moment generating function is 2, it exceeds
    :math:`\sqrt 2 b (m \ln 2 + 4 \ln t)` with probability at most :math:`t^{-4}`. This threshold and the width
    :math:`\Gamma_t` are linear in ln t, so the width covers it for all t from 2 to T if it does so at both ends.
    Otherwise, as in games of a few rounds, T times the largest gap is returned.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter of all K counters together, in (0, inf]; each counter has epsilon / K.
    """
    gaps = _gaps_of(means)
    if math.isinf(epsilon):
        return ucb_bound(means, horizon)
    noise = make_counter("binary", epsilon=epsilon / len(gaps), horizon=horizon)
    scales = noise.scales((1 << (horizon + 1).bit_length() - 1) - 1)
    nodes, scale = sum(number for _, number in scales), max(scale for scale, _ in scales)

    def width(nats: float) -> float:
        slope = 4 * len(gaps) * max(math.log(horizon), 1.0) ** 2 / epsilon
        return private_ucb_gamma(len(gaps), horizon, epsilon, 1.0) + slope * nats

    for nats in (math.log(2), math.log(max(horizon, 2))):
        if math.sqrt(2) * scale * (nodes * math.log(2) + 4 * nats) > width(nats):
            return horizon * max(gaps)
    root, reach = math.sqrt(2 * math.log(horizon)), width(math.log(horizon))
    return optimistic_bound(means, horizon, lambda gap: _plays_until_small(gap, root, reach, horizon), 2)


@checked()
def kl_ucb_bound(means: Means, horizon: int) -> float:
    r"""Return the bound of KL-UCB at level ln t, for gains in [0, 1].

    .. math:: E[n_a] \le N + \frac{e^{-N k}}{1 - e^{-k}}
              + \sum_{t=2}^T \min \Big( 1, \frac{e \lceil \ln^2 t \rceil}{t} \Big), \\
              N = \Big\lceil \frac{\ln T}{\mathrm{kl}(x, \mu^*)} \Big\rceil, \quad k = \mathrm{kl}(x, \mu_a)

    for any x between :math:`\mu_a` and :math:`\mu^*`; the best of 19 is taken. The last term makes it of order
    :math:`\ln^3 T`: the level is ln t alone, without the 3 ln ln t of the source's theorem.

    Proof. Let arm a be played after t rounds with n >= N gains. If the best arm's index is below :math:`\mu^*`, then
    its divergence from :math:`\mu^*` exceeds ln t for some count up to t, with probability at most
    :math:`e \lceil \ln^2 t \rceil e^{-\ln t}` (the source's theorem 10 at delta = ln t). Otherwise arm a's index is at
    least :math:`\mu^*`, so :math:`\mathrm{kl}(\hat\mu, \mu^*) \le \ln T / n`, and its mean of n gains is at least x.
    Chernoff: probability at most :math:`e^{-n k}`; and there is one play for each n.

    Source: Garivier and Cappé (2011), theorem 10 and the proof of theorem 2.
    """
    numbers, gaps = arm_means(means), _gaps_of(means)
    best, log, low = max(numbers), math.log(horizon), _best_arm_too_low(horizon)

    def pulls(mean: float, x: float) -> float:
        least = max(1, math.ceil(log / bernoulli_kl(x, best)))
        rate = bernoulli_kl(x, mean)
        return least + math.exp(-least * rate) / -math.expm1(-rate) + low

    def fewest(mean: float, gap: float) -> float:
        inner = [x for share in range(1, 20) if mean < (x := mean + gap * share / 20) < best]
        return min((pulls(mean, x) for x in inner), default=float(horizon))

    return regret_of_plays(
        gaps, [fewest(*pair) if pair[1] > 0 else 0.0 for pair in zip(numbers, gaps, strict=True)], horizon
    )


@checked()
def gaussian_ts_bound(means: Means, horizon: int, variance: float = 1.0, pulls: int = 0) -> float:
    r"""Return the bound of Gaussian-TS and Tuned-TS, for any :math:`\mu_a < x < y < \mu^*`; the best of 25 pairs.

    With draws of variance c / (n + 1), :math:`c \ge 1`, after b pulls of each arm, and any :math:`N \ge \max(b, 1)`,

    .. math:: E[n_a] \le \sum_{n=b}^{T-1} h_n + N + T \Phi\Big(-(y - x) \sqrt{\frac{N + 1}{c}}\Big) +
              \frac{e^{-2 (\max(b, 1) - 1) (x - \mu_a)^2}}{e^{2 (x - \mu_a)^2} - 1}, \\
              h_n = \int_0^\infty \Big( \frac{1}{\Phi(-u)} - 1 \Big) 4 v e^{-2 v^2} dv, \quad
              u = \frac{1}{\sqrt c} \Big( \frac{y - n (\mu^* - y)}{\sqrt{n + 1}} + v \Big)

    Args:
        means: The arms' means.
        horizon: T.
        variance: c; below 1 the bound is that of the worst arm in every round, because :math:`h_n` may be infinite.
        pulls: b.

    Proof. Let p be the probability that the best arm's draw is above y. If arm a is played with a draw of at most y,
    all draws are at most y. Given the other arms' draws, this is at most 1 / p - 1 times as likely as playing the best
    arm instead. So the expected number of such rounds is at most the sum of E(1 / p - 1) over the best arm's counts n,
    from b on.
    If its n gains are W below their mean, :math:`1 / p = 1 / \Phi(-u)` with :math:`W / \sqrt{n + 1}` for v, and W
    exceeds v sqrt(n) with probability at most :math:`e^{-2 v^2}` (Hoeffding). This gives :math:`h_n`, which decreases
    in n. Other plays of arm a with draws have a mean above x, the last term (Hoeffding); or fewer than N gains, as have
    the b pulls; or else a draw more than y - x above its mean.

    Source: the scheme of Agrawal and Goyal (2013), theorem 2.
    Differs from the source in: explicit constants.
    """
    deviation = math.sqrt(variance)
    best, shares = max(arm_means(means)), (0.06, 0.12, 0.18, 0.25, 0.32) if deviation >= 1 else ()

    def plays(gap: float) -> float:
        bounds = [float(horizon)]
        for below in shares:
            waits = _rounds_below(best - gap * below, gap * below, horizon, deviation, pulls)
            for above in shares if waits < horizon else ():
                off = 2 * (gap * above) ** 2
                fewer = _fewer_than_enough(gap * (1 - below - above) / deviation, horizon, max(pulls, 1))
                high = math.exp(-(max(pulls, 1) - 1) * off) / math.expm1(off) if off > 0 else math.inf
                bounds.append(waits + fewer + high)
        return min(bounds)

    return regret_of_gaps(means, horizon, plays)


def _fewer_than_enough(between: float, horizon: int, least: int) -> float:
    """Return the least N + T Phi(-between sqrt(N + 1)) over N >= `least`; its second term is convex in N."""

    def draws(number: int) -> float:
        return horizon * math.erfc(between * math.sqrt((number + 1) / 2)) / 2

    low, high = least, max(least, horizon)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if draws(middle) - draws(middle + 1) <= 1 else (middle + 1, high)
    return low + draws(low)


def _rounds_below(y: float, gap: float, horizon: int, deviation: float, pulls: int) -> float:
    """Return a bound on the sum of h_n of `gaussian_ts_bound`, in growing steps of n; h_n does not increase."""
    # Each step of v at its right end, where 1 / Phi is largest, with all the weight of the step.
    steps = [(math.exp(-2 * (v / 96) ** 2) - math.exp(-2 * ((v + 1) / 96) ** 2), (v + 1) / 96) for v in range(576)]
    total, n = 0.0, pulls
    while n < horizon and total < horizon:
        start, after = (y - n * gap) / math.sqrt(n + 1), min(horizon, n + 1 + n // 24)
        most = math.fsum(weight * (2 / math.erfc((start + v) / (math.sqrt(2) * deviation)) - 1) for weight, v in steps)
        if most * (horizon - n) < 1e-3:
            return total + most * (horizon - n)
        total, n = total + most * (after - n), after
    return total


def _best_arm_too_low(horizon: int) -> float:
    """Return a bound on the sum of min(1, e ceil(ln^2 t) / t) over t = 2, ..., T; its tail by an integral."""
    summed = min(horizon, 2**12)
    total = math.fsum(min(1.0, math.e * math.ceil(math.log(t) ** 2) / t) for t in range(2, summed + 1))
    low, high = math.log(summed), math.log(horizon)
    return total + math.e * ((high**3 - low**3) / 3 + high - low)


@checked()
def dp_ucb_int_bound(means: Means, horizon: int, ends: Iterable[int], v: float, slope: float = 3.5) -> float:
    r"""Return the bound of DP-UCB-INT with a bonus for its noise; its means are released at the ends of intervals.

    .. math:: E[n_a] \le W(\Delta_a) + \sum_{t \ge 2} 2 t \Big( t^{-4} + \frac{t^{-s}}{2} \Big)
              = W(\Delta_a) + 2 (\zeta(3) - 1) + \zeta(s - 1) - 1

    with s the slope and W the first end such that :math:`2\,\mathrm{bonus}(W, T) \le \Delta_a` from there on. The
    index, from the n gains of an arm's last release, is the noisy mean plus
    :math:`\mathrm{bonus}(n, t) = \sqrt{2 \ln t / n} + s \ln t\, n^{v/2 - 1}`.

    Proof. As in `optimistic_bound`: an average is off by the first term with probability at most :math:`t^{-4}`, by
    Hoeffding, and its noise, of scale :math:`n^{v/2 - 1}`, by the second with :math:`t^{-s}/2`. An arm's n takes at
    most t values, the ends. Until its release at W an arm is played at most W times; each play after that is a failure.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        ends: The numbers of gains after which means are released, ascending.
        v: Exponent of the noise's decay, in (1, 1.5].
        slope: s, greater than 2; or 0 for no noise, which also drops the last two terms.

    Source: Tossou and Dimitrakakis (2016), theorem 3.5.
    Differs from the source in: a bonus for the noise, without which the theorem is false; explicit constants.
    """
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

    return regret_of_gaps(means, horizon, pulls)


@checked()
def adap_ucb_bound(means: Means, horizon: int, epsilon: float, alpha: float = 3.1) -> float:
    r"""Return the bound of AdaP-UCB, whose episodes double an arm's count and use the last episode's gains only.

    .. math:: E[n_a] \le 2 N + \Big(2^{-\alpha} + \tfrac12\Big) \Big( \frac{r}{(1 - r)^2} + \frac{3 r}{1 - r} \Big),
              \quad r = 2^{2 - \alpha}

    with N the smallest power of two such that :math:`2\,\mathrm{bonus}(N, T) \le \Delta_a` from there on. The index at
    an episode's start, from the n gains of the arm's last episode alone, is
    :math:`\hat\mu + \mathrm{Lap}(1/(\epsilon n))` plus the bonus
    :math:`\sqrt{\alpha \ln(2t) / (2n)} + \alpha \ln t / (\epsilon n)`.

    Proof. An estimate is off to one side by the bonus with probability at most :math:`c\, t^{-\alpha}`,
    :math:`c = 2^{-\alpha} + 1/2`: Hoeffding for the gains, :math:`e^{-x}/2` for the noise. An arm's count at an
    episode's start is 1, with n = 1, or 2n, and n is a power of two. As long as no estimate is off, an episode of arm a
    starts with :math:`n \le N/2` only, and ends with a count of at most 2N. Any other episode starts after t rounds for
    one of two reasons. Either the best arm's estimate is too low, at one of at most :math:`\lfloor \lg t \rfloor + 1`
    counts; then it is at most t rounds long. Or arm a's estimate is too high; then it is as long as its count, and the
    counts up to t add up to at most 2t. So failures cost at most
    :math:`\sum_{t \ge 2} c\, t^{1 - \alpha} (\lfloor \lg t \rfloor + 3)` rounds. In :math:`[2^k, 2^{k+1})` a term is at
    most :math:`2^{k (1 - \alpha)} (k + 3)`; sum over :math:`k \ge 1`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
        alpha: The index's parameter, greater than 2; the source asks for more than 3. The bound also holds if t is the
            number of the round to come.

    Source: Azize and Basu (2022), AdaP-UCB.
    Differs from the source in: the constants.
    """
    enough = _plays_with_laplace(horizon, epsilon, alpha, 2.0)
    return _episodes_bound(means, horizon, alpha, math.exp2(-alpha) + 0.5, enough)


@checked()
def adac_ucb_bound(means: Means, horizon: int, deviation: float, alpha: float = 3.1) -> float:
    r"""Return the bound of AdaC-UCB: the bound of AdaP-UCB with c = 1 and another bonus.

    The bonus is :math:`\sqrt{(1 / (2 n) + 2 \sigma^2 / n^2) \alpha \ln t}` for a mean of n gains with normal noise of
    deviation :math:`\sigma / n`. Such a mean is sub-Gaussian with variance :math:`1 / (4 n) + \sigma^2 / n^2`, so it is
    off to one side by the bonus with probability at most :math:`t^{-\alpha}`, and c = 1. The rest is as for AdaP-UCB.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        deviation: The standard deviation sigma of the noise in a sum, at least 0.
        alpha: The index's parameter, greater than 2.

    Source: Azize and Basu (2023), AdaC-UCB, of which only the abstract was at hand; index and constants are our own.
    """
    variance, nats = square(deviation), alpha * math.log(horizon)

    def enough(gap: float) -> float:
        # (1 / (2 n) + 2 sigma^2 / n^2) alpha ln T <= gap^2 / 4 is a quadratic inequality in n.
        if nats == 0.0:
            return 1.0
        share = gap * gap / (4 * nats)
        count = (0.5 + math.sqrt(0.25 + 8 * variance * share)) / (2 * share) if share > 0 else math.inf
        return float(max(1, math.ceil(count))) if count < horizon else float(horizon)

    return _episodes_bound(means, horizon, alpha, 1.0, enough)


@checked()
def adap_klucb_bound(means: Means, horizon: int, epsilon: float, alpha: float = 3.1) -> float:
    r"""Return the bound of AdaP-KLUCB: the bound of AdaP-UCB with ln T for ln(2 T), and with c = 3/2.

    Proof. The index is the largest q with :math:`n \, \mathrm{kl}(\text{clip}(\hat\mu + Z + w), q) \le \alpha \ln t`,
    for noise Z of scale :math:`1/(\epsilon n)` and :math:`w = \alpha \ln t / (\epsilon n)`. It is below the mean only
    if Z < -w, with probability at most :math:`t^{-\alpha}/2`, or :math:`n \, \mathrm{kl}(\hat\mu, \mu) > \alpha \ln t`
    with :math:`\hat\mu < \mu`, with :math:`t^{-\alpha}` by Chernoff's bound. By Pinsker's inequality the index is at
    most :math:`\hat\mu + Z + w + \sqrt{\alpha \ln t / (2 n)}`, or just the root if the mean is clipped at 0. So it is
    above the mean by 2 w plus the root only with the same probabilities. The rest is as for AdaP-UCB.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
        alpha: The index's parameter, greater than 2.

    Source: Azize and Basu (2022), AdaP-KLUCB.
    Differs from the source in: the constants.
    """
    return _episodes_bound(means, horizon, alpha, 1.5, _plays_with_laplace(horizon, epsilon, alpha, 1.0))


def _plays_with_laplace(horizon: int, epsilon: float, alpha: float, factor: float) -> Callable[[float], float]:
    """Return for a gap from which n on twice the bonus is at most the gap, with ln(factor t) under its root."""
    root = math.sqrt(alpha * math.log(factor * horizon) / 2)
    slope = alpha * math.log(horizon) / epsilon
    return lambda gap: _plays_until_small(gap, root, slope, horizon)


def _episodes_bound(means: Means, horizon: int, alpha: float, weight: float, enough: Callable[[float], float]) -> float:
    """Return the bound of `adap_ucb_bound` for this c, and the n from which on twice the bonus is at most a gap."""
    r = math.exp2(2 - alpha)
    failures = weight * (r / (1 - r) ** 2 + 3 * r / (1 - r))

    def pulls(gap: float) -> float:
        return 2 * (1 << (math.ceil(enough(gap)) - 1).bit_length()) + failures

    return regret_of_gaps(means, horizon, pulls)


@checked()
def dp_se_bound(means: Means, horizon: int, epsilon: float) -> float:
    r"""Return the bound of DP-SE: successive elimination, with each epoch using its own gains only.

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \sum_{e=1}^{e_a} R_e + \frac{\pi^2}{12} \max_a \Delta_a, \quad
              R_e = \Big\lceil \max \Big( \frac{32}{D^2} \ln \frac{8 K e^2}{\beta},
              \frac{8}{\epsilon D} \ln \frac{4 K e^2}{\beta} \Big) \Big\rceil + 1

    for :math:`D = 2^{-e}`, :math:`\beta = 1/T`, and :math:`e_a` the first epoch with :math:`4 (h + c) < \Delta_a`,
    :math:`h^2 = \ln(8 K e^2/\beta) / (2 R_e)`, :math:`c = \ln(4 K e^2/\beta) / (\epsilon R_e)`. Epoch e plays every
    surviving arm :math:`R_e` times, adds :math:`\mathrm{Lap}(1/(\epsilon R_e))` to its mean, and drops it if the
    largest mean is more than 2 (h + c) above.

    Proof. The average of :math:`R_e` gains is off by more than h, and the noise exceeds c, with probability at most
    :math:`\beta / (4 K e^2)` each: for all arms and epochs together at most :math:`\beta \pi^2 / 12`, at a cost of at
    most :math:`T \max_a \Delta_a`. Otherwise the best arm is at most 2 (h + c) below any other and stays, and an arm
    with :math:`\Delta_a > 4 (h + c)` is more than 2 (h + c) below it and is dropped. As h and c are below D/8, this
    happens once :math:`D \le \Delta_a`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].

    Source: Sajed and Sheffet (2019), algorithm 2.
    Differs from the source in: the number of all arms K instead of the number of survivors.
    """
    gaps = _gaps_of(means)

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

    regret = regret_of_gaps(means, horizon, pulls)
    return min(regret + math.pi**2 / 12 * max(gaps), horizon * max(gaps))


@checked()
def ldp_laplace_bonus(epsilon: float) -> tuple[float, float]:
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
    Differs from the source in: the second term. A square root alone does not cover the noise of a few gains: the noise
    of one gain exceeds 4 ln t / epsilon, which is not of order sqrt(ln t), with probability t^-4 / 2. The source forces
    plays instead, see `ldp_ucb_l_paper_bound`.
    """
    slope = 4 / epsilon
    return 2 + slope * slope, slope


@checked()
def ldp_ucb_l_bound(means: Means, horizon: int, epsilon: float) -> float:
    """Return the bound of LDP-UCB-L, improved: `optimistic_bound` with c = 1 for the bonus of `ldp_laplace_bonus`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
    """
    variance, slope = (
        (factor * math.log(horizon) for factor in ldp_laplace_bonus(epsilon)) if horizon > 1 else (0.0, 0.0)
    )
    return optimistic_bound(means, horizon, lambda gap: _plays_until_small(gap, math.sqrt(variance), slope, horizon), 1)


@checked()
def ldp_paper_bonus(epsilon: float) -> float:
    """Return the factor of sqrt(ln t / n) in the bonus of LDP-UCB-L: sqrt(2) + sqrt(32) / epsilon."""
    return math.sqrt(2) + math.sqrt(32) / epsilon


@checked()
def ldp_ucb_l_paper_bound(means: Means, horizon: int, epsilon: float) -> float:
    r"""Return the bound of LDP-UCB-L as in the paper: arms with at most 4 ln(t + 1) gains are played first.

    Proof. The index is :math:`\hat\mu + \sqrt{2 \ln t / n} + \sqrt{32 b^2 \ln t / n}` with noise of scale
    :math:`b = 1/\epsilon`. By Hoeffding the average gain is off by the first root with probability at most
    :math:`t^{-4}`. The logarithm of the moment generating function of one draw of noise is
    :math:`-\ln(1 - b^2 s^2) \le 2 b^2 s^2` for :math:`b^2 s^2 \le 1/2`. Chernoff's bound at :math:`s = u / (4 b^2)`,
    for u the second root, gives :math:`e^{-n u^2 / (8 b^2)} = t^{-4}`, and :math:`b^2 s^2 = 2 \ln t / n \le 1/2`
    requires :math:`n \ge 4 \ln t`, which the forced plays ensure. So `optimistic_bound` holds with c = 2 for the plays
    by index, and no arm with more than :math:`4 \ln T` gains is forced. Without noise no plays are forced, and c = 1.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
    """
    if math.isinf(epsilon):
        return ldp_ucb_l_bound(means, horizon, epsilon)
    log = math.log(horizon)
    root, forced = ldp_paper_bonus(epsilon) * math.sqrt(log), min(math.floor(LDP_FORCED * log) + 1, horizon)
    return optimistic_bound(means, horizon, lambda gap: max(_plays_until_small(gap, root, 0.0, horizon), forced), 2)


@checked()
def ldp_ucb_b_bound(means: Means, horizon: int, epsilon: float) -> float:
    r"""Return the bound of LDP-UCB-B, which is UCB on randomized responses.

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \Big( \frac{8 \ln T}{(s \Delta_a)^2} + 1 + \frac{\pi^2}{3} \Big),
              \quad s = \frac{e^\epsilon - 1}{e^\epsilon + 1}

    Proof. A gain g in [0, 1] is released as 1 with probability :math:`(g (e^\epsilon - 1) + 1) / (e^\epsilon + 1)` and
    as 0 otherwise, so UCB meets Bernoulli arms with gaps :math:`s \Delta_a`. `ucb_bound` bounds how often it plays
    them, and each play costs :math:`\Delta_a`. Mapping the responses, bonus included, back to the scale of gains does
    not change the order of the indices.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf]; inf gives `ucb_bound`.

    Source: Ren, Zhou, Liu and Shroff (2020), algorithm LDP-UCB-B.
    """
    kept = math.tanh(epsilon / 2)

    def pulls(gap: float) -> float:
        square = (kept * gap) * (kept * gap)
        return (8 * math.log(horizon) / square if square > 0 else math.inf) + 1 + math.pi**2 / 3

    return regret_of_gaps(means, horizon, pulls)
