r"""Upper bounds on the pseudo-regret of indices without a bonus for noise: DP-UCB-INT, DP-KLUCB and DP-IMED.

They hold at any horizon, with explicit constants, for independent gains in [0, 1] with constant means. Take a level y
below the best mean :math:`\mu^*`. A round waits if the best arm's index is below y because its noise is too low. For a
release of n gains that becomes less likely as :math:`n (\mu^* - y)` grows, with any bonus, so the probabilities of an
arm's successive releases have a finite sum.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np

from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.theory.argument_ranges import checked
from dp_bandit_envs.theory.divergences import bernoulli_kl, private_divergence
from dp_bandit_envs.theory.stochastic_bounds import Means
from dp_bandit_envs.theory.tails import SHARES, log_tails, regret_with_waits

STEP = 1.15
"""Rounds t to 1.15 t count as if all were t, where an index grows with t."""
EARLY_ENDS = 1000
"""Later releases count as groups, each as if all its releases were the first one, without a bonus."""


@checked()
def noisy_int_bound(means: Means, horizon: int, ends: Iterable[int], v: float, *, redraws: bool = False) -> float:
    r"""Return the bound of DP-UCB-INT without a bonus for its noise, of scale :math:`W^{v/2 - 1}` in a mean of W gains.

    .. math:: E[n_a] \le W_J + \sum_{j \ge J} (W_{j + 1} - W_j)\, p(W_j, y - \mu_a - b(W_j, T))
              + \sum_{t = 1}^T \sum_j p(W_j, \mu^* - y + b(W_j, t)), \\
              p(n, u) = \tfrac12 e^{-n^{1 - v/2} u + n^{1 - v} / 8} + e^{-2 n u^2}, \quad b(n, t) = \sqrt{2 \ln t / n}

    for any J. Proof. A mean of n gains, with noise, is off to one side by u or more with probability at most p(n, u):
    that of the noise given the gains, and Hoeffding's inequality where these alone are off by u, and his lemma. After
    t rounds the index of the best arm is below y, for one of the ends :math:`W_j`, with the chance in the last sum. In
    other rounds arm a's index is at least y: of a release at :math:`W_j` with the chance in the first sum, and it
    stands for as many plays as there are until the next one; if noise is drawn again in every round, for T.

    It grows almost as T: the first releases are too low with a chance that falls as :math:`e^{-\sqrt{2 \ln t}}` only.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        ends: The numbers of gains W after which means are released, ascending.
        v: How fast the noise falls, in (1, 1.5].
        redraws: Whether noise is drawn again in every round.
    """
    reached = np.array([end for end in ends if end <= horizon], float)
    late = np.unique(np.searchsorted(reached, 1.02 ** np.arange(1500.0)))
    # Of the later ones each group's first.
    firsts = np.append(np.arange(min(EARLY_ENDS + 1, len(reached))), late[(late > EARLY_ENDS) & (late < len(reached))])
    sizes, releases = reached[firsts], np.diff(np.append(firsts, len(reached)))
    stand = float(horizon) * releases if redraws else np.diff(np.append(sizes, float(horizon)))
    early = sizes[:EARLY_ENDS]

    def plays(mean: float, best: float, y: float) -> tuple[float, float]:
        high = stand * _off_by_noise(sizes, y - mean - np.sqrt(2 * math.log(horizon) / sizes), v)
        later = np.append(np.cumsum(high[::-1])[::-1], 0.0)
        least = float(np.min(np.append(sizes, float(horizon)) + later))
        rest = float(np.sum((releases * _off_by_noise(sizes, np.full(len(sizes), best - y), v))[EARLY_ENDS:]))
        waits = 0.0
        for t, rounds in _rounds(horizon):
            low = _off_by_noise(early, best - y + np.sqrt(2 * math.log(t) / early), v)
            waits += rounds * min(1.0, rest + float(np.sum(low)))
        return min(least, float(horizon)), waits

    return regret_with_waits(means, horizon, plays)


def _off_by_noise(n: FloatArray, u: FloatArray, v: float) -> FloatArray:
    """Return p(n, u) of `noisy_int_bound`, at most 1, and 1 for u of at most 0."""
    by_noise = np.exp(-(n ** (1 - v / 2)) * u + n ** (1 - v) / 8) / 2
    chances: FloatArray = np.where(u > 0, np.minimum(by_noise + np.exp(-2 * n * u * u), 1.0), 1.0)
    return chances


@checked()
def private_divergence_bound(
    means: Means, horizon: int, epsilon: float, ends: Sequence[int], *, by_count: bool
) -> float:
    r"""Return the bound of DP-KLUCB or DP-IMED, on sums of blocks with one draw of noise each.

    .. math:: E[n_a] \le n_J + \sum_{j \ge J} (n_{j + 1} - n_j) P(n_j d_\epsilon(\tilde\mu_j, y) \le \ln T)
              + \sum_{t = 1}^T \sum_j q_j (\ln (t / r)), \\
              q_j(u) = \min_{0 < s < 1} \Big( e^{-s u} (1 - s^2)^{-(j + 1)} \Big( e^{-n_j d_{s \epsilon}(y, \mu^*)}
              + \frac{e^{-n_j k}}{1 - s} \Big) + \frac{e^{-u - n_j k}}{2} \Big), \quad k = \mathrm{kl}(y, \mu^*)

    for any J, with r the largest ratio of two :math:`n_j` that follow each other. DP-IMED has :math:`\ln(T / n_j)` in
    the first sum and :math:`\ln (t / (r n_j))` in the last, at least 0 both. Without noise q is
    :math:`e^{-u - n_j k}`.

    Proof. (1) :math:`n d_\epsilon(\tilde\mu, y) > u` for the best arm's release of n gains has probability at most q.
    Let G be minus the noise, in units of :math:`1/\epsilon`: a sum of j + 1 Laplace draws. If the mean m of the gains
    is at least y, then :math:`G > u + \epsilon n (m - y)`, by z = y in the infimum that is :math:`d_\epsilon`; and

    .. math:: E[e^{-s \epsilon n (m - y)^+}] \le \inf_{0 \le \lambda \le s \epsilon} E[e^{-\lambda n (m - y)}]
              \le e^{-n d_{s \epsilon}(y, \mu^*)}.

    If it is below, then :math:`\max(G, 0) + n\,\mathrm{kl}(m, y) > u`, by z = m. As :math:`\mathrm{kl}(m, \mu^*) \ge
    \mathrm{kl}(m, y) + k`, Chernoff's bound gives :math:`P(n\,\mathrm{kl}(m, y) > w, m < y) \le e^{-w - n k}`, and
    :math:`E[e^{s n\,\mathrm{kl}(m, y)}; m < y] \le e^{-n k} / (1 - s)`. Markov's inequality where G > 0, and that
    chance where it is not.

    (2) DP-KLUCB. A block that begins after t rounds is at most (r - 1) t rounds long, and its round of number
    :math:`\tau \le r t` waits only if :math:`n_j d_\epsilon(\tilde\mu_j, y) > \ln t \ge \ln(\tau / r)` for the best
    arm. In other blocks arm a's index is at least y.

    (3) DP-IMED. If the largest of all :math:`\tilde\mu` is at least y, arm a is chosen only if :math:`n
    d_\epsilon(\tilde\mu, y) + \ln n \le \ln T`, as the arm that has it has an index of at most ln T. If it is below y,
    the best arm's index is at most :math:`D_j + \ln n_j`, :math:`D_j = n_j d_\epsilon(\tilde\mu_j, y)`, and arm a's at
    least ln n. So its count ends at :math:`r n_j e^{D_j}` at most, for each j, and it is at least t with probability
    :math:`q_j(\ln(t / (r n_j)))`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
        ends: The numbers of gains n at which sums are released, ascending, one block more each.
        by_count: Whether it is DP-IMED.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu (2025), whose theorems are asymptotic.
    """
    ratio = max((late / early for early, late in itertools.pairwise(ends)), default=1.0)
    sizes = [float(end) for end in ends if end <= horizon]
    blocks = np.diff(np.append(sizes, float(horizon)))
    times, numbers = np.array(_rounds(horizon), float).T
    shifts = [math.log(ratio * n) if by_count else math.log(ratio) for n in sizes]

    def high(mean: float, y: float, j: int) -> float:
        level = math.log(horizon / sizes[j] if by_count else horizon) / sizes[j]
        x = _lowest(y, level, epsilon)
        if x <= mean:
            return 1.0
        nats = float(log_tails(mean, x, np.array([sizes[j]]), [(1 / epsilon, j + 1)], 0.0)[0].min())
        return math.exp(min(nats, 0.0))

    def plays(mean: float, best: float, y: float) -> tuple[float, float]:
        chances = np.array([high(mean, y, j) for j in range(len(sizes))])
        later = np.append(np.cumsum((blocks * chances)[::-1])[::-1], 0.0)
        least = float(np.min(np.append(sizes, float(horizon)) + later))
        waits = np.zeros(len(times))
        for j, (n, shift) in enumerate(zip(sizes, shifts, strict=True)):
            nats = np.maximum(np.log(times) - shift, 0.0)
            waits += np.minimum(_chance_too_low(nats, n, j + 1, best, y, epsilon), 1.0)
        return min(least, float(horizon)), float(np.sum(numbers * (waits if by_count else np.minimum(waits, 1.0))))

    return regret_with_waits(means, horizon, plays, shared=not by_count)


def _rounds(horizon: int) -> list[tuple[int, int]]:
    """Return the first rounds t of steps that cover 1, ..., T, each with the step's number of rounds."""
    firsts = [1]
    while (after := math.floor(STEP * firsts[-1]) + 1) <= horizon:
        firsts.append(after)
    return [(first, after - first) for first, after in itertools.pairwise([*firsts, horizon + 1])]


