"""An opponent that knows the code of UCB, for the first lab."""

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.protocols import FloatArray


class MindReader(Adversary):
    """Runs UCB beside the game: the arm that UCB plays next pays 0, and all others pay 1.

    UCB draws no random numbers, so this needs no look at the game: all gains could be written down before it begins.
    """

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game; nothing is random."""
        self._victim = Ucb()
        self._victim.begin(n_arms=self.n_arms, horizon=self.horizon, rng=rng)
        self._seen = {key: np.zeros(self.n_arms, int) for key in ("count", "release")}

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        gains = np.ones((rounds, self.n_arms))
        for row in gains:
            arm = self._victim.select_arm()
            row[arm] = 0.0
            for counted in self._seen.values():
                counted[arm] += 1
            # The sums of what UCB earned stay 0.
            self._victim.update(arm, {"sum": np.zeros(self.n_arms), **self._seen})
        return gains
