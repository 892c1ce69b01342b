"""Plays many games one after the other in one compiled loop, around the very loop that `simulate` compiles.

An audit needs 10^6 games of a few rounds, and calling the compiled loop from Python takes longer than such a game.
Games of one chunk go on with the same random streams, those of the trial with the chunk's number: they are independent,
as no random number is used twice, but only the first of them is a game that `play` and `simulate` would play.
"""

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.compiling.compiled import Compiled, compile_with, in_background
from dp_bandit_envs.compiling.functions import draws_elsewhere, stream_address, streams_at
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.chain import NotCompilableError
from dp_bandit_envs.simulation.entry import loop_of
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.play_block import Nothing, Progress, Record, Rules, new_record, play_block
from dp_bandit_envs.simulation.taping import Tape

CHUNK = 2**13
"""Games that go on with the same random streams; a number of its own, so that threads change no result."""


class Shown(NamedTuple):
    """What many games show.

    Attributes:
        arms: The arm of each step, `(games, steps)`.
        values: What was released after each step, `(games, releases, n_values)`; `(games, 0, 0)` if it is not kept.
        counts: Which gains were released, or the numbers of gains in sums; as large as `values`.
    """

    arms: NDArray[np.int16]
    values: FloatArray
    counts: IntArray


def tape_of(state: Any) -> Tape:
    """Placeholder for the function that finds the tape in an agent's state."""
    raise NotImplementedError


def tape_itself(state: Any) -> Any:
    """Return the state of an agent that is nothing but a tape."""
    return state


def tape_beside(state: Any) -> Any:
    """Return the tape beside an agent's own state."""
    return state.tape


def enter_many(
    state: Any,
    states: Any,
    gains: FloatArray,
    rules: Rules,
    generators: tuple[int, ...],
    progress: Progress,
    record: Record,
    memory: IntArray,
    content: IntArray,
    shown: Any,
) -> None:
    """Play one game for each row of what is shown, each from the first state. Runs only compiled.

    Args:
        state: The agent's first state, with a tape.
        states: The first states of the mechanisms, from the innermost.
        gains: The gains of a game, `(rounds, n_arms)`.
        rules: See `Rules`.
        generators: Addresses of the random streams, see `stream_address`.
        progress: The progress before round 1.
        record: A record without checkpoints.
        memory: The memory of all arrays of `state`, `states` and `progress`.
        content: What is written there before each game.
        shown: The arrays of `Shown`; changed in place.
    """
    streams = streams_at(generators)
    arms, values, counts = shown
    for game in range(len(arms)):
        for place in range(len(memory)):
            memory[place] = content[place]
        play_block(state, states, Nothing(), gains, rules, streams, progress, record)
        tape = tape_of(state)
        for step in range(arms.shape[1]):
            arms[game, step] = tape.arms[step]
        for step in range(values.shape[1]):
            for each in range(values.shape[2]):
                values[game, step, each] = tape.values[step, each]
                counts[game, step, each] = tape.counts[step, each]


class ManyGames:
    """The compiled loop over games of one plan whose agent has a tape.

    Args:
        plan: The plan; its agent is a `TapedAgent`, `HeldGains` or `HeldSums`, and the game has no graph, payoff
            function or points.
        beside: Whether the tape is beside the agent's own state.

    Raises:
        NotCompilableError: If Numba cannot compile somebody else's function in it.
    """

    def __init__(self, plan: Plan, *, beside: bool) -> None:
        self._plan = plan
        state, _, _ = plan.first.copy()
        tape = tape_beside(state) if beside else state
        self._steps, self._released = len(tape.arms), tape.values.shape
        self._loop = _loop(tape_beside if beside else tape_itself, **plan.parts)
        elsewhere = draws_elsewhere(self._loop.foreign, plan.owners)
        if elsewhere:
            raise NotCompilableError(elsewhere)
        try:
            in_background(lambda stopped: self.chunk(np.zeros((1, plan.n_arms)), 0, seed=0, trial=0))
        # Numba raises errors of many types here.
        except Exception as error:
            if not self._loop.foreign:
                raise
            raise NotCompilableError(in_short(error, self._loop.foreign, plan.owners)) from None

    def play(self, gains: FloatArray, games: int, *, seed: int, first_trial: int = 0, threads: int = 0) -> Shown:
        """Play games, the chunks of which are `trials_of(games)` trials from the first one on.

        Args:
            gains: The gains, `(rounds, n_arms)`.
            games: Number of games.
            seed: The seed.
            first_trial: The number of the first chunk's trial.
            threads: How many chunks are played at a time; 0 for as many as there are cores.
        """
        sizes = [min(CHUNK, games - start) for start in range(0, games, CHUNK)]

        def chunk(number: int) -> Shown:
            return self.chunk(gains, sizes[number], seed=seed, trial=first_trial + number)

        workers = min(threads or os.cpu_count() or 1, len(sizes))
        if workers <= 1:
            parts = [chunk(number) for number in range(len(sizes))]
        else:
            with ThreadPoolExecutor(workers) as pool:
                parts = list(pool.map(chunk, range(len(sizes))))
        return Shown(*map(np.concatenate, zip(*parts, strict=True)))

    def chunk(self, gains: FloatArray, games: int, *, seed: int, trial: int) -> Shown:
        """Play games that all use the streams of one trial, one after the other."""
        (state, states, progress), memory, content = self._plan.first.copy_with_memory()
        released = (games, *self._released)
        shown = Shown(np.empty((games, self._steps), np.int16), np.empty(released), np.empty(released, np.int64))
        # Round 0 never comes, so nothing is recorded.
        record = new_record(np.zeros(1, np.int64), len(progress.pulls))
        streams = self._plan.streams(seed, trial)
        generators = tuple(map(stream_address, streams))
        self._loop(state, states, gains, self._plan.rules, generators, progress, record, memory, content, tuple(shown))
        return shown


def trials_of(games: int) -> int:
    """Return the number of trials whose streams that many games use."""
    return -(-games // CHUNK)


@functools.lru_cache(maxsize=256)
def _loop(find: Callable[..., Any], **parts: Callable[..., Any]) -> Compiled:
    return compile_with(enter_many, {"play_block": loop_of(parts), "tape_of": find})
