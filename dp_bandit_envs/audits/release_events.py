"""Events of what is released while arms are held: a score of some released numbers that is at least a cutoff."""

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.audits.event_bounds import cautious_log_ratio
from dp_bandit_envs.audits.logistic_fit import log_odds
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.many_games import Shown

BINS = 64
"""Into how many bins of about as many games each released number is sorted."""
MOST_THRESHOLDS = 12
MOST_FITTED = 2**15
"""The most games on each table for the logistic regression, which takes the time of many thresholds."""
CUTOFFS = 200
"""How many cutoffs of a score are tried, at the ends of tails that shrink by a constant factor."""

Looks = tuple[Shown, Shown]
"""Games on a table of gains and on its neighbour, equally many."""


class Part(NamedTuple):
    """What one released number adds to the score.

    Attributes:
        column: Which of `numbers_of`.
        edges: The bins are [edge, next edge), and what lies below the first edge, `(bins - 1,)`.
        weights: What a number in each bin adds, `(bins,)`.
    """

    column: int
    edges: FloatArray
    weights: FloatArray


@dataclasses.dataclass(frozen=True)
class ReleaseEvent:
    """The event that the weights of some released numbers add up to a cutoff or more.

    Attributes:
        parts: One for each number.
        cutoff: See above.
        first: Whether it is more frequent on the first of two tables.
        score: A cautious estimate of the log ratio of its probabilities, on the samples that it was chosen on.
    """

    parts: tuple[Part, ...]
    cutoff: float
    first: bool
    score: float

    def hits(self, shown: Shown) -> int:
        """Return in how many games it happened."""
        return int((scores_of(self.parts, numbers_of(shown)) >= self.cutoff).sum())


class Draft(NamedTuple):
    """An event whose cutoff is not chosen yet; the fields are those of `ReleaseEvent`, and cutoffs to try, sorted."""

    parts: tuple[Part, ...]
    first: bool
    cutoffs: FloatArray


def numbers_of(shown: Shown) -> FloatArray:
    """Return what is looked at in each game, `(games, numbers)`.

    After each step: every released value, its change since the step before, its difference to the next value's, and
    its count.
    """
    values = shown.values
    changes = np.diff(values, axis=1, prepend=0.0)
    differences = values[:, :, :-1] - values[:, :, 1:]
    parts = [part.reshape(len(values), -1) for part in (values, changes, differences, shown.counts)]
    return np.concatenate(parts, axis=1).astype(np.float64)


def scores_of(parts: tuple[Part, ...], numbers: FloatArray, known: dict[int, IntArray] | None = None) -> FloatArray:
    """Return the score of each game, `(games,)`.

    Args:
        parts: What adds to it.
        numbers: As from `numbers_of`.
        known: The bins of columns that were looked up before, where all scores have the same edges; it grows.
    """
    known = {} if known is None else known
    total = np.zeros(len(numbers))
    for column, edges, weights in parts:
        if column not in known:
            known[column] = np.searchsorted(edges, numbers[:, column], side="right")
        total += weights[known[column]]
    return total


def drafts(look: Looks, *, delta: float, thorough: bool = True) -> list[Draft]:
    """Return events that may tell games on two tables apart; none if nothing is released that is random.

    Thresholds of single numbers are joined ("and") as long as that helps. Beside them, if `thorough`, stands the log
    likelihood ratio that is best if some of the numbers have independent Laplace noise: each is cut to the range
    between its medians on the two tables, and the weights are those of a logistic regression.
    """
    samples = [numbers_of(shown) for shown in look]
    columns, edges = _bins(samples)
    if not columns:
        return []
    places = list(zip(columns, edges, strict=True))
    binned = [
        np.column_stack([np.searchsorted(cut, each[:, column], side="right") for column, cut in places])
        for each in samples
    ]
    found = []
    for first in (True, False):
        more, less = binned if first else binned[::-1]
        ranges = [
            Part(columns[place], edges[place], np.where((np.arange(BINS) >= cut) == above, 0.0, -1.0))
            for place, cut, above in _thresholds(more, less, delta)
        ]
        found += [Draft(tuple(ranges[:number]), first, np.zeros(1)) for number in range(1, len(ranges) + 1)]
    parts = _log_likelihood(columns, edges, binned) if thorough else ()
    for sign in (1, -1) if parts else ():
        turned = tuple(part._replace(weights=sign * part.weights) for part in parts)
        scores = np.sort(scores_of(turned, samples[0 if sign > 0 else 1]))
        tails = np.geomspace(1, 1 / len(scores), CUTOFFS)
        found.append(Draft(turned, sign > 0, np.unique(scores[(len(scores) * (1 - tails)).astype(int)])))
    return found


