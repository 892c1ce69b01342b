"""Counts games in the ledger of their data before they begin: those of a vector together, so that all begin or none."""

import contextlib
from collections.abc import Iterator

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.privacy.announced import current


@contextlib.contextmanager
def counted(adversary: Adversary, games: int = 1) -> Iterator[None]:
    """Count games of copies of one adversary; each finds its own game counted when it begins in this `with` statement.

    They count with what the whole adversary says of its data, which may serve more often than those of one inside it.
    What was counted and does not begin here is spent all the same, so that it pays for no later game.

    Raises:
        LedgerError: If the ledger refuses them.
    """
    if adversary.ledger is not None:
        adversary.ledger.enter(adversary.data_use, games, ahead=True)
    yield
    announced = current()
    if announced is not None:
        announced.shared.paid.clear()
