"""The card: agents' scores as one JSON file that a paper can attach, and the printed sheet."""

import dataclasses
import hashlib
import json
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import dp_bandit_envs
from dp_bandit_envs.checks import require
from dp_bandit_envs.experiments.tables import written
from dp_bandit_envs.files import write_whole
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.suite.reference import REFERENCE_SEED, rank_among, reference
from dp_bandit_envs.suite.scores import (
    FLOOR,
    NORMAL_95,
    RESAMPLES,
    differ,
    differ_in_pairs,
    interquartile_mean,
    interval_of,
    resampled_scores,
    score_of,
    shared_ranks,
    standard_error_of_score,
    standing_of,
    total_of,
)
from dp_bandit_envs.suite.sheet import MOST_DOTS, at_levels, head_of, level_in_words, lines_of_ranking, picture, row_of
from dp_bandit_envs.suite.task_table import AXES, CORE, DELTA, TASKS, VERSION, digest_of_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

FORMAT: Final = "dp-bandit-envs suite card"
CANNOT: Final = ("game", "guarantee", "failed", "refuted", "wrong")
"""Why a cell has no score: another kind of game; no guarantee at this level; it failed, which counts 0; its claim is
refuted; it recommends the wrong arm too often."""
NOTE: Final = (
    "The level is for a round, at delta = 1e-6. The data of data/trial are public, and so are the reference's seeds; a"
    " patient serves in several rounds, and has the epsilon under person."
)
REASON_SHOWN: Final = 110
"""Letters of a reason on the sheet; the card has 300."""
REFUTED: Final = {
    "cannot": "refuted",
    "reason": "the audit refutes the guarantee that is declared",
    "score": None,
    "low": None,
    "high": None,
    "error": None,
}
SHORT: Final = {name: name for name in CANNOT} | {"game": "other kind of game", "guarantee": "no guarantee"}


