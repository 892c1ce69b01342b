"""Plays many rounds of a block of games in one call of machine code: draws a piece of the gains, plays it, and so on.

The loops of the adversary and of each algorithm are compiled by themselves, so that each is compiled once and not for
every combination; here their machine code is called at its addresses. A thread that came back to Python for every piece
would often wait there for another, which prepares its next games.
"""

from typing import NamedTuple

from dp_bandit_envs.compiling.built_in import call_at
from dp_bandit_envs.protocols import FloatArray, IntArray


class Source(NamedTuple):
    """Who draws the gains: the address of `play_lanes.draw_lanes` as compiled, and its arguments.

    Attributes:
        address: 0 if the gains are there already.
        block, row, clock, totals_at: See `draw_lanes`.
    """

    address: int
    block: IntArray
    row: IntArray
    clock: IntArray
    totals_at: FloatArray


class Seats(NamedTuple):
    """Who plays: for each algorithm the address of `play_lanes.play_lanes` as compiled, and its arguments.

    Attributes:
        addresses: Shape `(algorithms,)`.
        rows: Where in its block an algorithm has the gains of a round, `(algorithms,)`.
        blocks, clocks, collected, switches, pulls: See `play_lanes`; with one more axis, the first, for algorithms.
    """

    addresses: IntArray
    rows: IntArray
    blocks: IntArray
    clocks: IntArray
    collected: FloatArray
    switches: IntArray
    pulls: IntArray


def play_pieces(rounds: int, room: IntArray, checkpoints: IntArray, source: Source, seats: Seats) -> None:
    """Play rounds; runs only compiled.

    Args:
        rounds: How many; at most those in `room` if the gains are there.
        room: For the gains of a piece, shape `(rounds of a piece, n_arms, LANES)`; changed in place.
        checkpoints: Rounds at which to record, ascending.
        source: Who draws the gains; its arrays are changed in place.
        seats: Who plays; their arrays are changed in place.
    """
    for start in range(0, rounds, len(room)):
        gains = room[: min(len(room), rounds - start)]
        if source.address != 0:
            call_at(source.address, (source.block, source.row, gains, source.clock, checkpoints, source.totals_at))
        for seat in range(len(seats.addresses)):
            first = seats.rows[seat]
            row = seats.blocks[seat, first : first + room.shape[1]]
            collected, switches, pulls = seats.collected[seat], seats.switches[seat], seats.pulls[seat]
            arguments = seats.blocks[seat], row, gains, seats.clocks[seat], checkpoints, collected, switches, pulls
            call_at(seats.addresses[seat], arguments)
