"""The loop that plays a block of rounds of many games side by side: the stages of `play_block`, game by game.

All games of a block are in the same round, so what depends on the round only is decided once: whether a step begins or
ends, and whether a checkpoint is reached. The loops over games are short and have no branches that games take
differently; LLVM turns each of them into vector instructions.
"""

from typing import Any, Final, NamedTuple

from dp_bandit_envs.agents.functional import TIDY_EVERY
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.play_block import (
    Nothing,
    Progress,
    Record,
    Rules,
    add_to_sums,
    clear,
    forget,
    gain_of,
    observe,
    pay,
    reveal,
    select,
    settle,
    update,
)

LANES: Final = 16
"""Games side by side; a constant of machine code."""
ROUND, FILLED, CHECKPOINT = 0, 1, 2


def game_at(block: IntArray, lane: int) -> Any:
    """Placeholder for the function that returns a game's parts; see `compiling.lanes`."""
    raise NotImplementedError


def keep(block: IntArray, lane: int, game: Any) -> None:
    """Placeholder for the function that stores the numbers of a game's parts."""


def begin_step(block: IntArray, lane: int) -> None:
    """Let the agent choose an arm."""
    game = game_at(block, lane)
    own = game.own
    chosen = select(game.state, game.streams[0])
    before = own.arm[0]
    moved = chosen != before
    own.switches[0] += 1 if moved and before >= 0 else 0
    own.run[0] = 0 if moved else own.run[0]
    own.arm[0] = chosen


def play_round(block: IntArray, lane: int, t: int, rules: Rules) -> None:
    """Play one round."""
    game = game_at(block, lane)
    own, progress = game.own, game.progress
    arm = own.arm[0]
    run = own.run[0] + 1
    own.run[0] = run
    gain = gain_of(Nothing(), game.gains, 0, arm)
    earned = pay(game.gains, 0, arm, gain, run, t, rules.memory, progress)
    progress.collected[0] += earned
    progress.pulls[arm] += 1
    shown = earned if rules.observe_charge else gain
    reveal(Nothing(), game.gains, 0, arm, shown, game.states, game.streams, progress)


def end_step(block: IntArray, lane: int, rules: Rules) -> None:
    """Let the mechanisms end a batch, and the agent learn."""
    game = game_at(block, lane)
    progress, streams = game.progress, game.streams
    arm = game.own.arm[0]
    forget(game.states)
    settle(Nothing(), arm, game.states, streams, progress)
    add_to_sums(Nothing(), arm, game.states, streams, progress)
    state = update(game.state, arm, observe(progress))
    clear(Nothing(), arm, rules.batch_size, progress)
    keep(block, lane, state)


def tidy(state: Any) -> Any:
    """Return the state; placeholder for the agent's own function."""
    return state


def play_lanes(
    block: IntArray, shared: IntArray, gains: FloatArray, rules: Rules, clock: IntArray, record: Record
) -> None:
    """Play one round for each row of `gains`.

    Args:
        block: All games, shape `(rows, LANES)`; changed in place.
        shared: The rows of the block that hold a round's gains, `(n_arms, LANES)`.
        gains: Shape `(rounds, n_arms, LANES)`, as the bits of int64.
        rules: The constants of the games.
        clock: `ROUND`, `FILLED` and `CHECKPOINT`: rounds played, rounds in the batch, next checkpoint; changed.
        record: The results at checkpoints, with the games as a last axis; changed in place.
    """
    t, filled, checkpoint = clock[ROUND], clock[FILLED], clock[CHECKPOINT]
    one_round = rules.batch_size == 1
    # Not a constant for LLVM, which would write small loops out, but a multiple of what fits a register.
    lanes = block.shape[1] >> 3 << 3
    for row in range(len(gains)):
        t += 1
        for arm in range(gains.shape[1]):
            for lane in range(lanes):
                shared[arm, lane] = gains[row, arm, lane]
        if one_round:
            for lane in range(lanes):
                begin_step(block, lane)
                play_round(block, lane, t, rules)
                end_step(block, lane, rules)
        else:
            if filled == 0:
                for lane in range(lanes):
                    begin_step(block, lane)
            for lane in range(lanes):
                play_round(block, lane, t, rules)
            filled += 1
            if filled == rules.batch_size:
                for lane in range(lanes):
                    end_step(block, lane, rules)
                filled = 0
        if filled == 0 and t % (TIDY_EVERY * rules.batch_size) == 0:
            for lane in range(lanes):
                keep(block, lane, tidy(game_at(block, lane).state))
        if t == record.checkpoints[checkpoint]:
            for lane in range(lanes):
                note(block, lane, checkpoint, record)
            checkpoint += 1
    clock[ROUND], clock[FILLED], clock[CHECKPOINT] = t, filled, checkpoint


def note(block: IntArray, lane: int, checkpoint: int, record: Record) -> None:
    """Record the results of a game at a checkpoint."""
    game = game_at(block, lane)
    record.collected[checkpoint, lane] = game.progress.collected[0]
    record.switches[checkpoint, lane] = game.own.switches[0]
    for arm in range(len(game.progress.pulls)):
        record.pulls[checkpoint, arm, lane] = game.progress.pulls[arm]


class Own(NamedTuple):
    """What the loop keeps of a game, each of shape `(1,)`: the arm, the length of its run, the changes of arm."""

    arm: IntArray
    run: IntArray
    switches: IntArray


class Game(NamedTuple):
    """All parts of a game: the agent's state, the mechanisms', the streams, progress, own numbers, a round's gains."""

    state: Any
    states: tuple[Any, ...]
    streams: tuple[Any, ...]
    progress: Progress
    own: Own
    gains: FloatArray


class Faults(NamedTuple):
    """The last of the mechanisms' states: how many releases broke their mechanism's word, shape `(1,)`."""

    broken: IntArray
