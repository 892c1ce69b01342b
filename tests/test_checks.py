"""Checks on arguments: the message says what, the rule, the value received and a way out; NaN fails everywhere."""

import inspect
import math
import re

import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import checks
from dp_bandit_envs.errors import UnknownNameError
from tests.tools.refusals import refused


@pytest.mark.parametrize("number", [3, np.int64(3), np.uint8(3), np.array(3)], ids=repr)
def test_whole_numbers_of_any_kind_become_an_int(number):
    assert type(checks.integer("batch_size", number, at_least=3)) is int
    assert type(checks.arm(number, 4)) is int
    assert checks.integer("batch_size", number, at_least=3) == checks.arm(number, 4) == 3


@pytest.mark.parametrize("number", [5e-324, 1, 243.29, math.inf, np.float32(0.5)], ids=repr)
def test_epsilon_may_be_any_positive_number(number):
    assert checks.epsilon(number) == number
    assert type(checks.epsilon(number)) is float


RANGES = {
    "integer": (
        lambda number: checks.integer("x", number, at_least=3),
        (3,),
        (2, -1, True, 3.0, math.inf, "3", None, [3]),
        (3,),
    ),
    "arm": (lambda number: checks.arm(number, 4), (0, 3), (-1, 4, 1.5, "a", None), ("arm", "[0, 3]")),
    "epsilon": (checks.epsilon, (0.5, math.inf), (0, 0.0, -0.0, -1, -math.inf), ("epsilon", 0, "math.inf")),
    "delta": (checks.delta, (1e-6,), (0, 1, -0.1, 1.1, math.inf), ("delta", "(0, 1)")),
    "in_range": (lambda number: checks.in_range("x", number, 0, 0.25), (0, 0.25), (-0.01, 0.26), ("x", "[0, 0.25]")),
    "at_least": (lambda number: checks.at_least("x", number, 0), (0, 0.5), (-0.01, math.inf), ("x", 0)),
    "greater_than": (lambda number: checks.greater_than("x", number, 0), (0.5,), (0, -1, math.inf), ("x", 0)),
}
"""Checks with what is inside of their ranges, what is not, and what an error names besides the value."""


@pytest.mark.parametrize("name", RANGES)
def test_ends_of_ranges_belong_to_them_or_not_and_nan_never_does(name):
    check, inside, outside, words = RANGES[name]
    assert [check(number) for number in inside] == [*inside]
    for number in (*outside, math.nan):
        with refused(ValueError, *words, checks.shown(number)) as caught:
            check(number)
        assert name != "integer" or isinstance(caught.value, TypeError) == (number not in (2, -1, True))


def test_what_is_no_number_is_a_type_error():
    for check in [
        lambda value: checks.real("x", value),
        lambda value: checks.at_least("x", value, 0),
        lambda value: checks.greater_than("x", value, 0),
        lambda value: checks.in_range("x", value, 0, 1),
    ]:
        for value in ["1", b"1", True, None, [1], 1j, np.ones(1)]:
            with refused(TypeError, "x", checks.shown(value)):
                check(value)


def test_a_choice_is_returned_or_the_choices_are_listed():
    assert checks.one_of("outside", "clip", ("reject", "clip")) == "clip"
    with refused(ValueError, "outside", "'reject'", "'clip'", "'Clip'"):
        checks.one_of("outside", "Clip", ("reject", "clip"))


NAMES = ("EXP3", "DP-EXP3-Lap", "EXP3-tau")


def test_a_known_name_is_found_whatever_its_case_and_of_an_unknown_one_the_nearest_or_all_are_suggested():
    for spelled in ("DP-EXP3-Lap", "dp-exp3-lap", "DP-EXP3-LAP"):
        assert checks.known_name("algorithm", spelled, NAMES) == "DP-EXP3-Lap"
    with refused(UnknownNameError, "algorithm", "'DP-EXP3-Lab'") as caught:
        checks.known_name("algorithm", "DP-EXP3-Lab", iter(NAMES))
    assert isinstance(caught.value, KeyError) and isinstance(caught.value, ValueError)
    assert next(word for word in re.findall(r"[\w-]+", str(caught.value)) if word in NAMES) == "DP-EXP3-Lap"
    with refused(UnknownNameError, "'??'", *NAMES):
        checks.known_name("algorithm", "??", NAMES)


def test_the_arguments_that_errors_name_are_those_of_the_functions():
    """They are written down, so that the ground imports nothing above it."""
    for name, arguments in checks.DOORS.items():
        assert arguments.split() == [*inspect.signature(getattr(dp_bandit_envs, name)).parameters]
