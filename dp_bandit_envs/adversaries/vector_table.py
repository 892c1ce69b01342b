"""A user's own gain vectors, one row a round, for games whose actions are points."""

from collections.abc import Hashable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.data_use import use_of_table
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.protocols import FloatArray


class VectorTable(Adversary):
    """Plays a table of gain vectors, one row a round, on the ball, the cube or the simplex.

    They count as real data, so that the seed is a secret one unless one is given: set `is_real` to False for made-up
    vectors. The game refuses rows outside of its set of gain vectors: L2 norm at most 1 for the ball, L1 norm at most 1
    for the cube, entries in [0, 1] for the simplex.

    Args:
        vectors: Gain vectors, shape `(rounds, dimension)`, entries in [-1, 1], at least 2 columns.
        horizon: Number of rounds T, from 1 to the number of rows, which is the default.
        persons: The most rows of a person; or whose each row is, one entry a row. None if it is not known.
        ledger: A `dp_bandit_envs.Ledger`, which counts every game on these data and keeps them within its budget.
    """

    lowest = -1.0
    """Whatever the vectors are: were it taken from them, games of arms would refuse some tables and play others."""

    def __init__(
        self,
        vectors: Any,
        horizon: SupportsIndex | None = None,
        *,
        persons: SupportsIndex | Sequence[Hashable] | None = None,
        ledger: Any = None,
    ) -> None:
        try:
            table = np.array(vectors, dtype=np.float64)
        except (TypeError, ValueError):
            raise GainFileError("gain vectors must be numbers, every row as long as the others.") from None
        if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
            raise GainFileError(
                f"gain vectors must form a table (rounds, dimension) of at least 1 x 2; received shape {table.shape}."
            )
        wrong = np.flatnonzero(~(np.abs(table) <= 1).all(axis=1))
        if wrong.size:
            raise GainFileError(
                f"every coordinate of a gain vector must be in [-1, 1]; row {wrong[0] + 1} breaks this ({wrong.size}"
                " rows in all). Rescale the vectors."
            )
        table.flags.writeable = False  # copies share it
        self._table = table
        super().__init__(table.shape[1], len(table) if horizon is None else horizon)
        if self.horizon > len(table):
            raise ValueError(f"horizon must be at most the {len(table)} rows; received {self.horizon}.")
        self.data_use = use_of_table(self.horizon, len(table), persons)
        self.ledger = ledger
        self._is_real = True

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; nothing is random."""
        self.enter_ledger()
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gain vectors of the next `rounds` rounds, shape `(rounds, dimension)`."""
        gains = self._table[self._round : self._round + rounds].copy()
        self._round += rounds
        return gains
