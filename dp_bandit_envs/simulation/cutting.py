"""Cuts tasks into smaller ones by measured speed, so that each takes about as long and all workers end together."""

from collections.abc import Callable, Iterable, Iterator

from dp_bandit_envs.simulation.tasks import Played, Result, Task


class Cutter(Iterator[Task]):
    """Yields tasks of about `seconds` each; of one trial while nothing of the same work has been measured.

    Args:
        tasks: Tasks of any size; each is taken when all before it have been cut.
        seconds: The seconds that a task should take.
        left: The number of trials in all tasks together.
        width: Returns the number of tasks that are wanted at a time. When few trials are left, they are divided
            among as many.
    """

    def __init__(self, tasks: Iterable[Task], seconds: float, left: int, width: Callable[[], int]) -> None:
        self._tasks = iter(tasks)
        self._seconds, self._left, self._width = seconds, left, width
        self._fastest: dict[int, float] = {}
        self._rest: Task | None = None

    def __next__(self) -> Task:
        task = self._rest or next(self._tasks)
        # The fastest measured, because the first trials in a worker include loading machine code. (Should an id be
        # used again, a wrong size is all that follows.)
        each = self._fastest.get(id(task.work))
        size = 1 if each is None else int(min(self._seconds / each, self._left / self._width()))
        at_once = task.work.at_once
        size = min(max(1, round(size / at_once)) * at_once, len(task.trials))
        self._left -= size
        self._rest = task._replace(trials=task.trials[size:]) if size < len(task.trials) else None
        return task._replace(trials=task.trials[:size])

    def results(self, task: Task, played: Played) -> Iterator[Result]:
        """Yield the results of each trial of a task that was played, and learn how fast it was."""
        each = max(played.seconds, 1e-9) / len(task.trials)
        self._fastest[id(task.work)] = min(each, self._fastest.get(id(task.work), each))
        for trial, columns in zip(task.trials, played.columns, strict=True):
            yield task.owner, trial, columns
