"""Every algorithm in the table makes, wraps, plays, and says what it guarantees; wrong parameters are refused."""

import inspect
import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, PrivacyGuarantee, algorithm_names, make_algorithm, simulate
from dp_bandit_envs.agents import TsallisInf
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import UnknownNameError
from tests.tools.doors import one_each
from tests.tools.one_noise import with_one_noise
from tests.tools.playable import FULL_INFORMATION
from tests.tools.refusals import refused

NAMES = algorithm_names()
LAPLACE = ["DP-EXP3-Lap", "DP-Lambda-Lap", "Batched-Lap-EXP3", "Batched-Lap-HTINF"]
ADVERSARIAL = ["EXP2", "AS-EXP2", "EXP3", "EXP3-tau", "Tsallis-INF", "HTINF", "Uniform", "EXP3-SET", *LAPLACE]
ADVERSARIAL_WITHOUT_BOUND = ["Clipped-Lap"]
# Why: what clipping takes from a noisy gain depends on the gain, so sums of clipped gains may rank arms otherwise.
STOCHASTIC_WITH_BOUND = ["UCB", "DP-UCB-BOUND", "DP-SE", "AdaP-UCB", "LDP-UCB-L", "LDP-UCB-B"]
STOCHASTIC_WITH_BOUND += ["GOPE", "DP-GOPE", "AdaC-GOPE", "AdaC-UCB"]
STOCHASTIC_WITH_BOUND += ["KL-UCB", "AdaP-KLUCB", "Private-UCB", "Gaussian-TS"]
STOCHASTIC_WITH_BOUND += ["TS", "Lazy-DP-TS", "DP-TS", "DP-KLUCB", "DP-IMED"]
NEARLY_LINEAR = ["Tuned-TS", "SW-UCB", "D-UCB", "SW-KLUCB-CF", "Restarted-AdaP-UCB", "DP-UCB-INT", "DP-UCB"]
STOCHASTIC_WITH_BOUND += NEARLY_LINEAR
# They look for the best arm, and bound how often they miss it and the rounds that takes.
STOPPING = ["Top-Two", "AdaP-TT", "DP-TT", "CTB-TT"]
ON_POINTS = ["SCRiBLe", "AS-SCRiBLe", "Batched-Lap-SCRiBLe", "OSMD", "AS-OSMD"]
ON_GRAPHS = ["TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN"]


@pytest.mark.thorough
def test_every_algorithm_says_what_it_guarantees():
    for name in NAMES:
        algorithm = make_algorithm(name)
        for n_arms, horizon in ((2, 2), (4, 2**18), (50, 1000)):
            for guarantee in (
                algorithm.guarantee(n_arms=n_arms, horizon=horizon),
                algorithm.paper_guarantee(n_arms=n_arms, horizon=horizon),
            ):
                assert isinstance(guarantee, PrivacyGuarantee)
                assert guarantee.epsilon >= 0 and 0 <= guarantee.delta < 1
                assert guarantee.theorem
                assert (guarantee.model == "none") == math.isinf(guarantee.epsilon)


def test_every_algorithm_is_for_one_kind_of_gains():
    assert sorted(NAMES) == sorted(
        ADVERSARIAL
        + ADVERSARIAL_WITHOUT_BOUND
        + STOCHASTIC_WITH_BOUND
        + STOPPING
        + ON_GRAPHS
        + ON_POINTS
        + FULL_INFORMATION
    )


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_every_adversarial_algorithm_has_a_regret_bound_that_grows(name):
    algorithm = make_algorithm(name)
    bounds = [algorithm.regret_bound(n_arms=4, horizon=2**k) for k in range(6, 23, 2)]
    assert all(math.isfinite(bound) and bound > 0 for bound in bounds)
    assert bounds == sorted(bounds)
    # Less regret a round in longer games, but for uniform play.
    assert (bounds[-1] / 2**22 < bounds[0] / 2**6) == (name != "Uniform")
    assert algorithm.pseudo_regret_bound(means=[0.9, 0.6], horizon=1000) == math.inf


