"""Every way to name games, algorithms and epsilons, turned into what is played; the words are the same at all doors."""

import dataclasses
import functools
import importlib
import inspect
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, calibrated_in, make_algorithm
from dp_bandit_envs.algorithms.calibration import calibrated_parameters
from dp_bandit_envs.compiling.functions import is_ours
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import GAMES, IDS, foreign_games, register_adversary
from dp_bandit_envs.errors import LedgerError, UnreachableGuaranteeError, WrongTypeError
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec
from dp_bandit_envs.seeding import Seed, chosen_seed
from dp_bandit_envs.simulation.simulation import SPACINGS
from dp_bandit_envs.text import in_brackets, read_arguments, read_call

FILE_ENDINGS = (".npy", ".csv", ".csv.gz")
MOST_TRIALS = 10_000_000
"""The most games of one algorithm; a gigabyte of results for each of its measures is a tenth of that."""
SHOWN = 12
"""The most numbers of a list that a title shows."""
PLAIN = (bool, int, float, str)
FIXED_BY = {"EXP3-tau": "batch_size"}
"""The parameter that fixes the privacy of an algorithm in place of epsilon and delta."""
WANTED = (
    "an algorithm must be a name, an Algorithm, an agent's class, or a function that returns an Algorithm; received {}."
)
Environments = str | type[Adversary] | tuple[str, Mapping[str, Any]]


class AskedPrivacy(NamedTuple):
    """The privacy that is asked for.

    Attributes:
        epsilons: For all algorithms that take one; none for each algorithm's own.
        delta: For all algorithms that take one, or None for T^-2.
        at_guarantee: Whether each epsilon, with `delta` or else 0, is a guarantee that an algorithm's real one has to
            meet as closely as possible from below.
        rounds: The most rounds of a person, whom that guarantee is for; None if it is for a round.
    """

    epsilons: list[float]
    delta: float | None
    at_guarantee: bool = False
    rounds: int | None = None


class Asked(NamedTuple):
    """An algorithm as it was asked for, before it is known at which epsilons it plays.

    Attributes:
        name: Its name, in the table unless there is a maker.
        parameters: The parameters that were given.
        shown_as: Its name for readers.
        takes: The parameters of the function that makes it, by name.
        maker: Makes it, if it is in no table.
    """

    name: str
    parameters: dict[str, Any]
    shown_as: str
    takes: Mapping[str, inspect.Parameter]
    maker: Callable[..., Algorithm] | None = None

    def label(self, more: Mapping[str, Any]) -> str:
        """Return the name of its results, with more parameters in brackets."""
        if self.shown_as == f"{self.name}{in_brackets(self.parameters)}":
            return f"{self.name}{in_brackets({**self.parameters, **more})}"
        return f"{self.shown_as}{in_brackets(dict(more))}"

    @property
    def takes_epsilon(self) -> bool:
        """Whether an epsilon that is given for all algorithms is for this one."""
        return "epsilon" in self.takes and "epsilon" not in self.parameters and not self._fixed

    @property
    def wants_delta(self) -> bool:
        """Whether it has a delta beside its epsilon."""
        return "delta" in self.takes and ("noise" not in self.takes or self.parameters.get("noise") == "gaussian")

    @property
    def _fixed(self) -> bool:
        return FIXED_BY.get(self.name) in self.parameters

    def at(self, epsilon: float | None, delta: float | None, horizon: Callable[[], int]) -> dict[str, Any]:
        """Return its parameters, with the epsilon if it takes one, and with a delta if it has one.

        The delta is T^-2 unless it is given or the default of somebody else's function.

        Args:
            epsilon: The epsilon for all algorithms, or None.
            delta: The delta for all algorithms, or None.
            horizon: Returns the game's horizon T.
        """
        found = dict(self.parameters)
        # Beside an epsilon that is written with the name, a paper's own delta stands; that of somebody else's always.
        needs_delta = self.wants_delta and self.takes["delta"].default in (None, inspect.Parameter.empty)
        if epsilon is not None and self.takes_epsilon:
            found["epsilon"] = epsilon
            ours = self.maker is None and is_ours(ALGORITHMS[self.name])
            needs_delta = self.wants_delta and (ours or needs_delta)
        else:
            needs_delta = needs_delta and "epsilon" in found
        if delta is not None and self.wants_delta and not self._fixed:
            found.setdefault("delta", delta)
        elif needs_delta:
            rounds = horizon()
            if rounds < 2:
                raise ValueError(f"horizon must be at least 2 for {self.name}, whose delta is T^-2; received {rounds}.")
            found.setdefault("delta", float(rounds) ** -2)
        return found


