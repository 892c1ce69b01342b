"""The arm with the largest Beta draw: its law against drawing all arms, in all ways to find it."""

import copy
import functools
import math

import numpy as np
import pytest

from dp_bandit_envs.agents.largest_beta import (
    AT_FLOOR,
    LEADER,
    UNKNOWN,
    among_many,
    changed,
    log_scale,
    one_by_one,
    start,
)
from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.compiling.functions import stream_address
from dp_bandit_envs.compiling.intrinsics import put_back, stream_at
from dp_bandit_envs.draws import Stream


def one_by_one_often(addresses, alphas, betas, search, first, counts, calls, changes):
    """Add up how often each arm has the largest draw."""
    rng = stream_at(addresses[0])
    for _ in range(calls):
        counts[one_by_one(alphas, betas, first, rng)] += 1
    put_back(addresses[0], rng)


def among_many_often(addresses, alphas, betas, search, first, counts, calls, changes):
    """Add up how often each arm has the largest draw; before each call, some arms' posteriors count as changed."""
    rng = stream_at(addresses[0])
    for call in range(calls):
        for arm in range(changes):
            changed(search, (call + arm) % len(alphas))
        counts[among_many(alphas, betas, search, rng)] += 1
    put_back(addresses[0], rng)


ONE_BY_ONE, AMONG_MANY = Compiled(one_by_one_often, {}), Compiled(among_many_often, {})
WAYS = {
    "one by one": (ONE_BY_ONE, 0),
    "many": (AMONG_MANY, 0),
    "many, one changed": (AMONG_MANY, 1),
    "many, all changed": (AMONG_MANY, 50),
}


def search_from(n_arms, first):
    """Return the state before a search that is led by an arm."""
    search = start(n_arms)
    search.status[LEADER] = first
    return search


def shares(way, alphas, betas, first, calls, seed):
    """Return how often each arm has the largest of its draws, as a share."""
    find, changes = WAYS[way]
    alphas, betas = np.array(alphas, float), np.array(betas, float)
    search, counts = search_from(len(alphas), first), np.zeros(len(alphas))
    rng = Stream(np.random.SFC64(seed))
    find((stream_address(rng),), alphas, betas, search, first, counts, calls, changes)
    return counts / calls


def test_one_arm_is_the_largest():
    assert one_by_one([2.0], [3.0], 0, Stream(np.random.SFC64(7))) == 0
    assert among_many([2.0], [3.0], start(1), Stream(np.random.SFC64(7))) == 0


@pytest.mark.parametrize("way", WAYS)
def test_arms_without_gains_are_equally_likely(way):
    """Shares of n choices have standard deviation sqrt((1/K) (1 - 1/K) / n): allow five.

    False alarm: 3.5e-6 (five standard errors, two sides, six shares).
    """
    n, n_arms = 300_000, 6
    found = shares(way, [1.0] * n_arms, [1.0] * n_arms, 2, n, 8)
    assert np.all(np.abs(found - 1 / n_arms) < 5 * math.sqrt(1 / n_arms * (1 - 1 / n_arms) / n))


@pytest.mark.parametrize("way", WAYS)
def test_two_arms_by_hand(way):
    """P(Beta(1, 3) > Beta(1, 5)) = 5 / 8: minima of 3 and of 5 uniform variables, and the least of 8 is among the 5.

    False alarm: 1.2e-6 (five standard errors, two sides, two shares).
    """
    for first in (0, 1):
        n = 300_000
        assert abs(shares(way, [1.0, 1.0], [3.0, 5.0], first, n, 9)[0] - 5 / 8) < 5 * math.sqrt(15 / 64 / n)


POSTERIORS = {
    "unequal sizes, equal means": ([2.0, 20.0, 200.0, 2000.0], [3.0, 30.0, 300.0, 3000.0]),
    "small counts": ([1.0, 2.0, 1.0, 3.0, 2.0], [1.0, 1.0, 2.0, 2.0, 3.0]),
    "no success in a thousand": ([1.0, 1.0, 1.0, 2.0], [1000.0, 900.0, 1.5e4, 2000.0]),
    "no failure": ([1000.0, 800.0, 5.0, 1.0], [1.0, 2.0, 1.0, 1.0]),
    "a million": ([1e6, 1e6, 1e5, 300.0], [1e5, 1.002e5, 1.01e4, 40.0]),
    "a leader and its followers": ([7000.0, 60.0, 110.0, 12.0, 210.0, 1.0], [3000.0, 40.0, 60.0, 9.0, 100.0, 2.0]),
    "many alike": ([30.0] * 12, [70.0] * 12),
    "forty, a good one in each span": (
        [700.0, *[20.0] * 4, 60.0, *[20.0] * 14, 60.0, *[20.0] * 14, 60.0, *[20.0] * 4],
        [300.0, *[80.0] * 4, 40.0, *[80.0] * 14, 40.0, *[80.0] * 14, 40.0, *[80.0] * 4],
    ),
}


