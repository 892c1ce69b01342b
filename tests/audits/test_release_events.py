"""Events of releases: thresholds, the log likelihood ratio, and what is not random."""

import math

import numpy as np
import pytest

from dp_bandit_envs.audits.logistic_fit import log_odds
from dp_bandit_envs.audits.release_events import Part, ReleaseEvent, drafts, numbers_of, scores_of, strongest_draft
from dp_bandit_envs.simulation.many_games import Shown


def shown(values, counts=1):
    values = np.asarray(values, float)
    return Shown(np.zeros((len(values), values.shape[1]), np.int16), values, np.full(values.shape, counts, np.int64))


def laplace(rng, centres, games=20_000):
    """Return games that release independent Laplace draws of scale 1 around these centres, one step each."""
    return shown(rng.laplace(centres, 1.0, (games, len(centres)))[:, :, np.newaxis])


def test_numbers_of_a_game_by_hand():
    """Two steps of two values: values, changes, differences within a step, counts."""
    numbers = numbers_of(shown([[[1.0, 5.0], [4.0, 7.0]]], counts=3))
    assert numbers.tolist() == [[1, 5, 4, 7, 1, 5, 3, 2, -4, -3, 3, 3, 3, 3]]


def test_a_number_at_an_edge_is_in_the_bin_above_it():
    part = Part(0, np.array([1.0, 2.0]), np.array([0.0, 10.0, 20.0]))
    numbers = np.array([[0.9], [1.0], [1.9], [2.0]])
    assert scores_of((part,), numbers).tolist() == [0, 10, 10, 20]
    event = ReleaseEvent((part,), 10.0, True, 0.0)
    assert event.hits(shown(numbers[:, :, np.newaxis])) == 3


def test_the_threshold_of_one_laplace_draw_is_beyond_the_far_centre():
    """There the ratio is e, and .29 of all games are there. False alarm: none (fixed seed)."""
    rng = np.random.default_rng(1)
    first, second = ((laplace(rng, [1.0]), laplace(rng, [0.0])) for _ in range(2))
    event = strongest_draft(drafts(first, delta=0.0, thorough=False), [second], delta=0.0)
    more, less = (event.hits(laplace(rng, [centre], 100_000)) for centre in (1.0, 0.0))
    if not event.first:
        more, less = less, more
    assert math.log(more / less) == pytest.approx(1, abs=0.05)
    assert more > 20_000


def test_three_independent_draws_are_joined():
    """Each loses 1/3: one alone shows no more. False alarm: none (fixed seed)."""
    rng = np.random.default_rng(2)
    shift = [1 / 3] * 3
    looks = [(laplace(rng, shift, 40_000), laplace(rng, [0.0] * 3, 40_000)) for _ in range(2)]
    event = strongest_draft(drafts(looks[0], delta=0.0), looks[1:], delta=0.0)
    assert 0.7 < event.score < 1.05
    assert len(event.parts) >= 3


def test_what_is_not_random_has_no_event():
    same = shown(np.ones((50, 2, 1)))
    assert drafts((same, same), delta=0.0) == []
    assert strongest_draft([], [(same, same)], delta=0.0) is None


def test_an_exact_number_on_one_table_alone_is_found():
    """A mechanism that releases the gain itself: 1 on one table, 0 on the other."""
    look = shown(np.ones((500, 1, 1))), shown(np.zeros((500, 1, 1)))
    event = strongest_draft(drafts(look, delta=0.0), [look], delta=0.0)
    assert event.score > 4


def test_log_odds_are_the_true_weights():
    """Two columns of independent coins with odds e^1 and e^-1/2 to one, beside one that says nothing.

    At 40,000 rows the weights' standard errors are .03: allow five. False alarm: 1e-6.
    """
    rng, rows = np.random.default_rng(3), 20_000
    odds = np.array([0.5, -0.25, 0.0])
    one, other = ((rng.random((rows, 3)) < 1 / (1 + np.exp(-sign * odds))).astype(float) - 0.5 for sign in (1, -1))
    weights = log_odds(one, other)
    np.testing.assert_allclose(weights[:2], [1.0, -0.5], atol=0.15)
    assert weights[2] == pytest.approx(0, abs=0.15)


def test_of_two_equal_numbers_one_stays():
    rng = np.random.default_rng(4)
    one, other = (np.repeat(rng.normal(centre, 1, (4000, 1)), 2, axis=1) for centre in (0.5, 0.0))
    weights = log_odds(one, other)
    assert np.count_nonzero(weights) == 1
    assert weights.sum() == pytest.approx(0.5, abs=0.2)
