"""Plays one trial: all algorithms of a simulation on the same gains."""

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.payoff import python_function
from dp_bandit_envs.agents.functional import no_state
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.compiled import IsCancelled, not_cancelled, run_in_thread, say_compiling
from dp_bandit_envs.compiling.functions import owner_of, stream_address, uses_other_randomness
from dp_bandit_envs.compiling.layout import empty_words
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.envs.bandit_env import checked_beginning
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.graphs import FeedbackGraph, GraphSource
from dp_bandit_envs.privacy.admission import admission_to
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, GRAPH, stream
from dp_bandit_envs.simulation.compiled_game import Plan
from dp_bandit_envs.simulation.playing import play
from dp_bandit_envs.simulation.results import Column, StoppedEarlyError, column_of, stacked
from dp_bandit_envs.simulation.stages import (
    ARM,
    FILLED,
    NO_ARM,
    DynamicRegret,
    GameState,
    History,
    NotCompilableError,
    Progress,
    RefusedByNumbaError,
    compiled_add_up,
    compiled_add_up_constant,
    new_history,
)
from dp_bandit_envs.simulation.workers import Terms

TOO_FEW_ROUNDS = (
    "it is faster to play so few rounds than to compile the loop; once compiled, it is used for few rounds, too"
)
ROUNDS_AT_ONCE = 2**14
NUMBERS_AT_ONCE = 2**18
"""The largest number of gains (rounds times arms) in a block."""
STATE, WORLD, PROGRESS = (GameState._fields.index(part) for part in ("state", "world", "progress"))
MOST_AT_ONCE = 64
WORDS_AT_ONCE = 2**20
"""Of trials that are played at once: their number, and their words, 8 MB."""


class SingleGame:
    """One algorithm in one trial: a `GameState` in words, and the compiled loop that plays it.

    Args:
        plan: How it is played.
        streams: Its random streams, which it moves.
        words: Its words, shape `(1, words)`.
    """

    def __init__(self, plan: Plan, streams: tuple[np.random.Generator, ...], words: IntArray) -> None:
        self._plan, self._image, self._words = plan, plan.image, words
        self.streams = streams  # machine code steps the words of these generators
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

    def see_features(self, features: FloatArray) -> None:
        """Let the agent begin with the features of this game, whose arms are numbered anew."""
        agent: Any = copy.copy(self._plan.agent)
        if hasattr(agent, "see_features"):
            agent.see_features(features)
            state = agent.initial_state(self._plan.n_arms, self._plan.steps)
            self._image.replace(self._words[0], state, self._image.form.inner[STATE], self._arrays)

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
        return self._part(GameState._fields.index("states"))

    @functools.cached_property
    def progress(self) -> Any:
        """The progress of the game."""
        return self._part(PROGRESS)

    @property
    def record(self) -> Any:
        """The results at checkpoints."""
        return self._part(GameState._fields.index("record"))

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


def games_of(plan: Plan, seed: int, trials: Sequence[int]) -> tuple[IntArray, list[SingleGame]]:
    """Return one game for each trial before its first round, and the words of all of them, each in a row."""
    streams = [plan.streams(seed, trial) for trial in trials]
    block = plan.image.games([tuple(map(stream_address, of_game)) for of_game in streams])
    return block, [SingleGame(plan, own, block[place : place + 1]) for place, own in enumerate(streams)]


