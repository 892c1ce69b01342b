"""Pairs of neighbouring tables of gains: equal but for one round."""

import itertools
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray

RANDOM_TABLES = 6


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


def candidate_pairs(rounds: int, n_arms: int, rng: np.random.Generator) -> list[Pair]:
    """Return pairs that are worth a look: early, second and middle rounds changed in tables of several kinds.

    Args:
        rounds: At least 2.
        n_arms: At least 2.
        rng: Draws the random tables, whose gains are 0 or 1.
    """
    lead = np.zeros(n_arms)
    lead[0] = 1.0
    rows = [np.zeros(n_arms), np.ones(n_arms), np.full(n_arms, 0.5), lead, 1 - lead]
    tables = [np.tile(row, (rounds, 1)) for row in rows]
    tables.append(np.array([rows[3 + t % 2] for t in range(rounds)]))
    tables += [rng.integers(0, 2, (rounds, n_arms)).astype(float) for _ in range(RANDOM_TABLES)]
    pairs = []
    changes = [(np.zeros(n_arms), np.ones(n_arms)), (lead, 1 - lead)]
    for table, changed, (low, high) in itertools.product(tables, sorted({0, 1, rounds // 2}), changes):
        one, other = table.copy(), table.copy()
        one[changed], other[changed] = low, high
        pairs.append(Pair(one, other, changed))
    return pairs
