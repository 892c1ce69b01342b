"""`compare`: every algorithm at every epsilon in every game, equal to `simulate`, with its real guarantee."""

import functools
from array import array

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, adversaries, compare, make_algorithm, simulate
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.envs.registration import GAMES, foreign_games
from dp_bandit_envs.errors import LedgerError, ResultsError
from dp_bandit_envs.experiments.arguments import experiment_from
from dp_bandit_envs.privacy import Ledger
from dp_bandit_envs.privacy.guarantee import shown_epsilon
from tests.tools.refusals import refused

MEANS = "Stochastic:means=[.9,.5]"
SMALL = {"horizon": 60, "trials": 3}


@pytest.fixture(autouse=True)
def no_game_of_one_test_in_another():
    """A class that is compared is registered; other tests look at every game."""
    yield
    for game in foreign_games():
        gym.registry.pop(GAMES.pop(game.id).id)


class FirstArm:
    """Plays arm 0."""

    def begin(self, *, n_arms, horizon, rng):
        """Begin."""

    def select_arm(self):
        return 0

    def update(self, arm, observation):
        """Learn nothing."""


def noisy(*, epsilon=1.0):
    """EXP3 behind Laplace noise, as an algorithm of one's own."""
    return Algorithm("Noisy", Exp3, lambda env: LaplaceClipRescale(env, epsilon=epsilon))


FIXED = noisy(epsilon=3.0)


class Chosen(FirstArm):
    """Always plays one arm, by default the second."""

    def __init__(self, arm=1):
        self.arm = arm

    def select_arm(self):
        return self.arm


class Halves(adversaries.Adversary):
    """All gains are a half."""

    def begin(self, rng):
        """Begin."""

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
    named = {"first": FirstArm, "noisy": noisy, "fixed": FIXED, "table": "EXP3"}
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
    given = [[noisy], {"label": noisy}, "tests.experiments.test_compare:noisy"]
    games = [compare(MEANS, one, epsilon=1, **SMALL)[0].values("collected") for one in given]
    assert np.array_equal(games[0], games[1]) and np.array_equal(games[0], games[2])


def test_no_algorithm_of_ones_own_shares_noise_with_one_of_the_table():
    """In a difference of two that share their noise, it cancels."""
    named = {"LDP-UCB-B": noisy, "theirs": "LDP-UCB-B"}
    one, other = experiment_from(MEANS, named, epsilon=1, **SMALL).all_algorithms
    assert one.build_with_own_noise().player != other.build_with_own_noise().player


@pytest.mark.thorough
@pytest.mark.parametrize(
    "game",
    [
        "Replay:gains=[[.3125,.6875],[.3125,.6875]]",
        ("Replay", {"gains": [array("d", [0.3125, 0.6875])] * 2}),
        ("Replay", {"gains": np.tile([[0.3125, 0.6875]], (2, 1))}),
    ],
)
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
