"""A bandit of another package as an environment for `play` and the privacy wrappers."""

from typing import Any, Final, SupportsFloat, SupportsIndex

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.adapters.outside_game import RewardRange
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import StepOutsideGameError, WrongTypeError
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.protocols import Environment, FloatArray, Observation

SEEDS: Final = 2**31


class ForeignRewards(Adversary):
    """Plays the rounds of another package's environment; only the gain of the arm played is known."""

    arm: int = 0
    """The arm of the next round, which the game sets."""
    serves_once: bool = False
    """Whether records must not be reused, so that a game ends with its episode."""

    def __init__(
        self,
        env: Environment,
        horizon: SupportsIndex,
        rewards: RewardRange,
        means: FloatArray | None,
        data_use: Participation | None,
        ledger: Any,
        is_real: bool,
    ) -> None:
        actions: Any = env.action_space
        super().__init__(int(actions.n), horizon)
        self._env, self._first, self._rewards = env, int(actions.start), rewards
        if means is not None and means.shape != (self.n_arms,):
            raise ValueError(f"means must be one number for each of {self.n_arms} arms; received shape {means.shape}.")
        self.means = None if means is None else rewards.gains_of_means(means)
        self.data_use, self.ledger, self._is_real = data_use, ledger, is_real

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game, with a seed for the environment from this game's stream."""
        self.enter_ledger()
        self._env.reset(seed=int(rng.integers(SEEDS)))
        self._has_ended = False

    def next_gains(self, rounds: int) -> FloatArray:
        """Play one round; return its gains, shape `(1, n_arms)`, NaN for all arms but the one played."""
        if rounds != 1:
            raise ValueError(f"a foreign environment is played round by round; received a block of {rounds}.")
        if self._has_ended:
            if self.serves_once:
                raise StepOutsideGameError(
                    "an episode of the foreign environment ended within a game on real data, and another one would"
                    " serve its records again, which no guarantee here counts. Give from_gymnasium records=, the most"
                    " rounds of a game in which one record serves, or a horizon of one episode."
                )
            self._env.reset()
        _, reward, terminated, truncated, _ = self._env.step(self._first + self.arm)
        self._has_ended = bool(terminated or truncated)
        gains = np.full((1, self.n_arms), np.nan)
        gains[0, self.arm] = self._rewards.gain_of(reward)
        return gains

    def check_range(self, gains: FloatArray) -> None:
        """Skip the check: the range of each reward was checked on arrival."""


class ForeignEnv(BanditEnv):
    """A game against another package's environment; made by `from_gymnasium`.

    Its gain is the reward, scaled to [0, 1], of the arm played. External and policy regret are NaN, because the gains
    of other arms are unknown; the pseudo-regret is known if `means` are given.
    """

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play one round."""
        arm = self._take(action)
        rewards: Any = self.adversary
        rewards.arm = arm
        return super().step(arm)


@checks.answers_wrong_calls
def from_gymnasium(
    env: Environment,
    *,
    horizon: SupportsIndex,
    low: SupportsFloat,
    high: SupportsFloat,
    clip: bool = False,
    means: ArrayLike | None = None,
    is_real: bool = False,
    records: SupportsIndex | None = None,
    persons: SupportsIndex | None = None,
    ledger: Any = None,
) -> ForeignEnv:
    """Return another package's bandit as a DPBandit environment, for `play`, `simulate` and the privacy wrappers.

    Only actions and rewards of the environment are used; observations and infos are discarded. Games last exactly
    `horizon` rounds. If an episode ends earlier, the next episode begins (`reset()` without a seed), so no flag that
    depends on gains is visible. Each game begins with a seed from the game's own random stream.

    **Guarantee.** Wrappers protect one round's reward if it does not influence later rounds. If it does (the
    environment's state depends on rewards, or a person returns), the guarantee covers a change of one reward with all
    other rewards fixed.

    Args:
        env: An environment with `Discrete` actions, at least 2.
        horizon: Number of rounds T, at least 1.
        low: The reward that becomes gain 0. `low` and `high` are public: do not compute them from the data.
        high: The reward that becomes gain 1.
        clip: Whether to clip rewards outside [low, high]; otherwise they end the game.
        means: The arms' mean rewards after clipping, shape `(n_arms,)`, in [low, high], if known; used for the
            pseudo-regret only.
        is_real: Whether rewards are real data; the seed should then be secret, and a known seed gives a
            `KnownSeedWarning`.
        records: The most rounds of a game that use one record. By default 1; on real data the end of an episode is then
            an error, because the next episode would use its records again.
        persons: The most rounds of a game that belong to one person; None if unknown.
        ledger: A `dp_bandit_envs.Ledger` that counts the games on these data.

    Raises:
        WrongTypeError: If it is not a Gymnasium environment, its actions are not arms, or it is from this package.
        ValueError: If the range is empty, or a mean is outside.
    """
    if not isinstance(env, gym.Env):
        raise WrongTypeError(f"env must be a gymnasium.Env; received {checks.kind_of(env)}. Use gymnasium.make(...).")
    if isinstance(env.unwrapped, BanditEnv):
        raise WrongTypeError(
            f"env must be another package's environment; received {env.unwrapped}, which is taken by play and by"
            " privacy wrappers as it is."
        )
    if not isinstance(env.action_space, gym.spaces.Discrete):
        raise WrongTypeError(
            f"env must have arms, which are Discrete actions; received one with {env.action_space}. Put a"
            " gymnasium.ActionWrapper around it."
        )
    arm_means = None if means is None else np.asarray(means, dtype=np.float64)
    use = None
    if persons is not None or ledger is not None or checks.boolean("is_real", is_real):
        most = 1 if records is None else checks.integer("records", records, at_least=1)
        use = Participation(most, None if persons is None else checks.integer("persons", persons, at_least=most))
    rewards = RewardRange.checked(low, high, clip)
    # Rewards with persons or a ledger are real data.
    played = ForeignRewards(env, horizon, rewards, arm_means, use, ledger, use is not None)
    played.serves_once = use is not None and records is None
    return ForeignEnv(played, block_length=1)
