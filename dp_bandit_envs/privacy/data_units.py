"""What a guarantee for a round is worth for a record of the data, and for a person: group privacy."""

import dataclasses
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

Unit: TypeAlias = Literal["record", "person"]
UNITS: Final[tuple[Unit, ...]] = ("record", "person")
UNKNOWN: Final = {
    "record": "the game must be played on recorded data; its gains are made up, so that no record is protected.",
    "person": "it must be known which records belong to one person; it is not. Give Replay persons=, the most records"
    " of a person or the name of a column.",
}


def rounds_of(guarantee: "PrivacyGuarantee", unit: Unit) -> int | None:
    """Return in how many rounds of the game a record, or a person, can serve; None if it is not known."""
    rounds: int | None = None if guarantee.data is None else getattr(guarantee.data, unit)
    return rounds


def for_unit(guarantee: "PrivacyGuarantee", unit: Unit) -> "PrivacyGuarantee":
    """Return what a guarantee for a round gives a record, or a person.

    Whatever the random order in which records serve, replacing those of one unit changes at most that many rounds; so
    the guarantee for a group of rounds holds in every order, and on average over them, too.

    Args:
        guarantee: A `PrivacyGuarantee` for a round.
        unit: `"record"` or `"person"`.

    Raises:
        ValueError: If it is not known in how many rounds the unit can serve.
    """
    rounds = rounds_of(guarantee, unit)
    if rounds is None:
        raise ValueError(UNKNOWN[unit])
    group = guarantee.for_group(rounds)
    if group.model == "none":
        return dataclasses.replace(group, data=None)
    what = "one record" if unit == "record" else "all records of one person"
    return dataclasses.replace(group, data=None, neighbours=f"replace {what}: up to {in_rounds(rounds)}")


def units_in_words(guarantee: "PrivacyGuarantee") -> str:
    """Return what holds for a record and for a person, as the end of a sentence; "" without data or guarantee."""
    if guarantee.model == "none":
        return ""
    parts = []
    for unit in UNITS:
        rounds = rounds_of(guarantee, unit)
        if rounds is not None:
            group = for_unit(guarantee, unit)
            worth = "nothing" if group.model == "none" else group.numbers()
            parts.append(f"; for a {unit}, which can serve in up to {in_rounds(rounds)}: {worth}")
    return "".join(parts)


def in_rounds(rounds: int) -> str:
    """Return a number of rounds in words."""
    return f"{rounds:,} round{'' if rounds == 1 else 's'}"
