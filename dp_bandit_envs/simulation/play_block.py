"""The one loop that plays a block of rounds: gains, charge or payoff, mechanisms, agent.

Numba compiles this ordinary Python with an algorithm's `select` and `update`, and the functions of its mechanisms, in
place of the placeholders below. It gives, to the last bit, the results of `play` with an environment, its wrappers and
an agent. The functions that replace placeholders are here, in `graph_feedback`, `chain` and `payoffs`.
"""

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from dp_bandit_envs.adversaries.memory_bounded import counts
from dp_bandit_envs.agents.functional import TIDY_EVERY
from dp_bandit_envs.observations import Gains, Sums
from dp_bandit_envs.protocols import FloatArray, IntArray

ARM: Final = 1
"""The index in `Progress.counters` of the arm played last, or of the number chosen that is no arm."""
FILLED: Final = 3
"""The index in `Progress.counters` of the number of rounds in the batch."""

Streams: TypeAlias = tuple[np.random.Generator, ...]
"""The random streams of the agent and of each mechanism, from the innermost."""


class Nothing(NamedTuple):
    """Replaces the feedback graph or the point in games without one."""

    unused: int = 0


class Rules(NamedTuple):
    """The constants of a game.

    Attributes:
        memory: The adversary's m.
        observe_charge: Whether the agent sees the charge for switching.
        batch_size: Rounds in a batch (tau); 1 without batching.
    """

    memory: int
    observe_charge: bool
    batch_size: int


class Progress(NamedTuple):
    """The state of a game between two blocks; arrays, so that the compiled loop can write to them.

    Attributes:
        counters: round, arm, length of the current run of that arm, rounds in the batch, changes of arm, next
            checkpoint.
        collected: Gains collected, shape `(1,)`.
        pulls: Number of rounds in which each arm was played, shape `(n_arms,)`; `(1,)` where actions are points.
        gains, observed: The releases of a step, shape `(n_values,)`, all 0 between steps.
        sums, counts, releases: The latest releases, shape `(n_values,)`, if a mechanism releases sums.
        history: A `payoffs.History`, if there is a payoff function.
    """

    counters: IntArray
    collected: FloatArray
    pulls: IntArray
    gains: FloatArray
    observed: IntArray
    sums: FloatArray
    counts: IntArray
    releases: IntArray
    history: Any


class Record(NamedTuple):
    """The results at checkpoints, each of shape `(checkpoints,)`, and `pulls` of `(checkpoints, n_arms)`."""

    checkpoints: IntArray
    collected: FloatArray
    switches: IntArray
    pulls: IntArray


def select(state: Any, rng: np.random.Generator) -> int:
    """Placeholder for the agent's own function."""
    raise NotImplementedError


def choose(world: Any, state: Any, rng: np.random.Generator) -> int:
    """Return the arm to play; where actions are points, 0."""
    return select(state, rng)


def gain_of(world: Any, gains: FloatArray, row: int, arm: int) -> float:
    """Return the gain of what is played."""
    return gains[row, arm]  # type: ignore[no-any-return]


def update(state: Any, arm: int, seen: Gains | Sums) -> Any:
    """Placeholder for the agent's own function."""
    raise NotImplementedError


def tidied(state: Any, t: int, batch_size: int) -> Any:
    """Return the state; placeholder for `tidied_at_times`."""
    return state


def tidy(state: Any) -> Any:
    """Placeholder for the agent's own function."""
    raise NotImplementedError


def tidied_at_times(state: Any, t: int, batch_size: int) -> Any:
    """Call the agent's `tidy` after every 32nd step; the step that ends in round t has number t / batch_size."""
    if t % (TIDY_EVERY * batch_size) == 0:
        return tidy(state)
    return state


def pay(gains: FloatArray, row: int, arm: int, gain: float, run: int, t: int, memory: int, progress: Progress) -> float:
    """Return what the round pays: the gain of what is played, or 0 if it is charged. Placeholder for a payoff."""
    return gain if counts(run, t, memory) else 0.0


