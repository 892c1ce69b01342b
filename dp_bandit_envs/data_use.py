"""How often recorded data serve in one game: what a guarantee for a round is worth for a record and for a person."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple, SupportsIndex

from dp_bandit_envs import checks


class DataUse(NamedTuple):
    """In how many rounds of one game a record, and all records of one person, can serve at most.

    Both are public: they follow from the number of records of each arm, the horizon, and which records belong together,
    never from a gain.

    Attributes:
        record: Number of rounds, at least 1.
        person: Number of rounds, at least 1; None if it is not known which records belong to one person.
    """

    record: int
    person: int | None = None


def use_of_table(rounds: int, rows: int, persons: SupportsIndex | Sequence[Hashable] | None = None) -> DataUse:
    """Return how often the rows of a table serve, of which the first T are played once each.

    Args:
        rounds: Number of rounds T.
        rows: Number of rows of the table, at least T.
        persons: The most rows of a person; or whose each row is, one entry a row; None if it is not known.
    """
    if persons is None:
        return DataUse(1)
    if not isinstance(persons, Sequence):
        return DataUse(1, min(checks.integer("persons", persons, at_least=1), rounds))
    _check_length(persons, rows)
    return DataUse(1, max(Counter(persons[:rounds]).values()))


def use_of_pools(
    sizes: Sequence[int], rounds: int, persons: SupportsIndex | Sequence[Sequence[Hashable]] | None = None
) -> DataUse:
    r"""Return how often records serve where each arm goes through its own again and again.

    In T rounds an arm with n records begins :math:`\lceil T / n \rceil` passes through them, and a record serves once
    in each.

    Args:
        sizes: Number of records of each arm.
        rounds: Number of rounds T.
        persons: The most records of a person; or for each arm whose each record is; None if it is not known.
    """
    passes = [-(-rounds // size) for size in sizes]
    if persons is None:
        return DataUse(max(passes))
    if not isinstance(persons, Sequence):
        return DataUse(max(passes), min(rounds, checks.integer("persons", persons, at_least=1) * max(passes)))
    _check_length(persons, len(sizes))
    served: Counter[Hashable] = Counter()
    for turns, size, owners in zip(passes, sizes, persons, strict=True):
        _check_length(owners, size)
        for owner in owners:
            served[owner] += turns
    return DataUse(max(passes), min(rounds, max(served.values())))


def _check_length(owners: Sequence[object], records: int) -> None:
    if len(owners) != records:
        raise ValueError(f"persons must have one entry for each of {records}; received {len(owners)}.")
