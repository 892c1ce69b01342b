"""The exact privacy loss of sums of vectors, found from outside, for all three kinds of noise.

Own-norm noise: one node at a time is set to a large vector, which shows the map L from nodes to releases. A change of
round j by a vector v is hidden by a change of node n by R_nj v, with L R_j = the step of round j, which costs
|R_nj| |v| / scale in log-density, and exactly that where all nodes lie far out in the direction of R_nj v.
"""

import math

import numpy as np
import pytest

from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.facts import InputFacts, gains_of_arms
from dp_bandit_envs.privacy.mechanisms.counter_sums import CounterSums, ExactSums
from tests.tools.counter_noise import LAPLACE
from tests.tools.fake_draws import Impulse, cheapest_shift
from tests.tools.vector_sums import FACTS, OneNode, ball, box, cross_polytope, experts, factor_of, released

EPSILON = 0.7
D = 3
DIAMETER = {"experts": 1.0, "ball": 2.0, "cube": 2.0}
"""Of the values in their own norm."""


def map_of(mechanism, inputs: InputFacts, fake, height: float) -> tuple[np.ndarray, list[float], np.ndarray]:
    """Return what releases of coordinate 0 add up, `(releases, nodes)`; what was asked of the fake; which rounds."""
    zeros = np.zeros((inputs.horizon, inputs.n_values))
    silent = fake()
    fresh = ~np.isnan(released(mechanism, inputs, zeros, silent)[:, 0])
    columns = []
    for hot in range(len(silent.asked)):
        one = fake(hot, height=height)
        columns.append(released(mechanism, inputs, zeros, one)[fresh, 0] / height)
        assert one.asked == silent.asked
    return np.array(columns).T, silent.asked, np.flatnonzero(fresh)


def steps(rounds: np.ndarray, horizon: int) -> np.ndarray:
    """Return how a change of each round by 1 moves the releases, `(releases, horizon)`."""
    return (rounds[:, np.newaxis] >= np.arange(horizon)).astype(float)


@pytest.mark.thorough
def test_own_norm_noise_loses_no_more_than_epsilon():
    """Some round loses all of it, except where the horizon is too short for all nodes of an item."""
    for horizon in [1, 3, 4, 8]:
        for name in LAPLACE:
            for game in ["experts", "ball"]:
                inputs = FACTS[game](D, horizon)
                mechanism = CounterSums(counter=name, epsilon=EPSILON, noise="own-norm")
                noise, asked, rounds = map_of(mechanism, inputs, OneNode, 2.0**30)
                # In the corner of the cube the sup norm of a node is `height` times its scale; in L2 sqrt(3) times.
                assert set(asked) == {D + 1.0 if game == "experts" else float(D)}
                if game == "ball":
                    noise = noise * math.sqrt(D)
                costs = [cheapest_shift(noise, np.ones(len(asked)), step) for step in steps(rounds, horizon).T]
                losses = np.abs(costs).sum(axis=1) * DIAMETER[game]
                claimed = mechanism.guarantee(inputs).epsilon
                assert claimed == EPSILON
                assert losses.max() <= claimed * (1 + 1e-6)
                short = {("hybrid", 1), ("hybrid", 3), ("hybrid", 4), ("smooth-binary", 4), ("smooth-binary", 8)}
                if (name, horizon) not in short:
                    assert losses.max() >= 0.95 * claimed


@pytest.mark.thorough
def test_laplace_noise_on_vectors_loses_no_more_than_epsilon():
    """All coordinates have the same map; a round moves them by the L1 distance together. On the cube, own-norm too."""
    for game in FACTS:
        for name in LAPLACE:
            inputs = FACTS[game](D, 8)
            for noise_kind in ("laplace", "own-norm") if game == "cube" else ("laplace",):
                mechanism = CounterSums(counter=name, epsilon=EPSILON, noise=noise_kind)
                noise, scales, rounds = map_of(mechanism, inputs, Impulse, 2.0**40)
                used = np.abs(noise).sum(axis=0) > 0
                cost = 1 / np.array(scales)[used]
                shifts = np.array([cheapest_shift(noise[:, used], 1 / cost, step) for step in steps(rounds, 8).T])
                losses = (np.abs(shifts) * cost).sum(axis=1) * inputs.sensitivity
                assert 0.6 * EPSILON <= losses.max() <= EPSILON * (1 + 1e-6)
                assert losses.max() >= 0.95 * EPSILON or name == "smooth-binary"


