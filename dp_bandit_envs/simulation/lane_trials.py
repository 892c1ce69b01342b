"""Plays many trials side by side: all algorithms that lanes carry, on the same gains in each trial."""

import copy
import dataclasses
import functools

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.round_by_round import RoundByRound
from dp_bandit_envs.compiling.background import Stopped, never
from dp_bandit_envs.compiling.fingerprint import is_ours
from dp_bandit_envs.compiling.layout import empty_words
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.metrics.regrets import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation.lane_loops import LaneGains, LaneLoop
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.play_lanes import BATCH_SIZE, CHECKPOINT, LANES
from dp_bandit_envs.simulation.play_pieces import Seats, Source, play_pieces
from dp_bandit_envs.simulation.tasks import Column, StoppedEarlyError
from dp_bandit_envs.simulation.totals import add_up, all_in_range, compiled

NUMBERS_AT_ONCE = 2**16
"""Gains in a piece, half a megabyte: they stay in a core's own cache until they are played."""
NUMBERS_FILLED = 2**18
"""The same where Python fills them, which takes less time if it is called less often."""
ROUNDS_AT_ONCE = 2**22
"""Rounds in a call of machine code, of all games and algorithms together: some hundredths of a second, as Ctrl-C and
other threads wait for its end."""
LEAST_TRIALS = 3
"""A block of fewer games takes longer than one game after the other."""


class Lanes:
    """All algorithms in the games of a block: their states and their records, the same order in every array."""

    def __init__(self, loops: list[LaneLoop], seed: int, trials: range, checkpoints: IntArray, n_arms: int) -> None:
        self._loops = loops
        size, shape = len(loops), (len(loops), len(checkpoints))
        self.seats = Seats(
            addresses=np.array([loop.address for loop in loops], np.int64),
            rows=np.array([loop.row for loop in loops], np.int64),
            blocks=empty_words(size, max((loop.words for loop in loops), default=0), LANES),
            clocks=np.zeros((size, BATCH_SIZE + 1), np.int64),
            collected=np.zeros((*shape, LANES)),
            switches=np.zeros((*shape, LANES), np.int64),
            pulls=np.zeros((*shape, n_arms, LANES), np.int64),
        )
        for loop, block, clock in zip(loops, self.seats.blocks, self.seats.clocks, strict=True):
            clock[...] = loop.begin(block, seed, trials)

    def check(self) -> None:
        """Raise if a mechanism broke its word in some game."""
        for loop, block in zip(self._loops, self.seats.blocks, strict=True):
            loop.check(block)


class DrawnGains:
    """The gains of an adversary with a plain function of a round, and the totals of all arms at checkpoints."""

    pieces = ROUNDS_AT_ONCE

    def __init__(self, loop: LaneGains, seed: int, trials: range, checkpoints: IntArray) -> None:
        self._loop = loop
        block, row, clock, self.means = loop.games(seed, trials)
        self.totals_at = np.zeros((len(checkpoints), *row.shape))
        self.source = Source(loop.address, block, row, clock, self.totals_at)

    def fill(self, gains: IntArray) -> None:
        """Do nothing: machine code draws them, a piece at a time."""

    def check(self) -> None:
        """Raise if a gain was outside of [0, 1] in some game."""
        self._loop.check(self.source.block)


class FilledGains:
    """The same for any other adversary, which fills the gains of one game after the other."""

    pieces = 1

    def __init__(self, adversary: Adversary, seed: int, trials: range, checkpoints: IntArray) -> None:
        self._adversary, self._checkpoints, self._round = adversary, checkpoints, 0
        self._games = [copy.copy(adversary) for _ in trials]
        for game, trial in zip(self._games, trials, strict=True):
            game.begin(stream(seed, trial=trial, role=ADVERSARY))
        self.means = [game.means for game in self._games]
        self._totals = np.zeros(adversary.n_arms * LANES)
        self.totals_at = np.zeros((len(checkpoints), adversary.n_arms, LANES))
        nothing = np.empty((0, LANES), np.int64)
        self.source = Source(0, nothing, nothing, np.zeros(CHECKPOINT + 1, np.int64), self.totals_at)

    def fill(self, gains: IntArray) -> None:
        """Write the gains of the next rounds, shape `(rounds, n_arms, LANES)`."""
        numbers, own = gains.view(np.float64), np.empty(gains.shape[:2])
        for place in range(LANES):
            if place < len(self._games):
                self._games[place].fill(own)
            numbers[..., place] = own
        if not compiled(all_in_range)(numbers.reshape(-1)):
            raise GainRangeError(self._adversary)
        size = len(self._totals)
        rows, totals_at = numbers.reshape(len(gains), size), self.totals_at.reshape(-1, size)
        compiled(add_up)(rows, self._totals, self._round + 1, self._checkpoints, totals_at)
        self._round += len(gains)

    def check(self) -> None:
        """Do nothing: gains are checked as they are filled."""


