"""What an evaluator reads from a game: gains of all arms, what was collected, and regret. Agents never see these."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.protocols import FloatArray, IntArray

BlockListener = Callable[[IntArray, FloatArray, FloatArray], None]


class EvaluatorsNumbers:
    """The evaluator's side of `BanditEnv`, which plays the rounds and fills the attributes below."""

    _payments: Any
    _arms: list[int]
    _earned: list[float]
    _block: FloatArray
    _totals_before_block: FloatArray
    _collected: float
    on_block: BlockListener | None

    def _check_started(self) -> None:
        raise NotImplementedError

    @property
    def cumulative_gains(self) -> FloatArray:
        """Each arm's gains of all rounds so far, shape `(n_arms,)`, before any charge or payoff. For the evaluator."""
        self._check_started()
        return self._totals(len(self._arms))

    @property
    def collected(self) -> float:
        """The gains that counted so far. For the evaluator."""
        self._check_started()
        return self._collected

    def best(self, totals: FloatArray) -> FloatArray:
        """Return what the best fixed arm collects on summed gains of shape `(..., n_arms)`, shape `(...)`."""
        largest: FloatArray = np.max(totals, axis=-1)
        return largest

    def external_regret(self) -> float:
        """Return what the best fixed arm would have collected so far, less what was collected. For the evaluator.

        A fixed arm pays no charge; with a payoff function it takes the last place of the arms really played.
        """
        totals = self.cumulative_gains
        best = totals if self._payments is None else self._payments.option_totals
        return float(self.best(best) - self._collected)

    def policy_regret(self) -> float:
        """Return what the best constant play would have collected, less what was collected. For the evaluator."""
        totals = self.cumulative_gains
        best = totals if self._payments is None else self._payments.constant_totals
        return float(self.best(best) - self._collected)

    def comparisons(self) -> tuple[FloatArray, FloatArray]:
        """Return what each fixed arm, and each arm played throughout, would have earned in each round of this block.

        Two arrays of shape `(rounds, n_arms)`, which are the same array without a payoff function. For the evaluator.
        """
        table = self._block[: len(self._arms)]
        if self._payments is None:
            return table, table
        return np.array(self._payments.option_rows), np.array(self._payments.constant_rows)

    def report_block(self) -> None:
        """Pass the rounds of the current block to `on_block`, if it is set.

        The game calls this before it fetches the next block; a listener must call it once more at the end.
        """
        if self.on_block is not None and self._arms:
            self.on_block(np.array(self._arms), np.array(self._earned), self._block[: len(self._arms)])

    def _totals(self, rounds: int) -> FloatArray:
        # Added row by row from the first, as in all other ways of playing, so that sums agree to the last bit.
        running: FloatArray = np.cumsum(np.vstack([self._totals_before_block, self._block[:rounds]]), axis=0)[-1]
        return running
