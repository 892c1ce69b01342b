"""Plays many trials side by side: all algorithms that lanes carry, on the same gains in each trial."""

import copy
import dataclasses
import functools

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.round_by_round import RoundByRound
from dp_bandit_envs.compiling.background import Stopped, never
from dp_bandit_envs.compiling.fingerprint import is_ours
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.metrics.regrets import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.protocols import IntArray
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation.lane_loops import LaneGains, LaneLoop
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.play_lanes import LANES
from dp_bandit_envs.simulation.tasks import Column, StoppedEarlyError
from dp_bandit_envs.simulation.totals import add_up, all_in_range, compiled

NUMBERS_AT_ONCE = 2**18
"""Gains in a block, two megabytes: with fewer, threads wait for the interpreter between the calls of machine code."""
LEAST_TRIALS = 3
"""A block of fewer games takes longer than one game after the other."""


class Lane:
    """One algorithm in the games of a block: their state and their records."""

    def __init__(self, loop: LaneLoop, seed: int, trials: range, checkpoints: IntArray, n_arms: int) -> None:
        self._loop, self._checkpoints = loop, checkpoints
        self._block, self._row, self._clock = loop.games(seed, trials)
        shape = len(checkpoints), LANES
        self.collected, self.switches = np.zeros(shape), np.zeros(shape, np.int64)
        self.pulls = np.zeros((len(checkpoints), n_arms, LANES), np.int64)

    def play(self, gains: IntArray) -> None:
        """Play one round for each row of `gains`, shape `(rounds, n_arms, LANES)`."""
        records = self._checkpoints, self.collected, self.switches, self.pulls
        self._loop.compiled(self._block, self._row, gains, self._clock, *records)
        self._loop.check(self._block)


class DrawnGains:
    """The gains of an adversary with a plain function of a round, and the totals of all arms at checkpoints."""

    def __init__(self, loop: LaneGains, seed: int, trials: range, checkpoints: IntArray) -> None:
        self._loop, self._checkpoints = loop, checkpoints
        self._block, self._row, self._clock, self.means = loop.games(seed, trials)
        self.totals_at = np.zeros((len(checkpoints), *self._row.shape))

    def draw(self, gains: IntArray) -> None:
        """Write the gains of the next rounds, shape `(rounds, n_arms, LANES)`."""
        self._loop.compiled(self._block, self._row, gains, self._clock, self._checkpoints, self.totals_at)
        self._loop.check(self._block)


class FilledGains:
    """The same for any other adversary, which fills the gains of one game after the other."""

    def __init__(self, adversary: Adversary, seed: int, trials: range, checkpoints: IntArray) -> None:
        self._adversary, self._checkpoints, self._round = adversary, checkpoints, 0
        self._games = [copy.copy(adversary) for _ in trials]
        for game, trial in zip(self._games, trials, strict=True):
            game.begin(stream(seed, trial=trial, role=ADVERSARY))
        self.means = [game.means for game in self._games]
        self._totals = np.zeros(adversary.n_arms * LANES)
        self.totals_at = np.zeros((len(checkpoints), adversary.n_arms, LANES))

    def draw(self, gains: IntArray) -> None:
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
        gains = np.empty((0, self.adversary.n_arms, LANES), np.int64)
        # No game of an adversary that is not compiled begins here.
        self._source(range(0 if self._gains is None else 1)).draw(gains)
        for lane in self._lanes(range(1)).values():
            if stopped():
                return
            lane.play(gains)

    def run_all(self, trials: range, stopped: Stopped = never) -> list[dict[str, Column]]:
        """Play these trials, a block of them at a time."""
        blocks = (trials[start : start + LANES] for start in range(0, len(trials), LANES))
        return [columns for block in blocks for columns in self._run(block, stopped)]

    def _run(self, trials: range, stopped: Stopped) -> list[dict[str, Column]]:
        n_arms, horizon = self.adversary.n_arms, self.adversary.horizon
        rows = min(horizon, max(1, NUMBERS_AT_ONCE // (n_arms * LANES)))
        room, source, lanes = np.empty((rows, n_arms, LANES), np.int64), self._source(trials), self._lanes(trials)
        for start in range(0, horizon, rows):
            if stopped():
                raise StoppedEarlyError
            gains = room[: horizon - start]
            source.draw(gains)
            for lane in lanes.values():
                lane.play(gains)
        columns = {name: _columns(lane, source, len(trials)) for name, lane in lanes.items()}
        return [{name: own[place] for name, own in columns.items()} for place in range(len(trials))]

    def _source(self, trials: range) -> "DrawnGains | FilledGains":
        if self._gains is not None:
            return DrawnGains(self._gains, self.seed, trials, self.checkpoints)
        return FilledGains(self.adversary, self.seed, trials, self.checkpoints)

    def _lanes(self, trials: range) -> dict[str, Lane]:
        size = self.adversary.n_arms
        return {name: Lane(loop, self.seed, trials, self.checkpoints, size) for name, loop in self._loops.items()}

    @functools.cached_property
    def _loops(self) -> dict[str, LaneLoop]:
        return {name: LaneLoop(plan) for name, plan in self.plans.items()}

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


def _columns(lane: Lane, source: "DrawnGains | FilledGains", games: int) -> list[Column]:
    """Return the results of each game; copies, because a view would keep those of all."""
    totals_at = np.moveaxis(source.totals_at, 1, -1)
    external, policy = external_regret(totals_at, lane.collected), policy_regret(totals_at, lane.collected)
    columns = []
    for place in range(games):
        pulls, means = lane.pulls[..., place], source.means[place]
        columns.append(
            Column(
                external[:, place].copy(),
                policy[:, place].copy(),
                None if means is None else pseudo_regret(pulls, means),
                lane.collected[:, place].copy(),
                lane.switches[:, place].copy(),
                pulls[-1].copy(),
            )
        )
    return columns
