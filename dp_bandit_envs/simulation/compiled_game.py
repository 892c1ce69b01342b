"""Turns an algorithm and its wrappers into arguments of the compiled loop, or raises why it cannot be compiled."""

import copy
import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from pathlib import PurePath
from types import FunctionType
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import FunctionalPointAgent, no_state
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.compiled import CompiledFunction, why_not_compiled
from dp_bandit_envs.compiling.functions import (
    bind,
    called_functions,
    calls_only_builtin,
    frozen,
    is_builtin,
    owner_of,
    stream_address,
    uses_other_randomness,
)
from dp_bandit_envs.compiling.layout import Image, Parts
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.privacy.facts import InputFacts, ValueRange
from dp_bandit_envs.privacy.mechanism import Mechanism, noise_key
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray, Sums
from dp_bandit_envs.seeding import AGENT, FIRST_WRAPPER, stream
from dp_bandit_envs.simulation.playing import show
from dp_bandit_envs.simulation.stages import (
    ARM,
    FILLED,
    NO_ARM,
    GameState,
    GraphRows,
    NotCompilableError,
    NoWorld,
    Points,
    Progress,
    RefusedByNumbaError,
    Rules,
    compilable_payoff,
    new_checkpoints,
    new_dynamic_regret,
    new_history,
    new_progress,
    note_first_stop,
    note_recommended_arm,
    pay_and_add_dynamic_regret,
    pay_by_payoff,
    play_games,
    reveal_payoffs,
    stages,
    tidy_every_32_steps,
)
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.wrappers.layers import layers_of

KINDS = {"graph": GraphEnv, "all": ExpertsEnv, "vector": PointEnv, "arm": BanditEnv}
"""The kinds of games by feedback; every game is of the last kind."""
HOOKS = ("_begin", "_reveal", "_take", "_payoff")
PLAIN: dict[Any, tuple[str, ...]] = {
    FunctionalPointAgent: ("begin", "select_point", "update", "see_set"),
    FunctionalAgent: ("begin", "select_arm", "update", "see_graph"),
}
"""The methods of agents that the compiled loop replaces, by the class that defines them."""
DRIVER = [name for name, part in vars(PrivacyBoundary).items() if callable(part) and name != "__init__"]
"""Methods of a boundary; a subclass that overrides one of them is played, not compiled."""


STATE, WORLD, PROGRESS = map(GameState._fields.index, ("state", "world", "progress"))


