"""A bandit policy of river as an agent."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from dp_bandit_envs.adapters.reward_agent import RewardAgent
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.optional import require


class RiverAgent(RewardAgent):
    """Plays a clone of a river policy in each game.

    Args:
        policy: The policy, which itself never plays.
    """

    def __init__(self, policy: Any) -> None:
        self._template = policy
        self._takes_seed = "seed" in inspect.signature(type(policy)).parameters

    def _start(self, n_arms: int, seed: int) -> None:
        self._policy = self._template.clone({"seed": seed} if self._takes_seed else {})
        self._arms = list(range(n_arms))

    def _choose(self) -> int:
        arm: int = self._policy.pull(self._arms)
        return arm

    def _learn(self, arm: int, gain: float) -> None:
        self._policy.update(arm, gain)


def from_river(policy: Any) -> Callable[[], RiverAgent]:
    """Return a maker of agents that play a bandit policy of river.

    Each game has a clone of its own, with a seed from the game's random stream in place of the policy's; a policy
    class without the parameter `seed` keeps its own randomness.

    Args:
        policy: A policy of `river.bandit` without context: `UCB`, `EpsilonGreedy`, `Exp3`, `ThompsonSampling`, ...

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_river(policy), wrapping)`,
        `simulate` and `play(env, from_river(policy)())`.

    Raises:
        ImportError: If river is not installed.
        WrongTypeError: If it is no policy, or one that needs a context.
    """
    base = require("river.bandit.base", extra="neighbours")
    if not isinstance(policy, base.Policy):
        kind = f"the class {policy.__name__}" if isinstance(policy, type) else f"a {type(policy).__name__}"
        raise WrongTypeError(
            f"policy must be an object of river.bandit, such as river.bandit.UCB(delta=1); received {kind}."
        )
    if isinstance(policy, base.ContextualPolicy):
        raise WrongTypeError(
            f"policy must choose without a context, which these games do not have; received a {type(policy).__name__}."
            " Use UCB, EpsilonGreedy, Exp3 or ThompsonSampling."
        )
    return functools.partial(RiverAgent, policy)
