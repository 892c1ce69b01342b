r"""Upper bounds on the pseudo-regret of agents that forget: over a window, with a discount, or with restarts.

They bound the cost of forgetting when means are constant, non-asymptotically and with explicit constants, for
independent gains in [0, 1]. For changing means, with extra terms, they bound the dynamic regret: see
`window_ucb_bound`. All use one lemma. *An arm's gains since a fixed round, n in number, have a mean that is too low for
their count: n kl(mean, mu) >= L with mean < mu, for some n in [1, m]. That has probability at most*

.. math:: \min_D D e^{-L / \beta}, \quad \beta = m^{1 / D}; \qquad
          \min_D D \exp \Big( -\frac{4 \sqrt \beta}{(1 + \sqrt \beta)^2} L \Big)

*the second bound with 2 n (mean - mu)^2 instead of n kl(mean, mu).* Proof. Cut [1, m] into D slices [n_0, beta n_0].
For fixed lam, e^(lam S - n psi(lam)) is a supermartingale, whenever the arm is played. Choose z with kl(z, mu) = L /
(beta n_0) and the lam of z. A mean in the slice is at most z, so the exponent is at least n L / (beta n_0) >= L / beta.
For squares, psi(lam) is at most mu lam + lam^2 / 8. With -lam = sqrt(32 L / n_0) / (1 + sqrt(beta)), the exponent has
the stated value at both ends of a slice, and larger values between them, because it is concave in sqrt(n). The same
holds above mu, for counts from any m_0 to m_0 m, and for weights of at most 1, with n the sum of weights.
"""

import math
from collections.abc import Callable

import numpy as np

from dp_bandit_envs.theory.argument_ranges import arm_means, checked
from dp_bandit_envs.theory.divergences import bernoulli_kl
from dp_bandit_envs.theory.stochastic_bounds import Means, adap_ucb_bound, regret_of_gaps


