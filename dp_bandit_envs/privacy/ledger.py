"""A privacy ledger over data: charges every game before its first round, and refuses games beyond the budget.

`composition_filters` decides which games may begin, `ledger_store` stores the charges, and `admission` makes games pay.
"""

import contextlib
import dataclasses
import math
import os
import secrets
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, SupportsFloat, TypeAlias

from dp_bandit_envs import checks
from dp_bandit_envs.errors import BudgetSpentError, LedgerFileError, UnprotectedGameError
from dp_bandit_envs.privacy import composition_filters as filters_of
from dp_bandit_envs.privacy.accounting import ORDERS, epsilon_from_renyi
from dp_bandit_envs.privacy.composition_filters import Budget, CompositionFilters, Cost, Total, cost_of, total_of
from dp_bandit_envs.privacy.guarantee import UNITS, PrivacyGuarantee, Unit, for_unit
from dp_bandit_envs.privacy.ledger_store import (
    ChargeRow,
    LedgerStore,
    add_games,
    read_charges,
    read_filters,
    write_filters,
)
from dp_bandit_envs.privacy.participation import Participation

if TYPE_CHECKING:
    import sqlite3  # elsewhere where it is used, as a browser's Python may lack it

Games: TypeAlias = Sequence[Sequence[PrivacyGuarantee]]
"""Games that begin together, each with its alternative per-round guarantees."""
UNPROTECTED: Final = (
    "a game on data with a ledger must be played behind a privacy wrapper, or by an algorithm with a guarantee, through"
    " play or simulate; {}. Nothing was played."
)


class Spending(NamedTuple):
    """The total cost of the games on a ledger.

    Attributes:
        games: Number of games that have begun.
        epsilon: The part of the budget's epsilon that is spent, by the smaller of the two filters.
        delta: The part of its delta that is spent: the deltas of the games, and for the Renyi filter its own part.
    """

    games: int
    epsilon: float
    delta: float


class Charge(NamedTuple):
    """The charges of one player.

    Attributes:
        player: The player's name, or "" for games that began with a reset.
        games: Number of games.
        epsilon: The cost of these games alone, at a delta of at most the Renyi filter's.
    """

    player: str
    games: int
    epsilon: float


class Reservation:
    """Games charged in advance; it pays for games of the same players at no more than the same costs.

    Unused games can be refunded. A copy in another process pays but cannot refund: games sent there count as begun
    here.

    Args:
        ledger_id: The `id` of the ledger.
        lines: The player and the cost of each game.
        times: How often it pays for each game.
        ledger: The ledger that receives refunds.
    """

    def __init__(
        self, ledger_id: str, lines: Sequence[tuple[str, Cost]], times: float, ledger: "Ledger | None" = None
    ) -> None:
        self._ledger_id, self._lines, self._ledger = ledger_id, list(lines), ledger
        self._left = [times] * len(self._lines)
        self._lock = threading.Lock()

    def covers(self, ledger_id: str, players: Sequence[str], costs: Sequence[Sequence[Cost]]) -> bool:
        """Return whether it can pay now for games of these players, each at one of its alternative costs."""
        return bool(self._lines_for(ledger_id, players, costs))

    def pay(self, ledger_id: str, players: Sequence[str], costs: Sequence[Sequence[Cost]]) -> bool:
        """Pay for these games, whose first round is about to be played, if it covers them; return whether it does."""
        with self._lock:
            lines = self._lines_for(ledger_id, players, costs)
            for line in lines:
                self._left[line] -= 1
        return bool(lines)

    def _lines_for(self, ledger_id: str, players: Sequence[str], costs: Sequence[Sequence[Cost]]) -> list[int]:
        """Return the line that pays for each game; empty if it cannot pay for all of them."""
        lines = []
        for player, of_game in zip(players, costs, strict=False):
            for line, (name, paid) in enumerate(self._lines):
                if name == player and self._left[line] > 0 and any(paid.covers(cost) for cost in of_game):
                    lines.append(line)
                    break
        return lines if ledger_id == self._ledger_id and len(set(lines)) == len(costs) else []

    def count_as_begun(self, players: Sequence[str], times: int) -> bool:
        """Count these games as begun, because they will begin in another process.

        Return whether they may begin: False after a refund, as the other process would pay with its old copy.
        """
        with self._lock:
            lines = [line for line, (player, _) in enumerate(self._lines) if player in players]
            for line in lines:
                self._left[line] = max(0, self._left[line] - times)
        return bool(lines)

    def refund(self) -> None:
        """Refund the unused games in one transaction; it pays for no games after that."""
        with self._lock:
            games = [(*line, int(left)) for line, left in zip(self._lines, self._left, strict=True) if left]
            self._lines, self._left = [], []
        if games and self._ledger is not None:
            self._ledger._refund(games)

    def __deepcopy__(self, memo: Any) -> Self:
        """Return this very reservation: two would pay for twice as many games."""
        return self

    def __reduce__(self) -> Any:
        return Reservation, (self._ledger_id, self._lines, math.inf)