def test_these_stochastic_algorithms_have_a_pseudo_regret_bound_that_grows():
    for means in [(0.9, 0.6), (0.7, 0.5, 0.5, 0.3)]:
        for name in STOCHASTIC_WITH_BOUND:
            algorithm = make_algorithm(name)
            # The ends of so many intervals take seconds to find.
            horizons = [2**k for k in range(6, 21 if name == "DP-UCB-INT" else 27, 2)]
            bounds = [algorithm.pseudo_regret_bound(means=means, horizon=horizon) for horizon in horizons]
            assert all(math.isfinite(bound) and bound > 0 for bound in bounds)
            assert bounds == sorted(bounds)
            # In the end like ln T or a power of it: four times the rounds, less than twice the bound. Batches double,
            # and who forgets loses of order sqrt(T ln T), as does Tuned-TS, D-UCB from far more rounds on, DP-UCB and
            # DP-UCB-INT nearly T.
            assert bounds[-1] < (4 if name in NEARLY_LINEAR else 2.1 if "GOPE" in name else 2) * bounds[-2]
            # Never more than the worst arm in every round.
            gap = max(means) - min(means)
            assert all(bound <= gap * horizon * (1 + 1e-12) for bound, horizon in zip(bounds, horizons, strict=True))


def test_bounds_hold_for_oblivious_adversaries_only():
    """And an index that knows when it is played can be led astray by gains that are not independent."""
    finite = [name for name in NAMES if make_algorithm(name).regret_bound(n_arms=4, horizon=1000, memory=1) < math.inf]
    assert finite == ["EXP3-tau"]
    for name in ADVERSARIAL_WITHOUT_BOUND + STOCHASTIC_WITH_BOUND + STOPPING:
        assert make_algorithm(name).regret_bound(n_arms=4, horizon=1000) == math.inf
    for name in ADVERSARIAL_WITHOUT_BOUND + STOPPING:
        assert make_algorithm(name).pseudo_regret_bound(means=[0.9, 0.6], horizon=1000) == math.inf


def test_the_bound_of_batches_reaches_as_far_as_a_batch():
    algorithm = make_algorithm("EXP3-tau", batch_size=5)
    # Theorem 3.4: sqrt(7 T tau K ln K) + T m / tau + tau, with T = 1000, K = 2, m = 2.
    expected = math.sqrt(7 * 1000 * 5 * 2 * math.log(2)) + 1000 * 2 / 5 + 5  # 625, less than T
    assert algorithm.regret_bound(n_arms=2, horizon=1000, memory=2) == pytest.approx(expected)
    assert algorithm.regret_bound(n_arms=2, horizon=1000, memory=4) < math.inf
    assert algorithm.regret_bound(n_arms=2, horizon=1000, memory=5) == math.inf


@pytest.mark.thorough
def test_no_bound_exceeds_the_horizon_and_an_unknown_one_stays_inf():
    """Every gain is in [0, 1], so T rounds cost at most T; at epsilon = 0.001 most bounds are cut."""
    for name in NAMES:
        takes = inspect.signature(ALGORITHMS[name]).parameters
        parameters = {"epsilon": 0.001} if "epsilon" in takes and name != "EXP3-tau" else {}
        algorithm = make_algorithm(name, **parameters)
        for horizon, memory in itertools.product((1, 300, 2**18), (0, 1)):
            bound = algorithm.regret_bound(n_arms=3, horizon=horizon, memory=memory)
            if algorithm.bound_in is not None and algorithm.feedback == "full":
                uncut = algorithm.bound_in(ExpertsEnv(3, horizon)) if memory == 0 else math.inf
            else:
                uncut = math.inf if algorithm.bound is None else algorithm.bound(3, horizon, memory)
            assert bound == (math.inf if math.isinf(uncut) else min(uncut, horizon))
            bound = algorithm.pseudo_regret_bound(means=[1.0, 0.0], horizon=horizon)
            assert bound <= horizon or (bound == math.inf and name not in STOCHASTIC_WITH_BOUND)


def test_an_algorithm_of_ones_own_guarantees_nothing_until_it_says_so():
    mine = Algorithm("mine", TsallisInf)
    assert mine.guarantee(n_arms=4, horizon=10).model == "none"
    assert mine.regret_bound(n_arms=4, horizon=10) == math.inf
    assert mine.pseudo_regret_bound(means=[0.1, 0.2], horizon=10) == math.inf


