"""The user's own data as an adversary: a table of gains or vectors round by round, or recorded gains arm by arm."""

import warnings
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Final, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import gain_files
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.gain_files import Pools
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.errors import GainFileError, MadeUpGainsWarning, WrongTypeError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.privacy.participation import use_of_table
from dp_bandit_envs.protocols import FloatArray

MADE_UP_MEANS: Final = (0.5, 0.4, 0.7, 0.6)
MADE_UP: Final = (
    "without gains= a Replay plays a made-up table of 4 arms and 1,000 rounds, which shows what such a game looks like."
    " Give your own: gains= a table, a DataFrame or the path of a file."
)


class TableAdversary(Adversary):
    """An adversary that plays the rows of a table, one per round.

    Args:
        table: Shape `(rows, n_arms)`; made read-only, so that copies share it.
        horizon: Number of rounds T, from 1 to the number of rows, which is the default.
        rows: Name of the rows in errors.
        persons: The largest number of rows per person, or the person of each row; None if unknown.
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
        """Start a new game at round 1; only the order of its columns can be random."""
        self.enter_ledger()
        self.draw_order(rng)
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the next rows, shape `(rounds, n_arms)`, or `(rounds, dimension)` if they are gain vectors."""
        gains = self._table[self._round : self._round + rounds]
        self._round += rounds
        return gains.copy() if self.order is None else gains[:, self.order]


class GainTable(TableAdversary):
    """Plays a table of gains, one row per round.

    Without persons, gains count as made up, and the seed need not be secret. Use `Replay` for real data.

    Args:
        table: Gains, shape `(rounds, n_arms)`, in [0, 1].
        horizon: Number of rounds T, from 1 to the number of rows, which is the default.
        persons: The largest number of rows per person, or the person of each row; None if unknown.
    """

    def __init__(
        self,
        table: FloatArray,
        horizon: SupportsIndex | None = None,
        *,
        persons: SupportsIndex | Sequence[Hashable] | None = None,
    ) -> None:
        super().__init__(gain_files.check_table(table, "gains"), horizon, "rounds of the table", persons)


