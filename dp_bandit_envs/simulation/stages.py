"""The loop that plays a block of rounds, and its stages for a game and a chain of mechanisms.

Numba compiles `play_block`, ordinary Python, with the placeholders below bound (`bind`): an agent's `select` and
`update`, a round's feedback (`n_revealed`, `revealed_arm`), and the mechanisms' `release`, `idle`, `forget`. Its
results equal those of `play` with an environment, its wrappers and an agent to the last bit. `play_games` is the loop
over single games, whose parts are in words (`compiling.layout`); lanes bind the same stages.
"""

import functools
import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.memory_bounded import gain_counts
from dp_bandit_envs.adversaries.payoff import python_function
from dp_bandit_envs.agents.functional import TIDY_EVERY
from dp_bandit_envs.compiling.compiled import CompiledFunction, run_in_thread
from dp_bandit_envs.compiling.functions import bind, frozen, is_builtin, read_only
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.decisions import payoff as payoff_at
from dp_bandit_envs.errors import PayoffRangeError
from dp_bandit_envs.privacy.facts import InputFacts, ValueRange
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import FloatArray, Gains, IntArray, Sums

ARM: Final = 1
"""The index in `Progress.counters` of the last arm, or of a chosen number that is not an arm."""
FILLED: Final = 3
"""The index in `Progress.counters` of the number of rounds in the batch."""
NO_ARM: Final = "select returned a number that is no arm."
Streams: TypeAlias = tuple[np.random.Generator, ...]
"""The random streams of the agent and of each mechanism, from the innermost."""


class NotCompilableError(Exception):
    """Raised if the compiled loop cannot play an algorithm; the message gives the reason."""


class RefusedByNumbaError(NotCompilableError):
    """Raised if Numba refuses a user's function for the compiled loop; the message names function and reason."""


# The arguments of the loop.


class NoWorld(NamedTuple):
    """The world of games without a graph or points."""

    unused: int = 0


class GraphRows(NamedTuple):
    """The rows of a feedback graph: `revealed[starts[arm]:starts[arm + 1]]` are the arms that an arm reveals."""

    starts: IntArray
    revealed: IntArray


class Points(NamedTuple):
    """The point to play, shape `(dimension,)`, and the range of payoffs."""

    point: FloatArray
    low: float
    high: float


class Rules(NamedTuple):
    """The adversary's m, whether the agent sees the charge for switching, and the rounds per batch (1 for none)."""

    memory: int
    observe_charge: bool
    batch_size: int