@checked()
def window_ucb_bound(means: Means, horizon: int, window: int, bonus: float) -> float:
    r"""Return the bound of SW-UCB, with :math:`N = \lceil 4 \xi \ln w / \Delta_a^2 \rceil`.

    .. math:: E[n_a] \le \lceil T / w \rceil N + 2 \sum_t p_t

    Proof. With N gains in the window, twice the bonus is at most the gap. In w consecutive rounds, arm a is played at
    most N times with fewer gains, as the window contains its plays in them. Any other play requires the best arm's
    mean, or arm a's, to be off by the bonus: the lemma with :math:`L = 2 \xi \ln m`, m = min(t, w). Fewer than
    :math:`\xi \ln m` gains can be ignored, as their bonus is above 1; so the slices cover :math:`[\xi \ln m, m]`.

    If the best arm changes S times, this holds in rounds without a change in their window, with the smallest positive
    gap of each arm. The other rounds, at most S w, cost at most the largest gap each.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        window: w, at least 1.
        bonus: xi, at least 0.

    Source: Garivier and Moulines (2011), for SW-UCB.
    Differs from the source in: the constants.
    """
    blocks = -(-horizon // window)
    failures = _failures(horizon, lambda t: min(t, window), bonus)
    top = bonus * math.log(min(window, horizon))
    return regret_of_gaps(
        means, horizon, lambda gap: blocks * max(1, math.ceil(_over_square(4 * top, gap, horizon))) + failures
    )


@checked()
def discounted_ucb_bound(means: Means, horizon: int, discount: float, bonus: float) -> float:
    r"""Return the bound of D-UCB, for blocks of b = ceil(1 / (1 - gamma)) rounds.

    .. math:: E[n_a] \le \lceil T / b \rceil (N \gamma^{-b} + 1) + 2 \sum_t p_t, \quad
              N = \frac{16 \xi \ln n_T}{\Delta_a^2}, \quad n_t = \frac{1 - \gamma^t}{1 - \gamma}

    Proof. As for SW-UCB, with discounted numbers: j plays in a block count at least :math:`j \gamma^b`, and :math:`p_t`
    is from the lemma with :math:`L = 8 \xi \ln n_t`, because the bonus is twice as large.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        discount: gamma, in (0, 1).
        bonus: xi, at least 0.

    Source: Garivier and Moulines (2011), for D-UCB.
    Differs from the source in: the constants.
    """

    def weight(t: int) -> float:
        # Rounding must not make it less than the weight of the last gain.
        return max(-math.expm1(t * math.log(discount)) / (1 - discount), 1.0)

    block, failures = math.ceil(1 / (1 - discount)), _failures(horizon, weight, 4 * bonus)
    reach = 16 * bonus * math.log(weight(horizon)) * discount**-block
    return regret_of_gaps(
        means, horizon, lambda gap: math.ceil(horizon / block) * (_over_square(reach, gap, horizon) + 1) + failures
    )


@checked()
def window_klucb_bound(means: Means, horizon: int, window: int, epsilon: float) -> float:
    r"""Return the bound of SW-KLUCB-CF, for any x between the means of two arms' coins; the best of 19 is taken.

    .. math:: E[n_a] \le \lceil T / w \rceil N + T e^{-N \mathrm{kl}(x, \mu_a)} + \sum_t p_t, \quad
              N = \Big\lceil \frac{\ln w + 3 \ln \ln w}{\mathrm{kl}(x, \mu^*)} \Big\rceil

    Proof. As for SW-UCB. The best arm's index is below its mean with probability :math:`p_t`, by the lemma with the
    level as L. Otherwise arm a's index is above it, so its mean of n >= N coins is at least x: by Doob's inequality for
    :math:`e^{\lambda S - n \psi(\lambda)}` with probability at most :math:`e^{-N \mathrm{kl}(x, \mu_a)}`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        window: w, at least 1.
        epsilon: Privacy parameter of randomized response, in (0, inf].

    Source: Gajane (2023), whose bound was not available to us.
    """
    blocks = -(-horizon // window)
    kept = math.tanh(epsilon / 2)
    best = 0.5 + (max(arm_means(means)) - 0.5) * kept
    low, level = _failures(horizon, lambda t: min(t, window), None) / 2, _level(min(window, horizon))

    def plays(gap: float) -> float:
        bounds = [float(horizon)]
        for x in np.linspace(best - kept * gap, best, 21)[1:-1].tolist():
            if best - kept * gap < x < best:
                most = max(1, math.ceil(level / bernoulli_kl(x, best)))
                bounds.append(blocks * most + low + horizon * math.exp(-most * bernoulli_kl(x, best - kept * gap)))
        return min(bounds)

    return regret_of_gaps(means, horizon, plays)


@checked()
def restarted_bound(means: Means, horizon: int, period: int, epsilon: float, alpha: float) -> float:
    """Return the bound of Restarted-AdaP-UCB: AdaP-UCB's bound for each period of H rounds and for the remainder.

    If the best arm changes in S periods, each of these costs at most H times the largest gap instead.
    """
    whole, rest = divmod(horizon, period)
    bounds = [adap_ucb_bound(means, rounds, epsilon, alpha) if rounds else 0.0 for rounds in (period, rest)]
    return whole * bounds[0] + bounds[1] if whole else bounds[1]


def _over_square(level: float, gap: float, horizon: int) -> float:
    """Return the level over the squared gap (which may underflow), at most T."""
    square = gap * gap
    return min(level / square, float(horizon)) if square > 0 else float(horizon)


def _level(m: float) -> float:
    """Return the level of SW-KLUCB-CF for m gains."""
    return math.log(m) + 3 * math.log(max(math.log(m), 1.0))


def _failures(horizon: int, size: Callable[[int], float], factor: float | None) -> float:
    """Return twice the sum of the lemma's probabilities after t = 1, ..., T - 1 rounds, for counts of up to size(t).

    For bonuses sqrt(c ln m / n) with this factor c; None for the level of SW-KLUCB-CF. Rounds from 2^k to 2^(k + 1) - 1
    use the L of the first of them, and the largest count of the last.
    """
    total = 0.0
    for power in range((horizon - 1).bit_length()):
        first, last = 1 << power, min(2 << power, horizon) - 1
        least, most = size(first), size(last)
        fewest = 1.0 if factor is None else factor * math.log(least)
        nats = _level(least) if factor is None else 2 * fewest
        total += (last - first + 1) * _slices(nats, most / fewest if fewest > 0 else 0.0, squares=factor is not None)
    return 2 * total


def _slices(nats: float, reach: float, *, squares: bool) -> float:
    """Return the lemma's probability for L and m; 0 if no count is large enough, and 1 if L is nearly 0."""
    if not nats > 1e-100:
        return 1.0
    if reach <= 1:
        return 0.0
    slices = np.arange(1, 200)
    root = reach ** (0.5 / slices)
    shrunk = 4 * root / (1 + root) ** 2 if squares else root**-2
    return float(min(1.0, (slices * np.exp(-shrunk * nats)).min()))
