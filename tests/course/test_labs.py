"""What the labs show and say: their games, tables and pictures, and the numbers in their text."""

import importlib
import types

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import make_algorithm, play
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.audits import exact_loss
from dp_bandit_envs.conformance import check_adversary
from dp_bandit_envs.course.lab_attacker import (
    CONFIDENCE,
    bandit,
    half_the_noise,
    neighbours,
    order,
    suspects_tables,
    three_suspects,
)
from dp_bandit_envs.course.lab_bandits import MindReader, new_payments, scoreboard, six_rounds
from dp_bandit_envs.course.lab_counters import BY_WORDS, errors, pictures, spreads
from dp_bandit_envs.course.lab_graphs import RegretCurve, regret_picture
from dp_bandit_envs.course.lab_hiv import STUDIES, most_rounds
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.labs.solutions.what_an_attacker_sees import accused, epsilon_bound
from dp_bandit_envs.labs.solutions.what_is_a_bandit import ucb_index
from dp_bandit_envs.privacy.participation import use_of_pools


def test_the_six_rounds_have_one_gain_each_in_bold_and_the_scoreboard_ends_with_the_regret():
    rows = six_rounds().splitlines()[2:]
    assert [row.count("**") for row in rows] == [2] * 6
    assert [row.split("**")[1] for row in rows] == ["1", "0", "0", "1", "1", "1"]
    payments = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    early = scoreboard(payments, [1])
    assert "paid **0**" in early and "left: 1." in early and "| arm 1 | 1 | 0 |" in early and "regret" not in early
    assert "Arm 0, played throughout, would have paid 2. Your **regret** is 2 - 1 = **1**" in scoreboard(
        payments, [1, 1]
    )
    assert "Rounds left: 2." in scoreboard(payments, [])
    assert new_payments().shape == (30, 3) and set(np.unique(new_payments(200))) == {0.0, 1.0}


def test_the_mind_reader_takes_everything_from_ucb():
    """UCB tries all arms alike: each pays in three of four rounds, and it gets nothing."""
    game = play(BanditEnv(MindReader(4, 400)), make_algorithm("UCB"), seed=1)
    assert game.gains.sum() == 0 and game.external_regret[-1] == 300


@pytest.mark.thorough
def test_the_mind_reader_is_an_adversary():
    check_adversary(MindReader)


def test_the_index_of_the_task_is_that_of_the_agent():
    """After each round UCB plays the arm with the largest index of the task, once every arm was played."""
    game = play(BanditEnv(Stochastic(means=[0.2, 0.5, 0.4], horizon=300)), make_algorithm("UCB"), seed=1)
    sums, counts = np.zeros(3), np.zeros(3)
    for t, (arm, gain) in enumerate(zip(game.arms, game.gains, strict=True)):
        if t >= 3:
            assert arm == np.argmax([ucb_index(*seen, t) for seen in zip(sums, counts, strict=True)])
        sums[arm], counts[arm] = sums[arm] + gain, counts[arm] + 1


@pytest.mark.slow
def test_what_lab_3_and_its_teacher_say_of_the_games():
    lab = importlib.import_module("dp_bandit_envs.labs.switching_costs")
    _, found = lab.app.run(defs={"guess": types.SimpleNamespace(value="a guess")})

    def regrets(gap, costs, *names):
        games = found["play_all"](list(names), gap, costs)
        return [game.policy_regret[:, -1].mean() for game in games.values()]

    private = [f"Batched-Lap-HTINF:epsilon={epsilon}" for epsilon in (0.1, 1)]
    with_costs = regrets(0.1, True, *private, "HTINF", "EXP3", "Uniform", "Tsallis-INF")
    assert with_costs == pytest.approx([987, 1377, 1174, 2064, 4675, 778], rel=0.12)
    assert with_costs[0] < with_costs[2] < with_costs[1] < with_costs[3]
    assert regrets(0.1, False, "EXP3", *reversed(private), "Uniform") == pytest.approx([324, 382, 635, 740], rel=0.1)
    assert regrets(0.1, True, make_algorithm("EXP3-tau", batch_size=10)) == pytest.approx([967], rel=0.05)
    half = "Batched-Lap-HTINF:epsilon=0.5"
    assert regrets(0.3, True, half, private[1], private[0], "EXP3") == pytest.approx([1290, 2060, 1660, 1598], rel=0.2)
    assert regrets(0.3, False, private[1]) == pytest.approx([360], rel=0.1)
    by_size = [make_algorithm("EXP3-tau", batch_size=size) for size in (1, 2, 5, 500)]
    assert [regrets(0.3, True, each)[0] for each in by_size] == pytest.approx([1590, 1194, 1215, 2130], rel=0.03)


