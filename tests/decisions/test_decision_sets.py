"""Decision sets against brute force, against each other, and against points that are known to be extreme."""

import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs.decisions import DECISION_SETS, TOLERANCE, Ball, Cube, Simplex, payoff, payoffs
from dp_bandit_envs.errors import WrongPointError
from tests.tools.plays import wrong_points
from tests.tools.refusals import refused

SIZES = (2, 3, 33)
SETS = [kind(d) for kind in DECISION_SETS.values() for d in SIZES]
every_set = pytest.mark.parametrize("decision_set", SETS, ids=repr)


def norm(name, vectors):
    """Return a norm of the last axis, by name."""
    return np.linalg.norm(vectors, {"l1": 1, "l2": 2, "sup": np.inf}[name], axis=-1)


def points_of(decision_set, number=400, key=0):
    """Return points of a set: corners or edge points, and others inside."""
    rng = np.random.default_rng([key, decision_set.dimension])
    d = decision_set.dimension
    if decision_set.name == "ball":
        directions = rng.standard_normal((number, d))
        directions /= norm("l2", directions)[:, np.newaxis]
        return directions * np.where(rng.random(number) < 0.5, 1, rng.random(number))[:, np.newaxis]
    if decision_set.name == "cube":
        return np.where(
            rng.random((number, 1)) < 0.5, rng.choice([-1.0, 1.0], (number, d)), rng.uniform(-1, 1, (number, d))
        )
    return np.concatenate([np.eye(d), rng.dirichlet(np.full(d, 0.5), number - d)])


def gains_of(decision_set, number=400, key=1):
    """Return gain vectors of a set, extreme ones among them."""
    rng = np.random.default_rng([key, decision_set.dimension])
    d = decision_set.dimension
    if decision_set.name == "ball":
        return points_of(decision_set, number, key)
    if decision_set.name == "cube":
        axes = np.eye(d)[rng.integers(d, size=number)] * rng.choice([-1.0, 1.0], (number, 1))
        spread = rng.dirichlet(np.full(d, 0.5), number) * rng.choice([-1.0, 1.0], (number, d))
        return np.where(rng.random((number, 1)) < 0.5, axes, spread)
    return np.where(rng.random((number, 1)) < 0.5, rng.integers(2, size=(number, d)), rng.random((number, d)))


@pytest.mark.thorough
@every_set
def test_points_of_the_set_are_in_it_and_others_are_not(decision_set):
    for one in points_of(decision_set):
        assert decision_set.contains(one.tolist())
        assert decision_set.contains(one.tolist()) == decision_set.space.contains(one)
    rng = np.random.default_rng(2)
    for drawn in rng.uniform(-1.5, 1.5, (400, decision_set.dimension)):
        inside = {
            "ball": math.fsum(drawn**2) <= 1,
            "cube": np.abs(drawn).max() <= 1,
            "simplex": drawn.min() >= 0 and math.isclose(math.fsum(drawn), 1),
        }[decision_set.name]
        assert decision_set.contains(drawn.tolist()) == inside
    # Rounding errors are forgiven, and no more.
    edge = decision_set.best_point(np.linspace(1, 2, decision_set.dimension))
    assert decision_set.contains((edge * (1 + TOLERANCE / 4)).tolist())
    assert not decision_set.contains((edge * (1 + 3 * TOLERANCE)).tolist())


@every_set
def test_what_is_no_point_or_has_no_nearest_one_is_refused(decision_set):
    for name, wrong in wrong_points(decision_set).items():
        with refused(WrongPointError):
            decision_set.checked(wrong)
        assert not decision_set.space.contains(wrong), name
    given = decision_set.best_point(np.ones(decision_set.dimension))
    checked = decision_set.checked(given)
    given[:] = 7.0
    assert decision_set.contains(checked.tolist())  # it is a fresh array
    for wrong in (math.nan, math.inf, "a", None, 1j):
        with refused(WrongPointError, "point"):
            decision_set.project(np.array([wrong, *[0.0] * (decision_set.dimension - 1)]))
    with refused(WrongPointError, "point"):
        decision_set.project([0.5])