class Progress(NamedTuple):
    """The state of a game between two blocks; arrays, so that the compiled loop can write to them.

    Attributes:
        counters: round, arm, length of the current run of that arm, rounds in the batch, changes of arm, next
            checkpoint.
        collected: Gains collected, shape `(1,)`.
        pulls: Number of plays of each arm, shape `(n_arms,)`; `(1,)` for points.
        gains, observed: The releases of a step, shape `(n_values,)`, all 0 between steps.
        sums, counts, releases: The latest releases, shape `(n_values,)`, if a mechanism releases sums.
        history: A `History` for a payoff function, or a `DynamicRegret` for changing means.
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


class History(NamedTuple):
    """The state of a game with a payoff function.

    Attributes:
        arms: The last m + 1 arms, oldest first.
        options: Payoff of each arm in this round after the same previous arms, shape `(1, n_arms)`.
        totals: Sums of `options`, shape `(n_arms,)`.
        checkpoints: Rounds whose totals are recorded, ascending.
        next_checkpoint: Index of the next checkpoint, shape `(1,)`.
        totals_at: The recorded totals, shape `(checkpoints, n_arms)`.
    """

    arms: IntArray
    options: FloatArray
    totals: FloatArray
    checkpoints: IntArray
    next_checkpoint: IntArray
    totals_at: FloatArray


class DynamicRegret(NamedTuple):
    """The dynamic regret in a game with changing means, `(1,)`, and at checkpoints; other fields as in `History`."""

    total: FloatArray
    checkpoints: IntArray
    next_checkpoint: IntArray
    totals_at: FloatArray


class Checkpoints(NamedTuple):
    """The results at checkpoints, each of shape `(checkpoints,)`, and `pulls` of `(checkpoints, n_arms)`.

    Of an agent that looks for the best arm, `recommended` has the arms, and `stop`, `(1,)`, the round after which it
    stopped, or 0; both are empty for others.
    """

    checkpoints: IntArray
    collected: FloatArray
    switches: IntArray
    pulls: IntArray
    recommended: IntArray
    stop: IntArray


class GameState(NamedTuple):
    """All parts of a single game: the arguments of `play_block` without the gains. The state comes first."""

    state: Any
    states: tuple[Any, ...]
    world: Any
    rules: Rules
    streams: Streams
    progress: Progress
    record: Checkpoints


def new_progress(n_plays: int, n_values: int) -> Progress:
    """Return the progress before round 1, for this number of arms and of values that a round can reveal."""
    counters, pulls = np.zeros(6, np.int64), np.zeros(n_plays, np.int64)
    counters[ARM] = -1
    gains, sums = np.zeros(n_values), np.zeros(n_values)
    observed, numbers, releases = (np.zeros(n_values, np.int64) for _ in range(3))
    return Progress(counters, np.zeros(1), pulls, gains, observed, sums, numbers, releases, NoWorld())


def new_checkpoints(checkpoints: IntArray, n_arms: int, *, stops: bool = False) -> Checkpoints:
    """Return an empty record; `stops` for an agent that looks for the best arm."""
    number = len(checkpoints)
    pulls = np.zeros((number, n_arms), np.int64)
    recommended, stop = np.zeros(number if stops else 0, np.int64), np.zeros(int(stops), np.int64)
    return Checkpoints(checkpoints, np.zeros(number), np.zeros(number, np.int64), pulls, recommended, stop)


def new_history(memory: int, checkpoints: IntArray, n_arms: int) -> History:
    """Return the history before round 1, for a payoff function with a memory of `memory` rounds."""
    options, totals, totals_at = np.zeros((1, n_arms)), np.zeros(n_arms), np.zeros((len(checkpoints), n_arms))
    return History(np.zeros(memory + 1, np.int64), options, totals, checkpoints, np.zeros(1, np.int64), totals_at)


def new_dynamic_regret(checkpoints: IntArray) -> DynamicRegret:
    """Return the dynamic regret before round 1."""
    return DynamicRegret(np.zeros(1), checkpoints, np.zeros(1, np.int64), np.zeros(len(checkpoints)))


# Placeholders, and the parts of this file that take their places.

INDEX, LOW, HIGH, OUTSIDE, MUST_RELEASE, CHARGED = 0, 0.0, 1.0, "", False, True
"""A mechanism's index from the innermost; the range of what it releases, and what is said of others; whether it never
withholds; whether the gain of what is played is revealed less the charge."""


def _placeholder(*arguments: Any) -> Any:
    raise NotImplementedError


select = update = tidy = contains = payoff = release = idle = mechanism_forget = lower_release = lower_forget = (
    add_step
) = recommend = is_done = _placeholder
game_at = store = _placeholder
"""These two are of `compiling.layout_code`."""


def choose(world: Any, state: Any, rng: np.random.Generator) -> int:
    """Return the arm to play; 0 for points."""
    return select(state, rng)  # type: ignore[no-any-return]


def choose_point(world: Points, state: Any, rng: np.random.Generator) -> int:
    """Let the agent write its point; arm 0 stands for it."""
    select(state, world.point, rng)
    if not contains(world.point):
        raise ValueError("select wrote a point outside of the decision set, or NaN.")
    return 0


def get_gain(world: Any, gains: FloatArray, row: int, arm: int) -> float:
    """Return the gain of the action."""
    return gains[row, arm]  # type: ignore[no-any-return]


def get_payoff(world: Points, gains: FloatArray, row: int, arm: int) -> float:
    """Return the payoff of the point."""
    return payoff_at(gains[row], world.point, world.low, world.high)  # type: ignore[arg-type]


def pay(gains: FloatArray, row: int, arm: int, gain: float, run: int, t: int, memory: int, progress: Progress) -> float:
    """Return the reward of the round: the gain of the action, or 0 if it is charged. Placeholder for a payoff."""
    return gain if gain_counts(run, t, memory) else 0.0


def pay_by_payoff(
    gains: FloatArray, row: int, arm: int, gain: float, run: int, t: int, memory: int, progress: Progress
) -> float:
    """Return the payoff function's value; also compute and sum the payoffs of every arm."""
    history = progress.history
    arms, last = history.arms, len(history.arms) - 1
    for i in range(last):
        arms[i] = arms[i + 1]
    for option in range(len(history.totals)):
        # Rounds before the first count as the first.
        for i in range(last if t == 1 else 0):
            arms[i] = option
        arms[last] = option
        paid = payoff(read_only(gains[row]), read_only(arms), t)
        if paid is None or not 0 <= paid <= 1:
            raise PayoffRangeError
        history.options[0, option] = paid
        history.totals[option] += history.options[0, option]
    for i in range(last if t == 1 else 0):
        arms[i] = arm
    arms[last] = arm
    checkpoint = history.next_checkpoint[0]
    if t == history.checkpoints[checkpoint]:
        for option in range(len(history.totals)):
            history.totals_at[checkpoint, option] = history.totals[option]
        history.next_checkpoint[0] += 1
    return history.options[0, arm]  # type: ignore[no-any-return]


