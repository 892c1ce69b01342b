"""Renyi divergences of a whole game at many orders, and the (epsilon, delta) guarantee that follows from them."""

import math
from collections.abc import Sequence
from typing import Final

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
