"""Transcripts of many games on one table of gains: the arms played, or the releases for given arms.

An audit needs 10^6 games of a few rounds, and one call of the compiled loop plays many of them (`stages.play_games`).
Games of one chunk continue the same random streams, the streams of the trial with the chunk's number. They are
independent, as no random number is used twice, but only the first of them is a game that `play` and `simulate` would
play.
"""

import dataclasses
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import FunctionalPointAgent, Functions
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.compiled import run_in_thread
from dp_bandit_envs.compiling.functions import bind, stream_address
from dp_bandit_envs.compiling.layout import empty_words
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.protocols import FloatArray, Gains, IntArray, Sums, plays_points
from dp_bandit_envs.simulation.compiled_game import CompiledGame, make_compiled_game
from dp_bandit_envs.simulation.playing import play
from dp_bandit_envs.simulation.stages import GameState, NotCompilableError
from dp_bandit_envs.wrappers.layers import layers_of

CHUNK = 2**13
"""Games that go on with the same random streams; a number of its own, so that threads change no result."""
WORDS_AT_ONCE = 2**17
"""The words of the games that one call plays: a megabyte, which stays in a core's own cache."""


class Transcripts(NamedTuple):
    """Transcripts of many games.

    Attributes:
        arms: The arm of each step, `(games, steps)`.
        values: The releases after each step, `(games, releases, n_values)`; `(games, 0, 0)` if they are not kept.
        counts: Flags of released gains, or the numbers of gains in sums; same shape as `values`.
    """

    arms: NDArray[np.int16]
    values: FloatArray
    counts: IntArray


class Transcript(NamedTuple):
    """Transcript of one game; arrays, so that compiled code can write to them.

    Attributes:
        step: Number of arms chosen, `(1,)`.
        arms: The arm of each step, `(steps,)`; one more step than releases if the last batch of rounds is not full. Or
            the point of all steps, `(dimension,)`.
        values: The released gains or sums after each step, `(releases, n_values)`.
        counts: Flags of released gains, or the numbers of gains in sums, `(releases, n_values)`.
    """

    step: IntArray
    arms: Any
    values: FloatArray
    counts: IntArray


class RecordedState(NamedTuple):
    """An agent's state and the transcript."""

    agent: Any
    transcript: Transcript


def agent_select(state: Any, rng: np.random.Generator) -> int:
    """Placeholder for the agent's own function, as are the next two."""
    raise NotImplementedError


agent_update: Any = agent_select
agent_tidy: Any = agent_select


def select_and_record(state: RecordedState, rng: np.random.Generator) -> int:
    """Let the agent choose an arm, and record it."""
    arm = agent_select(state.agent, rng)
    transcript = state.transcript
    transcript.arms[transcript.step[0]] = arm
    transcript.step[0] += 1
    return arm


def update_agent(state: RecordedState, arm: int, seen: Gains | Sums) -> RecordedState:
    """Let the agent learn."""
    return RecordedState(agent_update(state.agent, arm, seen), state.transcript)


def tidy_agent(state: RecordedState) -> RecordedState:
    """Let the agent tidy up."""
    return RecordedState(agent_tidy(state.agent), state.transcript)


def select_fixed_arm(state: Transcript, rng: np.random.Generator) -> int:
    """Return the arm that is to be played in this step."""
    state.step[0] += 1
    return int(state.arms[state.step[0] - 1])


def select_fixed_point(state: Transcript, point: FloatArray, rng: np.random.Generator) -> None:
    """Play the point."""
    state.step[0] += 1
    for i in range(len(point)):
        point[i] = state.arms[i]


def record_release(state: Transcript, arm: int, seen: Gains | Sums) -> Transcript:
    """Record the release: gains and their flags, or sums and their numbers of gains."""
    step = state.step[0] - 1
    for i in range(len(seen[0])):
        state.values[step, i] = seen[0][i]
        state.counts[step, i] = seen[1][i]
    return state


class RecordingAgent(FunctionalAgent):
    """Wraps an agent and records its arms for this many steps."""

    def __init__(self, agent: FunctionalAgent, steps: int) -> None:
        self._agent, self._steps = agent, steps
        select, update, tidy, *_ = agent.functions
        self.functions = Functions(
            bind(select_and_record, {"agent_select": select}),
            bind(update_agent, {"agent_update": update}),
            None if tidy is None else bind(tidy_agent, {"agent_tidy": tidy}),
        )

    def initial_state(self, n_arms: int, horizon: int) -> RecordedState:
        """Return the agent's own state and an empty transcript."""
        state = self._agent.initial_state(n_arms, horizon)
        return RecordedState(state, _empty_transcript(np.zeros(self._steps, np.int64), 0, 0))


