"""Every way to name a game or an algorithm, turned into what is played; the words are the same at all doors."""

import copy
import dataclasses
import functools
import importlib
import inspect
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.gain_files import ENDINGS, UNREAD, columns_of
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.algorithm_table import ALGORITHMS, make_algorithm
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.envs.bandit_env import NOT_A_BANDIT_ENV, BanditEnv
from dp_bandit_envs.envs.registration import GAMES, IDS, register_adversary
from dp_bandit_envs.errors import UnknownNameError, WrongTypeError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.text import in_brackets, read_arguments, read_call
from dp_bandit_envs.wrappers.layers import Boundary, layers_of

SHOWN: Final = 12
"""The most numbers of a list that a title shows."""
PLAIN: Final = (bool, int, float, str)
FIXED_BY: Final = {"EXP3-tau": "batch_size", "AdaC-GOPE": "rho"}
"""The parameter that fixes the privacy of an algorithm in place of epsilon and delta."""
GAME_WANTED: Final = (
    "an environment must be an id such as 'Stochastic', a pair of an id and its arguments, an Adversary or a class that"
    " inherits it, an environment of gymnasium.make or a function that makes one, or a table or file of gains;"
    " received {}."
)
WANTED: Final = (
    "an algorithm must be a name, an Algorithm, an agent's class, or a function that returns an Algorithm; received {}."
)
CHOOSES: Final = "One that chooses arms is an agent with dp_bandit_envs.adapters.from_function."
ADAPTERS: Final = {
    "mabwiser": "from_mabwiser",
    "river": "from_river",
    "sb3_contrib": "from_sb3",
    "stable_baselines3": "from_sb3",
}
"""What in `adapters` makes an agent of another package's objects, by the package."""
Game: TypeAlias = (
    str
    | tuple[str, Mapping[str, Any]]
    | Adversary
    | type[Adversary]
    | Environment
    | Callable[[], Environment]
    | Path
    | NDArray[Any]
    | DataFile
)
"""What names a game; see `game_of`."""
Player: TypeAlias = str | Algorithm | Callable[..., Any]
"""What names an algorithm; see `algorithm_of`."""


@dataclasses.dataclass(frozen=True)
class NamedGame:
    """A game as it was named.

    Attributes:
        key: Its name in files.
        title: Its name for readers.
        env_id: A registered id; "" where `maker` makes it.
        env_kwargs: Arguments for it.
        maker: Makes the environment; None for a registered id.
    """

    key: str
    title: str
    env_id: str = ""
    env_kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    maker: Callable[[], Environment] | None = dataclasses.field(default=None, repr=False, kw_only=True)

    def with_arguments(self, **arguments: Any) -> Self:
        """Return the game with more arguments, without those that are None.

        Raises:
            ValueError: If one is given twice, or the game takes none, or no number of arms.
        """
        more = {name: value for name, value in arguments.items() if value is not None}
        for name, value in more.items():
            if self.maker is not None:
                raise ValueError(
                    f"{name} must be left out for {self.title}, an environment that is made elsewhere; received"
                    f" {checks.shown(value)}. Give it there, or name the game by an id."
                )
            if name in self.env_kwargs:
                raise ValueError(f"{name} must be given once; received {checks.shown(value)} and {self.title}.")
            if name == "n_arms" and not self._takes_arms:
                raise ValueError(
                    f"n_arms must be left out for {self.title}, which has a number of arms of its own; received"
                    f" {checks.shown(value)}."
                )
        return dataclasses.replace(self, env_kwargs={**self.env_kwargs, **more})

    def make(self) -> Environment:
        """Make the environment."""
        if self.maker is None:
            return gym.make(self.env_id, **self.env_kwargs)
        made = self.maker()
        if not isinstance(getattr(made, "unwrapped", None), gym.Env):
            raise WrongTypeError(GAME_WANTED.format(f"a function that returns {checks.kind_of(made)}"))
        return made

    @property
    def _takes_arms(self) -> bool:
        known = GAMES.get(self.env_id.rpartition(":")[2])
        adversary = None if known is None else known.adversary_class
        made_of: Any = adversary if adversary is not None else None if known is None else known.env_class
        return made_of is None or "n_arms" in inspect.signature(made_of).parameters


