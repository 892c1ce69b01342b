r"""Regret bounds of EXP2 with every constant, and its rates.

K arms with features of rank d; an exploration whose largest leverage is L (d at best); payoffs of at most M around 0,
in a range of width 1: losses in [0, 1] with M = 1, or gains around 1 / 2 with M = 1 / 2; noise of scale lam, clipped at
c. As long as a L (M + c) <= gamma, no exponent of a round exceeds 1, and :math:`e^x \le 1 + x + x^2`; the estimates'
squares are at most :math:`d (M^2 + 2 \lambda^2)` in expectation over the arm played and the noise. So the regret is at
most :math:`\ln K / a + a d T (M^2 + 2 \lambda^2) + \gamma T`, plus `linear_bounds.failure_cost`.
"""

import math

from dp_bandit_envs.theory.linear_bounds import clip_bound, failure_cost

RATES = ("smallest-bound", "paper")


def exp2_rates(
    rates: str, n_arms: int, rank: int, leverage: float, largest: float, horizon: int, scale: float, clip: float
) -> tuple[float, float]:
    r"""Return the learning rate a and the exploration rate gamma = a L (M + c), at most 1.

    `"smallest-bound"` has :math:`a = \sqrt{\ln K / (T (d (M^2 + 2 \lambda^2) + L (M + c)))}`, the smallest of the bound
    above; `"paper"` has :math:`a = \sqrt{\ln K / (d T (M^2 + 2 \lambda^2))}`, which leaves the cost of exploring out.

    Args:
        rates: One of `RATES`.
        n_arms: K, at least 1.
        rank: d.
        leverage: L.
        largest: M.
        horizon: Number of payoffs T, at least 1.
        scale: lam.
        clip: c.
    """
    exploring = leverage * (largest + clip)
    cost = rank * (largest**2 + 2 * scale**2) + (exploring if rates == "smallest-bound" else 0.0)
    rate = math.sqrt(math.log(max(n_arms, 2)) / (horizon * cost))
    if rates == "smallest-bound":
        rate = min(rate, 1 / exploring)
    return rate, min(1.0, rate * exploring)


def exp2_regret_bound(
    rates: str, n_arms: int, rank: int, leverage: float, largest: float, horizon: int, scale: float, clip: float
) -> float:
    """Return the bound above for the rates of `exp2_rates`, whose arguments it has, in units of gain.

    Without noise and with L = d, smallest-bound rates give sqrt(3 d T ln K) with features, which is 2 sqrt(3 d T ln K)
    for payoffs in [-1, 1] (Lattimore and Szepesvari 2020, theorem 27.1), and 2 sqrt(2 K T ln K) on arms.
    """
    rate, mixing = exp2_rates(rates, n_arms, rank, leverage, largest, horizon, scale, clip)
    spread = rate * rank * horizon * (largest**2 + 2 * scale**2)
    start = math.log(max(n_arms, 2)) / rate
    return start + spread + mixing * horizon + failure_cost(horizon, 1.0, scale, clip)


def exp2_clip(rates: str, n_arms: int, scale: float, releases: int) -> float:
    """Return how far outside [0, 1] noisy gains may be: `clip_bound`, or sqrt(10) lam ln(K T) with paper rates."""
    return clip_bound(scale, releases) if rates != "paper" else math.sqrt(10) * scale * math.log(n_arms * releases)


def coins_excess(n_arms: int, horizon: int) -> float:
    """Return sqrt(T ln K / 2): at most so much more than its mean does the luckiest of K arms collect, on average."""
    return math.sqrt(horizon * math.log(n_arms) / 2)