def question(
    environments: Any,
    algorithms: Any,
    *,
    epsilon: Any = None,
    delta: float | None = None,
    at_guarantee: bool = False,
    rounds_per_person: int | None = None,
    horizon: Any = None,
    n_arms: Any = None,
    trials: int = 100,
    seed: Seed = "auto",
    checkpoints: str = "linear",
    persons: str | None = None,
    ledger: Any = None,
) -> Experiment:
    """Return the experiment that is asked for; the arguments are those of `compare`, and two for a file of gains.

    `persons` is the most records of a person, or the name of the column that says whose they are; `ledger` is the
    `Ledger` that counts the games on the file.
    """
    epsilons = [checks.epsilon(one) for one in several("epsilon", epsilon)]
    horizons = [checks.integer("horizon", one, at_least=1) for one in several("horizon", horizon)]
    sizes = [checks.integer("n_arms", one, at_least=2) for one in several("n_arms", n_arms)]
    if delta is not None:
        delta = 0.0 if at_guarantee and delta == 0 else checks.delta(delta)
    if checks.boolean("at_guarantee", at_guarantee):
        if not epsilons:
            raise ValueError("epsilon must be given with at_guarantee: it is the guarantee that is asked for.")
        if not all(0 < one < math.inf for one in epsilons):
            raise ValueError(f"epsilon must be finite and greater than 0 with at_guarantee; received {epsilons}.")
    if rounds_per_person is not None and not at_guarantee:
        raise ValueError("rounds_per_person is for the guarantee that is asked for with at_guarantee; leave it out.")
    if rounds_per_person is not None:
        rounds_per_person = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    privacy = AskedPrivacy(epsilons, delta, at_guarantee, rounds_per_person)
    own_horizon = len(horizons) > 1
    experiment = Experiment(
        name="compare",
        panels=(),
        contestants=(),
        horizon=horizons[0] if len(horizons) == 1 else None,
        trials=checks.integer("trials", trials, at_least=1, at_most=MOST_TRIALS),
        seed=chosen_seed(seed, is_real=False),
        checkpoints=checks.one_of("checkpoints", checkpoints, SPACINGS),
    )
    size: Any = {"n_arms": sizes or [None], "horizons": horizons or [None], "own_horizon": own_horizon}
    games = [game for one in _listed(environments) for game in sized(game_of(one, persons, ledger), **size)]
    if ledger is not None and len(games) > 1:
        raise LedgerError(
            f"ledger is for one game on one file, so that all of it counts, or nothing; received {len(games)}"
            " games. Play each in a command of its own."
        )
    wanted = _wanted(algorithms)  # after the games, whose modules may register algorithms
    panels = [dataclasses.replace(game, contestants=_players(wanted, privacy, experiment, game)) for game in games]
    _refuse_doubles("environments", [panel.key for panel in panels])
    _refuse_unused(panels, epsilons, None if at_guarantee else delta)
    same = all(panel.contestants == panels[0].contestants for panel in panels)
    shared = panels[0].contestants or ()
    if same:
        panels = [dataclasses.replace(panel, contestants=None) for panel in panels]
    words = [*(panel.key for panel in panels), *(one.label or one.name for one in shared)]
    experiment = dataclasses.replace(
        experiment,
        name=re.sub(r"[^\w.=-]+", "-", "-".join(["run", *words]))[:120],
        panels=tuple(panels),
        contestants=shared if same else (),
    )
    return dataclasses.replace(experiment, seed=chosen_seed(seed, experiment.is_real))