def card_of(
    size: str,
    seed: int,
    levels: Sequence[float | None],
    anchors: Mapping[str, Mapping[str, Sequence[float]]],
    cells: Sequence[Mapping[str, Any]],
    audits: Sequence[Mapping[str, Any]],
    growth: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return a card as plain values: scores, totals, ranks and their sources.

    Args:
        size: The name of the size.
        seed: The seed.
        levels: The levels played.
        anchors: By task, the regrets of chance and of the best in each game.
        cells: The played cells; their `"regrets"` of each game are not part of the card.
        audits: The audit of each agent at each level.
        growth: Growth exponents of regrets in T.
    """
    refuted = refuted_by(audits)
    scored: list[dict[str, Any]] = []
    resampled: dict[tuple[str, float | None, str], FloatArray] = {}
    for cell in cells:
        entry = {key: content for key, content in cell.items() if key != "regrets"}
        agent = cell["agent"], cell["level"]
        chance, best = (np.array(anchors[cell["task"]][name]) for name in ("chance", "best"))
        if "regrets" not in cell:
            entry["score"] = 0.0 if cell["cannot"] == "failed" else None
            resampled[*agent, cell["task"]] = np.zeros(RESAMPLES)
        elif agent in refuted:
            entry |= REFUTED
        else:
            regrets = np.array(cell["regrets"])
            samples = resampled_scores(cell["task"], regrets, chance, best)
            low, high = interval_of(samples)
            error = standard_error_of_score(cell["deviation"], len(regrets), chance.mean(), best.mean())
            entry |= {"score": score_of(regrets, chance, best), "low": low, "high": high, "error": error}
            resampled[*agent, cell["task"]] = samples
        scored.append(entry)
    samples_of_totals = {
        key: total_of({cell["task"]: resampled[*key, cell["task"]] for cell in core})
        for key, core in core_cells(scored).items()
    }
    intervals = {key: interval_of(samples) for key, samples in samples_of_totals.items()}

    def are_apart(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        return differ_in_pairs(*(samples_of_totals[total["agent"], total["level"]] for total in (first, second)))

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
            task: {
                "best_name": TASKS[task].best,
                "chance": float(np.mean(games["chance"])),
                "best": float(np.mean(games["best"])),
            }
            for task, games in anchors.items()
        },
        "cells": scored,
        "audits": [dict(audit) for audit in audits],
        "growth": [dict(exponent) for exponent in growth],
        "reference": digest_of_size(size),
        "totals": totals_of(scored, size, intervals, are_apart),
    }
    return {**card, "digest": digest_of(card)}


def refuted_by(audits: Sequence[Mapping[str, Any]]) -> set[tuple[str, float | None]]:
    """Return the agents and levels whose claims are refuted."""
    return {(audit["agent"], audit["level"]) for audit in audits if audit["refuted"]}


def core_cells(cells: Sequence[Mapping[str, Any]]) -> dict[tuple[str, float | None], list[Mapping[str, Any]]]:
    """Return by agent and level the cells with a score in tasks with arms."""
    core: dict[tuple[str, float | None], list[Mapping[str, Any]]] = {}
    for cell in cells:
        if cell["task"] in CORE and cell["score"] is not None:
            core.setdefault((cell["agent"], cell["level"]), []).append(cell)
    return core


def totals_of(
    cells: Sequence[Mapping[str, Any]],
    size: str,
    intervals: Mapping[tuple[str, float | None], tuple[float, float]],
    are_apart: Callable[[Mapping[str, Any], Mapping[str, Any]], bool],
) -> list[dict[str, Any]]:
    """Return the total of each agent at each level, and its ranks where every core task was played to the end.

    `"rank"` is the rank among the agents of the card; `"field"` is its rank among the package's algorithms in the
    reference, which were played in other games.

    Args:
        cells: The cells of the card.
        size: The name of the size.
        intervals: By agent and level, the interval of the total; where there is none, it follows from the error.
        are_apart: Whether two totals can be told apart.
    """
    totals: list[dict[str, Any]] = []
    for (agent, level), core in core_cells(cells).items():
        scores = {cell["task"]: cell["score"] for cell in core}
        standing = standing_of({cell["task"]: (cell["score"], cell.get("error", 0.0)) for cell in core})
        half = NORMAL_95 * standing.error
        low, high = intervals.get((agent, level), (standing.total - half, standing.total + half))
        failed = sum(cell.get("cannot") == "failed" for cell in core)
        ranking = reference().ranking(size, level) if len(core) == len(CORE) and not failed else []
        rank = rank_among(standing.total, standing.error, ranking)
        totals.append(
            {
                "agent": agent,
                "level": level,
                "total": standing.total,
                "low": low,
                "high": high,
                "error": standing.error,
                "interquartile_mean": float(interquartile_mean(scores)),
                "axes": {axis: mean for axis, (mean, _) in standing.axes.items()},
                "coverage": len(core) / len(CORE),
                "rank": None,
                "field": {"rank": rank, "algorithms": len(ranking)} if ranking else None,
            }
            | ({"failed": failed} if failed else {})
        )
    for level in {total["level"] for total in totals}:
        whole = [total for total in totals if total["coverage"] == 1 and "failed" not in total]
        rank_totals([total for total in whole if total["level"] == level], are_apart)
    return totals


def rank_totals(totals: Sequence[dict[str, Any]], are_apart: Callable[[Any, Any], bool]) -> None:
    """Give their ranks to the totals of one level."""
    ranks = shared_ranks([total["total"] for total in totals], lambda i, j: are_apart(totals[i], totals[j]))
    for total, rank in zip(totals, ranks, strict=True):
        total["rank"] = rank


def apart_by_errors(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two totals of different games can be told apart."""
    return differ(first["total"], first["error"], second["total"], second["error"])


def digest_of(card: Mapping[str, Any]) -> str:
    """Return a SHA-256 of a card without its own digest."""
    facts = {key: value for key, value in card.items() if key != "digest"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True, allow_nan=False).encode()).hexdigest()