def pay_and_add_dynamic_regret(
    gains: FloatArray, row: int, arm: int, gain: float, run: int, t: int, memory: int, progress: Progress
) -> float:
    """Return the same as `pay`; also add up the dynamic regret. A row has each arm's gap after its gains."""
    missed = progress.history
    missed.total[0] += gains[row, len(progress.pulls) + arm]
    checkpoint = missed.next_checkpoint[0]
    if t == missed.checkpoints[checkpoint]:
        missed.totals_at[checkpoint] = missed.total[0]
        missed.next_checkpoint[0] += 1
    return gain if gain_counts(run, t, memory) else 0.0


def one_arm(world: Any, arm: int, progress: Progress) -> int:
    """A round reveals one value, of the arm played (`played_arm`)."""
    return 1


def played_arm(world: Any, arm: int, i: int) -> int:
    """Return the arm."""
    return arm


def all_arms(world: Any, arm: int, progress: Progress) -> int:
    """A round reveals all values, `nth_arm`."""
    return len(progress.gains)


def nth_arm(world: Any, arm: int, i: int) -> int:
    """Return the place."""
    return i


def row_length(world: GraphRows, arm: int, progress: Progress) -> int:
    """A round reveals the arms in a row of a graph, `row_arm`."""
    return world.starts[arm + 1] - world.starts[arm]  # type: ignore[no-any-return]


def row_arm(world: GraphRows, arm: int, i: int) -> int:
    """Return an arm of the row."""
    return world.revealed[world.starts[arm] + i]  # type: ignore[no-any-return]


n_revealed, revealed_arm = one_arm, played_arm
"""Placeholders: the values that a round reveals."""
n_revealed_after, revealed_arm_after = one_arm, played_arm
"""Placeholders: those that all rounds of a step may have revealed."""


def pass_on(states: Any, arm: int, gain: float, streams: Streams) -> tuple[float, int]:
    """Release a gain unchanged. Placeholder for the mechanisms that release gains."""
    return gain, 1


def reveal(
    world: Any, gains: FloatArray, row: int, arm: int, earned: float, states: Any, streams: Streams, progress: Progress
) -> None:
    """Release the values that a round reveals; `earned` is the gain of the action, minus the charge if observed."""
    for i in range(n_revealed(world, arm, progress)):
        revealed = revealed_arm(world, arm, i)
        store_gain(revealed, earned if CHARGED and revealed == arm else gains[row, revealed], states, streams, progress)


def reveal_payoffs(
    world: Any, gains: FloatArray, row: int, arm: int, earned: float, states: Any, streams: Streams, progress: Progress
) -> None:
    """Release the arms' payoffs instead of their gains."""
    reveal(world, progress.history.options, 0, arm, earned, states, streams, progress)


def store_gain(arm: int, gain: float, states: Any, streams: Streams, progress: Progress) -> None:
    """Store the release of a gain until the end of the step. Placeholder for `add_at_once`."""
    gain, count = pass_on(states, arm, gain, streams)
    if count != 0:
        progress.gains[arm] = gain
        progress.observed[arm] = 1


