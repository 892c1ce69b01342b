"""`compare`: every algorithm, also of one's own, at every epsilon in every game, as `simulate` plays it."""

import functools
import math
import warnings
from array import array

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import (
    Algorithm,
    Exp3,
    LaplaceClipRescale,
    Ledger,
    adversaries,
    algorithm_names,
    compare,
    load,
    make_algorithm,
    play,
    simulate,
)
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.envs.registration import GAMES, foreign_games
from dp_bandit_envs.errors import LedgerError, ResultsError, WrongGameError, WrongTypeError
from dp_bandit_envs.experiments.arguments import experiment_from
from dp_bandit_envs.privacy.guarantee import shown_epsilon
from dp_bandit_envs.seeding import KnownSeedWarning
from tests.tools.playable import BANDITS
from tests.tools.refusals import refused
from tests.tools.toys import USERS_AGENT, Script

MEANS = "Stochastic:means=[.9,.5]"
SMALL = {"horizon": 60, "trials": 3}


@pytest.fixture(autouse=True)
def no_game_of_one_test_in_another():
    """A class that is compared is registered; other tests look at every game."""
    yield
    for game in foreign_games():
        gym.registry.pop(GAMES.pop(game.id).id)


def noisy(*, epsilon=1.0):
    """EXP3 behind Laplace noise, as an algorithm of one's own."""
    return Algorithm("Noisy", Exp3, lambda env: LaplaceClipRescale(env, epsilon=epsilon))


FIXED = noisy(epsilon=3.0)


class Chosen(Script):
    """Always plays one arm, by default the second."""

    def __init__(self, arm=1):
        super().__init__()
        self.arm = arm

    def select_arm(self):
        return self.arm


class Halves(adversaries.Adversary):
    def begin(self, rng):
        pass

    def next_gains(self, rounds):
        return np.full((rounds, self.n_arms), 0.5)


def only(comparison, **which):
    (entry,) = comparison.select(**which)
    return entry


@pytest.mark.thorough
def test_an_entry_is_what_simulate_plays():
    compared = compare(MEANS, ["UCB", "DP-KLUCB"], epsilon=[0.5, 2], **SMALL)
    assert [(one.algorithm, one.asked) for one in compared] == [("UCB", None), ("DP-KLUCB", 0.5), ("DP-KLUCB", 2.0)]
    assert [entry.name for entry in compared.select(epsilon=2)] == ["UCB", "DP-KLUCB (epsilon=2)"]
    for epsilon in (0.5, 2.0):
        algorithm = make_algorithm("DP-KLUCB", epsilon=epsilon)
        outcome = simulate(
            "DPBandit-Stochastic-v0", [algorithm], horizon=60, trials=3, env_kwargs={"means": [0.9, 0.5]}
        )["DP-KLUCB"]
        entry = only(compared, algorithm="DP-KLUCB", epsilon=epsilon)
        for measure in ("external_regret", "pseudo_regret", "collected", "switches"):
            assert np.array_equal(entry.values(measure), getattr(outcome, measure))
        assert entry.level == shown_epsilon(outcome.guarantee) and entry.guarantee == str(outcome.guarantee)


def test_sizes_are_games_of_their_own():
    compared = compare("Stochastic", "EXP3", horizon=[20, 50], n_arms=[2, 3], trials=2)
    sizes = [(k, t) for k in (2, 3) for t in (20, 50)]
    assert [(entry.n_arms, entry.horizon, entry.rounds[-1]) for entry in compared] == [(k, t, t) for k, t in sizes]
    assert compared.titles == [f"Stochastic, K = {k}, T = {t}" for k, t in sizes]
    assert only(compared, n_arms=3, horizon=50).title == "Stochastic, K = 3, T = 50"


@pytest.mark.thorough
def test_own_agents_algorithms_functions_and_adversaries_are_welcome():
    named = {"first": Script, "noisy": noisy, "fixed": FIXED, "table": "EXP3"}
    compared = compare([MEANS, Halves], named, epsilon=[0.5, 2], **SMALL)
    levels = {(entry.algorithm, entry.asked): entry.level.epsilon for entry in compared.select(environment="Halves")}
    exp3 = make_algorithm("EXP3").guarantee(n_arms=4, horizon=60).epsilon
    assert levels.pop(("table", None)) <= exp3
    assert levels == {("first", None): np.inf, ("noisy", 0.5): 0.5, ("noisy", 2.0): 2.0, ("fixed", None): 3.0}
    assert np.all(only(compared, environment="Halves", algorithm="first").values("external_regret") == 0)
    at_two = [compared.select(algorithm="noisy", epsilon=epsilon)[0].values("collected") for epsilon in (0.5, 2.0)]
    assert not np.array_equal(*at_two)


