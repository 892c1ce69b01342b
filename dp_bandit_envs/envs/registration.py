"""The table of games and their registration with Gymnasium; runs on `import dp_bandit_envs`."""

import dataclasses
import inspect
import re
from typing import TYPE_CHECKING, Any, cast

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.errors import NameTakenError, WrongTypeError

if TYPE_CHECKING:
    from dp_bandit_envs.adversaries.adversary import Adversary

RESERVED = ("adversary", "num_envs", "arm_order", "observe_charge", "render_mode", "block_length")
"""Arguments of every environment, which an adversary cannot take."""
CLASSES = "dp_bandit_envs.envs.game_classes"


@dataclasses.dataclass(frozen=True)
class RegisteredGame:
    """A row of the table. Classes may be given as `"module:Class"`, which is imported on first use.

    Attributes:
        name: X of the id `DPBandit-X-v0`; `XEnv` is the class of one game, `XVectorEnv` of many.
        adversary: The adversary's class, whose arguments and docstring become the environment's; None for games with
            their own environment classes.
        env: The class of one game.
        vector_env: The class of many games in lockstep.
        sent: Whether another process registered it and plays its games here.
    """

    name: str
    adversary: "str | type[Adversary] | None" = None
    env: str = ""
    vector_env: str = ""
    sent: bool = False

    @property
    def id(self) -> str:
        """The game's id in Gymnasium."""
        return f"DPBandit-{self.name}-v0"

    @property
    def adversary_class(self) -> "type[Adversary] | None":
        """The adversary's class, imported."""
        loaded = load_env_creator(self.adversary) if isinstance(self.adversary, str) else self.adversary
        return cast("type[Adversary] | None", loaded)

    @property
    def env_class(self) -> type[gym.Env[Any, Any]]:
        """The class of one game, imported."""
        return cast("type[gym.Env[Any, Any]]", load_env_creator(self.env or f"{CLASSES}:{self.name}Env"))

    def register(self) -> None:
        """Register the id with Gymnasium, unless it is registered already."""
        if self.id not in gym.registry:
            gym.register(
                id=self.id,
                entry_point=self.env or f"{CLASSES}:{self.name}Env",
                vector_entry_point=self.vector_env or f"{CLASSES}:{self.name}VectorEnv",
                # Gymnasium's checker fails in every game after one that was refused at its reset.
                disable_env_checker=True,
            )


_ADVERSARIES = "dp_bandit_envs.adversaries"
GAMES = {
    game.id: game
    for game in (
        RegisteredGame("Deterministic", f"{_ADVERSARIES}.deterministic:Deterministic"),
        RegisteredGame("Stochastic", f"{_ADVERSARIES}.stochastic:Stochastic"),
        RegisteredGame("FullyOblivious", f"{_ADVERSARIES}.oblivious:FullyOblivious"),
        RegisteredGame("Oblivious", f"{_ADVERSARIES}.oblivious:Oblivious"),
        RegisteredGame("Switching", f"{_ADVERSARIES}.switching:SwitchingCost"),
        RegisteredGame("MemoryBounded", f"{_ADVERSARIES}.memory_bounded:MemoryBounded"),
        RegisteredGame("Trial", f"{_ADVERSARIES}.trial:Trial"),
        RegisteredGame("Linear", f"{_ADVERSARIES}.linear_gains:LinearGains"),
        RegisteredGame("Shifting", f"{_ADVERSARIES}.shifting:Shifting"),
        RegisteredGame("Constrained", f"{_ADVERSARIES}.constrained:ConstrainedCoins"),
        RegisteredGame("Leaders", f"{_ADVERSARIES}.leader_blocks:LeaderBlocks"),
        RegisteredGame("Replay", f"{_ADVERSARIES}.replay:Replay"),
        RegisteredGame(
            "Experts",
            env="dp_bandit_envs.envs.experts_env:ExpertsEnv",
            vector_env="dp_bandit_envs.envs.experts_env:ExpertsVectorEnv",
        ),
        *(
            RegisteredGame(
                name,
                env=f"dp_bandit_envs.envs.point_env:{name}Env",
                vector_env=f"dp_bandit_envs.envs.point_vector_env:{name}VectorEnv",
            )
            for name in ("Ball", "Cube", "Simplex")
        ),
        RegisteredGame(
            "Graph",
            env="dp_bandit_envs.envs.graph_env:GraphEnv",
            vector_env="dp_bandit_envs.envs.graph_env:GraphVectorEnv",
        ),
    )
}
"""Every game by its id."""
IDS = GAMES.keys()
"""Every registered id; a live view, so that ids registered later are in it."""


def environment_names() -> list[str]:
    """Return all registered ids for `gym.make`; other functions accept short names such as `"Stochastic"`.

    Example:
        >>> from dp_bandit_envs import environment_names
        >>> environment_names()[:2]
        ['DPBandit-Deterministic-v0', 'DPBandit-Stochastic-v0']
    """
    return list(GAMES)


def register() -> None:
    """Register all ids that are not registered yet."""
    for game in GAMES.values():
        game.register()


