r"""Upper bounds on the pseudo-regret of Thompson sampling with Beta posteriors, on exact and on noisy sums.

They hold at any horizon, with explicit constants, for independent gains in [0, 1] with constant means. An arm whose
posterior is made of a sum s of n gains is drawn from Beta(1 + s, 1 + n - s), also for fractions s. Take y below the
best mean :math:`\mu^*`, and call p(s) the chance that such a draw of the best arm exceeds y.

**Waits.** Where an arm is played and no draw exceeds y, the best arm would be played instead, given the draws of all
others, at least p / (1 - p) times as often. A play of the best arm moves its count on, so on average there are at most
:math:`W_y = \sum_n E(1 / p(S_n) - 1)` such rounds, for the sum :math:`S_n` of n of its gains (Agrawal and Goyal 2013).

**Fractions.** In terms of a draw's log-odds L, the posterior at s is a log-concave density times :math:`e^{s L}`. So
the second derivative of ln p(s) is the variance of L given that the draw exceeds y, less the variance of L, which is at
most 0 (Heckman and Honoré 1990). So 1 / p is convex, and E(1 / p) is largest where gains are coins (Hoeffding 1963).
There p(s) is the chance that n + 1 coins of mean y show at most s heads.

**Draws far above.** For a / (a + b) < y a draw of Beta(a, b) exceeds y with probability at most
:math:`e^{-(a + b)\,\mathrm{kl}(a / (a + b), y)}`: Chernoff's bound for (1 - y) X - y Y, with two gamma variables X, Y.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters import make_counter
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.theory.argument_ranges import checked
from dp_bandit_envs.theory.divergences import bernoulli_kl
from dp_bandit_envs.theory.stochastic_bounds import Means
from dp_bandit_envs.theory.tails import SHARES, bernoulli_kls, counts_to, log_tails, regret_with_waits

EXACT_COUNTS = 1024
"""Counts n for which E(1 / p(S_n)) is computed term by term."""
ABOVE = (0.08, 0.13, 0.2, 0.28, 0.36)
"""Where x is, in gaps above the arm's own mean."""
TINY = 1e-280
"""A chance below it is not divided by."""
NEGLIGIBLE = 0.02
"""So small a rest of a sum needs no further exact terms."""


@checked()
def ts_bound(means: Means, horizon: int, choices: int = 1) -> float:
    r"""Return the bound of TS, for any :math:`\mu_a < x < y < \mu^*`; the best of 35 pairs is taken.

    .. math:: E[n_a] \le W_y + N + T e^{-(N + 2)\, \mathrm{kl}(q_N, y)}
              + \frac{e^{-N k}}{1 - e^{-k}}, \quad
              q_N = \max \Big( x, \frac{1 + x N}{N + 2} \Big), \quad k = \mathrm{kl}(x, \mu_a)

    Proof. Rounds with no draw above y wait for the best arm: W. There are N plays of arm a with fewer than N gains. In
    others the mean of its n gains is above x, for each n with probability at most :math:`e^{-n k}` (Chernoff); or it is
    at most x and the draw exceeds y: then the posterior's mean is at most q, and :math:`(n + 2)\,\mathrm{kl}(q, y)`
    grows with n.

    **TS-N** needs no other proof on graphs on which arms reveal their own gains: only plays have to count.
    **TS-MaxN** plays arm j, the best by mean among those that reveal the arm i with the largest draw. A play of j for i
    with N gains of each or more has a draw of i above y at a mean of at most x; or a mean of i, and so of j, above x.
    There are K choices i, so that N and the term with T count K times.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        choices: 1; K for TS-MaxN on graphs.

    Source: Agrawal and Goyal (2013), theorem 1, for coins; Tossou, Dimitrakakis and Dubhashi (2017).
    Differs from the source in: the constants, the proof for fractions, and that for TS-MaxN.
    """
    counts = counts_to(horizon)

    def high(mean: float, x: float) -> FloatArray:
        rate = bernoulli_kl(x, mean)
        tails: FloatArray = np.exp(-counts * rate) / -math.expm1(-rate)
        return tails

    def waits(best: float, y: float) -> float:
        return _waits(best, y, horizon)

    return _best_levels(means, horizon, counts, choices * counts, choices, waits, high)


