"""Reads cards from files, and joins those of the same games."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from dp_bandit_envs.checks import kind_of
from dp_bandit_envs.errors import ResultsError, WrongTypeError
from dp_bandit_envs.suite import card as total_card, identification, task_table
from dp_bandit_envs.suite.card import REFUTED, ScoreCard, apart_by_errors, core_cells, digest_of, refuted_by, totals_of
from dp_bandit_envs.suite.task_table import CORE

WRITERS: Final = "Give the file that ScoreCard.save or `dp-bandit suite` wrote."
SHARED: Final = ("format", "suite", "table", "package", "size", "seed", "delta", "reference")
"""What cards must have in common to be joined."""


class CardKind(NamedTuple):
    """A kind of card: its class, and the version and digest of its table."""

    card: type[ScoreCard]
    version: int
    table: str


KINDS: Final = {
    total_card.FORMAT: CardKind(ScoreCard, task_table.VERSION, task_table.digest_of_table()),
    identification.FORMAT: CardKind(
        identification.IdentificationCard, identification.VERSION, identification.digest_of_table()
    ),
}


def join(*cards: "ScoreCard") -> "ScoreCard":
    """Return one card of several of the same games, as if all agents had been evaluated in one call.

    Totals of agents of different cards are compared as in different games, which is a little too cautious.

    Args:
        cards: At least one; cells that several of them have must be the same.

    Raises:
        ResultsError: If they are of other tables, sizes, seeds or versions, or have different results for one agent.
        WrongTypeError: If one of them is no card.
    """
    if not cards:
        raise ValueError("cards must be at least one; received none.")
    for candidate in cards:
        if not isinstance(candidate, ScoreCard):
            raise WrongTypeError(
                f"cards must be what evaluate returned or suite.load(path) read; received {kind_of(candidate)}."
            )
    values = [card.values for card in cards]
    for name in SHARED:
        if any(card[name] != values[0][name] for card in values):
            shown = " and ".join(dict.fromkeys(str(card[name]) for card in values))
            raise ResultsError(f"cards must have the same {name} to be joined; received {shown}.")
    anchors: dict[str, Any] = {}
    for card in values:
        for task, anchor in card["anchors"].items():
            if anchors.setdefault(task, anchor) != anchor:
                raise ResultsError(f"cards must have the same chance and best in {task} to be joined; they differ.")
    audits = _united(values, "audits", ("agent", "level", "games"))
    refuted = refuted_by(audits)
    cells = [
        {**cell, **REFUTED} if cell.get("score") is not None and (cell["agent"], cell["level"]) in refuted else cell
        for cell in _united(values, "cells", ("agent", "task", "level"))
    ]
    if values[0]["format"] == identification.FORMAT:
        cells = identification.without_errors(cells)
    levels = list(dict.fromkeys(level for card in values for level in card["levels"]))
    joined = {**values[0], "levels": levels, "anchors": anchors, "cells": cells, "audits": audits}
    joined["growth"] = _united(values, "growth", ("agent", "level", "task"))
    joined["totals"] = _totals_of_cells(values, cells)
    return KINDS[joined["format"]].card({**joined, "digest": digest_of(joined)})


def _totals_of_cells(cards: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the totals of joined cells; those that a card has of the same tasks keep their intervals."""
    if cards[0]["format"] == identification.FORMAT:
        return identification.totals_of(cells, cards[0]["size"])
    counts = {key: len(core) for key, core in core_cells(cells).items()}
    intervals = {
        (total["agent"], total["level"]): (total["low"], total["high"])
        for card in cards
        for total in card["totals"]
        if round(total["coverage"] * len(CORE)) == counts.get((total["agent"], total["level"]))
    }
    return totals_of(cells, cards[0]["size"], intervals, apart_by_errors)


def _united(cards: Sequence[Mapping[str, Any]], part: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the entries of a part of several cards, each once."""
    united: dict[str, dict[str, Any]] = {}
    for card in cards:
        for entry in card[part]:
            names = [entry[key] for key in keys]
            if united.setdefault(json.dumps(names), entry) != entry:
                raise ResultsError(f"cards must agree to be joined; they have different {part} for {names}.")
    return list(united.values())


def load(path: str | Path) -> ScoreCard:
    """Read a card that `save` wrote.

    Raises:
        ResultsError: If it is not a card, was changed or damaged, or is from another version of the suite.
    """
    path = Path(path)
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"{path} must be a card of the suite; {error.strerror}. {WRITERS}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ResultsError(f"{path} must be a card of the suite; it is no JSON ({error}). {WRITERS}") from None
    if not isinstance(values, dict) or (kind := KINDS.get(str(values.get("format")))) is None:
        raise ResultsError(f"{path} must be a card of the suite; it is something else. {WRITERS}")
    if (values.get("suite"), values.get("table")) != (kind.version, kind.table):
        raise ResultsError(
            f"{path} must be a card of suite {kind.version}, which this package has; it is of suite"
            f" {values.get('suite')}. Evaluate again, or read it with the version that wrote it."
        )
    if values.get("digest") != digest_of(values):
        raise ResultsError(f"{path} was changed or damaged after it was written. Evaluate again.")
    return kind.card(values)
