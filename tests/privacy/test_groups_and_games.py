"""Groups, games and many Laplace draws: by hand, by second routes, and against `dp_accounting` if it is installed."""

import itertools
import math

import numpy as np
import pytest
from scipy.signal import fftconvolve

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import (
    ORDERS,
    DominatingNoise,
    added_delta,
    epsilon_from_renyi,
    gaussian_curve_epsilon,
    gaussian_law,
    laplace_law,
    zcdp_epsilon,
)
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from tests.tools.refusals import refused

PURE = PrivacyGuarantee(0.5, theorem="pure")
APPROXIMATE = PrivacyGuarantee(0.5, delta=1e-6, theorem="approximate")
GAUSSIAN = PrivacyGuarantee(math.inf, rho=1 / 18, noise_law=gaussian_law(3.0), theorem="Gaussian")


def test_a_group_by_hand():
    """Three rounds: 3 * .5; (1 + e^.5 + e) 1e-6; 9 / 18; distances 3 / 3."""
    assert (PURE.for_group(3).epsilon, PURE.for_group(3).delta, PURE.for_group(3).rho) == (1.5, 0.0, None)
    pair, chain = APPROXIMATE.for_group(3), (1 + math.exp(0.5) + math.e) * 1e-6
    assert pair.epsilon == 1.5 and pair.delta == pytest.approx(chain, rel=1e-10) and pair.delta >= chain
    noisy = GAUSSIAN.for_group(3)
    assert noisy.rho == pytest.approx(0.5) and noisy.noise_law.gaussian == pytest.approx(1.0)
    assert noisy.epsilon_at(1e-6) == pytest.approx(
        PrivacyGuarantee(math.inf, noise_law=gaussian_law(1.0)).epsilon_at(1e-6)
    )
    many = PrivacyGuarantee(0.5, noise_law=DominatingNoise(laplace=((0.1, 5),), responses=((0.2, 3),))).for_group(2)
    assert many.noise_law == DominatingNoise(laplace=((0.2, 5),), responses=((0.4, 3),)) and many.epsilon == 1.0
    assert PrivacyGuarantee(0.0, delta=1e-6).for_group(4).delta == pytest.approx(4e-6)
    assert "up to 3 rounds" in pair.neighbours and pair.steps[-1].startswith("group privacy for 3 rounds")


def test_a_pure_epsilon_beside_a_pair_is_kept():
    """Two rounds or games: 2 * 1.5; two games are two responses; and it remains where delta would reach 1."""
    both = PrivacyGuarantee(0.5, delta=1e-6, pure=1.5)
    assert both.pure_epsilon == both.epsilon_at(1e-7) == 1.5 and both.epsilon_at(1e-6) == 0.5
    assert both.delta_at(1.4) == 1e-6 and both.delta_at(1.5) == 0.0
    assert both.for_group(2).pure == both.for_games(2).pure == 3.0
    assert both.for_games(2).noise_law == DominatingNoise(responses=((1.5, 2),))
    lost = PrivacyGuarantee(10.0, delta=1e-6, pure=11.0).for_group(3)
    assert (lost.epsilon, lost.delta, lost.pure_epsilon) == (33.0, 0.0, 33.0)
    assert PURE.pure_epsilon == 0.5 and PURE.for_group(2).pure_epsilon == 1.0
    assert APPROXIMATE.pure_epsilon == GAUSSIAN.pure_epsilon == math.inf


@pytest.mark.parametrize("rounds", [2, 3, 6])
def test_a_group_holds_for_random_chains_of_laws(rounds):
    """The exact delta of the two ends at r epsilon, for neighbours of which each has a small delta of its own."""
    rng = np.random.default_rng(rounds)
    closest = 0.0
    for _ in range(300):
        chain = [rng.dirichlet(np.ones(4))]
        for _ in range(rounds):
            # All in one direction, so that the ends are far apart.
            moved = chain[-1] * np.array([1.0, 1.2, 1.2**2, 4.0 if rng.random() < 0.2 else 1.3])
            chain.append(moved / moved.sum())
        epsilon = 0.2

        def delta(one, other, epsilon):
            return max(float(np.maximum(0, p - math.exp(epsilon) * q).sum()) for p, q in ((one, other), (other, one)))

        most = max(delta(one, other, epsilon) for one, other in itertools.pairwise(chain))
        stated = PrivacyGuarantee(epsilon, delta=most).for_group(rounds)
        if stated.delta > 0:
            found = delta(chain[0], chain[-1], stated.epsilon)
            assert found <= stated.delta
            closest = max(closest, found / stated.delta)
    assert closest > 0.2


