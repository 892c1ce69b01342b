"""Games of lab 1 that are played or counted by hand: thirty rounds of three arms, and six to work out a regret."""

from typing import Final

import numpy as np

from dp_bandit_envs.protocols import FloatArray, IntArray

CHANCES: Final = (0.3, 0.5, 0.7)
"""With which the three arms pay, in an order that is drawn for each game."""
SIX_ROUNDS: Final[FloatArray] = np.array(
    [[1, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 0]], dtype=np.float64
)
"""What three arms pay in the six rounds of task 1, `(6, 3)`."""
ARMS_OF_SIX: Final[IntArray] = np.array([0, 0, 2, 2, 0, 1])
"""The arms that its player plays, `(6,)`."""


def new_payments(rounds: int = 30) -> FloatArray:
    """Return what every arm will pay, 1 or 0, `(rounds, 3)`; every call is another game.

    Args:
        rounds: Number of rounds.
    """
    luck = np.random.default_rng()
    return (luck.random((rounds, len(CHANCES))) < luck.permutation(CHANCES)).astype(np.float64)


def scoreboard(payments: FloatArray, pulled: list[int]) -> str:
    """Return what a player has seen so far, and at the end the regret, in Markdown.

    Args:
        payments: What every arm pays, `(T, K)`.
        pulled: The arms pulled so far, at most T.
    """
    arms = np.array(pulled, int)
    got = payments[np.arange(len(arms)), arms]
    rows = [f"| arm {arm} | {(arms == arm).sum()} | {got[arms == arm].sum():.0f} |" for arm in range(payments.shape[1])]
    last = f"The last pull paid **{got[-1]:.0f}**. " if len(arms) else ""
    over = ""
    if len(arms) == len(payments):
        totals = payments.sum(axis=0)
        over = (
            f"\n\nArm {totals.argmax()}, played throughout, would have paid {totals.max():.0f}. Your **regret** is"
            f" {totals.max():.0f} - {got.sum():.0f} = **{totals.max() - got.sum():.0f}**. Press *New game* for another"
            " one."
        )
    head = ["| | pulls | paid in all |", "| :-- | --: | --: |"]
    return f"{last}Rounds left: {len(payments) - len(arms)}.\n\n" + "\n".join([*head, *rows]) + over


def six_rounds() -> str:
    """Return the six rounds of task 1 as a table in Markdown, in which what the player got is bold."""
    lines = ["| round | arm 0 | arm 1 | arm 2 |", "| --: | --: | --: | --: |"]
    for number, (row, arm) in enumerate(zip(SIX_ROUNDS, ARMS_OF_SIX, strict=True), 1):
        cells = [f"**{gain:.0f}**" if each == arm else f"{gain:.0f}" for each, gain in enumerate(row)]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    return "\n".join(lines)
