"""Exact running sums, for agents without privacy."""

from typing import NamedTuple

import numpy as np

from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Below, Mechanism, after_noise_below
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """Sum and number of each arm's gains so far, `(n_arms,)`."""

    exact: FloatArray
    inserted: IntArray


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add a gain to its arm's sum, and release it."""
    state.exact[arm] += gain
    state.inserted[arm] += 1
    return state.exact[arm], state.inserted[arm]


class ExactSums(Mechanism):
    """Sums without noise; above noisy gains they are post-processing."""

    release = staticmethod(release)
    releases_sums = True

    def new_state(self, below: Below) -> State:
        """Return empty sums."""
        return State(np.zeros(below.n_arms), np.zeros(below.n_arms, np.int64))

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Return the guarantee below; summing adds none."""
        return after_noise_below(PrivacyGuarantee.none("sums without noise guarantee nothing"), below.guarantee)