@checked()
def lazy_dp_ts_bound(means: Means, horizon: int, epsilon: float) -> float:
    r"""Return the bound of Lazy-DP-TS, on an arm's last block of :math:`2^j` gains.

    .. math:: E[n_a] \le \sum_j 2^{j + 1} E \Big( \frac{1}{p(S_{2^j})} - 1 \Big) + \frac15 + 2^{J + 1} - 1
              + T e^{-(2^J + 2)\, \mathrm{kl}(q, y)} + \sum_{j \ge J} 2^{j + 1} P(\tilde\mu_j > x)

    for any J, where :math:`\tilde\mu_j` is the mean of arm a's block with noise and the width
    :math:`3 \ln t / (\epsilon n)`. Proof. The noise of the best arm's block is below :math:`-3 \ln t / \epsilon` with
    probability :math:`t^{-3} / 2`, for one of at most lg(t + 1) blocks: in total less than 1/5. Otherwise its draw
    exceeds y with at least the chance of its sum alone, p, in all plays for the next block, :math:`2^{j + 1}` of them.
    The rest is as for TS, by blocks, with Chernoff's bound for the gains and the noise.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].

    Source: the scheme of Agrawal and Goyal (2013). Hu and Hegde (2022) have a bound, which was not available.
    """
    sizes = np.array([2.0**j for j in range(horizon.bit_length())])
    noise, width = [(1 / epsilon, 1)], 3 * math.log(horizon) / epsilon
    failures = 0.0 if math.isinf(epsilon) else 0.2

    def high(mean: float, x: float) -> FloatArray:
        tails = np.exp(np.minimum(log_tails(mean, x, sizes, noise, width)[0].min(axis=1), 0.0))
        later: FloatArray = np.cumsum((np.minimum(2 * sizes, horizon) * tails)[::-1])[::-1]
        return later

    def waits(best: float, y: float) -> float:
        return failures + math.fsum(min(2 * n, horizon) * _wait(best, y, int(n)) for n in sizes.tolist())

    return _best_levels(means, horizon, sizes, 2 * sizes - 1, 1, waits, high)


@checked()
def dp_ts_bound(means: Means, horizon: int, epsilon: float, slope: float) -> float:
    r"""Return the bound of DP-TS, whose noisy sums have the width :math:`w(n, t) = c \ln(n + 1) \ln t`.

    .. math:: E[n_a] \le W_y + \sum_{t = 2}^T \sum_{n < t} P(Z_n < -w(n, t)) + N
              + T e^{-(N + 2)\, \mathrm{kl}(q, y)} + \sum_{n \ge N} P(\tilde\mu_n > x)

    with :math:`Z_n` the noise and :math:`\tilde\mu_n` the mean of arm a's n gains with noise and width. Proof. Where
    the noise of the best arm's sum is at least -w, its draw exceeds y with at least the chance of the sum alone, p;
    the double sum is for other rounds. The rest is as for TS. All probabilities are Chernoff's, by octaves of n and
    t, with the noise at the end of an octave.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter of the hybrid counters, in (0, inf].
        slope: The width's c, at least 0.

    Source: the scheme of Agrawal and Goyal (2013). Hu and Hegde (2022) have a bound, which was not available.
    """
    counter, counts = make_counter("hybrid", epsilon=epsilon), counts_to(horizon)
    # No game is longer.
    octaves = range(min(horizon, checks.MOST_ROUNDS).bit_length())
    noises = [counter.scales((2 << k) - 1) for k in octaves]
    failures = _low_noise(noises, slope, horizon)

    def high(mean: float, x: float) -> FloatArray:
        later, tails = 0.0, np.zeros(len(counts))
        for k in reversed(octaves):
            inside = np.flatnonzero((counts >= 1 << k) & (counts < 2 << k))
            width = slope * math.log(2 << k) * math.log(horizon)
            logs, rates = log_tails(mean, x, counts[inside], noises[k], width)
            # For each exponent the sum over n up to the octave's end is at most that of a geometric series.
            falls = np.array([math.log(-math.expm1(-rate)) if rate > 0 else -math.inf for rate in rates.tolist()])
            most = np.log((2 << k) - counts[inside])
            tails[inside] = np.exp(np.minimum(np.min(logs - falls, axis=1), most)) + later
            later = tails[inside[0]]
        return tails

    def waits(best: float, y: float) -> float:
        return failures + _waits(best, y, horizon)

    return _best_levels(means, horizon, counts, counts, 1, waits, high)


def _best_levels(
    means: Means,
    horizon: int,
    counts: FloatArray,
    before: FloatArray,
    choices: int,
    waits: Callable[[float, float], float],
    high: Callable[[float, float], FloatArray],
) -> float:
    """Return the regret with the best x, y and N.

    Args:
        means: The arms' means.
        horizon: Number of rounds T.
        counts: The values of N that are tried.
        before: For each of them, the plays with fewer gains.
        choices: The factor of T.
        waits: Gives for the best mean and y the rounds that wait for the best arm.
        high: Gives for an arm's mean and x the plays, from each N on, with a mean above x.
    """
    tails = functools.cache(high)

    def plays(mean: float, best: float, y: float) -> tuple[float, float]:
        least = float(horizon)
        for x in (mean + (best - mean) * share for share in ABOVE):
            if mean < x < y:
                late = choices * horizon * _draw_above(counts, x, y) + tails(mean, x)
                least = min(least, float(np.min(before + late)))
        return least, waits(best, y)

    return regret_with_waits(means, horizon, plays)


