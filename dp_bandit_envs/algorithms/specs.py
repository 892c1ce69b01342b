"""Specifications of games and algorithms, from text, objects or functions: `GameSpec` and `AlgorithmSpec`."""

import copy
import dataclasses
import functools
import importlib
import inspect
import itertools
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
from dp_bandit_envs.text import in_brackets, read_arguments, read_call, written_value
from dp_bandit_envs.wrappers.layers import Boundary, layers_of

SHOWN: Final = 12
"""The most numbers of a list that a title shows."""
PLAIN: Final = (bool, int, float, str)
FIXED_BY: Final = {"EXP3-tau": "batch_size", "AdaC-GOPE": "rho", "AdaC-UCB": "rho"}
"""The parameter that fixes the privacy of an algorithm instead of epsilon and delta."""
GAME_WANTED: Final = (
    "an environment must be an id such as 'Stochastic', a pair of an id and its arguments, an Adversary or a class that"
    " inherits it, an environment of gymnasium.make or a function that makes one, or a table or file of gains;"
    " received {}."
)
WANTED: Final = (
    "an algorithm must be a name, an Algorithm, an agent's class, or a function that returns an Algorithm; received {}."
)
CHOOSES: Final = "One that chooses arms is an agent with dp_bandit_envs.adapters.from_function."
METHODS: Final = ("begin", "select_arm", "update")
"""What an agent of arms has."""
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
"""What names a game; see `read_game`."""
Player: TypeAlias = str | Algorithm | Callable[..., Any]
"""What names an algorithm; see `read_algorithm`."""


