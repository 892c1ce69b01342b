"""Plays one trial: all algorithms of a simulation on the same gains."""

import copy
import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.payoff import python_function
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.compiled import Stopped, in_background, never, say_compiling
from dp_bandit_envs.compiling.functions import draws_elsewhere
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.envs.ledger_of_many import counted
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.graphs import FeedbackGraph, GraphSource
from dp_bandit_envs.metrics.regrets import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, GRAPH, stream
from dp_bandit_envs.simulation.chain import NotCompilableError, RefusedByNumbaError
from dp_bandit_envs.simulation.first_state import FirstState
from dp_bandit_envs.simulation.game import play
from dp_bandit_envs.simulation.payoffs import History, compiled_constant, new_history, read_only
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.seat import Seat
from dp_bandit_envs.simulation.tasks import Column, StoppedEarlyError, Terms
from dp_bandit_envs.simulation.totals import add_up, all_in_range, compiled

TOO_FEW_ROUNDS = (
    "it is faster to play so few rounds than to compile the loop; once compiled, it is used for few rounds, too"
)
ROUNDS_AT_ONCE = 2**14
NUMBERS_AT_ONCE = 2**18
"""The largest number of gains (rounds times arms) in a block."""


@dataclasses.dataclass
class CompiledTrials:
    """Plays one trial of all compiled algorithms on the same gains."""

    adversary: Adversary
    plans: dict[str, Plan]
    seed: int = dataclasses.field(repr=False)
    checkpoints: IntArray
    terms: Terms = dataclasses.field(default_factory=Terms)
    source: GraphSource | None = None
    decision_set: DecisionSet | None = None
    at_once = 1

    def compile(self, stopped: Stopped) -> None:
        """Compile everything, or load it from disk."""
        n_arms = self.adversary.n_arms
        gains, totals_at = np.empty((1, n_arms)), np.zeros((len(self.checkpoints), n_arms))
        compiled(all_in_range)(gains[:0].reshape(-1))
        compiled(add_up)(gains[:0], np.zeros(n_arms), 1, self.checkpoints, totals_at)
        self._add_up_constant(gains[:0], 1, self._constant_play())
        for seat in self._seats(0).values():
            if stopped():
                return
            seat.compile(gains, None if self.source is None else self.source.graph)

    def run_all(self, trials: range, stopped: Stopped = never) -> list[dict[str, Column]]:
        """Play these trials, one after the other."""
        return [self._run(trial, stopped) for trial in trials]

    def _run(self, trial: int, stopped: Stopped) -> dict[str, Column]:
        adversary, source = copy.copy(self.adversary), copy.copy(self.source)
        n_arms, horizon, number = adversary.n_arms, adversary.horizon, len(self.checkpoints)
        with self.terms.of_trial(), counted(adversary):
            adversary.begin(stream(self.seed, trial=trial, role=ADVERSARY))
        if source is not None:
            source.begin(stream(self.seed, trial=trial, role=GRAPH))
        block = np.empty((min(ROUNDS_AT_ONCE, max(1, NUMBERS_AT_ONCE // n_arms), horizon), n_arms))
        totals, totals_at = FirstState(np.zeros(n_arms)).copy(), np.zeros((number, n_arms))
        constant = self._constant_play()
        seats = self._seats(trial)
        for start in range(0, horizon, len(block)):
            if stopped():
                raise StoppedEarlyError
            gains = block[: horizon - start]
            adversary.fill(gains)
            self._check(gains)
            compiled(add_up)(gains, totals, start + 1, self.checkpoints, totals_at)
            self._add_up_constant(gains, start + 1, constant)
            pieces = list(_pieces(gains, source))
            for seat in seats.values():
                for piece, graph in pieces:
                    seat.play(piece, graph)
        means = adversary.means if constant is None and self.decision_set is None else None
        constant_at = totals_at if constant is None else constant.totals_at
        return {
            name: Column(
                self._regret(external_regret, totals_at if seat.totals_at is None else seat.totals_at, seat),
                self._regret(policy_regret, constant_at, seat),
                None if means is None else pseudo_regret(seat.record.pulls, means),
                seat.record.collected,
                seat.record.switches,
                # A copy, because a view of the last row would keep all rows in memory.
                seat.record.pulls[-1].copy(),
            )
            for name, seat in seats.items()
        }

    def _check(self, gains: FloatArray) -> None:
        """Raise if gains break the game's rules."""
        if self.decision_set is not None:
            if not self.decision_set.has_gains(gains):
                raise GainRangeError(self.adversary, f"gain vectors of the {self.decision_set.name}")
        elif not compiled(all_in_range)(gains.reshape(-1)):
            raise GainRangeError(self.adversary)

    def _regret(self, regret: Callable[..., FloatArray], totals_at: FloatArray, seat: Seat) -> FloatArray:
        """Return the regret at each checkpoint against the best fixed arm or point."""
        if self.decision_set is not None:
            totals_at = self.decision_set.support(totals_at)[:, np.newaxis]
        return regret(totals_at, seat.record.collected)

    def _constant_play(self) -> History | None:
        """Return the history that adds up constant plays; None without a payoff function, where they are the gains."""
        if self.adversary.payoff is None:
            return None
        return new_history(self.adversary.memory, self.checkpoints, self.adversary.n_arms)

    def _add_up_constant(self, gains: FloatArray, first: int, constant: History | None) -> None:
        if constant is not None:
            compiled_constant(python_function(self.adversary.payoff))(read_only(gains), first, constant)

    def _seats(self, trial: int) -> dict[str, Seat]:
        return {name: Seat(plan, self.seed, trial, self.checkpoints) for name, plan in self.plans.items()}


def check_compiles(
    plan: Plan, adversary: Adversary, source: GraphSource | None, small: Callable[[Plan, Adversary], bool]
) -> None:
    """Compile a plan that has functions of somebody else's, or raise `NotCompilableError`; nothing of it is run.

    Args:
        plan: The plan.
        adversary: The adversary.
        source: The source of graphs, if there is one.
        small: Whether it takes longer to compile a plan than to play it.
    """
    foreign = plan.block.foreign
    if foreign:
        elsewhere = draws_elsewhere(foreign, plan.owners)
        if elsewhere:
            raise RefusedByNumbaError(elsewhere)
        if not plan.block.ready:
            if small(plan, adversary):
                raise NotCompilableError(TOO_FEW_ROUNDS)
            say_compiling([type(plan.agent).__name__], kept=False)
        trials = CompiledTrials(adversary, {"": plan}, 0, np.ones(1, np.int64), Terms(), source, plan.decision_set)
        try:
            in_background(trials.compile)
        # Numba raises errors of many types here.
        except Exception as error:
            raise RefusedByNumbaError(in_short(error, foreign, plan.owners)) from None


@dataclasses.dataclass
class PlayedTrials:
    """Plays one trial of all other algorithms with `play`."""

    make_env: Callable[[], Environment]
    algorithms: dict[str, Algorithm]
    seed: int = dataclasses.field(repr=False)
    checkpoints: IntArray
    terms: Terms = dataclasses.field(default_factory=Terms)
    at_once = 1

    def compile(self, stopped: Stopped) -> None:
        """Do nothing."""

    def run_all(self, trials: range, stopped: Stopped = never) -> list[dict[str, Column]]:
        """Play these trials, one after the other."""
        return [self._run(trial, stopped) for trial in trials]

    def _run(self, trial: int, stopped: Stopped) -> dict[str, Column]:
        columns = {}
        at = self.checkpoints - 1
        for name, algorithm in self.algorithms.items():
            if stopped():
                raise StoppedEarlyError
            env = self.make_env()
            with self.terms.of_game():
                game = play(env, algorithm, seed=self.seed, trial=trial)
            if len(game.arms) < self.checkpoints[-1]:
                raise ValueError(
                    f"every game must last the horizon's {self.checkpoints[-1]} rounds; {name} ended after"
                    f" {len(game.arms)}. Use a shorter horizon instead of a TimeLimit."
                )
            columns[name] = Column(
                game.external_regret[at],
                game.policy_regret[at],
                None if game.pseudo_regret is None else game.pseudo_regret[at],
                game.collected[at],
                game.switches[at],
                np.bincount(game.arms, minlength=game.n_plays),
            )
        return columns


def _pieces(gains: FloatArray, source: GraphSource | None) -> Iterator[tuple[FloatArray, FeedbackGraph | None]]:
    """Cut a block of gains where the graph changes; yield each piece with its graph."""
    if source is None:
        yield gains, None
        return
    start = 0
    while start < len(gains):
        left = source.rounds_left
        rounds = len(gains) - start if left is None else min(left, len(gains) - start)
        yield gains[start : start + rounds], source.graph
        source.advance(rounds)
        start += rounds
