"""Ledgers from another process: that of a file, the very one that this process made, or one that cannot count."""

import os
import weakref
from typing import TYPE_CHECKING

from dp_bandit_envs.privacy.budget import Account
from dp_bandit_envs.privacy.ledger_file import LedgerFile
from dp_bandit_envs.privacy.ledger_memory import LedgerMemory

if TYPE_CHECKING:
    from dp_bandit_envs.privacy.ledger import Ledger

made_here: "weakref.WeakValueDictionary[str, Ledger]" = weakref.WeakValueDictionary()
"""The ledgers without a file that this process made, by id: unpickled here, they are the same again."""


def arrived(kind: "type[Ledger]", account: Account, path: os.PathLike[str] | None) -> "Ledger":
    """Return the ledger that was sent.

    Args:
        kind: Its class.
        account: Its id and budget.
        path: Its file, or None if it counts in the memory of the process that made it.
    """
    here = made_here.get(account.id)
    if path is None and here is not None:
        return here
    ledger = kind.__new__(kind)
    ledger._use(account, LedgerMemory(None) if path is None else LedgerFile(path))
    return ledger
