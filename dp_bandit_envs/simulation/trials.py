"""Plays one trial: all algorithms of a simulation on the same gains."""

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.payoff import python_function
from dp_bandit_envs.agents.own_functions import no_state
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.compiled import Stopped, in_background, never, say_compiling
from dp_bandit_envs.compiling.functions import draws_elsewhere, owner_of, stream_address
from dp_bandit_envs.compiling.layout import Image, empty_words
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.envs.ledger_of_many import counted
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.graphs import FeedbackGraph, GraphSource
from dp_bandit_envs.metrics.regrets import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, GRAPH, stream
from dp_bandit_envs.simulation.game import play
from dp_bandit_envs.simulation.loop import (
    ARM,
    FILLED,
    NO_ARM,
    Game,
    History,
    NotCompilableError,
    RefusedByNumbaError,
    adding_up,
    adding_up_constant,
    new_history,
)
from dp_bandit_envs.simulation.outcomes import Column, StoppedEarlyError, stacked
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.workers import Terms

TOO_FEW_ROUNDS = (
    "it is faster to play so few rounds than to compile the loop; once compiled, it is used for few rounds, too"
)
ROUNDS_AT_ONCE = 2**14
NUMBERS_AT_ONCE = 2**18
"""The largest number of gains (rounds times arms) in a block."""
STATE, WORLD = Game._fields.index("state"), Game._fields.index("world")


class SingleGame:
    """One algorithm in one trial: a `Game` in words, and the compiled loop that plays it."""

    def __init__(self, plan: Plan, image: Image, seed: int, trial: int) -> None:
        self._plan, self._image = plan, image
        # Machine code steps the words of these generators.
        self.streams = plan.streams(seed, trial)
        self._words = self._image.games(1, tuple(map(stream_address, self.streams)))
        self._arrays: dict[int, Any] = {}

    def play(self, gains: FloatArray, graph: FeedbackGraph | None = None) -> None:
        """Play one round for each row of `gains`, all with the same graph."""
        if graph is None:
            self._call(gains)
            return
        # An agent sees a new graph when it next chooses an arm, that is, after the current batch.
        filled = self.progress.counters[FILLED]
        busy = min(self._plan.rules.batch_size - filled, len(gains)) if filled > 0 else 0
        if busy > 0:
            self._show(graph)
            self._call(gains[:busy])
        if len(gains) > busy:
            self._show(graph, to_agent=True)
            self._call(gains[busy:])

    def _show(self, graph: FeedbackGraph, *, to_agent: bool = False) -> None:
        """Put a graph into the game's words, and let the agent see one of its own."""
        form, game = self._image.form, self._words[0]
        self._image.replace(game, (graph.starts, graph.revealed), form.inner[WORLD], self._arrays)
        if to_agent:
            state = self._plan.agent.with_graph(self.state, graph.copy())
            self._image.replace(game, state, form.inner[STATE], self._arrays)

    @property
    def state(self) -> Any:
        """The agent's state; its arrays are views."""
        return self._part(STATE)

    @property
    def states(self) -> Any:
        """The mechanisms' states."""
        return self._part(Game._fields.index("states"))

    @functools.cached_property
    def progress(self) -> Any:
        """The progress of the game."""
        return self._part(Game._fields.index("progress"))

    @property
    def record(self) -> Any:
        """The results at checkpoints."""
        return self._part(Game._fields.index("record"))

    @property
    def totals_at(self) -> FloatArray | None:
        """At each checkpoint, what each arm would have paid in total; None without a payoff function."""
        return None if self._plan.payoff is None else self.progress.history.totals_at

    def _part(self, place: int) -> Any:
        return self._image.read(self._words[0], self._image.form.inner[place], self._arrays)

    def _call(self, gains: FloatArray) -> None:
        try:
            self._plan.loop(self._words, gains)
        except Exception as error:
            better = _explained(error, self._plan, int(self.progress.counters[ARM]))
            if better is error:
                raise
            raise better from None


def _explained(error: Exception, plan: Plan, chosen: int) -> Exception:
    """Return the error to raise in place of one of the compiled loop: another, or the same with a note.

    Args:
        error: What the loop raised.
        plan: What it plays.
        chosen: The number that `select` returned last.
    """
    agent, foreign = type(plan.agent).__name__, plan.foreign
    if isinstance(error, IndexError) and str(error) == NO_ARM:
        return IndexError(
            f"{agent}.select must return an arm, an integer in [0, {plan.n_arms - 1}] in this game; received {chosen}."
            " initial_state(n_arms, horizon) says how many arms there are."
        )
    if isinstance(error, TypeError) and str(error).endswith(", got None"):
        return no_state(plan.agent)
    if foreign:
        places = [f"{one.__name__}{owner_of(one, plan.owners)} ({_place(one.__code__)})" for one in foreign]
        error.add_note(
            f"Compiled code cannot say where: it is in {' or '.join(places)}; play(env, agent) says the line."
        )
    return error


