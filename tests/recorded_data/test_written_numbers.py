"""Numbers as people write them, and when one cell alone does not say what it is."""

import math

import pytest

from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.recorded_data import clean
from dp_bandit_envs.recorded_data.arm_spellings import arms_of
from dp_bandit_envs.recorded_data.written_numbers import has_decimal_comma, read_number


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
    ("cell", "shows"),
    [("0,5", True), ("1.234.567", True), ("1.234,5", True), ("1,234", False), ("0.5", False), ("1,234.5", False)],
)
def test_a_cell_shows_that_decimals_come_after_a_comma(cell, shows):
    assert has_decimal_comma(cell) is shows


def test_in_a_column_with_decimal_commas_a_group_after_a_point_is_open():
    assert read_number("1.234", decimal=None, commas=True).kind == "ambiguous"


@pytest.mark.parametrize("group", ["1.234", "1,234"])
@pytest.mark.parametrize("other", ["0,5", "0.5", "7"])
def test_no_cell_decides_what_another_one_means(group, other):
    """Else one record would change the gains of others; a cell that is open is read by nobody."""
    alone, beside = (
        clean(
            DataFile("x.csv", "\n".join(["arm;gain", *(f"{arm};{cell}" for arm in "AB" for cell in cells)]).encode()),
            arm="arm",
            gain="gain",
            scale=(0, 10_000),
            unreadable="drop",
        )
        for cells in ([group, "3"], [group, "3", other])
    )
    read = {gain for gain in beside.gains if gain * 10_000 not in (0.5, 7)}
    assert read <= set(alone.gains)


def test_spellings_of_an_arm_are_one_arm_in_a_natural_order():
    arms = arms_of(["B", "a ", "A.", "A", "A", "10", "2.0", "2", "2"])
    assert arms.names == ("2", "10", "A", "B")
    assert arms.arm == [3, 2, 2, 2, 2, 1, 0, 0, 0]
    assert arms.common == [True, False, False, True, True, True, False, True, True]