@dataclasses.dataclass
class LaneTrials:
    """Plays trials side by side; the games are those of `CompiledTrials`."""

    adversary: Adversary
    plans: dict[str, Plan]
    seed: int = dataclasses.field(repr=False)
    checkpoints: IntArray
    at_once = LANES

    def compile(self, stopped: Stopped) -> None:
        """Compile everything, or load it from disk."""
        room = np.empty((1, self.adversary.n_arms, LANES), np.int64)
        # No game of an adversary that is not compiled begins here.
        source = self._source(range(0 if self._gains is None else 1))
        source.fill(room[:0])
        compiled(play_pieces)(0, room, self.checkpoints, source.source, self._lanes([], range(1)).seats)
        for loop in self._loops:
            if stopped():
                return
            _ = loop.address

    def run_all(self, trials: range, stopped: Stopped = never) -> list[dict[str, Column]]:
        """Play these trials, a block of them at a time."""
        blocks = (trials[start : start + LANES] for start in range(0, len(trials), LANES))
        return [columns for block in blocks for columns in self._run(block, stopped)]

    def _run(self, trials: range, stopped: Stopped) -> list[dict[str, Column]]:
        n_arms, horizon = self.adversary.n_arms, self.adversary.horizon
        numbers = NUMBERS_FILLED if self._gains is None else NUMBERS_AT_ONCE
        rows = min(horizon, max(1, numbers // (n_arms * LANES)))
        room = np.empty((rows, n_arms, LANES), np.int64)
        source, lanes = self._source(trials), self._lanes(self._loops, trials)
        at_once = rows * min(source.pieces, max(1, ROUNDS_AT_ONCE // (rows * LANES * len(self.plans))))
        for start in range(0, horizon, at_once):
            if stopped():
                raise StoppedEarlyError
            rounds = min(at_once, horizon - start)
            source.fill(room[:rounds])
            compiled(play_pieces)(rounds, room, self.checkpoints, source.source, lanes.seats)
            source.check()
            lanes.check()
        found = zip(lanes.seats.collected, lanes.seats.switches, lanes.seats.pulls, strict=True)
        columns = {
            name: _columns(source, *records, len(trials)) for name, records in zip(self.plans, found, strict=True)
        }
        return [{name: own[place] for name, own in columns.items()} for place in range(len(trials))]

    def _source(self, trials: range) -> "DrawnGains | FilledGains":
        if self._gains is not None:
            return DrawnGains(self._gains, self.seed, trials, self.checkpoints)
        return FilledGains(self.adversary, self.seed, trials, self.checkpoints)

    def _lanes(self, loops: list[LaneLoop], trials: range) -> Lanes:
        return Lanes(loops, self.seed, trials, self.checkpoints, self.adversary.n_arms)

    @functools.cached_property
    def _loops(self) -> list[LaneLoop]:
        return [LaneLoop(plan) for plan in self.plans.values()]

    @functools.cached_property
    def _gains(self) -> LaneGains | None:
        """The loop that draws gains; None if the adversary has no plain function of a round of this package."""
        drawn = self.adversary.by_rounds
        if not isinstance(drawn, RoundByRound):
            return None
        kind = type(drawn)
        ours = is_ours(kind.next_round) and is_ours(kind.first_round_state)
        return LaneGains(self.adversary, drawn) if ours else None

    def __getstate__(self) -> dict[str, object]:
        """Leave out what was made here, because machine code cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def _columns(
    source: "DrawnGains | FilledGains", collected: FloatArray, switches: IntArray, pulls: IntArray, games: int
) -> list[Column]:
    """Return an algorithm's results in each game; copies, because a view would keep those of all."""
    totals_at = np.moveaxis(source.totals_at, 1, -1)
    external, policy = external_regret(totals_at, collected), policy_regret(totals_at, collected)
    columns = []
    for place in range(games):
        own, means = pulls[..., place], source.means[place]
        columns.append(
            Column(
                external[:, place].copy(),
                policy[:, place].copy(),
                None if means is None else pseudo_regret(own, means),
                collected[:, place].copy(),
                switches[:, place].copy(),
                own[-1].copy(),
            )
        )
    return columns