def _lowest(y: float, level: float, epsilon: float) -> float:
    """Return a number below the smallest x in [0, y] with a private divergence from y of at most a level, to 1e-9."""
    low, high = 0.0, y
    if private_divergence(low, y, epsilon) <= level:
        return 0.0
    while high - low > 1e-9 * y:
        middle = (low + high) / 2
        low, high = (low, middle) if private_divergence(middle, y, epsilon) <= level else (middle, high)
    return low


def _chance_too_low(nats: FloatArray, n: float, draws: int, best: float, y: float, epsilon: float) -> FloatArray:
    """Return q of `private_divergence_bound` for many u."""
    rate = bernoulli_kl(y, best)
    low: FloatArray = np.exp(-nats - n * rate)
    if math.isfinite(epsilon):
        gains = np.exp(-n * _gained(best, y, epsilon)) + math.exp(-n * rate) / (1 - SHARES)
        low = (_powers(tuple(nats.tolist())) * (gains / (1 - SHARES**2) ** draws)).min(axis=1) + low / 2
    return low


@functools.lru_cache(maxsize=64)
def _gained(best: float, y: float, epsilon: float) -> FloatArray:
    """Return the private divergence of the best mean from y at each share s of epsilon."""
    return np.array([private_divergence(y, best, s * epsilon) for s in SHARES.tolist()])


@functools.lru_cache(maxsize=64)
def _powers(nats: tuple[float, ...]) -> FloatArray:
    """Return e^(-s u) for each u and s."""
    powers: FloatArray = np.exp(-np.outer(nats, SHARES))
    return powers
