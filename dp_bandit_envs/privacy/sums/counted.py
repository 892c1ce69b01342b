"""Sums released by one counter for each arm."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs.privacy.counters import Counter, make_counter
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import to_grid
from dp_bandit_envs.privacy.sums.mechanism import for_rounds
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.specialise import specialise


class State(NamedTuple):
    """What is known and what was released.

    Attributes:
        exact: Sums of the gains so far, `(n_arms,)`.
        inserted: Numbers of gains so far, `(n_arms,)`.
        sums, counts: The released sums and how many gains they cover, `(n_arms,)`.
        counters: The counters' own state.
        factor: By how much the counters' noise is multiplied: the sensitivity of a round.
        grid: The step between sums that can be released; 0 without noise.
        pad: Whether counters of arms that revealed nothing get an item 0.
    """

    exact: FloatArray
    inserted: IntArray
    sums: FloatArray
    counts: IntArray
    counters: Any
    factor: float
    grid: float
    pad: bool


def insert(state: Any, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Stand for a counter's own function."""
    raise NotImplementedError


def tell(
    state: State, gain: Sequence[float], observed: Sequence[int], rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Insert what was revealed into the counters of its arms, and release what they release."""
    pad = False
    if state.pad:
        # A step that reveals nothing, such as the rest of a game below batches, is no item for any counter.
        for arm in range(len(state.counts)):
            pad = pad or observed[arm] != 0
    for arm in range(len(state.counts)):
        if observed[arm]:
            state.exact[arm] += gain[arm]
            state.inserted[arm] += 1
        elif not pad:
            continue
        noise, fresh = insert(state.counters, arm, rng)
        if fresh:
            state.sums[arm] = to_grid(state.exact[arm] + state.factor * noise, state.grid)
            state.counts[arm] = state.inserted[arm]
    return state.sums, state.counts


class CounterSums:
    """One counter for each arm, all with the whole of epsilon.

    Args:
        counter: A key of `COUNTERS`.
        epsilon: Privacy parameter of all releases together, for one changed round.
        horizon: The most items that one counter will get.
        sensitivity: By how much one changed round moves all sums together, in L1.
        pad: Whether counters of arms that revealed nothing get an item 0.
        options: What the counter takes besides.
    """

    def __init__(
        self,
        counter: str,
        *,
        epsilon: SupportsFloat,
        horizon: int,
        sensitivity: float = 1.0,
        pad: bool = False,
        **options: Any,
    ) -> None:
        self.counter: Counter = make_counter(counter, epsilon=epsilon, horizon=horizon, **options)
        self.sensitivity = sensitivity
        self.pad = pad

    @property
    def tell(self) -> Callable[..., Any]:
        """The function above with the counter's own `insert`."""
        if self.counter.compilable is not None:
            return specialise(tell, "insert", self.counter.compilable)
        # A counter without plain functions, such as the square-root one, works all the same, but is not compiled; the
        # copy is not kept, or it would keep the counter and its arrays alive.
        return functools.partial(specialise.__wrapped__(tell, "insert", self.counter.advance))

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The counter's, for rounds."""
        own = self.counter.guarantee
        if own.model == "none":
            return own
        return for_rounds(own, self.sensitivity, own.theorem)

    def new_state(self, n_arms: int) -> State:
        """Return the state before the first round."""
        return State(
            np.zeros(n_arms),
            np.zeros(n_arms, np.int64),
            np.zeros(n_arms),
            np.zeros(n_arms, np.int64),
            self.counter.new_state(n_arms),
            self.sensitivity,
            # The grid of noise that is multiplied by at least 1/2 is still fine, and that of less is made finer.
            self.counter.grid * min(1.0, 2.0 ** math.floor(math.log2(self.sensitivity))),
            self.pad,
        )