@dataclasses.dataclass(frozen=True)
class CompiledGame:
    """Arguments of the compiled loop for an algorithm.

    Attributes:
        agent: Makes the first state of each game.
        player: The algorithm and its parameters, which determine the random streams.
        n_arms: Number of arms, or of a point's coordinates.
        n_values: Number of values that a round can reveal.
        steps: The horizon as the agent sees it.
        rules: The constants of a game.
        mechanisms: The wrappers' mechanisms, from the innermost, each with the description of its input.
        feedback: The feedback of a round, a key of `stages.FEEDBACK`.
        payoff: The adversary's payoff function, if any.
        decision_set: The set whose points are played, if actions are points.
        means_move: Whether each row of gains is followed by the arms' gaps, for the dynamic regret.
        checkpoints: Rounds whose results a single game records, ascending; the last is the horizon. All 0 to record
            none.
    """

    agent: FunctionalAgent
    player: str
    n_arms: int
    n_values: int
    steps: int
    rules: Rules
    mechanisms: tuple[tuple[Mechanism, InputFacts], ...]
    feedback: str
    payoff: Callable[..., Any] | None = None
    decision_set: DecisionSet | None = None
    means_move: bool = False
    checkpoints: IntArray = dataclasses.field(default_factory=lambda: np.zeros(1, np.int64))

    @functools.cached_property
    def first_states(self) -> tuple[Any, tuple[Any, ...], Progress]:
        """The first states of the agent and of the mechanisms, and the progress before round 1; read-only."""
        # Of copies, so that no question asked later sees what a mechanism kept.
        states = tuple(copy.deepcopy(mechanism).new_state(inputs) for mechanism, inputs in self.mechanisms)
        progress = new_progress(self.n_arms if self.decision_set is None else 1, self.n_values)
        return self.agent.initial_state(self.n_arms, self.steps), states, progress

    @functools.cached_property
    def image(self) -> Image:
        """The initial `GameState` of a single game, in words."""
        state, states, progress = self.first_states
        world: Any = NoWorld()
        if self.decision_set is not None:
            world = Points(np.zeros(self.n_arms), *map(float, self.decision_set.payoffs))
        elif self.feedback == "graph":
            world = GraphRows(np.zeros(0, np.int64), np.zeros(0, np.int64))
        if self.payoff is not None:
            progress = progress._replace(history=new_history(self.rules.memory, self.checkpoints, self.n_arms))
        elif self.means_move:
            progress = progress._replace(history=new_dynamic_regret(self.checkpoints))
        record = new_checkpoints(self.checkpoints, len(progress.pulls), stops=self.stops)
        streams: Any = tuple(np.random.Generator for _ in range(1 + len(states)))
        game = GameState(state, states, world, self.rules, streams, progress, record)
        return Image(game, spare=bool(self.user_functions))

    @property
    def stops(self) -> bool:
        """Whether the agent looks for the best arm and stops."""
        return self.agent.functions.recommend is not None and self.agent.functions.is_done is not None

    def streams(self, seed: int, trial: int) -> tuple[np.random.Generator, ...]:
        """Return the random streams of one game: the agent's and the mechanisms'."""
        of_agent = stream(seed, trial=trial, role=AGENT, player=self.player)
        return (
            of_agent,
            *(
                stream(seed, trial=trial, role=FIRST_WRAPPER + depth, player=self.player, noise_key=label)
                for depth, label in enumerate(self._noise_keys)
            ),
        )

    @functools.cached_property
    def _noise_keys(self) -> tuple[str, ...]:
        return tuple(itertools.starmap(noise_key, self.mechanisms))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out cached machine code, which cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @functools.cached_property
    def loop(self) -> CompiledFunction:
        """`play_games` for this algorithm; takes the words of games and the gains."""
        return _loop(self.image.form, tuple(self.parts.items()))

    def compile(self) -> None:
        """Compile the loop, or load it from disk."""
        self.loop(np.empty((0, self.image.words), np.int64), np.empty((0, self.n_arms)))

    @functools.cached_property
    def user_functions(self) -> list[Callable[..., Any]]:
        """The users' functions in the loop."""
        parts = [part for part in self.parts.values() if not calls_only_builtin(part)]
        functions = {one for part in parts for one in called_functions(part) if not is_builtin(one)}
        return sorted(functions, key=lambda one: (one.__name__, one.__qualname__))

    @property
    def owners(self) -> dict[Any, str]:
        """The classes that functions in the loop belong to, in words: " of MyAgent"."""
        named = {function: f" of {type(self.agent).__name__}" for function in self.agent.functions if function}
        for mechanism, _ in self.mechanisms:
            parts = (mechanism.release, mechanism.idle, mechanism.forget)
            named |= {function: f" of {type(mechanism).__name__}" for function in parts if function}
        return named

    @property
    def parts(self) -> dict[str, Callable[..., Any]]:
        """The functions that replace placeholders of `play_block`, by name."""
        return self.make_parts(raising=True)

    def make_parts(self, *, raising: bool) -> dict[str, Callable[..., Any]]:
        """Return `parts`; unless they raise, broken rules are counted in the last of the mechanisms' states."""
        parts = stages(self.mechanisms, feedback=self.feedback, values=self._values, raising=raising)
        if self.payoff is not None:
            parts["pay"] = bind(pay_by_payoff, {"payoff": self.payoff})
            if self.feedback != "arm" and self.rules.observe_charge:
                parts["reveal"] = bind(reveal_payoffs, {"reveal": parts["reveal"]})
        elif self.means_move:
            parts["pay"] = pay_and_add_dynamic_regret
        playing: dict[str, Callable[..., Any]] = {"select": self.agent.functions.select}
        if self.decision_set is not None:
            playing["contains"] = self.decision_set.contains
        parts["choose"] = bind(parts["choose"], playing)
        parts["update"], tidy = self.agent.functions.update, self.agent.functions.tidy
        played_only = self.feedback == "arm" and all(mechanism.idle is None for mechanism, _ in self.mechanisms)
        # If a step releases something of the arm played only.
        if played_only and self.agent.functions.update_own is not None:
            parts["update"] = self.agent.functions.update_own
        if self.stops:
            functions = self.agent.functions
            parts["note_stop"] = bind(note_first_stop, {"is_done": functions.is_done, "recommend": functions.recommend})
            parts["note_recommendation"] = bind(note_recommended_arm, {"recommend": functions.recommend})
        if tidy is not None:
            parts["tidy_state"] = bind(tidy_every_32_steps, {"tidy": tidy})
        return {name: frozen(part) for name, part in parts.items()}

    @property
    def _values(self) -> ValueRange:
        return self.mechanisms[0][1].values if self.mechanisms else ValueRange()


