"""Lab 1: the regret of one game, and the opponent that reads UCB's mind."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.conformance import check_adversary
from dp_bandit_envs.course.lab_bandits import (
    LOOKS,
    WRONG_INDEXES,
    MindReader,
    check_regret,
    check_six_rounds,
    check_ucb_index,
    new_payments,
    scoreboard,
    six_rounds,
)
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.labs.solutions.what_is_a_bandit import my_answer, regret, ucb_index


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


@pytest.mark.thorough
def test_the_mind_reader_is_an_adversary():
    check_adversary(MindReader)


def by_numpy(total, n, t):
    return np.mean([total / n]) + np.sqrt(np.log(t) * 2 / n)


@pytest.mark.parametrize("answer", [ucb_index, by_numpy, lambda total, n, t: float(by_numpy(np.float64(total), n, t))])
def test_right_indexes_pass(answer):
    assert check_ucb_index(answer)


@pytest.mark.parametrize(("wrong", "said"), WRONG_INDEXES)
def test_each_known_mistake_in_the_index_gets_its_words(wrong, said):
    answers = {seen: wrong(*seen) for seen in LOOKS}  # a mistake may call the right function, which no answer may
    verdict = check_ucb_index(lambda *seen: answers[seen])
    assert not verdict and verdict.says == said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda total, n, t: ucb_index(total, n, t) + 0.1, "is too large. Work out"),
        (lambda total, n, t: round(ucb_index(total, n, t), 2), "It is right, but rounded"),
        (lambda total, n, t: print(end=""), "returns nothing"),
        (lambda total, n: total / n, "cannot be called as"),
        (lambda total, n, t: ucb_index(total, n, t) if n in {4, 100, 2, 10, 1, 900} else 0.0, "but not in others"),
        (..., "no answer yet"),
    ],
)
def test_other_wrong_indexes_are_explained(wrong, said):
    assert said in check_ucb_index(wrong).says


def test_the_index_of_the_task_is_that_of_the_agent():
    """After each round UCB plays the arm with the largest index of the task, once every arm was played."""
    game = play(BanditEnv(Stochastic(means=[0.2, 0.5, 0.4], horizon=300)), make_algorithm("UCB"), seed=1)
    sums, counts = np.zeros(3), np.zeros(3)
    for t, (arm, gain) in enumerate(zip(game.arms, game.gains, strict=True)):
        if t >= 3:
            assert arm == np.argmax([ucb_index(*seen, t) for seen in zip(sums, counts, strict=True)])
        sums[arm], counts[arm] = sums[arm] + gain, counts[arm] + 1