@pytest.mark.thorough
@every_set
def test_many_points_are_checked_as_each_of_them(decision_set):
    rng = np.random.default_rng(3)
    for _ in range(200):
        rows = np.array([decision_set.project(one) for one in rng.standard_normal((3, decision_set.dimension))])
        rows += rng.choice([0.0, 0.0, 0.0, 2e-9, -2e-9], rows.shape)
        expected = all(decision_set.contains(row.tolist()) for row in rows)
        try:
            np.testing.assert_array_equal(decision_set.checked_rows(rows, 3), rows)
            accepted = True
        except WrongPointError:
            accepted = False
        assert accepted == expected


@pytest.mark.thorough
@every_set
def test_the_projection_is_the_nearest_point(decision_set):
    """Kolmogorov's criterion: y is the nearest point of a convex set if <x - y, z - y> <= 0 for all points z."""
    rng = np.random.default_rng(4)
    others = points_of(decision_set)
    for scale in (0.3, 1.0, 30.0):
        for drawn in rng.standard_normal((40, decision_set.dimension)) * scale:
            nearest = decision_set.project(drawn)
            assert decision_set.contains(nearest.tolist())
            assert ((others - nearest) @ (drawn - nearest)).max() <= 1e-9 * max(1.0, scale)
            np.testing.assert_allclose(decision_set.project(nearest), nearest, atol=1e-12)
    for one in others[:100]:
        np.testing.assert_allclose(decision_set.project(one), one, atol=1e-12)
    rest = [0] * (decision_set.dimension - 2)
    expected = {"ball": [-(0.5**0.5), 0.5**0.5], "cube": [-1, 1], "simplex": [0, 1]}[decision_set.name]
    for size in (1e12, 1e308):
        huge = np.array([-size, size, *rest], float)
        np.testing.assert_allclose(decision_set.project(huge), [*expected, *rest], atol=1e-12)


@pytest.mark.thorough
@every_set
def test_support_is_what_the_best_point_collects_and_no_other_point_collects_more(decision_set):
    rng = np.random.default_rng(5)
    totals = rng.standard_normal((60, decision_set.dimension)) * 10
    for direction, best in zip(totals, decision_set.support(totals), strict=True):
        own = decision_set.best_point(direction)
        assert decision_set.contains(own.tolist())
        assert best == decision_set.support(direction) == pytest.approx(float(own @ direction), abs=1e-9)
        assert (points_of(decision_set) @ direction).max() <= best + 1e-9
    direction = np.array([2.0, *[1.0] * (decision_set.dimension - 1)])
    for size in (0.0, 1e-300, 1e300):  # tiny and huge totals
        best = decision_set.best_point(direction * size)
        assert decision_set.contains(best.tolist())
        assert not size or best == pytest.approx(decision_set.best_point(direction), abs=1e-12)


def test_the_best_point_of_a_cube_and_of_the_ball_by_hand():
    assert Cube(3).best_point(np.array([-2.0, 0.0, 5.0])).tolist() == [-1.0, 1.0, 1.0]
    assert Ball(2).best_point(np.array([3.0, -4.0])).tolist() == [0.6, -0.8]
    assert Simplex(3).best_point(np.array([1.0, 2.0, 2.0])).tolist() == [0.0, 1.0, 0.0]
    assert Simplex(3).project(np.array([0.5, 0.5, 0.3])).tolist() == pytest.approx([0.4, 0.4, 0.2])


@every_set
def test_payoffs_are_in_their_range_and_reach_both_ends(decision_set):
    low, high = decision_set.payoffs
    values = decision_set.payoff_values
    assert (values.low, values.high) == (low, high)
    assert values.l2 == values.norm_distance == high - low and values.complete
    products = points_of(decision_set) @ gains_of(decision_set).T
    assert products.min() >= low - 1e-9 and products.max() <= high + 1e-9
    corner, gains = (
        decision_set.best_point(np.arange(1.0, decision_set.dimension + 1)),
        np.zeros(decision_set.dimension),
    )
    gains[:] = corner if decision_set.name == "ball" else 0.0
    gains[-1] = 1.0 if decision_set.name != "ball" else corner[-1]
    assert payoff(gains.tolist(), corner.tolist(), low, high) == pytest.approx(high)
    assert payoff((-gains).tolist(), corner.tolist(), low, high) == pytest.approx(low)


