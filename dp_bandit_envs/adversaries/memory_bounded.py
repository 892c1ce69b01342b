"""The m-bounded memory adversary: a round's payoff depends on the last m + 1 arms."""

import copy
from typing import Any, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.payoff import MOST_MEMORY, Payoff, checked_payoff
from dp_bandit_envs.adversaries.switching import SwitchingCost
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.protocols import FloatArray


def gain_counts(run: Any, t: int, memory: int) -> Any:
    """Return whether a round's gain counts; it is charged if the agent switched to this arm too recently.

    Args:
        run: Number of consecutive rounds with this arm, including this round; a number, or an array of any shape, one
            entry per game.
        t: The round, from 1.
        memory: The adversary's m. The arm must also have been played in the m rounds before, or in all earlier rounds
            if fewer.
    """
    return run >= min(memory + 1, t)


class MemoryBounded(Adversary):
    r"""A round's payoff depends on the last m + 1 arms; by default, a gain counts only after m rounds with one arm.

    By default a round pays 0 unless its arm was also played in the `memory` rounds before (or in all earlier rounds if
    fewer). With `memory=1` and the default gains this is `SwitchingCost`; with `memory=0` it is the adversary given as
    `gains`.

    With a function `payoff(gains, arms, t)`, round t pays its return value, a number in [0, 1]:

    .. math:: f_t(I_{t-m}, \ldots, I_t) = \text{payoff}(g_t, (I_{t-m}, \ldots, I_t), t)

    `gains` is the round's row of gains, shape `(n_arms,)`. `arms` are the last m + 1 arms played, oldest first and this
    round's arm last (rounds before round 1 count as the arm of round 1). `t` is the round, from 1. Both arrays are
    read-only. The two regrets then compare with different plays (Arora, Dekel and Tewari 2012):

    - external regret: each fixed arm y replaces the last of the arms really played,
      :math:`\max_y \sum_t f_t(I_{t-m}, \ldots, I_{t-1}, y) - \sum_t f_t(I_{t-m}, \ldots, I_t)`;
    - policy regret: each arm is played in all rounds, :math:`\max_y \sum_t f_t(y, \ldots, y)` instead of the first sum.

    Both are exact for every K and m (up to rounding of sums), because they compare with K constant plays, not with all
    sequences of arms. They cost 2 K calls of the function per round. Without a payoff function fixed arms are never
    charged, so the two regrets are equal.

    A payoff function sees the gains of its own round only and must keep no state between rounds. So one round's gains
    influence only the payoffs of that round, each by at most 1, and the sensitivities and guarantees of privacy
    wrappers hold unchanged. The simulator compiles the function with Numba, or runs it in Python if Numba cannot. Both
    give the same payoffs to the last bit for scalar arithmetic and `math`, but not always for NumPy's sums and powers.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 2.
        memory: Number m of earlier rounds, at least 0; with a payoff function at most 65,536.
        gains: The adversary that chooses the gains before the charge; by default the walk of `SwitchingCost`. Its
            number of arms and its horizon then replace the two arguments.
        payoff: A plain function as above, such as `dp_bandit_envs.adversaries.overfished`; by default the charge. It
            sees arms as the game numbers them, see `arm_order`.

    Source: Arora, Dekel and Tewari (2012), Online Bandit Learning against an Adaptive Adversary, ICML; Tossou and
    Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 2.1.

    Differs from the source in: gains instead of losses; rounds before round 1 count as the arm of round 1.
    """

    def __init__(
        self,
        n_arms: SupportsIndex = 4,
        horizon: SupportsIndex = 2**18,
        *,
        memory: SupportsIndex = 2,
        gains: Adversary | None = None,
        payoff: Payoff | None = None,
    ) -> None:
        if gains is not None and not isinstance(gains, Adversary):
            raise WrongTypeError(
                f"gains must be an adversary, such as dp_bandit_envs.adversaries.Stochastic(n_arms, horizon);"
                f" received {checks.kind_of(gains)}. Use Replay(array) for numbers of your own."
            )
        self._gains = SwitchingCost(n_arms, horizon) if gains is None else gains
        super().__init__(self._gains.n_arms, self._gains.horizon)
        self.memory = checks.integer("memory", memory, at_least=0, at_most=None if payoff is None else MOST_MEMORY)
        if payoff is not None:
            checked_payoff(payoff, self.memory, self.n_arms)
        self.payoff = payoff
        if payoff is not None:
            self.arm_order = "given"

    @property
    def arm_order(self) -> str:
        """`"given"` or `"random"`: how arms are numbered."""
        return self._gains.arm_order

    @arm_order.setter
    def arm_order(self, arm_order: str) -> None:
        self._gains = copy.copy(self._gains)  # the user's adversary keeps its order
        self._gains.arm_order = arm_order

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._gains.begin(rng)
        self.order = self._gains.order

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds before any charge, shape `(rounds, n_arms)`."""
        return self._gains.next_gains(rounds)

    @property
    def by_rounds(self) -> Any:
        """The adversary before any charge, or one in it, if its gains are drawn a round at a time."""
        return self._gains.by_rounds if self.has_methods_of(MemoryBounded) else None
