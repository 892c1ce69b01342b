"""Gains as items of sums: rounded so that sums of doubles are exact, and how far apart rounded gains can be.

Sums of arbitrary doubles are rounded, and one changed gain changes how all later additions round. The stored sums of
neighbouring games could then differ by more than the sensitivity to which noise is scaled. Multiples of 2^-30 add up
without rounding while the sum is below 2^22.
"""

import math
from typing import SupportsFloat

import numpy as np

from dp_bandit_envs.privacy.facts import Below

STEP = 2.0**-30
STEPS = 2.0**30
TO_STEPS = 1.5 * 2.0**22
"""Adding and subtracting it rounds a double up to 2^20 to the nearest multiple of 2^-30, in vector registers, too."""


def to_item(gain: float) -> float:
    """Return the multiple of 2^-30 next to a gain in [-1, 1], towards 0."""
    return int(gain * STEPS) * STEP


def number_or_nan(value: SupportsFloat) -> float:
    """Return an item that a user gave as a float, or nan if it is no number."""
    try:
        # NumPy before 2.4 makes a number of an array with one entry.
        return math.nan if isinstance(value, np.ndarray) and value.ndim > 0 else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def distance_l1(below: Below) -> float:
    """Return the L1 distance between the rounded values of neighbouring rounds.

    Rounding moves two values apart by less than 2^-30, and not at all where they already are the range's width apart.
    """
    gains = below.gains_in_a_round
    return _apart(below.sensitivity, gains, gains * below.values.width)


def distance_l2(below: Below) -> float:
    """Return their L2 distance."""
    root = math.sqrt(below.gains_in_a_round)
    return _apart(below.values.l2, root, root * below.values.width)


def distance_own(below: Below) -> float:
    """Return their distance in the values' own norm, rounded up."""
    values = below.values
    if values.norm == "l1":
        return _apart(values.own, below.n_values, below.n_values * values.width)
    steps = 1.0 if values.norm == "sup" else math.sqrt(below.n_values)
    return _apart(values.own, steps, steps * values.width)


def _apart(distance: float, steps: float, most: float) -> float:
    return distance if distance >= most else min(distance + steps * STEP, most)
