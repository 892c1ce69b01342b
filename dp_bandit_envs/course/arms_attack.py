"""An attacker who sees arms alone: games on two neighbouring tables, and what is more frequent on one of them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits.arm_events import ArmEvent
from dp_bandit_envs.audits.attack_search import Candidate, Sampler
from dp_bandit_envs.audits.neighbours import Pair
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.protocols import FloatArray

ROUNDS = 12
TABLES: dict[str, tuple[float, float]] = {
    "both arms pay 0": (0.0, 0.0),
    "both arms pay 1": (1.0, 1.0),
    "both arms pay 1/2": (0.5, 0.5),
    "arm 0 pays": (1.0, 0.0),
    "arm 1 pays": (0.0, 1.0),
}
"""The gains of all rounds but the one in question."""


class Counts(NamedTuple):
    """What an attacker counted.

    Attributes:
        more: Games in which the event happened, on the table on which it is more frequent.
        less: The same on the other table.
        games: Games on each table.
        share: The part of all sequences of arms that are in the event, in [0, 1].
    """

    more: int
    less: int
    games: int
    share: float


def neighbours(table: str, changed: int) -> Pair:
    """Return two tables of gains that differ in one round.

    In that round both arms pay 0 on one table and 1 on the other; where all other rounds prefer an arm, one table has
    arm 0 pay and the other arm 1.

    Args:
        table: A key of `TABLES`.
        changed: The round that differs, from 0 to 11.
    """
    gains = TABLES[table]
    one = np.tile(gains, (ROUNDS, 1)).astype(float)
    other = one.copy()
    one[changed], other[changed] = (0.0, 1.0) if gains[0] == gains[1] else ([1.0, 0.0], [0.0, 1.0])
    return Pair(one, other, changed)


def attack(make: Callable[[], Algorithm], pair: Pair, games: int, seed: int, *, choice: int | None = None) -> Counts:
    """Choose an event of the arms in games of its own, and count it in fresh ones.

    Args:
        make: Makes the algorithm that is attacked.
        pair: Two tables of gains for two arms.
        games: Games on each table, both for the choice (twice) and for the count.
        seed: The seed of the games that are counted, from 0.
        choice: The seed of those in which the event is chosen, from 0; by default that of the count.
    """
    # Streams differ by seed: an even one chooses and an odd one counts.
    chooser = Sampler(make(), bandit, releases=False, seed=2 * (seed if choice is None else choice))
    event, candidate = chooser.events([Candidate(pair)], games, 0.0)[0]
    assert isinstance(event, ArmEvent)
    hits = Sampler(make(), bandit, releases=False, seed=2 * seed + 1).hits((event, candidate), games)
    more, less = hits if event.first else hits[::-1]
    return Counts(more, less, games, len(event.codes) / event.n_arms**event.rounds)


def bandit(table: FloatArray) -> BanditEnv:
    """Return the game of a table."""
    return BanditEnv(GainTable(table))
