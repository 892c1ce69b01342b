"""Private games as Gymnasium ids, for tools that create environments only by id."""

import copy
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from dp_bandit_envs import checks, wrappers as named
from dp_bandit_envs.errors import NameTakenError, UnknownArgumentError, WrongTypeError
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.boundary import BoundaryBase
from dp_bandit_envs.wrappers.layers import layers_of

Wrap = Callable[..., Environment]


_GAMES: dict[str, tuple[str, dict[str, Any], list[tuple[Wrap, dict[str, Any]]]]] = {}
"""The game, its arguments and the layers of each id; arguments may be private, so they are here and never in a spec."""
MAKE = "make "
"""The beginning of an entry point's name; with its space, it is no name of this module."""


@checks.answers_wrong_calls
def register_private(
    id: str,
    *,
    game: str,
    wrappers: Sequence[str | Wrap],
    env_kwargs: Mapping[str, Any] | None = None,
    **privacy: Any,
) -> str:
    """Register a game behind privacy wrappers as an id of Gymnasium.

    `gym.make(id)` returns an environment that shows released values only; `gym.make_vec(id, num_envs=...)` steps
    several games, one after the other. Arguments given to `gym.make`, such as `render_mode`, go to the game. The
    environment's `spec` holds the id, but no arguments.

    Each process has its own table of ids. For others, such as the workers of a `SubprocVecEnv`, put this call at the
    top level of a module `mine` that they can import, and use the id `mine:MyTrial-v0`.

    Args:
        id: The new id, such as `"MyTrial-v0"`.
        game: The id of the game, such as `"DPBandit-Trial-v0"`.
        wrappers: Wrappers around the game, innermost first: names such as `"LaplaceClipRescale"`, classes, or functions
            of an environment. At least one must be a privacy wrapper; wrappers above it, such as Gymnasium's
            `FlattenObservation`, see released values.
        env_kwargs: Arguments of the game, such as `gains=`.
        privacy: Arguments of the wrappers, such as `epsilon=`; each goes to every wrapper that has a parameter of this
            name.

    Returns:
        The id.

    Raises:
        WrongTypeError: If an argument has the wrong type.
        UnknownNameError: If no wrapper of this project has this name.
        UnknownArgumentError: If no wrapper takes an argument of this name.
        NameTakenError: If the id exists.
        ValueError: If the id has other characters than letters, digits and _ - . /.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import register_private
        >>> register_private("Noisy-v0", game="DPBandit-Stochastic-v0", wrappers=["LaplaceClipRescale"], epsilon=0.5)
        'Noisy-v0'
        >>> gym.make("Noisy-v0", horizon=100).get_wrapper_attr("guarantee").epsilon
        0.5
    """
    for name, text in (("id", id), ("game", game)):
        if not isinstance(text, str):
            raise WrongTypeError(f"{name} must be text, such as 'MyTrial-v0'; received {checks.kind_of(text)}.")
    if isinstance(wrappers, str) or not isinstance(wrappers, Sequence) or not wrappers:
        raise WrongTypeError(f"wrappers must be a list of at least one; received {wrappers!r}.")
    if not re.fullmatch(r"[\w./-]+", id):
        raise ValueError(f"id must be letters, digits and any of _ - . /, such as 'MyTrial-v0'; received {id!r}.")
    if id in gym.registry:
        raise NameTakenError(f"id must be new; received {id!r}, which exists. Use another one.")
    layers = []
    for wrapper in wrappers:
        wrap: Wrap = wrapper  # type: ignore[assignment]
        if isinstance(wrapper, str):
            wrap = getattr(named, checks.known_name("wrapper", wrapper, MECHANISMS))
        if not callable(wrap):
            raise WrongTypeError(f"a wrapper must be a name, a class or a function; received {checks.kind_of(wrap)}.")
        takes = inspect.signature(wrap).parameters
        layers.append((wrap, {name: privacy[name] for name in privacy if name in takes}))
    unused = [name for name in privacy if not any(name in taken for _, taken in layers)]
    if unused:
        raise UnknownArgumentError("register_private()", unused[0], "No wrapper takes it; env_kwargs are the game's.")
    # A name as entry point, as a spec shows it: a function would bring its arguments along.
    gym.register(id, entry_point=f"{__name__}:{MAKE}{id}", disable_env_checker=True)
    _GAMES[id] = game, dict(env_kwargs or {}), layers
    return id


def __getattr__(name: str) -> Any:
    """Return the function that makes the game of an id; Gymnasium finds entry points as attributes of a module."""
    id = name.removeprefix(MAKE)
    if id == name or id not in _GAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return lambda **arguments: _make(id, arguments)


def _make(id: str, arguments: dict[str, Any]) -> Environment:
    game, env_kwargs, layers = _GAMES[id]
    message = None
    try:
        env: Environment = gym.make(game, disable_env_checker=True, **{**env_kwargs, **arguments})
    except TypeError as error:
        # Gymnasium appends all arguments, private ones among them, to the message.
        message = str(error)
    if message is not None:
        raise WrongTypeError(message)
    for wrap, privacy in layers:
        env = wrap(env, **privacy)
    boundary = next((layer for layer in layers_of(env) if isinstance(layer, BoundaryBase)), None)
    if boundary is None:
        env.close()
        raise WrongTypeError(f"{id} needs a privacy wrapper, such as 'LaplaceClipRescale'; its wrappers have none.")
    boundary._spec = copy.deepcopy(gym.spec(id))
    return env
