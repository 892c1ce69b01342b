"""Lab 1: the regret of one game, and the opponent that reads UCB's mind."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play
from dp_bandit_envs.conformance import check_adversary
from dp_bandit_envs.course.lab_bandits import (
    MindReader,
    check_regret,
    check_six_rounds,
    new_payments,
    scoreboard,
    six_rounds,
)
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.labs.solutions.what_is_a_bandit import my_answer, regret


def test_the_solutions_pass():
    assert all(map(check_six_rounds, (my_answer, 1.0, np.int64(1), np.array(1), Fraction(1), Decimal(1))))
    assert check_regret(regret)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (2, "best arm of each round"),
        (-1, "The sign is wrong"),
        (5, "What did the player get?"),
        (4, "What would the best arm have paid?"),
        (0, "the arm that was played most"),
        (-2, "when it was played"),
        (0.17, "per round"),
        (3, "Add up each column"),
        (6, "Add up each column"),
        (10 / 3 - 4, "average of all arms"),
        ([1], "it is a list"),
        (True, "it is a truth value"),
        ("1", "it is text"),
        (None, "missing"),
    ],
)
def test_wrong_answers_by_hand_get_the_words_that_fit(answer, said):
    """The bold numbers are 1, 0, 0, 1, 1, 1, the columns add up to 5, 3 and 2, and every round has an arm that pays."""
    verdict = check_six_rounds(answer)
    assert not verdict and said in verdict.says


def test_the_table_of_the_six_rounds_shows_one_gain_of_each_round_in_bold():
    rows = six_rounds().splitlines()[2:]
    assert [row.count("**") for row in rows] == [2] * 6
    assert [row.split("**")[1] for row in rows] == ["1", "0", "0", "1", "1", "1"]


def test_the_scoreboard_counts_pulls_and_ends_with_the_regret():
    payments = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    early = scoreboard(payments, [1])
    assert "paid **0**" in early and "left: 1." in early and "| arm 1 | 1 | 0 |" in early and "regret" not in early
    assert "Arm 0, played throughout, would have paid 2. Your **regret** is 2 - 1 = **1**" in scoreboard(
        payments, [1, 1]
    )
    assert "Rounds left: 2." in scoreboard(payments, [])
    assert new_payments().shape == (30, 3) and set(np.unique(new_payments(200))) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda gains, arms: gains.sum(axis=0).max() - np.cumsum(gains[:, 0]), "it is an array of shape (3,)"),
        (lambda gains, arms: regret(gains, arms) + 1, "and arms [1, 1, 2] you have 1.75; work"),
        (lambda gains, arms: abs(regret(gains, arms)), "and arms [0, 1, 0, 1, 0, 1, 0, 1] you have 4; work"),
        (
            lambda gains, arms: regret(gains, arms) * (gains.shape[1] != 5),
            "right for short games, but not for one of 50 rounds and 5 arms",
        ),
        (
            lambda gains, arms: regret(gains[:19], arms[:19]),
            "right for short games, but not for one of 20 rounds and 2 arms",
        ),
        (lambda gains, arms: gains[arms].sum(), "work it out by hand"),
        (lambda gains, arms: gains.sum(axis=0).max() - gains[:, arms].sum(), "work it out by hand"),
        (lambda gains, arms: round(regret(gains, arms)), "work it out by hand"),
    ],
)
def test_other_wrong_answers_get_the_words_that_fit(answer, said):
    assert said in check_regret(answer).says


def by_loops(gains, arms):
    totals = [0.0] * gains.shape[1]
    got = 0.0
    for row, arm in zip(gains.tolist(), arms.tolist(), strict=True):
        got += row[arm]
        totals = [total + gain for total, gain in zip(totals, row, strict=True)]
    return max(totals) - got


def by_differences(gains, arms):
    return np.max([(gains[:, arm] - gains[range(len(arms)), arms]).sum() for arm in range(gains.shape[1])])


@pytest.mark.parametrize("answer", [by_loops, by_differences])
def test_other_right_answers_pass(answer):
    assert check_regret(answer)


def test_the_mind_reader_takes_everything_from_ucb():
    """UCB tries all arms alike: each pays in three of four rounds, and it gets nothing."""
    game = play(BanditEnv(MindReader(4, 400)), make_algorithm("UCB"), seed=1)
    assert game.gains.sum() == 0 and game.external_regret[-1] == 300


def test_the_mind_reader_is_an_adversary():
    check_adversary(MindReader)
