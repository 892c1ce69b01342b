r"""A ledger over data: counts every game that begins on them, and refuses the one that would pass the budget.

Games, their algorithms and parameters may be chosen by what earlier ones showed; only the budget is fixed. A charge is
one game, or all games of a `simulate`. It may begin if one of these filters holds for the sums of all charges with it:

1. **pure**: the epsilons add up to at most the budget's, and the deltas (own ones, and (1 + e^epsilon) tau of the fast
   draws) to at most d;
2. **Renyi**, at one order and one epsilon' up to the budget's, both fixed by the first charge: the divergences of that
   order give epsilon' at c, and (1 + e^epsilon') times the sum of all tau is at most d.

delta = d + c + d, so both together are (epsilon, delta)-DP. A first charge that neither admits, but whose own epsilon
at delta is within the budget, is admitted and closes the ledger. The proof is in docs/accounting.md, beside the reason
why the least over several orders is no filter.
"""

import contextlib
import dataclasses
import decimal
import json
import math
import os
import secrets
import threading
import weakref
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.errors import BudgetSpentError, LedgerError, LedgerFileError, UnprotectedGameError
from dp_bandit_envs.privacy.accounting import FAR, ORDERS, ROUNDING, added_delta, epsilon_from_renyi
from dp_bandit_envs.privacy.admission import Games, current
from dp_bandit_envs.privacy.guarantee import UNITS, PrivacyGuarantee, Unit, for_unit
from dp_bandit_envs.privacy.participation import Participation

if TYPE_CHECKING:
    import sqlite3  # elsewhere where it is used, as a browser's Python may lack it

UNPROTECTED: Final = (
    "a game on data with a ledger must be played behind a privacy wrapper, or by an algorithm with a guarantee, through"
    " play or simulate; {}. Nothing was played."
)
ELSEWHERE: Final = (
    "a ledger without a file counts in the memory of the process that made it; this is another one, whose games it"
    " would not count. Use Ledger.create(path, ...) and Ledger.load(path). Nothing was played."
)
CLOSED: Final = (
    "a ledger without a file must not be closed while games begin on its data; this one was, and its count is gone."
    " Play within `with Ledger(...)`, or use Ledger.create(path, ...). Nothing was played."
)
FORMAT: Final = 2
SCHEMA: Final = (
    "CREATE TABLE ledger (format INTEGER, id TEXT, budget TEXT, rule TEXT)",
    "CREATE TABLE charges (whom TEXT, cost TEXT, games INTEGER, PRIMARY KEY (whom, cost))",
)
"""One row a kind of charge: who played, what one game costs, and how many there were."""
SHARE: Final = 100
"""d is this part of delta."""
LOCKED_SECONDS: Final = 60.0
EXACTLY: Final = decimal.Context(prec=60, rounding=decimal.ROUND_CEILING, Emin=-99999, Emax=99999, traps=[])


class Cost(NamedTuple):
    """What one game costs, whatever was played before.

    Attributes:
        epsilon: In [0, inf].
        delta: The delta that holds at `epsilon`, with what the draws add, in [0, 1).
        draw_distance: How far the draws are from exact noise, in [0, 1].
        curve: Its Renyi divergences with exact noise, at `ORDERS`.
    """

    epsilon: float
    delta: float
    draw_distance: float
    curve: tuple[float, ...]


class Total(NamedTuple):
    """What games cost together: sums of the numbers of their costs, which are added as they are written."""

    games: int
    epsilon: Decimal
    delta: Decimal
    draw_distance: Decimal
    curve: tuple[float, ...]


class Rule(NamedTuple):
    """What the first charge fixes.

    Attributes:
        order: The place in `ORDERS` at which divergences are added up; None where no order admits a game.
        epsilon: What they may give.
        closed: Whether that charge was admitted by its own epsilon, and no other may follow.
    """

    order: int | None
    epsilon: float
    closed: bool = False


