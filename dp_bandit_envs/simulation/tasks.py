"""A task: what is played, for a range of trials; threads, processes and clusters all play tasks."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from dp_bandit_envs.compiling.compiled import Stopped, never
from dp_bandit_envs.privacy.announced import Announced, Paid, announced
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray, IntArray


class Column(NamedTuple):
    """The results of one game at the checkpoints, each of shape `(checkpoints,)`, and `pulls` of `(n_arms,)`."""

    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray


class StoppedEarlyError(Exception):
    """Raised by a trial that was cancelled."""


class Work(Protocol):
    """What is played in a trial; can run in any thread or process.

    Attributes:
        at_once: How many trials it plays at a time: as many take hardly longer than one.
    """

    at_once: int

    def compile(self, stopped: Stopped) -> None:
        """Do the slow one-time work; end early after `stopped` returns True."""

    def run_all(self, trials: range, stopped: Stopped = never) -> list[dict[str, Column]]:
        """Play these trials; raise `StoppedEarlyError` soon after `stopped` returns True."""


class Terms(NamedTuple):
    """On which terms trials begin; see `dp_bandit_envs.privacy.announced`.

    Attributes:
        secret: Whether nobody knows the seed.
        guarantees: The guarantee of each algorithm, if the data have a ledger.
        paid_by: The id of the ledger that has counted all trials before, if one has, and for which data.
    """

    secret: bool = False
    guarantees: tuple[PrivacyGuarantee, ...] = ()
    paid_by: Paid | None = None

    def of_trial(self) -> AbstractContextManager[Announced]:
        """Announce what the games of one trial are played under, all of them together."""
        games = [[guarantee] for guarantee in self.guarantees]
        return announced(games, secret=self.secret, paid_by=self.paid_by)

    def of_game(self) -> AbstractContextManager[Announced]:
        """Announce one game of one trial, whose guarantee `play` knows."""
        return announced((), secret=self.secret, paid_by=self.paid_by)


class Task(NamedTuple):
    """What is played, for a range of trials.

    Attributes:
        work: What is played.
        trials: The numbers of the trials.
        env_id: The id that is played, if any; other processes must register it.
        owner: Returned with each result.
    """

    work: Work
    trials: range
    env_id: str | None = None
    owner: Any = None


class Played(NamedTuple):
    """The results of a task, one for each trial, and the seconds that it took."""

    seconds: float
    columns: list[dict[str, Column]]


Result = tuple[Any, int, dict[str, Column]]
"""A task's owner, the number of a trial, and its results by algorithm."""


def play_all(work: Work, trials: range, stopped: Stopped = never) -> Played:
    """Play all trials of a task; raise `StoppedEarlyError` soon after `stopped` returns True."""
    start = time.perf_counter()
    columns = work.run_all(trials, stopped)
    return Played(time.perf_counter() - start, columns)


def once_for_each_work(make: Callable[[Task], Any]) -> Callable[[Task], Any]:
    """Return a function that calls `make` for the first task of each work, and returns its result for the others."""
    made: dict[int, tuple[Work, Any]] = {}

    def get(task: Task) -> Any:
        if id(task.work) not in made:
            made[id(task.work)] = (task.work, make(task))
        return made[id(task.work)][1]

    return get
