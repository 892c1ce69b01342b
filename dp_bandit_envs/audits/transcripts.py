"""What many games on one table of gains show an attacker: the arms played, or what is released for given arms.

An audit needs 10^6 games of a few rounds, and one call of the compiled loop plays many of them (`loop.play_games`).
Games of one chunk go on with the same random streams, those of the trial with the chunk's number: they are independent,
as no random number is used twice, but only the first of them is a game that `play` and `simulate` would play.
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
from dp_bandit_envs.compiling.functions import bind, stream_address, uses_other_randomness
from dp_bandit_envs.compiling.layout import empty_words
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.protocols import FloatArray, Gains, IntArray, Sums, plays_points
from dp_bandit_envs.simulation.compiled_game import Plan, make_plan
from dp_bandit_envs.simulation.playing import play
from dp_bandit_envs.simulation.stages import GameState, NotCompilableError
from dp_bandit_envs.wrappers.layers import layers_of

CHUNK = 2**13
"""Games that go on with the same random streams; a number of its own, so that threads change no result."""
WORDS_AT_ONCE = 2**17
"""The words of the games that one call plays: a megabyte, which stays in a core's own cache."""


class Transcripts(NamedTuple):
    """What many games show.

    Attributes:
        arms: The arm of each step, `(games, steps)`.
        values: What was released after each step, `(games, releases, n_values)`; `(games, 0, 0)` if it is not kept.
        counts: Which gains were released, or the numbers of gains in sums; as large as `values`.
    """

    arms: NDArray[np.int16]
    values: FloatArray
    counts: IntArray


class Transcript(NamedTuple):
    """What one game shows; arrays, so that compiled code can write to them.

    Attributes:
        step: Number of arms chosen so far, `(1,)`.
        arms: The arm of each step, `(steps,)`; one more step than releases if the last batch of rounds is not full. Or
            the point of all steps, `(dimension,)`.
        values: The released gains or sums after each step, `(releases, n_values)`.
        counts: Which gains were released, or the numbers of gains in the sums, `(releases, n_values)`.
    """

    step: IntArray
    arms: Any
    values: FloatArray
    counts: IntArray


class RecordedState(NamedTuple):
    """An agent's own state beside a tape."""

    own: Any
    tape: Transcript


def own_select(state: Any, rng: np.random.Generator) -> int:
    """Placeholder for the agent's own function, as are the next two."""
    raise NotImplementedError


own_update: Any = own_select
own_tidy: Any = own_select


def select_and_note(state: RecordedState, rng: np.random.Generator) -> int:
    """Let the agent choose an arm, and write it down."""
    arm = own_select(state.own, rng)
    tape = state.tape
    tape.arms[tape.step[0]] = arm
    tape.step[0] += 1
    return arm


def update_own(state: RecordedState, arm: int, seen: Gains | Sums) -> RecordedState:
    """Let the agent learn."""
    return RecordedState(own_update(state.own, arm, seen), state.tape)


def tidy_own(state: RecordedState) -> RecordedState:
    """Let the agent tidy up."""
    return RecordedState(own_tidy(state.own), state.tape)


def select_held(state: Transcript, rng: np.random.Generator) -> int:
    """Return the arm that is to be played in this step."""
    state.step[0] += 1
    return int(state.arms[state.step[0] - 1])


def select_held_point(state: Transcript, point: FloatArray, rng: np.random.Generator) -> None:
    """Play the point."""
    state.step[0] += 1
    for place in range(len(point)):
        point[place] = state.arms[place]


def note(state: Transcript, arm: int, seen: Gains | Sums) -> Transcript:
    """Write down what was released: gains and which they are, or sums and their numbers of gains."""
    step = state.step[0] - 1
    for each in range(len(seen[0])):
        state.values[step, each] = seen[0][each]
        state.counts[step, each] = seen[1][each]
    return state


