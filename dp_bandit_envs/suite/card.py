"""The card: what agents scored, as one JSON file that a paper can attach, and the sheet that it prints."""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import dp_bandit_envs
from dp_bandit_envs.checks import require
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.tables import written
from dp_bandit_envs.files import write_whole
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.suite.scores import (
    FLOOR,
    RESAMPLES,
    axis_means,
    coverage_of,
    differ_in_pairs,
    interquartile_mean,
    interval_of,
    resampled_scores,
    score_of,
    shared_ranks,
    total_of,
)
from dp_bandit_envs.suite.task_table import AXES, CORE, DELTA, TASKS, VERSION, digest_of_table

if TYPE_CHECKING:
    import pandas

FORMAT: Final = "dp-bandit-envs suite card"
CANNOT: Final = ("game", "guarantee", "failed", "refuted")
"""Why a cell has no score: another kind of game; no guarantee at this level; it failed, which counts 0; its claim is
refuted."""
NOTE: Final = (
    "The level is for a round, at delta = 1e-6. The data of data/trial are public, and so is the seed; a patient serves"
    " in up to five rounds."
)
SHORT: Final = {"game": "other game", "guarantee": "no guarantee", "failed": "failed", "refuted": "refuted"}


def card_of(
    size: str,
    seed: int,
    levels: Sequence[float | None],
    anchors: Mapping[str, Mapping[str, Sequence[float]]],
    cells: Sequence[Mapping[str, Any]],
    audits: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return a card as plain values: scores, totals, ranks and all that they follow from.

    Args:
        size: The name of the size.
        seed: The seed.
        levels: The levels that were played.
        anchors: By task, the regrets of chance and of the best in each game.
        cells: What was played; `"regrets"` are those of each game, and are not part of the card.
        audits: What was found of each agent at each level.
    """
    refuted = {(audit["agent"], audit["level"]) for audit in audits if audit["refuted"]}
    scored, resampled = [], {}
    for cell in cells:
        entry_of_card = {key: value for key, value in cell.items() if key != "regrets"}
        key = cell["agent"], cell["level"]
        chance, best = (np.array(anchors[cell["task"]][name]) for name in ("chance", "best"))
        if "regrets" in cell and key in refuted:
            entry_of_card |= {
                "cannot": "refuted",
                "reason": "the audit refutes the guarantee that is declared",
                "score": None,
            }
        elif "regrets" in cell:
            regrets = np.array(cell["regrets"])
            samples = resampled_scores(cell["task"], regrets, chance, best)
            low, high = interval_of(samples)
            entry_of_card |= {"score": score_of(regrets, chance, best), "low": low, "high": high}
            resampled[*key, cell["task"]] = samples
        else:
            entry_of_card["score"] = 0.0 if cell["cannot"] == "failed" else None
            if cell["cannot"] == "failed":
                resampled[*key, cell["task"]] = np.zeros(RESAMPLES)
        scored.append(entry_of_card)
    card = {
        "format": FORMAT,
        "suite": VERSION,
        "table": digest_of_table(),
        "package": dp_bandit_envs.__version__,
        "note": NOTE,
        "size": size,
        "seed": seed,
        "delta": DELTA,
        "levels": list(levels),
        "anchors": {
            task: {"best_name": TASKS[task].best, **{name: float(np.mean(games[name])) for name in ("chance", "best")}}
            for task, games in anchors.items()
        },
        "cells": scored,
        "audits": [dict(audit) for audit in audits],
        "totals": totals_of(scored, resampled, levels),
    }
    return {**card, "digest": digest_of(card)}


def totals_of(
    cells: Sequence[Mapping[str, Any]],
    resampled: Mapping[tuple[str, float | None, str], FloatArray],
    levels: Sequence[float | None],
) -> list[dict[str, Any]]:
    """Return the total of each agent at each level, and its rank where every core task was played."""
    totals = []
    for level in levels:
        rows, samples = [], []
        for agent in dict.fromkeys(cell["agent"] for cell in cells):
            scores = {
                cell["task"]: cell["score"]
                for cell in cells
                if (cell["agent"], cell["level"]) == (agent, level) and cell["score"] is not None
            }
            core = {task: score for task, score in scores.items() if task in CORE}
            if not core:
                continue
            of_resamples = total_of({task: resampled[agent, level, task] for task in core})
            low, high = interval_of(of_resamples)
            row = {
                "agent": agent,
                "level": level,
                "total": float(total_of(core)),
                "low": low,
                "high": high,
                "interquartile_mean": float(interquartile_mean(core)),
                "axes": {axis: float(mean) for axis, mean in axis_means(core).items()},
                "coverage": coverage_of(list(core), CORE),
                "rank": None,
            }
            totals.append(row)
            if row["coverage"] == 1:
                rows.append(row)
                samples.append(of_resamples)
        are_apart = functools.partial(_are_apart, samples)
        for row, rank in zip(rows, shared_ranks([row["total"] for row in rows], are_apart), strict=True):
            row["rank"] = rank
    return totals


def _are_apart(samples: Sequence[FloatArray], first: int, second: int) -> bool:
    return differ_in_pairs(samples[first], samples[second])


def digest_of(card: Mapping[str, Any]) -> str:
    """Return a SHA-256 of a card without its own digest."""
    facts = {key: value for key, value in card.items() if key != "digest"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True, allow_nan=False).encode()).hexdigest()


@dataclasses.dataclass(frozen=True, repr=False)
class ScoreCard:
    """What agents scored in the tasks of the suite.

    `print` shows the totals and the scores of the axes.

    Attributes:
        values: The card as plain values.

    Example:
        >>> from dp_bandit_envs import suite
        >>> scores = suite.evaluate(["DP-KLUCB", "EXP3"], tasks="stochastic", size="tiny", epsilon=1, progress=False)
        >>> [cell["score"] is None for cell in scores.cells][:2]
        [False, False]
    """

    values: Mapping[str, Any]

    @property
    def cells(self) -> list[dict[str, Any]]:
        """One entry for each agent, task and level: the score with its interval, or why there is none."""
        return [dict(cell) for cell in self.values["cells"]]

    @property
    def totals(self) -> list[dict[str, Any]]:
        """One entry for each agent at each level, over the tasks with arms that it played."""
        return [dict(total) for total in self.values["totals"]]

    def cell(self, agent: str, task: str, level: float | None) -> dict[str, Any]:
        """Return the entry of an agent in a task at a level.

        Raises:
            ValueError: If there is none.
        """
        for cell in self.values["cells"]:
            if (cell["agent"], cell["task"], cell["level"]) == (agent, task, level):
                return dict(cell)
        raise ValueError(f"the card must have a cell for {agent!r} in {task!r} at level {level}; it has none.")

    def card(self) -> dict[str, Any]:
        """Return a copy of the card as plain values, for JSON."""
        copied: dict[str, Any] = json.loads(self.text())
        return copied

    def text(self) -> str:
        """Return the card as JSON, the same to the byte for the same numbers."""
        return json.dumps(self.values, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the card to a file, whole or not at all."""
        write_whole(Path(path), self.text())

    def table(self, format: str = "markdown") -> str:
        """Return the totals and the means of the axes as a table: `"markdown"`, `"latex"`, `"csv"` or `"html"`."""
        axes = [axis for axis in AXES if any(axis in total["axes"] for total in self.values["totals"])]
        rows = []
        for total in self.values["totals"]:
            rank = "" if total["rank"] is None else str(total["rank"])
            means = [f"{total['axes'][axis]:.2f}" if axis in total["axes"] else "" for axis in axes]
            score = f"{total['total']:.2f} [{total['low']:.2f}, {total['high']:.2f}]"
            rows.append([total["agent"], level_in_words(total["level"]), rank, score, *means])
        return written(["agent", "epsilon", "rank", "total", *axes], rows, format)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the cells as a data frame."""
        frame: pandas.DataFrame = require("pandas", extra="data").json_normalize(self.cells)
        return frame

    def __str__(self) -> str:
        lines = [
            f"suite {self.values['suite']}, {self.values['size']}, seed {self.values['seed']}: 0 is chance, 1 the best"
            " without privacy",
            "",
            self.table(),
        ]
        reasons = self._reasons()
        return "\n".join([*lines, *(["", *reasons] if reasons else [])])

    def _reasons(self) -> list[str]:
        """Return a line for each reason for which cells have no score."""
        tasks: dict[tuple[str, str, str], list[str]] = {}
        for cell in self.values["cells"]:
            if cell.get("cannot") in CANNOT:
                key = cell["agent"], level_in_words(cell["level"]), SHORT[cell["cannot"]]
                tasks.setdefault(key, []).append(cell["task"])
        lines = []
        for (agent, level, why), names in tasks.items():
            where = "all tasks with arms" if set(CORE) <= set(names) else ", ".join(names)
            lines.append(f"{agent} at {level}: {why} in {where}")
        low = [cell for cell in self.values["cells"] if cell["score"] is not None and cell["score"] < FLOOR]
        lines += [f"{cell['agent']} in {cell['task']}: {cell['score']:.2f}, which counts as -1" for cell in low]
        for audit in self.values["audits"]:
            if audit["refuted"]:
                lines.append(f"{audit['agent']} at {audit['level']:g}: {audit['reason']}")
        return lines


def level_in_words(level: float | None) -> str:
    """Return a level as tables show it."""
    return "none" if level is None else f"{level:g}"


def load(path: str | Path) -> ScoreCard:
    """Read a card that `save` wrote.

    Raises:
        ResultsError: If it is no card, was changed or damaged, or is of another version of the suite.
    """
    path = Path(path)
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ResultsError(f"{path} must be a card of the suite; it is no JSON ({error}).") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ResultsError(f"{path} must be a card of the suite; it is something else.")
    if (values.get("suite"), values.get("table")) != (VERSION, digest_of_table()):
        raise ResultsError(
            f"{path} must be a card of suite {VERSION}, which this package has; it is of suite {values.get('suite')}."
        )
    if values.get("digest") != digest_of(values):
        raise ResultsError(f"{path} was changed or damaged after it was written. Evaluate again.")
    return ScoreCard(values)
