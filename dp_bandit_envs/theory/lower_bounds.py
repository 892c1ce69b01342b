"""Lower bounds on regret: asymptotic bounds for given arms, and finite-time bounds for the worst game of a size."""

import math
from collections.abc import Sequence
from typing import Final, Literal, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.theory.argument_ranges import arm_means, checked
from dp_bandit_envs.theory.divergences import private_divergence

GAPS: Final = np.geomspace(1e-9, 0.5, 4000)
"""Gaps that are tried for the worst game; each gives a lower bound."""


@checked()
def lai_robbins(means: Sequence[SupportsFloat], horizon: int) -> float:
    r"""Return :math:`\sum_{a: \mu_a < \mu^*} \frac{\Delta_a}{\mathrm{kl}(\mu_a, \mu^*)} \ln T`, in units of gain.

    Asymptotic: a policy that is consistent (its pseudo-regret on every set of Bernoulli arms grows slower than any
    power of T) has a pseudo-regret whose ratio to this is at least 1 in the limit. At a given horizon a policy may be
    below it, for example if it always plays an arm that happens to be best.

    Args:
        means: The arms' means, at least 2, each in [0, 1]. With a best mean of 1 the bound is 0.
        horizon: Number of rounds T, at least 1.

    Raises:
        ValueError: If an argument leaves its range.

    Source: Lai and Robbins (1985), theorem 1.
    """
    return private_lower_bound(means, horizon, math.inf)


@checked()
def private_lower_bound(means: Sequence[SupportsFloat], horizon: int, epsilon: float) -> float:
    r"""Return :math:`\sum_{a: \mu_a < \mu^*} \frac{\Delta_a}{d_\epsilon(\mu_a, \mu^*)} \ln T`, in units of gain.

    Asymptotic, like `lai_robbins`, for consistent policies whose arms played are epsilon-differentially private
    (central model, neighbours differ in the gains of one round). The divergence is `private_divergence`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf]; inf gives `lai_robbins`.

    Raises:
        ValueError: If an argument leaves its range.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu (2025), lower bound; read in notes on the paper only.
    """
    numbers = arm_means(means)
    best = max(numbers)

    def hardness(mean: float) -> float:
        nats = private_divergence(mean, best, epsilon)
        # Only for means closer than floats can tell apart do the nats vanish.
        return (best - mean) / nats if nats > 0 else math.inf

    return math.log(horizon) * math.fsum(hardness(mean) for mean in numbers if mean < best) if horizon > 1 else 0.0


@checked()
def minimax_lower_bound(
    n_arms: int,
    horizon: int,
    epsilon: float = math.inf,
    *,
    model: Literal["central", "local"] = "central",
) -> float:
    r"""Return a regret, in units of gain, that every algorithm has on average in some game with coins.

    The maximum of three bounds. By information: about :math:`\sqrt{T (K - 1)} / (32 \tanh(\epsilon / 2))` in the local
    model, and without the hyperbolic tangent otherwise. By pure differential privacy of the arms: about
    :math:`(K - 1) / (8 e (1 - e^{-\epsilon}))`. By privacy if only one arm pays, as in `experts_lower_bound`.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf]; inf for algorithms without privacy.
        model: `"central"`: the arms are epsilon-differentially private; `"local"`: the agent sees each gain through an
            epsilon-DP channel.

    Raises:
        ValueError: If an argument leaves its range.

    Source: proved in docs/notes/lower-bounds.md; the orders agree with Azize and Basu (2022), and with Basu,
    Dimitrakakis and Tossou (2019) in the local model.
    """
    k, t = checks.integer("n_arms", n_arms, at_least=2), horizon
    plays = t / (k - 1)
    revealed = math.tanh(epsilon / 2) if model == "local" else 1.0
    square = 16 * GAPS[GAPS < 0.25] ** 2 * revealed**2
    distances = np.sqrt(-0.25 * np.log1p(-square) * plays)
    best = float((t / 4 * GAPS[GAPS < 0.25] * (1 - distances)).max(initial=0.0))
    if math.isinf(epsilon):
        return best
    seen = np.minimum(2 * GAPS * -math.expm1(-epsilon), 1 - 2**-53)
    private = float((t / 4 * GAPS * np.exp(np.log1p(-seen) * plays)).max())
    return max(best, private, _one_expert_pays(k, t, epsilon))


