"""Exact running sums: what an agent without privacy learns from."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """Sums and numbers of the gains so far, each `(n_arms,)`."""

    sums: FloatArray
    counts: IntArray


def tell(
    state: State, gain: Sequence[float], observed: Sequence[int], rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Add what was revealed."""
    for arm in range(len(state.counts)):
        if observed[arm]:
            state.sums[arm] += gain[arm]
            state.counts[arm] += 1
    return state.sums, state.counts


@dataclasses.dataclass(frozen=True)
class ExactSums:
    """Sums without noise."""

    tell: Callable[..., Any] = tell

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """Nothing."""
        return PrivacyGuarantee.none("sums without noise guarantee nothing")

    def new_state(self, n_arms: int) -> State:
        """Return the state before the first round."""
        return State(np.zeros(n_arms), np.zeros(n_arms, np.int64))
