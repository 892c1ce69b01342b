"""Randomized response on one gain: the code that every wrapper and the simulator share."""

import math
from typing import NamedTuple

import numpy as np

STEP = 2.0**-53
"""Uniform doubles are multiples of this, so chances are too."""


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


def response_mechanism(epsilon: float, answers: int) -> ResponseMechanism:
    """Return the mechanism for games in which one round enters so many answers.

    The chance of the less likely answer is rounded up to a multiple of 2^-53, where 1 - floor is exact too; so neither
    chance is what no uniform double can give, and neither answer impossible.
    """
    share = epsilon / answers
    if math.isinf(share):
        return ResponseMechanism(0.0, 1.0)
    # e^-share / (1 + e^-share) cannot overflow; its rounding is far below one part in 2^50.
    odds = math.exp(-share)
    steps = math.ceil(odds / (1 + odds) * (1 + 2**-50) / STEP)
    floor = min(0.5, max(steps, 1) * STEP)
    return ResponseMechanism(floor, 1 - 2 * floor)
