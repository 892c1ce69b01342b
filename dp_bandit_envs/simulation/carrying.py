"""Sends what is played, and the games that a user has registered, to other processes, which keep it for later tasks."""

import contextlib
import dataclasses
import functools
import hashlib
import pickle
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from dp_bandit_envs.envs.registration import Game, foreign_games, register_here
from dp_bandit_envs.errors import NotSendableError
from dp_bandit_envs.simulation.code_digest import is_users
from dp_bandit_envs.simulation.outcomes import Played, Work, play_all
from dp_bandit_envs.simulation.unpickling import Apart, this_process

WAY_OUT = (
    "Put it at the top level of a module that the workers can import, or use jobs=1, or threads:"
    " joblib.parallel_config(backend='threading')."
)
BY_NAME = b"dp_bandit_envs.simulation.by_name"
"""Is in a pickle with names, which is not kept: a module that is loaded again changes what was made of it before."""
MOST_KEPT = 16
"""How much work a process keeps unpacked: more than is ever played at a time."""


@dataclasses.dataclass(frozen=True)
class Carried:
    """Pickled work, with the games registered in the process that pickled it.

    What a user's own files define is in it as it is in this process now: a worker that lives on may have imported an
    older state of a file, or been started where it could not find it. It is pickled here so that a worker that cannot
    unpickle it raises an error with a message; with joblib's own pickling the worker would die.

    Attributes:
        work: The pickled work. What is installed is in it by name only.
        games: Name and pickled adversary class of each game; instead of a class that cannot be pickled, the error.
        maker: The process that pickled it. Where that unpickles it, too, classes are those that it has.
    """

    work: bytes
    games: tuple[tuple[str, bytes], ...]
    maker: str = dataclasses.field(default_factory=this_process)

    @classmethod
    def of(cls, work: Work, env_id: str | None = None) -> "Carried":
        """Pack work.

        Args:
            work: The work.
            env_id: The id that it plays; games with other ids are omitted if they cannot be pickled.

        Raises:
            NotSendableError: If the work, or the game of this id, cannot be pickled; the message names the reason.
        """
        games = []
        for game in foreign_games():
            try:
                games.append((game.name, _packed(game.adversary, f"the adversary of {game.id}")))
            except NotSendableError:
                if game.id == env_id:
                    raise
        return cls(_packed(work, "the environment and its players"), tuple(games))

    @functools.cached_property
    def fingerprint(self) -> str:
        """The same for equal content, in all processes."""
        return hashlib.sha256(repr((self.work, self.games)).encode()).hexdigest()

    def play(self, trials: range) -> Played:
        """Register the games, unpack the work unless this process has done so before, and play trials.

        Raises:
            NotSendableError: If something cannot be imported here; the message names the reason.
        """
        unpacked = _unpacked_once(self)
        try:
            return play_all(unpacked.work, trials)
        except Exception as error:
            # Name the failed import instead of "unknown id", which would not help the user.
            if unpacked.missing is not None and type(error).__module__ == "gymnasium.error":
                raise unpacked.missing from None
            raise


class _Unpacked:
    """Work as this process keeps it, with the games that it needs."""

    def __init__(self, carried: Carried) -> None:
        self.missing: NotSendableError | None = None
        self._games: list[tuple[str, Any]] = []
        for name, adversary in carried.games:
            try:
                self._games.append((name, _unpacked(carried, adversary, f"the adversary of {Game(name).id}")))
            except NotSendableError as error:
                self.missing = error
        self.register_games()
        self.work: Work = _unpacked(carried, carried.work, "the environment and its players")

    def register_games(self) -> None:
        """Register the games; other work may have registered older or newer ones by the same names."""
        for name, adversary in self._games:
            register_here(name, adversary)


_kept: OrderedDict[str, _Unpacked] = OrderedDict()
"""By fingerprint, the last used last. What is kept is not compiled again either."""
_unpacking = threading.Lock()


def _unpacked_once(carried: Carried) -> _Unpacked:
    with _unpacking:
        unpacked = _kept.pop(carried.fingerprint, None)
        if unpacked is None:
            unpacked = _Unpacked(carried)
        else:
            unpacked.register_games()
        if BY_NAME not in carried.work + b"".join(packed for _, packed in carried.games):
            _kept[carried.fingerprint] = unpacked
        if len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
        return unpacked


_packing = threading.Lock()


@contextlib.contextmanager
def _own_files_by_value() -> Iterator[None]:
    """Let cloudpickle send what the user's own modules define, not their names."""
    from cloudpickle import list_registry_pickle_by_value, register_pickle_by_value, unregister_pickle_by_value

    with _packing:
        known = list_registry_pickle_by_value()
        own = [module for name, module in list(sys.modules.items()) if name not in known and _is_own(name, module)]
        try:
            for module in own:
                register_pickle_by_value(module)
            yield
        finally:
            for name in list_registry_pickle_by_value() - known:
                unregister_pickle_by_value(sys.modules[name])


def _is_own(name: str, module: Any) -> bool:
    file = str(getattr(module, "__file__", None))
    return file.endswith(".py") and is_users(name) and name == vars(module)["__name__"]


def _packed(part: Any, name: str) -> bytes:
    import cloudpickle

    # A file of the user's may hold what cannot be pickled; a worker can still import it by name.
    with contextlib.suppress(Exception), _own_files_by_value():
        packed: bytes = cloudpickle.dumps(part)
        return packed
    try:
        from dp_bandit_envs.simulation.by_name import dumps_by_name

        packed = dumps_by_name(part)
    except Exception as error:
        raise NotSendableError(
            f"{name} must be picklable to be played in other processes; it is not"
            f" ({type(error).__name__}: {error}). {WAY_OUT}"
        ) from None
    return packed


def _unpacked(carried: Carried, packed: bytes, name: str) -> Any:
    try:
        if carried.maker == this_process():
            return pickle.loads(packed)
        return Apart(packed, carried.fingerprint).load()
    except NotSendableError:
        raise
    except Exception as error:
        raise NotSendableError(
            f"{name} must be importable in other processes to be played there; it is not"
            f" ({type(error).__name__}: {error}). {WAY_OUT}"
        ) from None
