"""The checks of the lab on attackers: solutions pass, and each kind of wrong answer gets the words that fit."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, binomtest

from dp_bandit_envs.audits import exact_loss
from dp_bandit_envs.course.lab_attacker import (
    CONFIDENCE,
    bandit,
    check_accused,
    check_epsilon_bound,
    half_the_noise,
    neighbours,
    order,
    suspects_tables,
    three_suspects,
)
from dp_bandit_envs.labs.solutions.what_an_attacker_sees import accused, epsilon_bound


def low(hits, games, failure):
    return beta.ppf(failure, hits, games - hits + 1) if hits else 0.0


def high(hits, games, failure):
    return beta.ppf(1 - failure, hits + 1, games - hits) if hits < games else 1.0


def by_binomtest(more, less, games, confidence):
    if more == 0:
        return 0
    intervals = [binomtest(hits, games).proportion_ci(confidence, method="exact") for hits in (more, less)]
    return max(math.log(intervals[0].low / intervals[1].high), 0)


def by_halving(more, less, games, confidence):
    def solve(tail):
        left, right = 0.0, 1.0
        for _ in range(100):
            middle = (left + right) / 2
            left, right = (middle, right) if tail(middle) else (left, middle)
        return left

    failure = (1 - confidence) / 2
    p = solve(lambda chance: binom.sf(more - 1, games, chance) < failure)
    q = solve(lambda chance: binom.cdf(less, games, chance) > failure)
    return math.log(p / q) if p > 0 else -math.inf


@pytest.mark.parametrize("solution", [epsilon_bound, by_binomtest, by_halving])
def test_the_bound_passes_however_it_is_computed(solution):
    verdict = check_epsilon_bound(solution)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda m, s, n, c: epsilon_bound(m, s, n, 0.99), "confidence of 0.99 only"),
        (lambda m, s, n, c: max(0, epsilon_bound(m, s, n, c) - 0.1), "smaller than it can be"),
        (lambda m, s, n, c: epsilon_bound(s, m, n, c), "smaller than it can be"),
        (lambda m, s, n, c: epsilon_bound(m + 1, s + 1, n + 2, c), "smaller than it can be"),
        (lambda m, s, n, c: epsilon_bound(m, s, n, 1 - c), "too large, so it would accuse the innocent"),
        (lambda m, s, n, c: beta.ppf((1 - c) / 2, m, n - m + 1), "smaller than it can be"),
        (lambda m, s, n, c: math.log(low(m, n, (1 - c) / 2) / high(s, n, (1 - c) / 2)), "ValueError"),
    ],
)
def test_a_wrong_bound_is_explained(wrong, said):
    verdict = check_epsilon_bound(wrong)
    assert not verdict.passed
    assert said in verdict.says


OWN = (7, 8, 9)
RIGHT = "".join(order(number)[0] for number in OWN)


@pytest.mark.thorough
def test_the_broken_ones_are_found_by_the_solution_and_accepted():
    assert accused([three_suspects(number) for number in OWN], CONFIDENCE) == RIGHT
    for letters, numbers in (
        (f" {RIGHT.lower()} ", OWN),
        (np.str_(" ".join(RIGHT)), [7.0, 8, 9]),
        (RIGHT, np.arange(7, 10)),
    ):
        assert check_accused(letters, numbers).passed


def but(place, honest):
    """Return the right letters but for one, that of the first or the second honest suspect."""
    return RIGHT[:place] + order(OWN[place])[1 + honest] + RIGHT[place + 1 :]


@pytest.mark.parametrize(
    ("wrong", "students", "said"),
    [
        (but(0, 0), OWN, "Letter 1 is wrong: with number 7"),
        (but(2, 1), OWN, "Letter 3 is wrong: with number 9"),
        (but(1, 0), OWN, "Frequencies alone accuse the innocent"),
        (but(1, 1), OWN, "no more than 0."),
        ("ABD", OWN, "'D' is none of them"),
        ("A", OWN, "there are 1 in 'A'"),
        ("ABCA", OWN, "there are 4"),
        ("", OWN, "there are 0"),
        (["A", "B", "C"], OWN, "three letters as text"),
        (1, OWN, "three letters as text"),
        (None, OWN, "Nobody is accused yet"),
        ("ABA", (1, 2, -5), "at least 0; one is -5"),
        ("ABA", (1, 2, 2.5), "whole number"),
        ("ABA", (1, 2, None), "missing"),
        ("ABA", (1, 2), "three different numbers"),
        ("ABA", (1, 2, 3, 4), "three different numbers"),
        ("ABA", (1, 2, 1), "these are (1, 2, 1)"),
        ("ABA", "314", "this is text"),
        ("ABA", 3, "this is an int (3)"),
        ("ABA", {1, 2, 3}, "this is a set"),
        ("ABA", None, "no numbers yet"),
    ],
)
def test_wrong_accusations_or_numbers_of_a_student_are_explained(wrong, students, said):
    verdict = check_accused(wrong, students)
    assert not verdict.passed
    assert said in verdict.says


@pytest.mark.thorough
def test_the_tables_have_three_suspects_for_each_number_or_say_what_is_wrong_with_the_numbers():
    rows = suspects_tables(OWN, epsilon_bound).splitlines()[2:]
    assert len(rows) == 9 and [row.split("|")[1].strip() for row in rows[::3]] == ["7", "8", "9"]
    above = [row.split("|")[2].strip() for row in rows if float(row.split("|")[5]) > 1]
    assert "".join(above) == RIGHT
    assert suspects_tables(OWN, lambda *_: None).count("(solve task 1)") == 9
    assert "three of your own" in suspects_tables(None, epsilon_bound)


def test_the_broken_one_loses_two():
    game = bandit(neighbours("both arms pay 1", 0).one)
    assert exact_loss(half_the_noise(), environment=game).epsilon == pytest.approx(2, rel=2e-9)


@pytest.mark.slow
def test_200_numbers_show_the_broken_one():
    """Chance of a false alarm for a number: at most 2e-4 by Clopper and Pearson, and about 1e-7 as measured."""
    for number in range(200):
        assert accused([three_suspects(number)], CONFIDENCE) == order(number)[0], number
