"""Every way to name a game and an algorithm, at every door that plays or looks at one."""

import json
from collections.abc import Mapping

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import (
    Algorithm,
    BanditEnv,
    Exp3,
    LaplaceClipRescale,
    calibrate,
    compare,
    environment_names,
    load,
    make_algorithm,
    play,
    simulate,
)
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.algorithms.specs import read_algorithm, read_game
from dp_bandit_envs.audits import exact_loss, float_loss, sampled_loss
from dp_bandit_envs.conformance import check_adversary, check_algorithm
from dp_bandit_envs.errors import ConformanceError, ResultsError
from tests.tools.doors import one_each
from tests.tools.refusals import refused

MEANS, ROUNDS = [0.9, 0.6], 40
ID = "DPBandit-Stochastic-v0"
TABLE = np.random.default_rng(0).random((ROUNDS, 2))


class Mine(Stochastic):
    """Two coins of a user's."""

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


ALGORITHMS = {
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
    for door, way in one_each(list(PLAYING), ALGORITHMS):
        finite = [PLAYING[door]("Stochastic", ALGORITHMS[way], horizon=ROUNDS, n_arms=3)]
        if way in TAKE_EPSILON:
            finite.append(PLAYING[door]("Stochastic", ALGORITHMS[way], horizon=ROUNDS, epsilon=0.3))
        else:
            with refused(ValueError, "epsilon"):
                PLAYING[door]("Stochastic", ALGORITHMS[way], horizon=ROUNDS, epsilon=0.3)
        assert np.isfinite(finite).all()


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["name", "call", "makes an Algorithm"])
def test_doors_that_look_at_an_algorithm_take_the_same(way):
    algorithm, size = ALGORITHMS[way], {"n_arms": 2, "horizon": 100}
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