class Ledger:
    r"""A privacy budget for all games over the same data.

    Give one ledger to every environment over these data: `Replay(..., ledger=ledger)`, `Trial(ledger=ledger)`,
    `gym.make("DPBandit-Replay-v0", gains=..., ledger=ledger)` or `env_kwargs={"ledger": ledger, ...}` of `simulate`.
    Every game is charged once, right before its first round: each game after a reset, each game of a vector and each of
    its restarts, each trial of each algorithm. A reset without a round is free. A reset that would exceed the budget is
    refused. `simulate` charges all of its games in advance, after everything is checked and compiled, and refunds games
    that never began.

    A game is charged the guarantee of its privacy wrappers, or of the algorithm that `play` or `simulate` plays. The
    ledger refuses games without a guarantee and games with a seed: only noise that cannot be repeated is independent of
    other games' noise. The guarantees protect the outputs that they cover; the results of `simulate` are computed from
    true gains, for the evaluator.

    **Guarantee.** All releases of the games together are (epsilon, delta)-DP for the unit, also if games and parameters
    are chosen adaptively from earlier releases, by the filters of `dp_bandit_envs.privacy.composition_filters`. The
    guarantee is the whole budget; `spent` is the part used.

    `Ledger(...)` counts in memory, and only in the process that made it: copies are the same ledger, and in another
    process it refuses every game that was not charged in advance. It is closed at the end of
    `with Ledger(...) as ledger:`, or when it is garbage-collected. `Ledger.create(path, ...)` makes a file, and
    `Ledger.load(path)` opens it, in any process; it is an SQLite database, for a disk of this machine.

    Args:
        epsilon: The budget, in (0, inf).
        delta: In [0, 1). With 0, only games without a delta may begin, such as with `draws="secure"`.
        unit: Unit of privacy. `"record"`: one record (a row of a table), in all rounds that use it. `"person"`: all
            records of one person, if the environment knows them (`persons=`).
        own_delta: The part of delta that is kept for games that state a delta of their own and no `noise_law` or
            `curve`, in [0, .98 delta).

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import Ledger, make_algorithm, play
        >>> ledger = Ledger(epsilon=3)
        >>> env = gym.make("DPBandit-Trial-v0", horizon=300, ledger=ledger)
        >>> game = play(env, make_algorithm("DP-IMED", epsilon=1), seed=None)
        >>> ledger.spent.games, ledger.spent.epsilon
        (1, 1.0)
    """

    @checks.answers_wrong_calls
    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        delta: SupportsFloat = 1e-6,
        unit: Unit = "record",
        own_delta: SupportsFloat = 0.0,
    ) -> None:
        self._use(secrets.token_hex(8), _checked(epsilon, delta, unit, own_delta), LedgerStore(None))
        self._store.fill(self._id, self._budget)
        _made_here[self._id] = self

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: SupportsFloat,
        delta: SupportsFloat = 1e-6,
        unit: Unit = "record",
        own_delta: SupportsFloat = 0.0,
    ) -> Self:
        """Make the file of a new budget, in a folder that exists.

        Raises:
            LedgerFileError: If the file exists, or cannot be made.
        """
        LedgerStore(checks.path("path", path)).make(secrets.token_hex(8), _checked(epsilon, delta, unit, own_delta))
        return cls.load(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the ledger of a file, with its original budget.

        Raises:
            LedgerFileError: If the file does not exist or is not a ledger.
        """
        store = LedgerStore(checks.path("path", path))
        with store.connected() as db:
            number, budget = store.read_head(db)
        ledger = cls.__new__(cls)
        ledger._use(number, budget, store)
        return ledger

    def close(self) -> None:
        """Discard the charges in memory; no game may begin afterwards. A file is never left open."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _use(self, number: str, budget: Budget, store: LedgerStore) -> None:
        self._id, self._budget, self._store = number, budget, store

    @property
    def budget(self) -> Budget:
        """The privacy budget."""
        return self._budget

    @property
    def id(self) -> str:
        """Distinguishes this ledger from all others; the same in every process."""
        return self._id

    @property
    def spent(self) -> Spending:
        """The total cost of the games that have begun."""
        with self._opened() as db:
            rows, filters = read_charges(db), read_filters(db)
        return self._spent(_total(rows), filters)

    @property
    def is_closed(self) -> bool:
        """Whether the first charge was admitted by its own cost, so that no other may follow."""
        with self._opened() as db:
            filters = read_filters(db)
        return filters is not None and filters.closed

    @property
    def charges(self) -> list[Charge]:
        """The charges of each player."""
        with self._opened() as db:
            rows = read_charges(db)
        charges = []
        for name in dict.fromkeys(player for player, _, _ in rows):
            total = _total([row for row in rows if row[0] == name])
            least = filters_of.pure_filter(self._budget, total)
            if self._budget.for_curve > 0:
                curve = tuple(zip(ORDERS, total.curve, strict=True))
                least = min(least, epsilon_from_renyi(curve, self._budget.for_curve))
            charges.append(Charge(name, total.games, least))
        return charges

    def admit(self, games: Games, participation: Participation | None, times: int = 1, *, secret: bool) -> None:
        """Raise unless these games may begin now, without charging them. Arguments and errors as for `spend`."""
        options = self._for_unit(games, participation, times, secret)
        with self._opened() as db:
            self._least_costs(read_charges(db), read_filters(db), options, times)

    def spend(
        self,
        games: Games,
        participation: Participation | None,
        times: int = 1,
        *,
        secret: bool,
        players: Sequence[str] = (),
    ) -> Reservation:
        """Charge games, all or none; return a reservation that pays when they begin, or refunds them.

        Args:
            games: For each game its alternative per-round guarantees, any of which may be charged.
            participation: The most rounds of a game in which a record, and a person, can take part.
            times: How often each game is played, at least 1.
            secret: Whether the seed of their noise is secret.
            players: The player of each game.

        Raises:
            BudgetSpentError: If they would exceed the budget.
            UnprotectedGameError: If one of them has no guarantee, or the seed is known.
            LedgerFileError: If the file cannot be read and written.
        """
        options = self._for_unit(games, participation, times, secret)
        names = [*players, *[""] * (len(games) - len(players))]
        with self._opened(write=True) as db:
            costs, filters = self._least_costs(read_charges(db), read_filters(db), options, times)
            lines = list(zip(names, costs, strict=True))
            for player, cost in lines:
                add_games(db, player, cost, times)
            write_filters(db, filters)
        return Reservation(self._id, lines, times, self)

    def costs(self, games: Games, participation: Participation | None, *, secret: bool) -> list[list[Cost]]:
        """Return the alternative costs of each game, one per guarantee; errors as for `spend`."""
        options = self._for_unit(games, participation, 1, secret)
        return [[cost_of(guarantee, self._budget.for_sums) for guarantee in guarantees] for guarantees in options]

    def _least_costs(
        self,
        rows: Sequence[ChargeRow],
        filters: CompositionFilters | None,
        options: Sequence[list[PrivacyGuarantee]],
        times: int,
    ) -> tuple[list[Cost], CompositionFilters | None]:
        """Return the costs that use the least epsilon, and the filters fixed with them; or raise."""
        budget, total = self._budget, _total(rows)
        admitted: list[tuple[float, list[Cost], CompositionFilters | None]] = []
        for epsilon_of in (self._pure, self._at_delta):
            chosen = [min(guarantees, key=epsilon_of) for guarantees in options]
            costs = [cost_of(guarantee, budget.for_sums) for guarantee in chosen]
            new_rows = [("", cost, times) for cost in costs]
            if filters is not None and filters.closed:
                continue
            new_filters, new_total = filters, _total(new_rows)
            if filters is None and (new_total.epsilon > 0 or new_total.delta > 0 or max(new_total.curve) > 0):
                new_filters = filters_of.fixed_by(budget, new_total)
            spent = filters_of.least_epsilon(budget, _total([*rows, *new_rows]), new_filters)
            if spent <= budget.epsilon:
                admitted.append((spent, costs, new_filters))
            elif filters is None and budget.delta > 0 and len(chosen) == 1:
                alone = chosen[0].for_games(times).epsilon_at(budget.delta)
                if alone <= budget.epsilon:
                    admitted.append((alone, costs, CompositionFilters(None, alone, closed=True)))
        if not admitted:
            raise BudgetSpentError(self._refusal(total, _total([*rows, *new_rows]), filters))
        _, costs, new_filters = min(admitted, key=lambda admission: admission[0])
        return costs, new_filters

    def _refund(self, games: Sequence[tuple[str, Cost, int]]) -> None:
        with self._opened(write=True) as db:
            for player, cost, number in games:
                add_games(db, player, cost, -number)
            if not read_charges(db):
                write_filters(db, None)  # nothing was shown, so the next charge is the first

    def _pure(self, guarantee: PrivacyGuarantee) -> tuple[float, float]:
        return guarantee.pure_epsilon, self._at_delta(guarantee)

    def _at_delta(self, guarantee: PrivacyGuarantee) -> float:
        return guarantee.epsilon_at(self._budget.delta or 1e-300)

    def _spent(self, total: Total, filters: CompositionFilters | None) -> Spending:
        budget = self._budget
        if filters is not None and filters.closed:
            return Spending(total.games, filters.epsilon, budget.delta)
        pure, renyi = filters_of.pure_filter(budget, total), filters_of.renyi_filter(budget, total, filters)
        # A slightly better curve is not worth its delta.
        if filters is None or pure <= renyi or (pure <= budget.epsilon and pure <= 1.01 * renyi):
            return Spending(total.games, pure, filters_of.upper_float(total.delta))
        return Spending(total.games, renyi, budget.for_curve + filters_of.delta_of_draws(total, filters.epsilon))

    def _refusal(self, before: Total, after: Total, filters: CompositionFilters | None) -> str:
        """Return why games cannot begin, in public numbers."""
        budget, spent = self._budget, self._spent(before, filters)
        games = "1 game has" if before.games == 1 else f"{before.games:,} games have"
        begun = f"the budget of this ledger is {budget}; {games} spent epsilon = {spent.epsilon:.6g}"
        if filters is not None and filters.closed:
            return (
                f"{begun}, and were admitted by what they cost alone, so that no other may follow. Nothing was played."
                " Use a ledger with a larger epsilon or delta before the first game."
            )
        if filters_of.upper_float(after.epsilon) <= budget.epsilon:
            return (
                f"{begun}, and with {after.games - before.games:,} more their deltas and those of their fast draws"
                f" would be {float(after.delta):.3g}, above {budget.for_sums:.3g}. Nothing was played. Use"
                " a ledger with a larger delta=, or draws='secure'."
            )
        of_person = " at_guarantee='person' asks for a person's epsilon, not a record's."
        return (
            f"{begun}, delta = {spent.delta:.3g}, and with {after.games - before.games:,} more it would be epsilon ="
            f" {float(after.epsilon):.6g} by sums. Nothing was played. Play fewer games, or games of a smaller epsilon."
            f"{of_person if budget.unit == 'person' else ''}"
        )

    def _for_unit(
        self, games: Games, participation: Participation | None, times: int, secret: bool
    ) -> list[list[PrivacyGuarantee]]:
        """Return the guarantees that may be charged for each game, per record or per person."""
        checks.integer("times", times, at_least=1)
        unit: Unit = self._budget.unit
        if not secret:
            raise UnprotectedGameError(
                "a game on data with a ledger must have a secret seed: a given one repeats its noise, which cancels in"
                " a difference of two games. Use seed=None, or reset() without a seed. Nothing was played."
            )
        if not games:
            raise UnprotectedGameError(UNPROTECTED.format("none is known to be above this one"))
        if participation is None or getattr(participation, unit) is None:
            raise UnprotectedGameError(
                f"a ledger for a {unit} needs data that say in how many rounds one can serve; these do not. Give Replay"
                " persons=, or make the ledger for another unit. Nothing was played."
            )
        options = []
        for guarantees in games:
            for_units = [for_unit(dataclasses.replace(guarantee, data=participation), unit) for guarantee in guarantees]
            options.append([guarantee for guarantee in for_units if guarantee.model != "none"])
        if not all(options):
            raise UnprotectedGameError(UNPROTECTED.format(f"for a {unit}, nothing is guaranteed in this one"))
        return options

    @contextlib.contextmanager
    def _opened(self, *, write: bool = False) -> "Iterator[sqlite3.Connection]":
        """Open the store, and make sure that it is this ledger's."""
        with self._store.connected(write=write) as db:
            if self._store.read_head(db) != (self._id, self._budget):
                raise LedgerFileError(
                    f"{self._store.path}: the file must be that of this ledger; it is another one's. Nothing was"
                    " played."
                )
            yield db

    def __repr__(self) -> str:
        where = "" if self._store.path is None else f" in {self._store.path}"
        return f"Ledger({self._budget}{where})"

    def __copy__(self) -> Self:
        """Return this very ledger: a copy would count the copies' games apart."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        """Return this very ledger."""
        return self

    def __reduce__(self) -> Any:
        """Pickle as the file, or as a ledger that can only check which games were charged in advance."""
        return _arrived, (type(self), self._id, self._budget, self._store.path)


_made_here: "weakref.WeakValueDictionary[str, Ledger]" = weakref.WeakValueDictionary()
"""The ledgers without a file that this process made, by id: unpickled here, they are the same again."""


def _arrived(kind: type[Ledger], number: str, budget: Budget, path: os.PathLike[str] | None) -> Ledger:
    """Return the unpickled ledger."""
    ledger_here = _made_here.get(number)
    if path is None and ledger_here is not None:
        return ledger_here
    ledger = kind.__new__(kind)
    ledger._use(number, budget, LedgerStore(path, elsewhere=path is None))
    return ledger


def _total(rows: Sequence[ChargeRow]) -> Total:
    return total_of([(cost, games) for _, cost, games in rows])


def _checked(epsilon: SupportsFloat, delta: SupportsFloat, unit: Unit, own_delta: SupportsFloat) -> Budget:
    most = checks.greater_than("epsilon", epsilon, 0.0)
    most_delta = checks.delta(delta, or_zero=True)
    for_pairs = checks.in_range("own_delta", own_delta, 0.0, 0.98 * most_delta)
    checks.one_of("unit", unit, UNITS)
    if not math.isfinite(most):
        raise ValueError(f"epsilon must be finite; received {epsilon!r}.")
    return Budget(most, most_delta, unit, for_pairs)
