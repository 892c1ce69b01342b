"""Events that tell two neighbouring games apart, and confidence bounds on epsilon from their frequencies.

An event of the arms is a set of sequences; an event of releases is a score of released numbers with a cutoff; checks
that know only features of a game look for a threshold. Each event is chosen on its own samples and tested on fresh
samples.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.audits.transcripts import Transcripts
from dp_bandit_envs.checks import require
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.theory.tails import bernoulli_kls

MARGIN = 3.0
"""Margin of cautious estimates in standard errors; about as in the final test."""


def clopper_pearson(hits: int, games: int, failure: float) -> tuple[float, float]:
    """Return Clopper and Pearson's (1934) lower and upper bound on a probability.

    Args:
        hits: Number of games in which the event occurred.
        games: Number of independent games, at least 1.
        failure: The probability that each of the two bounds may be wrong, in (0, 1).

    Raises:
        ImportError: If SciPy is missing (extra `audits`).
    """
    beta = require("scipy.stats", extra="audits").beta
    low = float(beta.ppf(failure, hits, games - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - failure, hits + 1, games - hits)) if hits < games else 1.0
    return low, high


def least_epsilon(more: int, less: int, games: int, delta: float, failure: float) -> float:
    """Return a lower confidence bound on the epsilon that an event's probabilities allow, or -inf.

    ln((p - delta) / q) with Clopper-Pearson bounds on p from below and on q from above, each wrong with at most half
    the failure probability.

    Args:
        more: Hits among the games on the table with the more frequent event.
        less: Hits on the other table.
        games: Games on each table.
        delta: In [0, 1).
        failure: In (0, 1).
    """
    low, _ = clopper_pearson(more, games, failure / 2)
    _, high = clopper_pearson(less, games, failure / 2)
    return math.log((low - delta) / high) if low > delta else -math.inf


def cautious_log_ratio(more: IntArray, less: IntArray, games: int, delta: float) -> FloatArray:
    """Return ln((p - delta) / q) with a margin on either side, to compare events.

    The margin is for the square root of the hits, whose standard error is about 1/2 for any number of hits. Without it,
    among many rare events, some with 20 hits and none on the other table would seem better than truly better events.
    """
    hits = [np.asarray(each, np.float64) for each in (more, less)]
    half = [MARGIN / 2 * np.sqrt(1 - each / games) for each in hits]
    low = np.maximum(np.sqrt(hits[0]) - half[0], 0.0) ** 2 / games - delta
    high = (np.sqrt(hits[1] + 1) + half[1]) ** 2 / games
    scores: FloatArray = np.log(np.maximum(low, 1e-300)) - np.log(high)
    return scores


Looks = tuple[Transcripts, Transcripts]
"""Games on a table of gains and on its neighbour, equally many."""
MOST_BITS = 62
"""Bits of the number that encodes a sequence of arms; later rounds are ignored."""


@dataclasses.dataclass(frozen=True)
class ArmEvent:
    """The event that the arms of the first rounds are in a set of sequences.

    Attributes:
        rounds: Number of rounds.
        n_arms: Larger than every arm in it.
        codes: The sequences, each as a number with the first round as its highest digit in base `n_arms`, sorted.
        first: Whether it is more frequent on the first of two tables.
        score: A cautious estimate of the log ratio of its probabilities, on the samples that it was chosen on.
    """

    rounds: int
    n_arms: int
    codes: IntArray
    first: bool
    score: float

    def hits(self, games: Transcripts) -> int:
        """Return the number of games in which the event occurred."""
        return int(np.isin(arm_codes(games.arms[:, : self.rounds], self.n_arms), self.codes).sum())


def arm_codes(arms: NDArray[Any], n_arms: int) -> IntArray:
    """Return the arms of each game, `(games, rounds)`, as one number, `(games,)`."""
    code = np.zeros(len(arms), np.int64)
    for t in range(arms.shape[1]):
        code = code * n_arms + arms[:, t]
    return code


def strongest_arm_event(first_look: Looks, second_look: Looks, *, n_arms: int, delta: float) -> ArmEvent:
    """Return the set of sequences that appears to tell games on two tables apart best, in either direction.

    Sequences are ordered by their likelihood ratio in a first set of games, which is optimal for an event of any size.
    A second set of games selects the number of rounds and of sequences.
    """
    length = min(first_look[0].arms.shape[1], int(MOST_BITS / math.log2(n_arms)))
    looks = [arm_codes(shown.arms[:, :length], n_arms) for shown in (*first_look, *second_look)]
    codes, places = np.unique(np.concatenate(looks), return_inverse=True)
    ends = np.cumsum([len(look) for look in looks])[:-1]
    counts = np.array([np.bincount(part, minlength=len(codes)) for part in np.split(places.ravel(), ends)])
    games = len(looks[2])
    best: ArmEvent | None = None
    for rounds in range(length, 0, -1):
        if rounds < length:
            codes, starts = np.unique(codes // n_arms, return_index=True)
            counts = np.add.reduceat(counts, starts, axis=1)
        for first in (True, False):
            more, less = (0, 1) if first else (1, 0)
            order = np.argsort(-(counts[more] + 0.5) / (counts[less] + 0.5), kind="stable")
            hits = np.cumsum(counts[2:, order], axis=1)
            scores = cautious_log_ratio(hits[more], hits[less], games, delta)
            size = int(np.argmax(scores)) + 1
            if best is None or scores[size - 1] > best.score:
                best = ArmEvent(rounds, n_arms, np.sort(codes[order[:size]]), first, float(scores[size - 1]))
    assert best is not None
    return best


BINS = 64
"""Into how many bins of about as many games each released number is sorted."""
MOST_THRESHOLDS = 12
MOST_FITTED = 2**15
"""The most games on each table for the logistic regression, which takes the time of many thresholds."""
CUTOFFS = 200
"""How many cutoffs of a score are tried, at the ends of tails that shrink by a constant factor."""


class ScoreTerm(NamedTuple):
    """The contribution of one released number to the score.

    Attributes:
        column: Index in `release_features`.
        edges: The bins are [edge, next edge), and the numbers below the first edge, `(bins - 1,)`.
        weights: The score of a number in each bin, `(bins,)`.
    """

    column: int
    edges: FloatArray
    weights: FloatArray


@dataclasses.dataclass(frozen=True)
class ReleaseEvent:
    """The event that the weights of some released numbers add up to a cutoff or more.

    Attributes:
        terms: One term per number.
        cutoff: The least sum of weights.
        first: Whether it is more frequent on the first of two tables.
        score: A cautious estimate of the log ratio of its probabilities, on the samples that it was chosen on.
    """

    terms: tuple[ScoreTerm, ...]
    cutoff: float
    first: bool
    score: float

    def hits(self, games: Transcripts) -> int:
        """Return the number of games in which the event occurred."""
        return int((event_scores(self.terms, release_features(games)) >= self.cutoff).sum())


class Draft(NamedTuple):
    """An event whose cutoff is not chosen yet: the fields of `ReleaseEvent`, and sorted cutoffs to try."""

    terms: tuple[ScoreTerm, ...]
    first: bool
    cutoffs: FloatArray


def release_features(games: Transcripts) -> FloatArray:
    """Return the features of each game, `(games, numbers)`.

    After each step: every released value, its change since the step before, its difference to the next value's, and
    its count.
    """
    values = games.values
    changes = np.diff(values, axis=1, prepend=0.0)
    differences = values[:, :, :-1] - values[:, :, 1:]
    parts = [part.reshape(len(values), -1) for part in (values, changes, differences, games.counts)]
    return np.concatenate(parts, axis=1).astype(np.float64)


def event_scores(
    terms: tuple[ScoreTerm, ...], numbers: FloatArray, known_bins: dict[int, IntArray] | None = None
) -> FloatArray:
    """Return the score of each game, `(games,)`.

    Args:
        terms: The terms of the score.
        numbers: From `release_features`.
        known_bins: Cache of the bins of columns, for scores with the same edges; updated.
    """
    known_bins = {} if known_bins is None else known_bins
    total = np.zeros(len(numbers))
    for column, edges, weights in terms:
        if column not in known_bins:
            known_bins[column] = np.searchsorted(edges, numbers[:, column], side="right")
        total += weights[known_bins[column]]
    return total


def draft_events(look: Looks, *, delta: float, thorough: bool = True) -> list[Draft]:
    """Return events that may tell games on two tables apart; none if no random number is released.

    Thresholds of single numbers are joined ("and") as long as that helps. If `thorough`, the log likelihood ratio is
    added, which is optimal if some of the numbers have independent Laplace noise. Each number is clipped to the range
    between its medians on the two tables, and the weights come from a logistic regression.
    """
    samples = [release_features(shown) for shown in look]
    columns, edges = _random_columns(samples)
    if not columns:
        return []
    places = list(zip(columns, edges, strict=True))
    binned = [
        np.column_stack([np.searchsorted(cut, each[:, column], side="right") for column, cut in places])
        for each in samples
    ]
    events = []
    for first in (True, False):
        more, less = binned if first else binned[::-1]
        ranges = [
            ScoreTerm(columns[place], edges[place], np.where((np.arange(BINS) >= cut) == above, 0.0, -1.0))
            for place, cut, above in _thresholds(more, less, delta)
        ]
        events += [Draft(tuple(ranges[:number]), first, np.zeros(1)) for number in range(1, len(ranges) + 1)]
    terms = _log_likelihood(columns, edges, binned) if thorough else ()
    for sign in (1, -1) if terms else ():
        turned = tuple(term._replace(weights=sign * term.weights) for term in terms)
        scores = np.sort(event_scores(turned, samples[0 if sign > 0 else 1]))
        tails = np.geomspace(1, 1 / len(scores), CUTOFFS)
        events.append(Draft(turned, sign > 0, np.unique(scores[(len(scores) * (1 - tails)).astype(int)])))
    return events


def strongest_draft(options: list[Draft], looks: Iterable[Looks], *, delta: float) -> ReleaseEvent | None:
    """Return the best of some events with its best cutoff, or None if there are none.

    Args:
        options: The events, from one call of `draft_events`.
        looks: Games that were not used for the drafts.
        delta: The delta of the guarantee.
    """
    hits = [np.zeros((2, len(option.cutoffs)), np.int64) for option in options]
    games = 0
    for look in looks if options else ():
        games += len(look[0].arms)
        for table, numbers in enumerate(map(release_features, look)):
            known_bins: dict[int, IntArray] = {}
            for option, total in zip(options, hits, strict=True):
                scores = event_scores(option.terms, numbers, known_bins)
                if len(option.cutoffs) == 1:
                    total[table] += np.count_nonzero(scores >= option.cutoffs[0])
                else:
                    total[table] += len(scores) - np.searchsorted(np.sort(scores), option.cutoffs, side="left")
    best: ReleaseEvent | None = None
    for (terms, first, cutoffs), total in zip(options, hits, strict=True):
        more, less = total if first else total[::-1]
        scores = cautious_log_ratio(more, less, games, delta)
        cut = int(np.argmax(scores))
        if best is None or scores[cut] > best.score:
            best = ReleaseEvent(terms, float(cutoffs[cut]), first, float(scores[cut]))
    return best


def _random_columns(samples: list[FloatArray]) -> tuple[list[int], list[FloatArray]]:
    """Return the random columns that do not equal an earlier column, and the edges of their bins."""
    both = np.concatenate(samples)
    columns: list[int] = []
    edges: list[FloatArray] = []
    contents: set[bytes] = set()
    for column in range(both.shape[1]):
        numbers = np.ascontiguousarray(both[:, column])
        if numbers[0] == numbers[-1] and (numbers == numbers[0]).all():
            continue
        content = numbers.tobytes()
        ordered = np.sort(numbers)
        cuts = np.unique(ordered[(len(ordered) * np.arange(1, BINS)) // BINS])
        cuts = cuts[cuts > ordered[0]]
        if len(cuts) and content not in contents:
            contents.add(content)
            columns.append(column)
            edges.append(cuts)
    return columns, edges


def _thresholds(more: IntArray, less: IntArray, delta: float) -> list[tuple[int, int, bool]]:
    """Return thresholds; each raises the estimated log ratio of the joint event.

    Both arrays are the bins of each number in the games of a table, `(games, places)`. Each threshold is the index of
    the number, the first bin above it, and whether the event is above it.
    """
    games, best = len(more), -np.inf
    chosen: list[tuple[int, int, bool]] = []
    while len(chosen) < MOST_THRESHOLDS and len(more):
        cumulative = [np.cumsum(_histograms(each), axis=1) for each in (more, less)]
        threshold: tuple[float, int, int, bool] | None = None
        for above in (True, False):
            hits = [len(each) - sums if above else sums for each, sums in zip((more, less), cumulative, strict=True)]
            scores = cautious_log_ratio(hits[0], hits[1], games, delta)
            at, last = divmod(int(np.argmax(scores)), BINS)
            if scores[at, last] > (best if threshold is None else threshold[0]):
                threshold = float(scores[at, last]), at, last + 1, above
        if threshold is None:
            break
        best, column, cut, above = threshold
        chosen.append((column, cut, above))
        more, less = (each[(each[:, column] >= cut) == above] for each in (more, less))
    return chosen


def _histograms(bins: IntArray) -> IntArray:
    """Return the number of games with each number in each bin, `(places, BINS)`."""
    places = bins.shape[1]
    flat = bins + BINS * np.arange(places)
    return np.bincount(flat.ravel(), minlength=BINS * places).reshape(places, BINS)


def _log_likelihood(columns: list[int], edges: list[FloatArray], binned: list[IntArray]) -> tuple[ScoreTerm, ...]:
    ramps = []
    for number in range(len(columns)):
        ends = [float(np.median(each[:, number])) for each in binned]
        width = max(ends) - min(ends)
        ramps.append(np.clip((np.arange(BINS) - min(ends)) / width, 0, 1) - 0.5 if width else np.zeros(BINS))
    first, second = (np.column_stack([ramp[each[:, number]] for number, ramp in enumerate(ramps)]) for each in binned)
    weights = log_odds(first[:MOST_FITTED], second[:MOST_FITTED])
    kept = np.flatnonzero(weights)
    return tuple(ScoreTerm(columns[number], edges[number], weights[number] * ramps[number]) for number in kept)


ITERATIONS = 25
DROPPED = 3.0
"""A weight of fewer standard errors is set to 0: hundreds of small ones would drown a few that matter."""
RIDGE = 1e-6


def log_odds(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the weights w such that `w @ numbers` is, up to a constant, the log odds that a row is from `first`.

    Logistic regression by Newton's method.

    Args:
        first: Rows of numbers of about unit size, `(rows, numbers)`.
        second: Other rows of the same length.

    Returns:
        The weights, `(numbers,)`; 0 for redundant or insignificant numbers.
    """
    rows = np.vstack([first, second])
    target = np.repeat([1.0, 0.0], [len(first), len(second)])
    weights = np.zeros(rows.shape[1])
    kept = np.flatnonzero(rows.std(axis=0) > 0)
    while len(kept):
        fitted, errors = _fit(np.column_stack([rows[:, kept], np.ones(len(rows))]), target)
        clear = np.abs(fitted) > DROPPED * errors
        if clear.all():
            weights[kept] = fitted
            break
        # The least clear half of those in doubt: of two numbers that say the same, one must stay.
        doubt = np.flatnonzero(~clear)
        order = doubt[np.argsort(np.abs(fitted[doubt]) / errors[doubt])]
        kept = np.delete(kept, order[: -(-len(order) // 2)])
    return weights


def _fit(rows: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weights of all columns except the last (the constant 1), and their standard errors."""
    weights = np.zeros(rows.shape[1])
    ridge = RIDGE * len(rows) * np.eye(len(weights))
    for _ in range(ITERATIONS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        curvature = (rows * (chance * (1 - chance))[:, np.newaxis]).T @ rows + ridge
        step = np.linalg.solve(curvature, rows.T @ (target - chance) - ridge @ weights)
        weights += step
        if np.abs(step).max() < 1e-4:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return weights[:-1], errors[:-1]


QUANTILES = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
HALVINGS = 60
Sample = Callable[[FloatArray, range], FloatArray]
"""Plays games of these numbers on a table of gains; returns features of each, `(games, features)`."""


def fresh_excess(
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    sample: Sample,
    *,
    tries: int,
    games: int,
    claims: Sequence[tuple[float, float]],
    failure: float,
) -> tuple[float, tuple[float, float]]:
    """Return the largest excess of a feature's threshold over a claim in fresh games, and the claim.

    An excess above 0 is a violation. The threshold and the pair of tables that appear to violate the first claim most
    are chosen on separate games. All claims are tested by the same two bounds, so no correction is needed: if the
    guarantee holds, the excess is above 0 with at most the failure probability.

    Args:
        pairs: Neighbouring tables of gains.
        sample: Plays games; it receives each number only once.
        tries: Games on each table to choose the threshold.
        games: Games on each of two tables to test it.
        claims: Pairs of epsilon and delta that are guaranteed.
        failure: In (0, 1).
    """
    played = 0

    def play_fresh(table: FloatArray, number: int) -> FloatArray:
        nonlocal played
        played += number
        return sample(table, range(played - number, played))

    events = [
        strongest_event(play_fresh(first, tries), play_fresh(second, tries), *claims[0]) for first, second in pairs
    ]
    best = max(range(len(pairs)), key=lambda index: events[index].score)
    first, second = (play_fresh(table, games) for table in pairs[best])
    return max((claim_excess(events[best], first, second, *claim, failure), claim) for claim in claims)


class FeatureEvent(NamedTuple):
    """The event that a feature is, or is not, above a threshold.

    Attributes:
        column: The number of the feature.
        threshold: In the feature's unit.
        above: True for "above the threshold", False for "not above".
        first: Whether the event is more frequent in the first sample.
        score: An estimate of the log ratio of its frequency to the frequency that the guarantee allows.
    """

    column: int
    threshold: float
    above: bool
    first: bool
    score: float


def threshold_features(releases: FloatArray) -> FloatArray:
    """Return values of releases `(games, steps, numbers)`, their changes and running totals as `(games, features)`.

    Totals detect a gain that is released repeatedly with fresh noise.
    """
    games = len(releases)
    changes = np.diff(releases, axis=1, prepend=0.0)
    features: FloatArray = np.concatenate([releases, changes, np.cumsum(releases, axis=1)], axis=1).reshape(games, -1)
    return features


def strongest_event(first: FloatArray, second: FloatArray, epsilon: float, delta: float) -> FeatureEvent:
    """Return the threshold that appears to violate the guarantee most, from features on two neighbouring tables.

    Both arrays are `(games, features)`.
    """
    best = FeatureEvent(0, 0.0, True, True, -math.inf)
    pooled = np.quantile(np.concatenate([first, second]), QUANTILES, axis=0)
    for threshold in pooled:
        over = [(part > threshold).mean(axis=0) for part in (first, second)]
        for above in (True, False):
            rates = over if above else [1 - rate for rate in over]
            for is_first in (True, False):
                more, less = rates if is_first else rates[::-1]
                # Two standard errors and two games of margin: the selection needs no proof, but should avoid flukes.
                low = more - _slack(more, len(first)) - delta
                scores = np.log(np.maximum(low, 1e-300)) - np.log(less + _slack(less, len(first))) - epsilon
                column = int(np.argmax(scores))
                if scores[column] > best.score:
                    best = FeatureEvent(column, float(threshold[column]), above, is_first, float(scores[column]))
    return best


def _slack(rates: FloatArray, n: int) -> FloatArray:
    return 2 * np.sqrt(rates * (1 - rates) / n) + 2 / n


def claim_excess(
    event: FeatureEvent, first: FloatArray, second: FloatArray, epsilon: float, delta: float, failure: float
) -> float:
    """Return the excess of an event over the guarantee in fresh samples, by Chernoff's bounds; or -inf."""
    samples = (first, second) if event.first else (second, first)
    more, less = (((part[:, event.column] > event.threshold) == event.above).sum() for part in samples)
    low = chernoff_lower_bound(np.array(more), len(first), failure / 2) - delta
    high = chernoff_upper_bound(np.array(less), len(first), failure / 2)
    return math.log(float(low)) - math.log(float(high)) - epsilon if low > 0 else -math.inf


def chernoff_lower_bound(hits: FloatArray, n: int, failure_probability: float) -> FloatArray:
    """Return lower confidence bounds on success probabilities, given `hits` of `n` independent trials; needs no SciPy.

    Chernoff's bound: a probability p below the solution of n KL(hits / n, p) = ln(1 / failure probability) gives this
    many hits or more with at most the failure probability.
    """
    rates = np.asarray(hits) / n
    low, high = np.zeros_like(rates), rates.copy()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        far = n * bernoulli_kls(rates, middle) > math.log(1 / failure_probability)
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return low


def chernoff_upper_bound(hits: FloatArray, n: int, failure_probability: float) -> FloatArray:
    """Return upper confidence bounds on success probabilities, given `hits` of `n` independent trials."""
    upper: FloatArray = 1 - chernoff_lower_bound(n - np.asarray(hits), n, failure_probability)
    return upper
