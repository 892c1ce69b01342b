"""Pairs of neighbouring tables of gains, equal but for one round: a first choice, and small changes of good ones."""

import itertools
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray

RANDOM_TABLES = 12
GAINS = (0.0, 0.5, 1.0)
"""The gains of random rows."""


class Pair(NamedTuple):
    """Two tables of gains that differ in one round.

    Attributes:
        one: `(rounds, n_arms)`, in [0, 1].
        other: The same with another row `changed`.
        changed: The number of that row, from 0.
    """

    one: FloatArray
    other: FloatArray
    changed: int


def candidate_pairs(
    rounds: int,
    n_arms: int,
    rng: np.random.Generator,
    *,
    plain: int = 7,
    tables: int = RANDOM_TABLES,
    changed: list[int] | None = None,
) -> list[Pair]:
    """Return pairs that are worth a look: tables of several kinds, with an early or a later round changed.

    In the changed round all gains turn from 0 to 1, or the first arm's from 1 to 0 and all others' from 0 to 1: where
    one gain is revealed, these are all changes from one end of the range to the other.

    Args:
        rounds: At least 2.
        n_arms: At least 2.
        rng: Draws the random tables, whose gains are 0, 1/2 or 1.
        plain: How many of the tables that are constant or alternate to begin with: zeros, ones, halves, and so on.
        tables: How many random tables there are.
        changed: The rounds that are changed; by default early ones, one in the middle and the last.
    """
    lead = np.zeros(n_arms)
    lead[0] = 1.0
    rows = [np.zeros(n_arms), np.ones(n_arms), np.full(n_arms, 0.5), lead, 1 - lead]
    known = [np.tile(row, (rounds, 1)) for row in rows]
    known += [np.array([rows[3 + (t + start) % 2] for t in range(rounds)]) for start in (0, 1)]
    known = known[:plain] + [rng.choice(GAINS, (rounds, n_arms)) for _ in range(tables)]
    changed = changed or sorted({*range(min(rounds, 5)), rounds // 3, rounds // 2, rounds - 1})
    changes = [(np.zeros(n_arms), np.ones(n_arms)), (lead, 1 - lead)]
    pairs = []
    for table, at, (low, high) in itertools.product(known, changed, changes):
        one, other = table.copy(), table.copy()
        one[at], other[at] = low, high
        pairs.append(Pair(one, other, at))
    return pairs


def varied(pair: Pair, rng: np.random.Generator) -> Pair:
    """Return a pair with one or two other rows drawn anew, in both tables, or with another round changed."""
    one, other, changed = pair.one.copy(), pair.other.copy(), pair.changed
    rounds, n_arms = one.shape
    if rng.random() < 0.2:
        at = int(rng.integers(rounds))
        low, high = one[changed].copy(), other[changed].copy()
        one[changed] = other[changed] = one[at].copy()
        one[at], other[at] = low, high
        return Pair(one, other, at)
    for at in rng.integers(rounds, size=int(rng.integers(1, 3))):
        if at != changed:
            one[at] = other[at] = rng.choice(GAINS, n_arms)
    return Pair(one, other, changed)