class Budget(NamedTuple):
    """What may be spent.

    Attributes:
        epsilon: In (0, inf).
        delta: In [0, 1).
        unit: What is protected: `"record"` or `"person"`.
        own_delta: The part of delta that is kept for games with a delta of their own.
    """

    epsilon: float
    delta: float
    unit: Unit = "record"
    own_delta: float = 0.0

    @property
    def for_sums(self) -> float:
        """The delta of the first filter."""
        return self.own_delta + self.delta / SHARE

    @property
    def for_draws(self) -> float:
        """What draws may add to delta in the second filter."""
        return self.delta / SHARE

    @property
    def for_curve(self) -> float:
        """The delta at which the second filter turns a divergence into an epsilon."""
        return self.delta - self.for_sums - self.for_draws

    def pure_filter(self, total: Total) -> float:
        """Return the epsilon of games by the first filter; inf where their deltas are too large."""
        return _upper(total.epsilon) if total.delta <= _written(self.for_sums) else math.inf

    def renyi_filter(self, total: Total, rule: Rule | None) -> float:
        """Return the epsilon of games by the second filter; inf where it is too large, or their draws add too much."""
        if rule is None or rule.order is None or self.added_by_draws(total, rule.epsilon) > self.for_draws:
            return math.inf
        found = max(0.0, total.curve[rule.order] + self._paid(rule.order))
        return found if found <= rule.epsilon else math.inf

    def spent(self, total: Total, rule: Rule | None) -> float:
        """Return the epsilon of games by the filter that gives less; inf if neither holds."""
        return min(self.pure_filter(total), self.renyi_filter(total, rule))

    def added_by_draws(self, total: Total, epsilon: float) -> float:
        """Return what the draws of these games add to delta at an epsilon."""
        draw_distance = _upper(total.draw_distance)
        return (1 + math.exp(min(epsilon, FAR))) * draw_distance * (1 + ROUNDING) if draw_distance > 0 else 0.0

    def _paid(self, order: int) -> float:
        """Return what an epsilon at `for_curve` is above the divergence of an order."""
        alpha = ORDERS[order]
        return -(math.log(self.for_curve) + math.log(alpha)) / (alpha - 1) + math.log1p(-1 / alpha) + ROUNDING

    def rule_for(self, first: Total) -> Rule:
        """Return the order and the epsilon up to the budget's that admit a first charge most often."""
        best, rule = 0.0, Rule(None, self.epsilon)
        if not self.for_curve > 0:
            return rule
        for order, lost in enumerate(first.curve):
            paid = self._paid(order)
            if not (paid < self.epsilon and lost < math.inf):
                continue
            epsilon = self._best_epsilon(first, lost, paid)
            often = min(_ratio(epsilon - paid, lost), _ratio(self.for_draws, self.added_by_draws(first, epsilon)))
            if often > best:
                best, rule = often, Rule(order, epsilon)
        return rule

    def _best_epsilon(self, first: Total, lost: float, paid: float) -> float:
        """Return where as many such charges are admitted by their divergence as by their draws, or the budget's."""

        def draws_are_more(epsilon: float) -> bool:
            by_draws = _ratio(self.for_draws, self.added_by_draws(first, epsilon))
            return _ratio(epsilon - paid, lost) > by_draws

        if not draws_are_more(self.epsilon):
            return self.epsilon
        low, high = max(0.0, paid), self.epsilon
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if draws_are_more(middle) else (middle, high)
        return low

    def __str__(self) -> str:
        own = f", of which {self.own_delta:.3g} for deltas of games" if self.own_delta else ""
        return f"epsilon = {self.epsilon:g}, delta = {self.delta:.3g}{own}, for a {self.unit}"


class Spent(NamedTuple):
    """What the games on a ledger cost together.

    Attributes:
        games: Number of games that have begun.
        epsilon: What they spend of the budget's epsilon, by the filter that gives less.
        delta: What they spend of its delta: the deltas of the games, and for the second filter its own part.
    """

    games: int
    epsilon: float
    delta: float


class Charge(NamedTuple):
    """What one player spent.

    Attributes:
        whom: The player's name, or "" for games that began with a reset.
        games: How many.
        epsilon: What they cost alone, at the delta of the second filter or less.
    """

    whom: str
    games: int
    epsilon: float