def test_parameters_follow_a_name_in_a_module():
    """Arm 0 has the mean 0.9 and arm 1 the mean 0.5; the same agent with other parameters is another entry."""
    asked = [f"{__name__}:Chosen", f"{__name__}:Chosen:arm=0", f"{__name__}:noisy:epsilon=3", f"{__name__}:noisy"]
    compared = compare(MEANS, asked, epsilon=[0.5, 2], **SMALL)
    assert {(entry.algorithm, entry.asked, entry.level.epsilon) for entry in compared} == {
        ("Chosen", None, np.inf),
        ("Chosen (arm=0)", None, np.inf),
        ("noisy (epsilon=3)", None, 3.0),
        ("noisy", 0.5, 0.5),
        ("noisy", 2.0, 2.0),
    }
    regret = {
        name: only(compared, algorithm=name).values("pseudo_regret")[:, -1] for name in ("Chosen", "Chosen (arm=0)")
    }
    assert np.allclose(regret["Chosen"], 60 * 0.4) and np.allclose(regret["Chosen (arm=0)"], 0)


def test_an_algorithm_of_ones_own_is_found_at_its_guarantee():
    """Four rounds of a person at a quarter of the epsilon that is asked for."""
    compared = compare("Stochastic", noisy, epsilon=[0.5, 2], at_guarantee=True, rounds_per_person=4, **SMALL)
    assert [entry.level.epsilon for entry in compared] == pytest.approx([0.125, 0.5])


def test_two_epsilons_of_one_function_have_noise_of_their_own():
    """With the same noise the difference of two releases would show gains; `player` decides it."""
    one, other = experiment_from(MEANS, noisy, epsilon=[0.5, 2], **SMALL).all_algorithms
    assert one.build_with_own_noise().player != other.build_with_own_noise().player


def test_guarantees_are_met_from_below():
    compared = compare(MEANS, ["UCB", "Private-UCB"], epsilon=[0.5, 1], at_guarantee=True, **SMALL)
    for epsilon in (0.5, 1.0):
        assert only(compared, algorithm="Private-UCB", epsilon=epsilon).level.epsilon == pytest.approx(
            epsilon, rel=2e-6
        )
    assert only(compared, algorithm="UCB").level.epsilon == np.inf


def test_a_delta_reaches_those_that_take_one():
    entries = compare(MEANS, ["EXP3-tau", "DP-SE", "EXP3-tau:batch_size=9"], epsilon=5, delta=1e-3, **SMALL)
    private, pure, fixed = entries
    assert private.asked == pure.asked == 5 and fixed.asked is None
    asked = make_algorithm("EXP3-tau", epsilon=5, delta=1e-3).guarantee(n_arms=2, horizon=60)
    # Tables show all at 1e-6; the entry's words have what was asked for.
    assert private.guarantee == str(asked) and private.level == shown_epsilon(asked) and asked.epsilon_at(1e-3) <= 5


@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_the_delta_that_was_asked_for_is_shown_wherever_its_epsilon_is(delta):
    """Private-UCB meets (1, delta) with a pure epsilon above 1; the words on it stay."""
    names = ["Private-UCB", "UCB"]
    compared = compare(MEANS, names, epsilon=1, delta=delta, at_guarantee=True, **SMALL)
    private, free = compared
    assert private.level == (pytest.approx(1, rel=2e-6), delta, False) and free.level == (np.inf, 0, False)
    assert "delta" in private.guarantee
    assert f",{delta:.10g},central;" in compared.table("csv")
    for text in (compared.plot_note(), compared.table("latex"), compared.table(wide=True), compared.report().text):
        assert "was asked for, the least at that" in text
    assert f"Private-UCB: epsilon = 1, delta {delta:.3g};" in compared.plot_note()
    at_parameter = compare(MEANS, "DP-UCB-INT", epsilon=1, delta=delta, **SMALL)
    pure = compare(MEANS, names, epsilon=1, at_guarantee=True, **SMALL)
    assert pure[0].level.delta == 0 and not any("asked for" in each.plot_note() for each in (at_parameter, pure))


