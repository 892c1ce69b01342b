"""Exact running sums, for agents without privacy."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Below, Mechanism, Noise
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """Sum and number of each arm's gains so far, `(n_arms,)`."""

    exact: FloatArray
    inserted: IntArray


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add a gain to its arm's sum, and release it."""
    state.exact[arm] += gain
    state.inserted[arm] += 1
    return state.exact[arm], state.inserted[arm]


class ExactSums(Mechanism):
    """Releases exact running sums, for agents such as `Ucb`; it adds no privacy.

    Above a wrapper that adds noise to each gain, such as `RandomizedResponse`, the sums are noisy, and that wrapper's
    guarantee holds: summing is post-processing.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import ExactSums, Ucb, play
        >>> env = ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000))
        >>> game = play(env, Ucb(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 97% of all rounds
    """

    release = staticmethod(release)
    releases_sums = True
    any_range = True
    example: ClassVar[dict[str, Any]] = {}

    def new_state(self, below: Below) -> State:
        """Return empty sums."""
        return State(np.zeros(below.n_values), np.zeros(below.n_values, np.int64))

    def noise(self, below: Below) -> Noise:
        """Return what is below, as nothing is added."""
        return below.noise

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Return none: summing adds nothing to the guarantee below."""
        return PrivacyGuarantee.none("sums without noise guarantee nothing")
