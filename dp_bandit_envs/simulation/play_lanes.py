"""The loop that plays a block of rounds of many games side by side: the stages of `play_block`, game after game.

All games of a block are in the same round, so what depends on the round only is decided once: whether a step begins or
ends, and whether a checkpoint is reached. The loops over games are short and have no branches that games take
differently; LLVM turns each of them into vector instructions. `game_at` gives the parts of one game, whose arrays are
lanes of the block (`dp_bandit_envs.compiling.lanes`), to the same plain functions that `play_block` calls.
"""

from typing import Any, Final, NamedTuple

from dp_bandit_envs.agents.functional import TIDY_EVERY
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.play_block import (
    Nothing,
    Progress,
    Rules,
    add_to_sums,
    choose,
    clear,
    forget,
    gain_of,
    observe,
    pay,
    reveal,
    settle,
    update,
)

LANES: Final = 16
"""Games side by side: two vector registers of AVX-512, so that one computes while the other waits."""
ROUND, FILLED, CHECKPOINT, MEMORY, OBSERVE_CHARGE, BATCH_SIZE = range(6)
"""Places in the clock: the round, rounds in the batch, the next checkpoint, and the `Rules`."""


class Own(NamedTuple):
    """What the loop keeps of a game, each of shape `(1,)`: the arm, the length of its run, the changes of arm."""

    arm: IntArray
    run: IntArray
    switches: IntArray


class Broken(NamedTuple):
    """The last of the mechanisms' states: how many releases broke their mechanism's word, shape `(1,)`."""

    broken: IntArray


class Game(NamedTuple):
    """All parts of a game: a round's gains, the agent's state, the mechanisms', the streams, progress, own numbers."""

    gains: FloatArray
    state: Any
    states: tuple[Any, ...]
    streams: tuple[Any, ...]
    progress: Progress
    own: Own


def game_at(block: IntArray, lane: int) -> Any:
    """Placeholder for the function that returns a `Game`; see `compiling.layout`."""
    raise NotImplementedError


def keep(block: IntArray, lane: int, state: Any) -> None:
    """Placeholder for the function that stores the numbers of an agent's state."""


def tidy(state: Any) -> Any:
    """Return the state; placeholder for the agent's own function."""
    return state


def begin_step(block: IntArray, lane: int) -> None:
    """Let the agent choose an arm."""
    game = game_at(block, lane)
    own = game.own
    chosen = choose(Nothing(), game.state, game.streams[0])
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


def play_lanes(
    block: IntArray, gains: IntArray, clock: IntArray, checkpoints: IntArray, sums: FloatArray, counts: IntArray
) -> None:
    """Play one round for each row of `gains`.

    Args:
        block: All games, shape `(words, LANES)`, each beginning with a round's gains; changed in place.
        gains: The bits of the gains, shape `(rounds, n_arms, LANES)`.
        clock: See `ROUND`; changed in place.
        checkpoints: Rounds at which to record, ascending.
        sums: In place 0 of axis 1 the gains collected at checkpoints, `(checkpoints, n_arms, LANES)`; changed in place.
        counts: The pulls of each arm and, last, the changes of arm, `(checkpoints, n_arms + 1, LANES)`; changed too.
    """
    t, filled, checkpoint = clock[ROUND], clock[FILLED], clock[CHECKPOINT]
    rules = Rules(clock[MEMORY], clock[OBSERVE_CHARGE] != 0, clock[BATCH_SIZE])
    # No constant for LLVM, which would write short loops out; but it sees that no game is left over.
    lanes = block.shape[1] >> 3 << 3
    for place in range(len(gains)):
        t += 1
        for arm in range(gains.shape[1]):
            for lane in range(lanes):
                block[arm, lane] = gains[place, arm, lane]
        if rules.batch_size == 1:
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
        if t % (TIDY_EVERY * rules.batch_size) == 0:
            for lane in range(lanes):
                keep(block, lane, tidy(game_at(block, lane).state))
        if t == checkpoints[checkpoint]:
            for lane in range(lanes):
                note(block, lane, sums[checkpoint], counts[checkpoint])
            checkpoint += 1
    clock[ROUND], clock[FILLED], clock[CHECKPOINT] = t, filled, checkpoint


def note(block: IntArray, lane: int, sums: FloatArray, counts: IntArray) -> None:
    """Record the results of a game at a checkpoint."""
    game = game_at(block, lane)
    pulls = game.progress.pulls
    sums[0, lane] = game.progress.collected[0]
    for arm in range(len(pulls)):
        counts[arm, lane] = pulls[arm]
    counts[len(pulls), lane] = game.own.switches[0]


def next_round(state: Any, t: int, row: FloatArray, rng: Any) -> None:
    """Placeholder for an adversary's own function."""
    raise NotImplementedError


def draw_round(block: IntArray, lane: int, t: int) -> None:
    """Draw the gains of round t."""
    game = game_at(block, lane)
    next_round(game.state, t, game.gains, game.rng)


def add_round(block: IntArray, lane: int) -> None:
    """Add the gains of a round to the totals."""
    game = game_at(block, lane)
    for arm in range(len(game.gains)):
        gain = game.gains[arm]
        game.totals[arm] += gain
        game.outside[0] += 0 if 0.0 <= gain <= 1.0 else 1


def draw_lanes(
    block: IntArray, gains: IntArray, clock: IntArray, checkpoints: IntArray, sums: FloatArray, counts: IntArray
) -> None:
    """Write an adversary's gains of the next rounds in many games, and record the totals of all arms.

    Args:
        block: As above.
        gains: As above; written.
        clock: Of which `ROUND` and `CHECKPOINT` are used; changed in place.
        checkpoints: As above.
        sums: The totals of all arms at checkpoints, `(checkpoints, n_arms, LANES)`; changed in place.
        counts: Not used.
    """
    t, checkpoint = clock[ROUND], clock[CHECKPOINT]
    lanes = block.shape[1] >> 3 << 3
    for place in range(len(gains)):
        t += 1
        for lane in range(lanes):
            draw_round(block, lane, t)
        for lane in range(lanes):
            add_round(block, lane)
        for arm in range(gains.shape[1]):
            for lane in range(lanes):
                gains[place, arm, lane] = block[arm, lane]
        if t == checkpoints[checkpoint]:
            for lane in range(lanes):
                totals = game_at(block, lane).totals
                for arm in range(len(totals)):
                    sums[checkpoint, arm, lane] = totals[arm]
            checkpoint += 1
    clock[ROUND], clock[CHECKPOINT] = t, checkpoint


class Drawn(NamedTuple):
    """The parts of an adversary in a game.

    Attributes:
        gains: The gains of a round, `(n_arms,)`.
        state: Its state.
        rng: Its stream.
        totals: The total gain of each arm, `(n_arms,)`.
        outside: How many gains were outside of [0, 1], `(1,)`.
    """

    gains: FloatArray
    state: Any
    rng: Any
    totals: FloatArray
    outside: IntArray
