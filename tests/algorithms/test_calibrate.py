"""`calibrate` meets a real guarantee as closely as possible from below."""

import math

import pytest

from dp_bandit_envs import algorithm_names, calibrate, make_algorithm, simulate
from dp_bandit_envs.algorithms import ALGORITHMS, secured
from dp_bandit_envs.errors import UnknownNameError, UnreachableGuaranteeError
from tests.tools.refusals import refused

SIZE = {"n_arms": 4, "horizon": 2**12}
FREE = {name for name in ALGORITHMS if make_algorithm(name).guarantee(**SIZE).model == "none"}
NOT_PURE = {"DP-Hedge", "Lazy-Hedge", "AS-FTPL", "DP-FTRL", "AdaC-GOPE", "AdaC-UCB", "Tuned-TS"}
"""Their guarantees have a delta, whatever epsilon is."""


def test_private_ucb_gets_k_times_epsilon():
    """Arms compose in parallel, and the paper divides by K: K = 4, 5 times the target, within a millionth."""
    for k in (4, 5):
        found = calibrate("Private-UCB", epsilon=1.0, n_arms=k, horizon=1000)
        assert found.parameters["epsilon"] == pytest.approx(k, rel=1e-6)
        assert 1 - 1e-6 <= found.guarantee(n_arms=k, horizon=1000).epsilon <= 1.0


def test_an_algorithm_that_already_meets_it_is_unchanged():
    """The same parameters, hence the same noise for a seed; also where they change nothing.

    AS-FTPL at T = 2^18 keeps the noise that its regret needs, which is worth .101.
    """
    for name in ("DP-EXP3-Lap", "DP-UCB-BOUND", "AdaP-UCB", "LDP-UCB-B", "DP-Epochs", "Noisy-Hedge"):
        assert calibrate(name, epsilon=0.7, **SIZE).player == make_algorithm(name, epsilon=0.7).player
    size = {"n_arms": 4, "horizon": 2**18}
    found = calibrate("AS-FTPL", epsilon=1.0, delta=1e-6, **size)
    assert found.parameters["epsilon"] == 1.0
    assert found.guarantee(**size).epsilon == pytest.approx(0.101, abs=5e-4)


@pytest.mark.parametrize("name", ["DP-KLUCB", "DP-UCB", "LDP-UCB-L", make_algorithm("DP-SE", epsilon=30)], ids=str)
def test_an_epsilon_alone_is_refused_where_fast_draws_add_a_delta_that_is_not_small(name):
    """At epsilon = 30 they add .4 and more, from 35 on 1, beside which an epsilon says nothing."""
    size = {"n_arms": 3, "horizon": 100}
    for epsilon in (30, 40, 1000):
        with refused(UnreachableGuaranteeError, "fast draws add a delta of", "dp_bandit_envs.algorithms.secured"):
            calibrate(name, epsilon=epsilon, **size)
    with refused(UnreachableGuaranteeError, "draws='secure'"):
        simulate("Stochastic", name, epsilon=30, at_guarantee=True, horizon=100, trials=1)


def test_exact_noise_and_a_delta_reach_a_large_epsilon():
    size = {"n_arms": 3, "horizon": 100}
    pytest.importorskip("opendp")
    exact = calibrate(lambda epsilon: secured(make_algorithm("DP-SE", epsilon=epsilon)), epsilon=40, **size)
    assert exact.guarantee(**size).numbers() == "epsilon = 40"
    with_delta = calibrate("DP-SE", epsilon=40, delta=1e-6, **size).guarantee(**size)
    assert with_delta.epsilon_at(1e-6) <= 40
    assert calibrate("DP-SE", epsilon=16, **size).guarantee(**size).epsilon == 16


def test_an_algorithm_with_a_delta_gets_that_of_the_target():
    for name in sorted(NOT_PURE):
        assert calibrate(name, epsilon=0.5, delta=1e-3, n_arms=4, horizon=100).parameters["delta"] == 1e-3


def test_a_target_for_a_person_is_shared_by_their_rounds():
    found = calibrate("DP-EXP3-Lap", epsilon=2.0, rounds_per_person=4, **SIZE)
    assert found.parameters["epsilon"] == pytest.approx(0.5, rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(set(algorithm_names()) - FREE))
def test_every_private_algorithm_meets_a_target_with_a_delta(name):
    if name == "EXP3":
        return refuses(name, 0.5, 1e-6)
    found = calibrate(name, epsilon=0.5, delta=1e-6, **SIZE)
    reached = found.guarantee(**SIZE).epsilon_at(1e-6)
    assert reached <= 0.5
    if name == "Uniform":
        assert reached == 0
    elif name == "EXP3-tau":  # whole numbers: one less is too small
        size = found.parameters["batch_size"]
        assert make_algorithm(name, batch_size=size - 1).guarantee(**SIZE).epsilon_at(1e-6) > 0.5
    else:
        # The numbers of DP-UCB-INT's releases and of Lazy-Hedge's draws are whole, so their guarantees have steps.
        assert reached > 0.5 * {"DP-UCB-INT": 0.97, "Lazy-Hedge": 0.998}.get(name, 1 - 2e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(set(algorithm_names()) - FREE - {"EXP3", "EXP3-tau"}))
