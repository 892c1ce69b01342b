"""Events of the arms played: sets of sequences that are more frequent on one table of gains than on its neighbour."""

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.audits.event_bounds import cautious_log_ratio
from dp_bandit_envs.protocols import IntArray
from dp_bandit_envs.simulation.many_games import Shown

MOST_BITS = 62
"""A sequence of arms is one number of so many bits; rounds beyond them are not looked at."""


@dataclasses.dataclass(frozen=True)
class ArmEvent:
    """The event that the arms of the first rounds are one of a set of sequences.

    Attributes:
        rounds: How many rounds it looks at.
        n_arms: More than every arm in it.
        codes: The sequences, each as a number with the first round as its highest digit in base `n_arms`, sorted.
        first: Whether it is more frequent on the first of two tables.
        score: A cautious estimate of the log ratio of its probabilities, on the samples that it was chosen on.
    """

    rounds: int
    n_arms: int
    codes: IntArray
    first: bool
    score: float

    def hits(self, shown: Shown) -> int:
        """Return in how many games it happened."""
        return int(np.isin(codes_of(shown.arms[:, : self.rounds], self.n_arms), self.codes).sum())


def codes_of(arms: NDArray[Any], n_arms: int) -> IntArray:
    """Return the arms of each game, `(games, rounds)`, as one number, `(games,)`."""
    code = np.zeros(len(arms), np.int64)
    for t in range(arms.shape[1]):
        code = code * n_arms + arms[:, t]
    return code


def strongest_arm_event(
    first_look: tuple[Shown, Shown], second_look: tuple[Shown, Shown], *, n_arms: int, delta: float
) -> ArmEvent:
    """Return the set of sequences that most seems to tell games on two tables apart, in either direction.

    Sequences are put in the order of their likelihood ratio in the games of a first look, which is best for an event of
    any size; how many rounds and how many sequences it has is chosen in those of a second look.

    Args:
        first_look: Games on a table and on its neighbour, with equally many on both.
        second_look: The same, other games.
        n_arms: Number of arms.
        delta: What the guarantee allows besides epsilon.
    """
    length = min(first_look[0].arms.shape[1], int(MOST_BITS / math.log2(n_arms)))
    looks = [codes_of(shown.arms[:, :length], n_arms) for shown in (*first_look, *second_look)]
    codes, places = np.unique(np.concatenate(looks), return_inverse=True)
    ends = np.cumsum([len(look) for look in looks])[:-1]
    counts = np.array([np.bincount(part, minlength=len(codes)) for part in np.split(places.ravel(), ends)])
    games = len(looks[2])
    best: ArmEvent | None = None
    for rounds in range(length, 0, -1):
        if rounds < length:
            codes, starts = np.unique(codes // n_arms, return_index=True)
            counts = np.add.reduceat(counts, starts, axis=1)
        for first in (True, False):
            more, less = (0, 1) if first else (1, 0)
            order = np.argsort(-(counts[more] + 0.5) / (counts[less] + 0.5), kind="stable")
            hits = np.cumsum(counts[2:, order], axis=1)
            scores = cautious_log_ratio(hits[more], hits[less], games, delta)
            size = int(np.argmax(scores)) + 1
            if best is None or scores[size - 1] > best.score:
                best = ArmEvent(rounds, n_arms, np.sort(codes[order[:size]]), first, float(scores[size - 1]))
    assert best is not None
    return best
