"""Best arm identification: an axis beside the total of the suite, scored by the rounds until the stop.

A score is the least number of rounds that theory allows at the level, over the rounds that an agent played until it
stopped: 1 is the lower bound. Games last until a multiple of the bound. A game in which the agent did not stop by then
counts as if it were played again: the score divides by the rounds of all games for each game with a stop.
"""

import dataclasses
import functools
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

import dp_bandit_envs
from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.errors import ResultsError, UnreachableGuaranteeError, WrongGameError
from dp_bandit_envs.simulation import Outcome
from dp_bandit_envs.suite.card import (
    REFUTED,
    ScoreCard,
    apart_by_errors,
    audit_line,
    digest_of,
    rank_totals,
    refuted_by,
)
from dp_bandit_envs.suite.reference import REFERENCE_SEED, RankedRow, rank_among
from dp_bandit_envs.suite.scores import NORMAL_95, game_weights, interval_of
from dp_bandit_envs.suite.sheet import at_levels, head_of, level_in_words, line_of_row, lines_of_ranking, row_of
from dp_bandit_envs.suite.task_table import AXES, DELTA, LEVELS, TASKS, SuiteGame, size_name
from dp_bandit_envs.theory.experts_bounds import binomial_tail
from dp_bandit_envs.theory.identification_bounds import identification_lower_bound

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT: Final = "dp-bandit-envs identification card"
VERSION: Final = 1
"""Another table is another version."""
AXIS: Final = "identification"
FAILURE: Final = 0.01
"""The failure probability: how often a recommendation may be wrong."""
FALSE_ALARM: Final = 1e-3
"""The probability of refusing an agent that is wrong exactly as often as it may be."""
MEANS: Final = {
    "identification/two-arms": (0.7, 0.5),
    "identification/one-ahead": (0.8, 0.5, 0.5, 0.5, 0.5),
    "identification/steps": (0.9, 0.7, 0.5, 0.3, 0.1),
    "identification/close-rival": (0.8, 0.7, *[0.4] * 8),
}
"""The arms' means by task: all gaps equal, a staircase, and one arm nearly as good as the best."""
REFERENCE_FILE: Final = "identification_v1.json"
TOTAL: Final = "all tasks"


class IdentificationSize(NamedTuple):
    """The length of a game, as a multiple of the least rounds that theory allows, and the number of games."""

    multiple: int
    games: int


SIZES: Final = {
    "tiny": IdentificationSize(32, 10),
    "quick": IdentificationSize(128, 40),
    "full": IdentificationSize(512, 200),
}


@dataclasses.dataclass(frozen=True)
class IdentificationTask(SuiteGame):
    """Coins, the best of which is to be found, at a level.

    Attributes:
        level: The level, which fixes the lower bound and the horizon.

    Example:
        >>> from dp_bandit_envs import suite
        >>> task = suite.identification_tasks(epsilon=1)[0]
        >>> task.name, round(task.least_rounds), task.horizon("tiny")
        ('identification/two-arms', 214, 6859)
    """

    level: float | None

    answers: ClassVar[str] = "rounds"

    @property
    def least_rounds(self) -> float:
        """The lower bound on the expected rounds at this level: pure privacy, central model."""
        epsilon = math.inf if self.level is None else self.level
        return _least_rounds(self.arguments["means"], epsilon)

    def horizon(self, size: str = "quick") -> int:
        """Return the number of rounds T at a size."""
        return math.ceil(SIZES[size_name(size)].multiple * self.least_rounds)

    def trials(self, size: str = "quick") -> int:
        """Return the number of games at a size."""
        return SIZES[size_name(size)].games

    def check_player(self, algorithm: Algorithm) -> None:
        """Raise an error if an algorithm does not stop, or may be wrong more often than `FAILURE`."""
        assert algorithm.make_agent is not None
        if not callable(getattr(algorithm.make_agent(), "recommend", None)):
            raise WrongGameError(f"{algorithm.name} has no recommend() and done: it does not look for the best arm.")
        failure = algorithm.parameters.get("failure_probability", FAILURE)
        if failure > FAILURE:
            raise UnreachableGuaranteeError(f"failure_probability must be at most {FAILURE}; received {failure}.")

    def results_of(self, outcome: Outcome) -> dict[str, list[float]]:
        """Return of each game the rounds until the stop or the horizon, and 1 if the recommendation is wrong."""
        if outcome.rounds_until_stop is None:
            raise WrongGameError(f"{outcome.name} has no attribute done: it does not look for the best arm.")
        return {"rounds": outcome.last("rounds_until_stop").tolist(), "wrong": outcome.last("error").tolist()}


