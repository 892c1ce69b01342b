"""Copies of a first state: equal to it, apart from it and from each other."""

from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs.simulation.first_state import FirstState
from tests.tools.refusals import refused


class Inner(NamedTuple):
    """Arrays of several types, one of them empty and one in Fortran's order."""

    bits: np.ndarray
    table: np.ndarray
    nothing: np.ndarray


class State(NamedTuple):
    """Numbers and arrays, some of them further inside."""

    means: np.ndarray
    scale: float
    inner: Inner
    pair: tuple


def made():
    table = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    return State(
        np.linspace(0, 1, 5), 0.5, Inner(np.array([True, False, True]), table, np.zeros((0, 4))), (3, np.ones(1))
    )


def arrays(state):
    return [state.means, state.inner.bits, state.inner.table, state.inner.nothing, state.pair[1]]


def test_a_copy_has_the_same_numbers_types_and_shapes():
    copy = FirstState(made()).copy()
    assert type(copy) is State and type(copy.inner) is Inner and copy.scale == 0.5 and copy.pair[0] == 3
    for one, other in zip(arrays(copy), arrays(made()), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype and one.shape == other.shape
        assert one.flags.c_contiguous and one.flags.aligned and one.flags.writeable


def test_writing_to_a_copy_changes_nothing_else():
    first = FirstState(made())
    copies = [first.copy() for _ in range(3)]
    for array in arrays(copies[1]):
        array[...] = 7
    for copy in (copies[0], copies[2], first.copy()):
        for one, other in zip(arrays(copy), arrays(made()), strict=True):
            np.testing.assert_array_equal(one, other)


def test_no_two_copies_are_in_one_line_of_the_cache():
    """Lines have 64 bytes, or 128 where two are fetched at once."""
    first = FirstState(made())
    copies = [first.copy() for _ in range(20)]
    ends = sorted(
        (array.__array_interface__["data"][0], array.__array_interface__["data"][0] + array.nbytes)
        for array in [one for copy in copies for one in (copy.means, copy.pair[1])]
    )
    starts = sorted(copy.means.__array_interface__["data"][0] for copy in copies)
    lasts = sorted(end for _, end in ends)
    for start in starts[1:]:
        before = max(end for end in lasts if end <= start)
        assert start - before >= 128


@pytest.mark.parametrize("kind", [object, "O"])
def test_objects_are_refused(kind):
    with refused(TypeError, "object"):
        FirstState((np.array([None], kind),))