class RecordingAgent(FunctionalAgent):
    """Another agent, whose arms are written down in each of so many steps; it plays by its own functions."""

    def __init__(self, agent: FunctionalAgent, steps: int) -> None:
        self._agent, self._steps = agent, steps
        own = agent.functions
        self.functions = Functions(
            bind(select_and_note, {"own_select": own.select}),
            bind(update_own, {"own_update": own.update}),
            None if own.tidy is None else bind(tidy_own, {"own_tidy": own.tidy}),
        )

    def initial_state(self, n_arms: int, horizon: int) -> RecordedState:
        """Return the agent's own state and an empty tape."""
        own = self._agent.initial_state(n_arms, horizon)
        return RecordedState(own, _transcript(np.zeros(self._steps, np.int64), 0, 0))


class FixedArms(FunctionalAgent):
    """Plays given arms and writes down what is released.

    Args:
        plays: The arm of each step, `(steps,)`.
        n_values: Number of values that a round can reveal.
        sums: Whether sums are released, instead of gains.
    """

    functions = Functions(select_held, note)

    def __init__(self, plays: Any, n_values: int, *, sums: bool = False) -> None:
        self._plays, self._n_values = np.array(plays), n_values
        self.learns_from = Sums if sums else Gains  # type: ignore[misc]

    def initial_state(self, n_arms: int, horizon: int) -> Transcript:
        """Return a tape on which the plays are written."""
        return _transcript(self._plays, horizon, self._n_values)


class RepeatedPoint(FunctionalPointAgent):
    """The same for a point, `(dimension,)`, which it plays in all steps; perhaps where payoffs alone are revealed."""

    functions = Functions(select_held_point, note)  # type: ignore[arg-type]
    initial_state = FixedArms.initial_state

    def __init__(self, plays: Any, n_values: int, *, sums: bool = False, payoffs: bool = False) -> None:
        FixedArms.__init__(self, plays, n_values, sums=sums)  # type: ignore[arg-type]
        self.feedback = "payoff" if payoffs else "full"  # type: ignore[misc]


def _transcript(arms: Any, releases: int, n_values: int) -> Transcript:
    size = (releases, n_values)
    return Transcript(np.zeros(1, np.int64), arms, np.zeros(size), np.zeros(size, np.int64))


