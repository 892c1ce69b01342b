"""Guarantees handed to dp-accounting have the same numbers there, and are never stronger than they are here."""

import math

import pytest

from dp_bandit_envs import PrivacyGuarantee, make_algorithm
from dp_bandit_envs.privacy.accounting import ORDERS, DominatingNoise, gaussian_law, laplace_law
from tests.tools.refusals import refused

events = pytest.importorskip("dp_accounting.dp_event")
accountants = pytest.importorskip("dp_accounting.pld.pld_privacy_accountant")
renyi = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
distributions = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

SIZE = {"n_arms": 4, "horizon": 4096}
DELTAS = (1e-2, 1e-4, 1e-6)
GRID = 1e-4


def by_accountant(guarantee, accountant):
    accountant.compose(guarantee.to_dp_event())
    return [accountant.get_epsilon(delta) for delta in DELTAS]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["DP-KLUCB", "DP-UCB-INT", "Private-UCB", "AS-FTPL", "DP-FTRL", "AdaC-GOPE"])
def test_known_noise_has_the_same_epsilons_there(name):
    """The grid of losses rounds each of 13 draws up by 1e-4 at most; ours are within .1 % of the smallest."""
    guarantee = make_algorithm(name).guarantee(**SIZE)
    ours = [guarantee._exact_epsilon(delta) for delta in DELTAS]
    theirs = [guarantee.to_pld().get_epsilon_for_delta(delta) for delta in DELTAS]
    assert theirs == pytest.approx(ours, rel=2e-3, abs=20 * GRID)
    assert by_accountant(guarantee, accountants.PLDAccountant()) == pytest.approx(theirs, abs=20 * GRID)


@pytest.mark.thorough_cases("Hedge", "EXP3")
@pytest.mark.parametrize("name", ["EXP3", "EXP3-tau", "Hedge", "DP-Hedge", "Lazy-Hedge", "DP-Epochs", "LDP-UCB-B"])
def test_without_known_noise_the_distribution_says_as_much_as_the_guarantee(name):
    """At small deltas; at large ones the convex hull of the profile says a little more."""
    guarantee = make_algorithm(name).guarantee(**SIZE)
    pld = guarantee.to_pld()
    theirs = [pld.get_epsilon_for_delta(delta) for delta in DELTAS]
    ours = [guarantee._exact_epsilon(delta) for delta in DELTAS]
    assert all(handed <= known * 1.0005 + GRID for handed, known in zip(theirs, ours, strict=True))
    assert theirs[-1] >= ours[-1] * (1 - 1e-5)  # a randomised response needs less at a delta


EPSILONS = [0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0]


@pytest.mark.thorough_cases("rho", "curve", "rho and a pair")
@pytest.mark.parametrize(
    ("stated", "truth"),
    [
        (PrivacyGuarantee(math.inf, rho=1 / 8), lambda: distributions.from_gaussian_mechanism(2.0)),
        (
            PrivacyGuarantee(math.inf, curve=tuple((order, order / 8) for order in ORDERS)),
            lambda: distributions.from_gaussian_mechanism(2.0),
        ),
        (PrivacyGuarantee(2.0, rho=2.0), lambda: distributions.from_randomized_response(2 / (1 + math.e**2), 2)),
        (PrivacyGuarantee(2.0, rho=2.0), lambda: distributions.from_laplace_mechanism(0.5)),
        (
            PrivacyGuarantee(gaussian_law(2.0).epsilon(1e-3), delta=1e-3, rho=1 / 8),
            lambda: distributions.from_gaussian_mechanism(2.0),
        ),
    ],
    ids=["rho", "curve", "rho and pure", "of Laplace noise", "rho and a pair"],
)
def test_a_distribution_dominates_every_mechanism_that_keeps_to_what_is_stated(stated, truth):
    """In its own profile and in that of three games; their distributions are rounded up by 1e-4 for each game."""
    for games in (1, 3):
        handed, exact = stated.to_pld().self_compose(games), truth().self_compose(games)
        for epsilon in EPSILONS:
            rounded_up = exact.get_delta_for_epsilon(epsilon + games * 2 * GRID)
            assert handed.get_delta_for_epsilon(epsilon) >= rounded_up - 1e-13