def _explained(error: Exception, plan: Plan, chosen: int) -> Exception:
    """Return the error to raise in place of one of the loop, or that with a note; `select` returned `chosen` last."""
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

    @property
    def at_once(self) -> int:
        """As many as take about as long as one of 2^16 rounds."""
        return max(1, min(MOST_AT_ONCE, 2**16 // self.adversary.horizon))

    @property
    def ready(self) -> bool:
        """Whether nothing has to be compiled or loaded."""
        return (
            self.adversary.payoff is None
            and compiled_add_up().ready
            and all(plan.loop.ready for plan in self.plans.values())
        )

    def compile(self, stopped: IsCancelled) -> None:
        """Compile everything, or load it from disk."""
        n_arms = self.adversary.n_arms
        gains, totals_at = np.empty((0, n_arms)), np.zeros((len(self.checkpoints), n_arms))
        compiled_add_up()(gains, np.zeros(n_arms), 1, self.checkpoints, totals_at)
        self._add_up_constant(gains, 1, self._constant_play())
        for plan in self.plans.values():
            if stopped():
                return
            plan.compile()

    def run_all(self, trials: range, stopped: IsCancelled = not_cancelled) -> dict[str, Column]:
        """Play these trials, one after the other."""
        words = sum(plan.image.words for plan in self.plans.values())
        size = max(1, min(MOST_AT_ONCE, WORDS_AT_ONCE // max(1, words)))
        groups = (trials[start : start + size] for start in range(0, len(trials), size))
        return stacked([self._run(group, stopped) for group in groups], np.concatenate)

    def _run(self, trials: range, stopped: IsCancelled) -> dict[str, Column]:
        blocks, games = {}, {}
        for name, plan in self.plans.items():
            blocks[name], games[name] = games_of(plan, self.seed, trials)
        totals_at = np.zeros((len(trials), len(self.checkpoints), self.adversary.n_arms))
        known: list[FloatArray | None] = []
        constant_at = totals_at if self.adversary.payoff is None else np.zeros_like(totals_at)
        for place, trial in enumerate(trials):
            adversary, constant = self._play(trial, [of[place] for of in games.values()], totals_at[place], stopped)
            known.append(adversary.means if constant is None and self.decision_set is None else None)
            if constant is not None:
                constant_at[place] = constant.totals_at
        moved = self._means_move and adversary.means is None and adversary.means_at(np.array([1])) is not None
        fixed = self._fixed(totals_at)
        always = fixed if constant_at is totals_at else self._fixed(constant_at)
        columns = {}
        for name, plan in self.plans.items():
            image, block = plan.image, blocks[name]
            record: Any = image.form.inner[GameState._fields.index("record")]
            _, collected, switches, pulls = (image.arrays(block, place) for place in record.inner)
            progress: Any = image.form.inner[PROGRESS]
            history = progress.inner[Progress._fields.index("history")]
            dynamic = None
            if plan.payoff is not None:
                fixed = self._fixed(image.arrays(block, history.inner[History._fields.index("totals_at")]))
            elif moved:
                dynamic = image.arrays(block, history.inner[DynamicRegret._fields.index("totals_at")])
            columns[name] = column_of(fixed, always, collected, switches, pulls, known, dynamic)
        return columns

    def _play(
        self, trial: int, games: list[SingleGame], totals_at: FloatArray, stopped: IsCancelled
    ) -> tuple[Adversary, History | None]:
        """Play all games of one trial; return the adversary, and what constant plays would have been paid."""
        adversary, source = copy.copy(self.adversary), copy.copy(self.source)
        n_arms, horizon = adversary.n_arms, adversary.horizon
        with self.terms.of_games(list(self.plans)), checked_beginning(adversary):
            admission = admission_to(adversary)
            adversary.begin(stream(self.seed, trial=trial, role=ADVERSARY))
        if admission is not None:
            admission.pay()
        if source is not None:
            source.begin(stream(self.seed, trial=trial, role=GRAPH), adversary.order)
        if adversary.features is not None and adversary.order is not None:
            for game in games:
                game.see_features(adversary.features)
        block = np.empty((min(ROUNDS_AT_ONCE, max(1, NUMBERS_AT_ONCE // n_arms), horizon), n_arms))
        totals = empty_words(n_arms).view(np.float64)
        constant = self._constant_play()
        for start in range(0, horizon, len(block)):
            if stopped():
                raise StoppedEarlyError
            gains = block[: horizon - start]
            adversary.fill(gains)
            valid = compiled_add_up()(gains, totals, start + 1, self.checkpoints, totals_at)
            self._check(gains, valid)
            self._add_up_constant(gains, start + 1, constant)
            if self._means_move:
                short = adversary.shortfalls_at(np.arange(start + 1, start + len(gains) + 1))
                gains = np.hstack([gains, np.zeros_like(gains) if short is None else short])
            pieces = list(_pieces(gains, source))
            for game in games:
                for piece, graph in pieces:
                    game.play(piece, graph)
        return adversary, constant

    @property
    def _means_move(self) -> bool:
        return any(plan.means_move for plan in self.plans.values())

    def _check(self, gains: FloatArray, valid: bool) -> None:
        """Raise if gains break the game's rules; `valid` if they are in [0, 1]."""
        if self.decision_set is not None:
            if not self.decision_set.has_gains(gains):
                raise GainRangeError(self.adversary, f"gain vectors of the {self.decision_set.name}")
        elif not valid:
            raise GainRangeError(self.adversary)

    def _fixed(self, totals_at: FloatArray) -> FloatArray:
        """Return what each fixed arm would have collected, or the best fixed point alone."""
        return totals_at if self.decision_set is None else self.decision_set.support(totals_at)[..., np.newaxis]

    def _constant_play(self) -> History | None:
        """Return the history that adds up constant plays; None without a payoff function, where they are the gains."""
        if self.adversary.payoff is None:
            return None
        return new_history(self.adversary.memory, self.checkpoints, self.adversary.n_arms)

    def _add_up_constant(self, gains: FloatArray, first: int, constant: History | None) -> None:
        if constant is not None:
            compiled_add_up_constant(python_function(self.adversary.payoff))(gains, first, constant)


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
        elsewhere = uses_other_randomness(foreign, plan.owners)
        if elsewhere:
            raise RefusedByNumbaError(elsewhere)
        if not plan.loop.ready:
            if small(plan, adversary):
                raise NotCompilableError(TOO_FEW_ROUNDS)
            say_compiling([type(plan.agent).__name__], kept=False)
        trials = CompiledTrials(adversary, {"": plan}, 0, np.ones(1, np.int64), Terms(), source, plan.decision_set)
        try:
            run_in_thread(trials.compile)
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

    def compile(self, stopped: IsCancelled) -> None:
        """Do nothing."""

    def run_all(self, trials: range, stopped: IsCancelled = not_cancelled) -> dict[str, Column]:
        """Play these trials, one after the other."""
        return stacked([self._run(trial, stopped) for trial in trials])

    def _run(self, trial: int, stopped: IsCancelled) -> dict[str, Column]:
        columns = {}
        at = self.checkpoints - 1
        for name, algorithm in self.algorithms.items():
            if stopped():
                raise StoppedEarlyError
            env = self.make_env()
            with self.terms.of_games([name]):
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
                None if game.pseudo_regret is not None or game.dynamic_regret is None else game.dynamic_regret[at],
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
