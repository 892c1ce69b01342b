"""Randomized response: a coin instead of a gain, more often 1 for larger gains."""

import math
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Below, Mechanism, Noise, after_noise_below

STEP = 2.0**-53
"""Uniform doubles are multiples of this, so chances are too."""


class State(NamedTuple):
    """What `release` needs; nothing of it changes.

    Attributes:
        floor: Chance of a 1 for gain 0, and of a 0 for gain 1.
        span: What is left in between, 1 - 2 floor.
    """

    floor: float
    span: float


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Answer 1 with chance floor + span gain, otherwise 0."""
    return (1.0 if rng.random() < state.floor + state.span * gain else 0.0), 1


class RandomizedResponse(Mechanism):
    r"""Answers with a coin instead of a gain: 1 or 0, more often 1 for larger gains.

    A gain g becomes 1 with probability :math:`\frac{g (e^\epsilon - 1) + 1}{e^\epsilon + 1}`, and 0 otherwise.

    The chance of either answer changes by a factor of at most e^epsilon between any two gains. An arm with mean mu
    becomes one of coins with mean :math:`\frac{1 + \mu (e^\epsilon - 1)}{e^\epsilon + 1}`: the order of the arms stays,
    and gaps shrink by :math:`\frac{e^\epsilon - 1}{e^\epsilon + 1}`. Where one round reveals s > 1 gains, each answer
    gets epsilon / s, also for averages: a coin can flip however little its chances move.

    Args:
        epsilon: Privacy parameter, in (0, inf]; at `math.inf` a gain becomes a coin with that mean.

    Protects: one round's gains of all arms, locally.

    Source: Warner (1965); for bandits, Ren, Zhou, Liu and Shroff (2020), Multi-Armed Bandits with Local Differential
    Privacy.
    """

    release = staticmethod(release)
    withholds = False

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        self.epsilon = checks.epsilon(epsilon)

    def new_state(self, below: Below) -> State:
        """Return the chances of the coins."""
        return coin_chances(self.epsilon / below.gains_in_a_round)

    def noise(self, below: Below) -> Noise:
        """Return by how much epsilon is divided."""
        return Noise(float(below.gains_in_a_round))

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Return epsilon, or what is below if that protects already."""
        answers = below.gains_in_a_round
        if math.isinf(self.epsilon):
            own = PrivacyGuarantee.none("epsilon is inf, so the coins follow the gains")
        else:
            shared = f" / {answers} in the exponent, for each of {answers} answers that a round enters"
            own = PrivacyGuarantee(
                epsilon=self.epsilon,
                model="local",
                theorem="randomized response: either answer's chance changes by a factor of at most e^epsilon"
                + (shared if answers > 1 else ""),
            )
        return after_noise_below(own, below)


def coin_chances(epsilon: float) -> State:
    """Return the chances for an epsilon, in (0, inf], of one coin.

    The chance of the less likely answer is rounded up to a multiple of 2^-53, where 1 - floor is exact too; so neither
    chance is what no uniform double can give, and neither answer impossible.
    """
    if math.isinf(epsilon):
        return State(0.0, 1.0)
    # e^-epsilon / (1 + e^-epsilon) cannot overflow; its rounding is far below one part in 2^50.
    odds = math.exp(-epsilon)
    steps = math.ceil(odds / (1 + odds) * (1 + 2**-50) / STEP)
    floor = min(0.5, max(steps, 1) * STEP)
    return State(floor, 1 - 2 * floor)
