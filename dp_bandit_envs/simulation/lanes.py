"""Plays many games side by side: the stages of the loop for each game, which LLVM turns into vector instructions."""

import copy
import functools
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import Adversary, Deterministic, FullyOblivious, Oblivious, Stochastic
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.agents import Exp3, FunctionalAgent, Hedge, Ucb, Uniform
from dp_bandit_envs.agents.functional import TIDY_EVERY, Functions
from dp_bandit_envs.agents.ucb import PLAIN
from dp_bandit_envs.compiling.compiled import AddressedFunction, CompiledFunction
from dp_bandit_envs.compiling.functions import bind, call_at
from dp_bandit_envs.compiling.layout import Layout, Parts, Place, Single, empty_words
from dp_bandit_envs.envs.bandit_env import checked_beginning
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.privacy.mechanisms import ExactSums, LaplaceClipRescale, MiniBatchAverage, RandomizedResponse
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation.compiled_game import CompiledGame
from dp_bandit_envs.simulation.stages import (
    NoWorld,
    Progress,
    Rules,
    add_to_sums,
    choose,
    clear,
    compiled_add_up,
    forget,
    get_gain,
    observe,
    pay,
    release_batch,
    reveal,
    update,
)

LANES: Final = 16
"""Games side by side: two vector registers of AVX-512, so that one computes while the other waits."""
ROUND, FILLED, CHECKPOINT, MEMORY, OBSERVE_CHARGE, BATCH_SIZE = range(6)
"""Places in the clock: the round, rounds in the batch, the next checkpoint, and the `Rules`."""


class LoopCounters(NamedTuple):
    """The loop's counters of a game, each of shape `(1,)`: the arm, the length of its run, the changes of arm."""

    arm: IntArray
    run: IntArray
    switches: IntArray


class BrokenCount(NamedTuple):
    """The last of the mechanisms' states: the number of releases that broke their mechanism's rules, shape `(1,)`."""

    broken: IntArray


class LaneGame(NamedTuple):
    """All parts of a game: a round's gains, the states of agent and mechanisms, streams, progress, counters."""

    gains: FloatArray
    state: Any
    states: tuple[Any, ...]
    streams: tuple[Any, ...]
    progress: Progress
    counters: LoopCounters


def game_at(block: IntArray, lane: int) -> Any:
    """Placeholder for the function that returns a `LaneGame`; see `compiling.layout`."""
    raise NotImplementedError


def store(block: IntArray, lane: int, state: Any) -> None:
    """Placeholder for the function that stores the numbers of an agent's state."""


def tidy(state: Any) -> Any:
    """Return the state; placeholder for the agent's own function."""
    return state


def begin_step(game: LaneGame) -> None:
    """Let the agent choose an arm."""
    counters = game.counters
    chosen = choose(NoWorld(), game.state, game.streams[0])
    before = counters.arm[0]
    moved = chosen != before
    counters.switches[0] += 1 if moved and before >= 0 else 0
    counters.run[0] = 0 if moved else counters.run[0]
    counters.arm[0] = chosen


def play_round(game: LaneGame, t: int, rules: Rules) -> None:
    """Play one round."""
    counters, progress = game.counters, game.progress
    arm = counters.arm[0]
    run = counters.run[0] + 1
    counters.run[0] = run
    gain = get_gain(NoWorld(), game.gains, 0, arm)
    earned = pay(game.gains, 0, arm, gain, run, t, rules.memory, progress)
    progress.collected[0] += earned
    progress.pulls[arm] += 1
    observed = earned if rules.observe_charge else gain
    reveal(NoWorld(), game.gains, 0, arm, observed, game.states, game.streams, progress)


def end_step(game: LaneGame) -> Any:
    """Finish the step: close batches, update the agent, return the agent's state."""
    progress, streams = game.progress, game.streams
    arm = game.counters.arm[0]
    forget(game.states)
    release_batch(NoWorld(), arm, game.states, streams, progress)
    add_to_sums(NoWorld(), arm, game.states, streams, progress)
    state = update(game.state, arm, observe(progress))
    clear(NoWorld(), arm, progress)
    return state


