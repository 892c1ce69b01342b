"""Numbers as people write them, and when one cell alone does not say what it is."""

import math

import pytest

from dp_bandit_envs.recorded_data.arm_spellings import arms_of
from dp_bandit_envs.recorded_data.written_numbers import decimal_of, read_number


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("0.5", None, 0.5),
        ("0,5", None, 0.5),
        ("0,125", None, 0.125),
        (".5", None, 0.5),
        (" 5e-1 ", None, 0.5),
        ("1,234.5", None, 1234.5),
        ("1.234,5", None, 1234.5),
        ("1,234,567", None, 1234567),
        ("1 234,5", None, 1234.5),
        ("1\u00a0234", None, 1234),
        ("1'234.5", None, 1234.5),
        ("12 %", None, 12),
        ("\u22123", None, -3),
        ("1,234", "comma", 1.234),
        ("1,234", "point", 1234),
        ("1.234", "comma", 1234),
        ("1.234", None, 1.234),
    ],
)
def test_one_number(cell, decimal, value):
    assert read_number(cell, decimal=decimal).value == value


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("1,234", "ambiguous"),
        ("n.a.", "missing"),
        (" - ", "missing"),
        ("NaN", "nan"),
        ("-Inf", "infinite"),
        ("1e999", "infinite"),
        ("12 mg", "text"),
        ("1.2.3", "text"),
        ("1,23,4", "text"),
        ("1_000", "text"),
        ("٣", "text"),
    ],
)
def test_what_is_no_number(cell, kind):
    one = read_number(cell, decimal=None)
    assert one.kind == kind and math.isnan(one.value)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [(["1,234", "0,5"], "comma"), (["1.234", "0.5"], "point"), (["0,5", "0.5"], None), (["1,234", "7"], None)],
)
def test_a_column_shows_its_decimal_mark_by_cells_without_doubt(cells, mark):
    assert decimal_of(cells) == mark


def test_a_column_with_both_marks_leaves_one_group_open():
    assert read_number("1.234", decimal=None, mixed=True).kind == "ambiguous"


def test_spellings_of_an_arm_are_one_arm_in_a_natural_order():
    arms = arms_of(["B", "a ", "A.", "A", "A", "10", "2.0", "2", "2"])
    assert arms.names == ("2", "10", "A", "B")
    assert arms.arm == [3, 2, 2, 2, 2, 1, 0, 0, 0]
    assert arms.common == [True, False, False, True, True, True, False, True, True]
