"""Privacy arithmetic that never rounds towards less noise."""

import math
from fractions import Fraction
from typing import Final

MARGIN: Final = 1 + 1e-9
"""A factor on all scales of noise: whatever is rounded on the way to a draw, the epsilon asked for is kept."""


def divide_up(numerator: float, denominator: float) -> float:
    """Return the smallest double that is at least numerator / denominator; 0 if the denominator is infinite.

    Args:
        numerator: A finite number of at least 0.
        denominator: A number greater than 0, or `math.inf`.
    """
    if math.isinf(denominator):
        return 0.0
    quotient = numerator / denominator
    if not math.isfinite(quotient):
        raise ValueError(f"{numerator!r} / {denominator!r} is too large for a noise scale; use a larger epsilon.")
    # Fractions compare exactly, so an exact quotient (1 / 0.5) is not rounded up.
    if Fraction(quotient) * Fraction(denominator) < Fraction(numerator):
        quotient = math.nextafter(quotient, math.inf)
    return quotient


def root_up(number: int) -> float:
    """Return the smallest double that is at least the square root of an integer of at least 0."""
    root = math.sqrt(number)
    return root if Fraction(root) ** 2 >= number else math.nextafter(root, math.inf)


def multiply_up(one: float, other: float) -> float:
    """Return the smallest double that is at least the product of two finite numbers of at least 0."""
    product = one * other
    if not math.isfinite(product):
        raise ValueError(f"{one!r} times {other!r} is too large for a noise scale; use a larger epsilon.")
    exact = Fraction(one) * Fraction(other)
    return product if Fraction(product) >= exact else math.nextafter(product, math.inf)


def times_up(number: int, value: float) -> float:
    """Return the product, rounded up; inf if it is too large."""
    return math.inf if math.isinf(number * value) else multiply_up(float(number), value)


def half_square_up(number: float) -> float:
    """Return half the square of a number of at least 0, rounded up: never 0 for another one, and inf if too large."""
    return math.inf if math.isinf(number * number) else multiply_up(multiply_up(number, number), 0.5)
