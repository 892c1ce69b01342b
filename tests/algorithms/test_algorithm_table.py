"""The table of algorithms: names, parameters, guarantees and descriptions; and what they make in a game."""

import inspect
import itertools
import json
import math
from collections.abc import Mapping

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import Exp3, algorithm_names, calibrate, compare, environment_names, load, play, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import TsallisInf
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.algorithms.specs import read_algorithm, read_game
from dp_bandit_envs.audits import exact_loss, float_loss, sampled_loss
from dp_bandit_envs.conformance import check_adversary, check_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import ConformanceError, ResultsError, UnknownNameError
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.wrappers import LaplaceClipRescale
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


@pytest.mark.thorough
@pytest.mark.slow_cases("four arms")
@pytest.mark.parametrize(
    "means", [pytest.param((0.9, 0.6), id="two arms"), pytest.param((0.7, 0.5, 0.5, 0.3), id="four arms")]
)
def test_these_stochastic_algorithms_have_a_pseudo_regret_bound_that_grows(means):
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


@pytest.mark.thorough
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


# ---- what names and parameters make in a game
MEANS, ROUNDS = [0.9, 0.6], 40
ID = "DPBandit-Stochastic-v0"
TABLE = np.random.default_rng(0).random((ROUNDS, 2))


class Mine(Stochastic):
    def __init__(self, horizon: int = ROUNDS) -> None:
        super().__init__(means=MEANS, horizon=horizon)


def made():
    return gym.make(ID, means=MEANS, horizon=ROUNDS)


NAMED = {
    "id": ID,
    "short": "Stochastic",
    "call": "Stochastic:means=[.9,.6]",
    "pair": ("Stochastic", {"means": MEANS}),
    "class of ours": Stochastic,
    "class": Mine,
    "module": f"{__name__}:Mine",
}
"""Ways to name a game that leave its sizes open."""
GIVEN = {
    "object": Mine(),
    "environment": made(),
    "without id": BanditEnv(Mine()),
    "function": made,
    "graph": gym.make("DPBandit-Graph-v0", graph="cycle", n_arms=5, horizon=ROUNDS),
}
"""Ways that have them."""
QUIET = {"trials": 2, "progress": False}
PLAYING = {
    "play": lambda game, algorithm, **more: play(game, algorithm, seed=0, **more).external_regret[-1],
    "simulate": lambda game, algorithm, **more: only(
        simulate(game, [algorithm], trials=2, **more).values()
    ).external_regret[0, -1],
    "compare": lambda game, algorithm, **more: only(compare(game, [algorithm], **QUIET, **more).entries).values(
        "external_regret"
    )[0, -1],
}


def only(many):
    (one,) = many
    return one


@pytest.mark.thorough
def test_a_game_is_named_the_same_way_at_every_door():
    for door, way in one_each(list(PLAYING), [*NAMED, *GIVEN]):
        size = {"horizon": ROUNDS} if way in NAMED else {}
        named = NAMED.get(way, GIVEN.get(way))
        found = PLAYING[door](named, "DP-KLUCB", **size)
        expected = play(read_game(named).with_arguments(**size).make(), make_algorithm("DP-KLUCB"), seed=0)
        assert found == expected.external_regret[-1]


@pytest.mark.thorough
def test_a_table_or_a_file_of_gains_is_a_game(tmp_path):
    best = TABLE.sum(axis=0).max()
    for outcome in (only(simulate(TABLE, "UCB").values()), only(compare(TABLE, "UCB", **QUIET).entries).measures):
        collected, regret = (
            (outcome["collected"], outcome["external_regret"])
            if isinstance(outcome, Mapping)
            else (outcome.collected, outcome.external_regret)
        )
        assert collected[0, -1] + regret[0, -1] == pytest.approx(best)
    np.save(tmp_path / "gains.npy", TABLE)
    for path in (tmp_path / "gains.npy", str(tmp_path / "gains.npy")):
        assert play(path, "UCB", seed=3).arms.tolist() == play(TABLE, "UCB", seed=3).arms.tolist()


def own(epsilon=0.5):
    return Algorithm("own", Exp3, lambda env: LaplaceClipRescale(env, epsilon=epsilon))


SAME_ALGORITHM = {
    "name": "DP-KLUCB",
    "call": "DP-KLUCB:epsilon=0.5",
    "Algorithm": make_algorithm("DP-KLUCB", epsilon=0.5),
    "class": Exp3,
    "makes an agent": lambda: Exp3(exploration_rate=0.1),
    "makes an Algorithm": own,
    "module": f"{__name__}:own",
}
TAKE_EPSILON = ("name", "makes an Algorithm", "module")