def several(name: str, value: Any) -> list[Any]:
    """Return one number or several as a list; none for None.

    Raises:
        ValueError: If a number is given twice, or none in a list.
    """
    if value is None:
        return []
    if isinstance(value, (Set, Iterator)):
        raise WrongTypeError(f"{name} must be a number or a list; received a {type(value).__name__}. Use list(...).")
    values = list(value) if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) else [value]
    if not values:
        raise ValueError(f"{name} must be a number or several; received none.")
    if (double := _given_twice(values)) is not None:
        raise ValueError(f"{name} must have each value once; received {double} twice.")
    return values


def _given_twice(values: Sequence[Any]) -> Any:
    """Return the first value that is there before; None if there is none."""
    return next((one for index, one in enumerate(values) if one in values[:index]), None)


def _listed(environments: Any) -> list[Any]:
    pair = isinstance(environments, tuple) and len(environments) == 2 and isinstance(environments[1], Mapping)
    one = isinstance(environments, str) or pair or not isinstance(environments, Iterable)
    listed = [environments] if one else list(environments)
    if not listed:
        raise ValueError("environments must name at least one; received none.")
    return listed


def _wanted(algorithms: Any) -> list[Asked]:
    if isinstance(algorithms, Mapping):
        for label in algorithms:
            if not isinstance(label, str) or not label.strip():
                raise WrongTypeError(f"an algorithm's name for readers must be text; received {label!r}.")
        wanted = [algorithm_of(one, label) for label, one in algorithms.items()]
    else:
        one = isinstance(algorithms, (str, Algorithm)) or not isinstance(algorithms, Iterable)
        wanted = [algorithm_of(each) for each in ([algorithms] if one else algorithms)]
    if not wanted:
        raise ValueError("algorithms must name at least one; received none.")
    _refuse_doubles("algorithms", [one.shown_as for one in wanted])
    return wanted


def _players(
    wanted: list[Asked], privacy: AskedPrivacy, experiment: Experiment, panel: GameSpec
) -> tuple[AlgorithmSpec, ...]:
    game = experiment.game(panel)
    if game.adversary.ledger is not None and panel.ledger is None:
        raise LedgerError(
            "compare plays no data with a ledger, as a budget is for games that are meant to count. Use simulate, or"
            " leave the ledger out."
        )
    return tuple(one for each in wanted for one in players_at(each, privacy, lambda: game))


def _refuse_unused(panels: Sequence[GameSpec], epsilons: list[float], delta: float | None) -> None:
    """Raise if no algorithm got an epsilon or a delta that was given for all."""
    players = [one for panel in panels for one in panel.contestants or ()]
    names = ", ".join(dict.fromkeys(one.shown_as or one.name for one in players))
    if epsilons and all(one.asked is None for one in players):
        raise ValueError(
            f"epsilon must be for at least one algorithm; {names} would not get it, taking none or having it written"
            " after the name. Leave epsilon out, or add an algorithm that takes one, such as DP-KLUCB."
        )
    if delta is not None and all(one.parameters.get("delta") != delta for one in players):
        raise ValueError(
            f"delta must be for at least one algorithm; {names} would not get it. Leave delta out, or add an"
            " algorithm that takes one, such as DP-UCB-INT."
        )


def _refuse_doubles(what: str, names: list[str]) -> None:
    if (double := _given_twice(names)) is not None:
        raise ValueError(f"{what} must have different names; received {double!r} twice. Give each a name of its own.")


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
        raise LedgerError(f"ledger is for a file of gains, such as my.csv; received the environment {environment!r}.")
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