def with_delta(*, epsilon=1.0, delta=1e-6):
    """Return DP-UCB-INT with another default."""
    return make_algorithm("DP-UCB-INT", epsilon=epsilon, delta=delta)


def test_the_delta_of_somebody_elses_function_is_its_own(monkeypatch):
    """Unless one is given, as with epsilon; T^-2 where the function leaves it open."""
    monkeypatch.setitem(ALGORITHMS, "Mine", with_delta)

    def open_delta(*, epsilon=1.0, delta=None):
        return with_delta(epsilon=epsilon, delta=delta or 0.5)

    both = {"a": with_delta, "b": "Mine", "c": open_delta, "d": "DP-UCB-INT"}
    for given, expected in (({}, [1e-6, 1e-6, 60**-2, 60**-2]), ({"delta": 1e-3}, [1e-3] * 4)):
        found = [
            one.build().parameters["delta"]
            for one in experiment_from(MEANS, both, epsilon=1, **given, **SMALL).all_algorithms
        ]
        assert found == pytest.approx(expected)


@pytest.mark.thorough
def test_a_folder_resumes_and_refuses_another_seed(tmp_path):
    words = (MEANS, ["UCB", "EXP3"])
    first = compare(*words, **SMALL, folder=tmp_path / "mine")
    done = []
    again = compare(*words, **SMALL, folder=tmp_path / "mine", progress=lambda *at: done.append(at))
    assert again.table() == first.table() == compare(*words, **SMALL).table()
    assert done == [(360, 360)]
    with refused(ResultsError, "seed: 0 there, 4 here"):
        compare(*words, **SMALL, seed=4, folder=tmp_path / "mine")


def test_a_ledger_is_refused(tmp_path):
    data = {"gains": np.full((20, 2), 0.5), "ledger": Ledger(epsilon=1.0)}
    with refused(LedgerError, "ledger"):
        compare(("DPBandit-Replay-v0", data), "DP-EXP3-Lap", trials=1, seed=None)


ARM = 0


def by_global(epsilon=1.0):
    """Read a global."""
    return Algorithm("Chosen", lambda: Chosen(ARM), lambda env: LaplaceClipRescale(env, epsilon=epsilon))


def closed_over(arm):
    """Return a function that closes over a number, and declares nothing."""
    return lambda: Algorithm("Chosen", lambda: Chosen(arm))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "make",
    [
        lambda arm: {"mine": closed_over(arm)},
        lambda arm: [Algorithm("Chosen", functools.partial(Chosen, arm))],
        lambda arm: [Algorithm("Chosen", lambda: Chosen(arm), parameters={"arm": arm})],
        lambda arm: {"mine": functools.partial(Chosen, arm)},
        lambda arm: [by_global],
    ],
)
def test_a_folder_belongs_to_one_value_of_every_parameter_and_global(make, tmp_path, monkeypatch):
    """It used to return the numbers of the first value for the second one, without a word."""
    compare(MEANS, make(0), **SMALL, folder=tmp_path / "mine")
    compare(MEANS, make(0), **SMALL, folder=tmp_path / "mine")
    monkeypatch.setitem(globals(), "ARM", 1)
    with refused(ResultsError, str(tmp_path / "mine")):
        compare(MEANS, make(1), **SMALL, folder=tmp_path / "mine")


def test_what_an_agent_is_called_does_not_change_its_games():
    given = [[noisy], {"label": noisy}, f"{__name__}:noisy"]
    games = [compare(MEANS, one, epsilon=1, **SMALL)[0].values("collected") for one in given]
    assert np.array_equal(games[0], games[1]) and np.array_equal(games[0], games[2])


def test_no_algorithm_of_ones_own_shares_noise_with_one_of_the_table():
    """In a difference of two that share their noise, it cancels."""
    named = {"LDP-UCB-B": noisy, "theirs": "LDP-UCB-B"}
    one, other = experiment_from(MEANS, named, epsilon=1, **SMALL).all_algorithms
    assert one.build_with_own_noise().player != other.build_with_own_noise().player


FORMS = ["Replay:gains=[[.3125,.6875],[.3125,.6875]]"]
FORMS += [("Replay", {"gains": gains}) for gains in ([array("d", [0.3125, 0.6875])] * 2, np.full((2, 2), 0.3125))]


