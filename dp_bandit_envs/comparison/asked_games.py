"""Reads the games of a comparison: ids, files of gains, adversaries of your own, each in several sizes."""

import dataclasses
import importlib
import inspect
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.envs.registration import GAMES, IDS, foreign_games, register_adversary
from dp_bandit_envs.errors import LedgerError, WrongTypeError
from dp_bandit_envs.runs.experiment import GameSpec
from dp_bandit_envs.written_arguments import in_brackets, read_arguments

FILE_ENDINGS = (".npy", ".csv", ".csv.gz")
SHOWN = 12
"""The most numbers of a list that a title shows."""
PLAIN = (bool, int, float, str)
Environments = str | type[Adversary] | tuple[str, Mapping[str, Any]]


def game_of(environment: Any, persons: str | None = None, ledger: Any = None) -> GameSpec:
    """Return one game.

    Args:
        environment: An id, with or without `DPBandit-` and `-v0`, and with arguments after a colon if wanted:
            `Graph:graph=cycle,n_arms=10` or `Stochastic:means=[.9,.6]`; or the id of a registered adversary behind its
            module's name, `mine:DPBandit-Drifting-v0`; or a class that inherits `Adversary`, itself or as
            `mine:Drifting`; or a file of gains; or a pair of an id and a mapping of arguments.
        persons: For a file of gains: the most records of a person, or the name of the column that says whose they are.
        ledger: For a file of gains: the `Ledger` that counts its games.

    Raises:
        UnknownNameError: If there is no such environment; the message suggests near names.
        ValueError: If the text is none of these.
        WrongTypeError: If it is of another type.
    """
    if isinstance(environment, type) and issubclass(environment, Adversary):
        return _game(_registered(environment), {})
    if isinstance(environment, tuple) and len(environment) == 2 and isinstance(environment[1], Mapping):
        if not all(isinstance(name, str) for name in environment[1]):
            raise WrongTypeError(f"arguments must have names; received {list(environment[1])}. Use {{'n_arms': 3}}.")
        return _game(_known(environment[0]), {name: _table(value) for name, value in environment[1].items()})
    if not isinstance(environment, str):
        raise WrongTypeError(
            "an environment must be an id such as 'Stochastic', a pair of an id and its arguments, a class that"
            f" inherits Adversary, or a file of gains; received a {type(environment).__name__}."
        )
    if environment.endswith(FILE_ENDINGS):
        return dataclasses.replace(_file(environment, persons), ledger=ledger)
    if ledger is not None:
        raise LedgerError(f"a ledger is for a file of gains, such as my.csv; received the environment {environment!r}.")
    if persons is not None:
        raise ValueError(f"persons is for a file of gains, such as my.csv; received the environment {environment!r}.")
    module, id_ = _with_module(environment)
    written, colon, rest = id_.partition(":")
    if written and colon and not rest:
        raise ValueError(f"arguments must follow a colon, as in Graph:graph=cycle; received {environment!r}.")
    # With the module's name, so that other processes import it too.
    arguments = {name: _table(value) for name, value in read_arguments(rest, written).items()}
    return _game(_known(written), arguments, module)


def sized(
    game: GameSpec, *, n_arms: Sequence[int | None], horizons: Sequence[int | None], own_horizon: bool
) -> list[GameSpec]:
    """Return a game in each of several sizes, titled and named by what differs.

    Args:
        game: The game.
        n_arms: Numbers of arms; None for its own.
        horizons: Numbers of rounds; None for its own.
        own_horizon: Whether the horizon is an argument of each game rather than of the experiment.
    """
    made = []
    for k in n_arms:
        for t in horizons:
            extra: dict[str, Any] = {} if k is None else {"n_arms": k}
            if k is not None and "n_arms" in game.env_kwargs:
                raise ValueError(f"n_arms must be given once; received {k} and {game.title}.")
            if k is not None and not _takes_arms(game):
                raise ValueError(
                    f"n_arms must be left out for {game.title}, which has a number of arms of its own; received {k}."
                )
            if t is not None and "horizon" in game.env_kwargs:
                raise ValueError(f"horizon must be given once; received {t} and {game.title}.")
            if t is not None and own_horizon:
                extra["horizon"] = t
            shown = ([] if len(n_arms) == 1 else [f"K = {k}"]) + ([] if len(horizons) == 1 else [f"T = {t:,}"])
            title = ", ".join([game.title, *shown])
            key = "-".join([game.key, *(f"{name}={value}" for name, value in extra.items())])
            more: dict[str, Any] = {"env_kwargs": {**game.env_kwargs, **extra}, "environment": game.title}
            made.append(dataclasses.replace(game, key=key, title=title, **more))
    return made


