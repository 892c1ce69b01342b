"""A solution of lab 10: coins of which a bad one begins to pay always. There are many others."""

import numpy as np

from dp_bandit_envs import Adversary


class MyAdversary(Adversary):
    """One arm is a little ahead; after 40 % of the rounds, another one always pays."""

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game: who is who is drawn."""
        self.rng = rng
        self.t = 0
        self.order = rng.permutation(self.n_arms)

    def next_gains(self, rounds: int) -> np.ndarray:
        """Return the gains of the next rounds, `(rounds, n_arms)`."""
        chances = np.full((rounds, self.n_arms), 0.4)
        chances[:, 0] = 0.5
        chances[self.t + np.arange(rounds) >= 0.4 * self.horizon, 1] = 1.0
        self.t += rounds
        gains = self.rng.random((rounds, self.n_arms)) < chances
        return np.asarray(gains[:, self.order], dtype=float)
