"""Averages of batches: one arm is played for several rounds, and only their average gain is released."""

import math
from typing import Any, ClassVar, NamedTuple, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.facts import (
    TO_STEPS,
    InputFacts,
    Noise,
    ValueRange,
    distance_in_norm,
    distance_l1,
    distance_l2,
)
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The current batch.

    Attributes:
        totals: Sum of each arm's gains in the batch, `(n_arms,)`.
        revealed: In how many rounds of the batch each arm's gain was revealed, `(n_arms,)`.
        batch_size: Rounds in a batch (tau).
        rounder: Constant that is added to a gain and subtracted to round it, so that totals are exact; 0 for batches of
            one.
        low: The smallest possible gain.
        high: The largest possible gain.
    """

    totals: FloatArray
    revealed: IntArray
    batch_size: int
    rounder: float
    low: float
    high: float


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add a gain to its arm's batch; release the average if all rounds of the batch have revealed the arm."""
    total = state.totals[arm] + (gain + state.rounder - state.rounder)
    revealed = state.revealed[arm] + 1
    state.totals[arm] = total
    state.revealed[arm] = revealed
    if revealed < state.batch_size:
        return 0.0, 0
    # Rounding can lift the average of many gains slightly out of their range.
    return min(max(total / state.batch_size, state.low), state.high), 1


def forget(state: State) -> None:
    """Clear the batch; the gains of arms that some of its rounds did not reveal are dropped."""
    for arm in range(len(state.totals)):
        state.totals[arm] = 0.0
        state.revealed[arm] = 0


class MiniBatchAverage(Mechanism):
    """Plays each chosen arm for `batch_size` rounds (tau) and then releases the average gain; T // tau releases in all.

    Each round influences one average, by at most 1 / tau. To ensure this, an arm's average is released only if its gain
    was revealed in all tau rounds, and the last T mod tau rounds form one more step without a release. Averaging alone
    gives no guarantee for an arbitrary agent. It lowers the sensitivity to 1 / tau for a mechanism above, such as
    `LaplaceClipRescale`, or for the agent's own randomness (EXP3-tau).

    Args:
        batch_size: Rounds in a batch (tau), from 1 to the horizon.

    Source: Dekel, Tewari and Arora (2012); Tossou and Dimitrakakis (2017), section 3.2.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import Uniform
        >>> from dp_bandit_envs.wrappers import MiniBatchAverage
        >>> env = MiniBatchAverage(gym.make("DPBandit-Stochastic-v0", n_arms=3, horizon=14), batch_size=4)
        >>> print(play(env, Uniform(), seed=0).arms)
        [1 1 1 1 0 0 0 0 0 0 0 0 2 2]
    """

    release = staticmethod(release)
    withholds = False
    any_range = True
    forget = staticmethod(forget)
    fixed_by_sizes = True
    example: ClassVar[dict[str, Any]] = {"batch_size": 5}

    def __init__(self, *, batch_size: SupportsIndex) -> None:
        self.batch_size = checks.integer("batch_size", batch_size, at_least=1)

    def new_state(self, inputs: InputFacts) -> State:
        """Return an empty batch."""
        totals, revealed = np.zeros(inputs.n_values), np.zeros(inputs.n_values, np.int64)
        return State(
            totals, revealed, self.batch_size, rounder_of(self.batch_size), inputs.values.low, inputs.values.high
        )

    def sensitivity(self, inputs: InputFacts) -> float:
        """Return the sensitivity below plus the effect of rounding gains, divided by tau."""
        if self.batch_size == 1:
            return inputs.sensitivity
        return distance_l1(inputs) / self.batch_size

    def values(self, inputs: InputFacts) -> ValueRange:
        """Return the facts below, with distances divided by tau."""
        values = inputs.values
        if self.batch_size == 1:
            return values
        distance = values.norm_distance
        if math.isfinite(distance):
            distance = distance_in_norm(inputs) / self.batch_size
        return values._replace(l2=distance_l2(inputs) / self.batch_size, norm_distance=distance)

    def horizon(self, inputs: InputFacts) -> int:
        """Return T // tau; the last T mod tau rounds form one more step without a release."""
        return inputs.horizon // batch_size_within(self.batch_size, inputs.horizon)

    def noise(self, inputs: InputFacts) -> Noise:
        """Return the noise below; averaging adds none."""
        return inputs.noise

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return no guarantee: averaging adds none of its own."""
        return PrivacyGuarantee.none("an average without noise guarantees nothing for an arbitrary agent")


def rounder_of(batch_size: int) -> float:
    """Return the constant that rounds gains to multiples of 2^-30, as for sums, so that totals are exact.

    Otherwise a changed gain changes how all later additions round: with synthetic gains and batches of 2^20 rounds, an
    average moved by 1.00003 / tau. Up to batches of 2^22 rounds, totals now have no rounding error.
    """
    return TO_STEPS if batch_size > 1 else 0.0


def batch_size_within(batch_size: SupportsIndex, horizon: int) -> int:
    """Return the batch size as an int, or raise if it is not in [1, horizon]."""
    checked = checks.integer("batch_size", batch_size, at_least=1)
    if checked > horizon:
        raise ValueError(f"batch_size must be at most the horizon, {horizon}; received {checked}.")
    return checked
