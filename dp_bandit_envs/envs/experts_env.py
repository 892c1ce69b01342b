"""Games with expert advice: a round reveals the gains of all arms, whichever is played."""

from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs.adversaries import Adversary, Stochastic
from dp_bandit_envs.adversaries.stochastic import number_of_means
from dp_bandit_envs.envs.bandit_env import BanditEnv, checked_adversary, named_adversary, refuse_unknown, with_own_size
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.privacy.facts import ValueRange, all_gains_of_arms
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation

N_ARMS = 10
HORIZON = 2**16


class ExpertsEnv(BanditEnv):
    """Prediction with expert advice: every round reveals the gain of every arm, an expert.

    ## Description
    The reward is the gain of the arm played; the observation holds the gains of all arms, so `observed` is all 1. This
    is full information, as on the graph `"complete"` of `DPBandit-Graph-v0`, without the graph. A round reveals K
    gains, so `sensitivity` is K. A charge for switching applies to the arm played only; if the adversary has a payoff
    function, the other arms show their payoffs after the same earlier arms.

    ## Arguments
    `n_arms=10`, `horizon=65_536`; `means=None`: the means of Bernoulli arms, by default .55 for one arm and .5 for the
    others. `gains=`: alternatively another adversary, by the name of its environment, such as `"Switching"`, or your
    own adversary, with its own number of arms and horizon. `arm_order=None`: `"given"` (the default with `means`) or
    `"random"`: each game numbers the arms at random.

    ## Version History
    v0: first version.

    ## References
    Freund and Schapire (1997), A Decision-Theoretic Generalization of On-Line Learning, JCSS; Agarwal and Singh (2017),
    The Price of Differential Privacy for Online Learning, ICML.
    """

    def __init__(
        self,
        n_arms: SupportsIndex | None = None,
        horizon: SupportsIndex | None = None,
        *,
        gains: Adversary | str | None = None,
        means: ArrayLike | None = None,
        arm_order: str | None = None,
        observe_charge: bool = True,
        render_mode: str | None = None,
        block_length: SupportsIndex = 4096,
        **unknown: Any,
    ) -> None:
        refuse_unknown(type(self), unknown)
        adversary = experts_adversary(gains, means, n_arms, horizon)
        super().__init__(
            adversary,
            arm_order=arm_order,
            observe_charge=observe_charge,
            render_mode=render_mode,
            block_length=block_length,
        )
        self.sensitivity = float(self.n_arms)

    @property
    def values(self) -> ValueRange:
        """Public facts about the gains that a round reveals."""
        return all_gains_of_arms(self.n_arms)

    def _reveal(self, arm: int, gain: float) -> Observation:
        gains = self._shown().copy()
        gains[arm] = gain
        return {"gain": gains, "observed": np.ones(self.n_arms, np.int8)}


class ExpertsVectorEnv(BanditVectorEnv):
    """Many games of `ExpertsEnv` in lockstep.

    Args:
        num_envs: Number of games.
        n_arms: As in `ExpertsEnv`.
        horizon: As in `ExpertsEnv`.
        gains: As in `ExpertsEnv`.
        means: As in `ExpertsEnv`.
        arm_order: As in `ExpertsEnv`.
        observe_charge: As in `ExpertsEnv`.
        render_mode: None, `"rgb_array"` or `"ansi"`.
        unknown: Refused.
    """

    def __init__(
        self,
        num_envs: SupportsIndex = 1,
        n_arms: SupportsIndex | None = None,
        horizon: SupportsIndex | None = None,
        *,
        gains: Adversary | str | None = None,
        means: ArrayLike | None = None,
        arm_order: str | None = None,
        observe_charge: bool = True,
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        refuse_unknown(type(self), unknown)
        adversary = experts_adversary(gains, means, n_arms, horizon)
        super().__init__(
            num_envs, adversary, arm_order=arm_order, observe_charge=observe_charge, render_mode=render_mode
        )
        self.sensitivity = float(self.n_arms)

    @property
    def values(self) -> ValueRange:
        """Public facts about the gains that a round of one game reveals."""
        return all_gains_of_arms(self.n_arms)

    def _reveal(self, arms: IntArray, row: FloatArray, to_show: FloatArray) -> Observation:
        gains = row.copy()
        gains[np.arange(self.num_envs), arms] = to_show
        return {"gain": gains, "observed": np.ones(row.shape, np.int8)}


def experts_adversary(
    gains: Adversary | str | None, means: ArrayLike | None, n_arms: SupportsIndex | None, horizon: SupportsIndex | None
) -> Adversary:
    """Return the adversary of a game; arguments as in `ExpertsEnv`."""
    if gains is not None and means is not None:
        raise ValueError("gains and means both say what arms pay; give one.")
    if gains is not None and not isinstance(gains, str):
        return with_own_size(checked_adversary(gains), n_arms=n_arms, horizon=horizon)
    if n_arms is None:
        n_arms = N_ARMS if means is None else number_of_means(means)
    rounds = HORIZON if horizon is None else horizon
    return named_adversary(gains, n_arms, rounds) if gains is not None else Stochastic(n_arms, rounds, means=means)