def algorithm_of(algorithm: Any, label: str | None = None, given: Mapping[str, Any] | None = None) -> Asked:
    """Return what is asked for by a name, an object or a function.

    Args:
        algorithm: `NAME`, `NAME:parameter=value,parameter=value`, or `module:Name` for something in a module, or a name
            that the module registers; both may have parameters, too; an `Algorithm`; an agent's class, which plays
            without a wrapper; or a function that returns an `Algorithm` and takes, if it likes, `epsilon` and `delta`.
        label: Its name for readers; by default its own.
        given: Parameters for a class or a function.

    Raises:
        UnknownNameError: If there is no such algorithm.
        ValueError: If the text cannot be read, or names a parameter that the algorithm does not have.
        WrongTypeError: If it is none of these.
    """
    if isinstance(algorithm, str):
        own = imported(algorithm)
        if own is None:
            return _of_table(*read_call(algorithm), label)
        if own.thing is None:
            return _of_table(own.name, own.given, label)
        one = algorithm_of(own.thing, own.name, own.given)
        return one if label is None else one._replace(shown_as=label)
    given = dict(given or {})
    if isinstance(algorithm, Algorithm):
        refuse_unknown(algorithm.name, given, {})
        return Asked(label or algorithm.name, {}, label or algorithm.name, {}, functools.partial(_itself, algorithm))
    if not callable(algorithm):
        raise WrongTypeError(WANTED.format(f"a {type(algorithm).__name__}"))
    name = str(label or getattr(algorithm, "__name__", type(algorithm).__name__))
    try:
        takes = inspect.signature(algorithm).parameters
    except ValueError:  # a class of Python's own, such as int
        raise WrongTypeError(WANTED.format(name)) from None
    # Noise follows from what plays, not from what it is called here.
    own_name = getattr(algorithm, "__name__", type(algorithm).__name__)
    bare = functools.partial(Algorithm, own_name, algorithm)
    refuse_unknown(own_name, given, takes)
    shown = f"{name}{in_brackets(given)}"
    if isinstance(algorithm, type):
        made_with = functools.partial(_agent_with, own_name, algorithm) if given else bare
        return Asked(name, given, shown, {}, made_with)
    needed = [key for key, one in takes.items() if one.default is one.empty and one.kind in (0, 1, 3)]
    needed = [key for key in needed if key not in given]
    if set(needed) - {"epsilon", "delta"}:
        raise WrongTypeError(f"{name} must need no arguments but epsilon and delta; it needs {', '.join(needed)}.")
    try:
        made = algorithm(**{key: 1.0 if key == "epsilon" else 1e-6 for key in needed}, **given)
    except (ValueError, TypeError, ImportError, OSError):
        raise  # they say what is wrong
    except Exception as error:
        raise ValueError(f"{name} must return an Algorithm; it raises {type(error).__name__}: {error}.") from error
    if isinstance(made, Algorithm):
        name = label or made.name
        return Asked(name, given, f"{name}{in_brackets(given)}", takes, algorithm)
    of_privacy = [key for key in ("epsilon", "delta") if key in takes]
    if hasattr(made, "update") and of_privacy:
        raise WrongTypeError(
            f"{name} takes {' and '.join(of_privacy)} and must return an Algorithm with a privacy wrapper; it returns"
            " an agent alone, which is not private. Return Algorithm('name', MyAgent, lambda env:"
            " LaplaceClipRescale(env, epsilon=epsilon))."
        )
    if hasattr(made, "update"):
        return Asked(name, given, shown, {}, functools.partial(_agent_with, own_name, algorithm) if given else bare)
    raise WrongTypeError(WANTED.format(f"a function that returns a {type(made).__name__}"))


def _of_table(written: str, parameters: dict[str, Any], label: str | None) -> Asked:
    name = checks.known_name("algorithm", written, ALGORITHMS)
    takes = {key: one for key, one in inspect.signature(ALGORITHMS[name]).parameters.items() if key != "label"}
    refuse_unknown(name, parameters, takes)
    return Asked(name, parameters, label or f"{name}{in_brackets(parameters)}", takes)


class Own(NamedTuple):
    """What `module:Name:parameter=value` names: a thing in the module, or else an algorithm that it registers."""

    name: str
    thing: Any
    given: dict[str, Any]


def imported(text: str) -> Own | None:
    """Return what a text of the form `module:Name` or `module:Name:parameter=value` names; None if it has another form.

    Raises:
        ValueError: If there is no such module, or nothing of this name in it.
    """
    parts = re.fullmatch(r"([\w.]+):([A-Za-z_][\w-]*)(?::(.*))?", text)
    if parts is None or parts[1].lower() in {known.lower() for known in ALGORITHMS}:
        return None
    module, name, written = parts.groups()
    found = getattr(loaded(module), name, None)
    # What it registers, and not what this package has anyway.
    known = next((one for one, make in ALGORITHMS.items() if one.lower() == name.lower() and not is_ours(make)), None)
    if found is None and known is None:
        raise ValueError(f"{module} must have {name}, or register it; received '{module}:{name}', and it does neither.")
    if written == "":
        raise ValueError(f"parameters must follow the second colon, as in {module}:{name}:parameter=value; none do.")
    return Own(name if found is not None else str(known), found, read_arguments(written or "", name))


