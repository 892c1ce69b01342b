"""Tests of pairs of algorithms on the same gains: flips of signs, and Holm's correction for all pairs together."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.experiments.entries import Entry, by_epsilon
from dp_bandit_envs.protocols import FloatArray

FLIPS = 9_999
"""At least so many flips of signs are drawn for a p-value; more pairs need more."""
LEAST_ADJUSTED = 1e-3
"""The least p-value after Holm's correction that the number of flips allows, if `MOST_SUMMED` allows so many."""
MOST_SUMMED = 2**36
"""The most differences that are summed for the p-values of a ranking, some seconds' work."""
BATCH = 2**22
"""The most signs, or sums of differences with signs, that are in memory."""
LEAST_TRIALS = 6
"""With fewer trials no sign test can reach a p-value of 5 %."""
ROUNDING = 1e-12
"""Relative differences below this one are due to rounding, and have no spread to resample."""
LARGER_IS_BETTER = ("collected",)


class PairTest(NamedTuple):
    """Two algorithms in one game, the one with the better mean first.

    Attributes:
        title: The game.
        better, worse: Their results.
        difference: Excess of the worse algorithm's measure (deficit for gains) in each common trial, shape `(trials,)`.
        p_value: P-value for symmetric differences; see `sign_flip_p_values`.
        adjusted: The p-value after Holm's correction for all pairs.
    """

    title: str
    better: Entry
    worse: Entry
    difference: FloatArray
    p_value: float
    adjusted: float


def pair_tests(entries: Sequence[Entry], measure: str) -> tuple[dict[str, list[Entry]], list[PairTest], float]:
    """Return the entries by game and epsilon (best mean first), a test of each pair, and the least adjusted p-value.

    With this number of pairs, trials and flips, no adjusted p-value can be smaller than the last.
    """
    sign = -1.0 if measure in LARGER_IS_BETTER else 1.0
    games = dict(by_epsilon(entries, lambda entry: entry.title))
    for group in games.values():
        # By what a reader of the table sees first.
        group.sort(key=lambda entry: sign * float(last_values(entry, measure).mean()))
    pairs = [(title, *pair) for title, group in games.items() for pair in itertools.combinations(group, 2)]
    differences = [sign * _paired(worse, better, measure) for _, better, worse in pairs]
    p_values = sign_flip_p_values(differences, len(pairs))
    adjusted = holm(np.array(p_values)).tolist()
    tests = [PairTest(*row) for row in zip(*zip(*pairs, strict=True), differences, p_values, adjusted, strict=True)]
    least = max((least_p_value(len(one), len(pairs)) for one in differences), default=0.0)
    return games, tests, min(1.0, len(pairs) * least)


def sign_flip_p_values(differences: Sequence[FloatArray], pairs: int) -> list[float]:
    """Return the two-sided p-values of "differences are symmetric about 0", by flipping the signs of trials at random.

    Exact if all flips are few enough to enumerate. This does not test "the mean difference is 0": if one algorithm is
    slightly better in most trials and far worse in a few, equal means are often rejected.

    Args:
        differences: Arrays of shape `(trials,)`.
        pairs: Number of p-values corrected together; more pairs use more flips.
    """
    by_trials: dict[int, list[int]] = {}
    for index, difference in enumerate(differences):
        by_trials.setdefault(len(difference), []).append(index)
    p_values = [1.0] * len(differences)
    for trials, indices in by_trials.items():
        columns = np.array([differences[index] for index in indices]).T
        observed = np.abs(columns.sum(axis=0)) - ROUNDING * np.abs(columns).sum(axis=0)
        flips, is_exact = _flips(trials, pairs)
        as_far = np.zeros(len(indices), dtype=int)
        rng, step = np.random.default_rng(0), max(1, BATCH // max(trials, len(indices)))
        for first in range(0, flips, step):
            rows = min(step, flips - first)
            if is_exact:
                bits = np.arange(first, first + rows)[:, None] >> np.arange(trials) & 1
            else:
                bits = rng.integers(0, 2, (rows, trials), dtype=np.int8)
            as_far += (np.abs((1.0 - 2.0 * bits) @ columns) >= observed).sum(axis=0)
        for index, number in zip(indices, as_far.tolist(), strict=True):
            p_values[index] = number / flips if is_exact else (number + 1) / (flips + 1)
    return p_values


def least_p_value(trials: int, pairs: int) -> float:
    """Return the smallest possible value of `sign_flip_p_values` for this number of trials and pairs."""
    flips, is_exact = _flips(trials, pairs)
    return 2 / flips if is_exact else 1 / (flips + 1)


def _flips(trials: int, pairs: int) -> tuple[int, bool]:
    """Return the number of sign patterns to try, and whether these are all."""
    wanted = min(math.ceil(pairs / LEAST_ADJUSTED), MOST_SUMMED // (trials * max(1, pairs)))
    drawn = max(FLIPS, wanted)
    return (2**trials, True) if trials < 63 and 2**trials <= drawn else (drawn, False)


def holm(p_values: FloatArray) -> FloatArray:
    """Return p-values adjusted for many tests: at level a, any true hypothesis is rejected with probability at most a.

    Args:
        p_values: Shape `(tests,)`.

    Source: Holm (1979).
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def last_values(entry: Entry, measure: str) -> FloatArray:
    """Return a measure after the last round, shape `(trials,)`."""
    last: FloatArray = entry.values(measure)[:, -1]
    return last


def _paired(entry: Entry, other: Entry, measure: str) -> FloatArray:
    common = min(entry.trials, other.trials)
    return last_values(entry, measure)[:common] - last_values(other, measure)[:common]
