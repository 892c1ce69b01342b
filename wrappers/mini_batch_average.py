"""Plays the same arm for a batch of rounds and hands on one average."""

from typing import SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.rounding import divide_up
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray, Observation
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary


class MiniBatchAverage(PrivacyBoundary):
    """Plays each chosen arm for `batch_size` rounds (tau) and then releases the average gain; T // tau steps in all.

    A round enters one average and moves it by at most 1 / tau. To keep it so, an arm's average is released only if
    its gain was revealed in all tau rounds, and the last T mod tau rounds are played but never released.

    Averaging alone guarantees nothing for an arbitrary agent. It makes one round count 1 / tau for the noise of a
    `LaplaceClipRescale` around it, or for the agent's own randomness (EXP3-tau).

    Args:
        env: A bandit environment, or another privacy wrapper around one.
        batch_size: Rounds in a batch (tau), from 1 to the horizon.

    Source: Dekel, Tewari and Arora (2012); Tossou and Dimitrakakis (2017), section 3.2.
    """

    def __init__(self, env: Environment, *, batch_size: SupportsIndex) -> None:
        super().__init__(env)
        self.batch_size = check_batch_size(batch_size, self._horizon_below)
        self.sensitivity = divide_up(self._sensitivity_below, self.batch_size)
        self.horizon = self._horizon_below // self.batch_size
        self.guarantee = batch_guarantee(self._guarantee_below)

    def _begin(self) -> None:
        pass

    def _advance(self, arm: int) -> tuple[Observation, bool, bool]:
        totals = [0.0] * self.n_arms
        counts = [0] * self.n_arms
        for _ in range(self.batch_size):
            observation, terminated, truncated = self._step_below(arm)
            gain, observed = observation["gain"], observation["observed"]
            for index in observed.nonzero()[0].tolist():
                totals[index] += gain.item(index)
                counts[index] += 1
            if terminated or truncated:
                break
        return average(np.array(totals), np.array(counts), self.batch_size), terminated, truncated


def check_batch_size(batch_size: SupportsIndex, horizon: int) -> int:
    """Return the batch size as an int, or raise if it is not in [1, horizon]."""
    size = checks.integer("batch_size", batch_size, at_least=1)
    if size > horizon:
        raise ValueError(f"batch_size must be at most the horizon, {horizon}; received {size}.")
    return size


def average(totals: FloatArray, counts: IntArray, batch_size: int) -> Observation:
    """Return the averages of the arms that were revealed in every round of a batch; the shapes are those given."""
    complete = counts == batch_size
    return {
        # Rounding can carry the average of many gains a bit past 1.
        "gain": np.where(complete, np.minimum(totals / batch_size, 1.0), 0.0),
        "observed": complete.astype(np.int8),
    }


def batch_guarantee(below: PrivacyGuarantee | None) -> PrivacyGuarantee:
    """Return the guarantee of both forms of the wrapper."""
    return below or PrivacyGuarantee.none("an average without noise guarantees nothing for an arbitrary agent")