def game_of(game: Any, persons: str | int | None = None) -> NamedGame:
    """Return a game.

    Args:
        game: An id, with or without `DPBandit-` and `-v0`, and with arguments after a colon if wanted:
            `Graph:graph=cycle,n_arms=10` or `Stochastic:means=[.9,.6]`; or the id of a registered adversary behind its
            module's name, `mine:DPBandit-Drifting-v0`; or a pair of an id and a mapping of arguments; or an
            `Adversary`, or a class that inherits it, itself or as `mine:Drifting`; or an environment without privacy
            wrappers, of which a new one is made for each game; or a function that makes one; or a table of gains, or
            the path of a file of gains.
        persons: For a file of gains: the most records of a person, or the name of the column that says whose they are.

    Raises:
        UnknownNameError: If there is no such environment; the message suggests near names.
        ValueError: If the text is none of these.
        WrongTypeError: If it is of another type.
    """
    if isinstance(game, NamedGame):
        return game
    if is_data(game):
        return _of_data(game, persons)
    if persons is not None:
        raise ValueError(
            f"persons is for a file of gains, such as my.csv; received the environment {checks.shown(game)}."
        )
    if isinstance(game, str):
        return _of_text(game)
    if isinstance(game, tuple) and len(game) == 2 and isinstance(game[1], Mapping):
        if not all(isinstance(name, str) for name in game[1]):
            raise WrongTypeError(f"arguments must have names; received {list(game[1])}. Use {{'n_arms': 3}}.")
        module, id_ = _with_module(str(game[0]))
        return _of_id(_known(id_), {name: _table(value) for name, value in game[1].items()}, module)
    if isinstance(game, type) and issubclass(game, Adversary):
        return _of_id(_registered(game), {})
    if isinstance(game, Adversary):
        return _of_maker(type(game).__name__, functools.partial(BanditEnv, game))
    if isinstance(getattr(game, "unwrapped", None), gym.Env) and not isinstance(game, type):
        return _of_environment(game)
    if callable(game) and not (isinstance(game, type) and not issubclass(game, (gym.Env, gym.Wrapper))):
        checks.function("a maker of environments", game)
        return _of_maker(getattr(game, "__name__", type(game).__name__), game)
    if hasattr(game, "__array__"):
        return _of_id("DPBandit-Replay-v0", {"gains": _table(game)})
    raise WrongTypeError(GAME_WANTED.format(checks.kind_of(game)))


def environment_of(game: Any, *, n_arms: Any = None, horizon: Any = None) -> Environment:
    """Return an environment: one that is given, wrappers included, or a new one of a game that is named.

    Args:
        game: An environment, or what `game_of` takes.
        n_arms: Number of arms K; by default the game's.
        horizon: Number of rounds T; by default the game's.
    """
    if isinstance(getattr(game, "unwrapped", None), gym.Env) and not isinstance(game, type):
        if n_arms is not None or horizon is not None:
            name, value = ("n_arms", n_arms) if n_arms is not None else ("horizon", horizon)
            raise ValueError(
                f"{name} must be left out for an environment, which has its own; received {value}. Give it to gym.make."
            )
        return game  # type: ignore[no-any-return]
    return sized(game_of(game), n_arms=n_arms, horizon=horizon).make()


def sized(game: NamedGame, *, n_arms: Any = None, horizon: Any = None) -> NamedGame:
    """Return a game with these sizes, after checking them."""
    return game.with_arguments(
        n_arms=None if n_arms is None else checks.integer("n_arms", n_arms, at_least=2),
        horizon=None if horizon is None else checks.integer("horizon", horizon, at_least=1),
    )


def _of_text(text: str) -> NamedGame:
    module, id_ = _with_module(text)
    written, colon, rest = id_.partition(":")
    if written and colon and not rest:
        raise ValueError(f"arguments must follow a colon, as in Graph:graph=cycle; received {text!r}.")
    # With the module's name, so that other processes import it too.
    arguments = {name: _table(value) for name, value in read_arguments(rest, written).items()}
    return _of_id(_known(written), arguments, module)


def _of_id(id_: str, arguments: dict[str, Any], module: str = "") -> NamedGame:
    title = short_name(id_) + in_brackets({name: _shown(value) for name, value in arguments.items()})
    return NamedGame(_key(title), title, f"{module}:{id_}" if module else id_, arguments)


def _of_maker(title: str, maker: Callable[[], Environment]) -> NamedGame:
    title = "game" if title == "<lambda>" else title
    return NamedGame(_key(title), title, maker=maker)


