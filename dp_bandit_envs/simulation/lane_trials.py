"""Plays many trials side by side: all algorithms that lanes carry, on the same gains in each trial."""

import copy
import dataclasses
import functools

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.round_by_round import RoundByRound
from dp_bandit_envs.compiling.compiled import Stopped, never
from dp_bandit_envs.compiling.functions import is_ours
from dp_bandit_envs.compiling.layout import empty_words
from dp_bandit_envs.envs.ledger_of_many import counted
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.metrics.regrets import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation.lane_loops import LaneGains, LaneLoop
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.play_lanes import BATCH_SIZE, LANES
from dp_bandit_envs.simulation.play_pieces import Seats, play_pieces
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
    """All that is in a block of games: the adversary if its loop is compiled, and the algorithms.

    Args:
        gains: The loop that draws gains, if there is one.
        loops: The loops of the algorithms.
        seed, trials, checkpoints, n_arms: As in `LaneTrials`.
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
        self.seats = Seats(
            addresses=np.array([part.address for part in self._parts], np.int64),
            blocks=empty_words(size, max((part.words for part in self._parts), default=0), LANES),
            clocks=np.zeros((size, BATCH_SIZE + 1), np.int64),
            sums=np.zeros((*shape, n_arms, LANES)),
            counts=np.zeros((*shape, n_arms + 1, LANES), np.int64),
        )
        blocks = self.seats.blocks
        self.means = None if gains is None else gains.begin(blocks[0], seed, trials)
        self.algorithms = blocks[first:]
        for loop, block, clock in zip(loops, self.algorithms, self.seats.clocks[first:], strict=True):
            clock[...] = loop.begin(block, seed, trials)
        self.records = list(zip(self.seats.sums[first:, :, 0], self.seats.counts[first:], strict=True))
        """What each algorithm collected, `(checkpoints, LANES)`, and its counts."""

    def check(self) -> None:
        """Raise if a gain was outside of [0, 1], or a mechanism broke its word, in some game."""
        for part, block in zip(self._parts, self.seats.blocks, strict=True):
            part.check(block)


class FilledGains:
    """The gains of an adversary that is not compiled, which fills those of one game after the other."""

    def __init__(self, adversary: Adversary, seed: int, trials: range, checkpoints: IntArray) -> None:
        self._adversary, self._checkpoints, self._round = adversary, checkpoints, 0
        self._games = [copy.copy(adversary) for _ in trials]
        for game, trial in zip(self._games, trials, strict=True):
            with counted(game):
                game.begin(stream(seed, trial=trial, role=ADVERSARY))
        self.means = [game.means for game in self._games]
        self._totals = np.zeros(adversary.n_arms * LANES)
        self.totals_at = np.zeros((len(checkpoints), adversary.n_arms, LANES))

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
        if self._gains is None:
            # No game begins here.
            FilledGains(self.adversary, self.seed, range(0), self.checkpoints).fill(room[:0])
        compiled(play_pieces)(0, room, self.checkpoints, self._lanes(range(1), None, []).seats)
        for part in (self._gains, *self._loops):
            if stopped():
                return
            _ = part and part.address

    def run_all(self, trials: range, stopped: Stopped = never) -> list[dict[str, Column]]:
        """Play these trials, a block of them at a time."""
        blocks = (trials[start : start + LANES] for start in range(0, len(trials), LANES))
        return [columns for block in blocks for columns in self._run(block, stopped)]

    def _run(self, trials: range, stopped: Stopped) -> list[dict[str, Column]]:
        n_arms, horizon = self.adversary.n_arms, self.adversary.horizon
        lanes = self._lanes(trials, self._gains, self._loops)
        filled = FilledGains(self.adversary, self.seed, trials, self.checkpoints) if lanes.means is None else None
        rows = min(horizon, max(1, (NUMBERS_FILLED if filled else NUMBERS_AT_ONCE) // (n_arms * LANES)))
        room = np.empty((rows, n_arms, LANES), np.int64)
        pieces = 1 if filled else max(1, ROUNDS_AT_ONCE // (rows * LANES * len(self.plans)))
        for start in range(0, horizon, rows * pieces):
            if stopped():
                raise StoppedEarlyError
            rounds = min(rows * pieces, horizon - start)
            if filled:
                filled.fill(room[:rounds])
            compiled(play_pieces)(rounds, room, self.checkpoints, lanes.seats)
            lanes.check()
        totals_at, means = (filled.totals_at, filled.means) if filled else (lanes.seats.sums[0], lanes.means or [])
        columns = {
            name: _columns(totals_at, means, *records, len(trials))
            for name, records in zip(self.plans, lanes.records, strict=True)
        }
        return [{name: own[place] for name, own in columns.items()} for place in range(len(trials))]

    def _lanes(self, trials: range, gains: LaneGains | None, loops: list[LaneLoop]) -> Lanes:
        return Lanes(gains, loops, self.seed, trials, self.checkpoints, self.adversary.n_arms)

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
    totals_at: FloatArray, means: list[FloatArray | None], collected: FloatArray, counts: IntArray, games: int
) -> list[Column]:
    """Return an algorithm's results in each game; copies, because a view would keep those of all."""
    totals_at = np.moveaxis(totals_at, 1, -1)
    external, policy = external_regret(totals_at, collected), policy_regret(totals_at, collected)
    columns = []
    for place in range(games):
        pulls, own = counts[:, :-1, place], means[place]
        columns.append(
            Column(
                external[:, place].copy(),
                policy[:, place].copy(),
                None if own is None else pseudo_regret(pulls, own),
                collected[:, place].copy(),
                counts[:, -1, place].copy(),
                pulls[-1].copy(),
            )
        )
    return columns