@dataclasses.dataclass(frozen=True, repr=False)
class ScoreCard:
    """Agents' scores in the tasks of the suite.

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

    _whole: ClassVar[tuple[Sequence[str], str]] = (CORE, "all tasks with arms")
    """The tasks that a rank needs, and what they are called together."""

    def __repr__(self) -> str:
        agents = ", ".join(dict.fromkeys(cell["agent"] for cell in self.values["cells"]))
        games = f"{self.values['size']}, seed {self.values['seed']}"
        return f"{type(self).__name__}({agents} {at_levels(*self.values['levels'])}: {games})"

    @property
    def cells(self) -> list[dict[str, Any]]:
        """One entry for each agent, task and level: the score with its interval, or the reason for a missing score."""
        return [dict(cell) for cell in self.values["cells"]]

    @property
    def totals(self) -> list[dict[str, Any]]:
        """One entry for each agent at each level, over the tasks with arms that it played."""
        return [dict(total) for total in self.values["totals"]]

    def cell(self, agent: str, task: str, level: float | None) -> dict[str, Any]:
        """Return the entry of an agent in a task at a level.

        Raises:
            ValueError: If the card has no entry for them.
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
        """Return the card as JSON, byte-identical for equal numbers."""
        return json.dumps(self.values, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the card to a file atomically."""
        write_whole(Path(path), self.text())

    def table(self, format: str = "markdown") -> str:
        """Return the totals and the means of the axes as a table: `"markdown"`, `"latex"`, `"csv"` or `"html"`.

        Ranks are among the package's algorithms; without a reference of this size, among these agents.
        """
        axes = self._axes()
        rows = []
        for total in self.values["totals"]:
            rank = "failed" if "failed" in total else str((total["field"] or total)["rank"] or "")
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

        It names the best agent of the card and the first ones, three together.

        Args:
            columns: Panels in a row; by default all.

        Raises:
            ValueError: If the card has no score.
        """
        self.check_has_score()
        totals = [total for total in self.values["totals"] if total["rank"] is not None]
        ranked = {(total["agent"], total["level"]): row_of(total) for total in totals}
        shown: dict[float | None, Any] = {}
        for level in self.values["levels"]:
            for agent in self.named_agents():
                cells = {
                    cell["task"]: (cell["score"], cell.get("error", 0.0))
                    for cell in self.values["cells"]
                    if (cell["agent"], cell["level"]) == (agent, level) and cell["score"] is not None
                }
                shown.setdefault(level, {})[agent] = cells, ranked.get((agent, level))
        return picture(self.values["size"], shown, columns)

    def check_has_score(self) -> None:
        """Raise an error if no cell has a score."""
        if all(cell["score"] is None for cell in self.values["cells"]):
            raise ValueError("the card must have a score to draw; it has none. print(card) gives the reasons.")

    def named_agents(self) -> list[str]:
        """Return at most three agents with scores, in the card's order: that with the largest total, and the first."""
        agents = list(dict.fromkeys(cell["agent"] for cell in self.values["cells"] if cell["score"] is not None))
        ended = [total for total in self.values["totals"] if "failed" not in total]
        totals = {agent: [total["total"] for total in ended if total["agent"] == agent] for agent in agents}
        best = max(agents, key=lambda agent: np.mean(totals[agent] or [-math.inf]))
        return agents[:MOST_DOTS] if best in agents[:MOST_DOTS] else [*agents[: MOST_DOTS - 1], best]

    def _axes(self) -> list[str]:
        return [axis for axis in AXES if any(axis in total["axes"] for total in self.values["totals"])]

    def __str__(self) -> str:
        return self.sheet()

    def sheet(self, width: float = math.inf) -> str:
        """Return the sheet that `print` shows, without the last axes if tables would be wider than `width` letters."""
        size, axes = self.values["size"], self._axes()
        while axes and len(head_of(1.0, axes)) > width:
            axes.pop()
        lines = [
            f"Suite {self.values['suite']}, {size}, seed {self.values['seed']}. Scores: 0 is chance, 1 the best without"
            " privacy."
        ]
        if any(total["field"] for total in self.values["totals"]):
            lines.append(
                "Ranks are beside the package's algorithms that play every task with arms, in games of seed"
                f" {REFERENCE_SEED}; > marks yours."
            )
        elif any(total["rank"] for total in self.values["totals"]):
            lines.append("Ranks are among these agents: the package's reference has none at this size and level.")
        elif self.values["totals"]:
            lines.append("There are no ranks, which need every task with arms.")
        if any("failed" in total for total in self.values["totals"]):
            lines.append("Agents that failed in a task have no rank and stand last, whatever their total.")
        for level in self.values["levels"]:
            totals = [total for total in self.values["totals"] if total["level"] == level]
            if totals:
                ranking = reference().ranking(size, level) if any(total["field"] for total in totals) else []
                lines += ["", head_of(level, axes), *lines_of_ranking(totals, ranking, axes)]
        growth = [
            f"{entry['agent']} {at_levels(entry['level'])}: regret grows like T^{entry['exponent']:.2f} in"
            f" {entry['task']}"
            for entry in self.values["growth"]
        ]
        audits = [line for audit in self.values["audits"] if (line := audit_line(audit))]
        parts = (lines, self._outside(), growth, audits, self._reasons())
        return "\n\n".join("\n".join(part) for part in parts if part)

    def _outside(self) -> list[str]:
        """Return a line for each score of points, which are outside the total, and for what patients are guaranteed."""
        lines: list[str] = []
        patients: dict[str, list[str]] = {}
        for cell in self.values["cells"]:
            if cell["task"] not in CORE and cell["score"] is not None:
                interval = f" [{cell['low']:.2f}, {cell['high']:.2f}]" if "low" in cell else ""
                lines.append(
                    f"{cell['agent']} {at_levels(cell['level'])}: {cell['score']:.2f}{interval} in {cell['task']}"
                )
            if person := cell.get("guarantee", {}).get("person"):
                delta = f" and delta = {person['delta']:g}" if person["delta"] else ""
                level = cell["level"]
                of_round = "without privacy" if level is None else f"where a round has {level:g}"
                start = f"{cell['agent']}: a patient of {cell['task']} serves in up to {person['rounds']} rounds:"
                patients.setdefault(start, []).append(f"epsilon = {_number(person['epsilon'])}{delta} {of_round}")
        return lines + [f"{start} {', '.join(epsilons)}" for start, epsilons in patients.items()]

    def _reasons(self) -> list[str]:
        """Return a line for each reason for missing scores."""
        levels: dict[tuple[str, str, str, str], list[float | None]] = {}
        failures: dict[str, list[str]] = {}
        for cell in self.values["cells"]:
            if cell.get("cannot") == "failed":
                failures.setdefault(cell["agent"], []).append(cell["reason"])
        for cell in self.values["cells"]:
            if cell.get("cannot") in CANNOT:
                reason = textwrap.shorten(cell["reason"], REASON_SHOWN, placeholder=" ...")
                if cell["cannot"] == "failed":
                    first, *others = dict.fromkeys(failures[cell["agent"]])
                    reason = textwrap.shorten(first, REASON_SHOWN, placeholder=" ...") + " (and others)" * bool(others)
                reason = reason if cell["cannot"] in ("guarantee", "failed", "wrong") else ""
                key = cell["agent"], cell["task"], SHORT[cell["cannot"]], reason
                levels.setdefault(key, []).append(cell["level"])
        tasks: dict[tuple[str, str, str, str], list[str]] = {}
        for (agent, task, why, reason), of_reason in levels.items():
            tasks.setdefault((agent, at_levels(*of_reason), why, reason), []).append(task)
        lines = []
        for (agent, at, why, reason), names in tasks.items():
            where = self._whole[1] if set(self._whole[0]) <= set(names) else ", ".join(names)
            lines.append(f"{agent} {at}: {why} in {where}{': ' if reason else ''}{reason}")
        low = [cell for cell in self.values["cells"] if cell["score"] is not None and cell["score"] < FLOOR]
        lines += [f"{cell['agent']} in {cell['task']}: {cell['score']:.2f}, which counts as -1" for cell in low]
        return lines


def audit_line(audit: Mapping[str, Any]) -> str:
    """Return the finding of an audit in one line."""
    start = f"{audit['agent']} {at_levels(audit['level'])}: "
    if audit["kind"] == "none":
        return f"{start}no audit ({audit['reason']})"
    declared = audit["declared"]
    delta = f" and delta = {declared['delta']:g}" if declared["delta"] else ""
    how = "exactly" if audit["kind"] == "exact" else audit["kind"]
    verdict = ", which REFUTES it" if audit["refuted"] else ""
    whose = "" if audit["player"] == "agent" else " of its wrapper"
    games = [kind if of_kind != "none" else f"not {kind}" for kind, of_kind in sorted(audit["games"].items())]
    return (
        f"{start}declares epsilon = {_number(declared['epsilon'])}{delta} for a round; the audit{whose} finds {how}"
        f" {_number(audit['found'])}{verdict} ({', '.join(games)})"
    )


def _number(number: float | str) -> str:
    return number if isinstance(number, str) else f"{number:.4g}"


def digest_of_size(size: str) -> str | None:
    """Return a digest of the reference's data for a size; None if it lacks the size."""
    if not reference().has(size):
        return None
    return hashlib.sha256(json.dumps(reference().of_size(size), sort_keys=True).encode()).hexdigest()[:16]
