"""The search for events that break a guarantee: what it finds, and how often it is wrong about a correct mechanism."""

import math

import numpy as np
import pytest

from dp_bandit_envs.conformance.audit import Event, excess, features_of, strongest_event
from dp_bandit_envs.conformance.wrapper_noise import neighbours, opposite_neighbours


def laplace(rng, games, mean, scale):
    return features_of(rng.laplace(mean, scale, (games, 1, 1)))


def test_features_are_values_changes_and_totals():
    features = features_of(np.array([[[1.0], [3.0], [2.0]]]))
    assert features.tolist() == [[1, 3, 2, 1, 2, -1, 1, 4, 6]]


def test_an_event_and_its_excess_by_hand():
    """All of 1,000 games on one side, none on the other: by bounds that fail 1e-6 each, ln((1 - u) / u) - epsilon."""
    first, second = np.ones((1000, 1)), np.zeros((1000, 1))
    event = strongest_event(first[:50], second[:50], 0.5, 0.0)
    assert event[:4] == (0, pytest.approx(0.5, abs=0.5), True, True)
    u = 1 - 1e-6 ** (1 / 1000)
    assert excess(event, first, second, 0.5, 0.0, 2e-6) == pytest.approx(math.log((1 - u) / u) - 0.5)
    assert excess(event, second, first, 0.5, 0.0, 2e-6) == -math.inf
    assert excess(event, first, second, 0.5, 1.0, 2e-6) == -math.inf  # delta = 1 allows everything
    assert event.score > 0


def test_a_mechanism_at_its_limit_is_hardly_ever_accused():
    """At epsilon = 1 and scale 1 every event far out has the ratio e. Bounds that fail 0.1 may accuse 40 of 400.

    More than 64 of 400 would be accused with a probability below 1e-4 (four standard deviations). False alarm: 1e-4.
    """
    rng = np.random.default_rng(1)
    accused = 0
    for _ in range(400):
        event = strongest_event(laplace(rng, 100, 1.0, 1.0), laplace(rng, 100, 0.0, 1.0), 1.0, 0.0)
        fresh = laplace(rng, 300, 1.0, 1.0), laplace(rng, 300, 0.0, 1.0)
        accused += excess(event, *fresh, 1.0, 0.0, 0.1) > 0
    assert accused <= 64


def test_an_event_that_nobody_saw_says_nothing():
    event = Event(0, 5.0, True, True, 0.0)
    assert excess(event, np.zeros((50, 1)), np.zeros((50, 1)), 0.0, 0.0, 1e-3) == -math.inf


@pytest.mark.parametrize("tables", [neighbours, opposite_neighbours])
@pytest.mark.parametrize("changed", [0, 3, 5])
def test_neighbours_differ_in_one_round(tables, changed):
    one, other = tables(6, 3, changed)
    assert one.shape == other.shape == (6, 3)
    assert np.flatnonzero((one != other).any(axis=1)).tolist() == [changed]
