"""Sends trials, and the games that a user has registered, to other processes."""

import dataclasses
from typing import TYPE_CHECKING, Any

import cloudpickle

from dp_bandit_envs.envs.registration import Game, foreign_games, register_here
from dp_bandit_envs.errors import NotSendableError

if TYPE_CHECKING:
    from dp_bandit_envs.simulation.spreading import Column, Task

WAY_OUT = (
    "Put it at the top level of a module that the workers can import, or use jobs=1, or threads:"
    " joblib.parallel_config(backend='threading')."
)


@dataclasses.dataclass(frozen=True)
class Carried:
    """A pickled task, with the games registered in the process that pickled it.

    It is pickled here so that a worker that cannot unpickle it raises an error with a message; with joblib's own
    pickling the worker would die.

    Attributes:
        task: The pickled task.
        games: Name and pickled adversary class of each game; instead of a class that cannot be pickled, the error.
    """

    task: bytes
    games: tuple[tuple[str, bytes], ...]

    @classmethod
    def of(cls, task: "Task", env_id: str | None = None) -> "Carried":
        """Pack a task.

        Args:
            task: The task.
            env_id: The id that it plays; games with other ids are omitted if they cannot be pickled.

        Raises:
            NotSendableError: If the task, or the game of this id, cannot be pickled; the message names the reason.
        """
        games = []
        for game in foreign_games():
            try:
                games.append((game.name, _packed(game.adversary, f"the adversary of {game.id}")))
            except NotSendableError:
                if game.id == env_id:
                    raise
        return cls(_packed(task, "the environment and its players"), tuple(games))

    def run(self, trial: int) -> "dict[str, Column]":
        """Register the games, unpack the task and play one trial.

        Raises:
            NotSendableError: If something cannot be imported here; the message names the reason.
        """
        reason = None
        for name, adversary in self.games:
            try:
                register_here(name, _unpacked(adversary, f"the adversary of {Game(name).id}"))
            except NotSendableError as error:
                reason = error
        task: Task = _unpacked(self.task, "the environment and its players")
        try:
            return task.run(trial)
        except Exception as error:
            # Name the failed import instead of "unknown id", which would not help the user.
            if reason is not None and type(error).__module__ == "gymnasium.error":
                raise reason from None
            raise


def _packed(part: Any, name: str) -> bytes:
    try:
        packed: bytes = cloudpickle.dumps(part)
    except Exception as error:
        raise NotSendableError(
            f"{name} must be picklable to be played in other processes; it is not"
            f" ({type(error).__name__}: {error}). {WAY_OUT}"
        ) from None
    return packed


def _unpacked(packed: bytes, name: str) -> Any:
    try:
        return cloudpickle.loads(packed)
    except Exception as error:
        raise NotSendableError(
            f"{name} must be importable in other processes to be played there; it is not"
            f" ({type(error).__name__}: {error}). {WAY_OUT}"
        ) from None
