"""Machine code calls other machine code at its address, with arrays and numbers, and raises what that raises."""

import numpy as np
import pytest

from dp_bandit_envs.compiling.compiled import Compiled, CompiledAt
from dp_bandit_envs.compiling.functions import call_at
from tests.tools.refusals import refused


def add(numbers, table, place):
    """Add to one row of a table."""
    if place < 0:
        raise ValueError("negative")
    for i in range(len(numbers)):
        table[place, i] += numbers[i]


def add_to_rows(address, numbers, table, first):
    """Add to all rows from the first on."""
    for place in range(first, len(table)):
        call_at(address, (numbers, table, place))


@pytest.fixture(scope="module")
def loop():
    return CompiledAt(add, {})


def test_the_function_gets_what_it_is_given(loop):
    numbers, table = np.arange(3.0), np.zeros((4, 3))
    address = loop.address(numbers, table, 0)
    Compiled(add_to_rows, {})(address, numbers, table, 1)
    assert table.tolist() == [[0, 0, 0]] + 3 * [[0, 1, 2]]
    # Rows of rows have the types of rows, and are served by the same code.
    assert loop.address(np.zeros((2, 3))[1], np.zeros((2, 4, 3))[1], 0) == address


def test_what_it_raises_is_raised_in_python(loop):
    numbers, table = np.arange(3.0), np.zeros((4, 3))
    with refused(ValueError, "negative"):
        Compiled(add_to_rows, {})(loop.address(numbers, table, 0), numbers, table, -1)
    assert not table.any()


def test_it_cannot_be_called_from_python(loop):
    """There is no code for it: the process would end."""
    with refused(TypeError, "add", "address"):
        loop(np.arange(3.0), np.zeros((4, 3)), 0)