def refuse_unknown(name: str, given: Mapping[str, Any], takes: Mapping[str, inspect.Parameter]) -> None:
    """Raise if a parameter is not among those of a function."""
    if any(one.kind is one.VAR_KEYWORD for one in takes.values()):
        return
    unknown = sorted(set(given) - set(takes))
    if unknown:
        known = ", ".join(sorted(takes)) or "none"
        raise ValueError(f"{name} has no parameter {unknown[0]!r}. Known: {known}.")


def _itself(algorithm: Algorithm) -> Algorithm:
    return algorithm


def _agent_with(name: str, make: Callable[..., Any], **parameters: Any) -> Algorithm:
    return Algorithm(name, functools.partial(make, **parameters), parameters=parameters)


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


def players_at(one: Asked, wanted: AskedPrivacy, game: Callable[[], BanditEnv]) -> Iterator[AlgorithmSpec]:
    """Yield an algorithm at each epsilon at which it plays a game: once, if it takes none.

    Args:
        one: The algorithm.
        wanted: The privacy.
        game: Makes the game.

    Raises:
        UnreachableGuaranteeError: If its guarantee cannot meet the target. One that never guarantees anything plays as
            it is, for comparison.
        ValueError: If persons are known to serve in more rounds than the guarantee is asked for.
    """
    levels: list[float | None] = [*wanted.epsilons]
    for epsilon in levels or [None]:
        if wanted.at_guarantee and epsilon is not None:
            parameters = _calibrated(one, (epsilon, wanted.delta or 0.0), wanted.rounds, game())
            played: float | None = None if parameters is None else epsilon
            parameters = one.parameters if parameters is None else parameters
        else:
            parameters = one.at(epsilon, wanted.delta, lambda: game().horizon)
            played = epsilon if one.takes_epsilon else None
        several = len(wanted.epsilons) > 1 and played is not None
        label = one.label({"epsilon": f"{played:g}"} if several else {})
        found = wanted.at_guarantee and played is not None
        yield AlgorithmSpec(one.name, parameters, label, 0, one.shown_as, played, one.maker, calibrated=found)
        if played is None:
            return


def _calibrated(one: Asked, target: tuple[float, float], asked: int | None, game: BanditEnv) -> dict[str, Any] | None:
    """Return the parameters that meet a guarantee; None for an algorithm that guarantees nothing."""
    if asked is not None:
        _refuse_too_few(asked, game)
    rounds = asked or 1
    if one.maker is None:
        if not one.takes_epsilon:
            made = make_algorithm(one.name, **one.parameters)
            made.check_game(game)
            if made.guarantee_in(game).model == "none":
                return None
        return calibrated_in(one.name, target, game, rounds_per_person=rounds, **one.parameters)
    needed = {key for key, each in one.takes.items() if each.default is each.empty and key not in one.parameters}
    made = one.maker(**{key: target[0] if key == "epsilon" else 1e-6 for key in needed}, **one.parameters)
    made.check_game(game)
    if made.guarantee_in(game).model == "none":
        return None
    measure = functools.partial(Algorithm.guarantee_in, env=game)
    if one.takes_epsilon:
        return calibrated_parameters(
            one.maker, one.maker, one.shown_as, target, measure, game.horizon, one.parameters, rounds
        )
    guarantee = measure(made).for_group(rounds)
    reached = guarantee.epsilon_at(target[1]) if target[1] > 0 else guarantee.pure_epsilon
    if not reached <= target[0]:
        raise UnreachableGuaranteeError(
            f"{one.shown_as} must have a guarantee of at most the target; it has epsilon = {reached:g}, and the target"
            f" is {target[0]:g}. Use another parameter for it."
        )
    return dict(one.parameters)


def _refuse_too_few(rounds: int, game: BanditEnv) -> None:
    use = game.adversary.data_use
    serves = None if use is None else use.person
    if serves is not None and serves > rounds:
        raise ValueError(
            f"rounds_per_person must be at least {serves:,} here, the rounds in which the data of one person can serve;"
            f" received {rounds:,}."
        )
