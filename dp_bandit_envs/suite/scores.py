"""Scores of regrets: tasks, totals over axes, their intervals, shared ranks, and the growth of regret.

Everything here is a function of arrays. A score is (chance - regret) / (chance - best): 0 is the score of playing one
random arm in all rounds, and 1 of the best algorithm without privacy.
"""

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray

FLOOR: Final = -1.0
"""Lower scores count as much as this one in means, and nowhere else."""
CONFIDENCE: Final = 0.95
NORMAL_95: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Standard errors on each side of a 95 % interval."""
RESAMPLES: Final = 2000
TRIMMED: Final = 0.25
"""The part of the tasks that the interquartile mean leaves out on each side."""


def score_of(regret: FloatArray, chance: FloatArray, best: FloatArray) -> float:
    """Return the score of the mean regret of some games.

    Args:
        regret: Regrets at the horizon, `(games,)`.
        chance: The regrets that score 0, of any number of games.
        best: The regrets that score 1.

    Raises:
        ValueError: If the mean of `best` is not below the mean of `chance`.
    """
    at_zero, at_one = np.mean(chance), np.mean(best)
    if not at_one < at_zero:
        raise ValueError(f"best must have less regret than chance; received means of {at_one:g} and {at_zero:g}.")
    return float((at_zero - np.mean(regret)) / (at_zero - at_one))


def axis_means(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mean score of each axis; scores below -1 count as -1.

    Args:
        scores: By task, `axis/task`: numbers, or arrays of one shape.
    """
    of_axis: dict[str, list[Any]] = {}
    for task, score in scores.items():
        of_axis.setdefault(task.partition("/")[0], []).append(np.maximum(score, FLOOR))
    return {axis: np.mean(of_tasks, axis=0)[()] for axis, of_tasks in of_axis.items()}


def total_of(scores: Mapping[str, Any]) -> Any:
    """Return the mean of the means of the axes, so that axes have equal weight for any number of tasks."""
    return np.mean(list(axis_means(scores).values()), axis=0)[()]


def interquartile_mean(scores: Mapping[str, Any]) -> Any:
    """Return the mean over tasks without the lowest and the highest quarter; scores below -1 count as -1.

    Of n tasks, floor(n / 4) are left out on each side.
    """
    ordered = np.sort(np.maximum(list(scores.values()), FLOOR), axis=0)
    left_out = int(TRIMMED * len(ordered))
    return np.mean(ordered[left_out : len(ordered) - left_out], axis=0)[()]


def game_weights(task: str, games: int, resamples: int = RESAMPLES) -> FloatArray:
    """Return the weight of each game in each resample, shape `(resamples, games)`; weights sum to 1.

    They are the same for all rows of a task, which are therefore resampled in pairs.
    """
    rng = np.random.default_rng([zlib.crc32(task.encode()), games])
    weights: FloatArray = rng.multinomial(games, np.full(games, 1 / games), size=resamples) / games
    return weights


def resampled_scores(
    task: str, regret: FloatArray, chance: FloatArray, best: FloatArray, resamples: int = RESAMPLES
) -> FloatArray:
    """Return scores of bootstrap resamples of the games, in pairs with chance and best, shape `(resamples,)`.

    Args:
        task: The name of the task, which fixes the resamples.
        regret: Regrets at the horizon, `(games,)`.
        chance: The regrets in these games that score 0.
        best: The regrets that score 1.
        resamples: Number of resamples.
    """
    weights = game_weights(task, len(regret), resamples)
    zero = weights @ chance
    scores: FloatArray = (zero - weights @ regret) / (zero - weights @ best)
    return scores


def interval_of(resampled: FloatArray) -> tuple[float, float]:
    """Return the 95 % percentile interval of resampled scores, totals or differences."""
    low, high = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def standard_error_of_score(deviation: float, games: int, chance: float, best: float) -> float:
    """Return the standard error of a score from the deviation of its row.

    Args:
        deviation: The standard deviation of the regret over games.
        games: Number of games.
        chance: The mean regret that scores 0, taken as known.
        best: The mean regret that scores 1.
    """
    return deviation / math.sqrt(games) / (chance - best)


class AxisTotals(NamedTuple):
    """A total and the mean score of each axis, each with its standard error."""

    total: float
    error: float
    axes: dict[str, tuple[float, float]]


def standing_of(cells: Mapping[str, tuple[float, float]]) -> AxisTotals:
    """Return the total and the axes of tasks whose games are independent.

    Args:
        cells: By task, the score and its standard error.
    """
    means = axis_means({task: score for task, (score, _) in cells.items()})
    axes = {}
    for axis, mean in means.items():
        errors = [error for task, (_, error) in cells.items() if task.partition("/")[0] == axis]
        axes[axis] = float(mean), math.hypot(*errors) / len(errors)
    error = math.hypot(*(error for _, error in axes.values())) / len(axes)
    return AxisTotals(float(np.mean(list(means.values()))), error, axes)


def differ_in_pairs(first: FloatArray, second: FloatArray) -> bool:
    """Return whether two rows differ, whose totals were resampled with the same games."""
    low, high = interval_of(first - second)
    return low > 0 or high < 0


def differ(first: float, first_error: float, second: float, second_error: float) -> bool:
    """Return whether two rows from different games differ, by their totals and standard errors."""
    return abs(first - second) > NORMAL_95 * math.hypot(first_error, second_error)


def shared_ranks(totals: Sequence[float], are_apart: Callable[[int, int], bool]) -> list[int]:
    """Return the rank of each row from 1, the largest total first; rows that cannot be told from the next share one.

    Args:
        totals: The totals.
        are_apart: Returns whether the rows of two indices can be told apart; called for neighbours only.
    """
    order = sorted(range(len(totals)), key=lambda index: -totals[index])
    ranks = [0] * len(totals)
    for position, index in enumerate(order):
        shared = position > 0 and not are_apart(order[position - 1], index)
        ranks[index] = ranks[order[position - 1]] if shared else position + 1
    return ranks


def exponent_of(horizons: Sequence[float], regrets: Sequence[float]) -> float:
    """Return the exponent a of regret growing like T^a, by least squares of logarithms; nan unless all are above 0.

    Args:
        horizons: At least two different numbers of rounds.
        regrets: The mean regret at each.
    """
    if len(set(horizons)) < 2 or len(horizons) != len(regrets):
        raise ValueError(
            f"horizons must be at least two, with a regret for each; received {len(horizons)} and {len(regrets)}."
        )
    if not min(regrets) > 0:
        return math.nan
    x, y = np.log(horizons), np.log(regrets)
    return float(np.sum((x - x.mean()) * (y - y.mean())) / np.sum((x - x.mean()) ** 2))