@pytest.mark.thorough
@pytest.mark.parametrize("words", ["noise on every item", "binary tree"])
def test_the_bands_of_the_first_picture_are_the_errors_of_many_streams(words):
    """Each of 64 runs has 200 streams or more: a root mean square with a standard error of at most 8 % (measured)."""
    way = BY_WORDS[words]
    middle, spread = spreads(way, 255, 1.0)
    of_streams = np.array([errors(way, 255, 1.0, stream) for stream in range(200)])
    found = [np.sqrt((of_streams[:, runs] ** 2).mean()) for runs in np.array_split(np.arange(255), 64)]
    assert len(middle) == 64 and found == pytest.approx(spread, rel=0.4)
    assert np.sqrt((of_streams**2).mean()) == pytest.approx(np.sqrt((spread**2).mean()), rel=0.1)


def test_the_first_picture_shows_what_the_lab_says_of_4095_items():
    """The band of the tree is wider at first and narrower at the end, whatever the stream."""
    on_items, of_tree = (BY_WORDS[words] for words in ("noise on every item", "binary tree"))
    left, _ = pictures({way: errors(way, 4095, 1.0, 0) for way in (on_items, of_tree)}, 4095, 1.0)
    upper = [line.get_ydata() for line in left.axes[0].lines if len(line.get_ydata()) == 64 and line.get_ydata()[0] > 0]
    assert upper[0][0] < upper[1][0] and upper[0][-1] == pytest.approx(90, abs=1) and upper[1][-1] < 60


@pytest.mark.thorough
def test_the_tables_have_three_suspects_for_each_number_or_say_what_is_wrong_with_the_numbers():
    rows = suspects_tables((7, 8, 9), epsilon_bound).splitlines()[2:]
    assert len(rows) == 9 and [row.split("|")[1].strip() for row in rows[::3]] == ["7", "8", "9"]
    above = [row.split("|")[2].strip() for row in rows if float(row.split("|")[5]) > 1]
    assert "".join(above) == "".join(order(number)[0] for number in (7, 8, 9))
    assert suspects_tables((7, 8, 9), lambda *_: None).count("(solve task 1)") == 9
    assert "three of your own" in suspects_tables(None, epsilon_bound)


def test_the_broken_one_loses_two():
    game = bandit(neighbours("both arms pay 1", 0).one)
    assert exact_loss(half_the_noise(), environment=game).epsilon == pytest.approx(2, rel=2e-9)


@pytest.mark.slow
def test_200_numbers_show_the_broken_one():
    """Chance of a false alarm for a number: at most 2e-4 by Clopper and Pearson, and about 1e-7 as measured."""
    for number in range(200):
        assert accused([three_suspects(number)], CONFIDENCE) == order(number)[0], number


def test_the_picture_of_regrets_names_its_axes_and_the_scale():
    curve = RegretCurve(np.array([1, 2]), np.array([1.0, 2.0]), np.array([0.1, 0.1]))
    (axes,) = regret_picture({"TS-N": curve}).axes
    assert axes.get_xlabel() == "rounds" and axes.get_ylabel() == "regret, in gains (log scale)"
    assert axes.get_yscale() == "log"


def test_rounds_of_a_patient_are_those_that_the_environment_states():
    trial = gym.make("DPBandit-Trial-v0").unwrapped.adversary
    assert trial.data_use.person == most_rounds((532, 522, 524, 561), 2139) == 5
    for _, patients, rounds in STUDIES:
        assert use_of_pools(patients, rounds, persons=1).person == most_rounds(patients, rounds)


@pytest.mark.parametrize(("name", "few"), [("DP-KLUCB", True), ("DP-IMED", True), ("Batched-Lap-HTINF", False)])
def test_what_the_lab_says_of_lone_bars(name, few):
    """The first treatment gets a doubled number of patients unless the trial ends within a block; no seed matters."""
    given = {"env_kwargs": {"arm_order": "given"}, "trials": 60, "seed": None}
    game = dp_bandit_envs.simulate("DPBandit-Trial-v0", [make_algorithm(name, epsilon=0.2)], **given)[name]
    of_first = np.unique(game.pulls[:, 0])
    assert (len(of_first) <= 10) == few
    assert not few or set(of_first) & {80, 160, 320}