def no_draw(block: IntArray, lane: int, t: int) -> None:
    """Skip drawing, as `draw_lanes` draws the gains."""


def no_record(block: IntArray, lane: int, sums: FloatArray) -> None:
    """Skip recording, as `draw_lanes` also records totals."""


draw, record_totals = no_draw, no_record
"""Placeholders for `draw_here` and `record_drawn_totals`."""
BATCHED, DRAWN_HERE = False, False
"""Constants of machine code: whether a step has several rounds, and whether this loop draws the gains."""


def play_lanes(
    block: IntArray, gains: IntArray, clock: IntArray, checkpoints: IntArray, sums: FloatArray, counts: IntArray
) -> None:
    """Play one round for each row of `gains`.

    Args:
        block: All games, shape `(words, LANES)`, each beginning with a round's gains; changed in place.
        gains: The bits of the gains, shape `(rounds, n_arms, LANES)`; only the number of rows is used if this loop
            draws them.
        clock: See `ROUND`; changed in place.
        checkpoints: Rounds to record, ascending.
        sums: The collected gains at checkpoints, at the last index of axis 1, `(checkpoints, n_arms + 1, LANES)`;
            before it the totals of all arms, if this loop draws the gains; changed in place.
        counts: The pulls of each arm and, last, the changes of arm, `(checkpoints, n_arms + 1, LANES)`; changed too.
    """
    t, filled, checkpoint = clock[ROUND], clock[FILLED], clock[CHECKPOINT]
    rules = Rules(clock[MEMORY], clock[OBSERVE_CHARGE] != 0, clock[BATCH_SIZE])
    # No constant for LLVM, which would write short loops out; but it sees that no game is left over.
    lanes = block.shape[1] >> 3 << 3
    for row in range(len(gains)):
        t += 1
        if not DRAWN_HERE:
            for arm in range(gains.shape[1]):
                for lane in range(lanes):
                    block[arm, lane] = gains[row, arm, lane]
        if BATCHED:
            if filled == 0:
                for lane in range(lanes):
                    begin_step(game_at(block, lane))
            for lane in range(lanes):
                draw(block, lane, t)
                play_round(game_at(block, lane), t, rules)
            filled += 1
            if filled == rules.batch_size:
                for lane in range(lanes):
                    store(block, lane, end_step(game_at(block, lane)))
                filled = 0
        else:
            for lane in range(lanes):
                draw(block, lane, t)
                game = game_at(block, lane)
                begin_step(game)
                play_round(game, t, rules)
                store(block, lane, end_step(game))
        if t % (TIDY_EVERY * rules.batch_size) == 0:
            for lane in range(lanes):
                store(block, lane, tidy(game_at(block, lane).state))
        if t == checkpoints[checkpoint]:
            for lane in range(lanes):
                record_results(block, lane, sums[checkpoint], counts[checkpoint])
                record_totals(block, lane, sums[checkpoint])
            checkpoint += 1
    clock[ROUND], clock[FILLED], clock[CHECKPOINT] = t, filled, checkpoint


def record_results(block: IntArray, lane: int, sums: FloatArray, counts: IntArray) -> None:
    """Record the results of a game at a checkpoint."""
    game = game_at(block, lane)
    pulls = game.progress.pulls
    sums[len(pulls), lane] = game.progress.collected[0]
    for arm in range(len(pulls)):
        counts[arm, lane] = pulls[arm]
    counts[len(pulls), lane] = game.counters.switches[0]


def next_round(state: Any, t: int, row: FloatArray, rng: Any) -> None:
    """Placeholder for an adversary's own function."""
    raise NotImplementedError


def drawn_at(block: IntArray, lane: int) -> Any:
    """Placeholder for the function that returns a `LaneAdversary`."""
    raise NotImplementedError


def draw_round(block: IntArray, lane: int, t: int) -> None:
    """Draw the gains of round t."""
    game = drawn_at(block, lane)
    next_round(game.state, t, game.gains, game.rng)


def add_round(block: IntArray, lane: int) -> None:
    """Add the gains of a round to the totals."""
    game = drawn_at(block, lane)
    for arm in range(len(game.gains)):
        gain = game.gains[arm]
        game.totals[arm] += gain
        game.outside[0] += 0 if 0.0 <= gain <= 1.0 else 1