@pytest.mark.parametrize(("name", "epsilon"), one_each(LAPLACE, [0.1, 3.7]))
def test_laplace_algorithms_guarantee_the_epsilon_they_were_given(name, epsilon):
    guarantee = make_algorithm(name, epsilon=epsilon).guarantee(n_arms=4, horizon=1000)
    assert (guarantee.epsilon, guarantee.delta, guarantee.agents) == (epsilon, 0.0, "any agent")
    batched = name.startswith("Batched") and epsilon < 1
    assert guarantee.model == ("central" if batched else "local")


def test_names_and_labels():
    assert make_algorithm("dp-exp3-LAP").name == "DP-EXP3-Lap"
    for name in NAMES:
        assert make_algorithm(name, label="another").name == "another"
    for wrong, near in (("EXP4", ["EXP3"]), ("DP-EXP3", ["DP-EXP3-Lap"]), ("qqqq", NAMES)):
        with refused(UnknownNameError, "algorithm", repr(wrong), *near):
            make_algorithm(wrong)


def test_every_epsilon_must_be_positive():
    for name in NAMES:
        default = inspect.signature(ALGORITHMS[name]).parameters.get("epsilon")
        if default is not None:
            more = {"delta": 1e-6} if default.default is None else {}
            for wrong in (0, -1.0, math.nan) if name == "DP-EXP3-Lap" else (0,):
                with refused(ValueError, "epsilon", 0, wrong, "math.inf"):
                    make_algorithm(name, epsilon=wrong, **more)


@pytest.mark.parametrize("method", ["guarantee", "paper_guarantee", "regret_bound"])
def test_questions_with_a_wrong_name_are_answered_with_the_one_that_was_meant(method):
    ask = getattr(make_algorithm("DP-KLUCB"), method)
    with refused(TypeError, "Algorithm." + method, "'arms'", "n_arms"):
        ask(arms=4, horizon=9)
    with refused(TypeError, "Algorithm." + method, "horizon"):
        ask(n_arms=4)


def test_wrong_parameters_are_refused_when_the_algorithm_is_made():
    """At once, not in the middle of an experiment."""
    for name, parameters, words in [
        ("EXP3-tau", {"batch_size": 2.5}, ("batch_size", 1, 2.5)),
        ("Batched-Lap-EXP3", {"batch_size": 0}, ("batch_size", 1, 0)),
        ("Batched-Lap-HTINF", {"batch_size": -3}, ("batch_size", 1, -3)),
        ("Batched-Lap-SCRiBLe", {"batch_size": math.nan}, ("batch_size", 1, "nan")),
        ("Batched-Lap-HTINF", {"sigma": 0}, ("sigma",)),
        *(("EXP3-tau", {"epsilon": 1.0, "delta": one}, ("delta", "(0, 1)", one)) for one in (0, 1, -0.1, math.nan)),
        ("EXP3-tau", {"epsilon": 1.0}, ("epsilon", "delta")),
        ("EXP3-tau", {"delta": 1e-6}, ("epsilon", "delta")),
        ("EXP3-tau", {"batch_size": 3, "epsilon": 1.0, "delta": 1e-6}, ("batch_size", "epsilon", "delta")),
        ("Clipped-Lap", {"base": "DP-SE"}, ("base", "'DP-SE'", "EXP3")),
        ("Clipped-Lap", {"base": 5}, ("base", 5)),
        ("Clipped-Lap", {"batch_size": 0}, ("batch_size", 1, 0)),
        ("DP-Lambda-Lap", {"base": "EXP4"}, ("base", "'EXP4'", "EXP3")),
        ("DP-Lambda-Lap", {"base": 5}, ("base", 5)),
        ("DP-Lambda-Lap", {"outside": "wrap"}, ("outside", "'reject'", "'clip'", "'wrap'")),
        ("DP-Lambda-Lap", {"bound": -1.0}, ("bound", 0, -1.0)),
        ("DP-Lambda-Lap", {"epsilon": "1"}, ("epsilon", "'1'")),
        ("DP-UCB-BOUND", {"counter": "tree"}, ("counter", "'tree'")),
        ("DP-UCB-BOUND", {"budget": "half"}, ("budget", "'split'", "'paper'", "'half'")),
        ("DP-UCB", {"counter": "binary", "budget": "paper"}, ("budget='paper'", "hybrid", "'binary'")),
        ("DP-UCB-BOUND", {"formula": "other"}, ("formula", "'chernoff'", "'printed'", "'other'")),
        ("DP-UCB-BOUND", {"formula": "printed", "counter": "binary"}, ("printed", "hybrid")),
        ("DP-UCB-INT", {"mode": "twice"}, ("mode", "'once'", "'bonus'", "'redraw'", "'twice'")),
        ("DP-UCB-INT", {"intervals": "none"}, ("intervals", "'lemma'", "'uniform'", "'none'")),
        ("DP-UCB-INT", {"delta": 0}, ("delta", "(0, 1)", 0)),
        ("Private-UCB", {"constants": "best"}, ("constants", "'paper'", "'improved'", "'best'")),
        ("Private-UCB", {"failure_probability": 0}, ("failure_probability", 0)),
        ("Private-UCB", {"failure_probability": 1.5}, ("failure_probability", "[0, 1]", 1.5)),
        ("Private-UCB", {"failure_probability": 0.1, "constants": "improved"}, ("constants='paper'",)),
        ("AdaP-UCB", {"alpha": 0}, ("alpha", 0)),
        ("AdaP-KLUCB", {"alpha": math.nan}, ("alpha", 0, "nan")),
        ("DP-KLUCB", {"ratio": 1}, ("ratio", 1)),
        ("DP-IMED", {"ratio": math.inf}, ("ratio", "inf")),
        ("DP-IMED", {"first": 0}, ("first", 1, 0)),
        ("DP-KLUCB", {"epsilon": 1e-308}, ("epsilon", 1e-308)),
    ]:
        with refused((ValueError, TypeError), *words):
            make_algorithm(name, **parameters)


