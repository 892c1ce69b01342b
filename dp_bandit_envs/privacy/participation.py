"""Participation: in how many rounds of a game the data of one record, or of one person, are used."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError


class Participation(NamedTuple):
    """The most rounds of one game that can use one record, and the records of one person.

    Both are public: they depend on the number of records per arm, the horizon, and which records belong together, never
    on a gain.

    Attributes:
        record: Number of rounds, at least 1.
        person: Number of rounds, at least 1; None if the records' persons are unknown.
    """

    record: int
    person: int | None = None


def use_of_table(rounds: int, rows: int, persons: SupportsIndex | Sequence[Hashable] | None = None) -> Participation:
    """Return the participation for a table whose first T rows are played once each.

    Args:
        rounds: Number of rounds T.
        rows: Number of rows of the table, at least T.
        persons: The largest number of rows per person, or the person of each row; None if unknown.
    """
    if persons is None:
        return Participation(1)
    owners = checked_persons(persons)
    if isinstance(owners, int):
        return Participation(1, min(owners, rounds))
    _check_length(owners, rows)
    served: Counter[Hashable] = Counter()
    _add_rounds_per_person(served, owners[:rounds], 1)
    return Participation(1, _most(served))


def use_of_pools(
    sizes: Sequence[int], rounds: int, persons: SupportsIndex | Sequence[Sequence[Hashable]] | None = None
) -> Participation:
    r"""Return the participation if each arm cycles through its own records.

    In T rounds an arm with n records begins :math:`\lceil T / n \rceil` passes through them, and each pass uses a
    record once.

    Args:
        sizes: Number of records of each arm.
        rounds: Number of rounds T.
        persons: The largest number of records per person, or for each arm the person of each record; None if unknown.
    """
    passes = [-(-rounds // size) for size in sizes]
    if persons is None:
        return Participation(max(passes))
    owned = checked_persons(persons)
    if isinstance(owned, int):
        return Participation(max(passes), min(rounds, owned * max(passes)))
    _check_length(owned, len(sizes))
    served: Counter[Hashable] = Counter()
    for turns, size, owners in zip(passes, sizes, owned, strict=True):
        _check_length(owners, size)
        _add_rounds_per_person(served, owners, turns)
    return Participation(max(passes), min(rounds, _most(served)))


def combine_participation(uses: Sequence[Participation], rounds: int) -> Participation:
    """Return the participation in T rounds combined from several adversaries, which may share data.

    Args:
        uses: The participation in each of them.
        rounds: Number of rounds T.
    """
    persons = [use.person for use in uses if use.person is not None]
    person = min(rounds, sum(persons)) if len(persons) == len(uses) else None
    return Participation(min(rounds, sum(use.record for use in uses)), person)


def checked_persons(persons: Any) -> int | Sequence[Any]:
    """Return the largest number of records per person as an int, or the persons of the records as a sequence.

    Raises:
        WrongTypeError: If it is another type; the message shows no person.
    """
    if isinstance(persons, np.ndarray):
        persons = persons.tolist()
    if isinstance(persons, Sequence) and not isinstance(persons, (str, bytes)):
        return persons
    if not hasattr(persons, "__index__") and not isinstance(persons, float):
        raise WrongTypeError(
            "persons must be the most records of one person, or a list that says whose each record is; received"
            f" {checks.kind_of(persons)}."
        )
    return checks.integer("persons", persons, at_least=1)


def _check_length(owners: Sequence[object], records: int) -> None:
    if len(owners) != records:
        raise ValueError(f"persons must have one entry for each of {records}; received {len(owners)}.")


def _add_rounds_per_person(served: Counter[Hashable], owners: Sequence[Hashable], turns: int) -> None:
    """Add to each owner's number of rounds, for records that are used this often."""
    try:
        for owner in owners:
            served[owner] += turns
    except TypeError:
        raise WrongTypeError(
            "persons must be ids, such as numbers or texts; one of them is a list or the like."
        ) from None


def _most(served: Counter[Hashable]) -> int:
    """Return the most rounds of a person; refuse ids that would split a person into several."""
    if any(_is_missing(owner) for owner in served):
        raise ValueError(
            "persons must say whose each record is; for some it is missing (None or NaN), which may all be the same"
            " person's. Leave these records out, or give the most records of one person as a number."
        )
    if len({isinstance(owner, str) for owner in served}) > 1:
        raise ValueError(
            "persons must be all texts, or none; 7 and '7' would be two persons. Write all of them in the same way."
        )
    return max(served.values())


def _is_missing(owner: Any) -> bool:
    try:
        return owner is None or bool(owner != owner)
    except (TypeError, ValueError):
        return True  # as pandas.NA, which is neither equal to itself nor not
