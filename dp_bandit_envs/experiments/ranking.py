"""Ranks algorithms by paired differences on the same gains, with intervals and a test for many comparisons."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.checks import require
from dp_bandit_envs.experiments.entries import Entry
from dp_bandit_envs.experiments.paired_tests import LEAST_TRIALS, ROUNDING, last_values, pair_tests
from dp_bandit_envs.experiments.tables import amount, written
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation.results import MEASURES

RESAMPLES = 9_999
"""Of the bootstrap."""
WHAT_IS_TESTED = (
    "The last column is a test of symmetric differences, not of equal means, so look at the quantiles too;"
    " table_of_pairs() has every pair."
)


class Pair(NamedTuple):
    """Two algorithms in one game, the better first.

    Attributes:
        title: The game.
        better, worse: The names of the algorithms; the better has the better mean.
        difference: Mean over trials of the worse algorithm's measure minus the better's, at the last round; reversed
            for gains, so that it is never negative.
        low, high: Its confidence interval, BCa bootstrap over trials.
        p_value: Two-sided p-value of the sign-flip permutation test with the mean difference. The tested hypothesis is
            that differences are symmetric about 0, as for algorithms with equal distributions. Skewed differences with
            mean 0 violate it, and can give small values far more often than the level.
        adjusted: The p-value after Holm's correction for all pairs of the ranking.
        wins: Share of the trials in which the better algorithm was strictly better.
    """

    title: str
    better: str
    worse: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    wins: float


class RankingRow(NamedTuple):
    """One algorithm in one game.

    Attributes:
        title: The game.
        name: The algorithm.
        epsilon, delta: Its guarantee.
        mean: Mean over trials at the last round.
        low, high: Its confidence interval, BCa bootstrap over trials.
        median, quantile_90, quantile_99: Quantiles over trials, because a few games may dominate a mean.
        tied: Whether the difference to the best of its game is not significant after the correction; see `Pair.p_value`
            for the hypothesis.
    """

    title: str
    name: str
    epsilon: float
    delta: float
    mean: float
    low: float
    high: float
    median: float
    quantile_90: float
    quantile_99: float
    tied: bool


@dataclasses.dataclass(frozen=True, repr=False)
class Ranking:
    """The algorithms of each game, at each requested epsilon, from best to worst, and every pair of them.

    In one trial all algorithms meet the same gains, so pairs are compared by their differences trial by trial. The test
    is for symmetric differences, not for equal means; see `Pair.p_value`.

    Attributes:
        measure: The compared measure.
        confidence: Confidence of the intervals; 1 minus it is the level of the test.
        standings: Rows by game, best mean first.
        pairs: All pairs within each game.
        least_adjusted: The least possible adjusted p-value, for this number of pairs, trials and sign flips.
    """

    measure: str
    confidence: float
    standings: tuple[RankingRow, ...]
    pairs: tuple[Pair, ...]
    least_adjusted: float = 0.0

    def table(self, format: str = "markdown") -> str:
        """Return the standings as a table: `"markdown"`, `"latex"`, `"csv"` or `"html"`."""
        what = self.measure.replace("_", " ")
        head = ["environment", "algorithm", "epsilon", "delta", f"mean {what}", f"{self.confidence:.0%} interval"]
        head += ["median", "90 % quantile", "99 % quantile", "as good as the best?"]
        rows = []
        for row in self.standings:
            quantiles = map(amount, (row.median, row.quantile_90, row.quantile_99))
            verdict = "cannot be excluded" if row.tied else "no"
            level = (f"{row.epsilon:.4g}", f"{row.delta:.3g}")
            rows.append([row.title, row.name, *level, amount(row.mean), _interval(row), *quantiles, verdict])
        return written(head, rows, format)

    def table_of_pairs(self, format: str = "markdown") -> str:
        """Return all pairs as a table: `"markdown"`, `"latex"`, `"csv"` or `"html"`."""
        head = ["environment", "better", "worse", "mean difference", f"{self.confidence:.0%} interval", "p", "p (Holm)"]
        rows = []
        for pair in self.pairs:
            tests = (f"{pair.p_value:.2g}", f"{pair.adjusted:.2g}", f"{pair.wins:.0%}")
            rows.append([*pair[:3], amount(pair.difference), _interval(pair), *tests])
        return written([*head, "better in"], rows, format)

    def __str__(self) -> str:
        floor = ""
        if self.least_adjusted > (1 - self.confidence) / 10:
            floor = (
                f" The smallest p (Holm) that so few trials and {len(self.pairs):,} pairs can give is"
                f" {self.least_adjusted:.2g}; more trials or fewer algorithms lower it."
            )
        return f"{WHAT_IS_TESTED}{floor}\n\n{self.table()}"

    def __repr__(self) -> str:
        names, games = ({getattr(row, name): None for row in self.standings} for name in ("name", "title"))
        return f"Ranking({', '.join(names)} on {'; '.join(games)}: {self.measure.replace('_', ' ')})"

    def _repr_html_(self) -> str:
        return self.table("html")


def ranking(entries: Sequence[Entry], measure: str, confidence: float) -> Ranking:
    """Compare all pairs of entries within each game; see `Comparison.ranking`.

    Raises:
        ValueError: If an entry has too few trials for any difference to be significant.
    """
    confidence = checks.in_range("confidence", confidence, 0.5, 0.9999)
    checks.one_of("measure", measure, MEASURES)
    for entry in entries:
        if entry.trials < LEAST_TRIALS:
            raise ValueError(f"trials must be at least {LEAST_TRIALS} to rank algorithms; received {entry.trials}.")
    games, tests, least = pair_tests(entries, measure)
    pairs = []
    for test in tests:
        ends = interval(test.difference, confidence)
        mean, wins = float(test.difference.mean()), float((test.difference > 0).mean())
        names = (test.title, test.better.name, test.worse.name)
        pairs.append(Pair(*names, mean, *ends, test.p_value, test.adjusted, wins))
    against_best = {
        (pair.title, pair.worse): pair.adjusted for pair in pairs if pair.better == games[pair.title][0].name
    }
    standings = tuple(
        _standing(title, entry, measure, confidence, against_best.get((title, entry.name), 1.0))
        for title, group in games.items()
        for entry in group
    )
    return Ranking(measure, confidence, standings, tuple(pairs), least)


def interval(samples: FloatArray, confidence: float) -> tuple[float, float]:
    """Return a confidence interval of the mean by the BCa bootstrap; a point if all samples are equal up to rounding.

    Args:
        samples: Shape `(trials,)`.
        confidence: In (0, 1).
    """
    stats = require("scipy.stats", extra="audits")
    if np.ptp(samples) <= ROUNDING * np.abs(samples).max():
        return float(samples[0]), float(samples[0])
    ends = stats.bootstrap(
        (samples,), np.mean, confidence_level=confidence, n_resamples=RESAMPLES, rng=np.random.default_rng(0)
    ).confidence_interval
    return float(ends.low), float(ends.high)


def _standing(title: str, entry: Entry, measure: str, confidence: float, against_best: float) -> RankingRow:
    last = last_values(entry, measure)
    low, high = interval(last, confidence)
    median, ninety, ninety_nine = (float(value) for value in np.quantile(last, (0.5, 0.9, 0.99)))
    epsilon, delta, _ = entry.level
    mean, tied = float(last.mean()), against_best > 1 - confidence
    return RankingRow(title, entry.name, epsilon, delta, mean, low, high, median, ninety, ninety_nine, tied)


def _interval(row: Any) -> str:
    return f"{amount(row.low)} to {amount(row.high)}"
