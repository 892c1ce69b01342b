"""Tasks are cut by measured speed, every trial is in one of them, and the last ones are small."""

import pytest

from dp_bandit_envs.simulation.cutting import Cutter
from dp_bandit_envs.simulation.tasks import Played, Task


class Work:
    """Stands for work that is never played."""

    def __init__(self, at_once=1):
        self.at_once = at_once


def cut(tasks, seconds_a_trial, seconds=2.0, width=4):
    """Cut all tasks, each played before the next one is cut; return what is cut."""
    cutter, found = Cutter(tasks, seconds, sum(len(task.trials) for task in tasks), lambda: width), []
    for task in cutter:
        found.append(task)
        number = len(task.trials)
        results = list(cutter.results(task, Played(number * seconds_a_trial(task), [{}] * number)))
        assert results == [(task.owner, trial, {}) for trial in task.trials]
    return found


def test_every_trial_is_played_once_and_with_its_owner():
    work = Work()
    tasks = [Task(work, range(3, 40), "id", "a"), Task(work, range(9), None, "b"), Task(Work(), range(5), None, "c")]
    found = cut(tasks, lambda task: 0.1)
    for task in tasks:
        trials = [trial for piece in found if piece.owner == task.owner for trial in piece.trials]
        assert trials == list(task.trials)
        assert {(piece.work, piece.env_id) for piece in found if piece.owner == task.owner} == {
            (task.work, task.env_id)
        }


def test_sizes_follow_the_speed():
    """2 s of 0.25 s each are 8 trials; with 4 wanted at a time, the last 32 are divided by 4: 8, 6, 4, 3, ..."""
    sizes = [len(task.trials) for task in cut([Task(Work(), range(1001))], lambda task: 0.25)]
    assert sizes[0] == 1
    assert sizes[1:122] == [8] * 121
    assert sizes[122:] == [8, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    assert sum(sizes) == 1001


def test_slow_trials_go_one_by_one():
    assert [len(task.trials) for task in cut([Task(Work(), range(30))], lambda task: 3.0)] == [1] * 30


def test_each_work_has_a_speed_of_its_own():
    slow, fast = Work(), Work()
    tasks = [Task(slow, range(50)), Task(fast, range(5000)), Task(slow, range(50)), Task(fast, range(5000))]
    found = cut(tasks, lambda task: 2.0 if task.work is slow else 0.002)
    assert {len(task.trials) for task in found if task.work is slow} == {1}
    assert max(len(task.trials) for task in found if task.work is fast) == 1000


def test_loading_in_the_first_trial_does_not_count_for_long():
    calls = []
    found = cut([Task(Work(), range(1000))], lambda task: 0.01 if calls.append(task) or len(calls) > 1 else 5.0)
    assert [len(task.trials) for task in found[:4]] == [1, 1, 200, 199]


@pytest.mark.parametrize(("seconds_each", "usual"), [(3.0, 16), (0.1, 16), (0.05, 32), (0.01, 192), (0.001, 256)])
def test_trials_that_are_played_side_by_side_stay_together(seconds_each, usual):
    """Pieces are multiples of 16 up to the last: 2 s are 20 trials of 0.1 s, or 40 of 0.05 s, or 200 of 0.01 s.

    Of 1,030 trials, a fourth of those that are left is 254 and less, which limits the size of the fastest.
    """
    sizes = [len(task.trials) for task in cut([Task(Work(16), range(1030))], lambda task: seconds_each)]
    assert sizes[:2] == [16, usual]
    assert {size % 16 for size in sizes[:-1]} == {0} and sizes[-1] == 6
    assert sum(sizes) == 1030


def test_less_than_one_block_is_one_piece():
    assert [len(task.trials) for task in cut([Task(Work(16), range(7))], lambda task: 0.5)] == [7]


def test_one_of_each_is_tried_before_any_is_measured():
    cutter = Cutter([Task(Work(), range(100))], 2.0, 100, lambda: 4)
    assert [len(next(cutter).trials) for _ in range(5)] == [1] * 5


@pytest.mark.parametrize("seconds", [0.0, 1e-12])
def test_a_clock_that_does_not_move_divides_nothing_by_zero(seconds):
    assert sum(len(task.trials) for task in cut([Task(Work(), range(50))], lambda task: seconds)) == 50
