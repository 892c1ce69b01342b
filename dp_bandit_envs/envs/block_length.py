"""How many rounds of gains an environment draws at once."""

from typing import Final

FIRST_BLOCK: Final = 64
BLOCK_NUMBERS: Final = 2**18
"""The most gains that an environment draws at once; with many arms, blocks are shorter."""


def next_length(played: int, horizon: int, most: int) -> int:
    """Return the number of rounds of the next block: first few, later at most three times those played.

    So a short game draws little more than it plays, and a long one draws nearly all of its gains in long blocks.

    Args:
        played: Rounds played so far.
        horizon: Rounds of the game.
        most: The longest block.
    """
    return min(most, max(FIRST_BLOCK, 3 * played), horizon - played)
