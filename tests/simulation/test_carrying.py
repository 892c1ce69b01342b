"""A process unpacks what it is sent once, however many tasks it plays of it, and keeps only so much."""

import pickle
from collections import OrderedDict

import pytest

from dp_bandit_envs.simulation import carrying
from dp_bandit_envs.simulation.carrying import Carried


class Counting:
    """Work that counts how often it is unpacked."""

    unpacked = 0

    def __init__(self, number):
        self.number = number

    def __setstate__(self, state):
        Counting.unpacked += 1
        self.__dict__.update(state)

    def run_all(self, trials, stopped):
        """Return number and trial of each."""
        return [{"number": self.number, "trial": trial} for trial in trials]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(carrying, "_kept", OrderedDict())
    monkeypatch.setattr(Counting, "unpacked", 0)


def play(number):
    """Play two trials of work that arrives pickled, as in a worker."""
    return pickle.loads(pickle.dumps(Carried.of(Counting(number)))).play(range(4, 6)).columns


def test_equal_work_is_unpacked_once():
    for _ in range(3):
        assert play(7) == [{"number": 7, "trial": 4}, {"number": 7, "trial": 5}]
    assert Counting.unpacked == 1


def test_other_work_is_other_work():
    assert [play(number)[0]["number"] for number in (1, 2, 1)] == [1, 2, 1]
    assert Counting.unpacked == 2


def test_only_the_last_used_is_kept(monkeypatch):
    monkeypatch.setattr(carrying, "MOST_KEPT", 2)
    for number in (1, 2, 1, 3):
        play(number)
    assert (len(carrying._kept), Counting.unpacked) == (2, 3)
    play(1)
    assert Counting.unpacked == 3
    play(2)
    assert Counting.unpacked == 4