@pytest.mark.thorough
@pytest.mark.parametrize("game", FORMS)
def test_no_form_of_gains_gets_into_a_title_or_a_file(game, tmp_path):
    compared = compare(game, "Uniform", trials=1, seed=None, folder=tmp_path / "mine")
    texts = [compared.table("latex"), compared.table("csv"), repr(compared), *compared.titles]
    texts += [(tmp_path / "mine" / name).read_text(encoding="utf-8") for name in ("configuration.json", "summary.csv")]
    assert not [text for text in texts if "3125" in text]


@pytest.mark.thorough
def test_other_gains_in_the_same_folder_are_refused(tmp_path):
    for pandas in (False, True):
        folder = tmp_path / str(pandas)
        frames = [np.full((20, 2), value) for value in (0.25, 0.75)]
        if pandas:
            frames = [pytest.importorskip("pandas").DataFrame(frame) for frame in frames]
        compare(("Replay", {"gains": frames[0]}), "Uniform", trials=1, seed=None, folder=folder)
        with refused(ResultsError, str(folder)):
            compare(("Replay", {"gains": frames[1]}), "Uniform", trials=1, seed=None, folder=folder)


# ---- lists of values
SIZE = {"horizon": 40, "trials": 3, "progress": False}


def explorer(exploration_rate=0.1, decays=(1.0,)):
    assert isinstance(decays, (list, tuple))
    return Algorithm("explorer", lambda: Exp3(exploration_rate=exploration_rate))


SWEPT = [
    (["UCB", "EXP3:exploration_rate=[.01,.03]"], ["UCB", *(f"EXP3 (exploration_rate={x})" for x in (0.01, 0.03))]),
    (
        {"mine": "EXP3:exploration_rate=[.1,.2]", "other": "UCB"},
        [*(f"mine (exploration_rate={x})" for x in (0.1, 0.2)), "other"],
    ),
    ("DP-KLUCB:epsilon=[.5,inf]", [f"DP-KLUCB (epsilon={epsilon})" for epsilon in (0.5, math.inf)]),
    ("DP-Lambda-Lap:base=[EXP3,Tsallis-INF]", [f"DP-Lambda-Lap (base={base})" for base in ("EXP3", "Tsallis-INF")]),
]


@pytest.mark.parametrize(("swept", "names"), SWEPT)
def test_a_list_of_values_is_several_algorithms_each_named_with_its_own(swept, names):
    assert compare("Stochastic", swept, **SIZE).algorithms == names


def test_three_values_are_three_lines_with_the_numbers_of_three_names():
    swept = compare("Stochastic", "EXP3:exploration_rate=[.01,.03,.1]", **SIZE)
    written = compare("Stochastic", [f"EXP3:exploration_rate={rate}" for rate in (0.01, 0.03, 0.1)], **SIZE)
    assert swept.table() == written.table()
    for entry, other in zip(swept, written, strict=True):
        assert np.array_equal(entry.values("collected"), other.values("collected"))
    assert len(swept.plot().axes[0].lines) == 3


def test_lists_are_combined_and_a_list_in_a_list_is_one_value():
    swept = compare("Stochastic", f"{__name__}:explorer:exploration_rate=[.1,.2],decays=[[1],[1,2]]", **SIZE)
    assert [entry.parameters for entry in swept] == [
        {"exploration_rate": rate, "decays": decays} for rate in (0.1, 0.2) for decays in ([1], [1, 2])
    ]


@pytest.mark.thorough
def test_each_is_played_at_the_guarantee_and_at_each_epsilon():
    swept = compare("Stochastic", "DP-UCB-INT:v=[1.1,1.5]", epsilon=[0.5, 1], delta=1e-6, at_guarantee=True, **SIZE)
    assert [(entry.parameters["v"], entry.asked) for entry in swept] == [(1.1, 0.5), (1.1, 1), (1.5, 0.5), (1.5, 1)]
    own = {entry.asked: entry.parameters["epsilon"] for entry in swept if entry.parameters["v"] == 1.5}
    others = {entry.asked: entry.parameters["epsilon"] for entry in swept if entry.parameters["v"] == 1.1}
    assert all(entry.calibrated for entry in swept) and own[1] != others[1]


@pytest.mark.thorough
def test_equal_names_get_their_modules(written):
    written(anna=USERS_AGENT.format(arm=0), ben=USERS_AGENT.format(arm=1))
    import anna
    import ben

    small = {"horizon": 20, "trials": 6, "progress": False}
    for agents in (["anna:Fixed", "ben:Fixed"], [anna.Fixed, ben.Fixed]):
        standings = compare("Stochastic", [*agents, "EXP3"], **small).ranking().standings
        assert {standing.name for standing in standings} == {"anna:Fixed", "ben:Fixed", "EXP3"}
    (alone,) = compare("Stochastic", "anna:Fixed", **small).ranking().standings
    assert alone.name == "Fixed"