@pytest.mark.parametrize("name", ["EXP3-tau", "DP-Hedge"])
def test_rho_is_that_of_the_renyi_accountant(name):
    guarantee = make_algorithm(name).guarantee(**SIZE)
    accountant = renyi.RdpAccountant(orders=ORDERS)
    expected = PrivacyGuarantee(math.inf, curve=tuple((order, order * guarantee.rho) for order in ORDERS))
    assert by_accountant(guarantee, accountant) == pytest.approx(
        [expected.epsilon_at(delta) for delta in DELTAS], rel=1e-4
    )


@pytest.mark.thorough
def test_a_profile_composes_as_what_it_came_from():
    """A Gaussian handed over by its zCDP alone costs more than itself, twice as well as once, and not much more."""
    noise = gaussian_law(4.0)
    by_rho = PrivacyGuarantee(math.inf, rho=1 / 32)
    exact = distributions.from_gaussian_mechanism(4.0)
    for games in (1, 2, 10):
        theirs = exact.self_compose(games).get_epsilon_for_delta(1e-6)
        handed = by_rho.to_pld().self_compose(games).get_epsilon_for_delta(1e-6)
        assert theirs <= handed <= 1.35 * theirs
        assert noise.times(games).epsilon(1e-6) == pytest.approx(theirs, abs=games * GRID)


def test_a_pair_is_the_worst_that_keeps_to_it():
    """By hand: delta' at epsilon' < epsilon of the worst pair is delta + (1 - delta) (e^eps - e^eps') / (1 + e^eps)."""
    epsilon, delta, lower = 1.0, 1e-3, 0.4
    pld = PrivacyGuarantee(epsilon, delta=delta).to_pld()
    expected = delta + (1 - delta) * (math.exp(epsilon) - math.exp(lower)) / (1 + math.exp(epsilon))
    assert pld.get_delta_for_epsilon(lower) == pytest.approx(expected, rel=1e-6)
    assert pld.get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=1e-6)
    with refused(ValueError, "epsilon = 1", "to_pld()"):
        PrivacyGuarantee(epsilon, delta=delta).to_dp_event()
    # What is pure and nothing else.
    guarantee = PrivacyGuarantee(0.5)
    assert guarantee.to_pld().get_epsilon_for_delta(1e-9) == pytest.approx(0.5, abs=GRID)
    assert guarantee.to_dp_event().rho == pytest.approx(0.125)


def test_groups_games_and_several_draws():
    noise = laplace_law([0.5, 0.2])
    guarantee = PrivacyGuarantee(0.7, noise_law=noise, rho=0.2).for_group(2).for_games(3)
    pld = distributions.from_laplace_mechanism(1.0).self_compose(3)
    pld = pld.compose(distributions.from_laplace_mechanism(2.5).self_compose(3))
    assert guarantee.to_pld().get_epsilon_for_delta(1e-4) == pytest.approx(pld.get_epsilon_for_delta(1e-4), abs=1e-3)
    mixed = DominatingNoise(laplace=((0.5, 2),), gaussian=0.04, responses=((0.3, 1),))
    assert isinstance(PrivacyGuarantee(math.inf, noise_law=mixed).to_pld().get_epsilon_for_delta(1e-4), float)
    # dp-accounting 0.6 counts `SelfComposedDpEvent(RandomizedResponseDpEvent(...), n)` once, and needs a relation.
    games = PrivacyGuarantee(0.5).for_games(4)
    assert games.noise_law.responses and isinstance(games.to_dp_event(), events.ZCDpEvent)
    assert games.to_pld().get_epsilon_for_delta(1e-12) == pytest.approx(2.0, abs=1e-3)


def test_nothing_is_handed_over_as_nothing():
    none = make_algorithm("UCB").guarantee(**SIZE)
    assert none.to_dp_event() == events.NonPrivateDpEvent()
    with refused(ValueError, "without a guarantee", "sums without noise"):
        none.to_pld()
    assert make_algorithm("Uniform").guarantee(**SIZE).to_dp_event() == events.NoOpDpEvent()
    with refused(ValueError, "epsilon", "for_games()"):
        PrivacyGuarantee(5000.0, rho=2000.0).to_pld()
    with refused(ValueError, "value_discretization_interval", 0):
        PrivacyGuarantee(1.0).to_pld(value_discretization_interval=0)