class VectorTable(TableAdversary):
    """Plays a table of gain vectors, one row per round, on the ball, the cube or the simplex.

    They count as real data, so the seed is secret unless one is given: set `is_real` to False for made-up vectors. The
    game refuses rows outside its set of gain vectors: L2 norm at most 1 for the ball, L1 norm at most 1 for the cube,
    entries in [0, 1] for the simplex.

    Args:
        vectors: Gain vectors, shape `(rounds, dimension)`, entries in [-1, 1], at least 2 columns.
        horizon: Number of rounds T, from 1 to the number of rows, which is the default.
        persons: The largest number of rows per person, or the person of each row; None if unknown.
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
        super().__init__(gain_files.check_table(vectors, "gain vectors", self.lowest), horizon, "rows", persons)
        self.ledger = ledger
        self._is_real = True


class Replay(Adversary):
    """Your own data as a game.

    Plays a table of gains row by row, or lets each arm pay its recorded gains in random order.

    Args:
        gains: A table of shape `(rounds, n_arms)`, played row by row; or records in two columns `arm` and `gain`: each
            arm pays its own records in random order, reshuffled when used up (`OutcomePools`). Either is an array, a
            DataFrame, an Arrow table, or the path of a file `.npy` (table only), `.csv` or `.csv.gz`; a `DataFile`,
            which holds the bytes of a file, can replace a path. True is 1 and False is 0. In a table's file, a first
            line of names is skipped if no name is a number. By default a made-up table of 4 arms and 1,000 rounds, with
            a warning.
        horizon: Number of rounds T, at least 1; by default all rows. A table cannot be played beyond its end.
        persons: For per-person guarantees: the largest number of records (or rows) per person; or the name of a column,
            of a CSV file or a DataFrame, that identifies the person of each row. That column is not an arm, and the
            assignment of rows to persons is public. None if unknown.
        ledger: A `dp_bandit_envs.Ledger`, which counts every game on these data and keeps them within its budget. Give
            the same ledger to all environments over the same data.
        arm_names: The arms' names in the order of the data; the attribute `arm_names` has them in the order of the
            game. By default "0", "1", ...

    Source: your own data.

    Raises:
        GainFileError: If gains break a rule; the message names file, line or row, and column.
        ValueError: If the horizon or the number of records leaves its range.
        WrongTypeError: If an argument has the wrong type.

    Warns:
        MadeUpGainsWarning: Without gains.
    """

    def __init__(
        self,
        gains: Any = None,
        horizon: SupportsIndex | None = None,
        *,
        persons: SupportsIndex | str | None = None,
        ledger: Any = None,
        arm_names: Sequence[str] | None = None,
    ) -> None:
        if horizon is not None:
            horizon = checks.integer("horizon", horizon, at_least=1)
        if persons is not None and not isinstance(persons, str):
            if hasattr(persons, "__len__"):
                raise WrongTypeError(
                    "persons must be the most records of one person, or the name of the column that says whose they"
                    f" are; received {checks.kind_of(persons)}. For an array, count them."
                )
            persons = checks.integer("persons", persons, at_least=1)
        self._source = self._read(gains, horizon, persons)
        super().__init__(self._source.n_arms, self._source.horizon)
        self.means = self._source.means
        self.ledger = ledger
        if gains is not None:
            self._is_real = True
        self._arm_names = _names(arm_names, self.n_arms)

    @property
    def arm_names(self) -> tuple[str, ...]:
        """The arms' names, in the order of the game."""
        return self._arm_names if self.order is None else tuple(self._arm_names[arm] for arm in self.order)

    @property
    def arm_order(self) -> str:
        """`"given"` or `"random"`: how arms are numbered."""
        return self._source.arm_order

    @arm_order.setter
    def arm_order(self, arm_order: str) -> None:
        self._source.arm_order = arm_order

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self.enter_ledger()
        self._source.begin(rng)
        self.means, self.order = self._source.means, self._source.order

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        return self._source.next_gains(rounds)

    @staticmethod
    def _read(gains: Any, horizon: int | None, persons: int | str | None) -> Adversary:
        if gains is None:
            if persons is not None:
                raise ValueError(f"persons must be left out without gains; received {persons!r}. Give gains=.")
            warnings.warn(MADE_UP, MadeUpGainsWarning, stacklevel=checks.level_of_caller())
            coins = np.random.default_rng(0).random((1000, len(MADE_UP_MEANS))) < MADE_UP_MEANS
            table = GainTable(coins.astype(np.float64), horizon)
            table.arm_order = "random"
            return table
        if isinstance(gains, (str, Path)):
            gains = DataFile.read(gains, error=GainFileError)
        column = persons if isinstance(persons, str) else None
        if column is not None and not isinstance(gains, DataFile) and not gain_files.columns_of(gains):
            raise ValueError(
                "persons of an array must be the most rows of a person; received the name of a column. Give a DataFrame"
                " or a CSV file with that column."
            )
        bound = None if isinstance(persons, str) else persons
        recorded = gain_files.read(gains, column)
        if isinstance(recorded, Pools):
            return OutcomePools(recorded.gains, horizon, persons=recorded.owners or bound)
        return GainTable(recorded.gains, horizon, persons=recorded.owners or bound)


def _names(names: Sequence[str] | None, n_arms: int) -> tuple[str, ...]:
    if names is None:
        return tuple(map(str, range(n_arms)))
    checked = () if isinstance(names, str) or not hasattr(names, "__iter__") else tuple(names)
    if len(checked) != n_arms or not all(isinstance(name, str) for name in checked):
        received = f"{len(checked)} entries" if checked else checks.kind_of(names)
        raise ValueError(f"arm_names must be {n_arms} texts, one for each arm; received {received}.")
    return checked