class Receipt:
    """What `Ledger.spend` counted, for giving back games whose noise was never drawn.

    In other processes it knows nothing: what is sent there counts as begun.
    """

    def __init__(self, ledger: "Ledger | None" = None, lines: Sequence[tuple[str, str]] = (), times: int = 0) -> None:
        self._ledger, self._lines = ledger, list(lines)
        self._left = [times] * len(self._lines)
        self._lock = threading.Lock()

    def began(self, whom: Sequence[str] | None = None, times: int = 1) -> None:
        """Note that so many games of these players, or of all, may have drawn noise."""
        with self._lock:
            for place, (name, _) in enumerate(self._lines):
                if whom is None or name in whom:
                    self._left[place] = max(0, self._left[place] - times)

    def give_back(self) -> int:
        """Give back the games that have not begun, in one transaction; return how many. A second time gives nothing."""
        with self._lock:
            games = [(line, left) for line, left in zip(self._lines, self._left, strict=True) if left]
            self._left = [0] * len(self._lines)
        if games and self._ledger is not None:
            self._ledger._give_back(games)
        return sum(left for _, left in games)

    @contextlib.contextmanager
    def given_back_on_failure(self) -> Iterator[None]:
        """Give back what has not begun if this block ends by an error or is interrupted."""
        try:
            yield
        except BaseException:
            self.give_back()
            raise

    def __reduce__(self) -> Any:
        return Receipt, ()


NOTHING_PAID: Final = Receipt()
"""The receipt where no ledger has counted anything."""


