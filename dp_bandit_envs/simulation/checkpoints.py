"""The rounds at which a simulation records its results."""

from collections.abc import Sequence

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.protocols import IntArray

SPACINGS = ("linear", "log")


def spaced(horizon: int, number: int = 100, spacing: str = "linear") -> IntArray:
    """Return about `number` rounds up to and including the horizon.

    Args:
        horizon: Number of rounds T.
        number: How many to space; duplicates are dropped.
        spacing: `"linear"` or `"log"` (from round 1).
    """
    number = checks.integer("number of checkpoints", number, at_least=1)
    checks.one_of("spacing", spacing, SPACINGS)
    if spacing == "linear":
        rounds = np.arange(1, number + 1) * horizon // number
    else:
        rounds = np.round(np.geomspace(1, horizon, number)).astype(np.int64)
    return checked([*rounds[rounds >= 1].tolist(), horizon], horizon)


def checked(checkpoints: Sequence[int] | IntArray, horizon: int) -> IntArray:
    """Return checkpoints in ascending order, without duplicates and ending with the horizon, or raise."""
    rounds = np.unique(np.array([checks.integer("checkpoint", t, at_least=1) for t in checkpoints], np.int64))
    if rounds.size and rounds[-1] > horizon:
        raise ValueError(f"checkpoints must be at most the horizon, {horizon}; received {rounds[-1]}.")
    if not rounds.size or rounds[-1] != horizon:
        rounds = np.append(rounds, horizon)
    return rounds
