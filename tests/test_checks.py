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

NAN = math.nan


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), np.array(3)], ids=repr)
def test_whole_numbers_of_any_kind_become_an_int(value):
    assert type(checks.integer("batch_size", value, at_least=3)) is int
    assert type(checks.arm(value, 4)) is int
    assert checks.integer("batch_size", value, at_least=3) == checks.arm(value, 4) == 3


@pytest.mark.parametrize("value", [2, -1, True, 3.0, NAN, math.inf, "3", None, [3]], ids=repr)
def test_other_values_are_no_integer_of_at_least_three(value):
    with refused(ValueError, "batch_size", 3, checks.shown(value)) as caught:
        checks.integer("batch_size", value, at_least=3)
    assert isinstance(caught.value, TypeError) == (value not in (2, -1, True))


@pytest.mark.parametrize("value", [-1, 4, 1.5, NAN, "a", None], ids=repr)
def test_other_values_are_no_arm(value):
    with refused(ValueError, "arm", "[0, 3]", repr(value)):
        checks.arm(value, 4)


@pytest.mark.parametrize("value", [5e-324, 1, 243.29, math.inf, np.float32(0.5)], ids=repr)
def test_epsilon_may_be_any_positive_number(value):
    assert checks.epsilon(value) == value
    assert type(checks.epsilon(value)) is float


@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1, NAN, -math.inf], ids=repr)
def test_epsilon_must_be_positive(value):
    with refused(ValueError, "epsilon", 0, repr(value), "math.inf"):
        checks.epsilon(value)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.1, NAN, math.inf], ids=repr)
def test_delta_must_be_strictly_between_zero_and_one(value):
    assert checks.delta(1e-6) == 1e-6
    with refused(ValueError, "delta", "(0, 1)", repr(value)):
        checks.delta(value)


@pytest.mark.parametrize(
    ("check", "inside", "outside", "named"),
    [
        (lambda value: checks.in_range("x", value, 0, 0.25), (0, 0.25), (-0.01, 0.26), "[0, 0.25]"),
        (lambda value: checks.at_least("x", value, 0), (0, 0.5), (-0.01,), 0),
        (lambda value: checks.greater_than("x", value, 0), (0.5,), (0, -1), 0),
    ],
    ids=["in_range", "at_least", "greater_than"],
)
def test_ends_of_ranges_belong_to_them_or_not_and_nan_never_does(check, inside, outside, named):
    assert [check(value) for value in inside] == [*inside]
    for value in (*outside, NAN, math.inf):
        with refused(ValueError, "x", named, repr(value)):
            check(value)


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


@pytest.mark.parametrize("spelled", ["DP-EXP3-Lap", "dp-exp3-lap", "DP-EXP3-LAP"])
def test_a_known_name_is_found_whatever_its_case(spelled):
    assert checks.known_name("algorithm", spelled, NAMES) == "DP-EXP3-Lap"


def test_an_unknown_name_gets_the_nearest_one_suggested_first():
    with pytest.raises(UnknownNameError) as caught:
        checks.known_name("algorithm", "DP-EXP3-Lab", iter(NAMES))
    assert isinstance(caught.value, KeyError) and isinstance(caught.value, ValueError)
    said = re.findall(r"[\w-]+", str(caught.value))
    assert {"algorithm", "DP-EXP3-Lab"} <= set(said)
    assert next(word for word in said if word in NAMES) == "DP-EXP3-Lap"


def test_a_name_far_from_all_gets_the_whole_list():
    with refused(UnknownNameError, "'??'", *NAMES):
        checks.known_name("algorithm", "??", NAMES)


def test_the_arguments_that_errors_name_are_those_of_the_functions():
    """They are written down, so that the ground imports nothing above it."""
    for name, arguments in checks.DOORS.items():
        assert arguments.split() == [*inspect.signature(getattr(dp_bandit_envs, name)).parameters]