# ---- wrong arguments
ONE_GAME = {"horizon": 10, "trials": 1}


@pytest.fixture(scope="module")
def compared():
    return compare("Stochastic", ["UCB", "DP-KLUCB"], epsilon=1, horizon=20, trials=2)


RATE = "EXP3:exploration_rate"


def test_a_wrong_question_is_refused():
    for environments, algorithms, more, error, words in [
        ("Stochastic", "UCB", {"epsilon": 1}, ValueError, ("epsilon", "UCB", "DP-KLUCB")),
        ("Stochastic", "UCB", {"delta": 1e-6}, ValueError, ("delta", "UCB", "DP-UCB-INT")),
        ("Stochastic", "DP-KLUCB:epsilon=1", {"epsilon": 2}, ValueError, ("epsilon", "DP-KLUCB (epsilon=1)")),
        ("Stochastic", "UCB", {"trials": 10**30}, ValueError, ("trials", "10,000,000")),
        ("Stochastic", "DP-KLUCB", {"epsilon": {1, 2}}, WrongTypeError, ("epsilon", "set", "list(...)")),
        ("Stochastic", "DP-KLUCB", {"epsilon": iter([1, 2])}, WrongTypeError, ("epsilon", "list(...)")),
        ("Stochastic", "DP-KLUCB", {"epsilon": 1, "at_guarantee": "yes"}, TypeError, ("person", "'yes'")),
        ("Stochastic", "UCB", {"jobs": 0}, ValueError, ("jobs", 1, 0)),
        ("Stochastic", "UCB", {"jobs": 1.5}, TypeError, ("jobs", 1.5)),
        ("Stochastic", "UCB", {"progress": 3}, WrongTypeError, ("progress", 3)),
        ("Stochastic", "UCB", {"folder": ""}, ValueError, ("folder", "results/mine")),
        ("Stochastic", "UCB", {"folder": 3}, WrongTypeError, ("folder", "int")),
        ("Trial", "UCB", {"n_arms": 3}, ValueError, ("n_arms", "Trial", 3)),
        (("Stochastic", {3: 3}), "UCB", {}, WrongTypeError, ("arguments", "n_arms")),
        ("Stochastic", {"": "UCB"}, {}, WrongTypeError, ("name", "''")),
        ("Stochastic", int, {}, WrongTypeError, ("agent's class", "int")),
        ("Stochastic", {"mine": object()}, {}, WrongTypeError, ("mine", "object")),
        ("Stochastic", {"mine": int}, {}, WrongTypeError, ("mine", "int")),
        ("Stochastic", "UCB:", {}, ValueError, ("colon", "'UCB:'")),
        ("Stochastic", "DP-UCB-BOUND:counter=logarithmic", {}, ValueError, ("'logarithmic'", "hybrid")),
        (["Stochastic", "Simplex"], "EXP3", {}, WrongGameError, ("EXP3", "OSMD", "Simplex")),
        ("Stochastic", [], {}, ValueError, ("algorithms",)),
        ([], "UCB", {}, ValueError, ("environments",)),
        ("Stochastic", ["UCB", "UCB"], {}, ValueError, ("'UCB' twice",)),
        (["Stochastic", "Stochastic"], "UCB", {}, ValueError, ("'stochastic' twice",)),
        ("Stochastic", "UCB", {"epsilon": [1, 1]}, ValueError, ("epsilon", "1 twice")),
        ("Stochastic", "UCB", {"epsilon": []}, ValueError, ("epsilon",)),
        ("Stochastic", "UCB", {"delta": 2}, ValueError, ("delta",)),
        ("Stochastic", "UCB", {"horizon": [5, 0]}, ValueError, ("horizon",)),
        ("Stochastic:n_arms=3", "UCB", {"n_arms": 2}, ValueError, ("n_arms", "once")),
        ("Stochastic", f"{RATE}=[]", {}, ValueError, ("exploration_rate", "empty list")),
        ("Stochastic", f"{RATE}=[.1,.1]", {}, ValueError, ("EXP3 (exploration_rate=0.1)", "twice")),
        ("Stochastic", f"{RATE}=[.1,2]", {}, ValueError, ("exploration_rate", "(0, 1]", 2)),
        ("Stochastic", f"{RATE}=.1,.2", {}, ValueError, ("brackets", f"'{RATE}=[.1,.2]'")),
        ("Stochastic", "EXP3:rate=[.1,.2]", {}, ValueError, ("EXP3", "'rate'", "exploration_rate")),
        *(("Stochastic", f"{RATE}=[{x}]", {}, TypeError, ("exploration_rate", "number")) for x in ("[.1,.2]", ".1,x")),
        (3, "UCB", {}, TypeError, ()),
        ("Stochastic", Exp3(), {}, WrongTypeError, ("Exp3",)),
        ("Stochastic", lambda size: None, {}, WrongTypeError, ("size",)),
        ("Stochastic", lambda epsilon=1.0: Exp3(), {"epsilon": 1}, WrongTypeError, ("Algorithm", "epsilon")),
        ("Stochastic", "no.such.module:Name", {}, ValueError, ("no",)),
        ("Stochastic", f"{__name__}:Missing", {}, ValueError, ("Missing",)),
        ("Stochastic", f"{__name__}:noisy:arms=1", {}, ValueError, ("noisy", "'arms'", "epsilon")),
        ("Stochastic", f"{__name__}:FIXED:epsilon=1", {}, ValueError, ("'epsilon'",)),
    ]:
        with refused(error, *words):
            compare(environments, algorithms, **{**ONE_GAME, **more})


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"algorithm": "ucb"}, ValueError, ("algorithm", "UCB, DP-KLUCB", "'ucb'")),
        ({"algorithm": ["UCB", "EXP3"]}, ValueError, ("algorithm", "'EXP3'")),
        ({"algorithm": 3}, WrongTypeError, ("algorithm", "int")),
        ({"environment": "stochastic"}, ValueError, ("environment", "Stochastic", "'stochastic'")),
        ({"epsilon": 7}, ValueError, ("epsilon", 1, 7)),
        ({"epsilon": "1"}, WrongTypeError, ("epsilon", "'1'")),
    ],
)
def test_a_wrong_selection_is_refused(compared, given, error, words):
    with refused(error, *words):
        compared.select(**given)