class SingleGame:
    """One algorithm in one trial: a `GameState` in words, and the compiled loop that plays it.

    Args:
        game: The arguments of the loop.
        streams: Its random streams, which it advances.
        words: Its words, shape `(1, words)`.
    """

    def __init__(self, game: CompiledGame, streams: tuple[np.random.Generator, ...], words: IntArray) -> None:
        self._game, self._image, self._words = game, game.image, words
        self.streams = streams  # machine code steps the words of these generators
        self._arrays: dict[int, Any] = {}

    def play(self, gains: FloatArray, graph: FeedbackGraph | None = None) -> None:
        """Play one round for each row of `gains`, all with the same graph."""
        if graph is None:
            self._call(gains)
            return
        # An agent sees a new graph when it next chooses an arm, that is, after the current batch.
        filled = self.progress.counters[FILLED]
        busy = min(self._game.rules.batch_size - filled, len(gains)) if filled > 0 else 0
        if busy > 0:
            self._show(graph)
            self._call(gains[:busy])
        if len(gains) > busy:
            self._show(graph, to_agent=True)
            self._call(gains[busy:])

    def see_features(self, features: FloatArray) -> None:
        """Let the agent begin with the features of this game, in its order of arms."""
        agent: Any = copy.copy(self._game.agent)
        if hasattr(agent, "see_features"):
            agent.see_features(features)
            state = agent.initial_state(self._game.n_arms, self._game.steps)
            self._image.replace(self._words[0], state, self._image.form.inner[STATE], self._arrays)

    def _show(self, graph: FeedbackGraph, *, to_agent: bool = False) -> None:
        """Put a graph into the game's words, and pass a copy to the agent."""
        form, words = self._image.form, self._words[0]
        self._image.replace(words, (graph.starts, graph.revealed), form.inner[WORLD], self._arrays)
        if to_agent:
            state = self._game.agent.with_graph(self.state, graph.copy())
            self._image.replace(words, state, form.inner[STATE], self._arrays)

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

    def _part(self, index: int) -> Any:
        return self._image.read(self._words[0], self._image.form.inner[index], self._arrays)

    def _call(self, gains: FloatArray) -> None:
        try:
            self._game.loop(self._words, gains)
        except Exception as error:
            better = _explain_error(error, self._game, int(self.progress.counters[ARM]))
            if better is error:
                raise
            raise better from None


def begin_games(game: CompiledGame, seed: int, trials: Sequence[int]) -> tuple[IntArray, list[SingleGame]]:
    """Return one game for each trial before its first round, and the words of all games, one row each."""
    streams = [game.streams(seed, trial) for trial in trials]
    block = game.image.games([tuple(map(stream_address, of_game)) for of_game in streams])
    return block, [SingleGame(game, of_game, block[row : row + 1]) for row, of_game in enumerate(streams)]


def _explain_error(error: Exception, game: CompiledGame, chosen: int) -> Exception:
    """Return the loop's error with a note, or a clearer error; `select` returned `chosen` last."""
    agent, user_functions = type(game.agent).__name__, game.user_functions
    if isinstance(error, IndexError) and str(error) == NO_ARM:
        return IndexError(
            f"{agent}.select must return an arm, an integer in [0, {game.n_arms - 1}] in this game; received {chosen}."
            " initial_state(n_arms, horizon) says how many arms there are."
        )
    if isinstance(error, TypeError) and str(error).endswith(", got None"):
        return no_state(game.agent)
    if user_functions:
        places = [f"{one.__name__}{owner_of(one, game.owners)} ({_place(one.__code__)})" for one in user_functions]
        error.add_note(
            f"Compiled code cannot say where: it is in {' or '.join(places)}; play(env, agent) says the line."
        )
    return error


def _place(code: Any) -> str:
    return f"{PurePath(code.co_filename).name}, line {code.co_firstlineno}"


