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
from dp_bandit_envs.suite.reference import RankedRow, is_there, rank_among, reference
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
    standard_error_of_score,
    standard_error_of_total,
    total_of,
)
from dp_bandit_envs.suite.sheet import (
    MOST_DOTS,
    dots_of,
    head_of,
    level_in_words,
    lines_of_ranking,
    picture,
)
from dp_bandit_envs.suite.task_table import AXES, CORE, DELTA, TASKS, VERSION, digest_of_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

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
    growth: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return a card as plain values: scores, totals, ranks and all that they follow from.

    Args:
        size: The name of the size.
        seed: The seed.
        levels: The levels that were played.
        anchors: By task, the regrets of chance and of the best in each game.
        cells: What was played; `"regrets"` are those of each game, and are not part of the card.
        audits: What was found of each agent at each level.
        growth: How regrets grow in T.
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
            error = standard_error_of_score(cell["deviation"], len(regrets), chance.mean(), best.mean())
            entry_of_card |= {"score": score_of(regrets, chance, best), "low": low, "high": high, "error": error}
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
        "growth": [dict(exponent) for exponent in growth],
        "reference": digest_of_size(size),
        "totals": totals_of(scored, resampled, levels, size),
    }
    return {**card, "digest": digest_of(card)}


def totals_of(
    cells: Sequence[Mapping[str, Any]],
    resampled: Mapping[tuple[str, float | None, str], FloatArray],
    levels: Sequence[float | None],
    size: str,
) -> list[dict[str, Any]]:
    """Return the total of each agent at each level, and its ranks where every core task was played.

    `"rank"` is the rank among the agents of the card, which were played in pairs; `"field"` is the one beside the
    package's algorithms in the reference, which were played in other games.
    """
    totals = []
    for level in levels:
        rows, samples = [], []
        ranking = ranking_at(size, level)
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
                "field": None,
            }
            totals.append(row)
            if row["coverage"] == 1:
                errors = {
                    cell["task"]: cell.get("error", 0.0)
                    for cell in cells
                    if (cell["agent"], cell["level"]) == (agent, level) and cell["task"] in core
                }
                error = standard_error_of_total(errors)
                if ranking:
                    row["field"] = {"rank": rank_among(row["total"], error, ranking), "algorithms": len(ranking)}
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
        """Return the totals and the means of the axes as a table: `"markdown"`, `"latex"`, `"csv"` or `"html"`.

        Ranks are those beside the package's algorithms; without a reference of this size they are among these agents.
        """
        axes = self._axes()
        rows = []
        for total in self.values["totals"]:
            rank = "" if total["rank"] is None else str((total["field"] or total)["rank"])
            means = [f"{total['axes'][axis]:.2f}" if axis in total["axes"] else "" for axis in axes]
            score = f"{total['total']:.2f} [{total['low']:.2f}, {total['high']:.2f}]"
            rows.append([total["agent"], level_in_words(total["level"]), rank, score, *means])
        return written(["agent", "epsilon", "rank", "total", *axes], rows, format)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the cells as a data frame."""
        frame: pandas.DataFrame = require("pandas", extra="data").json_normalize(self.cells)
        return frame

    def plot(self, columns: int | None = None) -> "Figure":
        """Return a picture: one panel for each epsilon, one row for each axis, the package's algorithms as grey ticks.

        It names the first three agents of the card.

        Args:
            columns: Panels in a row; by default all.
        """
        agents = list(dict.fromkeys(cell["agent"] for cell in self.values["cells"]))[:MOST_DOTS]
        dots = {level: {agent: self._dots(agent, level) for agent in agents} for level in self.values["levels"]}
        table = [["total (rank)", *("none" if level is None else f"ε = {level:g}" for level in dots)]]
        ranked = {
            (total["agent"], total["level"]): f"{total['total']:.2f} ({(total['field'] or total)['rank']})"
            for total in self.values["totals"]
            if total["rank"] is not None
        }
        for agent in agents:
            table.append([agent, *(ranked.get((agent, level), "") for level in dots)])
        return picture(self.values["size"], dots, table, columns)

    def _dots(self, agent: str, level: float | None) -> dict[str, tuple[float, float, float]]:
        cells = [
            cell
            for cell in self.values["cells"]
            if (cell["agent"], cell["level"]) == (agent, level) and cell["score"] is not None
        ]
        scores = {cell["task"]: cell["score"] for cell in cells}
        errors = {cell["task"]: cell.get("error", 0.0) for cell in cells}
        total = next(
            (
                (total["total"], total["low"], total["high"])
                for total in self.values["totals"]
                if (total["agent"], total["level"]) == (agent, level) and total["coverage"] == 1
            ),
            None,
        )
        return dots_of(scores, errors, total)

    def _axes(self) -> list[str]:
        return [axis for axis in AXES if any(axis in total["axes"] for total in self.values["totals"])]

    def __str__(self) -> str:
        size, axes = self.values["size"], self._axes()
        lines = [
            f"Suite {self.values['suite']}, {size}, seed {self.values['seed']}. Scores: 0 is chance, 1 the best without"
            " privacy."
        ]
        if any(total["field"] for total in self.values["totals"]):
            lines.append("Ranks are beside the package's algorithms that play every task with arms; > marks yours.")
        elif any(total["rank"] for total in self.values["totals"]):
            lines.append(f"Ranks are among these agents: the reference of the package has no size {size} yet.")
        for level in self.values["levels"]:
            totals = [total for total in self.values["totals"] if total["level"] == level]
            if totals:
                ranking = ranking_at(size, level) if any(total["field"] for total in totals) else []
                lines += ["", head_of(level, axes), *lines_of_ranking(totals, ranking, axes)]
        growth = [
            f"{entry['agent']} at {level_in_words(entry['level'])}: regret grows like T^{entry['exponent']:.2f} in"
            f" {entry['task']}"
            for entry in self.values["growth"]
        ]
        audits = [line for audit in self.values["audits"] if (line := _audit_line(audit))]
        parts = (lines, self._points(), growth, audits, self._reasons())
        return "\n\n".join("\n".join(part) for part in parts if part)

    def _points(self) -> list[str]:
        """Return a line for each agent of points, whose tasks are outside the total."""
        lines = []
        for cell in self.values["cells"]:
            if cell["task"] not in CORE and cell["score"] is not None:
                lines.append(
                    f"{cell['agent']} at {level_in_words(cell['level'])}: {cell['score']:.2f} [{cell['low']:.2f},"
                    f" {cell['high']:.2f}] in {cell['task']}"
                    if "low" in cell
                    else f"{cell['agent']} at {level_in_words(cell['level'])}: {cell['score']:.2f} in {cell['task']}"
                )
        return lines

    def _reasons(self) -> list[str]:
        """Return a line for each reason for which cells have no score."""
        levels: dict[tuple[str, str, str], list[str]] = {}
        for cell in self.values["cells"]:
            if cell.get("cannot") in CANNOT:
                key = cell["agent"], SHORT[cell["cannot"]], cell["task"]
                levels.setdefault(key, []).append(level_in_words(cell["level"]))
        tasks: dict[tuple[str, str, str], list[str]] = {}
        for (agent, why, task), at in levels.items():
            tasks.setdefault((agent, why, ", ".join(at)), []).append(task)
        lines = []
        for (agent, why, at_levels), names in tasks.items():
            where = "all tasks with arms" if set(CORE) <= set(names) else ", ".join(names)
            lines.append(f"{agent} at {at_levels}: {why} in {where}")
        low = [cell for cell in self.values["cells"] if cell["score"] is not None and cell["score"] < FLOOR]
        lines += [f"{cell['agent']} in {cell['task']}: {cell['score']:.2f}, which counts as -1" for cell in low]
        return lines


def _audit_line(audit: Mapping[str, Any]) -> str:
    """Return what an audit found, in one line."""
    start = f"{audit['agent']} at {audit['level']:g}: "
    if audit["kind"] == "none":
        return f"{start}no audit ({audit['reason']})"
    declared, found = audit["declared"], audit["found"]
    verdict = ", which REFUTES it" if audit["refuted"] else ""
    return (
        f"{start}declares epsilon = {_number(declared['epsilon'])} at delta = {declared['delta']:g} for a round; the"
        f" audit finds {audit['kind']} {_number(found)}{verdict}"
    ).replace("finds exact ", "finds exactly ")


def _number(number: float | str) -> str:
    return number if isinstance(number, str) else f"{number:.4g}"


def ranking_at(size: str, level: float | None) -> list[RankedRow]:
    """Return the package's algorithms at a level by rank; none if the reference has no such size or level."""
    return reference().ranking(size, level) if is_there() and reference().has(size) else []


def digest_of_size(size: str) -> str | None:
    """Return a digest of what the reference holds of a size; None if it has no such size."""
    if not (is_there() and reference().has(size)):
        return None
    return hashlib.sha256(json.dumps(reference().of_size(size), sort_keys=True).encode()).hexdigest()[:16]


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