def _of_environment(env: Any) -> NamedGame:
    """Return a game like that of an environment, which itself can play one at a time only."""
    game = env.unwrapped
    if not isinstance(game, BanditEnv):
        raise WrongTypeError(NOT_A_BANDIT_ENV.format("a game", game))
    if any(isinstance(layer, Boundary) for layer in layers_of(env)):
        raise WrongTypeError(
            f"an environment must be without privacy wrappers here, as a new one is made for each game; received {env}."
            " Give the game alone, and its wrappers as Algorithm('name', MyAgent, lambda env: ...); or a function that"
            " makes the environment with them."
        )
    usual = all(layer is game or isinstance(layer, (OrderEnforcing, PassiveEnvChecker)) for layer in layers_of(env))
    if usual and env.spec is not None and env.spec.id in IDS:
        return _of_id(env.spec.id, dict(env.spec.kwargs))
    if usual and type(game) is BanditEnv:
        return _of_maker(
            type(game.adversary).__name__,
            functools.partial(BanditEnv, game.adversary, observe_charge=game.observe_charge),
        )
    return _of_maker(type(game.adversary).__name__, functools.partial(copy.deepcopy, env))


def is_data(game: Any) -> bool:
    """Return whether a game is named by a file of gains."""
    return isinstance(game, (Path, DataFile)) or (isinstance(game, str) and game.endswith(ENDINGS))


def _of_data(source: str | Path | DataFile, persons: str | int | None) -> NamedGame:
    name = readable(Path(source.name if isinstance(source, DataFile) else source).name)
    gains: dict[str, Any] = {"gains": source if isinstance(source, DataFile) else str(source)}
    if persons is not None:
        number = isinstance(persons, str) and persons.isascii() and persons.isdecimal()
        gains["persons"] = int(persons) if number else persons
    return NamedGame(_file_name(name.split(".")[0]), name, "DPBandit-Replay-v0", gains)


def _key(title: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", title.lower()).strip("-")[:80]


def short_name(name: str) -> str:
    """Return an id without the prefix and the version that all ids share."""
    return name.removeprefix("DPBandit-").removesuffix("-v0")


def readable(text: str) -> str:
    """Return command-line text that can be written to a file: bytes unknown to the locale are decoded as UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _table(value: Any) -> Any:
    """Return a value, with tables of any kind as arrays, which are never written out: they may be private gains.

    A data frame, whose columns have names that say what they are, stays one, and is not written out either.
    """
    if columns_of(value):
        return value
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
    if re.search(r"\.\w{2,8}$", written):  # no name of a game has a point
        raise ValueError(UNREAD.format(written))
    if written in gym.registry:
        raise WrongTypeError(NOT_A_BANDIT_ENV.format("a game", written))
    short = {short_name(id_): id_ for id_ in IDS}
    if written.lower() in {name.lower() for name in ALGORITHMS} - {name.lower() for name in short}:
        raise UnknownNameError(
            f"environment must be a known name; received {written!r}, which is an algorithm. Environments come first."
        )
    return short[checks.known_name("environment", written.removeprefix("DPBandit-"), short)]


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
    ours = f"{adversary.__module__}:{adversary.__name__}"
    known = [game.id for game in GAMES.values() if game.adversary is adversary or game.adversary == ours]
    return known[0] if known else register_adversary(adversary.__name__, adversary)


def _file_name(text: str) -> str:
    """Return a valid file name: without accents if the file system supports ASCII only."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii") or "gains"
    return text