def draw_here(block: IntArray, lane: int, t: int) -> None:
    """Draw the gains of round t in the playing loop, so that they stay in registers."""
    draw_round(block, lane, t)
    add_round(block, lane)


def record_drawn_totals(block: IntArray, lane: int, sums: FloatArray) -> None:
    """Record the totals at a checkpoint."""
    totals = drawn_at(block, lane).totals
    for arm in range(len(totals)):
        sums[arm, lane] = totals[arm]


def draw_lanes(
    block: IntArray, gains: IntArray, clock: IntArray, checkpoints: IntArray, sums: FloatArray, counts: IntArray
) -> None:
    """Write an adversary's gains of the next rounds in many games, and record the totals of all arms.

    Args:
        block: As above.
        gains: As above; written.
        clock: Its `ROUND` and `CHECKPOINT` are used; changed in place.
        checkpoints: As above.
        sums: The totals of all arms at checkpoints, before the last index of axis 1; changed in place.
        counts: Not used.
    """
    t, checkpoint = clock[ROUND], clock[CHECKPOINT]
    lanes = block.shape[1] >> 3 << 3
    for row in range(len(gains)):
        t += 1
        for lane in range(lanes):
            draw_round(block, lane, t)
        for lane in range(lanes):
            add_round(block, lane)
        for arm in range(gains.shape[1]):
            for lane in range(lanes):
                gains[row, arm, lane] = block[arm, lane]
        if t == checkpoints[checkpoint]:
            for lane in range(lanes):
                record_drawn_totals(block, lane, sums[checkpoint])
            checkpoint += 1
    clock[ROUND], clock[CHECKPOINT] = t, checkpoint


class LaneAdversary(NamedTuple):
    """The parts of an adversary in a game.

    Attributes:
        gains: The gains of a round, `(n_arms,)`.
        state: Its state.
        rng: Its stream.
        totals: The total gain of each arm, `(n_arms,)`.
        outside: Number of gains outside [0, 1], `(1,)`.
    """

    gains: FloatArray
    state: Any
    rng: Any
    totals: FloatArray
    outside: IntArray


class LaneSupport(NamedTuple):
    """The functions of an agent that lanes support, and the largest number of arms for which lanes are faster."""

    functions: Functions
    most_arms: int = 16


# Times as fast as one game after the other, alone against coins, AVX-512, with 8, 10 and 16 arms: EXP3 and DP-EXP3-Lap
# about 7, 8 and 5; UCB 5.6 with 8 and 10. From a table of gains: UCB 2.6 with 16; Uniform 2.8, 2.9 (9) and 2.4; Hedge
# 3.2, .9 (9) and .2, as LLVM leaves its loop over more than eight exponentials as it is, and then uses no vector
# registers. KL-UCB: 1.1 with 4 arms, .8 with 10. Not supported are UCB's private forms: DP-UCB-INT and AdaP-UCB draw
# noise at rounds that differ between games, and DP-UCB-BOUND has tables of two dimensions.
AGENTS: dict[type[FunctionalAgent], LaneSupport] = {
    Exp3: LaneSupport(Exp3.functions),
    Hedge: LaneSupport(Hedge.functions, most_arms=8),
    Uniform: LaneSupport(Uniform.functions),
    Ucb: LaneSupport(PLAIN),
}
DRAWN_ALONE = (Deterministic, FullyOblivious, Oblivious, Stochastic)
"""Adversaries whose gains an algorithm draws itself if no other plays: EXP3 then takes two thirds of the time. In one
loop with SwitchingCost, whose walk is at places that depend on t, LLVM uses no vector registers."""
MECHANISMS = (ExactSums, LaplaceClipRescale, MiniBatchAverage, RandomizedResponse)


def supports(game: CompiledGame) -> bool:
    """Return whether lanes can play a game and are faster."""
    support = AGENTS.get(type(game.agent))
    fit = support is not None and game.agent.functions == support.functions and game.n_arms <= support.most_arms
    fit = fit and all(type(mechanism) in MECHANISMS for mechanism, _ in game.mechanisms)
    fit = fit and game.feedback in ("arm", "all") and game.payoff is None
    # Objects of these classes can have functions of somebody else's, too.
    return fit and not game.user_functions