@dataclasses.dataclass(frozen=True)
class AlgorithmSpec:
    """An algorithm by name, with its parameters.

    `read_algorithm` makes it from a user's argument, `with_privacy` of `calibration` sets its privacy parameters for
    one game, and a results folder stores it. In an experiment it plays the experiment's number of games, or `trials` if
    that is larger; common games are the same.

    Attributes:
        name: Its name, in the table of algorithms unless there is a factory.
        parameters: Its parameters.
        label: The name of its results; by default its name.
        trials: The least number of its games.
        base_label: The label without the epsilon, in a comparison of several; by default the label.
        asked: The requested epsilon; None for its own.
        asked_delta: The requested delta of a calibrated guarantee.
        factory: Makes an algorithm outside the table from the parameters.
        calibrated: Whether the parameters were calibrated to a guarantee.
        signature: The parameters of the function that makes it, by name.
        agent: Makes the agent, if it plays alone, without a wrapper.
    """

    name: str
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    label: str = ""
    trials: int = 0
    base_label: str = ""
    asked: float | None = None
    asked_delta: float = 0.0
    factory: Callable[..., Algorithm] | None = dataclasses.field(default=None, repr=False)
    calibrated: bool = False
    signature: Mapping[str, inspect.Parameter] = dataclasses.field(default_factory=dict, repr=False)
    agent: Callable[..., Any] | None = dataclasses.field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Set the label to the name by default."""
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "base_label", self.base_label or self.label)

    def build(self) -> Algorithm:
        """Make the algorithm, with its label as its name."""
        if self.factory is None:
            label = {} if self.label == self.name else {"label": self.label}
            return make_algorithm(self.name, **self.parameters, **label)
        built = self.factory(**self.parameters)
        return built if built.name == self.label else dataclasses.replace(built, name=self.label)

    def build_with_own_noise(self) -> Algorithm:
        """Make the algorithm for comparisons: an algorithm outside the table shares no noise with others.

        This includes an algorithm of the same name in the table, and the same factory at another epsilon, whether or
        not it declares its epsilon.
        """
        built = self.build()
        if self.factory is None:
            return built
        declared = all(built.parameters.get(name) == value for name, value in self.parameters.items())
        player = built.player if declared else f"{built.player} {written_value(dict(self.parameters))}"
        return dataclasses.replace(built, player=f"own {player}")

    def with_parameters(self, more: Mapping[str, Any]) -> Self:
        """Return the spec with more parameters; `label` is its display name.

        Raises:
            ValueError: If a parameter is unknown or given twice.
        """
        more = dict(more)
        label = more.pop("label", self.label)
        refuse_unknown_parameters(self.name, more, self.signature)
        for name in more:
            if name in self.parameters:
                raise ValueError(f"{name} must be given once; received it twice for {self.name}.")
        return dataclasses.replace(self, parameters={**self.parameters, **more}, label=label, base_label=label)

    def label_at(self, epsilon: float) -> str:
        """Return the label of its results at an epsilon among several, in the brackets of its parameters."""
        extra = {"epsilon": f"{epsilon:g}"}
        if self.label == f"{self.name}{in_brackets({**self.parameters})}":
            return f"{self.name}{in_brackets({**self.parameters, **extra})}"
        return f"{self.label}{in_brackets(extra)}"

    @property
    def takes_epsilon(self) -> bool:
        """Whether it takes the common epsilon."""
        return "epsilon" in self.signature and "epsilon" not in self.parameters and not self.is_fixed

    @property
    def takes_delta(self) -> bool:
        """Whether it also has a delta."""
        gaussian = "noise" not in self.signature or self.parameters.get("noise") == "gaussian"
        return "delta" in self.signature and gaussian

    @property
    def is_fixed(self) -> bool:
        """Whether another given parameter fixes its privacy."""
        return FIXED_BY.get(self.name) in self.parameters

    @property
    def needed(self) -> set[str]:
        """The missing parameters without a default: at most `epsilon` and `delta`."""
        kinds = (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        )
        required = {key for key, one in self.signature.items() if one.default is one.empty and one.kind in kinds}
        return required - set(self.parameters)

    def parameters_at(self, epsilon: float | None, delta: float | None, horizon: int) -> dict[str, Any]:
        """Return its parameters, including epsilon and delta if it takes them.

        The delta is T^-2 unless it is given or the default of a user's function.

        Args:
            epsilon: The epsilon for all algorithms, or None.
            delta: The delta for all algorithms, or None.
            horizon: The game's horizon T.
        """
        parameters = dict(self.parameters)
        # Beside an epsilon that is written with the name, a paper's own delta stands; that of somebody else's always.
        needs_delta = self.takes_delta and self.signature["delta"].default in (None, inspect.Parameter.empty)
        if epsilon is not None and self.takes_epsilon:
            parameters["epsilon"] = epsilon
            is_of_table = self.factory is None and is_builtin(ALGORITHMS[self.name])
            needs_delta = self.takes_delta and (is_of_table or needs_delta)
        else:
            needs_delta = needs_delta and "epsilon" in parameters
        if delta is not None and self.takes_delta and not self.is_fixed:
            parameters.setdefault("delta", delta)
        elif needs_delta:
            if horizon < 2:
                raise ValueError(
                    f"horizon must be at least 2 for {self.name}, whose delta is T^-2; received {horizon}."
                )
            parameters.setdefault("delta", float(horizon) ** -2)
        return parameters


@dataclasses.dataclass(frozen=True)
class GameSpec:
    """A game by name and, in an experiment, the algorithms that play it.

    Attributes:
        key: Its name in files.
        title: Its display name.
        env_id: A registered id; "" if `factory` makes it.
        env_kwargs: Arguments for it.
        algorithms: The algorithms that play it; None for the experiment's.
        environment: Its name without number of arms and horizon, in a comparison over these; "" for the title.
        ledger: Charges the games on its data, in an experiment with only this game. It does not affect results, and is
            not stored.
        factory: Makes the environment; None for a registered id.
    """

    key: str
    title: str
    env_id: str = ""
    env_kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    algorithms: tuple[AlgorithmSpec, ...] | None = None
    environment: str = ""
    ledger: Any = None
    factory: Callable[[], Environment] | None = dataclasses.field(default=None, repr=False, kw_only=True)

    def with_arguments(self, **arguments: Any) -> Self:
        """Return the game with more arguments, except None values.

        Raises:
            ValueError: If an argument is given twice, or the game takes no arguments, or no number of arms.
        """
        more = {name: value for name, value in arguments.items() if value is not None}
        for name, value in more.items():
            if self.factory is not None:
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

    def with_size(self, *, n_arms: Any = None, horizon: Any = None) -> Self:
        """Return the game with these sizes, after checking them."""
        return self.with_arguments(
            n_arms=None if n_arms is None else checks.integer("n_arms", n_arms, at_least=2),
            horizon=None if horizon is None else checks.integer("horizon", horizon, at_least=1),
        )

    def make(self) -> Environment:
        """Make the environment."""
        if self.factory is None:
            return gym.make(self.env_id, **self.env_kwargs)
        env = self.factory()
        if not _is_environment(env):
            raise WrongTypeError(GAME_WANTED.format(f"a function that returns {checks.kind_of(env)}"))
        return env

    @property
    def _takes_arms(self) -> bool:
        registered = GAMES.get(self.env_id.rpartition(":")[2])
        if registered is None:
            return True
        game_class: Any = registered.adversary_class or registered.env_class
        return game_class is None or "n_arms" in inspect.signature(game_class).parameters


def _is_environment(game: Any) -> bool:
    return isinstance(getattr(game, "unwrapped", None), gym.Env) and not isinstance(game, type)


def read_game(game: Any, persons: str | int | None = None) -> GameSpec:
    """Return the spec of a game.

    Args:
        game: An id, with or without `DPBandit-` and `-v0`, and with arguments after a colon if wanted:
            `Graph:graph=cycle,n_arms=10` or `Stochastic:means=[.9,.6]`. Or the id of a registered adversary with its
            module's name, `mine:DPBandit-Drifting-v0`. Or a pair of an id and a mapping of arguments. Or an
            `Adversary`, or a subclass of it, itself or as `mine:Drifting`. Or an environment without privacy wrappers,
            recreated for each game; or a function that makes one. Or a table of gains, or the path of a file of gains.
        persons: For a file of gains: the largest number of records per person, or the name of the column of persons.

    Raises:
        UnknownNameError: If the environment is unknown; the message suggests near names.
        ValueError: If the text is invalid.
        WrongTypeError: If it has another type.
    """
    if isinstance(game, GameSpec):
        return game
    if is_gains_file(game):
        return _spec_of_file(game, persons)
    if persons is not None:
        raise ValueError(
            f"persons is for a file of gains, such as my.csv; received the environment {checks.shown(game)}."
        )
    if isinstance(game, str):
        return _spec_of_text(game)
    if isinstance(game, tuple) and len(game) == 2 and isinstance(game[1], Mapping):
        if not all(isinstance(name, str) for name in game[1]):
            raise WrongTypeError(f"arguments must have names; received {list(game[1])}. Use {{'n_arms': 3}}.")
        module, id_ = _split_module(str(game[0]))
        return _spec_of_id(_registered_id(id_), {name: _as_table(value) for name, value in game[1].items()}, module)
    if isinstance(game, type) and issubclass(game, Adversary):
        return _spec_of_id(_register(game), {})
    if isinstance(game, Adversary):
        return _spec_of_factory(type(game).__name__, functools.partial(BanditEnv, game))
    if _is_environment(game):
        return _spec_of_environment(game)
    if isinstance(game, gym.vector.VectorEnv):
        raise WrongTypeError(
            f"an environment must be one game; received {type(game).__name__}, which plays {game.num_envs} at a time."
            " Give what gymnasium.make returns for the same id; simulate(..., trials=...) plays many games of it."
        )
    if callable(game) and not (isinstance(game, type) and not issubclass(game, (gym.Env, gym.Wrapper))):
        checks.function("a maker of environments", game)
        return _spec_of_factory(getattr(game, "__name__", type(game).__name__), game)
    if hasattr(game, "__array__"):
        return _spec_of_id("DPBandit-Replay-v0", {"gains": _as_table(game)})
    raise WrongTypeError(GAME_WANTED.format(checks.kind_of(game)))


def open_environment(game: Any, *, n_arms: Any = None, horizon: Any = None) -> Environment:
    """Return the given environment, including wrappers, or a new environment of a named game.

    Args:
        game: An environment, or an argument of `read_game`.
        n_arms: Number of arms K; by default the game's.
        horizon: Number of rounds T; by default the game's.
    """
    if _is_environment(game):
        if n_arms is not None or horizon is not None:
            name, size = ("n_arms", n_arms) if n_arms is not None else ("horizon", horizon)
            raise ValueError(
                f"{name} must be left out for an environment, which has its own; received {size}. Give it to gym.make."
            )
        return game  # type: ignore[no-any-return]
    return read_game(game).with_size(n_arms=n_arms, horizon=horizon).make()


def _spec_of_text(text: str) -> GameSpec:
    # With the module's name, so that other processes import it too.
    module, id_ = _split_module(text)
    written, colon, after = id_.partition(":")
    if written and colon and not after:
        raise ValueError(f"arguments must follow a colon, as in Graph:graph=cycle; received {text!r}.")
    arguments = {name: _as_table(value) for name, value in read_arguments(after, written).items()}
    return _spec_of_id(_registered_id(written), arguments, module)


def _spec_of_id(id_: str, arguments: dict[str, Any], module: str = "") -> GameSpec:
    title = short_name(id_) + in_brackets({name: _in_title(value) for name, value in arguments.items()})
    return GameSpec(_key(title), title, f"{module}:{id_}" if module else id_, arguments)


def _spec_of_factory(title: str, factory: Callable[[], Environment]) -> GameSpec:
    title = "game" if title == "<lambda>" else title
    return GameSpec(_key(title), title, factory=factory)


def _spec_of_environment(env: Any) -> GameSpec:
    """Return a game like an environment's; the environment itself can play only one game at a time."""
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
        return _spec_of_id(env.spec.id, dict(env.spec.kwargs))
    name, factory = type(game.adversary).__name__, functools.partial(copy.deepcopy, env)
    if usual and type(game) is BanditEnv:
        factory = functools.partial(BanditEnv, game.adversary, observe_charge=game.observe_charge)
    return _spec_of_factory(name, factory)


