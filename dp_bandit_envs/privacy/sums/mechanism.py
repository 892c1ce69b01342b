"""What every mechanism that releases sums offers to the wrappers and the simulator.

A mechanism is written once, as a plain function over a NamedTuple of arrays:

    tell(state, gain, observed, rng) -> (sums, counts)

It takes what one round revealed, `gain` and `observed` of shape `(n_arms,)`, and returns what may be known after it:
for each arm a released sum and the number of gains in it. A gain enters the sums of its own arm only.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from dp_bandit_envs.privacy.guarantee import REPLACE_ONE_ROUND, PrivacyGuarantee

Told = tuple[Any, Any]


class SumMechanism(Protocol):
    """A way to release sums; the wrappers differ in nothing else."""

    @property
    def tell(self) -> Callable[[Any, Sequence[float], Sequence[int], np.random.Generator], Told]:
        """The plain function that does it."""

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """What all releases together guarantee for one changed round, by this mechanism's own noise."""

    def new_state(self, n_arms: int) -> Any:
        """Return the state before the first round."""


def after_noise_below(own: PrivacyGuarantee, below: PrivacyGuarantee | None) -> PrivacyGuarantee:
    """Return the guarantee of sums with noise of their own around wrappers that may have added some already."""
    if below is None:
        return own
    if below.model != "none":
        # Either holds alone; the one below covers all that leaves it, so what is done above costs nothing.
        added = "" if own.model == "none" else "; the noise added above it is post-processing"
        return dataclasses.replace(below, theorem=below.theorem + added)
    # What is below may keep true gains for a while, as batches do, so it must be trusted.
    return dataclasses.replace(own, model="central") if own.model == "local" else own


def for_rounds(own: PrivacyGuarantee, sensitivity: float, theorem: str) -> PrivacyGuarantee:
    """Turn a guarantee for one item of one arm's sum into one for a round, by the reason why that is the same."""
    if own.model == "none":
        return own
    reason = (
        "a round enters the sum of one arm, so arms compose in parallel"
        if sensitivity <= 1
        else f"a round moves all sums by at most {sensitivity:.4g}, which multiplies the noise"
    )
    return dataclasses.replace(own, neighbours=REPLACE_ONE_ROUND, theorem=f"{theorem}; {reason}")
