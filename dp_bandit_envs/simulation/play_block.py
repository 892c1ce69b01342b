"""The one loop that plays a block of rounds: gains, charge or payoff, mechanism, batch average, mechanism, sums, agent.

It is ordinary Python that Numba compiles with an algorithm's `select` and `update`, and the functions of its wrappers,
in place of the stand-ins below. It does, number for number, what `play` does with an environment, its wrappers and an
agent.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray, IntArray

FILLED: Final = 3
"""Where `Progress.counters` keeps the number of rounds in the batch."""


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
        counters: round, arm, length of the current run of that arm, rounds in the batch, changes of arm, next
            checkpoint.
        collected: Gains collected, shape `(1,)`.
        pulls: Rounds in which each arm was played, shape `(n_arms,)`.
        totals, revealed: Sums and numbers of the gains in the batch, shape `(n_arms,)`, all 0 between batches.
        gain, observed: What one step reveals, shape `(n_arms,)`, all 0 between steps.
        history: What a payoff function needs to know, a `payoffs.History`; nothing without one.
    """

    counters: IntArray
    collected: FloatArray
    pulls: IntArray
    totals: FloatArray
    revealed: IntArray
    gain: FloatArray
    observed: IntArray
    history: Any


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


def pay(gains: FloatArray, row: int, arm: int, run: int, t: int, memory: int, progress: Progress) -> float:
    """Return what the round pays: the gain of the arm played, or 0 in a charged round; stand for a payoff function."""
    return gains[row, arm] if run > memory or run == t else 0.0


def gather(
    graph: Any,
    gains: FloatArray,
    row: int,
    arm: int,
    own: float,
    progress: Progress,
    mechanism: Any,
    rng: np.random.Generator,
) -> None:
    """Add what one round reveals to the batch: the gain of the arm played, charges as they are observed."""
    seen, kept = inner(own, mechanism, rng)
    progress.totals[arm] += seen
    progress.revealed[arm] += kept


def settle(graph: Any, arm: int, batch_size: int, progress: Progress, mechanism: Any, rng: np.random.Generator) -> None:
    """End a batch: reveal the average of the arm's gains, if there are enough, and empty the batch."""
    if progress.revealed[arm] == batch_size:
        average = min(progress.totals[arm] / batch_size, 1.0)
        progress.gain[arm], progress.observed[arm] = outer(average, mechanism, rng)
    progress.totals[arm] = 0.0
    progress.revealed[arm] = 0


def clear(graph: Any, arm: int, progress: Progress) -> None:
    """Forget what one step revealed."""
    progress.gain[arm] = 0.0
    progress.observed[arm] = 0


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
    counters = np.zeros(6, np.int64)
    counters[1] = -1
    pulls, revealed, observed = (np.zeros(n_arms, np.int64) for _ in range(3))
    return Progress(counters, np.zeros(1), pulls, np.zeros(n_arms), revealed, np.zeros(n_arms), observed, Nothing())


def new_record(checkpoints: IntArray, n_arms: int) -> Record:
    """Return a record with nothing in it yet."""
    number = len(checkpoints)
    return Record(checkpoints, np.zeros(number), np.zeros(number, np.int64), np.zeros((number, n_arms), np.int64))


def play_block(
    state: Any,
    sums_state: Any,
    graph: Any,
    gains: FloatArray,
    rules: Rules,
    streams: Streams,
    progress: Progress,
    record: Record,
) -> Any:
    """Play one round for each row of `gains`, shape `(rounds, n_arms)`, and return the agent's state."""
    counters, pulls = progress.counters, progress.pulls
    t, arm, run, filled, switches, checkpoint = counters
    collected = progress.collected[0]
    for row in range(len(gains)):
        t += 1
        if filled == 0:
            chosen = select(state, streams.agent)
            if not 0 <= chosen < len(pulls):
                raise IndexError("select returned a number that is no arm.")
            if chosen != arm:
                switches += arm >= 0
                arm = chosen
                run = 0
        run += 1
        gain = gains[row, arm]
        earned = pay(gains, row, arm, run, t, rules.memory, progress)
        collected += earned
        pulls[arm] += 1
        own = earned if rules.observe_charge else gain
        gather(graph, gains, row, arm, own, progress, rules.inner, streams.inner)
        filled += 1
        if filled == rules.batch_size:
            settle(graph, arm, rules.batch_size, progress, rules.outer, streams.outer)
            value, count = tell(sums_state, progress.gain, progress.observed, streams.sums)
            state = update(state, arm, value, count)
            clear(graph, arm, progress)
            filled = 0
        if t == record.checkpoints[checkpoint]:
            record.collected[checkpoint] = collected
            record.switches[checkpoint] = switches
            for each in range(len(pulls)):
                record.pulls[checkpoint, each] = pulls[each]
            checkpoint += 1
    counters[0] = t
    counters[1] = arm
    counters[2] = run
    counters[FILLED] = filled
    counters[4] = switches
    counters[5] = checkpoint
    progress.collected[0] = collected
    return state


def all_in_range(gains: FloatArray) -> bool:
    """Return whether all gains, of shape `(numbers,)`, are in [0, 1]; NaN is not."""
    valid = True
    for place in range(len(gains)):
        valid &= (gains[place] >= 0.0) & (gains[place] <= 1.0)
    return valid


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
