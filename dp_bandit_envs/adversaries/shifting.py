"""Shifting coins: the best arm changes at unknown rounds, or the arms' means drift."""

from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.protocols import FloatArray


class Shifting(Adversary):
    r"""Every arm is a coin; the best arm changes at unknown rounds, or the means drift within a budget.

    One arm has mean (1 + gap) / 2 and the others (1 - gap) / 2. At `shifts` rounds, drawn uniformly after the first
    round for each game, another arm, uniform among the others, becomes the best. With a `budget` V, means do not jump.
    Each arm's mean moves up and down between (1 - gap) / 2 and (1 + gap) / 2, from a uniform start in a uniform
    direction. It moves by V / (T - 1) per round, so that

    .. math:: \sum_{t=2}^T \max_i |\mu_t(i) - \mu_{t-1}(i)| \le V

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        shifts: Number S of changes of the best arm, from 0 to T - 1; by default 5, or as many as fit.
        gap: Gap of the best arm, or range of the drifting means, in (0, 1].
        budget: The total variation V of the means, at least 0, instead of `shifts`; by default means jump.

    Source: Garivier and Moulines (2011), section 2, for abrupt changes; Besbes, Gur and Zeevi (2014), for the budget.
    """

    def __init__(
        self,
        n_arms: SupportsIndex = 4,
        horizon: SupportsIndex = 2**18,
        *,
        shifts: SupportsIndex | None = None,
        gap: SupportsFloat = 0.2,
        budget: SupportsFloat | None = None,
    ) -> None:
        super().__init__(n_arms, horizon)
        if shifts is not None and budget is not None:
            raise ValueError(f"budget must come without shifts; received budget={budget!r} and shifts={shifts!r}.")
        self.budget = None if budget is None else checks.at_least("budget", budget, 0)
        chosen = checks.integer("shifts", 5 if shifts is None else shifts, at_least=0)
        if shifts is None:
            chosen = min(chosen, self.horizon - 1)
        if chosen >= self.horizon:
            raise ValueError(
                f"shifts must be at most {self.horizon - 1}, one for each of the {self.horizon} rounds but the first;"
                f" received {chosen}."
            )
        self.shifts = 0 if self.budget is not None else chosen
        self.gap = checks.in_range("gap", gap, 0, 1)
        checks.greater_than("gap", self.gap, 0)
        if self.budget is not None and not np.isfinite(self.budget):
            raise ValueError(f"budget must be finite; received {budget!r}.")

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._rng, self._round = rng, 0
        self.draw_order(rng)
        if self.budget is not None:
            self._places = 2 * rng.random(self.n_arms)
            return
        self._changes = 2 + np.sort(rng.choice(self.horizon - 1, self.shifts, replace=False))
        steps = rng.integers(1, self.n_arms, self.shifts)
        self._best = (np.cumsum([rng.integers(self.n_arms), *steps])) % self.n_arms

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        means = self.means_at(np.arange(self._round + 1, self._round + rounds + 1))
        self._round += rounds
        return (self._rng.random((rounds, self.n_arms)) < means).astype(float)

    def means_at(self, rounds: ArrayLike) -> FloatArray:
        """Return the arms' means in rounds of this game, counted from 1, shape `(len(rounds), n_arms)`."""
        t = np.asarray(rounds)
        if self.budget is None:
            best = self._best[np.searchsorted(self._changes, t, side="right")]
            ahead = (best[:, np.newaxis] == np.arange(self.n_arms)).astype(float)
        else:
            # A place from 0 to 2 on the way up and down; a mean moves by gap for each unit.
            moved = self.budget / (max(self.horizon - 1, 1) * self.gap) * (t - 1)
            ahead = np.abs((self._places + moved[:, np.newaxis]) % 2 - 1)
        means: FloatArray = (1 - self.gap) / 2 + self.gap * ahead
        return means