@every_set
def test_payoffs_of_many_equal_those_of_each_to_the_last_bit(decision_set):
    gains, plays = gains_of(decision_set, 300), points_of(decision_set, 300)
    low, high = decision_set.payoffs
    each = [payoff(one.tolist(), own.tolist(), low, high) for one, own in zip(gains, plays, strict=True)]
    assert payoffs(gains, plays, low, high).tolist() == each
    # Rounding errors are cut off at both ends.
    beyond = np.array([[1 + 1e-12, 0.0], [low - 1e-12, 0.0]])
    assert payoffs(beyond, np.array([[1.0, 0.0]] * 2), low, high).tolist() == [high, low]
    assert [payoff(one, [1.0, 0.0], low, high) for one in beyond.tolist()] == [high, low]


@every_set
def test_gain_vectors_are_told_from_others(decision_set):
    rows = gains_of(decision_set)
    assert decision_set.has_gains(rows)
    direction = np.zeros(decision_set.dimension)
    direction[0] = 1.0
    for first in (1 + 1e-9, math.nan, math.inf):
        wrong = np.append(first, direction[1:])
        assert not decision_set.has_gains(np.vstack([rows, wrong]))
    opposite = decision_set.has_gains(np.vstack([rows, -direction]))
    assert opposite == (decision_set.name != "simplex")
    # Too long, although no coordinate is.
    d = decision_set.dimension
    even = np.full((1, d), {"ball": d**-0.5, "cube": 1 / d, "simplex": 1.0}[decision_set.name])
    assert decision_set.has_gains(even)
    assert not decision_set.has_gains(even * (1 + 1e-9))


@pytest.mark.thorough
@every_set
def test_gain_vectors_are_at_most_the_declared_distances_apart(decision_set):
    """All pairs of 400 vectors, and pairs that are known to be as far apart as any: the distances are reached."""
    d, values = decision_set.dimension, decision_set.vectors
    rows = gains_of(decision_set)
    one = {"ball": np.full(d, d**-0.5), "cube": np.eye(d)[0], "simplex": np.ones(d)}[decision_set.name]
    other = np.zeros(d) if decision_set.name == "simplex" else -one
    assert decision_set.has_gains(np.array([one, other]))
    declared = {"l1": decision_set.l1, "l2": values.l2, values.norm: values.norm_distance}
    assert set(declared) >= {"l1", "l2"}
    for name, distance in declared.items():
        for first in rows:
            assert norm(name, rows - first).max() <= distance
        # Rounded up, by a margin that is far below what noise could show.
        reached = float(norm(name, one - other))
        assert reached <= distance <= reached * (1 + 1e-9), name


@every_set
def test_the_outline_holds_the_first_two_coordinates_of_all_points(decision_set):
    """A point is inside a convex outline if it is on the left of every edge."""
    corners = decision_set.outline()
    edges = np.roll(corners, -1, axis=0) - corners
    for flat in points_of(decision_set)[:, :2]:
        inward = edges[:, 0] * (flat - corners)[:, 1] - edges[:, 1] * (flat - corners)[:, 0]
        # The circle is drawn with 200 corners.
        assert inward.min() >= -1e-4
    for corner in corners:
        rest = np.zeros(decision_set.dimension - 2)
        whole = np.append(corner, rest)
        if decision_set.name == "simplex" and len(rest):
            whole[-1] = 1 - corner.sum()
        if decision_set.name != "simplex" or len(rest) or corner.any():
            assert decision_set.contains(whole.tolist())


@every_set
def test_samples_of_the_space_are_points_and_differ(decision_set):
    space = decision_set.space
    space.seed(1)
    samples = [space.sample() for _ in range(20)]
    assert all(decision_set.contains(one.tolist()) for one in samples)
    assert len({tuple(one) for one in samples}) > 10
    space.seed(1)
    np.testing.assert_array_equal(space.sample(), samples[0])


def test_sets_are_equal_if_they_are_the_same_set_and_have_a_number_of_dimensions():
    for one, other in itertools.product(SETS, SETS):
        assert (one == other) == (type(one) is type(other) and one.dimension == other.dimension)
        assert (one.space == other.space) == (one == other)
    assert Ball(3) == Ball(3) and hash(Ball(3)) == hash(Ball(3)) and repr(Ball(3)) == "Ball(3)"
    for dimension in [0, -1, 1.5, "3", None, True]:
        for kind in DECISION_SETS.values():
            with refused(ValueError, "dimension", repr(dimension)):
                kind(dimension)