def strongest_draft(options: list[Draft], looks: Iterable[Looks], *, delta: float) -> ReleaseEvent | None:
    """Return the best of some events with its best cutoff, or None if there are none.

    Args:
        options: The events, from one call of `drafts`.
        looks: Other games than those of the drafts.
        delta: What the guarantee allows besides epsilon.
    """
    hits = [np.zeros((2, len(option.cutoffs)), np.int64) for option in options]
    games = 0
    for look in looks if options else ():
        games += len(look[0].arms)
        for table, numbers in enumerate(map(numbers_of, look)):
            known: dict[int, IntArray] = {}
            for option, total in zip(options, hits, strict=True):
                scores = scores_of(option.parts, numbers, known)
                if len(option.cutoffs) == 1:
                    total[table] += np.count_nonzero(scores >= option.cutoffs[0])
                else:
                    total[table] += len(scores) - np.searchsorted(np.sort(scores), option.cutoffs, side="left")
    best: ReleaseEvent | None = None
    for (parts, first, cutoffs), total in zip(options, hits, strict=True):
        more, less = total if first else total[::-1]
        scores = cautious_log_ratio(more, less, games, delta)
        cut = int(np.argmax(scores))
        if best is None or scores[cut] > best.score:
            best = ReleaseEvent(parts, float(cutoffs[cut]), first, float(scores[cut]))
    return best


def _bins(samples: list[FloatArray]) -> tuple[list[int], list[FloatArray]]:
    """Return the columns that are random and not equal to an earlier one, and the edges of the bins of each."""
    both = np.concatenate(samples)
    columns: list[int] = []
    edges: list[FloatArray] = []
    known: set[bytes] = set()
    for column in range(both.shape[1]):
        numbers = np.ascontiguousarray(both[:, column])
        if numbers[0] == numbers[-1] and (numbers == numbers[0]).all():
            continue
        content = numbers.tobytes()
        ordered = np.sort(numbers)
        cuts = np.unique(ordered[(len(ordered) * np.arange(1, BINS)) // BINS])
        cuts = cuts[cuts > ordered[0]]
        if len(cuts) and content not in known:
            known.add(content)
            columns.append(column)
            edges.append(cuts)
    return columns, edges


def _thresholds(more: IntArray, less: IntArray, delta: float) -> list[tuple[int, int, bool]]:
    """Return thresholds, each of which raises the estimated log ratio of all so far together.

    Args:
        more: The bin of each number in games on the table on which the event is to be more frequent, `(games, places)`.
        less: The same on the other table.
        delta: What the guarantee allows besides epsilon.

    Returns:
        For each the place of the number, the first bin above the threshold, and whether the event is above it.
    """
    games, best = len(more), -np.inf
    chosen: list[tuple[int, int, bool]] = []
    while len(chosen) < MOST_THRESHOLDS and len(more):
        below = [np.cumsum(_histograms(each), axis=1) for each in (more, less)]
        found: tuple[float, int, int, bool] | None = None
        for above in (True, False):
            hits = [len(each) - sums if above else sums for each, sums in zip((more, less), below, strict=True)]
            scores = cautious_log_ratio(hits[0], hits[1], games, delta)
            at, last = divmod(int(np.argmax(scores)), BINS)
            if scores[at, last] > (best if found is None else found[0]):
                found = float(scores[at, last]), at, last + 1, above
        if found is None:
            break
        best, place, cut, above = found
        chosen.append((place, cut, above))
        more, less = (each[(each[:, place] >= cut) == above] for each in (more, less))
    return chosen


def _histograms(bins: IntArray) -> IntArray:
    """Return in how many games each number is in each bin, `(places, BINS)`."""
    places = bins.shape[1]
    flat = bins + BINS * np.arange(places)
    return np.bincount(flat.ravel(), minlength=BINS * places).reshape(places, BINS)


def _log_likelihood(columns: list[int], edges: list[FloatArray], binned: list[IntArray]) -> tuple[Part, ...]:
    """Return the log odds of the first table as a score."""
    ramps = []
    for place in range(len(columns)):
        ends = [float(np.median(each[:, place])) for each in binned]
        width = max(ends) - min(ends)
        ramps.append(np.clip((np.arange(BINS) - min(ends)) / width, 0, 1) - 0.5 if width else np.zeros(BINS))
    one, other = (np.column_stack([ramp[each[:, place]] for place, ramp in enumerate(ramps)]) for each in binned)
    weights = log_odds(one[:MOST_FITTED], other[:MOST_FITTED])
    kept = np.flatnonzero(weights)
    return tuple(Part(columns[place], edges[place], weights[place] * ramps[place]) for place in kept)
