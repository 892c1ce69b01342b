"""The reference: what every algorithm of the package scored in every task, at every level, from one file."""

import functools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.suite.scores import (
    axis_means,
    differ,
    standard_error_of_score,
    standard_error_of_total,
    total_of,
)

REFERENCE_FILE: Final = "reference_v1.json"
REFERENCE_SEED: Final = 43
"""The seed of the reference's games, which took no part in choosing the table."""
COLUMNS: Final = ("name", "mean", "deviation", "10%", "50%", "90%", "99%", "epsilon", "score", "digest")
"""What a row holds: the index of the name, regrets over games, the epsilon held, and a digest of all regrets."""


class ReferenceRow(NamedTuple):
    """What an algorithm of the package did in a task at a level.

    Attributes:
        name: The algorithm.
        mean: The mean regret over games.
        deviation: Its standard deviation over games.
        quantiles: The 10, 50, 90 and 99 % quantiles of the regret.
        epsilon: The epsilon that is guaranteed, at delta = 1e-6 where none is pure; None without privacy.
        score: The score.
        digest: The first digits of a SHA-256 of the regrets of all games.
    """

    name: str
    mean: float
    deviation: float
    quantiles: tuple[float, ...]
    epsilon: float | None
    score: float
    digest: str


class RankedRow(NamedTuple):
    """An algorithm of the package that plays all tasks with arms at a level.

    Attributes:
        name: The algorithm.
        total: The mean of its axes.
        low, high: The 95 % interval of the total.
        rank: Its rank, which those share that cannot be told from the next.
        error: The standard error of the total, for comparisons with other games.
        axes: The mean score of each axis.
    """

    name: str
    total: float
    low: float
    high: float
    rank: int
    error: float
    axes: Mapping[str, float]


class SuiteReference:
    """The reference of one version of the suite.

    Args:
        values: The file, as plain values.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.names: list[str] = list(values["names"])

    @property
    def sizes(self) -> tuple[str, ...]:
        """The sizes that were made."""
        return tuple(self.values["sizes"])

    def has(self, size: str) -> bool:
        """Return whether a size was made."""
        return size in self.values["sizes"]

    def of_size(self, size: str) -> Mapping[str, Any]:
        """Return what the file holds of a size.

        Raises:
            ResultsError: If it was not made yet.
        """
        if not self.has(size):
            raise ResultsError(
                f"the reference of the suite must have size {size!r}; it has {' and '.join(self.sizes)} so far."
                f" `make reference SIZES={size}` plays it."
            )
        facts: Mapping[str, Any] = self.values["sizes"][size]
        return facts

    def anchors(self, task: str, size: str) -> tuple[FloatArray, FloatArray]:
        """Return the regrets of chance and of the best in each game of a task."""
        facts = self.of_size(size)
        chance, best = (
            np.broadcast_to(np.array(facts["anchors"][task][name], dtype=float), facts["games"][task])
            for name in ("chance", "best")
        )
        return chance, best

    def rows(self, task: str, size: str, level: float | None) -> list[ReferenceRow]:
        """Return what the algorithms did in a task at a level; those that cannot play there are missing."""
        stored = self.of_size(size)["rows"][task].get(_key(level), [])
        return [
            ReferenceRow(self.names[row[0]], row[1], row[2], tuple(row[3:7]), row[7], row[8], row[9]) for row in stored
        ]

    def scores(self, size: str, level: float | None) -> dict[str, dict[str, float]]:
        """Return the scores of each algorithm by task."""
        scores: dict[str, dict[str, float]] = {}
        for task in self.of_size(size)["rows"]:
            for row in self.rows(task, size, level):
                scores.setdefault(row.name, {})[task] = row.score
        return scores

    def ranking(self, size: str, level: float | None) -> list[RankedRow]:
        """Return the algorithms that play all tasks with arms, the largest total first."""
        return list(_ranking(self, size, level))

    def errors(self, size: str, level: float | None) -> dict[str, dict[str, float]]:
        """Return the standard errors of scores by algorithm and task."""
        games = self.of_size(size)["games"]
        errors: dict[str, dict[str, float]] = {}
        for task in self.of_size(size)["rows"]:
            chance, best = (float(regrets.mean()) for regrets in self.anchors(task, size))
            for row in self.rows(task, size, level):
                error = standard_error_of_score(row.deviation, games[task], chance, best)
                errors.setdefault(row.name, {})[task] = error
        return errors

    def exponent(self, name: str, task: str, level: float | None) -> float | None:
        """Return the exponent of the regret in T, by the sizes that were made; None if it was not played in two."""
        return self.of_growth(task, level).get(name)

    def of_growth(self, task: str, level: float | None) -> dict[str, float]:
        """Return the exponents of the regret in T in a task at a level."""
        stored: Mapping[str, Mapping[str, list[list[Any]]]] = self.values["growth"]
        return {self.names[index]: exponent for index, exponent in stored.get(task, {}).get(_key(level), [])}


@functools.lru_cache(maxsize=64)
def _ranking(reference: SuiteReference, size: str, level: float | None) -> tuple[RankedRow, ...]:
    scores, errors = reference.scores(size, level), reference.errors(size, level)
    ranked = []
    for index, rank, low, high in reference.of_size(size)["ranks"].get(_key(level), []):
        name = reference.names[index]
        core = {task: score for task, score in scores[name].items() if task in reference.values["core"]}
        error = standard_error_of_total({task: errors[name][task] for task in core})
        axes = {axis: float(mean) for axis, mean in axis_means(core).items()}
        ranked.append(RankedRow(name, float(total_of(core)), low, high, rank, error, axes))
    return tuple(sorted(ranked, key=lambda row: -row.total))


def rank_among(total: float, error: float, ranking: Sequence[RankedRow]) -> int:
    """Return the rank that a total from other games has beside the package's, shared if it is not apart from the next.

    Args:
        total: The total.
        error: Its standard error.
        ranking: The package's algorithms, the best first.
    """
    above = [row for row in ranking if row.total >= total]
    if above and not differ(above[-1].total, above[-1].error, total, error):
        return above[-1].rank
    return len(above) + 1


def first_as_chance(intervals: Sequence[tuple[float, float]]) -> int:
    """Return from which row on, of the best first, all intervals of totals reach 0, the score of chance."""
    position = len(intervals)
    while position and intervals[position - 1][0] <= 0:
        position -= 1
    return position


@functools.cache
def reference() -> SuiteReference:
    """Return the reference of the package."""
    text = resources.files("dp_bandit_envs.suite").joinpath(REFERENCE_FILE).read_text(encoding="utf-8")
    return SuiteReference(json.loads(text))


def is_there() -> bool:
    """Return whether the file exists, which is not so while it is made for the first time."""
    return resources.files("dp_bandit_envs.suite").joinpath(REFERENCE_FILE).is_file()


def stored_anchors(task: str, size: str, seed: int) -> tuple[FloatArray, FloatArray] | None:
    """Return the regrets of chance and best from the reference; None if it has no such games."""
    if seed != REFERENCE_SEED or not is_there():
        return None
    return reference().anchors(task, size) if reference().has(size) else None


def _key(level: float | None) -> str:
    return "none" if level is None else f"{level:g}"