def test_games_by_hand():
    """Four games: 4 * .5; 4e-6; 4 / 18; 4 / 9. Pure .5-DP is a randomised response."""
    four = PURE.for_games(4)
    assert (four.epsilon, four.delta, four.rho) == (2.0, 0.0, None) and four.noise_law == DominatingNoise(
        responses=((0.5, 4),)
    )
    assert (APPROXIMATE.for_games(4).epsilon, APPROXIMATE.for_games(4).delta) == (2.0, 4e-6)
    assert APPROXIMATE.for_games(4).rho is None
    noisy = GAUSSIAN.for_games(4)
    assert noisy.rho == pytest.approx(4 / 18) and noisy.noise_law.gaussian == pytest.approx(4 / 9)
    assert "independent noise" in noisy.theorem and noisy.neighbours == GAUSSIAN.neighbours
    own = PrivacyGuarantee(1.0, rho=0.125)  # a smaller rho than 1 / 2 is kept
    assert own.for_games(2).rho == 0.25
    many = PrivacyGuarantee(0.01).for_games(10_000)  # far less than their sum, at a delta
    assert many.epsilon == pytest.approx(100.0) and many.epsilon_at(1e-6) < 5.3


def test_a_delta_that_reaches_one_leaves_rho_or_nothing():
    lost = PrivacyGuarantee(10.0, delta=1e-6).for_group(3)  # 3 e^20 1e-6 > 1
    assert (lost.model, lost.epsilon, lost.covers) == ("none", math.inf, "nothing")
    kept = PrivacyGuarantee(10.0, delta=1e-6, rho=0.1).for_group(3)
    assert (kept.epsilon, kept.delta, kept.rho) == (math.inf, 0.0, pytest.approx(0.9))
    assert PrivacyGuarantee(1.0, delta=0.3).for_games(4).model == "none"
    huge = PrivacyGuarantee(1e308).for_group(10)
    assert huge.model == "none"
    # One round or one game changes nothing and no guarantee stays none.
    for guarantee in (PURE, APPROXIMATE, GAUSSIAN, PrivacyGuarantee.none("no noise")):
        assert guarantee.for_group(1) == guarantee.for_games(1) == guarantee
    none = PrivacyGuarantee.none("no noise")
    assert none.for_group(5) == none.for_games(5) == none


@pytest.mark.parametrize("number", [0, -1, 1.5])
def test_groups_and_games_are_counted_from_one(number):
    with refused((ValueError, TypeError), "rounds", number):
        PURE.for_group(number)
    with refused((ValueError, TypeError), "n", number):
        PURE.for_games(number)


@pytest.mark.thorough
def test_games_hold_for_dp_accounting():
    """Laplace noise, the worst pair, a bit told truly with probability e / (1 + e), and the pair of DP-UCB-INT.

    Pure: r epsilon is reached by a changed sum of r; n games cost at most what is stated, at every delta.
    """
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    common = pytest.importorskip("dp_accounting.pld.common")
    number, laplace = 3, pld.from_laplace_mechanism
    group = laplace(2.0, sensitivity=number)
    assert group.get_epsilon_for_delta(1e-9) == pytest.approx(PURE.for_group(number).epsilon, abs=1e-3)
    together = laplace_law([0.5, 0.3, 0.2])
    several = laplace(1 / 0.5).compose(laplace(1 / 0.3)).compose(laplace(1 / 0.2))
    worst = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(0.5, 1e-6))
    for theirs, ours, deltas in (
        (laplace(2.0), PURE, (1e-2, 1e-6, 1e-9)),
        (worst, APPROXIMATE, (number * 1e-6,)),
        (pld.from_randomized_response(2 / (1 + math.e), 2), PrivacyGuarantee(1.0), (0.3, 1e-2, 1e-6, 1e-12)),
        (several, PrivacyGuarantee(together.epsilon(0.01), delta=0.01, pure=together.pure), (0.03, 1e-3, 1e-9)),
    ):
        games, stated = theirs.self_compose(number), ours.for_games(number)
        for delta in deltas:
            assert games.get_epsilon_for_delta(delta) <= stated.epsilon_at(delta) + 1e-3
    # n epsilon at n delta is enough for the pair, and hardly more than needed.
    found = worst.self_compose(number).get_delta_for_epsilon(1.5)
    assert 0.99 * number * 1e-6 < found <= APPROXIMATE.for_games(number).delta


