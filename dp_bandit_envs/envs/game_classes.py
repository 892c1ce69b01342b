"""The classes behind the ids, made from the table of games: `SwitchingEnv`, `SwitchingVectorEnv` and so on.

They are created on first access. Arguments, defaults and documentation come from the adversary.
"""

import copyreg
import inspect
from typing import Any

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.game_docs import game_docs
from dp_bandit_envs.envs.registration import GAMES, register_adversary


def __getattr__(name: str) -> Any:
    """Make the class of a game of the table."""
    for game in GAMES.values():
        if game.adversary_class is not None:
            if name == f"{game.name}Env":
                docs = game_docs(game.adversary_class, common_arguments(BanditEnv))
                return _keep(name, BanditEnv, game.adversary_class, docs)
            if name == f"{game.name}VectorEnv":
                docs = f"Many games of `{game.name}Env` in lockstep; it takes the same arguments.\n"
                return _keep(name, BanditVectorEnv, game.adversary_class, docs)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    names = [game.name for game in GAMES.values() if game.adversary_class is not None]
    return sorted([*globals(), *(f"{name}{kind}" for name in names for kind in ("Env", "VectorEnv"))])


class GameClass(type):
    """The metaclass of these classes; a pickle contains the adversary's class, so that its reader can register it."""


def found_again(class_name: str, game_name: str, adversary_class: type[Adversary]) -> Any:
    """Return the class of a game in another process, where the game may be unknown yet."""
    if not any(game.name == game_name for game in GAMES.values()):
        register_adversary(game_name, adversary_class)
    return __getattr__(class_name) if class_name not in globals() else globals()[class_name]


def _reduced(class_: GameClass) -> Any:
    ours = next(
        (game for game in GAMES.values() if game.adversary_class is class_.__dict__.get("adversary_class")), None
    )
    kept = globals().get(class_.__name__) is class_
    # A user's subclass of one of these is pickled by its own name.
    return (found_again, (class_.__name__, ours.name, ours.adversary_class)) if ours and kept else class_.__qualname__


copyreg.pickle(GameClass, _reduced)


def common_arguments(base: type) -> dict[str, inspect.Parameter]:
    """Return the arguments that all games of this kind take besides their adversary's."""
    parameters = inspect.signature(base).parameters
    return {name: one for name, one in parameters.items() if name != "adversary" and one.kind is not one.VAR_KEYWORD}


def _keep(name: str, base: type, adversary_class: type[Adversary], docs: str) -> type:
    """Create a class and store it in this module, so that there is only one and pickle finds it."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        base.__init__(self, *args, **kwargs)  # type: ignore[misc]

    # Without annotations, which would make names and defaults hard to read; the docstring gives ranges.
    empty = inspect.Parameter.empty
    own = inspect.signature(adversary_class).parameters.values()
    common = [one.replace(annotation=empty) for one in common_arguments(base).values()]
    first = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    first += [one for one in common if one.kind is one.POSITIONAL_OR_KEYWORD]
    last = [one.replace(kind=one.KEYWORD_ONLY, annotation=empty) for one in own if one.kind is not one.VAR_KEYWORD]
    last += [one for one in common if one.kind is one.KEYWORD_ONLY]
    __init__.__signature__ = inspect.Signature([*first, *last])  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    members = {"adversary_class": adversary_class, "__init__": __init__, "__module__": __name__, "__doc__": docs}
    made: type = globals().setdefault(name, GameClass(name, (base,), members))
    return made
