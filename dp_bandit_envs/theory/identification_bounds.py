r"""How many rounds it takes at least to find the best arm, with and without privacy.

If an algorithm recommends a wrong arm with probability at most beta in every game with coins, it plays at least
:math:`T^* \, \mathrm{kl}(\beta, 1 - \beta)` rounds on average before it stops, where the characteristic time is

.. math:: \frac{1}{T^*} = \max_w \min_{a \ne b} \inf_u \, w_b \, d(\mu_b, u) + w_a \, d(\mu_a, u)

over shares w of the rounds, with b the best arm. Without privacy d is the divergence of coins. For an algorithm that is
epsilon-differentially private (arms, stop and recommendation, central model, neighbours differ in one round) it is
`private_divergence`. In the local model it is the divergence of the best private answers, which are randomised
responses. Proofs: docs/notes/identification.md.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.theory.argument_ranges import arm_means, checked
from dp_bandit_envs.theory.divergences import private_divergence
from dp_bandit_envs.theory.transport_costs import private_slope

STEPS: Final = 60
"""Steps of each search: a golden section then leaves 3e-13 of its interval, and halving less than rounding."""
MOST_NATS: Final = 30.0
"""Far more than a round of the best arm is worth at the optimum; a divergence is inf where a mean is 0 or 1."""
GOLDEN: Final = (math.sqrt(5) - 1) / 2


@checked()
def characteristic_time(means: Sequence[SupportsFloat], epsilon: float = math.inf) -> float:
    r"""Return :math:`T^*` for the private divergence, in rounds; inf if two arms are best.

    It is at least `characteristic_time(means)` and at least `total_variation_time(means) / epsilon`, and near the
    larger of them if they are far apart: the two regimes of privacy.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        epsilon: Privacy parameter, in (0, inf]; inf for algorithms without privacy.

    Raises:
        ValueError: If an argument leaves its range.

    Source: Garivier and Kaufmann (2016), lemma 3 and theorem 5, for coins; Jourdan and Azize (2025) for the divergence,
    of which only the abstract was available.
    """
    numbers = sorted(arm_means(means))
    best, others = numbers[-1], numbers[:-1]
    if others[-1] == best:
        return math.inf
    # Shares relative to the best arm's: y is the cost that every pair has, and the sum of shares for it is convex in y.
    most = min(min(private_divergence(1 - best, 1 - mean, epsilon) for mean in others), MOST_NATS)

    def cost_a_round(nats: float) -> float:
        shares = {mean: _share(best, mean, nats, epsilon) for mean in set(others)}
        return nats / (1.0 + math.fsum(shares[mean] for mean in others))

    return 1.0 / _golden_maximum(cost_a_round, 0.0, most)


@checked()
def total_variation_time(means: Sequence[SupportsFloat]) -> float:
    r"""Return :math:`\frac{1}{\Delta_{\min}} + \sum_{a \ne b} \frac{1}{\Delta_a}`: T* for the distance of means.

    Divided by epsilon it is the limit of the characteristic time as epsilon tends to 0.

    Args:
        means: The arms' means, at least 2, each in [0, 1]; inf if two arms are best.

    Raises:
        ValueError: If an argument leaves its range.

    Source: Azize, Jourdan, Al Marjani and Basu (2023).
    """
    numbers = sorted(arm_means(means))
    gaps = [numbers[-1] - mean for mean in numbers[:-1]]
    return 1 / min(gaps) + math.fsum(1 / gap for gap in gaps) if min(gaps) > 0 else math.inf


@checked(failure_probability=checks.probability)
def identification_lower_bound(
    means: Sequence[SupportsFloat],
    failure_probability: float,
    epsilon: float = math.inf,
    *,
    model: Literal["central", "local"] = "central",
) -> float:
    r"""Return the least expected number of rounds, :math:`T^* \, \mathrm{kl}(\beta, 1 - \beta)`; inf if two are best.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        failure_probability: beta, in (0, 1); from 1/2 on no rounds are needed.
        epsilon: Privacy parameter, in (0, inf]; inf for algorithms without privacy.
        model: `"central"`: arms, stop and recommendation are epsilon-differentially private; `"local"`: the agent sees
            each gain through an epsilon-DP channel.

    Raises:
        ValueError: If an argument leaves its range.

    Source: Garivier and Kaufmann (2016), theorem 1; with privacy proved in docs/notes/identification.md, where Azize et
    al. (2023) have 6 epsilon instead of epsilon for the total variation.
    """
    numbers, beta = arm_means(means), failure_probability
    if model == "local":
        time = characteristic_time(_answer_means(numbers, epsilon))
    else:
        time = characteristic_time(numbers, epsilon)
    return time * (1 - 2 * beta) * (math.log1p(-beta) - math.log(beta)) if beta < 0.5 else 0.0


def _answer_means(means: Sequence[float], epsilon: float) -> list[float]:
    """Return the means of randomised responses to gains with these means."""
    gap = math.tanh(epsilon / 2)
    return [0.5 + gap * (mean - 0.5) for mean in means]


def _share(best: float, mean: float, nats: float, epsilon: float) -> float:
    """Return the share x, relative to the best arm's, that makes the cost of a pair this many nats.

    At its minimum u the cost's slopes are equal, so x is a function of u that falls from inf at the arm's mean to 0 at
    the best mean, and the cost falls with it. Below some share, u stays at a best mean of 1, where the slope is not 0.
    """
    left, right = mean, best
    for _ in range(STEPS):
        u = 0.5 * (left + right)
        if _cost_at(best, mean, u, epsilon)[1] > nats:
            left = u
        else:
            right = u
    if left == mean:
        return math.inf
    if right == best:
        return nats / private_divergence(mean, best, epsilon)
    return _cost_at(best, mean, 0.5 * (left + right), epsilon)[0]


def _cost_at(best: float, mean: float, u: float, epsilon: float) -> tuple[float, float]:
    """Return the share that has its minimum at u, and its cost; for u strictly between the means."""
    if not mean < u < best:
        return (math.inf, math.inf) if u <= mean else (0.0, 0.0)
    # 1 - u is 1 for a u that is 0 but for rounding.
    rise = private_slope(1 - best, 1 - u, epsilon) if 1 - u < 1 else math.inf
    share = rise / private_slope(mean, u, epsilon)
    return share, private_divergence(1 - best, 1 - u, epsilon) + share * private_divergence(mean, u, epsilon)


def _golden_maximum(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the maximum of a function that first rises and then falls."""
    best = 0.0
    for _ in range(STEPS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_left, at_right = function(left), function(right)
        best = max(best, at_left, at_right)
        if at_left < at_right:
            low = left
        else:
            high = right
    return best