@pytest.mark.thorough
def test_gaussian_noise_moves_by_no_more_than_rho():
    """A round of experts moves all coordinates by 1: rho is D times half the squared distance of one coordinate.

    The distance of item j is the least L2 norm of the draws, in standard deviations, that hide it, by dense algebra.
    """
    for horizon in [1, 5, 8, 16, 33]:
        for name in COUNTERS:
            inputs = experts(D, horizon)
            mechanism = CounterSums(counter=name, epsilon=EPSILON, noise="gaussian", delta=1e-5)
            noise, scales, rounds = map_of(mechanism, inputs, Impulse, 2.0**40)
            in_units = noise * np.array(scales)
            moves = steps(rounds, horizon)
            answer = np.linalg.lstsq(in_units, moves, rcond=None)[0]
            assert np.abs(in_units @ answer - moves).max() < 1e-6
            rho = D * (answer**2).sum(axis=0) / 2
            declared = mechanism.guarantee(inputs)
            assert (declared.epsilon, declared.delta) == (EPSILON, 1e-5)
            assert rho.max() <= declared.rho * (1 + 1e-6)
            if horizon == 16 and name not in ("smooth-binary", "padded-binary"):
                # Honaker's refinement hides part of each node's draw: in L2 that is less than all nodes say.
                assert rho.max() >= (0.85 if name == "honaker" else 0.95) * declared.rho


def dense_factors(horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the square-root counter's L from its releases, per unit draw, and C = L^-1 M, both as dense matrices."""
    mechanism = CounterSums(counter="square-root", epsilon=1.0, delta=1e-6)
    noise, scales, _ = map_of(mechanism, experts(1, horizon), Impulse, 2.0**40)
    return noise, np.linalg.solve(noise, np.tri(horizon)), np.array(scales)


@pytest.mark.thorough
@pytest.mark.parametrize("horizon", [1, 2, 17, 64, 200])
def test_columns_of_the_square_roots_other_factor_are_no_longer_than_its_noise(horizon):
    """Column 1 is the longest, and the standard deviation of a draw is sigma times its length, up to rounding."""
    noise, other, scales = dense_factors(horizon)
    np.testing.assert_allclose(noise @ other, np.tri(horizon), atol=1e-9)
    lengths = np.linalg.norm(other, axis=0)
    some = COUNTERS["square-root"](epsilon=1.0, delta=1e-6, horizon=horizon)
    assert lengths.argmax() == 0
    assert (scales >= some.sigma * lengths.max() * (1 - 1e-9)).all()
    assert scales == pytest.approx(some.sigma * lengths.max(), rel=2e-9)
    # The variances that it declares are those of this matrix.
    variances = [some.variance(t) for t in range(1, horizon + 1)]
    assert (noise**2).sum(axis=1) * scales[0] ** 2 == pytest.approx(variances, rel=2e-9)


@pytest.mark.parametrize("sensitivity", [1.0, 3.0, 4.0])
def test_gaussian_noise_grows_with_the_root_of_the_revealed_gains(sensitivity):
    """On a graph whose rows reveal s gains, the L2 distance is sqrt(s); Laplace noise grows with s."""
    inputs = InputFacts(6, 16, sensitivity, math.ceil(sensitivity), values=gains_of_arms(sensitivity))
    for name in ("square-root", "k-ary"):
        mechanism = CounterSums(counter=name, epsilon=1.0, noise="gaussian")
        factor = factor_of(mechanism, inputs)
        assert factor == pytest.approx(math.sqrt(sensitivity), rel=1e-6) and factor**2 >= sensitivity * (1 - 1e-15)
        assert mechanism.noise(inputs).sensitivity == pytest.approx(math.sqrt(sensitivity), rel=1e-15)
    assert factor_of(CounterSums(counter="k-ary", epsilon=1.0), inputs) == pytest.approx(sensitivity, rel=1e-15)


@pytest.mark.parametrize(
    ("facts", "l1", "l2", "own"),
    [(experts, 3.0, math.sqrt(3), 1.0), (box, 6.0, 2 * math.sqrt(3), 2.0), (ball, 2 * math.sqrt(3), 2.0, 2.0)],
)
def test_noise_is_scaled_to_the_distance_in_its_norm(facts, l1, l2, own):
    """Up to 2^-30 a coordinate, by which rounding may move values that are not the range apart; never below."""
    for noise, distance in (("laplace", l1), ("gaussian", l2), ("own-norm", own)):
        factor = factor_of(CounterSums(counter="binary", epsilon=1.0, noise=noise), facts(3, 9))
        assert distance * (1 - 1e-15) <= factor <= distance * (1 + 1e-6 * (noise == "gaussian")) + 3.01 * 2.0**-30


def test_sums_of_values_of_either_sign_are_exact_without_noise():
    for facts in [box, ball, cross_polytope]:
        for name in COUNTERS:
            table = np.random.default_rng(2).integers(-64, 65, (20, 3)) / 64
            sums = released(CounterSums(counter=name, epsilon=math.inf), facts(3, 20), table, np.random.default_rng(1))
            exact = released(ExactSums(), facts(3, 20), table, None)
            fresh = ~np.isnan(sums)
            np.testing.assert_array_equal(sums[fresh], exact[fresh])
            assert (exact < 0).any() and CounterSums.any_range and ExactSums.any_range