@functools.cache
def _least_rounds(means: tuple[float, ...], epsilon: float) -> float:
    return identification_lower_bound(means, FAILURE, epsilon)


def identification_tasks(
    tasks: str | Sequence[str] | None = None, *, epsilon: float | None = None
) -> list[IdentificationTask]:
    """Return the tasks of best arm identification at a level.

    Args:
        tasks: Names such as `"identification/steps"`; by default, or for `"identification"`, all.
        epsilon: The level, in (0, inf); None for no privacy.

    Raises:
        UnknownNameError: If a task is unknown; the message suggests near names.
    """
    names = [AXIS] if tasks is None else [tasks] if isinstance(tasks, str) else list(tasks)
    chosen = {checks.known_name("axis", name, [AXIS, *MEANS]) for name in names}
    level = None if epsilon is None else checks.epsilon(epsilon)
    return [
        IdentificationTask(name, "Stochastic", {"means": means}, "rounds_until_stop", level)
        for name, means in MEANS.items()
        if {AXIS, name} & chosen
    ]


def are_of_identification(tasks: Any) -> bool:
    """Return whether names of axes and tasks are those of best arm identification.

    Raises:
        UnknownNameError: If one is neither that nor of the total.
        ValueError: If only some of them are.
    """
    if tasks is None:
        return False
    listed = [tasks] if isinstance(tasks, str) or not isinstance(tasks, Iterable) else tasks
    names = [checks.known_name("axis", name, [*AXES, AXIS, *TASKS, *MEANS]) for name in listed]
    count = sum(name.partition("/")[0] == AXIS for name in names)
    if 0 < count < len(names):
        raise ValueError(f"tasks must be all of {AXIS} or none: it is no part of the total. Score it in its own call.")
    return count > 0


def digest_of_table() -> str:
    """Return a SHA-256 of all that the table fixes."""
    levels = ["none" if level is None else level for level in LEVELS]
    facts = [VERSION, DELTA, FAILURE, levels, {name: list(size) for name, size in SIZES.items()}, MEANS]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _short(task: str) -> str:
    return task.partition("/")[2]


def card_of(
    size: str,
    seed: int,
    levels: Sequence[float | None],
    cells: Sequence[Mapping[str, Any]],
    audits: Sequence[Mapping[str, Any]],
) -> "IdentificationCard":
    """Return the card of played cells, which have the `"rounds"` of each game, and 1 in `"wrong"` where it ended so."""
    refuted = refuted_by(audits)
    entries = without_errors([_entry(cell, size, refuted) for cell in cells])
    facts = {
        "format": FORMAT,
        "suite": VERSION,
        "table": digest_of_table(),
        "package": dp_bandit_envs.__version__,
        "size": size,
        "seed": seed,
        "delta": DELTA,
        "failure_probability": FAILURE,
        "levels": list(levels),
        "anchors": {},
        "cells": entries,
        "audits": [dict(audit) for audit in audits],
        "growth": [],
        "reference": digest_of(identification_reference().get(size, {})),
        "totals": totals_of(entries, size),
    }
    return IdentificationCard({**facts, "digest": digest_of(facts)})


def _entry(cell: Mapping[str, Any], size: str, refuted: set[tuple[str, float | None]]) -> dict[str, Any]:
    """Return a card's entry for a played cell: its score with the interval, or why there is none."""
    entry = {name: content for name, content in cell.items() if name not in ("rounds", "wrong")}
    if "rounds" not in cell:
        return {**entry, "score": 0.0 if cell["cannot"] == "failed" else None}
    (task,) = identification_tasks(cell["task"], epsilon=cell["level"])
    rounds, wrong = np.array(cell["rounds"]), np.array(cell["wrong"])
    stops = rounds < task.horizon(size)
    weights = game_weights(task.name, len(rounds))
    samples = task.least_rounds * (weights @ stops) / (weights @ rounds)
    low, high = interval_of(samples)
    entry |= {"horizon": task.horizon(size), "least_rounds": task.least_rounds}
    entry |= {"stopped": int(stops.sum()), "errors": int(wrong[stops].sum())}
    if (cell["agent"], cell["level"]) in refuted:
        return {**entry, **REFUTED}
    score = task.least_rounds * float(stops.mean() / rounds.mean())
    return {**entry, "score": score, "low": low, "high": high, "error": float(samples.std())}


