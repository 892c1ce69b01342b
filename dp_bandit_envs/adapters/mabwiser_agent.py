"""A learning policy of MABWiser as an agent."""

import functools
from collections.abc import Callable
from typing import Any

from dp_bandit_envs.adapters.reward_agent import RewardAgent
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.optional import require

CONTEXTUAL = ("LinGreedy", "LinTS", "LinUCB")


class MabWiserAgent(RewardAgent):
    """Plays a new `MAB` in each game.

    `MAB.predict` needs data first, so the agent begins by playing every arm in turn until its gain is released.

    Args:
        policy: A learning policy of MABWiser.
    """

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    def _start(self, n_arms: int, seed: int) -> None:
        mab = require("mabwiser.mab", extra="neighbours")
        self._mab = mab.MAB(arms=list(range(n_arms)), learning_policy=self._policy, seed=seed)
        self._untried = list(range(n_arms))
        self._is_fitted = False

    def _choose(self) -> int:
        if self._untried:
            return self._untried[0]
        arm: int = self._mab.predict()
        return arm

    def _learn(self, arm: int, gain: float) -> None:
        learn = self._mab.partial_fit if self._is_fitted else self._mab.fit
        learn([arm], [gain])
        self._is_fitted = True
        if arm in self._untried:
            self._untried.remove(arm)


def from_mabwiser(policy: Any) -> Callable[[], MabWiserAgent]:
    """Return a maker of agents that play a learning policy of MABWiser.

    Each game has a `MAB` of its own, with a seed from the game's random stream.

    Args:
        policy: A `mabwiser.mab.LearningPolicy` without context, such as `LearningPolicy.UCB1(alpha=1.25)`. With
            `ThompsonSampling`, give a binarizer wherever released gains are not 0 or 1.

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_mabwiser(policy), wrapping)`,
        `simulate` and `play(env, from_mabwiser(policy)())`.

    Raises:
        ImportError: If mabwiser is not installed.
        WrongTypeError: If it is no learning policy, or one that needs a context.
    """
    known = require("mabwiser.mab", extra="neighbours").LearningPolicy
    kind = policy.__name__ if isinstance(policy, type) else type(policy).__name__
    if kind in CONTEXTUAL:
        raise WrongTypeError(
            f"policy must choose without a context, which these games do not have; received {kind}. Use UCB1,"
            " EpsilonGreedy, Softmax, Popularity or ThompsonSampling."
        )
    if isinstance(policy, type) or type(policy) is not getattr(known, kind, None):
        raise WrongTypeError(
            "policy must be a learning policy of MABWiser, such as LearningPolicy.UCB1(alpha=1.25); received"
            f" {'the class' if isinstance(policy, type) else 'a'} {kind}."
        )
    return functools.partial(MabWiserAgent, policy)
