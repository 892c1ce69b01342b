"""An environment whose gains are handed in from outside, one round before each step: what a boundary is put around."""

from typing import Any, ClassVar, SupportsIndex

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.data_use import DataUse
from dp_bandit_envs.envs.bandit_env import empty_observation, observation_space
from dp_bandit_envs.errors import StepOutsideGameError
from dp_bandit_envs.privacy.facts import gains_of_arms
from dp_bandit_envs.protocols import Observation
from dp_bandit_envs.wrappers.boundary import Withheld


class FedEnv(gym.Env[Observation, int]):
    """A game whose gains somebody else knows.

    It keeps a gain from `hand_in` to the step that reveals it, where neither a repr nor a list of attributes shows it,
    and then forgets it. There are no regrets and no totals.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        data_use: In how many rounds a record, and a person, can serve.
        ledger: The ledger of the data, if there is one.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]
    sensitivity: float = 1.0
    """L1 distance between observations in neighbouring games: a round reveals one gain in [0, 1]."""
    values = gains_of_arms(1.0)
    is_real = True

    def __init__(self, n_arms: SupportsIndex, horizon: SupportsIndex, data_use: DataUse, ledger: Any) -> None:
        self.n_arms = checks.integer("n_arms", n_arms, at_least=2, at_most=checks.MOST_ARMS)
        self.horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.MOST_ROUNDS)
        self.n_values = self.n_arms
        self.data_use, self._ledger = data_use, ledger
        self.action_space = gym.spaces.Discrete(self.n_arms)  # type: ignore[assignment]
        self.observation_space = observation_space(self.n_arms)  # type: ignore[assignment]
        self._round = -1  # before the first reset
        self._handed: Withheld = Withheld([])

    @property
    def waiting(self) -> int:
        """Number of gains that were handed in and not yet revealed."""
        return len(self._handed.value)

    def hand_in(self, arm: int, gain: float) -> None:
        """Take the gain of the arm that the next step plays, in [0, 1]."""
        self._handed.value.append((arm, gain))

    def forget(self) -> None:
        """Forget all gains that were not revealed."""
        self._handed.value.clear()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game; without the leave of the ledger none begins."""
        self._round = -1
        if self._ledger is not None:
            self._ledger.enter(self.data_use)
        self._handed = Withheld([])
        self._round = 0
        return empty_observation(self.n_arms), {"round": 0}

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Reveal the gain that was handed in for this arm."""
        arm = checks.arm(action, self.n_arms)
        if not 0 <= self._round < self.horizon:
            raise StepOutsideGameError("the game has not begun or has ended; call reset() first.")
        if not self.waiting or self._handed.value[0][0] != arm:
            raise ValueError(f"no gain was handed in for arm {arm}; call hand_in(arm, gain) before each step.")
        _, gain = self._handed.value.pop(0)
        self._round += 1
        observation = empty_observation(self.n_arms)
        observation["gain"][arm] = gain
        observation["observed"][arm] = np.int8(1)
        return observation, gain, self._round == self.horizon, False, {"round": self._round}
