"""Events of releases and of features: what is found, how often it is wrong, and the bounds without SciPy."""

import math

import numpy as np
import pytest
from scipy import stats

from dp_bandit_envs.audits.events import (
    FeatureEvent,
    chernoff_lower_bound,
    chernoff_upper_bound,
    claim_excess,
    draft_events,
    fresh_excess,
    strongest_draft,
    strongest_event,
    threshold_features,
)
from dp_bandit_envs.audits.transcripts import Transcripts


def shown(values, counts=1):
    values = np.asarray(values, float)
    return Transcripts(
        np.zeros((len(values), values.shape[1]), np.int16), values, np.full(values.shape, counts, np.int64)
    )


def laplace(rng, centres, games=20_000):
    """Return games that release independent Laplace draws of scale 1 around these centres, one step each."""
    return shown(rng.laplace(centres, 1.0, (games, len(centres)))[:, :, np.newaxis])


def test_the_threshold_of_one_laplace_draw_is_beyond_the_far_centre():
    """There the ratio is e, and .29 of all games are there. False alarm: none (fixed seed)."""
    rng = np.random.default_rng(1)
    first, second = ((laplace(rng, [1.0]), laplace(rng, [0.0])) for _ in range(2))
    event = strongest_draft(draft_events(first, delta=0.0, thorough=False), [second], delta=0.0)
    more, less = (event.hits(laplace(rng, [centre], 100_000)) for centre in (1.0, 0.0))
    if not event.first:
        more, less = less, more
    assert math.log(more / less) == pytest.approx(1, abs=0.05)
    assert more > 20_000


def test_what_is_not_random_has_no_event():
    same = shown(np.ones((50, 2, 1)))
    assert draft_events((same, same), delta=0.0) == []
    assert strongest_draft([], [(same, same)], delta=0.0) is None


def test_an_exact_number_on_one_table_alone_is_found():
    """A mechanism that releases the gain itself: 1 on one table, 0 on the other."""
    look = shown(np.ones((500, 1, 1))), shown(np.zeros((500, 1, 1)))
    event = strongest_draft(draft_events(look, delta=0.0), [look], delta=0.0)
    assert event.score > 4


def features(rng, games, mean, scale):
    return threshold_features(rng.laplace(mean, scale, (games, 1, 1)))


def test_an_event_and_its_excess_by_hand():
    """All of 1,000 games on one side, none on the other: by bounds that fail 1e-6 each, ln((1 - u) / u) - epsilon."""
    first, second = np.ones((1000, 1)), np.zeros((1000, 1))
    event = strongest_event(first[:50], second[:50], 0.5, 0.0)
    assert event[:4] == (0, pytest.approx(0.5, abs=0.5), True, True)
    u = 1 - 1e-6 ** (1 / 1000)
    assert claim_excess(event, first, second, 0.5, 0.0, 2e-6) == pytest.approx(math.log((1 - u) / u) - 0.5)
    assert claim_excess(event, second, first, 0.5, 0.0, 2e-6) == -math.inf
    assert claim_excess(event, first, second, 0.5, 1.0, 2e-6) == -math.inf  # delta = 1 allows everything
    assert event.score > 0
    unseen = FeatureEvent(0, 5.0, True, True, 0.0)
    assert claim_excess(unseen, np.zeros((50, 1)), np.zeros((50, 1)), 0.0, 0.0, 1e-3) == -math.inf


@pytest.mark.thorough
def test_a_mechanism_at_its_limit_is_hardly_ever_accused():
    """At epsilon = 1 and scale 1 every event far out has the ratio e. Bounds that fail 0.1 may accuse 40 of 400.

    More than 64 of 400 would be accused with a probability below 1e-4 (four standard deviations). False alarm: 1e-4.
    """
    rng = np.random.default_rng(1)
    accused = 0
    for _ in range(400):
        event = strongest_event(features(rng, 100, 1.0, 1.0), features(rng, 100, 0.0, 1.0), 1.0, 0.0)
        fresh = features(rng, 300, 1.0, 1.0), features(rng, 300, 0.0, 1.0)
        accused += claim_excess(event, *fresh, 1.0, 0.0, 0.1) > 0
    assert accused <= 64


def test_a_threshold_is_tested_in_fresh_games():
    """No number is given twice, and the pair that shows most is the one that is tested."""
    same, apart = (np.zeros(1), np.zeros(1)), (np.zeros(1), np.ones(1))
    given = []

    def sample(table, numbers):
        given.extend((number, float(table[0])) for number in numbers)
        return np.tile(table, (len(numbers), 1))

    settings = {"tries": 50, "games": 400, "claims": [(0.5, 0.0)], "failure": 1e-6}
    assert fresh_excess([same, apart], sample, **settings)[0] > 0
    assert [number for number, _ in given] == list(range(4 * 50 + 2 * 400))
    assert sum(table for number, table in given if number >= 200) == 400
    assert fresh_excess([same, same], sample, **settings)[0] < 0


CHANCES = np.array([0.0, 0.001, 0.03, 0.2, 0.5, 0.77, 0.99, 1.0])


@pytest.mark.parametrize("n", [2, 50, 1000])
@pytest.mark.parametrize("failure", [0.1, 1e-3, 5e-7])
def test_bounds_on_chances_fail_as_rarely_as_they_say(n, failure):
    hits = np.arange(n + 1)
    low, high = chernoff_lower_bound(hits, n, failure), chernoff_upper_bound(hits, n, failure)
    assert np.all((low >= 0) & (low <= hits / n) & (hits / n <= high) & (high <= 1))
    for chance in CHANCES:
        weights = stats.binom.pmf(hits, n, chance)
        assert weights[low > chance].sum() <= failure
        assert weights[high < chance].sum() <= failure


def test_bounds_on_chances_by_hand():
    """Without a hit, ln(1 / failure) = -n ln(1 - chance); and with n hits the other way round."""
    upper = 1 - 1e-6 ** (1 / 500)
    assert chernoff_upper_bound(np.array([0]), 500, 1e-6)[0] == pytest.approx(upper)
    assert chernoff_lower_bound(np.array([500]), 500, 1e-6)[0] == pytest.approx(1 - upper)
    assert chernoff_lower_bound(np.array([0]), 500, 1e-6)[0] == 0
    assert chernoff_upper_bound(np.array([500]), 500, 1e-6)[0] == 1