def test_pure_targets_are_met_without_a_delta_or_refused(name):
    if name in NOT_PURE:
        return refuses(name, 0.5, 0.0)
    guarantee = calibrate(name, epsilon=0.5, **SIZE).guarantee(**SIZE)
    reached = guarantee.pure_epsilon
    assert reached <= 0.5
    if name == "DP-UCB-INT":  # the number of its releases is whole; what it states first has a delta
        assert reached > 0.97 * 0.5 and guarantee.delta > 0 and guarantee.epsilon < reached
    else:
        assert guarantee.epsilon == reached and (reached >= 0.5 * (1 - 2e-6) or name == "Uniform")


def test_algorithms_without_privacy_are_refused():
    for name in sorted(FREE):
        with refused(UnreachableGuaranteeError, name, "must be private"):
            calibrate(name, epsilon=3.0, delta=1e-3, **SIZE)


def refuses(name, epsilon, delta):
    with refused(UnreachableGuaranteeError, name, f"epsilon = {epsilon:g}", f"delta = {delta:g}"):
        calibrate(name, epsilon=epsilon, delta=delta, **SIZE)


def test_other_parameters_are_kept_and_a_given_epsilon_is_only_checked():
    found = calibrate("DP-UCB-INT", epsilon=0.5, delta=1e-5, v=1.3, **SIZE)
    assert found.parameters["v"] == 1.3
    # A little of delta is left for fast draws.
    assert found.parameters["delta"] == 1e-5 and found.guarantee(**SIZE).epsilon_at(1e-5) <= 0.5
    assert calibrate("EXP3-tau", epsilon=5.0, delta=1e-6, batch_size=100, **SIZE).parameters["batch_size"] == 100
    with refused(UnreachableGuaranteeError, "EXP3-tau"):
        calibrate("EXP3-tau", epsilon=0.1, delta=1e-6, batch_size=2, **SIZE)


def test_wrong_targets_are_refused():
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with refused(ValueError, "epsilon", epsilon):
            calibrate("DP-SE", epsilon=epsilon, **SIZE)
    with refused(ValueError, "delta", 1.0):
        calibrate("DP-SE", epsilon=1.0, delta=1.0, **SIZE)
    with refused(UnknownNameError, "DP-SE"):
        calibrate("DP-SF", epsilon=1.0, **SIZE)
    for rounds in (0, 4097):
        with refused(ValueError, "rounds_per_person", rounds):
            calibrate("DP-SE", epsilon=1.0, rounds_per_person=rounds, **SIZE)


@pytest.mark.thorough
def test_simulate_compares_algorithms_at_equal_guarantees():
    """Also on a cycle, where a round reveals 3 gains; Private-UCB by itself adds more noise than it needs."""
    for game, more in (
        ("DPBandit-Stochastic-v0", {"means": [0.9, 0.6, 0.5]}),
        ("DPBandit-Graph-v0", {"graph": "cycle"}),
    ):
        options = {"horizon": 300, "trials": 2, "env_kwargs": more}
        equal = simulate(game, ["Private-UCB", "DP-SE"], epsilon=0.5, at_guarantee=True, **options)
        for outcome in equal.values():
            assert 0.5 * (1 - 2e-6) < outcome.guarantee.epsilon <= 0.5
        assert simulate(game, ["Private-UCB"], **options)["Private-UCB"].guarantee.epsilon < 0.5
    one = simulate("DPBandit-Stochastic-v0", "DP-EXP3-Lap", epsilon=1, at_guarantee=True, horizon=50)
    plain = simulate("DPBandit-Stochastic-v0", "DP-EXP3-Lap", horizon=50)
    assert (one["DP-EXP3-Lap"].external_regret == plain["DP-EXP3-Lap"].external_regret).all()


@pytest.mark.thorough
def test_simulate_at_a_guarantee_refuses_what_is_above_it_and_plays_what_guarantees_nothing():
    game, target = "DPBandit-Stochastic-v0", {"epsilon": 0.5, "at_guarantee": True, "horizon": 50}
    with refused(UnreachableGuaranteeError, "DP-SE", 1, 0.5):
        simulate(game, [make_algorithm("DP-SE", epsilon=1)], **target)
    assert simulate(game, ["UCB", "DP-SE"], **target)["UCB"].guarantee.model == "none"


def test_an_algorithm_and_a_function_are_calibrated_as_names_are():
    def half(epsilon):
        return make_algorithm("DP-SE", epsilon=2 * epsilon)

    assert calibrate(half, epsilon=1.0, **SIZE).parameters["epsilon"] == pytest.approx(1.0, rel=1e-5)
    fixed = make_algorithm("DP-SE", epsilon=0.7)
    assert calibrate(fixed, epsilon=1.0, **SIZE) is fixed
    with refused(UnreachableGuaranteeError, "DP-SE", 0.7, 0.5):
        calibrate(fixed, epsilon=0.5, **SIZE)
    named = calibrate("DP-UCB-INT:v=1.3", epsilon=1.0, delta=1e-6, **SIZE)
    assert named.parameters["v"] == 1.3


@pytest.mark.parametrize("epsilon", [1500.0, 1e9])
def test_a_huge_target_for_a_group_is_met_too(epsilon):
    """e^(epsilon / 2) is more than any double; next to nothing is left of delta, and the target is met without it."""
    found = calibrate("DP-UCB-INT", epsilon=epsilon, delta=0.1, n_arms=2, horizon=50, rounds_per_person=2)
    assert found.guarantee(n_arms=2, horizon=50).for_group(2).epsilon_at(0.1) <= epsilon
