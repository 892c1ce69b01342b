"""Storage of a ledger: an SQLite database in a file, or in the memory of the process that made it."""

import contextlib
import errno
import json
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dp_bandit_envs.errors import LedgerFileError
from dp_bandit_envs.files import create_once
from dp_bandit_envs.privacy.composition_filters import Budget, CompositionFilters, Cost

if TYPE_CHECKING:
    import sqlite3  # elsewhere where it is used, as a browser's Python may lack it

ELSEWHERE: Final = (
    "a ledger without a file counts in the memory of the process that made it; this is another one, whose games it"
    " would not count. Use Ledger.create(path, ...) and Ledger.load(path). Nothing was played."
)
CLOSED: Final = (
    "a ledger without a file must not be closed while games begin on its data; this one was, and its count is gone."
    " Play within `with Ledger(...)`, or use Ledger.create(path, ...). Nothing was played."
)
FORMAT: Final = 3
SCHEMA: Final = (
    "CREATE TABLE ledger (format INTEGER, id TEXT, budget TEXT, filters TEXT)",
    "CREATE TABLE charges (player TEXT, cost TEXT, games INTEGER, PRIMARY KEY (player, cost))",
)
"""One row per kind of charge: the player, the cost of one game, and the number of games."""
LOCKED_SECONDS: Final = 60.0

ChargeRow = tuple[str, Cost, int]
"""The player, the cost of one game, and the number of games."""


class LedgerStore:
    """An SQLite database in a file, or in the memory of the process that made it.

    Args:
        path: The file; None for memory.
        elsewhere: Whether the memory belongs to another process and cannot be written from here.
    """

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
        """Discard charges in memory; files are closed after each transaction."""
        if self._memory is not None and self._process == os.getpid():
            with self._lock:
                self._closing()

    def make(self, ledger_id: str, budget: Budget) -> None:
        """Make the file, which must not exist."""
        assert self.path is not None
        store = LedgerStore(None)
        store.fill(ledger_id, budget)
        try:
            if not self.path.parent.is_dir():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            # Whole or not at all: a process that is killed here leaves no file that is neither a ledger nor absent.
            is_new = create_once(self.path, store._memory.serialize(), 0o644)
        except OSError as error:
            raise LedgerFileError(
                f"{self.path}: a ledger must be in a folder that can be written; {error.strerror or error}."
                " Make the folder first, or name another one."
            ) from None
        finally:
            store.close()
        if not is_new:
            raise LedgerFileError(
                f"{self.path}: a new ledger must have a file of its own; this one exists. Use Ledger.load(path), or"
                " another file for other data."
            )

    def fill(self, ledger_id: str, budget: Budget) -> None:
        """Make the tables."""
        with self.connected(write=True) as db:
            for line in SCHEMA:
                db.execute(line)
            db.execute("INSERT INTO ledger VALUES (?, ?, ?, NULL)", (FORMAT, ledger_id, json.dumps(budget._asdict())))

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
            ((form, ledger_id, text),) = rows
            budget = Budget(**json.loads(text))
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                raise
            raise self._no_ledger() from None
        if form != FORMAT:
            raise LedgerFileError(f"{self.path}: a ledger must be of format {FORMAT}; this one is of {form}.")
        return str(ledger_id), budget

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


def read_charges(db: "sqlite3.Connection") -> list[ChargeRow]:
    """Return the charges."""
    rows = []
    for player, text, games in db.execute("SELECT player, cost, games FROM charges ORDER BY rowid"):
        epsilon, delta, draw_distance, curve = json.loads(text)
        rows.append((player, Cost(epsilon, delta, draw_distance, tuple(curve)), games))
    return rows


def read_filters(db: "sqlite3.Connection") -> CompositionFilters | None:
    """Return the filters fixed by the first charge; None before it."""
    (text,) = db.execute("SELECT filters FROM ledger").fetchone()
    return None if text is None else CompositionFilters(*json.loads(text))


def write_filters(db: "sqlite3.Connection", filters: CompositionFilters | None) -> None:
    """Store the filters fixed by the first charge."""
    db.execute("UPDATE ledger SET filters = ?", (None if filters is None else json.dumps(filters),))


def add_games(db: "sqlite3.Connection", player: str, cost: Cost, games: int) -> None:
    """Add this number of games of this cost; negative numbers subtract."""
    db.execute(
        "INSERT INTO charges VALUES (?, ?, ?) ON CONFLICT (player, cost) DO UPDATE SET games = games + ?",
        (player, json.dumps(cost), games, games),
    )
    db.execute("DELETE FROM charges WHERE games <= 0")


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
