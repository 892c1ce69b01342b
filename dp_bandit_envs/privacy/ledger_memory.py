"""Where a ledger without a file counts: in the memory of one process, which no other process shares."""

import contextlib
import os
import threading
from collections.abc import Iterator

from dp_bandit_envs.errors import LedgerFileError
from dp_bandit_envs.privacy.budget import Account

ELSEWHERE = (
    "a ledger without a path counts in the memory of the process that made it; this is another one, whose games it"
    " would not count. Use Ledger(path=...). Nothing was played."
)


class LedgerMemory:
    """Counts in memory.

    Args:
        account: What is counted so far; None in a process to which a ledger was sent, where nothing can be counted.
    """

    path = None

    def __init__(self, account: Account | None) -> None:
        self._account = account
        self._process = os.getpid()
        self._lock = threading.Lock()

    @property
    def is_here(self) -> bool:
        """Whether this is the process that counts."""
        return self._account is not None and self._process == os.getpid()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude all other threads."""
        if not self.is_here:
            raise LedgerFileError(ELSEWHERE)  # before the lock, which another thread may hold in a forked process
        with self._lock:
            yield

    def read(self) -> Account:
        """Return what is counted so far."""
        if self._account is None or not self.is_here:
            raise LedgerFileError(ELSEWHERE)
        return self._account

    def write(self, account: Account) -> None:
        """Replace what is counted."""
        self._account = account
