"""Makes the adversary of an environment from the environment's arguments."""

import inspect
from typing import Any

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.errors import UnknownArgumentError, WrongTypeError


def make_adversary(env_class: type, adversary: Adversary | None, arguments: dict[str, Any]) -> Adversary:
    """Return the given adversary, or make that of a registered environment's class from the arguments."""
    adversary_class: type[Adversary] | None = env_class.adversary_class  # type: ignore[attr-defined]
    if adversary is not None:
        if not isinstance(adversary, Adversary):
            raise WrongTypeError(f"adversary must be an Adversary; received a {type(adversary).__name__}.")
        if arguments:
            raise WrongTypeError(f"an adversary was given, so give it these arguments: {', '.join(arguments)}.")
        return adversary
    if adversary_class is None:
        raise WrongTypeError(f"{env_class.__name__} needs an adversary; for example BanditEnv(Stochastic(n_arms=10)).")
    known = list(inspect.signature(adversary_class).parameters)
    unknown = [name for name in arguments if name not in known]
    if unknown:
        raise UnknownArgumentError(f"{env_class.__name__}.__init__()", unknown[0], f"Known: {', '.join(known)}.")
    return adversary_class(**arguments)