class TranscriptSampler:
    """Plays games of one size on any table of gains, and keeps what is shown.

    What cannot be compiled is played in ordinary Python, with a note.

    Args:
        env: A game of that size whose adversary draws nothing, such as one on a `GainTable`; without wrappers, payoff
            function or points.
        algorithm: The algorithm.
        held: The arm of each step, `(steps,)`: one for each round, or for each batch of rounds. The agent then plays
            no part, and what the wrappers release is kept. By default the agent plays, and its arms are kept.

    Attributes:
        note: Why the games are played in ordinary Python; "" if they are compiled.

    Raises:
        WrongGameError: If the game has points or a payoff function.
    """

    def __init__(self, env: BanditEnv, algorithm: Algorithm, *, held: Sequence[int] | None = None) -> None:
        if plays_points(env) or env.adversary.payoff is not None:
            raise WrongGameError("games whose arms are kept have arms and no payoff function.")
        self.note = ""
        self._algorithm, self._held = algorithm, held
        self._batch = _batch(algorithm.wrap(env))
        try:
            self._plan = self._compiled(env)
        except NotCompilableError as reason:
            self.note = str(reason)
            return
        self._image = self._plan.image
        state = self._image.form.inner[GameState._fields.index("state")]
        self._transcript: Any = (state if held is not None else state.inner[RecordedState._fields.index("tape")]).inner[
            1:
        ]

    def play(self, env: BanditEnv, games: int, *, seed: int, first_trial: int = 0, threads: int = 0) -> Transcripts:
        """Play independent games.

        Args:
            env: A game of the same kind and size, with gains of its own.
            games: Number of games.
            seed: The seed of all of them.
            first_trial: The first trial whose streams are used; they take `trials_of(games)`, or one for each game.
            threads: How many threads play; 0 for as many as there are cores.

        Returns:
            The arms of each round, `(games, rounds)`, or what was released in each step.
        """
        if self.note:
            trials = range(first_trial, first_trial + games)
            return self._played(env, seed, trials) if self._held is None else self._stepped(env, seed, trials)
        gains = np.empty((env.adversary.horizon, env.adversary.n_arms))
        env.adversary.begin(np.random.default_rng(0))
        env.adversary.fill(gains)
        sizes = [min(CHUNK, games - start) for start in range(0, games, CHUNK)]

        def chunk(number: int) -> Transcripts:
            return self._chunk(gains, sizes[number], seed=seed, trial=first_trial + number)

        with ThreadPoolExecutor(min(threads or os.cpu_count() or 1, len(sizes))) as pool:
            shown = Transcripts(*map(np.concatenate, zip(*pool.map(chunk, range(len(sizes))), strict=True)))
        if self._held is None:
            return shown._replace(arms=np.repeat(shown.arms, self._batch, axis=1)[:, : env.adversary.horizon])
        return shown

    def _chunk(self, gains: FloatArray, games: int, *, seed: int, trial: int) -> Transcripts:
        """Play games that all use the streams of one trial, one after the other."""
        streams = self._plan.streams(seed, trial)
        addresses = [tuple(map(stream_address, streams))]
        size = max(1, min(games, WORDS_AT_ONCE // self._image.words))
        block, parts = empty_words(size, self._image.words), []
        for start in range(0, games, size):
            played = block[: games - start]
            self._image.begin(played, addresses)
            self._plan.loop(played, gains)
            arms, values, counts = (self._image.arrays(played, place) for place in self._transcript)
            parts.append(Transcripts(arms.astype(np.int16), values.copy(), counts.copy()))
        return Transcripts(*map(np.concatenate, zip(*parts, strict=True)))

    def _compiled(self, env: BanditEnv) -> Plan:
        if isinstance(env, GraphEnv):
            raise NotCompilableError("a game on a graph is not part of the loop over games")
        if self._held is None:
            plan = make_plan(self._algorithm, env)
            steps = -(-env.adversary.horizon // self._batch)
            plan = dataclasses.replace(plan, agent=RecordingAgent(plan.agent, steps))
        else:
            plan = make_plan(_holding(env, self._algorithm, self._held), env)
        elsewhere = uses_other_randomness(plan.foreign, plan.owners)
        if elsewhere:
            raise NotCompilableError(elsewhere)
        try:
            run_in_thread(lambda stopped: plan.compile())
        # Numba raises errors of many types here.
        except Exception as error:
            if not plan.foreign:
                raise
            raise NotCompilableError(in_short(error, plan.foreign, plan.owners)) from None
        return plan

    def _played(self, env: BanditEnv, seed: int, trials: range) -> Transcripts:
        arms = np.empty((len(trials), env.adversary.horizon), np.int16)
        for row, trial in enumerate(trials):
            arms[row] = play(env, self._algorithm, seed=seed, trial=trial).arms
        nothing = np.zeros((len(trials), 0, 0))
        return Transcripts(arms, nothing, nothing.astype(np.int64))

    def _stepped(self, env: BanditEnv, seed: int, trials: range) -> Transcripts:
        """Play the held arms by the environment's own `step`."""
        assert self._held is not None
        wrapped: Any = self._algorithm.wrap(env)
        releases = int(wrapped.get_wrapper_attr("horizon"))
        size = (len(trials), releases, int(wrapped.get_wrapper_attr("n_values")))
        values, counts = np.zeros(size), np.zeros(size, np.int64)
        for game, trial in enumerate(trials):
            wrapped.reset(seed=seed, options={"trial": trial, "player": self._algorithm.player})
            for step, arm in enumerate(self._held):
                seen = wrapped.step(arm)[0]
                if step < releases:
                    values[game, step], counts[game, step] = list(seen.values())[:2]
        return Transcripts(np.tile(np.array(self._held, np.int16), (len(trials), 1)), values, counts)


def trials_of(games: int) -> int:
    """Return the number of trials whose streams that many games use."""
    return -(-games // CHUNK)


def steps_of(env: BanditEnv, algorithm: Algorithm) -> int:
    """Return the number of steps in which an algorithm's wrappers take an arm."""
    return -(-env.adversary.horizon // _batch(algorithm.wrap(env)))


def _holding(env: BanditEnv, algorithm: Algorithm, arms: Sequence[int]) -> Algorithm:
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