def test_what_a_game_has_to_fit_is_refused_when_it_is_known():
    with refused(ValueError, "horizon", 100):
        make_algorithm("EXP3-tau", epsilon=0.001, delta=1e-6).guarantee(n_arms=4, horizon=100)
    for v in (1, 1.6, math.nan):
        with refused(ValueError, "v", v):
            make_algorithm("DP-UCB-INT", v=v).wrap(ExpertsEnv(3, 50))
    # Too small for the machine.
    for name, more in (("DP-EXP3-Lap", {}), ("Batched-Lap-EXP3", {}), ("EXP3-tau", {"delta": 1e-6})):
        with pytest.raises(ValueError, match="epsilon"):
            make_algorithm(name, epsilon=1e-320, **more).guarantee(n_arms=4, horizon=1000)
    for argument, least in (("n_arms", 2), ("horizon", 1)):
        for call in ("guarantee", "paper_guarantee", "regret_bound"):
            with refused(ValueError, argument, least, least - 1):
                getattr(make_algorithm("EXP3"), call)(**{"n_arms": 4, "horizon": 10, argument: least - 1})


def test_means_are_checked_whether_there_is_a_bound_or_not():
    for name in ["UCB", "DP-SE", "KL-UCB", "EXP3"]:
        for means, horizon, words in [
            ([0.5], 10, ("means", 2, 1)),
            ([0.5, 1.1], 10, ("means[1]", "[0, 1]", 1.1)),
            ([0.5, 0.4], 0, ("horizon", 1, 0)),
        ]:
            with refused(ValueError, *words):
                make_algorithm(name).pseudo_regret_bound(means=means, horizon=horizon)


@pytest.mark.thorough
def test_any_agent_may_stand_inside_the_wrapper():
    """DP-Lambda-Lap takes a base by name or by class, and the two are the same where they name the same."""
    by_name, by_class = (
        make_algorithm("DP-Lambda-Lap", epsilon=2.0, base=base, label=str(base)) for base in ("Tsallis-INF", TsallisInf)
    )
    simulation = simulate("DPBandit-Stochastic-v0", with_one_noise(by_name, by_class), horizon=300, trials=2)
    assert np.array_equal(*(outcome.external_regret for outcome in simulation.values()))
    assert by_class.regret_bound(n_arms=4, horizon=300) == math.inf
    assert by_name.regret_bound(n_arms=4, horizon=300) < math.inf