class Ledger:
    r"""A privacy budget for all games over the same data.

    Give one ledger to every environment over these data: `Replay(..., ledger=ledger)`, `Trial(ledger=ledger)`,
    `gym.make("DPBandit-Replay-v0", gains=..., ledger=ledger)` or `env_kwargs={"ledger": ledger, ...}` of `simulate`.
    Every game counts before its first round: each reset, each game of a vector and each time these start again, each
    trial of each algorithm. `simulate` counts all of its games before the first one begins, after everything is checked
    and compiled, and gives back those whose noise was never drawn if it fails.

    A game counts with what it is played under: the guarantee of the privacy wrappers, or of the algorithm that
    `play` or `simulate` plays. A game with neither is refused, and so is one with a seed: only noise that nobody can
    repeat is independent of that of other games. What the guarantees cover is protected; the results of `simulate` are
    computed from true gains, for the evaluator.

    **Guarantee.** Everything that the games show is (epsilon, delta)-DP for the unit, also if games and parameters are
    chosen by what earlier ones have shown; the filters are in the module's docstring. It holds for the budget; `spent`
    says how much of it is used.

    `Ledger(...)` counts in memory, and only in the process that made it: copies are the same ledger, and in another
    process it refuses every game that was not counted before. It is closed at the end of `with Ledger(...) as ledger:`,
    or as nothing refers to it any more. `Ledger.create(path, ...)` makes a file, and
    `Ledger.load(path)` opens it, in any process; it is an SQLite database, for a disk of this machine.

    Args:
        epsilon: The budget, in (0, inf).
        delta: In [0, 1). With 0, only games without a delta may begin, such as with `draws="secure"`.
        unit: What is protected: `"record"`: one record (a row of a table), in all rounds in which it can serve; or
            `"person"`: all records of one person, where the environment knows them (`persons=`).
        own_delta: The part of delta that is kept for games that state a delta of their own and no law or curve, in
            [0, .98 delta).

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
        self._use(secrets.token_hex(8), _checked(epsilon, delta, unit, own_delta), _Store(None))
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
        _Store(checks.path("path", path)).make(secrets.token_hex(8), _checked(epsilon, delta, unit, own_delta))
        return cls.load(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the ledger of a file, with the budget that it was made with.

        Raises:
            LedgerFileError: If there is no such file, or it is no ledger.
        """
        store = _Store(checks.path("path", path))
        with store.connected() as db:
            number, budget = store.read_head(db)
        ledger = cls.__new__(cls)
        ledger._use(number, budget, store)
        return ledger

    def close(self) -> None:
        """Let go of what is counted in memory, after which no game may begin; a file is never left open."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _use(self, number: str, budget: Budget, store: "_Store") -> None:
        self._id, self._budget, self._store = number, budget, store

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return self._budget

    @property
    def id(self) -> str:
        """Distinguishes this ledger from all others; the same in every process."""
        return self._id

    @property
    def spent(self) -> Spent:
        """What the games cost that have begun so far."""
        with self._opened() as db:
            rows, rule = _rows(db), _rule(db)
        return self._spent(_total(rows), rule)

    @property
    def is_closed(self) -> bool:
        """Whether the first charge was admitted by what it costs alone, so that no other may follow."""
        with self._opened() as db:
            rule = _rule(db)
        return rule is not None and rule.closed

    @property
    def charges(self) -> list[Charge]:
        """What each player spent."""
        with self._opened() as db:
            rows = _rows(db)
        found = []
        for whom in dict.fromkeys(each for each, _, _ in rows):
            own = _total([row for row in rows if row[0] == whom])
            least = self._budget.pure_filter(own)
            if self._budget.for_curve > 0:
                curve = tuple(zip(ORDERS, own.curve, strict=True))
                least = min(least, epsilon_from_renyi(curve, self._budget.for_curve))
            found.append(Charge(whom, own.games, least))
        return found

    def enter(self, use: Participation | None, beginnings: int = 1, *, ahead: bool = False) -> Receipt:
        """Count the games that begin now, or refuse them; an adversary over data calls this first in `begin`.

        What it returns gives them back, if no round of theirs was played.

        Args:
            use: In how many rounds of a game a record, and a person, can serve; None counts as unknown.
            beginnings: How many games, at least 1.
            ahead: Whether the adversary's `begin`, which calls this again, then finds its games counted.

        Raises:
            BudgetSpentError: If they would pass the budget.
            UnprotectedGameError: If nothing private is announced, or the seed is known.
            LedgerFileError: If the file cannot be read and written.
        """
        checks.integer("beginnings", beginnings, at_least=1)
        game = current()
        if game is not None and game.was_paid(self._id, use, beginnings, take=not ahead):
            return NOTHING_PAID
        try:
            if game is None:
                raise UnprotectedGameError(UNPROTECTED.format("none is above this one"))
            receipt = self.spend(game.games, use, beginnings, secret=game.secret, whom=[game.whom] * len(game.games))
        except LedgerError as error:
            if game is not None:
                game.shared.refusal = error
            raise
        if ahead and use is not None:
            game.pay(self._id, use, beginnings)
        return receipt

    def spend(
        self, games: Games, use: Participation | None, times: int = 1, *, secret: bool, whom: Sequence[str] = ()
    ) -> Receipt:
        """Count games, all or none of them; return what gives back those whose noise is never drawn.

        Args:
            games: For each game the guarantees that hold for a round of it, any of which may be counted.
            use: In how many rounds of a game a record, and a person, can serve.
            times: How often each of them is played, at least 1.
            secret: Whether nobody knows the seed of their noise.
            whom: Who plays each of them.

        Raises:
            BudgetSpentError: If they would pass the budget.
            UnprotectedGameError: If one of them has no guarantee, or the seed is known.
            LedgerFileError: If the file cannot be read and written.
        """
        checks.integer("times", times, at_least=1)
        if not secret:
            raise UnprotectedGameError(
                "a game on data with a ledger must have a secret seed: a given one repeats its noise, which cancels in"
                " a difference of two games. Use seed=None, or reset() without a seed. Nothing was played."
            )
        if not games:
            raise UnprotectedGameError(UNPROTECTED.format("none is known to be above this one"))
        ways = [self._for_unit(guarantees, use) for guarantees in games]
        names = [*whom, *[""] * (len(games) - len(whom))]
        with self._opened(write=True) as db:
            rows, rule = _rows(db), _rule(db)
            chosen, rule = self._admitted(rows, rule, ways, times)
            lines = [(name, json.dumps(cost)) for name, cost in zip(names, chosen, strict=True)]
            for line in lines:
                db.execute(
                    "INSERT INTO charges VALUES (?, ?, ?) ON CONFLICT (whom, cost) DO UPDATE SET games = games + ?",
                    (*line, times, times),
                )
            db.execute("UPDATE ledger SET rule = ?", (None if rule is None else json.dumps(rule),))
        return Receipt(self, lines, times)

    def _admitted(
        self, rows: Sequence["_Row"], rule: Rule | None, ways: Sequence[list[PrivacyGuarantee]], times: int
    ) -> tuple[list[Cost], Rule | None]:
        """Return the costs that admit these games, and what is fixed then; or raise."""
        budget, before = self._budget, _total(rows)
        found: list[tuple[float, list[Cost], Rule | None]] = []
        for of_game in (self._pure, self._at_delta):
            chosen = [min(guarantees, key=of_game) for guarantees in ways]
            costs = [_cost(guarantee, budget.for_sums) for guarantee in chosen]
            more = [("", cost, times) for cost in costs]
            if rule is not None and rule.closed:
                continue
            fixed, first = rule, _total(more)
            if rule is None and (first.epsilon > 0 or first.delta > 0 or max(first.curve) > 0):
                fixed = budget.rule_for(first)
            spent = budget.spent(_total([*rows, *more]), fixed)
            if spent <= budget.epsilon:
                found.append((spent, costs, fixed))
            elif rule is None and budget.delta > 0 and len(chosen) == 1:
                alone = chosen[0].for_games(times).epsilon_at(budget.delta)
                if alone <= budget.epsilon:
                    found.append((alone, costs, Rule(None, alone, closed=True)))
        if not found:
            raise BudgetSpentError(self._refusal(before, _total([*rows, *more]), rule))
        _, costs, fixed = min(found, key=lambda each: each[0])
        return costs, fixed

    def _give_back(self, games: Sequence[tuple[tuple[str, str], int]]) -> None:
        with self._opened(write=True) as db:
            for line, number in games:
                db.execute("UPDATE charges SET games = games - ? WHERE whom = ? AND cost = ?", (number, *line))
            db.execute("DELETE FROM charges WHERE games <= 0")
            if not _rows(db):
                db.execute("UPDATE ledger SET rule = NULL")  # nothing was shown, so the next charge is the first

    def _pure(self, guarantee: PrivacyGuarantee) -> tuple[float, float]:
        return guarantee.pure_epsilon, self._at_delta(guarantee)

    def _at_delta(self, guarantee: PrivacyGuarantee) -> float:
        return guarantee.epsilon_at(self._budget.delta or 1e-300)

    def _spent(self, total: Total, rule: Rule | None) -> Spent:
        budget = self._budget
        if rule is not None and rule.closed:
            return Spent(total.games, rule.epsilon, budget.delta)
        pure_filter, renyi_filter = budget.pure_filter(total), budget.renyi_filter(total, rule)
        # A curve that says hardly less is not worth its delta.
        if (
            rule is None
            or pure_filter <= renyi_filter
            or (pure_filter <= budget.epsilon and pure_filter <= 1.01 * renyi_filter)
        ):
            return Spent(total.games, pure_filter, _upper(total.delta))
        return Spent(total.games, renyi_filter, budget.for_curve + budget.added_by_draws(total, rule.epsilon))

    def _refusal(self, before: Total, after: Total, rule: Rule | None) -> str:
        """Return why games cannot begin, in public numbers."""
        budget, spent = self._budget, self._spent(before, rule)
        games = "1 game has" if before.games == 1 else f"{before.games:,} games have"
        begun = f"the budget of this ledger is {budget}; {games} spent epsilon = {spent.epsilon:.6g}"
        if rule is not None and rule.closed:
            return (
                f"{begun}, and were admitted by what they cost alone, so that no other may follow. Nothing was played."
                " Use a ledger with a larger epsilon or delta before the first game."
            )
        if _upper(after.epsilon) <= budget.epsilon:
            return (
                f"{begun}, and with {after.games - before.games:,} more their deltas and those of their fast draws"
                f" would be {float(after.delta):.3g}, above {budget.for_sums:.3g}. Nothing was played. Use"
                " a ledger with a larger delta=, or draws='secure'."
            )
        return (
            f"{begun}, delta = {spent.delta:.3g}, and with {after.games - before.games:,} more it would be epsilon ="
            f" {float(after.epsilon):.6g} by sums. Nothing was played. Play fewer games, or games of a smaller epsilon."
        )

    def _for_unit(self, guarantees: Sequence[PrivacyGuarantee], use: Participation | None) -> list[PrivacyGuarantee]:
        """Return what may be counted for one game."""
        unit: Unit = self._budget.unit
        if use is None or getattr(use, unit) is None:
            raise UnprotectedGameError(
                f"a ledger for a {unit} needs data that say in how many rounds one can serve; these do not. Give Replay"
                " persons=, or make the ledger for another unit. Nothing was played."
            )
        found = [for_unit(dataclasses.replace(guarantee, data=use), unit) for guarantee in guarantees]
        found = [each for each in found if each.model != "none"]
        if not found:
            raise UnprotectedGameError(UNPROTECTED.format(f"for a {unit}, nothing is guaranteed in this one"))
        return found

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
        """Be sent to another process as the file, or as a ledger that can only tell which games were counted before."""
        return _arrived, (type(self), self._id, self._budget, self._store.path)


_made_here: "weakref.WeakValueDictionary[str, Ledger]" = weakref.WeakValueDictionary()
"""The ledgers without a file that this process made, by id: unpickled here, they are the same again."""


def _arrived(kind: type[Ledger], number: str, budget: Budget, path: os.PathLike[str] | None) -> Ledger:
    """Return the ledger that was sent."""
    here = _made_here.get(number)
    if path is None and here is not None:
        return here
    ledger = kind.__new__(kind)
    ledger._use(number, budget, _Store(path, elsewhere=path is None))
    return ledger


class _Store:
    """An SQLite database: a file, or memory of the process that made it; a transaction is one question and answer."""

    def __init__(self, path: str | os.PathLike[str] | None, *, elsewhere: bool = False) -> None:
        # Absolute, as other processes may work in other folders.
        self.path = None if path is None else Path(os.path.realpath(path))
        self._process, self._lock = os.getpid(), threading.RLock()
        self._memory: Any = None
        if path is None and not elsewhere:
            import sqlite3

            self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            # Python 3.13 and later warn of a connection that is let go open.
            self._closing = weakref.finalize(self, self._memory.close)

    def close(self) -> None:
        """Forget what was counted in memory; files are closed after each transaction."""
        if self._memory is not None and self._process == os.getpid():
            with self._lock:
                self._closing()

    def make(self, number: str, budget: Budget) -> None:
        """Make the file, which must not exist."""
        assert self.path is not None
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644))
        except FileExistsError:
            raise LedgerFileError(
                f"{self.path}: a new ledger must have a file of its own; this one exists. Use Ledger.load(path), or"
                " another file for other data."
            ) from None
        except OSError as error:
            raise LedgerFileError(
                f"{self.path}: a ledger must be in a folder that can be written; {error.strerror or error}."
                " Make the folder first, or name another one."
            ) from None
        try:
            self.fill(number, budget)
        except BaseException:
            self.path.unlink()
            raise

    def fill(self, number: str, budget: Budget) -> None:
        """Make the tables."""
        with self.connected(write=True) as db:
            for line in SCHEMA:
                db.execute(line)
            db.execute("INSERT INTO ledger VALUES (?, ?, ?, NULL)", (FORMAT, number, json.dumps(budget._asdict())))

    @contextlib.contextmanager
    def connected(self, *, write: bool = False) -> "Iterator[sqlite3.Connection]":
        """Yield a connection in one transaction, which ends as this block does."""
        if self.path is None:
            if self._memory is None or self._process != os.getpid():
                raise LedgerFileError(ELSEWHERE)  # before the lock, which another thread may hold in a forked process
            with self._lock:
                if not self._closing.alive:
                    raise LedgerFileError(CLOSED)
                with _transaction(self._memory, write):
                    yield self._memory
            return
        import sqlite3

        try:
            # mode=rw makes no file.
            where = f"{self.path.as_uri()}?mode=rw"
            db = sqlite3.connect(where, uri=True, isolation_level=None, timeout=LOCKED_SECONDS, check_same_thread=False)
            try:
                db.execute("PRAGMA synchronous = FULL")  # on the disk before a game begins
                db.execute("PRAGMA fullfsync = ON")
                with _transaction(db, write):
                    yield db
            finally:
                db.close()
        except sqlite3.Error as error:
            raise self._failed(error) from None

    def read_head(self, db: "sqlite3.Connection") -> tuple[str, Budget]:
        """Return id and budget of the ledger in the file."""
        import sqlite3

        try:
            rows = db.execute("SELECT format, id, budget FROM ledger").fetchall()
            ((form, number, budget),) = rows
            known = Budget(**json.loads(budget))
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                raise
            raise self._no_ledger() from None
        if form != FORMAT:
            raise LedgerFileError(f"{self.path}: a ledger must be of format {FORMAT}; this one is of {form}.")
        return str(number), known

    def _no_ledger(self) -> LedgerFileError:
        return LedgerFileError(
            f"{self.path}: a ledger must be intact; this file is damaged or something else. Restore the newest copy, in"
            " which no game is missing, or make another file with a smaller budget. No game was begun."
        )

    def _failed(self, error: "sqlite3.Error") -> LedgerFileError:
        import sqlite3

        assert self.path is not None
        if not self.path.exists():
            return LedgerFileError(
                f"{self.path}: a ledger's file must exist; there is none. Restore it where games were counted in it, or"
                " make a new one with Ledger.create(path, epsilon=...). No game was begun."
            )
        if not isinstance(error, sqlite3.OperationalError):
            return self._no_ledger()
        return LedgerFileError(f"{self.path}: a ledger must be readable and writable; {error}. No game was begun.")


@contextlib.contextmanager
def _transaction(db: "sqlite3.Connection", write: bool) -> Iterator[None]:
    import sqlite3

    db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise


_Row = tuple[str, Cost, int]


def _rows(db: "sqlite3.Connection") -> list[_Row]:
    rows = []
    for whom, text, games in db.execute("SELECT whom, cost, games FROM charges ORDER BY rowid"):
        epsilon, delta, draw_distance, curve = json.loads(text)
        rows.append((whom, Cost(epsilon, delta, draw_distance, tuple(curve)), games))
    return rows


def _rule(db: "sqlite3.Connection") -> Rule | None:
    (text,) = db.execute("SELECT rule FROM ledger").fetchone()
    return None if text is None else Rule(*json.loads(text))


def _cost(guarantee: PrivacyGuarantee, room: float) -> Cost:
    """Return what a game costs: pure, or the pair that is stated where that is less and the budget has room for it."""
    pure, draw_distance = guarantee.pure_epsilon, guarantee.draw_distance
    ways = [(pure, added_delta(pure, draw_distance))] if math.isfinite(pure) else []
    if guarantee.delta > 0 and math.isfinite(guarantee.epsilon):
        ways.append((guarantee.epsilon, guarantee.delta))
    epsilon, delta = min((way for way in ways if way[1] <= room), default=min(ways, default=(math.inf, 0.0)))
    return Cost(epsilon, delta, draw_distance, tuple(divergence for _, divergence in guarantee.renyi()))


def _total(rows: Sequence[_Row]) -> Total:
    """Return what all games of these rows cost together."""
    epsilon = delta = draw_distance = Decimal(0)
    curve = [0.0] * len(ORDERS)

    def more(before: Decimal, games: int, each: float) -> Decimal:
        return EXACTLY.add(before, EXACTLY.multiply(Decimal(games), _written(each)))

    for _, cost, games in rows:
        epsilon, delta = more(epsilon, games, cost.epsilon), more(delta, games, cost.delta)
        draw_distance = more(draw_distance, games, cost.draw_distance)
        curve = [before + games * each for before, each in zip(curve, cost.curve, strict=True)]
    begun = sum(games for _, _, games in rows)
    return Total(begun, epsilon, delta, draw_distance, tuple(each * (1 + ROUNDING) for each in curve))


def _ratio(room: float, each: float) -> float:
    return room / each if each > 0 else math.inf


def _written(number: float) -> Decimal:
    """Return a number as it is written, 0.1 as one tenth."""
    return Decimal(repr(float(number)))


def _upper(number: Decimal) -> float:
    """Return a double that is at least a decimal, and the same one if that is how the double is written."""
    near = float(number)
    return near if _written(near) >= number else math.nextafter(near, math.inf)


def _checked(epsilon: SupportsFloat, delta: SupportsFloat, unit: Unit, own_delta: SupportsFloat) -> Budget:
    bound = checks.greater_than("epsilon", epsilon, 0.0)
    whole = checks.delta(delta, or_zero=True)
    own = checks.in_range("own_delta", own_delta, 0.0, 0.98 * whole)
    checks.one_of("unit", unit, UNITS)
    if not math.isfinite(bound):
        raise ValueError(f"epsilon must be finite; received {epsilon!r}.")
    return Budget(bound, whole, unit, own)
