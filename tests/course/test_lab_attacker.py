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


def test_the_broken_one_is_found_by_the_solution_and_accepted():
    letters = accused(three_suspects(7), CONFIDENCE)
    assert letters == [order(7)[0]]
    for letter, number in ((f" {letters[0].lower()} ", 7), (np.str_(letters[0]), 7.0), (letters[0], np.int64(7))):
        assert check_accused(letter, number).passed


@pytest.mark.parametrize(
    ("wrong", "student", "said"),
    [
        (order(7)[1], 7, "Frequencies alone accuse the innocent"),
        (order(7)[2], 7, "no more than 0."),
        ("D", 7, "none of them"),
        ("AB", 7, "none of them"),
        ("", 7, "none of them"),
        (["A", "B"], 7, "one letter"),
        (1, 7, "one letter"),
        (None, 7, "Nobody is accused yet"),
        ("A", -5, "at least 0; it is -5"),
        ("A", 2.5, "whole number"),
        ("A", None, "missing"),
    ],
)
def test_a_wrong_accusation_or_number_of_a_student_is_explained(wrong, student, said):
    verdict = check_accused(wrong, student)
    assert not verdict.passed
    assert said in verdict.says


def test_the_broken_one_loses_two():
    game = bandit(neighbours("both arms pay 1", 0).one)
    assert exact_loss(half_the_noise(), environment=game).epsilon == pytest.approx(2, rel=2e-9)


@pytest.mark.slow
def test_200_students_accuse_the_broken_one():
    """Chance of a false alarm for a student: at most 2e-4 by Clopper and Pearson, and about 1e-7 as measured."""
    for number in range(200):
        letters = accused(three_suspects(number), CONFIDENCE)
        assert letters == [order(number)[0]], number
        assert check_accused(letters[0], number).passed