def release_in_chain(states: Any, arm: int, gain: float, streams: Streams) -> tuple[float, int]:
    """Pass a gain through the mechanisms below, and then through this one."""
    gain, count = lower_release(states, arm, gain, streams)
    if count < 1:
        return 0.0, 0
    gain, count = release(states[INDEX], arm, gain, streams[INDEX + 1])
    check_release(states, gain, count)
    if count < 1:
        return 0.0, 0
    return float(gain), 1


def check_release(states: Any, gain: float, count: int) -> None:
    """Raise if a mechanism breaks its rules. `count_broken_release` replaces it where machine code cannot raise."""
    if count < 1:
        if MUST_RELEASE:
            raise ValueError("a mechanism withheld a gain, which it says it never does.")
    elif not LOW <= gain <= HIGH:
        raise ValueError(OUTSIDE)


def count_broken_release(states: Any, gain: float, count: int) -> None:
    """Count a broken rule."""
    broken = MUST_RELEASE if count < 1 else not LOW <= gain <= HIGH
    states[-1].broken[0] += 1 if broken else 0


def forget(states: Any) -> None:
    """Placeholder for the mechanisms' reset at the end of a batch."""


def forget_in_chain(states: Any) -> None:
    """Reset the mechanisms below, and then this one."""
    lower_forget(states)
    mechanism_forget(states[INDEX])