class LaneLoop:
    """The loop of one algorithm over the games of a block.

    Args:
        game: The arguments of the loop.
        alone: The adversary, and its inner adversary that draws, if the loop draws the gains itself.
    """

    def __init__(self, game: CompiledGame, alone: tuple[Adversary, RoundByRound] | None = None) -> None:
        self._game = game
        example = self._example(game.streams(0, 0))
        self._layout, self._first = _lay_out(example)
        self._places: Any = LaneGame(*self._layout.form.inner)
        self.gains = None if alone is None else LaneGains(*alone, start=self._layout.rows)
        """The gains that it draws itself."""
        self.words = self._layout.rows if self.gains is None else self.gains.words
        parts: dict[str, Any] = game.make_parts(raising=False)
        parts.pop("tidy_state", None)
        if game.agent.functions.tidy is not None:
            parts["tidy"] = game.agent.functions.tidy
        parts |= {} if self.gains is None else self.gains.parts(self._layout.form.inner[0])
        parts["BATCHED"] = game.rules.batch_size > 1
        self.compiled = _play_loop(self._layout.form, tuple(parts.items()))

    @functools.cached_property
    def address(self) -> int:
        """The address of the machine code; compiled, or loaded from disk, when first asked for."""
        return self.compiled.address(*_arguments(self._game.n_arms))

    def begin(self, block: IntArray, seed: int, trials: range) -> list[int]:
        """Write the games into a block, and return their clock; spare lanes repeat the last trial."""
        block[: len(self._first)] = self._first
        # All games begin alike but for their streams.
        games = [self._game.streams(seed, trial) for trial in trials]
        self._layout.write(block, _fill_up(games), self._places.streams)
        rules = self._game.rules
        return [0, 0, 0, rules.memory, rules.observe_charge, rules.batch_size]

    def check(self, block: IntArray) -> None:
        """Raise if some release broke its mechanism's rules, or a gain drawn here was outside [0, 1]."""
        if self.gains is not None:
            self.gains.check(block)
        if _rows(block, self._places.states.inner[-1].inner[0]).any():
            raise ValueError("a mechanism withheld a gain, or released one outside its range, against its word.")

    def _example(self, streams: tuple[np.random.Generator, ...]) -> LaneGame:
        state, states, progress = self._game.first_states
        if self._game.feedback == "arm":
            size = self._game.n_values
            kept = self._game.rules.batch_size > 1
            slots: dict[str, Any] = {
                "gains": Single("float64", size, kept=kept),
                "observed": Single("int64", size, kept=kept),
            }
            progress = progress._replace(**slots)
        counters = LoopCounters(np.full(1, -1), np.zeros(1, np.int64), np.zeros(1, np.int64))
        broken = BrokenCount(np.zeros(1, np.int64))
        return LaneGame(np.zeros(self._game.n_arms), state, (*states, broken), streams, progress, counters)