class Asked(NamedTuple):
    """An algorithm as it was asked for, before it is known at which epsilons it plays.

    Attributes:
        name: Its name, in the table unless there is a maker.
        parameters: The parameters that were given.
        shown_as: Its name for readers.
        takes: The parameters of the function that makes it, by name.
        maker: Makes it, if it is in no table.
        agent: Makes the agent, if it plays alone, without a wrapper.
    """

    name: str
    parameters: dict[str, Any]
    shown_as: str
    takes: Mapping[str, inspect.Parameter]
    maker: Callable[..., Algorithm] | None = None
    agent: Callable[..., Any] | None = None

    def made(self, parameters: Mapping[str, Any]) -> Algorithm:
        """Make it with these parameters, under its name for readers."""
        if self.maker is None:
            label = {} if self.shown_as == self.name else {"label": self.shown_as}
            return make_algorithm(self.name, **parameters, **label)
        made = self.maker(**parameters)
        return made if made.name == self.shown_as else dataclasses.replace(made, name=self.shown_as)

    def with_parameters(self, more: Mapping[str, Any]) -> "Asked":
        """Return it with more parameters; `label` is its name for readers.

        Raises:
            ValueError: If it has no such parameter, or it is given twice.
        """
        more = dict(more)
        label = more.pop("label", self.shown_as)
        refuse_unknown(self.name, more, self.takes)
        for name in more:
            if name in self.parameters:
                raise ValueError(f"{name} must be given once; received it twice for {self.name}.")
        return self._replace(parameters={**self.parameters, **more}, shown_as=label)

    def label(self, more: Mapping[str, Any]) -> str:
        """Return the name of its results, with more parameters in brackets."""
        if self.shown_as == f"{self.name}{in_brackets(self.parameters)}":
            return f"{self.name}{in_brackets({**self.parameters, **more})}"
        return f"{self.shown_as}{in_brackets(dict(more))}"

    @property
    def takes_epsilon(self) -> bool:
        """Whether an epsilon that is given for all algorithms is for this one."""
        return "epsilon" in self.takes and "epsilon" not in self.parameters and not self.is_fixed

    @property
    def wants_delta(self) -> bool:
        """Whether it has a delta beside its epsilon."""
        return "delta" in self.takes and ("noise" not in self.takes or self.parameters.get("noise") == "gaussian")

    @property
    def is_fixed(self) -> bool:
        """Whether another parameter that was given fixes its privacy."""
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
            ours = self.maker is None and is_builtin(ALGORITHMS[self.name])
            needs_delta = self.wants_delta and (ours or needs_delta)
        else:
            needs_delta = needs_delta and "epsilon" in found
        if delta is not None and self.wants_delta and not self.is_fixed:
            found.setdefault("delta", delta)
        elif needs_delta:
            rounds = horizon()
            if rounds < 2:
                raise ValueError(f"horizon must be at least 2 for {self.name}, whose delta is T^-2; received {rounds}.")
            found.setdefault("delta", float(rounds) ** -2)
        return found


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
    if isinstance(algorithm, Asked):
        return algorithm
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
        kind = type(algorithm).__name__
        instead = f" Give {kind} itself, or a function that makes one, as a new one plays each game."
        way_out = instead if hasattr(algorithm, "update") else ""
        if theirs := adapter_of(algorithm):
            way_out = f" Use dp_bandit_envs.adapters.{theirs}(...) of it."
        raise WrongTypeError(WANTED.format(checks.kind_of(algorithm)) + way_out)
    name = str(label or getattr(algorithm, "__name__", type(algorithm).__name__))
    try:
        takes = inspect.signature(algorithm).parameters
    except ValueError:  # a class of Python's own, such as int
        raise WrongTypeError(WANTED.format(name)) from None
    # Noise follows from what plays, not from what it is called here.
    own_name = getattr(algorithm, "__name__", type(algorithm).__name__)
    own_name = name if own_name == "<lambda>" else own_name
    bare = functools.partial(Algorithm, own_name, algorithm)
    refuse_unknown(own_name, given, takes)
    shown = f"{name}{in_brackets(given)}"
    if isinstance(algorithm, type):
        if not hasattr(algorithm, "update"):
            raise WrongTypeError(WANTED.format(f"the class {name}"))
        made_with = functools.partial(_agent_with, own_name, algorithm) if given else bare
        return Asked(name, given, shown, {}, made_with, None if given else algorithm)
    needed = [key for key, one in takes.items() if one.default is one.empty and one.kind in (0, 1, 3)]
    needed = [key for key in needed if key not in given]
    if set(needed) - {"epsilon", "delta"}:
        raise WrongTypeError(
            f"{name} must need no arguments but epsilon and delta; it needs {', '.join(needed)}. {CHOOSES}"
        )
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
        made_with = functools.partial(_agent_with, own_name, algorithm) if given else bare
        return Asked(name, given, shown, {}, made_with, None if given else algorithm)
    received = f"a function that returns {checks.kind_of(made)}"
    raise WrongTypeError(f"{WANTED.format(received)} {CHOOSES}")


def adapter_of(agent: Any) -> str:
    """Return what in `adapters` makes an agent of another package's object or of a function; "" if nothing does."""
    theirs = ADAPTERS.get(type(agent).__module__.partition(".")[0], "")
    return "from_function" if inspect.isfunction(agent) else theirs


def is_one(algorithms: Any) -> bool:
    """Return whether one algorithm is given, and not several; a policy of MABWiser is a tuple."""
    many = isinstance(algorithms, Iterable) and not isinstance(algorithms, (str, Algorithm))
    return not many or getattr(algorithms, "ndim", 1) == 0 or bool(adapter_of(algorithms))


def made_of(algorithm: Any) -> Algorithm:
    """Return the algorithm that a name, an object or a function stands for, with its own epsilon."""
    one = algorithm_of(algorithm)
    return one.made(one.parameters)


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
    known = next(
        (one for one, make in ALGORITHMS.items() if one.lower() == name.lower() and not is_builtin(make)), None
    )
    if found is None and known is None:
        near = checks.near_names(name, [one for one in vars(loaded(module)) if not one.startswith("_")])
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(
            f"{module} must have {name}, or register it; received '{module}:{name}', and it does neither.{hint}"
        )
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
