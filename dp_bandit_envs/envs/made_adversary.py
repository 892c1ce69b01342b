"""Makes the adversary of an environment from the environment's arguments."""

import copy
import inspect
from typing import Any, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.envs.registration import sized_adversaries
from dp_bandit_envs.errors import UnknownArgumentError, WrongTypeError


def make_adversary(env_class: type, adversary: Adversary | None, arguments: dict[str, Any]) -> Adversary:
    """Return a copy of the given adversary, so that several environments may be given one; or make that of a class."""
    adversary_class: type[Adversary] | None = env_class.adversary_class  # type: ignore[attr-defined]
    if adversary is not None:
        if not isinstance(adversary, Adversary):
            raise WrongTypeError(
                f"adversary must be an Adversary, such as dp_bandit_envs.adversaries.Stochastic(n_arms=10); received"
                f" {checks.kind_of(adversary)}. gymnasium.make('DPBandit-Stochastic-v0') makes a game by its name."
            )
        if arguments:
            raise WrongTypeError(f"an adversary was given, so give it these arguments: {', '.join(arguments)}.")
        return copy.copy(adversary)
    if adversary_class is None:
        raise WrongTypeError(
            f"{env_class.__name__} needs an adversary; for example BanditEnv(Stochastic(n_arms=10)), from"
            " dp_bandit_envs.adversaries."
        )
    known = list(inspect.signature(adversary_class).parameters)
    unknown = [name for name in arguments if name not in known]
    if unknown:
        hint = f"Known: {', '.join(known)}." if known else "An adversary's __init__ passes it to super().__init__()."
        raise UnknownArgumentError(f"{env_class.__name__}.__init__()", unknown[0], hint)
    return adversary_class(**arguments)


def refuse_unknown(env_class: type, arguments: dict[str, Any]) -> None:
    """Raise `UnknownArgumentError` for the first of these arguments, naming those that the class takes."""
    for name in arguments:
        parameters = inspect.signature(env_class).parameters.values()
        known = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
        raise UnknownArgumentError(f"{env_class.__name__}.__init__()", name, f"Known: {', '.join(known)}.")


def with_own_size(gains: Adversary, **sizes: SupportsIndex | None) -> Adversary:
    """Return an adversary, or raise ValueError if a size that is given, such as `n_arms=3`, is not its own."""
    for name, wanted in sizes.items():
        own = gains.horizon if name == "horizon" else gains.n_arms
        if wanted is not None and checks.integer(name, wanted, at_least=1) != own:
            raise ValueError(f"gains have their own {name} of {own}; received {name}={wanted}. Omit it.")
    return gains


def checked_adversary(gains: Any) -> Adversary:
    """Return an adversary, or raise `WrongTypeError`."""
    if isinstance(gains, Adversary):
        return gains
    raise WrongTypeError(
        f"gains must be a name, one of {', '.join(sized_adversaries())}, or an adversary, such as"
        f" dp_bandit_envs.adversaries.SwitchingCost(n_arms, horizon), or Replay(array) for numbers of your own;"
        f" received {checks.kind_of(gains)}."
    )


def named_adversary(name: str, n_arms: SupportsIndex, horizon: SupportsIndex) -> Adversary:
    """Return an adversary that needs a size only, by the name of its environment."""
    known = sized_adversaries()
    return known[checks.known_name("gains", name, known)](n_arms=n_arms, horizon=horizon)
