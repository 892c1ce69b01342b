"""The user's own data as an adversary: a table of gains or vectors round by round, or recorded gains arm by arm."""

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import gain_files
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.gain_files import Pools
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.adversaries.trial import Trial
from dp_bandit_envs.errors import GainFileError, WrongTypeError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.privacy.data_use import use_of_table
from dp_bandit_envs.protocols import FloatArray


class Rows(Adversary):
    """An adversary that plays the rows of a table, one a round.

    Args:
        table: Shape `(rows, n_arms)`; made read-only, so that copies share it.
        horizon: Number of rounds T, from 1 to the number of rows, which is the default.
        rows: What an error calls the rows.
        persons: The most rows of a person; or whose each row is, one entry a row. None if it is not known.
    """

    def __init__(
        self,
        table: FloatArray,
        horizon: SupportsIndex | None,
        rows: str,
        persons: SupportsIndex | Sequence[Hashable] | None,
    ) -> None:
        table.flags.writeable = False
        self._table = table
        super().__init__(table.shape[1], len(table) if horizon is None else horizon)
        if self.horizon > len(table):
            raise ValueError(f"horizon must be at most the {len(table)} {rows}; received {self.horizon}.")
        self.data_use = use_of_table(self.horizon, len(table), persons)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; nothing is random."""
        self.enter_ledger()
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the next rows, shape `(rounds, n_arms)`, or `(rounds, dimension)` if they are gain vectors."""
        gains = self._table[self._round : self._round + rounds].copy()
        self._round += rounds
        return gains


class GainTable(Rows):
    """Plays a table of gains, one row a round.

    They count as made up, so that the seed is a known one, unless persons are given. Play real data by `Replay`.

    Args:
        table: Gains, shape `(rounds, n_arms)`, in [0, 1].
        horizon: Number of rounds T, from 1 to the number of rows, which is the default.
        persons: The most rows of a person; or whose each row is, one entry a row. None if it is not known.
    """

    def __init__(
        self,
        table: FloatArray,
        horizon: SupportsIndex | None = None,
        *,
        persons: SupportsIndex | Sequence[Hashable] | None = None,
    ) -> None:
        super().__init__(gain_files.check_table(table, "gains"), horizon, "rounds of the table", persons)


class VectorTable(Rows):
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
        except (TypeError, ValueError, OverflowError):
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
        super().__init__(table, horizon, "rows", persons)
        self.ledger = ledger
        self._is_real = True


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
        persons: What guarantees need to know to say what holds for a person: the most records (or rows) that belong to
            one person; or the name of the column of a CSV file with names that says whose each line is, in any words.
            That column is not an arm, and who owns which lines counts as public. None if it is not known.
        ledger: A `dp_bandit_envs.Ledger`, which counts every game on these data and keeps them within its budget. Give
            the same one to all environments over the same data.
        arm_names: The arms' names, in their order, which the attribute `arm_names` keeps. By default "0", "1", ...

    Source: your own data.

    Raises:
        GainFileError: If a file breaks a rule; the message names file, line and column.
        ValueError: If the horizon or the number of records leaves its range.
    """

    def __init__(
        self,
        gains: FloatArray | str | Path | DataFile | None = None,
        horizon: SupportsIndex | None = None,
        *,
        persons: SupportsIndex | str | None = None,
        ledger: Any = None,
        arm_names: Sequence[str] | None = None,
    ) -> None:
        if horizon is not None:
            horizon = checks.integer("horizon", horizon, at_least=1)
        if persons is not None and not isinstance(persons, str):
            if isinstance(persons, (Sequence, np.ndarray)):
                raise WrongTypeError(
                    "persons must be the most records of one person, or the name of a file's column that says whose"
                    f" they are; received {checks.kind_of(persons)}. For an array, count them."
                )
            persons = checks.integer("persons", persons, at_least=1)
        self._source = self._read(gains, horizon, persons)
        super().__init__(self._source.n_arms, self._source.horizon)
        self.means = self._source.means
        self.ledger = ledger
        self._is_real = True
        self.arm_names = _names(arm_names, self.n_arms)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self.enter_ledger()
        self._source.begin(rng)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        return self._source.next_gains(rounds)

    @staticmethod
    def _read(
        gains: FloatArray | str | Path | DataFile | None, horizon: int | None, persons: int | str | None
    ) -> Adversary:
        if gains is None:
            if persons is not None:
                raise ValueError(f"persons of the trial are known, one outcome each; received {persons!r}. Omit it.")
            return Trial() if horizon is None else Trial(horizon)
        if isinstance(gains, (str, Path)):
            gains = DataFile.read(gains, error=GainFileError)
        if not isinstance(gains, DataFile):
            if isinstance(persons, str):
                raise ValueError(
                    "persons of an array must be the most rows of a person; received the name of a column. Save the"
                    " gains as a CSV file with that column."
                )
            return GainTable(gains, horizon, persons=persons)
        column = persons if isinstance(persons, str) else None
        bound = None if isinstance(persons, str) else persons
        recorded = gain_files.read(gains, column)
        if isinstance(recorded, Pools):
            return OutcomePools(recorded.gains, horizon, persons=recorded.owners or bound)
        return GainTable(recorded.gains, horizon, persons=recorded.owners or bound)


def _names(names: Sequence[str] | None, n_arms: int) -> tuple[str, ...]:
    if names is None:
        return tuple(map(str, range(n_arms)))
    found = (names,) if isinstance(names, str) else tuple(names)
    if len(found) != n_arms or not all(isinstance(name, str) for name in found):
        raise ValueError(f"arm_names must be {n_arms} texts, one for each arm; received {len(found)} entries.")
    return found
