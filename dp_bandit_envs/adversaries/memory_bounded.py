"""The m-bounded memory adversary: what a round pays depends on the last m + 1 arms."""

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
    """Return whether a round's gain counts, or is charged because the agent came to its arm too short a time ago.

    Args:
        run: For how many rounds the arm has been played without a break, this one included; a number, or an array of
            any shape for as many games.
        t: The round, from 1.
        memory: The adversary's m. An arm must have been played in the m rounds before as well, or in all there were.
    """
    return run >= min(memory + 1, t)


class MemoryBounded(Adversary):
    r"""What a round pays depends on the last m + 1 arms; by default, a gain counts only after m rounds with one arm.

    By default a round pays 0 unless its arm was also played in the `memory` rounds before, or in all of them while
    there are fewer. With `memory=1` and the default gains this is `SwitchingCost`; with `memory=0` it is the adversary
    given as `gains`.

    With a function `payoff(gains, arms, t)`, round t pays what it returns, a number in [0, 1]:

    .. math:: f_t(I_{t-m}, \ldots, I_t) = \text{payoff}(g_t, (I_{t-m}, \ldots, I_t), t)

    `gains` is the round's row of gains, shape `(n_arms,)`; `arms` the last m + 1 arms played, the oldest first and this
    round's last, where rounds before round 1 have the arm of round 1; `t` the round, from 1. Both arrays are read-only.
    The two regrets then compare with different plays (Arora, Dekel and Tewari 2012):

    - external regret: each fixed arm y is put in the last place of the arms really played,
      :math:`\max_y \sum_t f_t(I_{t-m}, \ldots, I_{t-1}, y) - \sum_t f_t(I_{t-m}, \ldots, I_t)`;
    - policy regret: each arm is played throughout, :math:`\max_y \sum_t f_t(y, \ldots, y)` in place of the first sum.

    Both are exact for every K and m (up to the rounding of sums), because they compare with K constant plays, not with
    all sequences of arms; they cost 2 K calls of the function in each round. Without a payoff function fixed arms are
    never charged, so the two regrets are equal.

    A payoff function sees the gains of its own round only and must keep no state between rounds, so that one round's
    gains influence the payoffs of that round only, each by at most 1: the sensitivities and guarantees of privacy
    wrappers hold unchanged. The simulator compiles the function with Numba, or runs it in Python if Numba cannot.
    Scalar arithmetic and `math` give the same payoffs both ways to the last bit; NumPy's sums and powers may not.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 2.
        memory: How many rounds back the adversary looks (m), at least 0; with a payoff function at most 65,536.
        gains: The adversary that chooses the gains before the charge; by default the walk of `SwitchingCost`. Its
            number of arms and its horizon then replace the two arguments.
        payoff: A plain function as above, of arms as the game numbers them, which is as given unless `arm_order` says
            otherwise, such as `dp_bandit_envs.adversaries.overfished`; by default the charge.

    Source: Arora, Dekel and Tewari (2012), Online Bandit Learning against an Adaptive Adversary, ICML; Tossou and
    Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 2.1.

    Differs from the source in: gains instead of losses; and rounds before round 1 have the arm of round 1.
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
        """Whether arms are numbered as given, or anew in each game."""
        return self._gains.arm_order

    @arm_order.setter
    def arm_order(self, arm_order: str) -> None:
        self._gains = copy.copy(self._gains)  # whoever gave it keeps its order
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