def pass_on(states: Any, arm: int, gain: float, streams: Streams) -> tuple[float, int]:
    """Release a gain unchanged. Placeholder for the mechanisms that release gains."""
    return gain, 1


def reveal(
    world: Any, gains: FloatArray, row: int, arm: int, own: float, states: Any, streams: Streams, progress: Progress
) -> None:
    """Release what one round reveals: the gain of the arm played, less the charge if it is observed."""
    value, count = pass_on(states, arm, own, streams)
    if count != 0:
        progress.gains[arm] = value
        progress.observed[arm] = 1


def settle(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Do nothing; placeholder for mechanisms that release gains above a batch."""


def add_to_sums(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Do nothing. Placeholder for a mechanism that releases sums."""


def forget(states: Any) -> None:
    """Do nothing. Placeholder for what mechanisms do at the end of a batch."""


def observe(progress: Progress) -> Gains:
    """Return the agent's observation. Placeholder for `observe_sums`."""
    return Gains(progress.gains, progress.observed)  # type: ignore[arg-type]


def observe_sums(progress: Progress) -> Sums:
    """Return the agent's observation if a mechanism releases sums."""
    return Sums(progress.sums, progress.counts, progress.releases)  # type: ignore[arg-type]


def clear(world: Any, arm: int, batch_size: int, progress: Progress) -> None:
    """Clear what one step released."""
    progress.gains[arm] = 0.0
    progress.observed[arm] = 0


def new_progress(n_plays: int, n_values: int) -> Progress:
    """Return the progress before round 1, for this number of arms and of values that a round can reveal."""
    counters, pulls = np.zeros(6, np.int64), np.zeros(n_plays, np.int64)
    counters[1] = -1
    gains, sums = np.zeros(n_values), np.zeros(n_values)
    observed, counts, releases = (np.zeros(n_values, np.int64) for _ in range(3))
    return Progress(counters, np.zeros(1), pulls, gains, observed, sums, counts, releases, Nothing())


def new_record(checkpoints: IntArray, n_arms: int) -> Record:
    """Return an empty record."""
    number = len(checkpoints)
    return Record(checkpoints, np.zeros(number), np.zeros(number, np.int64), np.zeros((number, n_arms), np.int64))


def play_block(
    state: Any,
    states: Any,
    world: Any,
    gains: FloatArray,
    rules: Rules,
    streams: Streams,
    progress: Progress,
    record: Record,
) -> Any:
    """Play one round for each row of `gains`, shape `(rounds, n_arms)`, and return the agent's state.

    Args:
        state: The agent's state.
        states: The mechanisms' states, from the innermost.
        world: What the stages need of the game: the rows of the feedback graph, the point to play, or `Nothing`.
        gains: See above.
        rules: See `Rules`.
        streams: See `Streams`.
        progress: The state of the game; changed in place.
        record: The results at checkpoints; changed in place.
    """
    counters, pulls = progress.counters, progress.pulls
    t, arm, run, filled, switches, checkpoint = counters
    collected = progress.collected[0]
    for row in range(len(gains)):
        t += 1
        if filled == 0:
            chosen = choose(world, state, streams[0])
            if not 0 <= chosen < len(pulls):
                counters[ARM] = chosen  # for the message
                raise IndexError("select returned a number that is no arm.")
            if chosen != arm:
                switches += arm >= 0
                arm = chosen
                run = 0
        run += 1
        gain = gain_of(world, gains, row, arm)
        earned = pay(gains, row, arm, gain, run, t, rules.memory, progress)
        collected += earned
        pulls[arm] += 1
        own = earned if rules.observe_charge else gain
        reveal(world, gains, row, arm, own, states, streams, progress)
        filled += 1
        if filled == rules.batch_size:
            forget(states)
            settle(world, arm, states, streams, progress)
            add_to_sums(world, arm, states, streams, progress)
            state = tidied(update(state, arm, observe(progress)), t, rules.batch_size)
            clear(world, arm, rules.batch_size, progress)
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