@functools.cache
def expected_shares(alphas, betas, calls):
    """Return how often NumPy's draw of each arm is the largest, as a share."""
    draws = np.random.default_rng(10).beta(alphas, betas, size=(calls, len(alphas)))
    return np.bincount(draws.argmax(axis=1), minlength=len(alphas)) / calls


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("alphas", "betas"), POSTERIORS.values(), ids=POSTERIORS.keys())
def test_the_largest_has_the_same_law_as_numpys_draws_of_all(alphas, betas, way):
    """For every `first`: shares of n and of m choices differ by at most five standard errors and three choices.

    The three are for rare ones, whose counts are not normal.

    False alarm: 3e-5 (five standard errors, two sides, up to forty arms and three times).
    """
    n, m, n_arms = 100_000, 400_000, len(alphas)
    expected = expected_shares(tuple(alphas), tuple(betas), m)
    for first in {0, 1, n_arms - 1}:
        found = shares(way, alphas, betas, first, n, 11 + first)
        # One choice more in either sample where both would claim certainty.
        variance = expected * (1 - expected) * (1 / n + 1 / m) + 1 / (n * m)
        assert np.all(np.abs(found - expected) < 5 * np.sqrt(variance) + 3 / n)


def test_arms_far_behind_cost_nothing_but_the_uniform_numbers():
    rng, other = Stream(np.random.SFC64(4)), Stream(np.random.SFC64(4))
    for _ in range(20):
        assert one_by_one([500.0, 20.0, 20.0, 20.0], [500.0, 80.0, 80.0, 80.0], 0, rng) == 0
        other.random()
        other.beta(500.0, 500.0)
        other.random()
    assert rng.random() == other.random()


def test_far_behind_among_many_even_their_uniform_numbers_are_saved():
    """Of the leader's span every coin is looked at, as its own falls on heads; of the other three spans none is."""
    alphas, betas = [500.0, *[20.0] * 49], [500.0, *[80.0] * 49]
    search, rng, other = search_from(50, 0), Stream(np.random.SFC64(4)), Stream(np.random.SFC64(4))
    for _ in range(20):
        assert among_many(alphas, betas, search, rng) == 0
        assert search.status[AT_FLOOR] == 0
        other.beta(500.0, 500.0)
        other.random()
        other.random()
    assert rng.random() == other.random()


def test_a_line_is_at_the_floor_while_many_arms_are_alike():
    search, rng = start(40), Stream(np.random.SFC64(4))
    winners = {among_many([3.0] * 40, [5.0] * 40, search, rng) for _ in range(20)}
    assert search.status[AT_FLOOR] == 1 and len(winners) > 5


def test_scales_are_computed_where_they_are_needed_and_kept_until_a_change():
    """Arm 1 is close to the leader, arms from 2 on far behind."""
    search = start(40)
    among_many([60.0, 58.0, *[3.0] * 38], [40.0, 42.0, *[300.0] * 38], search, Stream(np.random.SFC64(4)))
    assert search.scales.tolist() == [UNKNOWN, log_scale(58.0, 42.0), *[UNKNOWN] * 38]
    changed(search, 1)
    assert search.scales.tolist() == [UNKNOWN] * 40


@pytest.mark.parametrize("before", [(20.0, 80.0), (450.0, 550.0)], ids=["far behind", "close"])
def test_a_changed_posterior_has_a_new_chance(before):
    """Arm 3 catches up with the leader between two calls: in the next one it wins as often.

    False alarm: 6e-7 (five standard errors of 300 fair coins, two sides).
    """
    n, rng, wins = 300, Stream(np.random.SFC64(5)), 0
    for _ in range(n):
        search = start(40)
        alphas, betas = [500.0, *[20.0] * 39], [500.0, *[80.0] * 39]
        alphas[3], betas[3] = before
        for _ in range(3):
            among_many(alphas, betas, search, rng)
        alphas[3], betas[3] = 500.0, 500.0
        changed(search, 3)
        wins += among_many(alphas, betas, search, rng) == 3
    assert abs(wins - n / 2) < 5 * math.sqrt(n / 4)


def test_the_line_is_never_above_the_floor():
    alphas, betas = [500.0, *[20.0] * 39], [500.0, *[80.0] * 39]
    search, rng = start(40), Stream(np.random.SFC64(6))
    below = 0
    for _ in range(2000):
        line, leader = search.line[0], search.status[LEADER]
        floor = copy.deepcopy(rng).beta(alphas[leader], betas[leader])
        among_many(alphas, betas, search, rng)
        assert search.line[0] <= floor
        below += floor < line
    assert below > 3


def test_compiled_and_interpreted_agree_bit_for_bit():
    setting, one, other = np.random.default_rng(12), Stream(np.random.SFC64(13)), Stream(np.random.SFC64(13))
    address = (stream_address(other),)
    winners = set()
    for call in range(1000):
        n_arms = int(setting.integers(1, 40))
        top = 10 ** setting.uniform(0, 7, n_arms)
        alphas = 1 + np.floor(top * setting.random(n_arms)) * (call % 3 > 0) + setting.random(n_arms) * (call % 2)
        betas = 1 + np.floor(top * setting.random(n_arms)) * (call % 5 > 0)
        first = int(setting.integers(n_arms))
        search, twin = search_from(n_arms, first), search_from(n_arms, first)
        given = (alphas.tolist(), betas.tolist())
        counts = np.zeros(n_arms)
        for _ in range(3):
            counts[one_by_one(*given, first, one)] += 1
            counts[among_many(*given, twin, one)] += 1
        for _ in range(3):
            for find in (ONE_BY_ONE, AMONG_MANY):
                found = np.zeros(n_arms)
                find(address, alphas, betas, search, first, found, 1, 0)
                counts -= found
                winners.add(int(found.argmax()))
        assert not counts.any()
        for array, other_array in zip(search, twin, strict=True):
            assert array.tolist() == other_array.tolist()
    assert one.random() == other.random()
    assert len(winners) > 30