def test_renyi_curves_in_games_are_those_of_dp_accounting():
    accountant = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    event = pytest.importorskip("dp_accounting.dp_event")
    curve = tuple((order, order / 18) for order in ORDERS if order < 10_000)
    ours = PrivacyGuarantee(math.inf, curve=curve).for_games(50)
    theirs = accountant.RdpAccountant(orders=[order for order, _ in curve])
    theirs.compose(event.GaussianDpEvent(3.0), 50)
    for delta in (1e-3, 1e-6, 1e-12):
        assert ours.epsilon_at(delta) == pytest.approx(theirs.get_epsilon(delta), rel=1e-6)
        assert ours.delta_at(theirs.get_epsilon(delta)) == pytest.approx(delta, rel=1e-4)


@pytest.mark.parametrize("epsilon", [5e-324, 1e-310, 1e-200, 1e-160, 1e160, 1e300])
def test_extreme_epsilons_have_guarantees_for_many_games(epsilon):
    """No number of games is free, and none has less than nothing."""
    many = PrivacyGuarantee(epsilon).for_games(3)
    assert many.epsilon == 3 * epsilon > 0
    for delta in (5e-324, 1e-6, 0.1):
        assert 0 <= many.epsilon_at(delta) <= many.epsilon
    assert len(many.renyi()) == 60 and all(0 <= each <= many.epsilon for _, each in many.renyi())


# ---- the check values of docs/notes/accounting.md


@pytest.mark.thorough
def test_games_of_dp_ucb_int_by_its_law():
    """The 60 orders alone give .481, .964 and 1.63, so a reader that leaves out the law fails."""
    one = make_algorithm("DP-UCB-INT", epsilon=1).guarantee(n_arms=10, horizon=100_000)
    own = math.exp(-10)
    for guarantee, delta, by_law, by_orders in (
        (one, own, 0.447, 0.481),
        (one, 1.001 * own, 0.447, 0.481),
        (one.for_group(2), 1e-4, 0.896, 0.964),
        (one.for_games(10), 1e-3, 1.44, 1.63),
    ):
        assert guarantee.epsilon_at(delta) == pytest.approx(by_law, rel=2e-3)
        assert epsilon_from_renyi(guarantee.renyi(), delta) == pytest.approx(by_orders, rel=2e-3)
    assert [one.for_group(k).epsilon_at(1e-4) for k in (3, 5)] == pytest.approx([1.393, 2.436], rel=1e-3)


def test_a_hundred_pure_games():
    """4.7746 is the optimum for what is only known to be .1-DP, and 4.693 for a Laplace draw each."""
    assert PrivacyGuarantee(0.1).for_games(100).epsilon_at(1e-6) == pytest.approx(4.7746, abs=1e-4)
    laplace = make_algorithm("DP-KLUCB", epsilon=0.1).guarantee(n_arms=4, horizon=1000)
    assert laplace.for_games(100).epsilon_at(1e-6) == pytest.approx(4.693, abs=1e-3)
    # Other check values.
    exp3 = make_algorithm("EXP3-tau", batch_size=19).guarantee(n_arms=4, horizon=2**18)
    assert 1.436 <= round(exp3.epsilon_at(2.0**-36), 3) <= 1.440
    assert 1.436 <= round(epsilon_from_renyi(exp3.renyi(), 2.0**-36), 3) <= 1.440
    for horizon, epsilon in ((2**12, 0.934), (2**16, 0.905)):
        lazy = make_algorithm("Lazy-Hedge", epsilon=1).guarantee(n_arms=10, horizon=horizon)
        assert lazy.epsilon == pytest.approx(epsilon, abs=1e-3) and lazy.delta == 1e-6
    sigma = gaussian_sigma(1.0, 1e-6)
    assert gaussian_law(sigma).epsilon(1e-6) == pytest.approx(1.0, rel=1e-8)