def without_errors(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries, without a score where an agent at a level is wrong too often, in all its tasks together."""
    judged = []
    for entry in entries:
        of_agent = [cell for cell in entries if (cell["agent"], cell["level"]) == (entry["agent"], entry["level"])]
        errors, stopped = (sum(cell.get(name, 0) for cell in of_agent) for name in ("errors", "stopped"))
        # The tail is of more than errors - 1, which must be no less than the mean.
        is_wrong = errors - 1 >= FAILURE * stopped and binomial_tail(stopped, FAILURE, errors - 1) < FALSE_ALARM
        reason = f"{errors} of {stopped} recommendations are wrong, too many for a failure probability of {FAILURE}"
        refusal = {**REFUTED, "cannot": "wrong", "reason": reason}
        judged.append({**entry, **refusal} if is_wrong and entry["score"] is not None else entry)
    return judged


def totals_of(cells: Sequence[Mapping[str, Any]], size: str) -> list[dict[str, Any]]:
    """Return the mean score of each agent at each level, ranked where it played every task.

    Args:
        cells: The cells of a card.
        size: The name of the size.
    """
    of_agents: dict[tuple[str, float | None], list[Mapping[str, Any]]] = {}
    for cell in cells:
        if cell["score"] is not None:
            of_agents.setdefault((cell["agent"], cell["level"]), []).append(cell)
    totals: list[dict[str, Any]] = []
    for (agent, level), of_agent in of_agents.items():
        total = float(np.mean([cell["score"] for cell in of_agent]))
        error = math.hypot(*(cell.get("error", 0.0) for cell in of_agent)) / len(of_agent)
        ranking = package_ranking(size, level) if len(of_agent) == len(MEANS) else []
        totals.append(
            {
                "agent": agent,
                "level": level,
                "total": total,
                "low": max(total - NORMAL_95 * error, 0.0),
                "high": total + NORMAL_95 * error,
                "error": error,
                "axes": {_short(cell["task"]): cell["score"] for cell in of_agent},
                "coverage": len(of_agent) / len(MEANS),
                "rank": None,
                "field": {"rank": rank_among(total, error, ranking), "algorithms": len(ranking)} if ranking else None,
            }
        )
    for level in {total["level"] for total in totals}:
        rank_totals([total for total in totals if total["level"] == level and total["coverage"] == 1], apart_by_errors)
    return totals


class IdentificationCard(ScoreCard):
    """Agents' scores in best arm identification: the least rounds that theory allows, over the rounds until the stop.

    Attributes:
        values: The card as plain values.

    Example:
        >>> from dp_bandit_envs import suite
        >>> scores = suite.evaluate("DP-TT", tasks="identification/steps", size="tiny", epsilon=1, progress=False)
        >>> cell = scores.cell("DP-TT", "identification/steps", 1)
        >>> cell["stopped"], cell["errors"], 0.05 < cell["score"] < 0.3
        (10, 0, True)
    """

    _whole = (tuple(MEANS), "all tasks")

    def plot(self, columns: int | None = None) -> "Figure":
        """Return a picture like `ScoreCard.plot`, with a row for each task."""
        from dp_bandit_envs.plots.scores_figure import ScorePanel, scores_figure

        self.check_has_score()
        names, rows, panels = self.named_agents(), [TOTAL, *self._axes()], []
        for level in self.values["levels"]:
            dots: dict[str, dict[str, tuple[float, float, float]]] = {}
            for total in self.values["totals"]:
                if total["level"] == level and total["agent"] in names and total["coverage"] == 1:
                    dots[total["agent"]] = {TOTAL: (total["total"], total["low"], total["high"])}
            for cell in self.values["cells"]:
                if cell["level"] == level and cell["agent"] in names and cell["score"] is not None:
                    interval = cell["score"], cell.get("low", 0.0), cell.get("high", 0.0)
                    dots.setdefault(cell["agent"], {})[_short(cell["task"])] = interval
            field: dict[str, list[float]] = {}
            for ranked in package_ranking(self.values["size"], level):
                for row, score in {TOTAL: ranked.total, **ranked.axes}.items():
                    field.setdefault(row, []).append(score)
            panels.append(ScorePanel("no privacy" if level is None else f"ε = {level:g}", field, dots))
        words = "Score: the least rounds that theory allows, over the rounds until the stop"
        return scores_figure(
            panels, rows, field="the package's algorithms", total=TOTAL, columns=columns, meaning=words, lowest=0.0
        )

    def _axes(self) -> list[str]:
        return [name for name in map(_short, MEANS) if any(name in total["axes"] for total in self.values["totals"])]

    def sheet(self, width: float = math.inf) -> str:
        """Return the sheet that `print` shows, without the last tasks if tables would be wider than `width` letters."""
        size, axes = self.values["size"], self._axes()
        lines = [
            f"Best arm identification {self.values['suite']}, {size}, seed {self.values['seed']}. Scores: the least"
            " rounds that theory allows, over the rounds until the stop."
        ]
        played = [task for task in MEANS if _short(task) in axes]
        while axes and len(head_of(1.0, axes)) > width:
            axes.pop()
        if size in identification_reference():
            lines.append(f"The package's algorithms play games of seed {REFERENCE_SEED}; > marks yours.")
        for level in self.values["levels"]:
            if totals := [total for total in self.values["totals"] if total["level"] == level]:
                lines += ["", head_of(level, axes), *lines_of_ranking(totals, _stopping(size, level, played), axes)]
        audits = [line for audit in self.values["audits"] if (line := audit_line(audit))]
        parts = (lines, self._stops(), audits, self._reasons())
        return "\n\n".join("\n".join(part) for part in parts if part)

    def _stops(self) -> list[str]:
        """Return a line for the wrong recommendations of each agent, and for its games without a stop."""
        lines = []
        for agent, level in dict.fromkeys((cell["agent"], cell["level"]) for cell in self.values["cells"]):
            cells = [c for c in self.values["cells"] if (c["agent"], c["level"]) == (agent, level) and "stopped" in c]
            if not cells:
                continue
            stopped, games = (sum(cell[name] for cell in cells) for name in ("stopped", "games"))
            errors = sum(cell["errors"] for cell in cells)
            late = ", ".join(_short(cell["task"]) for cell in cells if cell["stopped"] < cell["games"])
            lines.append(
                f"{agent} {at_levels(level)}: {errors} of {stopped} recommendations are wrong"
                + (f"; no stop in {games - stopped} of {games} games ({late})" if late else "")
            )
        return lines


# ---- the package's algorithms --------------------------------------------------------------------------------------


@functools.cache
def identification_reference() -> Mapping[str, Mapping[str, Any]]:
    """Return the cells and totals of the package's algorithms by size; empty before they are played."""
    file = resources.files("dp_bandit_envs.suite").joinpath(REFERENCE_FILE)
    sizes: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))["sizes"] if file.is_file() else {}
    return sizes


