"""The user's own data as an adversary: a table of gains round by round, or recorded gains arm by arm."""

from pathlib import Path
from typing import SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import gain_files
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.adversaries.trial import Trial
from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.protocols import FloatArray


class GainTable(Adversary):
    """Plays a table of gains, one row a round.

    Args:
        table: Gains, shape `(rounds, n_arms)`, in [0, 1].
        horizon: Number of rounds T, from 1 to the number of rows, which is the default.
    """

    def __init__(self, table: FloatArray, horizon: SupportsIndex | None = None) -> None:
        self._table = gain_files.check_table(table, "gains")
        super().__init__(self._table.shape[1], len(self._table) if horizon is None else horizon)
        if self.horizon > len(self._table):
            raise ValueError(
                f"horizon must be at most the {len(self._table)} rounds of the table; received {self.horizon}."
            )

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; nothing is random."""
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        gains = self._table[self._round : self._round + rounds].copy()
        self._round += rounds
        return gains


class Replay(Adversary):
    """Your own data as a game.

    Plays a table of gains row by row, or lets each arm pay its recorded gains in random order.

    Args:
        gains: A table of shape `(rounds, n_arms)`, played row by row; or the path of one saved as `.npy`, `.csv` or
            `.csv.gz` with one column an arm; or the path of a CSV file with the columns `arm,gain`, whose gains each
            arm pays in random order, reshuffled when used up (`OutcomePools`). A `DataFile`, which holds the bytes of a
            file, can replace a path. By default the outcomes of `Trial`. A first line of names is skipped if no name is
            a number.
        horizon: Number of rounds T, at least 1; by default all rows. A table cannot be played beyond its end.

    Source: your own data.

    Raises:
        GainFileError: If a file breaks a rule; the message names file, line and column.
        ValueError: If the horizon leaves its range.
    """

    def __init__(
        self, gains: FloatArray | str | Path | DataFile | None = None, horizon: SupportsIndex | None = None
    ) -> None:
        if horizon is not None:
            horizon = checks.integer("horizon", horizon, at_least=1)
        self._source = self._read(gains, horizon)
        super().__init__(self._source.n_arms, self._source.horizon)
        self.means = self._source.means

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._source.begin(rng)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        return self._source.next_gains(rounds)

    @staticmethod
    def _read(gains: FloatArray | str | Path | DataFile | None, horizon: int | None) -> Adversary:
        if gains is None:
            return Trial() if horizon is None else Trial(horizon)
        if isinstance(gains, (str, Path)):
            gains = DataFile.read(gains, error=GainFileError)
        if not isinstance(gains, DataFile):
            return GainTable(gains, horizon)
        recorded = gain_files.read(gains)
        return OutcomePools(recorded, horizon) if isinstance(recorded, list) else GainTable(recorded, horizon)
