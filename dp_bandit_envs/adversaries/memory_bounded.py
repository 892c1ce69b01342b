"""The m-bounded memory adversary: a gain counts only for an agent that has stayed with its arm for m rounds."""

from typing import SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.switching import SwitchingCost
from dp_bandit_envs.errors import WrongType
from dp_bandit_envs.protocols import FloatArray


class MemoryBounded(Adversary):
    """A gain counts only after m rounds with the same arm.

    Charges any adversary's gains unless the same arm was also played in the `memory` rounds before, or in all of them
    while there are fewer. With `memory=1` over the default gains this is `SwitchingCost`; with `memory=0` it is the
    other adversary.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 2.
        memory: How many rounds back the adversary looks (m), at least 0.
        gains: The adversary that writes the gains before the charge; by default the walk of `SwitchingCost`. It
            brings its own number of arms and horizon, which then take the place of the two arguments.

    Source: Arora, Dekel and Tewari (2012), Online Bandit Learning against an Adaptive Adversary, ICML; Tossou and
    Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 2.1.
    """

    def __init__(
        self,
        n_arms: SupportsIndex = 4,
        horizon: SupportsIndex = 2**18,
        *,
        memory: SupportsIndex = 2,
        gains: Adversary | None = None,
    ) -> None:
        if gains is not None and not isinstance(gains, Adversary):
            raise WrongType(
                f"gains must be an adversary, such as dp_bandit_envs.adversaries.Stochastic(n_arms, horizon);"
                f" received a {type(gains).__name__}. Use Replay(array) for numbers of your own."
            )
        self._gains = SwitchingCost(n_arms, horizon) if gains is None else gains
        super().__init__(self._gains.n_arms, self._gains.horizon)
        self.memory = checks.integer("memory", memory, at_least=0)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._gains.begin(rng)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds before any charge, shape `(rounds, n_arms)`."""
        return self._gains.next_gains(rounds)