class FixedArms(FunctionalAgent):
    """Plays given arms and records the releases.

    Args:
        plays: The arm of each step, `(steps,)`.
        n_values: Number of values that a round can reveal.
        sums: Whether the releases are sums instead of gains.
    """

    functions = Functions(select_fixed_arm, record_release)

    def __init__(self, plays: Any, n_values: int, *, sums: bool = False) -> None:
        self._plays, self._n_values = np.array(plays), n_values
        self.learns_from = Sums if sums else Gains  # type: ignore[misc]

    def initial_state(self, n_arms: int, horizon: int) -> Transcript:
        """Return a transcript that contains the plays."""
        return _empty_transcript(self._plays, horizon, self._n_values)


class FixedPoint(FunctionalPointAgent):
    """Plays one point, `(dimension,)`, in all steps and records the releases; also with bandit feedback."""

    functions = Functions(select_fixed_point, record_release)  # type: ignore[arg-type]
    initial_state = FixedArms.initial_state

    def __init__(self, plays: Any, n_values: int, *, sums: bool = False, payoffs: bool = False) -> None:
        FixedArms.__init__(self, plays, n_values, sums=sums)  # type: ignore[arg-type]
        self.feedback = "payoff" if payoffs else "full"  # type: ignore[misc]


def _empty_transcript(arms: Any, releases: int, n_values: int) -> Transcript:
    size = (releases, n_values)
    return Transcript(np.zeros(1, np.int64), arms, np.zeros(size), np.zeros(size, np.int64))


