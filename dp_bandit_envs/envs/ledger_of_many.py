"""Counts games in the ledger of their data before they begin: those of a vector together, so that all begin or none."""

import contextlib
from collections.abc import Iterator

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.errors import LateDataError
from dp_bandit_envs.privacy.announced import current

LATE = (
    "{} must have its real data when it is made, before a seed is chosen; its begin made some, such as a Replay. Make"
    " them in __init__, and let begin only begin them."
)


@contextlib.contextmanager
def counted(adversary: Adversary, games: int = 1) -> Iterator[None]:
    """Count games of copies of one adversary; each finds its own game counted when it begins in this `with` statement.

    They count with what the whole adversary says of its data, which may serve more often than those of one inside it.
    What was counted and does not begin here is spent all the same, so that it pays for no later game.

    Raises:
        LedgerError: If the ledger refuses them.
        LateDataError: If the adversary's `begin` makes real data, as the seed was chosen without them.
    """
    known = adversary.is_real
    if adversary.ledger is not None:
        adversary.ledger.enter(adversary.data_use, games, ahead=True)
    yield
    announced = current()
    if announced is not None:
        announced.shared.paid.clear()
    if not known and adversary.is_real:
        late = LateDataError(LATE.format(type(adversary).__name__))
        if announced is not None:
            announced.shared.refusal = late  # boundaries withhold other errors from below
        raise late