def _place(code: Any) -> str:
    return f"{PurePath(code.co_filename).name}, line {code.co_firstlineno}"


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

    @property
    def ready(self) -> bool:
        """Whether nothing has to be compiled or loaded."""
        return (
            self.adversary.payoff is None and adding_up().ready and all(plan.loop.ready for plan in self.plans.values())
        )

    def compile(self, stopped: Stopped) -> None:
        """Compile everything, or load it from disk."""
        n_arms = self.adversary.n_arms
        gains, totals_at = np.empty((0, n_arms)), np.zeros((len(self.checkpoints), n_arms))
        adding_up()(gains, np.zeros(n_arms), 1, self.checkpoints, totals_at)
        self._add_up_constant(gains, 1, self._constant_play())
        for plan in self.plans.values():
            if stopped():
                return
            plan.compile()

    def run_all(self, trials: range, stopped: Stopped = never) -> dict[str, Column]:
        """Play these trials, one after the other."""
        return stacked([self._run(trial, stopped) for trial in trials])

    def _run(self, trial: int, stopped: Stopped) -> dict[str, Column]:
        adversary, source = copy.copy(self.adversary), copy.copy(self.source)
        n_arms, horizon, number = adversary.n_arms, adversary.horizon, len(self.checkpoints)
        with self.terms.of_trial(), counted(adversary):
            adversary.begin(stream(self.seed, trial=trial, role=ADVERSARY))
        if source is not None:
            source.begin(stream(self.seed, trial=trial, role=GRAPH))
        block = np.empty((min(ROUNDS_AT_ONCE, max(1, NUMBERS_AT_ONCE // n_arms), horizon), n_arms))
        totals, totals_at = empty_words(n_arms).view(np.float64), np.zeros((number, n_arms))
        constant = self._constant_play()
        games = self._games(trial)
        for start in range(0, horizon, len(block)):
            if stopped():
                raise StoppedEarlyError
            gains = block[: horizon - start]
            adversary.fill(gains)
            valid = adding_up()(gains, totals, start + 1, self.checkpoints, totals_at)
            self._check(gains, valid)
            self._add_up_constant(gains, start + 1, constant)
            pieces = list(_pieces(gains, source))
            for game in games.values():
                for piece, graph in pieces:
                    game.play(piece, graph)
        means = adversary.means if constant is None and self.decision_set is None else None
        constant_at = totals_at if constant is None else constant.totals_at
        columns = {}
        for name, game in games.items():
            record, fixed = game.record, game.totals_at
            columns[name] = Column(
                self._regret(external_regret, totals_at if fixed is None else fixed, record.collected),
                self._regret(policy_regret, constant_at, record.collected),
                None if means is None else pseudo_regret(record.pulls, means),
                # Copies, because a view would keep all words in memory.
                record.collected.copy(),
                record.switches.copy(),
                record.pulls[-1].copy(),
            )
        return columns

    def _games(self, trial: int) -> dict[str, SingleGame]:
        return {name: SingleGame(plan, self._images[name], self.seed, trial) for name, plan in self.plans.items()}

    @functools.cached_property
    def _images(self) -> dict[str, Image]:
        return {name: plan.image(self.checkpoints) for name, plan in self.plans.items()}

    def __getstate__(self) -> dict[str, object]:
        """Leave out what was made here."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def _check(self, gains: FloatArray, valid: bool) -> None:
        """Raise if gains break the game's rules; `valid` if they are in [0, 1]."""
        if self.decision_set is not None:
            if not self.decision_set.has_gains(gains):
                raise GainRangeError(self.adversary, f"gain vectors of the {self.decision_set.name}")
        elif not valid:
            raise GainRangeError(self.adversary)

    def _regret(self, regret: Callable[..., FloatArray], totals_at: FloatArray, collected: FloatArray) -> FloatArray:
        """Return the regret at each checkpoint against the best fixed arm or point."""
        if self.decision_set is not None:
            totals_at = self.decision_set.support(totals_at)[:, np.newaxis]
        return regret(totals_at, collected)

    def _constant_play(self) -> History | None:
        """Return the history that adds up constant plays; None without a payoff function, where they are the gains."""
        if self.adversary.payoff is None:
            return None
        return new_history(self.adversary.memory, self.checkpoints, self.adversary.n_arms)

    def _add_up_constant(self, gains: FloatArray, first: int, constant: History | None) -> None:
        if constant is not None:
            adding_up_constant(python_function(self.adversary.payoff))(gains, first, constant)


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
    foreign = plan.foreign
    if foreign:
        elsewhere = draws_elsewhere(foreign, plan.owners)
        if elsewhere:
            raise RefusedByNumbaError(elsewhere)
        if not plan.loop.ready:
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
    ready = True

    def compile(self, stopped: Stopped) -> None:
        """Do nothing."""

    def run_all(self, trials: range, stopped: Stopped = never) -> dict[str, Column]:
        """Play these trials, one after the other."""
        return stacked([self._run(trial, stopped) for trial in trials])

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