def _draw_above(counts: FloatArray, x: float, y: float) -> FloatArray:
    """Return a bound, falling in n, on the chance that a draw exceeds y where the mean of n gains is at most x."""
    q = np.minimum(np.maximum(x, (1 + x * counts) / (counts + 2)), y)
    chances: FloatArray = np.exp(-(counts + 2) * bernoulli_kls(q, y))
    return chances


def _low_noise(noises: Sequence[Sequence[tuple[float, int]]], slope: float, horizon: int) -> float:
    """Return a bound on the sum of P(Z_n < -slope ln(n + 1) ln t) over n < t = 2, ..., T, for noises by octave of n."""
    total = 0.0
    for i in range(1, len(noises)) if noises[0][0][0] > 0 else ():
        rounds = min(horizon + 1, 2 << i) - (1 << i)
        for k in range(i + 1):
            s = SHARES / max(scale for scale, number in noises[k] if number)
            nats = s * slope * math.log((1 << k) + 1) * math.log(1 << i)
            moments = sum(number * np.log1p(-((scale * s) ** 2)) for scale, number in noises[k])
            total += rounds * (1 << k) * min(1.0, math.exp(-float(np.max(nats + moments))))
    return total


def _waits(best: float, y: float, horizon: int) -> float:
    """Return a bound on W: the exact terms, and `_late_waits` for the others."""
    terms = _exact_waits(best, y)[:horizon]
    return math.fsum(terms) + _late_waits(best, y, len(terms), horizon - len(terms))


def _wait(best: float, y: float, n: int) -> float:
    """Return E(1 / p(S_n) - 1) for coins of the best mean, or a bound on it if n is large."""
    terms = _exact_waits(best, y)
    return terms[n] if n < len(terms) else _late_waits(best, y, n, 1)


@functools.lru_cache(maxsize=1024)
def _exact_waits(best: float, y: float) -> list[float]:
    """Return E(1 / p(S_n) - 1) for coins of the best mean and n = 0, 1, ..., until the others are negligible."""
    number = 32
    while number < EXACT_COUNTS and _late_waits(best, y, number, checks.MOST_ROUNDS) > NEGLIGIBLE:
        number *= 2
    # The chances that n coins of the best mean show s heads, and n + 1 coins of mean y at most s.
    chances, p = np.zeros(number + 2), np.ones(number + 2)
    chances[0], p[0] = 1.0, 1 - y
    terms = []
    for n in range(number + 1):
        tiny = int(np.searchsorted(p[: n + 1], TINY))
        inside = chances[tiny : n + 1]
        # For smaller s each p is at least 1 - y times the chance of s, see `_late_waits`.
        terms.append(float(np.sum(inside / p[tiny : n + 1] - inside)) + _unlikely(best, y, n, tiny - 1))
        chances[1:] = (1 - best) * chances[1:] + best * chances[:-1]
        chances[0] *= 1 - best
        p[1:] = (1 - y) * p[1:] + y * p[:-1]
        p[0] *= 1 - y
    return terms


def _unlikely(best: float, y: float, n: int, s: int) -> float:
    """Return a bound on the part of E(1 / p(S_n)) for at most s heads; 0 for s = -1 and where all coins show heads."""
    if s < 0 or best == 1:
        return 0.0
    nats = s * math.log(best / y) + (n - s) * math.log((1 - best) / (1 - y))
    return math.exp(nats) / ((1 - y) * (1 - y * (1 - best) / (best * (1 - y))))


def _late_waits(best: float, y: float, first: int, number: int) -> float:
    r"""Return a bound on the sum of E(1 / p(S_n) - 1) for coins of the best mean over `number` counts, from n = first.

    .. math:: E(1/p - 1) \le \frac{r}{(1 - y)(r - 1)} e^{-n\,\mathrm{kl}(y, \mu)} + \frac{2}{1 - y} \rho^{2 n}, \quad
              r = \frac{\mu (1 - y)}{y (1 - \mu)}, \quad \rho = \sqrt{y \mu} + \sqrt{(1 - y)(1 - \mu)}

    Proof. p(s) is at least (1 - y) times the chance of at most s of n coins of mean y. For s <= y n that is at least
    the chance of s, and the ratio of the two chances of s falls by r for each s that is missing: the first term. Above
    y n it is at least 1/2, so E(1 / p - 1) is at most 2 / (1 - y) times the chance that n + 1 coins of mean y show more
    heads than n coins of the best mean: Chernoff's bound at the root of r.
    """
    inverse = y * (1 - best) / (best * (1 - y))
    low = (1 / ((1 - y) * (1 - inverse)), bernoulli_kl(y, best))
    high = (2 / (1 - y), -2 * math.log(math.sqrt(y * best) + math.sqrt((1 - y) * (1 - best))))
    total = 0.0
    for weight, rate in (low, high):
        terms = min(number, 1 / -math.expm1(-rate)) if rate > 0 else number
        total += terms * weight * (math.exp(-first * rate) if first else 1.0)
    return total