class TranscriptSampler:
    """Plays games of one size on any table of gains, and keeps their transcripts.

    Games that cannot be compiled are played in ordinary Python, with a note.

    Args:
        env: A game of that size with a deterministic adversary, such as a `GainTable`; without wrappers, payoff
            function or points.
        algorithm: The algorithm.
        fixed_arms: The arm of each step, `(steps,)`: one per round, or per batch of rounds. The agent is then not used,
            and the releases are kept. By default the agent plays, and its arms are kept.

    Attributes:
        note: Why the games are played in ordinary Python; "" if they are compiled.

    Raises:
        WrongGameError: If the game has points or a payoff function.
    """

    def __init__(self, env: BanditEnv, algorithm: Algorithm, *, fixed_arms: Sequence[int] | None = None) -> None:
        if plays_points(env) or env.adversary.payoff is not None:
            raise WrongGameError("games whose arms are kept have arms and no payoff function.")
        self.note = ""
        self._algorithm, self._fixed_arms = algorithm, fixed_arms
        self._batch = _batch(algorithm.wrap(env))
        try:
            self._compiled_game = self._compiled(env)
        except NotCompilableError as reason:
            self.note = str(reason)
            return
        self._image = self._compiled_game.image
        state = self._image.form.inner[GameState._fields.index("state")]
        recorded = state if fixed_arms is not None else state.inner[RecordedState._fields.index("transcript")]
        self._places: Any = recorded.inner[1:]

    def play(self, env: BanditEnv, games: int, *, seed: int, first_trial: int = 0, threads: int = 0) -> Transcripts:
        """Play independent games.

        Args:
            env: A game of the same kind and size, with its own gains.
            games: Number of games.
            seed: The seed of all of them.
            first_trial: The first trial whose streams are used; they take `trials_of(games)`, or one for each game.
            threads: Number of threads; 0 for the number of cores.

        Returns:
            The arms of each round, `(games, rounds)`, or the releases of each step.
        """
        if self.note:
            trials = range(first_trial, first_trial + games)
            return self._played(env, seed, trials) if self._fixed_arms is None else self._stepped(env, seed, trials)
        gains = np.empty((env.adversary.horizon, env.adversary.n_arms))
        env.adversary.begin(np.random.default_rng(0))
        env.adversary.fill(gains)
        sizes = [min(CHUNK, games - start) for start in range(0, games, CHUNK)]

        def chunk(number: int) -> Transcripts:
            return self._chunk(gains, sizes[number], seed=seed, trial=first_trial + number)

        with ThreadPoolExecutor(min(threads or os.cpu_count() or 1, len(sizes))) as pool:
            transcripts = Transcripts(*map(np.concatenate, zip(*pool.map(chunk, range(len(sizes))), strict=True)))
        if self._fixed_arms is None:
            arms = np.repeat(transcripts.arms, self._batch, axis=1)[:, : env.adversary.horizon]
            return transcripts._replace(arms=arms)
        return transcripts

    def _chunk(self, gains: FloatArray, games: int, *, seed: int, trial: int) -> Transcripts:
        """Play games that all use the streams of one trial, one after the other."""
        streams = self._compiled_game.streams(seed, trial)
        addresses = [tuple(map(stream_address, streams))]
        size = max(1, min(games, WORDS_AT_ONCE // self._image.words))
        block, parts = empty_words(size, self._image.words), []
        for start in range(0, games, size):
            played = block[: games - start]
            self._image.begin(played, addresses)
            self._compiled_game.loop(played, gains)
            arms, values, counts = (self._image.arrays(played, place) for place in self._places)
            parts.append(Transcripts(arms.astype(np.int16), values.copy(), counts.copy()))
        return Transcripts(*map(np.concatenate, zip(*parts, strict=True)))

    def _compiled(self, env: BanditEnv) -> CompiledGame:
        if isinstance(env, GraphEnv):
            raise NotCompilableError("a game on a graph is not part of the loop over games")
        if self._fixed_arms is None:
            compiled_game = make_compiled_game(self._algorithm, env, repeatable=True)
            steps = -(-env.adversary.horizon // self._batch)
            compiled_game = dataclasses.replace(compiled_game, agent=RecordingAgent(compiled_game.agent, steps))
        else:
            algorithm = _with_fixed_arms(env, self._algorithm, self._fixed_arms)
            compiled_game = make_compiled_game(algorithm, env, repeatable=True)
        try:
            run_in_thread(lambda is_cancelled: compiled_game.compile())
        # Numba raises errors of many types here.
        except Exception as error:
            if not compiled_game.user_functions:
                raise
            raise NotCompilableError(in_short(error, compiled_game.user_functions, compiled_game.owners)) from None
        return compiled_game

    def _played(self, env: BanditEnv, seed: int, trials: range) -> Transcripts:
        arms = np.empty((len(trials), env.adversary.horizon), np.int16)
        for row, trial in enumerate(trials):
            arms[row] = play(env, self._algorithm, seed=seed, trial=trial).arms
        nothing = np.zeros((len(trials), 0, 0))
        return Transcripts(arms, nothing, nothing.astype(np.int64))

    def _stepped(self, env: BanditEnv, seed: int, trials: range) -> Transcripts:
        """Play the fixed arms by the environment's own `step`."""
        assert self._fixed_arms is not None
        wrapped: Any = self._algorithm.wrap(env)
        releases = int(wrapped.get_wrapper_attr("horizon"))
        size = (len(trials), releases, int(wrapped.get_wrapper_attr("n_values")))
        values, counts = np.zeros(size), np.zeros(size, np.int64)
        for game, trial in enumerate(trials):
            wrapped.reset(seed=seed, options={"trial": trial, "player": self._algorithm.player})
            for step, arm in enumerate(self._fixed_arms):
                seen = wrapped.step(arm)[0]
                if step < releases:
                    values[game, step], counts[game, step] = list(seen.values())[:2]
        return Transcripts(np.tile(np.array(self._fixed_arms, np.int16), (len(trials), 1)), values, counts)


def trials_of(games: int) -> int:
    """Return the number of trials whose streams that many games use."""
    return -(-games // CHUNK)


def steps_of(env: BanditEnv, algorithm: Algorithm) -> int:
    """Return the number of steps at which an algorithm's wrappers take an arm."""
    return -(-env.adversary.horizon // _batch(algorithm.wrap(env)))


def _with_fixed_arms(env: BanditEnv, algorithm: Algorithm, arms: Sequence[int]) -> Algorithm:
    """Return an algorithm with the same wrappers and random streams that plays these arms."""
    wrapped: Any = algorithm.wrap(env)
    sums = getattr(wrapped, "releases_sums", False)
    n_values = int(wrapped.get_wrapper_attr("n_values"))
    return Algorithm(
        algorithm.name,
        lambda: FixedArms(arms, n_values, sums=sums),
        wrapping=algorithm.wrapping,
        player=algorithm.player,
    )


def _batch(env: Any) -> int:
    """Return the number of rounds in a step above all wrappers."""
    return math.prod(int(getattr(layer, "batch_size", 1)) for layer in layers_of(env) if isinstance(layer, gym.Wrapper))
