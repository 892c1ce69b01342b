"""Sends work, and the games that a user has registered, to other processes, which keep it for later tasks."""

import contextlib
import functools
import io
import os
import pickle
import secrets
import sys
import threading
from collections.abc import Iterator
from types import CodeType
from typing import Any, ClassVar, NamedTuple

from dp_bandit_envs.envs.registration import RegisteredGame, foreign_games, register_here
from dp_bandit_envs.errors import ClusterError, NotSendableError
from dp_bandit_envs.simulation.provenance import installed_code, is_users, made_by, unlike_here
from dp_bandit_envs.simulation.results import Engine, TaskResults, run_task

WAY_OUT = (
    "Use jobs=1, or threads: joblib.parallel_config(backend='threading'); or put it into a package that is installed"
    " where the workers are."
)
_mark = secrets.token_hex(8)
_busy = threading.RLock()


class PickledWork(NamedTuple):
    """Pickled work, with the games registered in the process that pickled it.

    User-defined code is pickled by value, in its current state: a long-lived worker may have imported an older version
    of a file, or may not find it. It is pickled here so that a worker that cannot unpickle it raises an error with a
    message; with joblib's own pickling the worker would die.

    Attributes:
        work: The pickled work; installed packages are referenced by name only.
        games: Name and pickled adversary class of each game that can be pickled.
        maker: The process that pickled it. If that process unpickles it, it uses its own classes.
        code: The code and the versions that the worker must share, by name.
    """

    work: bytes
    games: tuple[tuple[str, bytes], ...]
    maker: str = ""
    code: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:  # dask writes it into its logs, and the seed is in the work
        return f"PickledWork({len(self.work)} bytes)"

    @classmethod
    def of(cls, work: Engine, env_id: str | None = None, *, elsewhere: bool = False) -> "PickledWork":
        """Pack work; raise `NotSendableError` if it, or the game of this id, cannot be pickled.

        Args:
            work: The work.
            env_id: The id of the game, if any.
            elsewhere: Whether other machines may play it, which must then have the same code.
        """
        code = {**made_by(), **installed_code(work)} if elsewhere else {}
        games = []
        for game in foreign_games():
            with contextlib.suppress(*([] if game.id == env_id else [NotSendableError])):
                games.append((game.name, _packed(game.adversary, f"the adversary of {game.id}")))
        return cls(_packed(work, "the environment and its players"), tuple(games), _this_process(), tuple(code.items()))

    def play(self, trials: range) -> TaskResults:
        """Register the games, unpickle the work once per process, and play trials.

        Raises:
            ClusterError: If the code here differs.
            NotSendableError: If an import fails here; the message names the reason.
            RuntimeError: With type and text of an error of the work that cannot be sent back.
        """
        with _busy:
            work, games, missing = _unpacked(self)
            # Other work may have registered older or newer ones by the same names.
            _register(games)
        try:
            return run_task(work, trials)
        except Exception as error:
            # Name the failed import instead of "unknown id", which would not help the user.
            if missing is not None and type(error).__module__ == "gymnasium.error":
                raise missing from None
            if _may_return(error):
                raise
            # Or a process would end with words about pickling, and nobody would see this.
            raise RuntimeError(f"{type(error).__name__}: {error}") from error


def _may_return(error: Exception) -> bool:
    """Return whether an error can be unpickled: some classes take other arguments than they store."""
    from cloudpickle import cloudpickle

    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return False
    return True


@functools.lru_cache(maxsize=16)  # more than is ever played at a time; what is kept is not compiled again either
def _unpacked(pickled: PickledWork) -> tuple[Engine, dict[str, Any], NotSendableError | None]:
    from cloudpickle import cloudpickle

    if pickled.code and (unlike := unlike_here(dict(pickled.code))):
        raise ClusterError(
            f"workers must have the same code as the process that sends them work; one has {', '.join(unlike)}."
            " Install the same versions there, and restart the workers."
        )
    if pickled.maker != _this_process():
        # Or it would change the classes of what it unpickled before, which it knows by ids, to those of now.
        cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID.clear()
    games, missing = {}, None
    for name, adversary in pickled.games:
        try:
            games[name] = _loaded(adversary, f"the adversary of {RegisteredGame(name).id}")
        except NotSendableError as error:
            missing = error
    _register(games)
    return _loaded(pickled.work, "the environment and its players"), games, missing


def _register(games: dict[str, Any]) -> None:
    for name, adversary in games.items():
        register_here(name, adversary)


def _this_process() -> str:
    """Return an identifier of this process that differs from all others and its forks."""
    return f"{_mark} {os.getpid()}"


@contextlib.contextmanager
def _own_files_by_value() -> Iterator[None]:
    """Let cloudpickle send the contents of users' modules, not their names."""
    from cloudpickle import list_registry_pickle_by_value, register_pickle_by_value, unregister_pickle_by_value

    registered = list_registry_pickle_by_value()
    modules = [module for name, module in list(sys.modules.items()) if name not in registered and _is_own(name, module)]
    try:
        for module in modules:
            register_pickle_by_value(module)
        yield
    finally:
        for name in list_registry_pickle_by_value() - registered:
            unregister_pickle_by_value(sys.modules[name])


def _is_own(name: str, module: Any) -> bool:
    file = str(getattr(module, "__file__", None))
    return file.endswith(".py") and is_users(name) and name == vars(module)["__name__"]


def _with_places(content: Any) -> bytes:
    """Pickle by cloudpickle, keeping the files of code: 3.1.3 drops them, and errors could not name a line."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        dispatch_table: ClassVar = cloudpickle.Pickler.dispatch_table.new_child({CodeType: _reduced})

    Pickler(packed := io.BytesIO(), protocol=pickle.HIGHEST_PROTOCOL).dump(content)
    return packed.getvalue()


def _reduced(code: CodeType) -> Any:
    import cloudpickle

    _, parts = cloudpickle.Pickler.dispatch_table[CodeType](code)
    return _code_from, ("".join(code.co_filename), *parts)


def _code_from(file: str, *parts: Any) -> CodeType:
    return CodeType(*parts).replace(co_filename=file)


def _packed(content: Any, name: str) -> bytes:
    try:
        with _busy, _own_files_by_value():
            return _with_places(content)
    except Exception as error:
        raise NotSendableError(
            f"{name} must be picklable to be played in other processes; it is not"
            f" ({type(error).__name__}: {error}). {WAY_OUT}"
        ) from None


def _loaded(packed: bytes, name: str) -> Any:
    try:
        return pickle.loads(packed)
    except Exception as error:
        raise NotSendableError(
            f"{name} must be importable in other processes to be played there; it is not"
            f" ({type(error).__name__}: {error}). {WAY_OUT}"
        ) from None