def test_laws_of_all_kinds_join_as_in_dp_accounting():
    """Laplace draws, a Gaussian one and responses together; theirs are rounded up on a grid."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    noise_law = DominatingNoise(((0.5, 2), (0.1, 20)), 0.04, ((0.2, 3),))
    theirs = pld.from_gaussian_mechanism(5.0)
    for each, number in noise_law.laplace:
        theirs = theirs.compose(pld.from_laplace_mechanism(1 / each).self_compose(number))
    for each, number in noise_law.responses:
        theirs = theirs.compose(pld.from_randomized_response(2 / (1 + math.exp(each)), 2).self_compose(number))
    for delta in (1e-2, 1e-6, 1e-9):
        assert noise_law.epsilon(delta) == pytest.approx(theirs.get_epsilon_for_delta(delta), rel=2e-3)
        assert noise_law.delta(noise_law.epsilon(delta)) == pytest.approx(delta, rel=1e-5)


@pytest.mark.parametrize("order", ORDERS[::11] + ORDERS[40:41])
def test_curves_of_laws_are_those_of_integrals(order):
    """Of densities of Laplace draws on a line, and of two chances; a Gaussian draw has order mu^2 / 2."""
    e = 0.3
    s = order - 1
    # ln of the integral of p^order q^(1 - order): below 0 and above e the ratio is constant, between it is e^(e - 2 x).
    between = (math.exp(s * e) - math.exp(-order * e)) / (2 * order - 1) / 2
    laplace = math.log(math.exp(s * e) / 2 + math.exp(-order * e) / 2 + between) / s if s < 2000 else None
    true = math.exp(e) / (1 + math.exp(e))
    response = np.logaddexp(
        order * math.log(true) + (1 - order) * math.log(1 - true),
        order * math.log(1 - true) + (1 - order) * math.log(true),
    )
    found = {kind: dict(noise_law.renyi())[order] for kind, noise_law in KINDS.items()}
    if laplace is not None:
        assert found["laplace"] == pytest.approx(2 * laplace, rel=1e-6, abs=1e-10)
    assert found["response"] == pytest.approx(2 * float(response) / s, rel=1e-6, abs=1e-10)
    assert found["gaussian"] == pytest.approx(order * 0.04 / 2, rel=1e-9)


KINDS = {
    "laplace": DominatingNoise(laplace=((0.3, 2),)),
    "response": DominatingNoise(responses=((0.3, 2),)),
    "gaussian": DominatingNoise(gaussian=0.04),
}


# ---- what draws add to delta


FAST = PrivacyGuarantee(1.0, theorem="pure", draw_distance=1e-12)
FAST_PAIR = PrivacyGuarantee(1.0, delta=1e-6, theorem="pair", draw_distance=1e-7)
FAST_GAUSSIAN = PrivacyGuarantee(
    math.inf, rho=0.02, noise_law=gaussian_law(5.0), theorem="Gaussian", draw_distance=1e-12
)


def test_pure_privacy_by_hand():
    """(1 + e) 1e-12 = 3.718e-12."""
    assert FAST.delta == 0.0 and FAST.delta_at(FAST.epsilon) == pytest.approx((1 + math.e) * 1e-12)
    assert FAST.epsilon_at(3.72e-12) == 1.0 and FAST.epsilon_at(3.71e-12) == math.inf
    assert FAST.delta_at(1.0) == FAST.delta_at(FAST.epsilon) == FAST.delta_at(20.0)
    assert FAST.delta_at(0.9) == 1.0
    assert "epsilon = 1, delta = 3.72e-12 from fast draws (" in str(FAST)
    # A delta greater than 0 has in it what draws add.
    assert FAST_PAIR.delta_at(FAST_PAIR.epsilon) == FAST_PAIR.delta == 1e-6 == FAST_PAIR.delta_at(1.0)
    assert FAST_PAIR.epsilon_at(1e-6) == 1.0 and FAST_PAIR.epsilon_at(0.99e-6) == math.inf
    assert "delta = 1e-06" in str(FAST_PAIR) and "fast draws" not in str(FAST_PAIR)


@pytest.mark.thorough
def test_epsilon_and_delta_of_concentrated_privacy_stay_inverse():
    exact = PrivacyGuarantee(math.inf, rho=0.02, noise_law=gaussian_law(5.0))
    for delta in (1e-3, 1e-6, 1e-9):
        found = FAST_GAUSSIAN.epsilon_at(delta)
        assert exact.epsilon_at(delta) < found < exact.epsilon_at(delta) * 1.01
        # What is left for exact noise at this epsilon.
        left = delta - added_delta(found, 1e-12)
        assert exact.delta_at(found) <= left * (1 + 1e-9)
        assert FAST_GAUSSIAN.delta_at(found) <= delta * (1 + 1e-9)
    assert FAST_GAUSSIAN.epsilon_at(1.9e-12) == math.inf  # less than the two distances
    smallest = min(FAST_GAUSSIAN.delta_at(each / 16) for each in range(1, 33))
    assert FAST_GAUSSIAN.delta_at(30.0) <= smallest * (1 + 1e-3) and smallest < 1e-10


def test_games_multiply_the_distance_and_pure_privacy_is_still_concentrated():
    many = FAST.for_games(100)
    assert (many.epsilon, many.pure_epsilon, many.rho) == (100.0, 100.0, None)
    assert many.draw_distance == pytest.approx(1e-10)
    small = PrivacyGuarantee(0.01, draw_distance=1e-12).for_games(10_000)
    # Below 6 at 1e-6, where 1e-8 (1 + e^5) = 1.5e-6 is too much; below 5 at 1e-5.
    assert PrivacyGuarantee(0.01).for_games(10_000).epsilon_at(1e-6) < 6.0 and small.epsilon_at(1e-6) == 100.0
    assert small.epsilon_at(1e-5) < 5.0
    # By hand: as drawn each of 100 games is (1, (1 + e) 1e-12)-DP, and pairs add up; (1 + e^100) 1e-10 is no delta.
    many = FAST.for_games(100)
    assert many.delta == pytest.approx(100 * (1 + math.e) * 1e-12, rel=1e-9)
    assert many.epsilon_at(1e-6) == 100.0 and many.epsilon_at(1e-10) == math.inf
    assert many.numbers().startswith("epsilon = 100, delta = 3.72e-10")


def test_groups_multiply_the_distance_once_not_along_the_chain():
    """(1 + e^3) 3e-12, where nothing else is added; a pair's chain is one of what is drawn, (1 + e + e^2) delta."""
    three = FAST.for_group(3)
    assert three.epsilon == 3.0 and three.draw_distance == pytest.approx(3e-12)
    assert three.delta_at(three.epsilon) == pytest.approx((1 + math.e**3) * 3e-12)
    both = FAST_PAIR.for_group(3)
    assert both.delta == pytest.approx((1 + math.e + math.e**2) * 1e-6)
    assert both.delta_at(both.epsilon) == both.delta
    # A delta of one is said in words and exact noise adds nothing.
    lost = PrivacyGuarantee(40.0, draw_distance=1e-12, theorem="pure")
    assert lost.delta_at(lost.epsilon) == 1.0 == lost.delta_at(40.0) and lost.epsilon_at(0.999) == math.inf
    assert lost.numbers() == "epsilon = 40 for exact noise; nothing with fast draws, whose delta reaches 1"
    exact = PrivacyGuarantee(1.0, theorem="pure")
    assert exact.delta_at(exact.epsilon) == 0.0 and exact.epsilon_at(1e-300) == 1.0
    assert exact.numbers() == "epsilon = 1"
    assert laplace_law([]).epsilon(1e-6) == laplace_law([0.0, 0.0]).epsilon(1e-6) == 0.0


