"""What can go wrong in a student's function, or before it, becomes plain words, and never an error of ours."""

import math
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs.course.checking import (
    TaskVerdict,
    WrongAnswer,
    call,
    graded,
    judged,
    number,
    numbers,
    only_rounded,
    whole,
)


def words(function, *arguments):
    with pytest.raises(WrongAnswer) as caught:
        function(*arguments)
    return str(caught.value)


def returns_nothing(epsilon):
    epsilon + 1


def still_dots(epsilon):
    # epsilon is a number.
    ...


def divides_by_zero(epsilon):
    return 1 / (epsilon - epsilon)


def leaves(epsilon):
    raise SystemExit(3)


BROKEN = {
    call: [
        ((None, 2.0), "no answer yet"),
        ((..., 2.0), "no answer yet"),
        ((still_dots, 2.0), "no answer yet"),
        ((lambda epsilon: 0.5 if epsilon < 0 else None, 2.0), "returns nothing"),
        ((0.5, 2.0), "has to be a function; it is a float (0.5)"),
        ((returns_nothing, 2.0), "returns_nothing(2.0) returns nothing (None). Is there a `return`?"),
        ((divides_by_zero, 2.0), "division by zero, in the line `return 1 / (epsilon - epsilon)`"),
        ((leaves, 2.0), "stops with SystemExit: 3"),
        ((lambda: 1, 2.0), "cannot be called as <lambda>(2.0): too many positional arguments"),
    ],
    number: [
        ((None, "The scale"), "The scale is missing"),
        ((..., "The scale"), "The scale is missing"),
        (("2",), "it is text ('2')"),
        ((True,), "it is a truth value (True)"),
        (([1.0, 2.0],), "it is a list ([1.0, 2.0])"),
        ((np.ones(3),), "it is an array of shape (3,)"),
        ((1j,), "it is a complex (1j)"),
        ((len,), "it is a function (len)"),
        ((math.nan,), "finite number; it is nan"),
        ((np.float64("-inf"),), "finite number; it is -inf"),
        ((Fraction(10**400),), "it is a Fraction"),
        ((Decimal("nan"),), "finite number; it is nan"),
        ((np.array([Fraction(1, 2), True]),), "it is an array"),
        ((np.array(True, dtype=object),), "it is an array"),
    ],
    whole: [((2.5,), "whole number; it is 2.5")],
    numbers: [
        (([1, 2, 3], (2,)), "shape (2,); it has (3,)"),
        (([[1], [2, 3]], (2,)), "it is a list"),
        (([math.nan, 1], (2,)), "1 entries"),
        ((None, (2,)), "2 numbers"),
    ],
}
"""What is no answer, no number or no array of numbers, with the words about it."""


@pytest.mark.parametrize("function", BROKEN)
def test_what_is_no_answer_or_number_is_described(function):
    for arguments, said in BROKEN[function]:
        assert said in words(function, *arguments)


def test_a_loop_that_the_stop_button_ends_is_no_answer():
    """The button raises KeyboardInterrupt in the notebook, which a check lets through, so that its cell stops."""

    def endless(epsilon):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(endless, 2.0)


def test_a_function_cannot_change_what_it_is_given():
    given = np.zeros(3)
    assert call(lambda gains: gains.__iadd__(1).sum(), given) == 3
    assert not given.any()


def test_numbers_of_every_kind_are_taken():
    assert number(np.int64(3)) == number(3.0) == number(np.array(3)) == whole(3.0) == 3
    assert number(Fraction(1, 4)) == number(Decimal("0.25")) == 0.25
    assert numbers([1, Fraction(1, 2), Decimal("0.25")], (3,)).tolist() == [1.0, 0.5, 0.25]


def test_rounded_answers_are_told_from_wrong_ones():
    right = [1 / 28, 1 / 3, 2.0]
    for digits in (2, 3, 6):
        assert only_rounded([round(each, digits) for each in right], right)
        assert only_rounded([math.floor(each * 10**digits) / 10**digits for each in right], right)
    assert not only_rounded([1 / 28, 1 / 3, 2.001], right)
    assert not only_rounded([0.04, 0.33, 2.02], right)


def test_a_graded_check_gives_a_verdict_and_keeps_its_name():
    @graded
    def check_one(value):
        """Whether it is one."""
        if number(value) != 1:
            raise WrongAnswer("It is <another> one.")
        return "One it is."

    assert check_one(1) == TaskVerdict(True, "One it is.")
    assert not check_one(2)
    assert str(check_one(2)) == "Not yet. It is <another> one."
    assert "It is &lt;another&gt; one." in check_one(2)._repr_html_()
    assert check_one.__name__ == "check_one" and check_one.__doc__ == "Whether it is one."


@graded
def check_double(double):
    if call(double, 3) != 6:
        raise WrongAnswer("Twice three is something else.")
    return "Six."


def test_a_verdict_is_that_of_the_check_and_a_missing_name_is_named():
    assert judged(check_double, lambda: lambda n: 2 * n) == check_double(lambda n: 2 * n)
    assert judged(check_double, lambda: abs) == check_double(abs)
    verdict = judged(check_double, lambda: double)  # noqa: F821
    assert not verdict and "There is no `double` yet" in verdict.says


@pytest.mark.thorough
def test_an_endless_loop_is_stopped_and_a_later_check_is_not():
    def endless(number):
        while True:
            number += 1

    verdict = judged(check_double, lambda: endless, seconds=0.2)
    assert not verdict and "After 0.2 seconds it is still at work" in verdict.says
    assert judged(check_double, lambda: lambda n: 2 * n, seconds=0.2)
    for _ in range(1_000):
        time.sleep(0.001)  # a late stop would come here
