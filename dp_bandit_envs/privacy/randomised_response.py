"""Randomised response on one gain: the code that every wrapper and the simulator share."""

import math
from typing import NamedTuple

import numpy as np

LEAST = 2.0**-52
"""The least chance of either answer that a 53-bit uniform number can still give; it is on the side of more noise."""


class ResponseMechanism(NamedTuple):
    """Parameters of `respond`.

    Attributes:
        floor: Chance of a 1 for gain 0, and of a 0 for gain 1.
        span: What is left in between, 1 - 2 floor.
    """

    floor: float
    span: float


def respond(gain: float, mechanism: ResponseMechanism, rng: np.random.Generator) -> tuple[float, bool]:
    """Return 1 with chance floor + span gain, otherwise 0; and that there is an answer."""
    return (1.0 if rng.random() < mechanism.floor + mechanism.span * gain else 0.0), True


def response_mechanism(epsilon: float, sensitivity: float) -> ResponseMechanism:
    """Return the mechanism for gains of which a round reveals several if the sensitivity is above 1."""
    share = epsilon / max(1.0, sensitivity)
    # e^-share / (1 + e^-share) cannot overflow.
    odds = math.exp(-share) if math.isfinite(share) else 0.0
    floor = max(odds / (1 + odds), LEAST) if math.isfinite(share) else 0.0
    floor = min(0.5, floor * (1 + 2**-50))
    return ResponseMechanism(floor, 1 - 2 * floor)
