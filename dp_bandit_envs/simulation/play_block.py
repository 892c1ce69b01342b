"""The one loop that plays a block of rounds: gains, charge, mechanism, batch average, mechanism, sums, agent.

It is ordinary Python that Numba compiles with an algorithm's `select` and `update`, and the functions of its wrappers,
in place of the stand-ins below. It does, number for number, what `play` does with an environment, its wrappers and an
agent.
"""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray, IntArray


class Nothing(NamedTuple):
    """The parameters of a stage that is not there."""

    unused: int = 0


class Rules(NamedTuple):
    """What does not change during a game.

    Attributes:
        memory: The adversary's m.
        observe_charge: Whether the agent sees the charge for switching.
        batch_size: Rounds in a batch (tau); 1 without batching.
        inner, outer: The parameters of the mechanisms below and above the batching.
    """

    memory: int
    observe_charge: bool
    batch_size: int
    inner: Any
    outer: Any


class Streams(NamedTuple):
    """The random streams of the agent, of the two mechanisms and of the sums."""

    agent: np.random.Generator
    inner: np.random.Generator
    outer: np.random.Generator
    sums: np.random.Generator


class Progress(NamedTuple):
    """Where a game stands between two blocks; arrays, so that the compiled loop can write to them.

    Attributes:
        counters: round, arm, length of the current run of that arm, rounds and revealed gains in the batch, changes of
            arm, next checkpoint.
        sums: gains collected, gains in the batch.
        pulls: Rounds in which each arm was played, shape `(n_arms,)`.
        gain, observed: What one step reveals, shape `(n_arms,)`, all 0 between steps.
    """

    counters: IntArray
    sums: FloatArray
    pulls: IntArray
    gain: FloatArray
    observed: IntArray


class Record(NamedTuple):
    """What is written down at checkpoints, each of shape `(checkpoints,)`, and `pulls` of `(checkpoints, n_arms)`."""

    checkpoints: IntArray
    collected: FloatArray
    switches: IntArray
    pulls: IntArray


def select(state: Any, rng: np.random.Generator) -> int:
    """Stand for an algorithm's own function."""
    raise NotImplementedError


def update(state: Any, arm: int, value: FloatArray, count: Any) -> Any:
    """Stand for an algorithm's own function."""
    raise NotImplementedError


def inner(gain: float, mechanism: Any, rng: np.random.Generator) -> tuple[float, bool]:
    """Hand the gain on; stand for a mechanism below the batching."""
    return gain, True


def outer(gain: float, mechanism: Any, rng: np.random.Generator) -> tuple[float, bool]:
    """Hand the gain on; stand for a mechanism above the batching."""
    return gain, True


def tell(state: Any, gain: FloatArray, observed: IntArray, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Hand on what one step revealed; stand for a mechanism that releases sums."""
    return gain, observed


def new_progress(n_arms: int) -> Progress:
    """Return the progress before round 1."""
    counters = np.zeros(7, np.int64)
    counters[1] = -1
    zeros = np.zeros(n_arms, np.int64)
    return Progress(counters, np.zeros(2), zeros, np.zeros(n_arms), zeros.copy())


def new_record(checkpoints: IntArray, n_arms: int) -> Record:
    """Return a record with nothing in it yet."""
    number = len(checkpoints)
    return Record(checkpoints, np.zeros(number), np.zeros(number, np.int64), np.zeros((number, n_arms), np.int64))


def play_block(
    state: Any, sums_state: Any, gains: FloatArray, rules: Rules, streams: Streams, progress: Progress, record: Record
) -> Any:
    """Play one round for each row of `gains`, shape `(rounds, n_arms)`, and return the agent's state."""
    counters, sums, pulls, revealed_gain, observed = progress
    t, arm, run, filled, revealed, switches, checkpoint = counters
    collected, total = sums
    for row in range(len(gains)):
        t += 1
        if filled == 0:
            chosen = select(state, streams.agent)
            if chosen != arm:
                switches += arm >= 0
                arm = chosen
                run = 0
        run += 1
        gain = gains[row, arm]
        earned = gain if run > rules.memory or run == t else 0.0
        collected += earned
        pulls[arm] += 1
        seen = earned if rules.observe_charge else gain
        seen, kept = inner(seen, rules.inner, streams.inner)
        total += seen
        revealed += kept
        filled += 1
        if filled == rules.batch_size:
            if revealed == rules.batch_size:
                seen, kept = outer(min(total / rules.batch_size, 1.0), rules.outer, streams.outer)
                revealed_gain[arm] = seen
                observed[arm] = kept
            value, count = tell(sums_state, revealed_gain, observed, streams.sums)
            state = update(state, arm, value, count)
            revealed_gain[arm] = 0.0
            observed[arm] = 0
            filled = 0
            revealed = 0
            total = 0.0
        if t == record.checkpoints[checkpoint]:
            record.collected[checkpoint] = collected
            record.switches[checkpoint] = switches
            for each in range(len(pulls)):
                record.pulls[checkpoint, each] = pulls[each]
            checkpoint += 1
    counters[0] = t
    counters[1] = arm
    counters[2] = run
    counters[3] = filled
    counters[4] = revealed
    counters[5] = switches
    counters[6] = checkpoint
    sums[0] = collected
    sums[1] = total
    return state


def add_up(gains: FloatArray, totals: FloatArray, first: int, checkpoints: IntArray, record: FloatArray) -> None:
    """Add each row of `gains` to `totals`, shape `(n_arms,)`, and write them down at checkpoints.

    Args:
        gains: Gains of rounds `first`, `first + 1`, ..., shape `(rounds, n_arms)`.
        totals: Each arm's gains before them; changed in place.
        first: The number of the first row's round.
        checkpoints: Rounds at which to write, ascending.
        record: Where to write, shape `(checkpoints, n_arms)`.
    """
    checkpoint = np.searchsorted(checkpoints, first)
    for row in range(len(gains)):
        for arm in range(len(totals)):
            totals[arm] += gains[row, arm]
        if checkpoint < len(checkpoints) and first + row == checkpoints[checkpoint]:
            for arm in range(len(totals)):
                record[checkpoint, arm] = totals[arm]
            checkpoint += 1
