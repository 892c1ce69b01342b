"""A process unpacks what it is sent once, however many tasks it plays of it, and keeps only so much."""

import functools
import pickle

import pytest

from dp_bandit_envs.simulation import sending
from dp_bandit_envs.simulation.sending import Carried


class Numbered:
    """Work that returns its number."""

    def __init__(self, number):
        self.number = number

    def run_all(self, trials, stopped):
        """Return its number and the trials."""
        return {"number": self.number, "trials": trials}


@pytest.fixture(autouse=True)
def unpacked(monkeypatch):
    """What has been unpacked since the test began, in a process that has kept nothing, and keeps two."""
    made, unpack = [], sending._unpacked.__wrapped__

    def noted(carried):
        found = unpack(carried)
        made.append(found[0].number)
        return found

    monkeypatch.setattr(sending, "_unpacked", functools.lru_cache(maxsize=2)(noted))
    return made


def play(number):
    """Play two trials of work that arrives pickled, as in a worker."""
    return pickle.loads(pickle.dumps(Carried.of(Numbered(number)))).play(range(4, 6)).columns


def test_equal_work_is_unpacked_once(unpacked):
    for _ in range(3):
        assert play(7) == {"number": 7, "trials": range(4, 6)}
    assert unpacked == [7]


def test_other_work_is_other_work(unpacked):
    assert [play(number)["number"] for number in (1, 2, 1)] == [1, 2, 1]
    assert unpacked == [1, 2]


def test_only_the_last_used_is_kept(unpacked):
    for number in (1, 2, 1, 3):
        play(number)
    assert unpacked == [1, 2, 3]
    play(1)
    assert unpacked == [1, 2, 3]
    play(2)
    assert unpacked == [1, 2, 3, 2]


def test_a_log_does_not_show_the_work():
    """Dask writes what a task was given into its logs when it fails; the seed of all noise is in it."""
    shown = repr(Carried.of(Numbered(123456)))
    assert "bytes" in shown and "123456" not in shown and "Numbered" not in shown