@checked()
def graph_lower_bound(independent: int, horizon: int) -> float:
    r"""Return a regret, in units of gain, that every algorithm has on average in some game on a feedback graph.

    About :math:`\sqrt{T (\alpha - 1)} / 32` once T is far above :math:`\alpha^3`, where purely exploratory rounds do
    not pay off. The bound ignores privacy; `minimax_lower_bound` with privacy does not apply to graphs.

    Args:
        independent: Size of a set of arms that do not reveal each other, at least 2.
        horizon: Number of rounds T, at least 1.

    Raises:
        ValueError: If an argument leaves its range.

    Source: proved in docs/notes/lower-bounds.md; the order agrees with Mannor and Shamir (2011).
    """
    k, t = checks.integer("independent", independent, at_least=2), horizon
    gaps = GAPS[GAPS < 0.25]
    nats = -0.5 * np.log1p(-16 * gaps**2)
    # The least regret r with r >= t gap (1 - sqrt(nats (t / (k - 1) + 2 r) / 2)) / 4, as other arms earn 1/2 less.
    low, high = np.zeros_like(gaps), t * gaps / 4
    for _ in range(60):
        middle = (low + high) / 2
        holds = middle >= t * gaps / 4 * (1 - np.sqrt(nats * (t / (k - 1) + 2 * middle) / 2))
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return float(low.max())


@checked()
def experts_lower_bound(n_arms: int, horizon: int, epsilon: float = math.inf) -> float:
    r"""Return a regret, in units of gain, that every algorithm has on average in some game that reveals all gains.

    The larger of two bounds: :math:`E \max_i G_i - T / 2` for fair coins, about :math:`\sqrt{T \ln N / 2}`, a bound on
    the external regret; and :math:`\sum_t (1 - e^{\epsilon (t - 1)} / N)_+`, about :math:`(\ln N - 1) / \epsilon`, for
    epsilon-DP algorithms.

    Args:
        n_arms: Number of experts N, at least 2.
        horizon: Number of rounds T, in [1, 2^40]: arrays have 10 sqrt(T) numbers.
        epsilon: Privacy parameter, in (0, inf]; inf for algorithms without privacy.

    Raises:
        ValueError: If an argument leaves its range.

    Source: proved in docs/notes/lower-bounds.md; for fair coins Cesa-Bianchi et al. (1997).
    """
    n = checks.integer("n_arms", n_arms, at_least=2)
    t = checks.integer("horizon", horizon, at_least=1, at_most=2**40)
    # The law of a sum of t fair coins, as far from its mean as doubles can tell.
    reach = min(t, 8 + math.ceil(10 * math.sqrt(t)))
    first = max(0, (t - reach) // 2)
    sums = np.arange(first, min(t, (t + reach) // 2 + 1) + 1, dtype=float)
    logs = np.concatenate([[0.0], np.cumsum(np.log((t - sums[:-1]) / (sums[:-1] + 1)))])
    law = np.exp(logs - logs.max())
    below = np.minimum(1.0, np.cumsum(law / law.sum()))
    largest = float(sums[0] + (1 - below[:-1] ** n).sum())
    excess = largest - t / 2
    return excess if math.isinf(epsilon) else max(excess, _one_expert_pays(n, t, epsilon))


def _one_expert_pays(n: int, horizon: int, epsilon: float) -> float:
    """Return the sum over t of 1 - e^(epsilon (t - 1)) / n, of its positive terms."""
    # Above ln n only the first round counts, so nothing more is private about a larger epsilon.
    epsilon = min(epsilon, 1 + math.log(n))
    rounds = min(horizon, 1 + math.floor(math.log(n) / epsilon))
    # A geometric sum; expm1 keeps its digits at a small epsilon.
    growth = math.expm1(epsilon * rounds) / math.expm1(epsilon)
    return rounds - growth / n