def test_wrong_places_are_refused(compared):
    with refused(WrongTypeError, "index", "select"):
        compared["UCB"]
    for folder in (3, None):
        with refused(WrongTypeError, "folder", "results/mine"):
            load(folder)
        with refused(WrongTypeError, "folder", "results/mine"):
            compared.save(folder)
    with refused(ValueError, "folder"):
        load("")


def test_a_ledger_refuses_a_known_seed_without_a_warning():
    data = {"gains": np.full((20, 2), 0.5), "ledger": Ledger(epsilon=1.0)}
    with warnings.catch_warnings():
        warnings.simplefilter("error", KnownSeedWarning)
        with refused(LedgerError, "seed"):
            simulate("DPBandit-Replay-v0", "DP-EXP3-Lap", trials=1, seed=0, env_kwargs=data)
        with refused(LedgerError, "seed"):
            play(gym.make("DPBandit-Replay-v0", **data), make_algorithm("DP-EXP3-Lap"), seed=0)


# ---- too short games
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["DP-SE", "GOPE", "DP-UCB-INT", "DP-GOPE", "UCB"])
def test_tables_and_reports_say_so(name, tmp_path):
    """With 60 rounds and five arms the first block of DP-SE and the first batch of GOPE are longer."""
    silent = name not in ("DP-UCB-INT", "UCB")
    played = compare("Stochastic:n_arms=5", [name], horizon=60, trials=2)
    words = "released nothing in 60 rounds"
    assert (words in played.table()) is (words in played.table(wide=True)) is silent
    assert (words in played.report(tmp_path / "out").text) is silent


@pytest.mark.parametrize("name", [name for name in algorithm_names() if name in BANDITS])
def test_the_first_release_comes_when_it_is_said_to(name):
    """Each algorithm's wrappers, one arm all the time: nothing before, something then."""
    algorithm = make_algorithm(name)
    game = gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=3000)
    first = algorithm.first_release_in(game)
    env = algorithm.wrap(game)
    env.reset(seed=0)
    steps = int(env.get_wrapper_attr("horizon"))
    batch = 3000 // steps
    for step in range(1, min(steps, 1 + first // batch) + 1):
        seen = env.step(0)[0]
        released = bool(np.any(seen["observed" if "observed" in seen else "count"]))
        assert released is (step * batch >= first)
        if released:
            return
    assert first > 3000