def make_compiled_game(
    algorithm: Algorithm,
    env: Environment,
    wrapped: Environment | None = None,
    checkpoints: Sequence[int] | IntArray = (0,),
    *,
    repeatable: bool = False,
) -> CompiledGame:
    """Return the arguments of the compiled loop for an algorithm, or raise `NotCompilableError`.

    Args:
        algorithm: The algorithm.
        env: The environment, without the algorithm's wrappers.
        wrapped: The environment in the algorithm's wrappers, if it exists already.
        checkpoints: Rounds whose results a single game records, ascending; the last is the horizon. All 0 to record
            none.
        repeatable: Whether to refuse functions that draw from other sources than their `rng`.
    """
    game = env.unwrapped
    why = why_not_compiled()
    if why:
        raise NotCompilableError(why)
    if type(game).step is not BanditEnv.step or type(game).reset is not BanditEnv.reset:
        raise NotCompilableError(f"{type(game).__name__} has a step or reset of its own")
    feedback, kind_of_game = next(pair for pair in KINDS.items() if isinstance(game, pair[1]))
    if any(getattr(type(game), hook) is not getattr(kind_of_game, hook) for hook in HOOKS):
        raise NotCompilableError(f"{type(game).__name__} has feedback of its own")
    decision_set = game.decision_set if isinstance(game, PointEnv) else None
    if isinstance(game, PointEnv):
        feedback = "vector" if game.feedback == "full" else "payoff"
        if not isinstance(game.decision_set.contains, FunctionType):
            raise NotCompilableError(f"contains of {type(decision_set).__name__} is not a plain function")
    agent = algorithm.agent(env)
    kind = type(agent)
    base: Any = FunctionalAgent if decision_set is None else FunctionalPointAgent
    if not isinstance(agent, base):
        raise NotCompilableError(f"{kind.__name__} is not made of compilable functions")
    if any(getattr(kind, method) is not getattr(base, method) for method in PLAIN[base]):
        raise NotCompilableError(f"{kind.__name__} has a begin or update of its own, or chooses its own way")
    assert isinstance(game, BanditEnv)
    payoff = compilable_payoff(game.adversary)
    if isinstance(payoff, str):
        raise NotCompilableError(payoff)
    wrapped = algorithm.wrap(env) if wrapped is None else wrapped
    mechanisms = _mechanisms(wrapped)
    # Called here to raise now rather than in the first trial.
    stages(mechanisms, feedback=feedback, values=game.values)
    sums = any(mechanism.releases_sums for mechanism, _ in mechanisms)
    if sums != (agent.learns_from is Sums):
        raise NotCompilableError(f"{kind.__name__} learns from {' and '.join(agent.learns_from._fields)}")
    show(agent, wrapped)
    batches = [mechanism.batch_size for mechanism, _ in mechanisms]
    compiled_game = CompiledGame(
        agent=agent,
        player=algorithm.player,
        n_arms=game.adversary.n_arms,
        n_values=game.n_values,
        steps=wrapped.get_wrapper_attr("horizon"),
        rules=Rules(game.adversary.memory, game.observe_charge, max(batches, default=1)),
        mechanisms=mechanisms,
        feedback=feedback,
        payoff=payoff,
        decision_set=decision_set,
        means_move=game.adversary.means_move and decision_set is None,
        checkpoints=np.asarray(checkpoints, np.int64),
    )
    try:
        _ = compiled_game.image
    except TypeError as error:
        raise RefusedByNumbaError(in_short(error, compiled_game.user_functions, compiled_game.owners)) from None
    elsewhere = uses_other_randomness(compiled_game.user_functions, compiled_game.owners) if repeatable else None
    if elsewhere:
        raise RefusedByNumbaError(elsewhere)
    return compiled_game


@functools.lru_cache(maxsize=256)
def _loop(form: Parts, parts: tuple[tuple[str, Callable[..., Any]], ...]) -> CompiledFunction:
    from dp_bandit_envs.compiling.layout_code import reader, writer

    kept = Parts(None, tuple(form.inner[GameState._fields.index(part)] for part in ("state", "streams")))
    words: dict[str, Any] = {"game_at": reader(form), "store": writer(kept)}
    return CompiledFunction(bind(play_games, {**words, **dict(parts)}), {})


def _mechanisms(env: Environment) -> tuple[tuple[Mechanism, InputFacts], ...]:
    """Return the mechanisms of the privacy wrappers, from the innermost."""
    mechanisms = []
    for layer in reversed([layer for layer in layers_of(env) if isinstance(layer, gym.Wrapper)]):
        if type(layer) in (PassiveEnvChecker, OrderEnforcing):
            continue
        name = type(layer).__name__
        if not isinstance(layer, PrivacyBoundary):
            raise NotCompilableError(f"a {name} is not part of the compiled loop")
        if any(getattr(type(layer), part) is not getattr(PrivacyBoundary, part) for part in DRIVER):
            raise NotCompilableError(f"{name} is a boundary that does something of its own")
        mechanisms.append((layer.mechanism, layer.inputs))
    return tuple(mechanisms)