class LaneGains:
    """The loop that draws an adversary's gains in the games of a block; `drawn` is itself or its inner adversary.

    Its words begin at row `start`, after the words of an algorithm that draws the gains itself.
    """

    def __init__(self, adversary: Adversary, drawn: RoundByRound, start: int = 0) -> None:
        self._adversary, self._drawn, self._start = adversary, drawn, start
        zeros, rng = np.zeros(drawn.n_arms), stream(0, role=ADVERSARY)
        game = LaneAdversary(zeros, drawn.first_round_state(rng), rng, zeros, np.zeros(1, np.int64))
        self._layout, self._first = _lay_out(game, start, same=True)
        self._places: Any = LaneAdversary(*self._layout.form.inner)
        self.words = self._layout.rows

    @functools.cached_property
    def compiled(self) -> AddressedFunction:
        """The loop that writes the gains for all algorithms."""
        return _draw_loop(self._layout.form, type(self._drawn).next_round)

    @functools.cached_property
    def address(self) -> int:
        """The address of the machine code; compiled, or loaded from disk, when first asked for."""
        return self.compiled.address(*_arguments(self._drawn.n_arms))

    def parts(self, gains: Place) -> dict[str, Any]:
        """Return the functions that make `play_lanes` draw the gains and write them to this position."""
        form = self._layout.form
        in_place = Parts(form.kind, (gains._replace(same=True), *form.inner[1:]))
        drawing = _drawing(in_place, type(self._drawn).next_round)
        return {
            "draw": bind(draw_here, drawing),
            "record_totals": bind(record_drawn_totals, drawing),
            "DRAWN_HERE": True,
        }

    def begin(self, block: IntArray, seed: int, trials: range) -> list[FloatArray | None]:
        """Write the games into a block, and return their means; spare lanes repeat the last trial."""
        block[self._start : self.words] = self._first[self._start :]
        games = []
        for trial in trials:
            rng = stream(seed, trial=trial, role=ADVERSARY)
            # The state first: what it draws comes before the first round.
            games.append((self._drawn.first_round_state(rng), rng))
        self._layout.write(block, _fill_up(games), Parts(None, (self._places.state, self._places.rng)))
        return [self._adversary.means_of(state) for state, _ in games]

    def check(self, block: IntArray) -> None:
        """Raise if a gain was outside [0, 1] in some game."""
        if _rows(block, self._places.outside).any():
            raise GainRangeError(self._adversary)


def _lay_out(game: tuple[Any, ...], start: int = 0, *, same: bool = False) -> tuple[Layout, IntArray]:
    """Return the layout of games like this one side by side, and the words of one, shape `(words, 1)`."""
    layout = Layout(game, LANES, same=same, start=start)
    first = np.zeros((layout.rows, 1), np.int64)
    layout.write(first, [game])
    return layout, first


def _fill_up(games: list[Any]) -> list[Any]:
    """Return a game for each lane; spare lanes repeat the last game."""
    return games + games[-1:] * (LANES - len(games))


def _arguments(n_arms: int) -> tuple[Any, ...]:
    """Return empty arguments of a loop (no rounds, no games), with their types."""
    block, gains = np.zeros((0, LANES), np.int64), np.zeros((0, n_arms, LANES), np.int64)
    sums, counts = np.zeros((1, n_arms + 1, LANES)), np.zeros((1, n_arms + 1, LANES), np.int64)
    return block, gains, np.zeros(BATCH_SIZE + 1, np.int64), np.ones(1, np.int64), sums, counts


def _rows(block: IntArray, array: Place) -> IntArray:
    return block[array.row : array.row + array.size]


@functools.lru_cache(maxsize=256)
def _play_loop(form: Parts, parts: tuple[tuple[str, Any], ...]) -> AddressedFunction:
    from dp_bandit_envs.compiling.layout_code import reader, writer

    words = {"game_at": reader(form), "store": writer(LaneGame(*form.inner).state)}
    return AddressedFunction(bind(play_lanes, {**dict(parts), **words}), {})


@functools.lru_cache(maxsize=64)
def _draw_loop(form: Parts, next_round: Callable[..., Any]) -> AddressedFunction:
    return AddressedFunction(bind(draw_lanes, _drawing(form, next_round)), {})