@pytest.mark.thorough
def test_an_algorithm_is_named_the_same_way_at_every_door():
    for door, way in one_each(list(PLAYING), SAME_ALGORITHM):
        finite = [PLAYING[door]("Stochastic", SAME_ALGORITHM[way], horizon=ROUNDS, n_arms=3)]
        if way in TAKE_EPSILON:
            finite.append(PLAYING[door]("Stochastic", SAME_ALGORITHM[way], horizon=ROUNDS, epsilon=0.3))
        else:
            with refused(ValueError, "epsilon"):
                PLAYING[door]("Stochastic", SAME_ALGORITHM[way], horizon=ROUNDS, epsilon=0.3)
        assert np.isfinite(finite).all()


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["name", "call", "makes an Algorithm"])
def test_doors_that_look_at_an_algorithm_take_the_same(way):
    algorithm, size = SAME_ALGORITHM[way], {"n_arms": 2, "horizon": 100}
    if way != "call":  # whose epsilon is written with it
        assert calibrate(algorithm, epsilon=1, **size).guarantee(**size).epsilon <= 1
    assert exact_loss(algorithm, environment=("Stochastic", {"means": MEANS, "horizon": 8})).holds
    assert float_loss(algorithm, games=20).holds
    if way == "makes an Algorithm":  # these doors take seconds
        check_algorithm(algorithm, games=0)
        assert sampled_loss(algorithm, games=100, horizon=3).holds


def test_an_epsilon_that_is_given_is_that_of_the_algorithm():
    private = simulate("Stochastic", ["DP-KLUCB", "UCB"], epsilon=0.25, horizon=ROUNDS)
    assert private["DP-KLUCB"].guarantee.epsilon == 0.25
    alone = simulate("Stochastic", [make_algorithm("DP-KLUCB", epsilon=0.25)], horizon=ROUNDS)
    assert np.array_equal(private["DP-KLUCB"].collected, alone["DP-KLUCB"].collected)
    assert make_algorithm("DP-KLUCB:epsilon=0.25").parameters["epsilon"] == 0.25


@pytest.mark.thorough
def test_an_adversary_is_checked_by_its_short_name():
    check_adversary("Stochastic", horizon=20)
    with refused(ConformanceError, "arguments"):
        check_adversary("Stochastic:means=[.9,.6]")


def test_two_functions_without_a_name_draw_noise_of_their_own():
    two = {"a": lambda: Exp3(), "b": lambda: Exp3()}
    a, b = (one.external_regret for one in simulate("Stochastic", two, horizon=200).values())
    assert not np.array_equal(a, b)


@pytest.mark.thorough
@pytest.mark.parametrize("game", [BanditEnv(Mine()), made], ids=["environment", "function"])
def test_a_folder_knows_a_game_that_has_no_id(game, tmp_path):
    compare(game, "UCB", folder=tmp_path / "a", **QUIET)
    compare(game, "UCB", folder=tmp_path / "a", **QUIET)  # goes on
    stored = json.loads((tmp_path / "a" / "configuration.json").read_text(encoding="utf-8"))
    assert len(stored["described"][0]["source"]["made"][0]) == 64
    other = BanditEnv(Stochastic(means=[0.5, 0.4], horizon=ROUNDS))
    both = compare([game, other], "UCB", folder=tmp_path / "a", **QUIET)  # grows by another game without an id
    assert len({entry.title for entry in both}) == len(load(tmp_path / "a")) == 2
    with refused(ResultsError, "folder", "Stochastic"):
        changed = BanditEnv(Stochastic(means=[0.5, 0.3], horizon=ROUNDS))
        compare([game, changed], "UCB", folder=tmp_path / "a", **QUIET)


def test_what_is_no_game_is_told_the_way_out():
    wrong = [
        (3, ("environment", "int", "'Stochastic'")),
        ("Stochastik", ("'Stochastik'", "Stochastic")),
        ("Stochastic:means=.9,.6", ("'.6'", "Stochastic:means=[.9,.6]")),
        ("CartPole-v1", ("CartPole-v1", "dp_bandit_envs.adapters.from_gymnasium")),
        ("gains.tsv", ("'gains.tsv'", ".csv", "pandas")),
        (("Stochastic", 3), ("environment", "pair")),
    ]
    for door, (game, words) in one_each(list(PLAYING), wrong):
        with refused((ValueError, TypeError), *words):
            PLAYING[door](game, "UCB")


def test_a_game_in_wrappers_is_for_play_and_functions():
    wrapped = LaplaceClipRescale(made(), epsilon=1)
    for door in (simulate, compare):
        with refused(TypeError, "wrappers", "function"):
            door(wrapped, "UCB")
    with refused(TypeError, "wrappers", "simulate"):
        compare(lambda: LaplaceClipRescale(made(), epsilon=1), "UCB")
    with refused(TypeError, "pair", "mapping"):
        compare({"Stochastic": {"n_arms": 3}}, "UCB")


def test_sizes_of_what_is_made_are_given_there():
    for door in (play, simulate, compare):
        with refused(ValueError, "horizon"):
            door(made(), "UCB", horizon=30) if door is play else door(made, "UCB", horizon=30)
    with refused(ValueError, "n_arms", "Stochastic"):
        simulate(("Stochastic", {"n_arms": 3}), "UCB", n_arms=4)


def test_names_to_learn_are_few():
    names = {*dp_bandit_envs.__all__}
    assert len(names) <= 25 and {"play", "__version__"} < names
    assert dir(dp_bandit_envs) == sorted(dp_bandit_envs.__all__)
    for name in dp_bandit_envs.__all__:
        assert getattr(dp_bandit_envs, name) is not None
    with refused(AttributeError, "Did you mean Exp3"):
        dp_bandit_envs.Exp33  # noqa: B018
    assert ID in environment_names()
    assert read_algorithm("ucb").label == "UCB"