def short_name(name: str) -> str:
    """Return an id without the prefix and the version that all ids share."""
    return name.removeprefix("DPBandit-").removesuffix("-v0")


def readable(text: str) -> str:
    """Return command-line text that can be written to a file: bytes unknown to the locale are decoded as UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def loaded(module: str) -> Any:
    """Import a module by its name, which may be one in the working directory.

    Raises:
        ValueError: If Python finds no such module, or it cannot be imported.
    """
    if module.endswith(".py"):
        raise ValueError(f"a module is named without its ending; received {module!r}. Write {module[:-3]}:Name.")
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        way_out = (
            f"Type the command in the folder of {module}.py, or put that folder into PYTHONPATH."
            if error.name == module.split(".")[0]
            else f"The module {module} imports it; install it."
        )
        raise ValueError(f"module must be one that Python finds; {error}. {way_out}") from None
    except Exception as error:
        raise ValueError(
            f"module must be one that Python can import; {module} raises {type(error).__name__}: {error}. Correct it"
            " first."
        ) from error


def _takes_arms(game: GameSpec) -> bool:
    """Whether a game takes a number of arms."""
    known = GAMES.get(game.env_id.rpartition(":")[2])
    adversary = None if known is None else known.adversary_class
    made_of: Any = adversary if adversary is not None else None if known is None else known.env_class
    return made_of is None or "n_arms" in inspect.signature(made_of).parameters


def _game(id_: str, arguments: dict[str, Any], module: str = "") -> GameSpec:
    title = short_name(id_) + in_brackets({name: _shown(value) for name, value in arguments.items()})
    key = re.sub(r"[^\w.=-]+", "-", title.lower()).strip("-")
    return GameSpec(key[:80], title, f"{module}:{id_}" if module else id_, arguments)


def _table(value: Any) -> Any:
    """Return a value, with tables of any kind as arrays, which are never written out: they may be private gains."""
    nested = isinstance(value, (list, tuple)) and not all(one is None or isinstance(one, PLAIN) for one in value)
    if nested or (hasattr(value, "__array__") and not isinstance(value, np.generic)):
        try:
            table = np.asarray(value)
        except ValueError:
            return value
        return value if table.dtype == object else table
    return value


def _shown(value: Any) -> Any:
    """Return a value as a title shows it: short ones as they are, others by their kind only."""
    if isinstance(value, np.ndarray):
        return f"array of {' x '.join(map(str, value.shape))}"
    few = isinstance(value, (list, tuple)) and len(value) <= SHOWN
    if value is None or isinstance(value, PLAIN) or (few and all(isinstance(one, PLAIN) for one in value)):
        return value
    return getattr(value, "__name__", type(value).__name__)


def _known(written: str) -> str:
    if written in IDS:
        return written
    short = {short_name(id_): id_ for id_ in IDS}
    return short[checks.known_name("environment", str(written).removeprefix("DPBandit-"), short)]


def _with_module(environment: str) -> tuple[str, str]:
    """Import the module before an id or the name of a class; return it, or "", and the id with its arguments."""
    with_id = re.fullmatch(r"([\w.]+):(DPBandit-.+)", environment)
    if with_id:
        loaded(with_id[1])
        return with_id[1], with_id[2]
    short = {short_name(id_) for id_ in IDS}
    with_name = re.fullmatch(r"([\w.]+):(\w+)(:.*)?", environment)
    if with_name is None or with_name[1] in short or with_name[1] in IDS:
        return "", environment
    module, name = with_name[1], with_name[2]
    found = getattr(loaded(module), name, None)
    if not (isinstance(found, type) and issubclass(found, Adversary)):
        raise ValueError(
            f"environment must be an id; received {environment!r}. Write {module}:DPBandit-{name}-v0 for one that the"
            f" module {module} registers, or {module}:Name for a class in it that inherits Adversary."
        )
    return "", _registered(found) + (with_name[3] or "")


def _registered(adversary: type[Adversary]) -> str:
    """Return the id of an adversary's class, which is registered under its own name if it is not yet."""
    known = [game.id for game in foreign_games() if game.adversary is adversary]
    return known[0] if known else register_adversary(adversary.__name__, adversary)


def _file(path: str, persons: str | None) -> GameSpec:
    name = readable(Path(path).name)
    gains: dict[str, Any] = {"gains": path}
    if persons is not None:
        gains["persons"] = int(persons) if persons.isascii() and persons.isdecimal() else persons
    return GameSpec(_file_name(name.split(".")[0]), name, "DPBandit-Replay-v0", gains)


def _file_name(text: str) -> str:
    """Return a valid file name: without accents if the file system supports ASCII only."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii") or "gains"
    return text
