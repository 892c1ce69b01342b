"""Randomized response: a random bit replaces each gain, more often 1 for larger gains."""

import math
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.facts import InputFacts, Noise
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.secure_draws import ChoosesDraws

STEP = 2.0**-53
"""Uniform doubles are multiples of this, so the probabilities are too."""


class State(NamedTuple):
    """The parameters of `release`; none of them changes.

    Attributes:
        floor: Probability of a 1 for gain 0, and of a 0 for gain 1.
        span: 1 - 2 floor.
    """

    floor: float
    span: float


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release 1 with probability floor + span * gain, otherwise 0."""
    return (1.0 if rng.random() < state.floor + state.span * gain else 0.0), 1


class RandomizedResponse(ChoosesDraws):
    r"""Replaces each gain by a random bit, which is more often 1 for larger gains.

    The bit is 1 with probability :math:`\frac{g (e^\epsilon - 1) + 1}{e^\epsilon + 1}` for gain g, and 0 otherwise.

    The probability of either bit changes by a factor of at most :math:`e^\epsilon` between any two gains. The bits of
    an arm with mean :math:`\mu` have mean :math:`\frac{1 + \mu (e^\epsilon - 1)}{e^\epsilon + 1}`: the order of the
    arms stays, and gaps shrink by the factor :math:`\frac{e^\epsilon - 1}{e^\epsilon + 1}`. If a round reveals s > 1
    gains, each bit gets epsilon / s. Averages of batches are treated like gains: their lower sensitivity is not used.

    Args:
        epsilon: Privacy parameter, in (0, inf]; at `math.inf` the bit is a Bernoulli draw with the gain as its mean.
        draws: `"fast"`, repeatable; or `"secure"`, from the operating system, without a seed. Either way epsilon holds
            with delta 0, because a uniform number of 53 bits gives the two probabilities exactly.

    Protects: one round's gains of all arms, in the local model.

    Source: Warner (1965); for bandits, Ren, Zhou, Liu and Shroff (2020), Multi-Armed Bandits with Local Differential
    Privacy.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs.wrappers import RandomizedResponse
        >>> env = RandomizedResponse(gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=8), epsilon=1)
        >>> observation, info = env.reset(seed=0)
        >>> [float(env.step(1)[0]["gain"][1]) for _ in range(8)]
        [1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    """

    release = staticmethod(release)
    withholds = False

    def __init__(self, *, epsilon: SupportsFloat, draws: str = "fast") -> None:
        self._use_draws(draws)
        self.epsilon = checks.epsilon(epsilon)

    def new_state(self, inputs: InputFacts) -> State:
        """Return the probabilities of the bits."""
        return coin_chances(self.epsilon / inputs.gains_in_a_round)

    def release_for(self, inputs: InputFacts) -> Any:
        """Return `release`: a uniform double is an exact coin; secure draws only change its source."""
        return self.release

    def noise(self, inputs: InputFacts) -> Noise:
        """Return the noise facts: epsilon is divided by the number of revealed gains."""
        return Noise(float(inputs.gains_in_a_round))

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return epsilon, for all bits that a round influences together."""
        bits = inputs.gains_in_a_round
        if math.isinf(self.epsilon):
            return PrivacyGuarantee.none("epsilon is inf, so the bits have the gains as their means")
        shared = f"e^(epsilon / {bits}), for each of {bits} bits that a round influences"
        return PrivacyGuarantee(
            epsilon=self.epsilon,
            model="local",
            theorem="randomized response: the probability of either bit changes by a factor of at most "
            + (shared if bits > 1 else "e^epsilon"),
        )


def coin_chances(epsilon: float) -> State:
    """Return the probabilities of one bit for an epsilon, in (0, inf].

    The probability of the less likely bit is rounded up to a multiple of 2^-53, where 1 - floor is exact too. So a
    uniform double yields both probabilities exactly, and both bits remain possible.
    """
    if math.isinf(epsilon):
        return State(0.0, 1.0)
    # e^-epsilon / (1 + e^-epsilon) cannot overflow; its rounding is far below one part in 2^50.
    odds = math.exp(-epsilon)
    steps = math.ceil(odds / (1 + odds) * (1 + 2**-50) / STEP)
    floor = min(0.5, max(steps, 1) * STEP)
    return State(floor, 1 - 2 * floor)