def _stopping(size: str, level: float | None, tasks: Sequence[str]) -> list[RankedRow]:
    return [row for row in package_ranking(size, level, tasks) if row.low > 0]


def package_ranking(size: str, level: float | None, tasks: Sequence[str] = tuple(MEANS)) -> list[RankedRow]:
    """Return the package's algorithms in some tasks at a level, the best first; ranks need all tasks."""
    stored = identification_reference().get(size, {"cells": [], "totals": []})
    is_whole = set(tasks) == set(MEANS)
    totals = stored["totals"] if is_whole else totals_of([c for c in stored["cells"] if c["task"] in tasks], size)
    rows = [row_of(total) for total in totals if total["level"] == level]
    return sorted(rows, key=lambda row: -row.total)


def lines_of_identification(size: str = "quick", levels: Sequence[float | None] = LEVELS) -> list[str]:
    """Return the scores of the package's algorithms, as `dp-bandit suite --axis identification` prints them.

    Args:
        size: The size.
        levels: The levels.

    Raises:
        ValueError: If the reference lacks a level.
        ResultsError: If the reference lacks the size.
    """
    sizes = identification_reference()
    if size not in sizes:
        raise ResultsError(
            f"the reference of {AXIS} must have size {size!r}; it has {' and '.join(sizes)} so far. `make reference"
            f" SIZES={size}` plays it."
        )
    axes = [_short(task) for task in MEANS]
    lines = [f"The algorithms of the package; size {size}, seed {REFERENCE_SEED}: 1 is the lower bound on rounds."]
    for level in levels:
        if level not in LEVELS:
            raise ValueError(
                f"epsilon must be among {', '.join(map(level_in_words, LEVELS))} without an agent; received"
                f" {level_in_words(level)}. At another one, name agents to score."
            )
        lines += ["", head_of(level, axes), *(line_of_row(row, "  ", axes) for row in package_ranking(size, level))]
    return lines
