"""Plays many rounds of a block of games in one call of machine code: draws a piece of the gains, plays it, and so on.

The loops of the adversary and of each algorithm are compiled by themselves, so that each is compiled once and not for
every combination; here their machine code is called at its addresses. A thread that came back to Python for every piece
would often wait there for another, which prepares its next games.
"""

from typing import NamedTuple

from dp_bandit_envs.compiling.functions import call_at
from dp_bandit_envs.protocols import FloatArray, IntArray


class Seats(NamedTuple):
    """Who takes part in each piece, in this order: the adversary if its loop is compiled, and the algorithms.

    Attributes:
        addresses: Of `draw_lanes` or `play_lanes` as compiled, shape `(seats,)`.
        blocks, clocks, sums, counts: Their arguments, with one more axis, the first, for seats.
    """

    addresses: IntArray
    blocks: IntArray
    clocks: IntArray
    sums: FloatArray
    counts: IntArray


def play_pieces(rounds: int, room: IntArray, checkpoints: IntArray, seats: Seats) -> None:
    """Play rounds; runs only compiled.

    Args:
        rounds: How many; at most those in `room` if no seat draws gains.
        room: For the gains of a piece, shape `(rounds of a piece, n_arms, LANES)`; changed in place.
        checkpoints: Rounds at which to record, ascending.
        seats: Who takes part; their arrays are changed in place.
    """
    for start in range(0, rounds, len(room)):
        gains = room[: min(len(room), rounds - start)]
        for seat in range(len(seats.addresses)):
            block, clock = seats.blocks[seat], seats.clocks[seat]
            arguments = block, gains, clock, checkpoints, seats.sums[seat], seats.counts[seat]
            call_at(seats.addresses[seat], arguments)