def _drawing(form: Parts, next_round: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    from dp_bandit_envs.compiling.layout_code import reader

    return {"drawn_at": reader(form), "next_round": next_round}


class LaneArguments(NamedTuple):
    """The loops of each piece and their arguments: the adversary's loop if it is compiled, then the algorithms'.

    Attributes:
        addresses: Addresses of compiled `draw_lanes` or `play_lanes`, shape `(loops,)`.
        blocks, clocks, sums, counts: Their arguments, with an additional first axis for loops.
    """

    addresses: IntArray
    blocks: IntArray
    clocks: IntArray
    sums: FloatArray
    counts: IntArray


def play_pieces(rounds: int, room: IntArray, checkpoints: IntArray, loops: LaneArguments) -> None:
    """Play rounds; runs only compiled.

    Args:
        rounds: Number of rounds; at most the length of `room` if no loop draws gains.
        room: Buffer for the gains of a piece, shape `(rounds of a piece, n_arms, LANES)`; changed in place.
        checkpoints: Rounds to record, ascending.
        loops: The loops and their arguments; arrays are changed in place.
    """
    for start in range(0, rounds, len(room)):
        gains = room[: min(len(room), rounds - start)]
        for i in range(len(loops.addresses)):
            block, clock = loops.blocks[i], loops.clocks[i]
            arguments = block, gains, clock, checkpoints, loops.sums[i], loops.counts[i]
            call_at(loops.addresses[i], arguments)


class LaneBlock:
    """A block of games: the adversary, if its loop is compiled, and the algorithms.

    Args:
        gains: The loop that draws gains, if any.
        loops: The loops of the algorithms.
        seed, trials, checkpoints, n_arms: As in `LaneEngine`.
    """

    def __init__(
        self,
        gains: LaneGains | None,
        loops: list[LaneLoop],
        seed: int,
        trials: range,
        checkpoints: IntArray,
        n_arms: int,
    ) -> None:
        first = 0 if gains is None else 1
        self._parts: list[LaneGains | LaneLoop] = [*([] if gains is None else [gains]), *loops]
        size, shape = len(self._parts), (len(self._parts), len(checkpoints))
        self.arguments = LaneArguments(
            addresses=np.array([part.address for part in self._parts], np.int64),
            blocks=empty_words(size, max((part.words for part in self._parts), default=0), LANES),
            clocks=np.zeros((size, BATCH_SIZE + 1), np.int64),
            sums=np.zeros((*shape, n_arms + 1, LANES)),
            counts=np.zeros((*shape, n_arms + 1, LANES), np.int64),
        )
        blocks = self.arguments.blocks
        drawing = gains or (loops[0].gains if loops else None)
        self.means = None if drawing is None else drawing.begin(blocks[0], seed, trials)
        self.algorithms = blocks[first:]
        for loop, block, clock in zip(loops, self.algorithms, self.arguments.clocks[first:], strict=True):
            clock[...] = loop.begin(block, seed, trials)
        self.records = list(zip(self.arguments.sums[first:, :, n_arms], self.arguments.counts[first:], strict=True))
        """The gains of each algorithm, `(checkpoints, LANES)`, and its counts."""

    @property
    def totals_at(self) -> FloatArray:
        """The totals of all arms, `(checkpoints, n_arms, LANES)`, if gains are drawn here."""
        return self.arguments.sums[0, :, :-1]

    def check(self) -> None:
        """Raise if in some game a gain was outside [0, 1], or a mechanism broke its rules."""
        for loop, block in zip(self._parts, self.arguments.blocks, strict=True):
            loop.check(block)


@functools.cache
def compiled_play_pieces() -> CompiledFunction:
    """Return `play_pieces`, compiled once per process."""
    return CompiledFunction(play_pieces, {})


class PythonGains:
    """The gains of an uncompiled adversary, filled game by game."""

    def __init__(self, adversary: Adversary, seed: int, trials: range, checkpoints: IntArray) -> None:
        self._adversary, self._checkpoints, self._round = adversary, checkpoints, 0
        self._games = [copy.copy(adversary) for _ in trials]
        for game, trial in zip(self._games, trials, strict=True):
            with checked_beginning(game):
                game.begin(stream(seed, trial=trial, role=ADVERSARY))
        self.means = [game.means for game in self._games]
        self._totals = np.zeros(adversary.n_arms * LANES)
        self.totals_at = np.zeros((len(checkpoints), adversary.n_arms, LANES))

    def fill(self, gains: IntArray) -> None:
        """Write the gains of the next rounds, shape `(rounds, n_arms, LANES)`."""
        numbers, gains_of_lane = gains.view(np.float64), np.empty(gains.shape[:2])
        for lane in range(LANES):
            if lane < len(self._games):
                self._games[lane].fill(gains_of_lane)
            numbers[..., lane] = gains_of_lane
        size = len(self._totals)
        rows, totals_at = numbers.reshape(len(gains), size), self.totals_at.reshape(-1, size)
        if not compiled_add_up()(rows, self._totals, self._round + 1, self._checkpoints, totals_at):
            raise GainRangeError(self._adversary)
        self._round += len(gains)