def is_gains_file(game: Any) -> bool:
    """Return whether a game is named by a file of gains."""
    return isinstance(game, (Path, DataFile)) or (isinstance(game, str) and game.endswith(ENDINGS))


def _spec_of_file(source: str | Path | DataFile, persons: str | int | None) -> GameSpec:
    name = readable(Path(source.name if isinstance(source, DataFile) else source).name)
    gains: dict[str, Any] = {"gains": source if isinstance(source, DataFile) else str(source)}
    if persons is not None:
        is_number = isinstance(persons, str) and persons.isascii() and persons.isdecimal()
        gains["persons"] = int(persons) if is_number else persons
    return GameSpec(_file_name(name.split(".")[0]), name, "DPBandit-Replay-v0", gains)


def _key(title: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", title.lower()).strip("-")[:80]


def short_name(name: str) -> str:
    """Return an id without the prefix and the version that all ids share."""
    return name.removeprefix("DPBandit-").removesuffix("-v0")


def readable(text: str) -> str:
    """Return command-line text that can be written to a file: bytes unknown to the locale are decoded as UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _as_table(argument: Any) -> Any:
    """Return an argument, with tables of any kind as arrays, which are never written out: they may be private gains.

    A data frame stays one, as its column names matter, and is not written out either.
    """
    if columns_of(argument):
        return argument
    is_list = isinstance(argument, (list, tuple))
    nested = is_list and not all(one is None or isinstance(one, PLAIN) for one in argument)
    if nested or (hasattr(argument, "__array__") and not isinstance(argument, np.generic)):
        try:
            table = np.asarray(argument)
        except ValueError:
            return argument
        return argument if table.dtype == object else table
    return argument


def _in_title(argument: Any) -> Any:
    """Return an argument for a title: short values unchanged, others by their kind only."""
    if isinstance(argument, np.ndarray):
        return f"array of {' x '.join(map(str, argument.shape))}"
    few = isinstance(argument, (list, tuple)) and len(argument) <= SHOWN
    if argument is None or isinstance(argument, PLAIN) or (few and all(isinstance(one, PLAIN) for one in argument)):
        return argument
    return getattr(argument, "__name__", type(argument).__name__)


def _registered_id(written: str) -> str:
    """Return the id of a game from its full or short name."""
    if written in IDS:
        return written
    if re.search(r"\.\w{2,8}$", written):  # no name of a game has a point
        raise ValueError(UNREAD.format(written))
    if written in gym.registry:
        raise WrongTypeError(
            f"{written} is an environment of Gymnasium, and no bandit of this package. One with a single state becomes"
            " a game in Python, with dp_bandit_envs.adapters.from_gymnasium(env, horizon=..., low=..., high=...)."
        )
    short = {short_name(id_): id_ for id_ in IDS}
    if written.lower() in {name.lower() for name in ALGORITHMS} - {name.lower() for name in short}:
        raise UnknownNameError(f"{written!r} is an algorithm, no environment. Environments come first.")
    return short[checks.known_name("environment", written.removeprefix("DPBandit-"), short)]


def _split_module(environment: str) -> tuple[str, str]:
    """Import the module before an id or the name of a class; return it, or "", and the id with its arguments."""
    with_id = re.fullmatch(r"([\w.]+):(DPBandit-.+)", environment)
    if with_id:
        import_by_name(with_id[1])
        return with_id[1], with_id[2]
    short = {short_name(id_) for id_ in IDS}
    with_name = re.fullmatch(r"([\w.]+):(\w+)(:.*)?", environment)
    if with_name is None or with_name[1] in short or with_name[1] in IDS:
        return "", environment
    module, name = with_name[1], with_name[2]
    adversary = getattr(import_by_name(module), name, None)
    if not (isinstance(adversary, type) and issubclass(adversary, Adversary)):
        raise ValueError(
            f"environment must be an id; received {environment!r}. Write {module}:DPBandit-{name}-v0 for one that the"
            f" module {module} registers, or {module}:Name for a class in it that inherits Adversary."
        )
    return "", _register(adversary) + (with_name[3] or "")


def _register(adversary: type[Adversary]) -> str:
    """Return the id of an adversary's class, registering it under its own name if needed."""
    path = f"{adversary.__module__}:{adversary.__name__}"
    ids = [game.id for game in GAMES.values() if game.adversary is adversary or game.adversary == path]
    return ids[0] if ids else register_adversary(adversary.__name__, adversary)


def _file_name(text: str) -> str:
    """Return a valid file name: without accents if the file system supports ASCII only."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii") or "gains"
    return text


def read_algorithm(
    algorithm: Any, label: str | None = None, parameters: Mapping[str, Any] | None = None
) -> AlgorithmSpec:
    """Return the spec of an algorithm.

    Args:
        algorithm: `NAME`, `NAME:parameter=value,parameter=value`, or `module:Name` for an object in a module or a name
            that the module registers, also with parameters. Or an `Algorithm`; an agent's class, which plays without a
            wrapper; or a function that returns an `Algorithm` and may take `epsilon` and `delta`.
        label: Its display name; by default its own name.
        parameters: Parameters for a class or a function.

    Raises:
        UnknownNameError: If the algorithm is unknown.
        ValueError: If the text cannot be read, or names a parameter that the algorithm does not have.
        WrongTypeError: If it has another type.
    """
    if isinstance(algorithm, AlgorithmSpec):
        return algorithm
    if isinstance(algorithm, str):
        return _spec_of_named(_read_named(algorithm), label)
    parameters = dict(parameters or {})
    if isinstance(algorithm, Algorithm):
        refuse_unknown_parameters(algorithm.name, parameters, {})
        return AlgorithmSpec(label or algorithm.name, factory=functools.partial(_itself, algorithm))
    if not callable(algorithm):
        kind = type(algorithm).__name__
        instead = f" Give {kind} itself, or a function that makes one, as a new one plays each game."
        way_out = instead if hasattr(algorithm, "update") else ""
        if adapter := adapter_for(algorithm):
            way_out = f" Use dp_bandit_envs.adapters.{adapter}(...) of it."
        raise _not_an_algorithm(label, checks.kind_of(algorithm), way_out)
    return _spec_of_callable(algorithm, label, parameters)


def _not_an_algorithm(label: str | None, received: str, way_out: str = "") -> WrongTypeError:
    """Return the error of something that is no algorithm, with its name if it has one."""
    return WrongTypeError(f"{f'{label}: ' if label else ''}{WANTED.format(received)}{way_out}")


def read_sweep(text: str, label: str | None = None) -> list[AlgorithmSpec]:
    """Return the specs of a text: one, or one per value if a parameter has a list of values.

    Several lists are combined: `EXP3-tau:batch_size=[10,100],exploration_rate=[.1,.2]` names four algorithms. Write a
    list that is a single value inside another list: `mine:Agent:weights=[[1,2]]` names one algorithm.

    Args:
        text: As for `read_algorithm`.
        label: Its display name; the chosen values are appended in brackets.
    """
    named = _read_named(text)
    lists = {name: values for name, values in named.parameters.items() if isinstance(values, list)}
    for name, values in lists.items():
        if not values:
            raise ValueError(f"{name} must have at least one value; received an empty list in {checks.shown(text)}.")
    specs = []
    for combination in itertools.product(*lists.values()):
        chosen = dict(zip(lists, combination, strict=True))
        label_here = None if label is None else f"{label}{in_brackets(chosen)}"
        specs.append(_spec_of_named(named._replace(parameters=named.parameters | chosen), label_here))
    return specs


def _read_named(text: str) -> "ImportedSpec":
    """Return the object of a name, in a module or in the table of algorithms."""
    if (named := read_import(text)) is not None:
        return named
    name, parameters = read_call(text)
    return ImportedSpec(name, None, parameters)


def _spec_of_named(named: "ImportedSpec", label: str | None) -> AlgorithmSpec:
    if named.imported is None:
        return _spec_in_table(named.name, named.parameters, label)
    spec = read_algorithm(named.imported, named.name, named.parameters)
    return spec if label is None else dataclasses.replace(spec, label=label, base_label=label)


def _spec_of_callable(function: Callable[..., Any], label: str | None, parameters: dict[str, Any]) -> AlgorithmSpec:
    """Return the spec of an agent's class, or of a function that returns an agent or an `Algorithm`."""
    # Noise depends on the algorithm, not on its label.
    own_name = getattr(function, "__name__", type(function).__name__)
    name = str(label or own_name)
    own_name = name if own_name == "<lambda>" else own_name
    try:
        signature = inspect.signature(function).parameters
    except ValueError:  # a class of Python's own, such as int
        raise _not_an_algorithm(label, own_name) from None
    refuse_unknown_parameters(own_name, parameters, signature)
    alone = AlgorithmSpec(
        name,
        parameters,
        f"{name}{in_brackets(parameters)}",
        factory=functools.partial(_agent_with, own_name, function)
        if parameters
        else functools.partial(Algorithm, own_name, function),
        agent=None if parameters else function,
    )
    if isinstance(function, type):
        if not hasattr(function, "update"):
            absent = " and no ".join(method for method in METHODS if not hasattr(function, method))
            raise _not_an_algorithm(label, f"the class {own_name}, which has no {absent}")
        return alone
    needed = [key for key, one in signature.items() if one.default is one.empty and one.kind in (0, 1, 3)]
    needed = [key for key in needed if key not in parameters]
    if set(needed) - {"epsilon", "delta"}:
        raise WrongTypeError(
            f"{name} must need no arguments but epsilon and delta; it needs {', '.join(needed)}. {CHOOSES}"
        )
    try:
        built = function(**{key: 1.0 if key == "epsilon" else 1e-6 for key in needed}, **parameters)
    except (ValueError, TypeError, ImportError, OSError):
        raise  # they say what is wrong
    except Exception as error:
        raise ValueError(f"{name} must return an Algorithm; it raises {type(error).__name__}: {error}.") from error
    if isinstance(built, Algorithm):
        name = label or built.name
        label = f"{name}{in_brackets(parameters)}"
        return AlgorithmSpec(name, parameters, label, factory=function, signature=signature)
    if not hasattr(built, "update"):
        received = f"a function that returns {checks.kind_of(built)}"
        raise _not_an_algorithm(label, received, f" {CHOOSES}")
    if of_privacy := [key for key in ("epsilon", "delta") if key in signature]:
        raise WrongTypeError(
            f"{name} takes {' and '.join(of_privacy)} and must return an Algorithm with a privacy wrapper; it returns"
            " an agent alone, which is not private. Return Algorithm('name', MyAgent, lambda env:"
            " LaplaceClipRescale(env, epsilon=epsilon))."
        )
    return alone


def adapter_for(agent: Any) -> str:
    """Return the name of the function in `adapters` for another package's object or a function; "" if there is none."""
    adapter = ADAPTERS.get(type(agent).__module__.partition(".")[0], "")
    return "from_function" if inspect.isfunction(agent) else adapter


def is_single_algorithm(algorithms: Any) -> bool:
    """Return whether a single algorithm is given; a policy of MABWiser is a tuple."""
    many = isinstance(algorithms, Iterable) and not isinstance(algorithms, (str, Algorithm))
    return not many or getattr(algorithms, "ndim", 1) == 0 or bool(adapter_for(algorithms))


def build_algorithm(algorithm: Any) -> Algorithm:
    """Return the algorithm of a name, an object or a function, with its own epsilon."""
    return read_algorithm(algorithm).build()


def _spec_in_table(written: str, parameters: dict[str, Any], label: str | None) -> AlgorithmSpec:
    if written in {*IDS, *map(short_name, IDS)} - {*ALGORITHMS}:
        raise UnknownNameError(f"{written!r} is an environment, no algorithm. Environments come first.")
    refuse_python_file(written)
    if written.isidentifier() and not checks.near_names(written, ALGORITHMS) and Path(f"{written}.py").is_file():
        raise UnknownNameError(f"unknown algorithm {written!r}. Write {written}:Name for what is in {written}.py.")
    name = checks.known_name("algorithm", written, ALGORITHMS)
    signature = {key: one for key, one in inspect.signature(ALGORITHMS[name]).parameters.items() if key != "label"}
    refuse_unknown_parameters(name, parameters, signature)
    return AlgorithmSpec(name, parameters, label or f"{name}{in_brackets(parameters)}", signature=signature)


class ImportedSpec(NamedTuple):
    """The parts of `module:Name:parameter=value`.

    Attributes:
        name: Its name.
        imported: The module's object of this name; None for an algorithm in the table, which the module may register.
        parameters: The parameters.
    """

    name: str
    imported: Any
    parameters: dict[str, Any]


def read_import(text: str) -> ImportedSpec | None:
    """Return the object of a text `module:Name` or `module:Name:parameter=value`; None for other texts.

    Raises:
        ValueError: If the module or the name in it does not exist.
    """
    parts = re.fullmatch(r"([\w.]+):([A-Za-z_][\w-]*)(?::(.*))?", text)
    if parts is None or parts[1].lower() in {known.lower() for known in ALGORITHMS}:
        return None
    module, name, written = parts.groups()
    imported = getattr(import_by_name(module), name, None)
    # What it registers, and not what this package has anyway.
    registered = (one for one, make in ALGORITHMS.items() if one.lower() == name.lower() and not is_builtin(make))
    registered_name = next(registered, None)
    if imported is None and registered_name is None:
        near = checks.near_names(name, [one for one in vars(import_by_name(module)) if not one.startswith("_")])
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(
            f"{module} must have {name}, or register it; received '{module}:{name}', and it does neither.{hint}"
        )
    if written == "":
        raise ValueError(f"parameters must follow the second colon, as in {module}:{name}:parameter=value; none do.")
    return ImportedSpec(
        name if imported is not None else str(registered_name), imported, read_arguments(written or "", name)
    )


def refuse_unknown_parameters(
    name: str, parameters: Mapping[str, Any], signature: Mapping[str, inspect.Parameter]
) -> None:
    """Raise if a function lacks a parameter."""
    if any(one.kind is one.VAR_KEYWORD for one in signature.values()):
        return
    if unknown := sorted(set(parameters) - set(signature)):
        known_names = ", ".join(sorted(signature)) or "none"
        raise ValueError(f"{name} has no parameter {unknown[0]!r}. Known: {known_names}.")


def _itself(algorithm: Algorithm) -> Algorithm:
    return algorithm


def _agent_with(name: str, make: Callable[..., Any], **parameters: Any) -> Algorithm:
    return Algorithm(name, functools.partial(make, **parameters), parameters=parameters)


def refuse_python_file(word: str) -> None:
    """Raise if a word is a Python file, in place of what is in it.

    Raises:
        ValueError: If it is.
    """
    if word.endswith(".py"):
        raise ValueError(f"a module is named without its ending; received {word!r}. Write {Path(word).stem}:Name.")


def import_by_name(module: str) -> Any:
    """Import a module by its name, also from the working directory.

    Raises:
        ValueError: If Python finds no such module, or it cannot be imported.
    """
    refuse_python_file(module)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        way_out = (
            f"Put {module}.py where you type the command, or beside your program, or its folder into PYTHONPATH."
            if error.name == module.split(".")[0]
            else f"The module {module} imports it; install it."
        )
        raise ValueError(f"module must be one that Python finds; {error}. {way_out}") from None
    except Exception as error:
        raise ValueError(
            f"module must be one that Python can import; {module} raises {type(error).__name__}: {error}. Correct it"
            " first."
        ) from error