@checks.answers_wrong_calls
def register_adversary(name: str, adversary_class: "type[Adversary]") -> str:
    """Register your own adversary as the environment `DPBandit-<name>-v0`.

    `gym.make`, `gym.make_vec`, `simulate`, `dp-bandit run`, and `gains="<name>"` of the graph game then accept it. The
    class's arguments and their defaults become the environment's, and so does its docstring: the first line, the
    description, `Args`, and a paragraph `Source: ...`.

    Defining a class again, as by rerunning a notebook cell or by `importlib.reload`, replaces the older class; existing
    environments keep the old one.

    Each process has its own table. `simulate(..., jobs=2)` repeats the registration in its workers, and so does a
    pickled environment or its class; the adversary must then be importable there, or be sent by cloudpickle. For other
    processes (`dp-bandit`) put the class and this call at the top level of a module `mine` that they can import, and
    name the module in the id, as everywhere in Gymnasium: `mine:DPBandit-<name>-v0`.

    Args:
        name: Letters and digits, beginning with a capital letter, such as `"Drifting"`.
        adversary_class: A class that inherits `Adversary`.

    Returns:
        The id.

    Raises:
        WrongTypeError: If the name is not text, or the class is not an adversary class.
        ValueError: If the name is not as above, or the class has an argument that every environment has.
        NameTakenError: If a game of this name exists, ignoring case, unless its class has the same name at the top
            level of the same module.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import register_adversary
        >>> from dp_bandit_envs.adversaries import Stochastic
        >>> class EasyCoins(Stochastic):
        ...     def __init__(self, horizon=100): super().__init__(means=[0.1, 0.9], horizon=horizon)
        >>> register_adversary("EasyCoins", EasyCoins)
        'DPBandit-EasyCoins-v0'
        >>> gym.make("DPBandit-EasyCoins-v0").unwrapped.horizon
        100
    """
    from dp_bandit_envs.adversaries.adversary import Adversary

    if not isinstance(name, str):
        raise WrongTypeError(f"name must be text, such as 'Drifting'; received {checks.kind_of(name)}.")
    if not re.fullmatch("[A-Z][A-Za-z0-9]*", name) or name.endswith("Vector"):
        raise ValueError(
            "name must be letters and digits that begin with a capital letter and do not end in Vector, such as"
            f" 'Drifting'; received {name!r}."
        )
    if not isinstance(adversary_class, type):
        raise WrongTypeError(
            f"adversary_class must be a class, not an object; received {checks.kind_of(adversary_class)}. Use"
            " BanditEnv(adversary) for an object."
        )
    if not issubclass(adversary_class, Adversary) or inspect.isabstract(adversary_class):
        raise WrongTypeError(
            "adversary_class must inherit Adversary and define begin and next_gains; received"
            f" {adversary_class.__name__}."
        )
    taken = sorted(set(inspect.signature(adversary_class).parameters) & set(RESERVED))
    if taken:
        raise ValueError(
            f"an adversary must not take {', '.join(RESERVED)}, which are arguments of every environment;"
            f" {adversary_class.__name__} takes {', '.join(taken)}. Rename it."
        )
    game = RegisteredGame(name, adversary_class)
    registered = GAMES.get(game.id, game)
    if registered.sent:  # such as by a module that is imported here and there
        return registered.id
    if registered is not game and is_defined_again(registered.adversary, adversary_class):
        _forget(registered)
    same = [one for one in (*GAMES, *gym.registry) if one.lower() == game.id.lower()]
    if same:
        raise NameTakenError(
            f"name must be new; received {name!r}, but {same[0]} exists. Use another name, or define"
            " the class at the top level of a module or notebook to register it again."
        )
    GAMES[game.id] = game
    game.register()
    return game.id


def is_defined_again(older: Any, newer: Any) -> bool:
    """Return whether a class redefines another: same name, same module at top level, not of this package."""
    names = [(getattr(one, "__module__", None), getattr(one, "__qualname__", "<")) for one in (older, newer)]
    return names[0] == names[1] and "<" not in names[0][1] and not is_builtin(newer)


def _forget(game: RegisteredGame) -> None:
    del GAMES[game.id]
    gym.registry.pop(game.id, None)


def foreign_games() -> list[RegisteredGame]:
    """Return the games that `register_adversary` added in this process."""
    return [game for game in GAMES.values() if isinstance(game.adversary, type)]


def register_here(name: str, adversary_class: "type[Adversary]") -> None:
    """Register a game from another process, replacing an older game of that name.

    Workers outlive a simulation; the class may have been edited and registered again.
    """
    registered = next((game for game in foreign_games() if game.name == name), None)
    if registered is not None and registered.adversary is not adversary_class:
        _forget(registered)
        registered = None
    if registered is None:
        id_ = register_adversary(name, adversary_class)
        GAMES[id_] = dataclasses.replace(GAMES[id_], sent=True)


def sized_adversaries() -> "dict[str, type[Adversary]]":
    """Return the adversaries that need only `n_arms` and `horizon`, by the name of their game."""
    adversaries = {}
    for game in GAMES.values():
        if game.adversary_class is not None:
            parameters = inspect.signature(game.adversary_class).parameters
            needed = {name for name, one in parameters.items() if one.default is one.empty}
            if {"n_arms", "horizon"} <= set(parameters) and needed <= {"n_arms", "horizon"}:
                adversaries[game.name] = game.adversary_class
    return adversaries
