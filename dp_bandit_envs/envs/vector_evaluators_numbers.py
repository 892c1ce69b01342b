"""What an evaluator reads from many games at once, as `EvaluatorsNumbers` from one. Agents never see these."""

from typing import Any

import numpy as np

from dp_bandit_envs.protocols import FloatArray


class VectorEvaluatorsNumbers:
    """The evaluator's side of `BanditVectorEnv`, which plays the rounds and fills the attributes below."""

    _payments: list[Any]
    _block: FloatArray
    _added: int
    _position: int
    _totals: FloatArray
    _collected: FloatArray

    def _check_started(self) -> None:
        raise NotImplementedError

    @property
    def cumulative_gains(self) -> FloatArray:
        """Each arm's gains so far before any charge or payoff, shape `(num_envs, n_arms)`. For the evaluator."""
        self._check_started()
        self._add_up()
        return self._totals.copy()

    @property
    def collected(self) -> FloatArray:
        """The gains that counted so far, shape `(num_envs,)`. For the evaluator."""
        self._check_started()
        return self._collected.copy()

    def best(self, totals: FloatArray) -> FloatArray:
        """Return what the best fixed arm collects on summed gains of shape `(..., n_arms)`, shape `(...)`."""
        largest: FloatArray = np.max(totals, axis=-1)
        return largest

    def external_regret(self) -> FloatArray:
        """Return the external regret of every game so far, shape `(num_envs,)`. For the evaluator."""
        return self._regret([payments.option_totals for payments in self._payments])

    def policy_regret(self) -> FloatArray:
        """Return the policy regret of every game so far, shape `(num_envs,)`. For the evaluator."""
        return self._regret([payments.constant_totals for payments in self._payments])

    def _regret(self, totals: list[FloatArray]) -> FloatArray:
        gains = self.cumulative_gains  # raises before the first reset
        return self.best(np.array(totals) if totals else gains) - self._collected

    def _add_up(self) -> None:
        # Added row by row from the first, as in `BanditEnv`, so that sums agree to the last bit; and without temporary
        # arrays as long as a block, which would cost more time than the game itself.
        for row in self._block[self._added : self._position]:
            self._totals += row
        self._added = self._position