def release_batch(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Placeholder for mechanisms that release gains above a batch."""


def release_batch_above(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass the releases of a batch to the mechanisms above it."""
    for i in range(n_revealed_after(world, arm, progress)):
        revealed = revealed_arm_after(world, arm, i)
        if progress.observed[revealed] != 0:
            gain, count = lower_release(states, revealed, progress.gains[revealed], streams)
            progress.gains[revealed] = gain
            progress.observed[revealed] = count


def add_to_sums(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Placeholder for a mechanism that releases sums."""


def add_revealed(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass the gains that a step released to a mechanism that releases sums."""
    for i in range(n_revealed_after(world, arm, progress)):
        revealed = revealed_arm_after(world, arm, i)
        if progress.observed[revealed] != 0:
            add_at_once(revealed, progress.gains[revealed], states, streams, progress)


def add_at_once(arm: int, gain: float, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass it one gain; without mechanisms below and batches, at once when revealed."""
    total, count = release(states[INDEX], arm, gain, streams[INDEX + 1])
    store_sum(arm, total, count, states, progress)


def add_to_all(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass it the gains that a step revealed, and call `idle` for the other arms, if any gain was revealed."""
    some = False
    for i in range(len(progress.observed)):
        some |= progress.observed[i] != 0
    if some:
        for i in range(len(progress.observed)):
            if progress.observed[i] != 0:
                add_at_once(i, progress.gains[i], states, streams, progress)
            else:
                total, count = idle(states[INDEX], i, streams[INDEX + 1])
                store_sum(i, total, count, states, progress)


def add_then_forget(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Reset a mechanism that releases sums after it received the step's gains."""
    add_step(world, arm, states, streams, progress)
    mechanism_forget(states[INDEX])


def store_sum(arm: int, total: float, count: int, states: Any, progress: Progress) -> None:
    """Store the release of an arm's sum."""
    if count >= 1:
        check_sum(states, total)
        progress.sums[arm] = total
        progress.counts[arm] = count
        progress.releases[arm] += 1


def check_sum(states: Any, total: float) -> None:
    """Raise if a released sum is not a number. `count_broken_sum` replaces it where machine code cannot raise."""
    if not math.isfinite(total):
        raise ValueError("a mechanism released a sum that is no finite number.")


def count_broken_sum(states: Any, total: float) -> None:
    """Count a sum that is not a number."""
    states[-1].broken[0] += 0 if -math.inf < total < math.inf else 1


def observe(progress: Progress) -> Gains:
    """Return the agent's observation. Placeholder for `observe_sums`."""
    return Gains(progress.gains, progress.observed)  # type: ignore[arg-type]


def observe_sums(progress: Progress) -> Sums:
    """Return the agent's observation if a mechanism releases sums."""
    return Sums(progress.sums, progress.counts, progress.releases)  # type: ignore[arg-type]


def clear(world: Any, arm: int, progress: Progress) -> None:
    """Clear the releases of one step."""
    for i in range(n_revealed_after(world, arm, progress)):
        revealed = revealed_arm_after(world, arm, i)
        progress.gains[revealed] = 0.0
        progress.observed[revealed] = 0


def clear_nothing(world: Any, arm: int, progress: Progress) -> None:
    """Skip clearing, as gains that are passed at once are not stored."""


def tidy_state(state: Any, t: int, batch_size: int) -> Any:
    """Return the state; placeholder for `tidy_every_32_steps`."""
    return state


def tidy_every_32_steps(state: Any, t: int, batch_size: int) -> Any:
    """Call the agent's `tidy` after every 32nd step; the step that ends in round t has number t / batch_size."""
    if t % (TIDY_EVERY * batch_size) == 0:
        return tidy(state)
    return state


def note_stop(state: Any, t: int, record: Checkpoints) -> None:
    """Do nothing; placeholder for `note_first_stop`."""


def note_first_stop(state: Any, t: int, record: Checkpoints) -> None:
    """Note the round after which the agent has stopped, the first time that it says so, and what it recommends then."""
    if record.stop[0] == 0 and is_done(state):
        record.stop[0] = t
        for checkpoint in range(len(record.recommended)):
            if record.checkpoints[checkpoint] >= t:
                record.recommended[checkpoint] = recommend(state)


def note_recommendation(state: Any, checkpoint: int, record: Checkpoints) -> None:
    """Do nothing; placeholder for `note_recommended_arm`."""


def note_recommended_arm(state: Any, checkpoint: int, record: Checkpoints) -> None:
    """Note the arm that the agent recommends at a checkpoint, unless it has stopped."""
    if record.stop[0] == 0:
        record.recommended[checkpoint] = recommend(state)


def play_block(
    state: Any,
    states: Any,
    world: Any,
    gains: FloatArray,
    rules: Rules,
    streams: Streams,
    progress: Progress,
    record: Checkpoints,
) -> Any:
    """Play one round for each row of `gains`, shape `(rounds, n_arms)`, and return the agent's state.

    Args:
        state: The agent's state.
        states: The mechanisms' states, from the innermost.
        world: The stages' data of the game: `GraphRows`, `Points` or `NoWorld`.
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
                raise IndexError(NO_ARM)
            if chosen != arm:
                switches += arm >= 0
                arm = chosen
                run = 0
        run += 1
        gain = get_gain(world, gains, row, arm)
        earned = pay(gains, row, arm, gain, run, t, rules.memory, progress)
        collected += earned
        pulls[arm] += 1
        observed = earned if rules.observe_charge else gain
        reveal(world, gains, row, arm, observed, states, streams, progress)
        filled += 1
        if filled == rules.batch_size:
            forget(states)
            release_batch(world, arm, states, streams, progress)
            add_to_sums(world, arm, states, streams, progress)
            state = tidy_state(update(state, arm, observe(progress)), t, rules.batch_size)
            note_stop(state, t, record)
            clear(world, arm, progress)
            filled = 0
        if t == record.checkpoints[checkpoint]:
            record.collected[checkpoint] = collected
            record.switches[checkpoint] = switches
            for i in range(len(pulls)):
                record.pulls[checkpoint, i] = pulls[i]
            note_recommendation(state, checkpoint, record)
            checkpoint += 1
    counters[0] = t
    counters[1] = arm
    counters[2] = run
    counters[FILLED] = filled
    counters[4] = switches
    counters[5] = checkpoint
    progress.collected[0] = collected
    return state


def play_games(block: IntArray, gains: FloatArray) -> None:
    """Play one round of each game for each row of `gains`, shape `(rounds, n_arms)`; all games meet the same gains.

    Args:
        block: The words of the games, shape `(games, words)`; changed in place.
        gains: See above.
    """
    for row in range(len(block)):
        words = block[row]
        game = game_at(words, 0)
        state = play_block(
            game.state, game.states, game.world, gains, game.rules, game.streams, game.progress, game.record
        )
        store(words, 0, (state, game.streams))


def add_up(gains: FloatArray, totals: FloatArray, first: int, checkpoints: IntArray, totals_at: FloatArray) -> bool:
    """Add each row of `gains` to `totals`, shape `(n_arms,)`, record them, and return whether all are in [0, 1].

    Args:
        gains: Gains of rounds `first`, `first + 1`, ..., shape `(rounds, n_arms)`.
        totals: Each arm's earlier total gains; changed in place.
        first: The round of the first row.
        checkpoints: Rounds to record, ascending.
        totals_at: The recorded totals, shape `(checkpoints, n_arms)`; changed in place.
    """
    checkpoint = np.searchsorted(checkpoints, first)
    valid = True
    for row in range(len(gains)):
        for arm in range(len(totals)):
            gain = gains[row, arm]
            valid &= (gain >= 0.0) & (gain <= 1.0)  # not for NaN
            totals[arm] += gain
        if checkpoint < len(checkpoints) and first + row == checkpoints[checkpoint]:
            for arm in range(len(totals)):
                totals_at[checkpoint, arm] = totals[arm]
            checkpoint += 1
    return valid


def add_up_constant(gains: FloatArray, first: int, constant: History) -> None:
    """Add up the payoffs of playing each arm in every round, and record them at checkpoints.

    Args:
        gains: Gains of rounds `first`, `first + 1`, ..., shape `(rounds, n_arms)`.
        first: The round of the first row.
        constant: Holds the totals before that round; changed in place.
    """
    for option in range(len(constant.totals)):
        for i in range(len(constant.arms)):
            constant.arms[i] = option
        checkpoint = np.searchsorted(constant.checkpoints, first)
        for row in range(len(gains)):
            paid = payoff(read_only(gains[row]), read_only(constant.arms), first + row)
            if paid is None or not 0 <= paid <= 1:
                raise PayoffRangeError
            constant.options[0, option] = paid
            constant.totals[option] += constant.options[0, option]
            if checkpoint < len(constant.checkpoints) and first + row == constant.checkpoints[checkpoint]:
                constant.totals_at[checkpoint, option] = constant.totals[option]
                checkpoint += 1


# Putting a loop together.


@functools.cache
def compiled_add_up() -> CompiledFunction:
    """Return `add_up`, compiled once per process."""
    return CompiledFunction(add_up, {})


def compiled_add_up_constant(function: Callable[..., Any]) -> CompiledFunction:
    """Return `add_up_constant` for a payoff function in its current state, compiled at its first call."""
    return _adding_up_constant(frozen(function))


@functools.lru_cache(maxsize=256)
def _adding_up_constant(function: Callable[..., Any]) -> CompiledFunction:
    return CompiledFunction(add_up_constant, {"payoff": function})


def compilable_payoff(adversary: Adversary) -> Callable[..., Any] | str | None:
    """Return an adversary's payoff function, None if it has none, or the reason why it cannot be compiled."""
    if adversary.payoff is None:
        return None
    function: Callable[..., Any] = python_function(adversary.payoff)
    no_rounds, history = np.zeros((0, 2)), new_history(1, np.ones(1, np.int64), 2)
    try:
        run_in_thread(lambda is_cancelled: compiled_add_up_constant(function)(no_rounds, 1, history))
    # Numba raises errors of many types here, all of them before the function runs.
    except Exception as error:
        return in_short(error, [function], {function: f", the payoff function of {type(adversary).__name__}"})
    return function


ARMS = {"n_revealed": one_arm, "revealed_arm": played_arm}
ALL = {"n_revealed": all_arms, "revealed_arm": nth_arm}
ROW = {"n_revealed": row_length, "revealed_arm": row_arm}
POINT = {"choose": choose_point, "get_gain": get_payoff}
FEEDBACK: dict[str, dict[str, Any]] = {
    "arm": ARMS,
    "graph": ROW,
    "all": ALL,
    "vector": {**ALL, **POINT, "CHARGED": False},
    "payoff": {**ARMS, **POINT},
}
"""The kinds of feedback: gains of an arm, of a row of a graph or of all arms; a gain vector, or a point's payoff."""


STAGES = ("choose", "get_gain", "forget", "release_batch", "add_to_sums", "observe")
"""What `stages` may replace in `play_block`, besides `reveal` and `clear`."""


def stages(
    mechanisms: Sequence[tuple[Mechanism, InputFacts]], *, feedback: str, values: ValueRange, raising: bool = True
) -> dict[str, Any]:
    """Return the functions for the placeholders of `play_block` in a game with a chain of mechanisms, by name.

    Args:
        mechanisms: From the innermost, each with the description of its input; only the last may release sums.
        feedback: The feedback of a round, a key of `FEEDBACK`.
        values: Public facts about the values that a round reveals.
        raising: Whether a release that breaks its rule raises; otherwise the last of the mechanisms' states counts it.

    Raises:
        NotCompilableError: If a mechanism has a function that is not plain, or only `play` supports it.
    """
    round_feedback = FEEDBACK[feedback]
    batches = any(mechanism.batch_size > 1 for mechanism, _ in mechanisms)
    # A graph may change within a batch.
    step_feedback = ALL if batches and feedback == "graph" else round_feedback
    world = {
        **round_feedback,
        "n_revealed_after": step_feedback["n_revealed"],
        "revealed_arm_after": step_feedback["revealed_arm"],
    }
    parts: dict[str, Any] = {"choose": choose, "get_gain": get_gain, **world}
    if not raising:
        world["check_sum"] = count_broken_sum
    release_before_batch, release_after_batch, batched = pass_on, pass_on, False
    forget_chain = forget
    for index, (mechanism, inputs) in enumerate(mechanisms):
        _check(mechanism, batched, above=[above for above, _ in mechanisms[index + 1 :]])
        bindings = {**world, "INDEX": index, "release": mechanism.release_for(inputs), "idle": mechanism.idle}
        if mechanism.releases_sums:
            parts["observe"] = observe_sums
            plain = not (mechanism.idle or mechanism.forget)
            if round_feedback["n_revealed"] is all_arms and len(mechanisms) == 1 and plain:
                parts |= {"store_gain": bind(add_at_once, bindings), "clear": clear_nothing}
                continue
            adding_step = bind(add_to_all if mechanism.idle else add_revealed, bindings)
            if mechanism.forget:
                adding_step = bind(
                    add_then_forget, {"INDEX": index, "mechanism_forget": mechanism.forget, "add_step": adding_step}
                )
            parts["add_to_sums"] = adding_step
            continue
        must_release = not mechanism.withholds and mechanism.batch_size == 1  # only batches of ours
        bindings |= {"MUST_RELEASE": must_release, "LOW": values.low, "HIGH": values.high}
        bindings["OUTSIDE"] = f"a mechanism that releases gains released one outside [{values.low:g}, {values.high:g}]."
        bindings |= {} if raising else {"check_release": bind(count_broken_release, bindings)}
        if batched:
            release_after_batch = bind(release_in_chain, {**bindings, "lower_release": release_after_batch})
            parts["release_batch"] = bind(release_batch_above, {**world, "lower_release": release_after_batch})
        else:
            release_before_batch = bind(release_in_chain, {**bindings, "lower_release": release_before_batch})
        if mechanism.forget:
            forget_chain = bind(
                forget_in_chain, {"INDEX": index, "mechanism_forget": mechanism.forget, "lower_forget": forget_chain}
            )
        batched = batched or mechanism.batch_size > 1
    parts |= {"forget": forget_chain, "pass_on": release_before_batch}
    bound = {name: bind(parts.get(name, stage), parts) for name, stage in (("reveal", reveal), ("clear", clear))}
    return {**{name: parts[name] for name in STAGES if name in parts}, **bound}


def _check(mechanism: Mechanism, batched: bool, above: Sequence[Mechanism]) -> None:
    name = type(mechanism).__name__
    for method in ("release", "idle", "forget"):
        function = getattr(mechanism, method)
        if function is not None and not isinstance(function, FunctionType):
            raise NotCompilableError(f"{method} of {name} is not a plain function")
    if mechanism.idle is not None and not mechanism.releases_sums:
        raise NotCompilableError(f"{name} releases gains of arms that were not revealed")
    if mechanism.batch_size > 1 and (batched or mechanism.releases_sums):
        raise NotCompilableError(f"{name} makes batches of its own above another mechanism's, or of sums")
    if mechanism.batch_size > 1 and not (mechanism.withholds or is_builtin(type(mechanism))):
        raise NotCompilableError(f"{name} says that its batches withhold nothing, which is looked at step by step")
    in_between = batched and not mechanism.releases_sums
    if mechanism.forget is not None and (in_between or any(one.batch_size > 1 for one in above)):
        raise NotCompilableError(f"{name} forgets beside a batch of another mechanism")
