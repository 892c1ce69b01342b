"""The loop of a GPU's thread: whole games, one after the other, each from nothing but the words of its own state.

`play_block` needs gains from outside and arrays on the processor. Here a game's arrays, numbers and random streams lie
in one column of a block of words. The loop copies the column into memory of its own, lets the adversary draw the gains
of one round at a time, plays them with `play_block`, and copies the column back. A thread of a GPU plays one game; a
processor can play all of them, and tests compare the two.

A fault (a gain out of range, a mechanism that breaks its word) raises, as in `play_block`. A GPU cannot raise: there
the thread ends, and its column stays as it was, with the round in it.
"""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.play_block import Progress, Record, Rules, play_block
from dp_bandit_envs.simulation.totals import all_in_range

ROUND, CHECKPOINT = 0, 5
"""Indices in `Progress.counters`."""


class Alone(NamedTuple):
    """All parts of a game.

    Attributes:
        state, states, world, rules, streams, progress: The arguments of `play_block`.
        adversary: The adversary's state.
        coins: Its random stream.
        gains: The gains of a round, shape `(1, n_arms)`.
        totals: The sums of each arm's gains, shape `(n_arms,)`.
    """

    state: Any
    states: tuple[Any, ...]
    world: Any
    rules: Rules
    streams: tuple[np.random.Generator, ...]
    progress: Progress
    adversary: Any
    coins: np.random.Generator
    gains: FloatArray
    totals: FloatArray


def game_at(own: IntArray, lane: int) -> Any:
    """Placeholder for the function that returns the parts of the game in these words; see `compiling.layout`."""
    raise NotImplementedError


def keep(own: IntArray, lane: int, state: Any) -> None:
    """Placeholder for the function that stores the numbers of the agent's state."""


def next_round(state: Any, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Placeholder for the adversary's own function, which writes the gains of round t."""
    raise NotImplementedError


def play_games(
    block: IntArray,
    own: IntArray,
    first: int,
    last: int,
    rounds: int,
    checkpoints: IntArray,
    collected: FloatArray,
    switches: IntArray,
    pulls: IntArray,
    totals_at: FloatArray,
) -> None:
    """Play some rounds of the games `first` to `last - 1`.

    Args:
        block: The words of all games, shape `(words, games)`; changed in place.
        own: Memory for the words of one game, shape `(words,)`.
        first: See above.
        last: See above.
        rounds: Number of rounds; there must be as many left.
        checkpoints: Rounds at which to record results, ascending, the horizon last.
        collected: Gains collected at checkpoints, shape `(checkpoints, games)`; changed in place, as are the others.
        switches: Changes of arm, shape `(checkpoints, games)`.
        pulls: Rounds in which each arm was played, shape `(checkpoints, n_arms, games)`.
        totals_at: The sums of each arm's gains, shape `(checkpoints, n_arms, games)`.
    """
    for game in range(first, last):
        for word in range(len(own)):
            own[word] = block[word, game]
        one = game_at(own, 0)
        state, progress, totals = one.state, one.progress, one.totals
        record = Record(checkpoints, collected[:, game], switches[:, game], pulls[:, :, game])
        for _ in range(rounds):
            t, checkpoint = progress.counters[ROUND] + 1, progress.counters[CHECKPOINT]
            next_round(one.adversary, t, one.gains[0], one.coins)
            if not all_in_range(one.gains[0]):
                raise ValueError("a gain is out of range.")
            for arm in range(len(totals)):
                totals[arm] += one.gains[0, arm]
            if t == checkpoints[checkpoint]:
                for arm in range(len(totals)):
                    totals_at[checkpoint, arm, game] = totals[arm]
            state = play_block(state, one.states, one.world, one.gains, one.rules, one.streams, progress, record)
        keep(own, 0, state)
        for word in range(len(own)):
            block[word, game] = own[word]
