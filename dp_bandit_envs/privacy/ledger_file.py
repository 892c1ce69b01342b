"""A ledger's file: one process at a time reads it, adds to it and writes it anew, whole or not at all."""

import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from dp_bandit_envs import durable_files
from dp_bandit_envs.errors import LedgerFileError
from dp_bandit_envs.privacy.budget import Account, Budget, Cost

FORMAT = 1
WAIT = 0.05
"""Seconds between attempts to lock a file, on systems without waiting locks."""

_most_seen: dict[str, int] = {}
"""The most games that this process has seen in each ledger, by id: no file of that ledger may have fewer."""


class LedgerFile:
    """The file of a ledger, and a second one beside it, `NAME.lock`, which is locked while the first is in use.

    The lock is the operating system's: it ends with its process, however that ends, and excludes threads, too. The file
    itself is locked as well, as somebody may delete `NAME.lock` while it is in use; Windows lets nobody do that.

    A file has one name: writing it anew under another one, a link, would leave the first as it was, and each would have
    the whole budget. Symbolic links are followed, and a file with several names (hard links) is refused.

    Args:
        path: The file; its folder must exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # Absolute, as other processes may work in other folders.
        self.path = Path(os.path.realpath(path))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude all other threads and processes that use this ledger."""
        beside = self.path.with_name(f"{self.path.name}.lock")
        try:
            lock = beside.open("ab")
        except OSError as error:
            raise self._failed("must be in a folder that can be written", error) from None
        with lock:
            _lock(lock)
            with self._itself_locked():
                yield

    @contextlib.contextmanager
    def _itself_locked(self) -> Iterator[None]:
        """Lock the file that has the name now; nothing where there is none, or a file in use cannot be replaced."""
        with contextlib.ExitStack() as held:
            while sys.platform != "win32":
                try:
                    file = held.enter_context(self.path.open("r+b"))
                    _lock(file)
                    if os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                        break
                except FileNotFoundError:
                    break
                except OSError as error:
                    raise self._failed("must be writable", error) from None
                held.close()  # it was replaced while this one waited
            yield

    def exists(self) -> bool:
        """Whether there is such a file."""
        return self.path.exists()

    def read(self) -> Account:
        """Return what the file says.

        Raises:
            LedgerFileError: If it is missing, damaged or no ledger, has several names, or lacks games.
        """
        seen = dict(_most_seen)  # of before, as another thread may count while this one reads
        try:
            text, names = self.path.read_bytes(), self.path.stat().st_nlink
        except OSError as error:
            raise self._failed("must exist and be readable", error) from None
        if names > 1:
            raise LedgerFileError(
                f"{self.path}: a ledger's file must have one name, under which all games count; this one has {names}"
                " (hard links). Delete the others. No game was begun."
            )
        try:
            content = json.loads(text)
            if content.pop("sha256") != _digest(content) or content["format"] != FORMAT:
                raise ValueError
            budget = Budget(**content["budget"])
            games = {Cost(*map(Decimal, numbers)): int(count) for *numbers, count in content["games"]}
            account = Account(str(content["id"]), budget, games)
        except Exception:  # a damaged file can fail in any way
            raise LedgerFileError(
                f"{self.path}: a ledger must be intact; this file is damaged or something else. Restore the newest"
                " copy, in which no game is missing, or begin with another file and a smaller budget."
            ) from None
        begun, before = sum(games.values()), seen.get(account.id, 0)
        if begun < before:
            raise LedgerFileError(
                f"{self.path}: a ledger must have all games that were counted; this file has {begun:,}, and there were"
                f" {before:,}. It is an older copy: restore the newest. No game was begun."
            )
        _most_seen[account.id] = max(begun, _most_seen.get(account.id, 0))
        return account

    def write(self, account: Account) -> None:
        """Write the file anew; when this returns, it is on the disk.

        Raises:
            LedgerFileError: If it cannot be written; it is then unchanged.
        """
        content: dict[str, Any] = {
            "format": FORMAT,
            "id": account.id,
            "budget": account.budget._asdict(),
            "games": [[*map(str, cost), count] for cost, count in account.games.items()],
        }
        try:
            with durable_files.whole_file(self.path) as file:
                file.write(json.dumps({**content, "sha256": _digest(content)}, indent=1).encode())
        except OSError as error:
            raise self._failed("must be writable", error) from None
        _most_seen[account.id] = max(sum(account.games.values()), _most_seen.get(account.id, 0))

    def _failed(self, rule: str, error: OSError) -> LedgerFileError:
        return LedgerFileError(f"{self.path}: a ledger {rule}; {error.strerror or error}. No game was begun.")


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


if sys.platform == "win32":

    def _lock(file: IO[bytes]) -> None:
        import msvcrt

        file.seek(0)
        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                return
            except OSError:
                time.sleep(WAIT)

else:

    def _lock(file: IO[bytes]) -> None:
        import fcntl  # here, as a browser's Python may lack it

        while True:
            try:
                # Not waiting in the system call: Ctrl-C and other threads go on.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(WAIT)
