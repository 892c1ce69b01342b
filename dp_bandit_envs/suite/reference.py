"""The reference: the scores of all algorithms of the package in every task, at every level, from one file."""

import functools
import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.suite.scores import differ, exponent_of, standard_error_of_score, standing_of

REFERENCE_FILE: Final = "reference_v1.json"
REFERENCE_SEED: Final = 43
"""The seed of the reference's games, which took no part in choosing the table."""
COLUMNS: Final = ("name", "mean", "deviation", "10%", "50%", "90%", "99%", "epsilon", "digest")
"""What a row holds: the index of the name, regrets over games, the epsilon held, and a digest of all regrets."""


class ReferenceRow(NamedTuple):
    """An algorithm's results in a task at a level.

    Attributes:
        name: The algorithm.
        mean: The mean regret over games.
        deviation: Its standard deviation over games.
        quantiles: The 10, 50, 90 and 99 % quantiles of the regret.
        epsilon: The guaranteed epsilon, at delta = 1e-6 if it is not pure; None without privacy.
        digest: The first digits of a SHA-256 of the regrets of all games.
        score: The score, which follows from the mean.
        error: The standard error of the score.
    """

    name: str
    mean: float
    deviation: float
    quantiles: tuple[float, ...]
    epsilon: float | None
    digest: str
    score: float
    error: float


class RankedRow(NamedTuple):
    """An algorithm or agent that plays all tasks with arms at a level.

    Attributes:
        name: The algorithm, or the agent.
        total: The mean of its axes.
        low, high: The 95 % interval of the total.
        rank: Its rank; algorithms that cannot be told apart share one.
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
        """Return the file's data of a size.

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
            np.broadcast_to(np.array(facts["anchors"][task][name], dtype=float), facts["games"])
            for name in ("chance", "best")
        )
        return chance, best

    def rows(self, task: str, size: str, level: float | None) -> list[ReferenceRow]:
        """Return the results of the algorithms in a task at a level; algorithms that cannot play it are missing."""
        facts = self.of_size(size)
        chance, best = (float(regrets.mean()) for regrets in self.anchors(task, size))
        rows = []
        for name, mean, deviation, *quantiles, epsilon, digest in facts["rows"][task].get(_key(level), []):
            score = (chance - mean) / (chance - best)
            error = standard_error_of_score(deviation, facts["games"], chance, best)
            rows.append(
                ReferenceRow(self.names[name], mean, deviation, tuple(quantiles), epsilon, digest, score, error)
            )
        return rows

    def rows_by_name(self, size: str, level: float | None) -> dict[str, dict[str, ReferenceRow]]:
        """Return the rows of each algorithm by task."""
        by_name: dict[str, dict[str, ReferenceRow]] = {}
        for task in self.of_size(size)["rows"]:
            for row in self.rows(task, size, level):
                by_name.setdefault(row.name, {})[task] = row
        return by_name

    def scores(self, size: str, level: float | None) -> dict[str, dict[str, float]]:
        """Return the scores of each algorithm by task."""
        return {
            name: {task: row.score for task, row in rows.items()}
            for name, rows in self.rows_by_name(size, level).items()
        }

    def ranking(self, size: str, level: float | None) -> list[RankedRow]:
        """Return the algorithms that play all tasks with arms, the largest total first; none without such a size."""
        return list(_ranking(self, size, level)) if self.has(size) else []

    def exponents(self, task: str, level: float | None) -> dict[str, float]:
        """Return the exponents of the regret in T in a task, for all algorithms that played it in two sizes or more."""
        means: dict[str, dict[int, float]] = {}
        for size in self.sizes:
            for row in self.rows(task, size, level):
                means.setdefault(row.name, {})[self.of_size(size)["horizon"]] = row.mean
        several = {name: of_name for name, of_name in means.items() if len(of_name) > 1}
        exponents = {name: exponent_of(list(of_name), list(of_name.values())) for name, of_name in several.items()}
        return {name: exponent for name, exponent in exponents.items() if not math.isnan(exponent)}


@functools.lru_cache(maxsize=64)
def _ranking(reference: SuiteReference, size: str, level: float | None) -> tuple[RankedRow, ...]:
    by_name, ranked = reference.rows_by_name(size, level), []
    for index, rank, low, high in reference.of_size(size)["ranks"].get(_key(level), []):
        name = reference.names[index]
        rows = {task: row for task, row in by_name[name].items() if task in reference.values["core"]}
        total, error, axes = standing_of({task: (row.score, row.error) for task, row in rows.items()})
        ranked.append(RankedRow(name, total, low, high, rank, error, {axis: mean for axis, (mean, _) in axes.items()}))
    return tuple(sorted(ranked, key=lambda row: -row.total))


def rank_among(total: float, error: float, ranking: Sequence[RankedRow]) -> int:
    """Return the rank of a total from other games among the package's totals, shared if it cannot be told apart.

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
    """Return the first row (best first) from where on all intervals of totals reach 0, the score of chance."""
    position = len(intervals)
    while position and intervals[position - 1][0] <= 0:
        position -= 1
    return position


@functools.cache
def reference() -> SuiteReference:
    """Return the reference of the package, which has no sizes while it is made for the first time."""
    file = resources.files("dp_bandit_envs.suite").joinpath(REFERENCE_FILE)
    text = file.read_text(encoding="utf-8") if file.is_file() else '{"names": [], "sizes": {}}'
    return SuiteReference(json.loads(text))


def stored_anchors(task: str, size: str, seed: int) -> tuple[FloatArray, FloatArray] | None:
    """Return the regrets of chance and best from the reference; None if it lacks these games."""
    return reference().anchors(task, size) if seed == REFERENCE_SEED and reference().has(size) else None


def _key(level: float | None) -> str:
    return "none" if level is None else f"{level:g}"