# ---- the composition of Laplace draws: closed forms, a discretised second route from both sides, and `dp_accounting`

LISTS = {
    "one": [0.7],
    "five": [0.5, 0.3, 0.2, 0.2, 0.1],
    "alike": [0.4] * 12,
    "falling": list(np.arange(1, 40) ** -0.55),
    "a large one": [3.0, *[0.05] * 50],
}
DELTAS = [0.05, 1e-4, 1e-8]


def rounded_losses(distance, step, up):
    """Return the law of one loss, rounded up or down to multiples of a step: first multiple, and probabilities.

    P(l <= x) = e^((x - e) / 2) / 2 on [-e, e), and the rest is at e.
    """
    last = math.ceil(distance / step) + 1
    grid = np.arange(-last - 1, last + 1)
    edges = grid * step
    inputs = np.where(edges >= distance, 1.0, np.where(edges < -distance, 0.0, 0.5 * np.exp((edges - distance) / 2)))
    masses = np.diff(inputs)  # of (grid[i], grid[i + 1]]
    return (int(grid[1]) if up else int(grid[0])), masses


def delta_by_convolution(distances, epsilon, up, step):
    """Return an upper or a lower bound on the smallest delta, by convolving rounded losses."""
    law, first = np.ones(1), 0
    for distance in distances:
        start, masses = rounded_losses(distance, step, up)
        first += start
        law = np.maximum(0, fftconvolve(law, masses))
    losses = (first + np.arange(len(law))) * step
    return float((law * np.maximum(0, -np.expm1(epsilon - losses))).sum())


