"""Renyi divergences of a whole game at many orders, and the (epsilon, delta) guarantee that follows from them."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

RenyiCurve = tuple[tuple[float, float], ...]
"""Pairs (order, divergence) with orders greater than 1, ascending."""

ORDERS: Final = tuple(1 + 2 ** (k / 16) for k in range(-160, 321))
"""Orders from about 1.001 to 2^20; a search over them misses the best epsilon by less than 0.1 %."""

ROUNDING: Final = 1e-12
"""A relative allowance, far above what a few operations on doubles round away."""


def epsilon_from_renyi(curve: Sequence[tuple[float, float]], delta: float) -> float:
    r"""Return the smallest epsilon for which (epsilon, delta)-DP follows from one of the divergences.

    For order :math:`\alpha` and divergence D, in both directions,

    .. math:: \epsilon = D + \ln(1 - 1 / \alpha) + \frac{\ln(1 / \delta) - \ln \alpha}{\alpha - 1},

    but not less than 0. An empty curve gives inf.

    Args:
        curve: Pairs (order, divergence), orders in (1, inf), divergences in [0, inf].
        delta: In (0, 1).

    Source: Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy, proposition 12.
    """
    log = -math.log(delta)
    least = math.inf
    for order, divergence in curve:
        paid = divergence + log / (order - 1)
        gained = math.log(order) / (order - 1) - math.log1p(-1 / order)
        least = min(least, paid - gained + ROUNDING * (paid + gained))
    return max(0.0, least)


def delta_from_renyi(curve: Sequence[tuple[float, float]], epsilon: float) -> float:
    r"""Return the smallest delta for which (epsilon, delta)-DP follows from one of the divergences, rounded up.

    For order :math:`\alpha` and divergence D, in both directions, the inverse of `epsilon_from_renyi`,

    .. math:: \delta = e^{(\alpha - 1)(D - \epsilon)} \, \frac1\alpha \Big(1 - \frac1\alpha\Big)^{\alpha - 1},

    but at most 1. An empty curve gives 1.

    Args:
        curve: Pairs (order, divergence), orders in (1, inf), divergences in [0, inf].
        epsilon: In [0, inf].

    Source: Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy, proposition 12.
    """
    if math.isinf(epsilon):
        return 0.0
    least = 0.0
    for order, divergence in curve:
        if divergence < math.inf:
            lost, gained = (order - 1) * divergence, (order - 1) * (epsilon - math.log1p(-1 / order)) + math.log(order)
            least = min(least, lost - gained + ROUNDING * (lost + gained))
    return min(1.0, math.exp(least) * (1 + ROUNDING))


def curve_of_group(curve: RenyiCurve, rounds: int) -> RenyiCurve | None:
    """Return what holds of games that differ in up to `rounds` rounds, or None if that is nothing.

    Args:
        curve: That of neighbouring games.
        rounds: At least 1.
    """
    found: RenyiCurve | None = None
    power = curve
    while rounds:
        if rounds % 2:
            found = power if found is None else _chained(found, power)
        rounds //= 2
        if rounds:
            power = _chained(power, power)
    return found or None


def _chained(first: RenyiCurve, second: RenyiCurve) -> RenyiCurve:
    r"""Return a curve for P and R, if P and Q are as close as `first` says, and Q and R as close as `second` says.

    By Hölder's inequality with 1 / p + 1 / q = 1, for :math:`P^\alpha R^{1 - \alpha}` as the product of
    :math:`P^\alpha Q^{1 / p - \alpha}` and :math:`Q^{\alpha - 1 / p} R^{1 - \alpha}`,

    .. math:: D_\alpha(P, R) \le \frac{\alpha - 1 / p}{\alpha - 1} D_{p \alpha}(P, Q) + D_\beta(Q, R), \quad
              \beta = q (\alpha - 1 / p) = \frac{p \alpha - 1}{p - 1}

    (Mironov 2017, proposition 11). Here :math:`p \alpha` runs over the orders of `first`, and :math:`\beta` is rounded
    up to an order of `second`, which is safe because divergences grow with the order.
    """
    orders, lost = np.array(first).T
    others, also = np.array(second).T
    also = np.append(also, math.inf)
    result = []
    for order in orders.tolist():
        larger = orders > order * (1 + ROUNDING)
        p = orders[larger] / order
        beta = (p * order - 1) / (p - 1) * (1 + ROUNDING)
        sums = (order - 1 / p) / (order - 1) * lost[larger] + also[np.searchsorted(others, beta)]
        least = float(sums.min(initial=math.inf))
        if math.isfinite(least):
            result.append((order, least * (1 + ROUNDING)))
    return tuple(result)


def rho_from_renyi(curve: Sequence[tuple[float, float]], pure: float) -> float:
    """Return a rho that is at least (divergence at an order) / order for every order greater than 1.

    Divergences grow with the order, so between two orders of the curve the divergence is at most that at the upper one,
    and beyond the last order at most `pure`.

    Args:
        curve: Pairs (order, divergence), ascending, at least one.
        pure: An epsilon for which pure epsilon-DP holds.
    """
    below, largest = 1.0, 0.0
    for order, divergence in curve:
        largest = max(largest, divergence / below)
        below = order
    return max(largest, pure / below) * (1 + ROUNDING)
