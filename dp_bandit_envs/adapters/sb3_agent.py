"""A trained model of Stable-Baselines3 as an agent, under the common name of adapters."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.optional import require

if TYPE_CHECKING:
    from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent


def from_sb3(model: Any, *, deterministic: bool = False) -> "Callable[[], Sb3Agent]":
    """Return a maker of agents that play a trained model, which learns nothing more: `Sb3Agent` under another name.

    The agents share the model and its random numbers, whose seed comes from the random stream of the game that began
    last; so play one game after the other.

    Args:
        model: A model of Stable-Baselines3 or sb3-contrib, trained on a DPBandit environment with Discrete actions, on
            one behind privacy wrappers, or on either behind `FlattenObservation`.
        deterministic: Whether to play the model's best arm instead of drawing one.

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_sb3(model), wrapping)`,
        `simulate` and `play(env, from_sb3(model)())`.

    Raises:
        ImportError: If Stable-Baselines3 is not installed.
        WrongTypeError: If it is no model for arms.
    """
    checks.boolean("deterministic", deterministic)
    base = require("stable_baselines3.common.base_class", extra="sb3").BaseAlgorithm
    if not isinstance(model, base) or not hasattr(model.action_space, "n"):
        kind = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise WrongTypeError(
            "model must be a model of Stable-Baselines3 with Discrete actions, such as PPO('MultiInputPolicy', env);"
            f" received {kind}."
        )
    from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent

    return functools.partial(Sb3Agent, model, deterministic=deterministic)