@pytest.mark.thorough
def test_epsilon_is_enough_and_hardly_more():
    """Losses rounded down give too small a delta, and even that must be reached a little below epsilon."""
    for delta in DELTAS:
        for name in LISTS:
            distances = LISTS[name]
            found = laplace_law(distances).epsilon(delta)
            step = sum(distances) / 20_000
            assert delta_by_convolution(distances, found, up=False, step=step) <= delta
            # A bound that is too large by more than 0.3 % and the rounding of both routes would fail.
            slack = 0.003 * found + step * len(distances)
            assert found == 0 or delta_by_convolution(distances, max(0.0, found - slack), up=True, step=step) > delta


def test_one_draw_has_a_closed_form():
    """1 - e^((epsilon - e) / 2) = delta, so epsilon = e + 2 ln(1 - delta); not below 0."""
    for delta in [1e-10, 0.01, 0.2, 0.5, 0.9]:
        for distance in [0.01, 0.3, 1.0, 8.0]:
            exact = max(0.0, distance + 2 * math.log1p(-delta))
            assert exact <= laplace_law([distance]).epsilon(delta) <= exact + 0.005 * distance
    # Epsilon falls as delta grows and never exceeds pure privacy.
    together = laplace_law(LISTS["falling"])
    found = [together.epsilon(delta) for delta in (1e-300, 1e-60, 1e-20, 1e-6, 1e-2, 0.3, 0.9, 0.999)]
    assert found == sorted(found, reverse=True) and found[0] <= together.pure and found[-1] == 0
    assert found[0] > 0.99 * together.pure


def test_many_small_draws_are_all_but_normal():
    """A hundred thousand of e = 0.001: the loss has mean rho = .05 and variance 2 rho; the Gaussian curve is its limit.

    E l = e - 1 + e^-e = e^2 / 2 - e^3 / 6, so rho is smaller by e / 3, and the rest of the difference is the 1e-4 that
    the added draw costs.
    """
    together = laplace_law(np.full(100_000, 1e-3))
    assert together.pure == pytest.approx(100)
    for delta in (1e-2, 1e-6, 1e-12):
        normal = gaussian_curve_epsilon(1 / math.sqrt(0.1), delta)
        assert together.epsilon(delta) == pytest.approx(normal, rel=1e-3)
        assert together.epsilon(delta) < 0.97 * zcdp_epsilon(0.05, delta)
    # Epsilons that differ by less than 1 / 2,000 are taken at the largest.
    fine = np.linspace(0.01, 0.010004, 500)
    merged = laplace_law(fine)
    assert len(merged.laplace) <= 2 and merged.draws == 500
    assert laplace_law([0.01] * 500).epsilon(1e-6) <= merged.epsilon(1e-6)
    assert merged.epsilon(1e-6) <= laplace_law([0.010004] * 500).epsilon(1e-6) * (1 + 1e-9)


@pytest.mark.parametrize("distances", [[-0.1], [math.nan], [0.1, math.inf]])
def test_distances_are_finite_numbers(distances):
    with refused(ValueError, "distances"):
        laplace_law(distances)
