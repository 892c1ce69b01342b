"""Counts all games of a vector in their ledger at once, so that either all of them begin or none."""

from dp_bandit_envs.adversaries.adversary import Adversary


def enter_together(adversary: Adversary, games: int) -> None:
    """Count games of copies of one adversary, each of which then finds its own game counted when it begins.

    Raises:
        LedgerError: If the ledger refuses them.
    """
    if adversary.ledger is not None and games > 1:
        adversary.ledger.enter(adversary.data_use, games)
