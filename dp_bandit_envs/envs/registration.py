"""The table of games and their registration with Gymnasium; runs on `import dp_bandit_envs`."""

import dataclasses
import importlib
import inspect
from typing import TYPE_CHECKING, Any

import gymnasium as gym

if TYPE_CHECKING:
    from dp_bandit_envs.adversaries.adversary import Adversary

CLASSES = "dp_bandit_envs.envs.game_classes"


@dataclasses.dataclass(frozen=True)
class Game:
    """A row of the table. Classes may be named as `"module:Class"`, to be imported when first used.

    Attributes:
        name: X of the id `DPBandit-X-v0`, in which `XEnv` is the class of one game and `XVectorEnv` that of many.
        adversary: The adversary's class, whose arguments and docstring become the environment's; None for a game
            whose environments are classes of their own.
        env: The class of one game.
        vector_env: The class of many games in lockstep.
    """

    name: str
    adversary: "str | type[Adversary] | None" = None
    env: str = ""
    vector_env: str = ""

    @property
    def id(self) -> str:
        """The id under which Gymnasium makes it."""
        return f"DPBandit-{self.name}-v0"

    @property
    def adversary_class(self) -> "type[Adversary] | None":
        """The adversary's class, imported."""
        return _loaded(self.adversary) if isinstance(self.adversary, str) else self.adversary

    @property
    def env_class(self) -> type[gym.Env[Any, Any]]:
        """The class of one game, imported."""
        return _loaded(self.env or f"{CLASSES}:{self.name}Env")  # type: ignore[no-any-return]

    def register(self) -> None:
        """Register the id with Gymnasium, unless it is there."""
        if self.id not in gym.registry:
            gym.register(
                id=self.id,
                entry_point=self.env or f"{CLASSES}:{self.name}Env",
                vector_entry_point=self.vector_env or f"{CLASSES}:{self.name}VectorEnv",
            )


_ADVERSARIES = "dp_bandit_envs.adversaries"
GAMES = {
    game.id: game
    for game in (
        Game("Deterministic", f"{_ADVERSARIES}.deterministic:Deterministic"),
        Game("Stochastic", f"{_ADVERSARIES}.stochastic:Stochastic"),
        Game("FullyOblivious", f"{_ADVERSARIES}.fully_oblivious:FullyOblivious"),
        Game("Oblivious", f"{_ADVERSARIES}.oblivious:Oblivious"),
        Game("Switching", f"{_ADVERSARIES}.switching:SwitchingCost"),
        Game("MemoryBounded", f"{_ADVERSARIES}.memory_bounded:MemoryBounded"),
        Game("Trial", f"{_ADVERSARIES}.trial:Trial"),
        Game("Replay", f"{_ADVERSARIES}.replay:Replay"),
        Game(
            "Graph",
            env="dp_bandit_envs.envs.graph_env:GraphEnv",
            vector_env="dp_bandit_envs.envs.graph_env:GraphVectorEnv",
        ),
    )
}
"""Every game by its id."""
IDS = GAMES.keys()
"""Every registered id; a live view, so that ids registered later are in it."""


def register() -> None:
    """Register all ids that are not registered yet."""
    for game in GAMES.values():
        game.register()


def sized_adversaries() -> "dict[str, type[Adversary]]":
    """Return the adversaries that need no more than a number of arms and of rounds, by the name of their game."""
    found = {}
    for game in GAMES.values():
        if game.adversary_class is not None:
            parameters = inspect.signature(game.adversary_class).parameters
            needed = {name for name, one in parameters.items() if one.default is one.empty}
            if {"n_arms", "horizon"} <= set(parameters) and needed <= {"n_arms", "horizon"}:
                found[game.name] = game.adversary_class
    return found


def _loaded(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)
