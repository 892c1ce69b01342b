"""The privacy boundary: true gains below it, only released values above it."""

import copy
import dataclasses
import functools
import math
import operator
import sys
from collections.abc import Callable
from itertools import compress
from typing import Any, SupportsIndex, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec, WrapperSpec

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.decisions import DecisionSet, payoffs
from dp_bandit_envs.draws import LaplacesAhead, Stream
from dp_bandit_envs.envs.rendering import PointBoard, Scoreboard
from dp_bandit_envs.errors import (
    BoundaryError,
    SeedRefusedError,
    StepOutsideGameError,
    TooLongError,
    WrongGameError,
    WrongTypeError,
)
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.privacy.admission import Conditions, current, playing_under
from dp_bandit_envs.privacy.facts import InputFacts, Noise, ValueRange, check_values
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism, noise_key, output_facts
from dp_bandit_envs.privacy.secure_draws import SecureStream, takes_no_seed
from dp_bandit_envs.protocols import Environment, FloatArray, Observation, is_public, plays_points
from dp_bandit_envs.seeding import (
    FIRST_WRAPPER,
    FORKS,
    EpisodeStreams,
    checked_options,
    checked_seed,
    draw_seed,
    warn_of_known_seed,
)
from dp_bandit_envs.wrappers.layers import (
    Boundary,
    boundaries_below,
    checked_env,
    classes_elsewhere,
    facts_of_game,
    is_played_on_real_data,
    layers_of,
    participation_below,
    public_attribute,
    refuse_sums,
    time_limit,
)

Result = TypeVar("Result")

WITHHELD = (
    "something in or below {} failed; its message is withheld because it may contain private gains. To read it, play"
    " without the wrapper on data that is not private, or let dp_bandit_envs.conformance.check_wrapper try it."
)
FORKED = (
    "a game that has begun cannot be played on in a forked process: its copy there has the same noise, which cancels in"
    " a difference. Call reset() there, or make the environment in that process."
)
NO_NUMBER = "a mechanism released a sum that is no finite number."
NO_PAIR = (
    "a mechanism's release must return two numbers, (value, count); it returned something else, which is withheld."
    " dp_bandit_envs.conformance.check_wrapper shows it, on gains of its own."
)
WITHHOLDS = "a mechanism withheld a gain, which it says it never does. Set withholds = True."
OUTSIDE = "{} received a gain outside [{:g}, {:g}]; it is withheld. Rescale the gains below the wrapper."
TOO_MANY = (
    "{} received more gains of one round than the {} that the sensitivity of the game below stands for. Declare a"
    " larger sensitivity there, or values with complete=True if every round reveals all of them."
)
ENDS_BY_ITSELF = (
    "{} needs a game that terminates after its horizon, neither before nor later, and that only a"
    " gymnasium.wrappers.TimeLimit truncates; gains could decide."
)
OUTSIDE_RELEASED = (
    "a mechanism released a gain outside [{:g}, {:g}]. Clip it, or set releases_sums = True if it is a sum."
)


class PublicError(Exception):
    """Raised inside a boundary with a message that is public."""


class Hidden:
    """Keeps private numbers out of reprs and lists of attributes."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "withheld"


def interrupts() -> tuple[type[BaseException], ...]:
    """Return an exception that ends or interrupts the program (KeyboardInterrupt); boundaries re-raise its type."""
    cancelled = getattr(sys.modules.get("asyncio"), "CancelledError", KeyboardInterrupt)
    return KeyboardInterrupt, SystemExit, GeneratorExit, TooLongError, cancelled


class BoundaryBase(Boundary):
    """Base class of scalar and vector boundaries: public attributes that hide the attributes below."""

    env: Any
    _public_random: np.random.Generator | None = None
    _spec: EnvSpec | None = None
    _seed_is_known: bool = False
    """Whether somebody may know the seed of the noise, because it was given to `reset`."""
    _inputs: InputFacts
    _inputs_take_seed: bool = True
    _boundary_is_next: bool = False
    _conditions: Conditions | None = None
    """What the games below were begun under."""
    _is_above_others: bool = False
    """Whether there are boundaries below."""
    _called_by: "BoundaryBase | None" = None
    """The boundary above that calls this one now."""
    _begun_by: "BoundaryBase | None" = None
    """The boundary above that began the game."""
    _played: Any = None
    """The point or points played last, for pictures."""

    def _use(self, plays: DecisionSet | int, mechanism: Mechanism) -> None:
        """Store copies of the action set and the mechanism, and the public facts about the releases."""
        if not isinstance(mechanism, Mechanism):
            raise WrongTypeError(
                f"mechanism must be a Mechanism, such as dp_bandit_envs.privacy.mechanisms.ExactSums(); received"
                f" {checks.kind_of(mechanism)}."
            )
        low, high = self._inputs.values.low, self._inputs.values.high
        if (low, high) != (0.0, 1.0) and not mechanism.any_range:
            raise WrongGameError(
                f"{type(mechanism).__name__} needs values in [0, 1]; this game reveals values in [{low:g}, {high:g}]."
                " LaplaceClipRescale, MiniBatchAverage and CounterSums accept them."
            )
        self._set = copy.deepcopy(plays) if isinstance(plays, DecisionSet) else None
        self._n_plays = 0 if isinstance(plays, DecisionSet) else operator.index(plays)
        self._features = self._features_below()
        self._mechanism = copy.deepcopy(mechanism)
        self._noise_key = noise_key(self._mechanism, self._inputs)
        self._outputs = checked_outputs(self._mechanism, self._inputs)
        assert self._outputs.guarantee is not None
        self._guarantee = dataclasses.replace(self._outputs.guarantee, data=participation_below(self.env))
        # Raises here, not in the middle of a game, if the mechanism cannot run on these gains.
        if self.mechanism.new_state(self._inputs) is None:
            raise WrongTypeError(
                f"{type(mechanism).__name__}.new_state must return the state of a new game, such as a NamedTuple, or ()"
                " if it needs none; received None."
            )

    @property
    def mechanism(self) -> Mechanism:
        """A copy of the mechanism; changing it does not change the noise."""
        return copy.deepcopy(self._mechanism)

    @property
    def inputs(self) -> InputFacts:  # type: ignore[override]
        """Public facts about the gains that the mechanism receives."""
        return self._inputs

    @property
    def outputs(self) -> InputFacts:  # type: ignore[override]
        """Public facts about the releases."""
        return self._outputs

    @property
    def guarantee(self) -> PrivacyGuarantee:  # type: ignore[override]
        """The privacy guarantee of one game, for everything above the boundary."""
        return self._guarantee

    @property
    def sensitivity(self) -> float:
        """L1 distance between released values of neighbouring games, with the noise fixed."""
        return self._outputs.sensitivity

    @property
    def horizon(self) -> int:
        """Number of steps that can release something: T, or T // tau above batches of tau rounds."""
        return self._outputs.horizon

    @property
    def noise(self) -> Noise:  # type: ignore[override]
        """Public facts about the noise, for agents whose confidence terms depend on it."""
        return self._outputs.noise

    @property
    def n_values(self) -> int:
        """Number of values that a round can reveal: arms or coordinates."""
        return self._inputs.n_values

    @property
    def n_arms(self) -> int:
        """Number of arms, where arms are played."""
        if self._n_plays == 0:
            raise self._has_no("n_arms", "its plays are points")
        return self._n_plays

    @property
    def features(self) -> FloatArray:
        """Public feature vectors of the arms, shape `(n_arms, dimension)`, in games that have any."""
        if self._features is None:
            raise self._has_no("features", "its arms have none")
        return self._features

    def _features_below(self) -> FloatArray | None:
        features = next((layer.features for layer in layers_of(self.env) if hasattr(layer, "features")), None)
        return None if features is None else np.array(features, np.float64)

    @property
    def decision_set(self) -> DecisionSet:
        """A copy of the set whose points are played; changing it does not affect the check or the noise."""
        if self._set is None:
            raise self._has_no("decision_set", "its plays are arms")
        return copy.deepcopy(self._set)

    @property
    def values(self) -> ValueRange:
        """Public facts about the gains that are released."""
        if self.releases_sums:
            raise self._has_no("values", "it releases sums, of any size")
        return self._outputs.values

    @property
    def releases_sums(self) -> bool:  # type: ignore[override]
        """Whether it releases running sums instead of gains."""
        return bool(self._mechanism.releases_sums)

    @property
    def batch_size(self) -> int:
        """Number of steps below for which one step above plays its arm."""
        return int(self._mechanism.batch_size)

    @property
    def takes_seed(self) -> bool:  # type: ignore[override]
        """Whether `reset` accepts a seed: False if this wrapper or a wrapper below has secure draws."""
        return self._inputs_take_seed and not takes_no_seed(self._mechanism)

    def _released_space(self, space: Any) -> Any:
        """Return the observation space of one game: a space of sums, or a copy of the space below."""
        if not self.releases_sums:
            return copy.deepcopy(space)  # the environment below uses its own on private observations
        size, most = (self.n_values,), self._inputs.horizon
        numbers = {name: gym.spaces.Box(0, most, size, np.int64) for name in ("count", "release")}
        return gym.spaces.Dict({"sum": gym.spaces.Box(-np.inf, np.inf, size, np.float64), **numbers})

    def _nothing_yet(self, *games: int) -> Observation:
        """Return the observation before the first release, for one game or several."""
        shape = (*games, self.n_values)
        if not self.releases_sums:
            return {"gain": np.zeros(shape), "observed": np.zeros(shape, np.int8)}
        return {"sum": np.zeros(shape), **{name: np.zeros(shape, np.int64) for name in ("count", "release")}}

    def _has_no(self, name: str, why: str) -> AttributeError:
        return AttributeError(f"{type(self).__name__} has no attribute {name!r}: {why}.")

    def _checked_seed(self, seed: SupportsIndex | None) -> int | None:
        """Return the seed as an int or None, or raise if it is none or must not be given."""
        if not self.takes_seed:
            refuse_seed(seed, type(self).__name__)
        if seed is not None:
            return checked_seed(seed)
        conditions = current()
        return None if conditions is None else conditions.ticket.take_seed()

    @property
    def _total_is(self) -> str:
        return "released sum" if self.releases_sums else "released gain"

    @property
    def spec(self) -> EnvSpec | None:
        """The spec of the game and its wrappers without arguments, which may be private gains."""
        if self._spec is not None:
            return copy.deepcopy(self._spec)
        return public_spec(self.env.spec, type(self))

    @property
    def np_random(self) -> np.random.Generator:
        """A generator of this wrapper's own; the generator below is seeded like the private gains."""
        if self._public_random is None:
            self._public_random = np.random.default_rng()
        return self._public_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self._public_random = value

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set a new attribute of this wrapper; existing ones cannot be changed from outside."""
        if not is_public(name) or hasattr(self, name):
            raise AttributeError(
                f"{name} of a {type(self).__name__} cannot be set from outside: its guarantee holds for the wrapper as"
                " it was made. Make another one."
            )
        if force:
            setattr(self, name, value)
        return force

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse to be copied or pickled once a game has begun: the copy would draw the same noise again."""
        if self._has_begun():
            raise TypeError(
                f"a {type(self).__name__} whose game has begun cannot be copied or pickled: the copy would use the same"
                " noise again, which cancels in a difference. Copy it before its first reset, or make another one."
            )
        return super().__reduce_ex__(protocol)

    def __del__(self) -> None:
        """Leave the games below open; Gymnasium before 1.4 would close them, also for a wrapper that was refused."""

    def _begin_below(self, call: Callable[[], Any], *, seeded: bool) -> None:
        """Begin games below, and declare the conditions under which they are played.

        Args:
            call: The function that begins them.
            seeded: Whether the caller gives a seed; otherwise the noise streams continue.
        """
        if seeded and current() is None:
            warn_of_known_seed(is_played_on_real_data(self.env))
        with playing_under([[self.guarantee]], secret=None if seeded else not self._seed_is_known) as conditions:
            self._conditions, self._begun_by = conditions, self._called_by
            self._guarded(call)
        if seeded:
            self._seed_is_known = not conditions.secret

    def _refuse_games_of_others(self) -> None:
        """Raise an error if someone else has begun another game below, paid for under other conditions."""
        admissions = () if self._conditions is None else self._conditions.admissions
        if admissions and any(admission.is_over for admission in admissions):
            raise StepOutsideGameError(
                f"the game below this {type(self).__name__} was begun anew by someone else; call reset() to start"
                " another, or make an environment for each wrapper."
            )
        self._refuse_games_of_above()

    def _refuse_games_of_above(self) -> None:
        """Refuse to play alone a game that was charged with a boundary above, which may add all of the noise."""
        admissions = () if self._conditions is None else self._conditions.admissions
        if admissions and self._called_by is not self._begun_by:
            raise StepOutsideGameError(
                f"the game of this {type(self).__name__} was begun by a privacy wrapper above it, and counted with that"
                " one's guarantee; play through that one, or call reset() here to start another."
            )

    def _has_begun(self) -> bool:
        raise NotImplementedError

    @property
    def np_random_seed(self) -> int:
        """-1, which means "unknown" in Gymnasium."""
        return -1

    def _guarded(self, call: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function that handles private gains; replace its errors by one without private information.

        The replacement is raised outside the except clause, so the private error is not its context, and no frame in
        its traceback has seen a gain. Callers who own the data see the original errors.
        """
        message, stop = None, None
        below = nearest_boundaries(self.env) if self._is_above_others else ()
        for boundary in below:
            boundary._called_by = self
        try:
            return call(*arguments)
        except PublicError as refusal:
            message = str(refusal)
        except BoundaryError as error:
            message = str(error) if self._boundary_is_next else None
        except BaseException as error:
            if self._shows_errors:
                raise
            # Exactly these: a class of somebody else's may say a gain by its name.
            stop = next((kind for kind in interrupts() if type(error) is kind), None)
        finally:
            for boundary in below:
                boundary._called_by = None
        if stop is not None:
            # A fresh error is raised, as the text and the frames of the first may contain private gains; so may an exit
            # status.
            raise SystemExit(1) if stop is SystemExit else stop
        ledger_refusal = None if self._conditions is None else self._conditions.ticket.refusal
        if ledger_refusal is not None:
            raise type(ledger_refusal)(
                *ledger_refusal.args
            )  # anew, as its own traceback leads to frames with private gains
        raise BoundaryError(WITHHELD.format(type(self).__name__) if message is None else message)


def nearest_boundaries(env: Any) -> list[BoundaryBase]:
    """Return the nearest boundary of a game, or of each game of a vector; never stored, as boundaries lead to gains."""
    for layer in layers_of(env):
        if isinstance(layer, BoundaryBase):
            return [layer]
        if getattr(layer, "envs", None):
            return [boundary for game in layer.envs for boundary in nearest_boundaries(game)]
    return []


class PrivacyBoundary(BoundaryBase, gym.Wrapper[Observation, int, Observation, int]):  # type: ignore[override]
    """Applies a privacy mechanism to an environment's gains; each privacy wrapper is this class with one mechanism.

    `step` returns the released observation, the released gain (or mean) of the arm played as reward (0.0 without a
    release), the flags, which depend on the horizon only, and `{"round": t}`. Above a `Monitor` of Stable-Baselines3,
    the last step adds `"episode"`, which its tools expect: the sum `r` of the rewards above and the number `l` of
    steps. Errors below are replaced by errors without private information, pictures show released values only, and
    `get_wrapper_attr` does not read attributes below. Only an evaluator uses `env.unwrapped` and `wrapper.env`.

    Between a boundary and the environment it protects, only wrappers that pass each observation through exactly once,
    unchanged, are allowed: a few of Gymnasium's and their subclasses that do not override `step`, `reset` or
    `observation`. Put all other wrappers above.

    A seed makes the noise reproducible, so anyone who knows it can subtract the noise: with real data, reset without a
    seed. Each further game on the same data spends the guarantee once more (composition).

    Args:
        env: A bandit environment, or a privacy wrapper that releases gains.
        mechanism: The mechanism, with `release(state, arm, gain, rng)`; see `dp_bandit_envs.privacy.mechanism`.
    """

    def __init__(self, env: Environment, mechanism: Mechanism) -> None:
        name = type(self).__name__
        super().__init__(checked_env(env, name, gym.Env))
        boundaries = boundaries_below(env, name)
        refuse_sums(boundaries, name)
        plays = public_attribute(env, "decision_set" if plays_points(env) else "n_arms", name)
        self._inputs = boundaries[0].outputs if boundaries else facts_of_game(env, name)
        self._use(plays, mechanism)
        self._rounds_a_step = self.batch_size
        self._rounds: int = public_attribute(env.unwrapped, "horizon", name)
        self._boundary_is_next = isinstance(env, PrivacyBoundary)
        self._counts_rounds = not boundaries
        self._is_above_others = bool(boundaries)
        self._limit = time_limit(env)
        self._is_monitored = any(isinstance(layer, classes_elsewhere()) for layer in layers_of(env))
        flat = isinstance(env.observation_space, gym.spaces.Box)
        self.observation_space = self._released_space((env.unwrapped if flat else env).observation_space)
        self.action_space = copy.deepcopy(env.action_space)
        self.metadata = copy.deepcopy(env.metadata)
        self._streams = streams_of(self._mechanism, FIRST_WRAPPER + len(boundaries), self._noise_key)
        self._inputs_take_seed = all(boundary.takes_seed for boundary in boundaries)
        self._rng: Any = None
        self._graphs: tuple[FeedbackGraph, FeedbackGraph] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game below with a fresh noise stream; return the observation before the first release."""
        seed, options = self._checked_seed(seed), checked_options(options)
        # If the reset below fails half-way, no game is in progress.
        self._rng = None
        inner_seed = seed_for_inputs(seed, self._mechanism, self._inputs_take_seed)
        self._begin_below(functools.partial(self.env.reset, seed=inner_seed, options=options), seeded=seed is not None)
        if self._features is not None:  # a game may number its arms anew
            self._features = self._guarded(self._features_below)
        rng = self._streams.next(seed, options)
        self._round = self._round_below = 0
        self._ended = False
        self._earned, self._steps = 0.0, 0
        nothing = self._nothing_yet()
        self._run = MechanismRun(self.mechanism, self._inputs, rng, nothing)
        self._rng = rng
        self._scoreboard = self._new_scoreboard() if self.render_mode else None
        return {key: array.copy() for key, array in nothing.items()}, {"round": 0}

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an arm or a point, and return released values only."""
        arm = action if type(action) is int and 0 <= action < self._n_plays else self._checked(action)
        if self._rng is None:
            self._check_started()
        if self._ended:
            raise StepOutsideGameError("the game has ended; call reset() to start another.")
        self._refuse_games_of_others()
        # Until the step is done there is no game to continue: a failed or interrupted step may be half done.
        rng, self._rng = self._rng, None
        released, terminated, truncated = self._guarded(self._advance, arm)
        self._rng = rng
        self._ended = terminated or truncated
        reward = self._reward(released, arm)
        if self._scoreboard is not None:
            self._played = arm
            self._scoreboard.add(self._round_below, arm, reward, rounds=self._round_below - self._round)
        self._round = self._round_below
        info: dict[str, Any] = {"round": self._round}
        if self._is_monitored:
            # Stable-Baselines3 looks for it where there is a Monitor, whose own numbers are private.
            self._earned, self._steps = self._earned + reward, self._steps + 1
            if self._ended:
                info["episode"] = {"r": round(self._earned, 6), "l": self._steps}
        return released, reward, terminated, truncated, info

    def render(self) -> Any:
        """Return a picture of the released values, never of true gains."""
        self._check_started()
        self._refuse_games_of_above()
        if self._scoreboard is None:
            return None
        if self.releases_sums:
            self._scoreboard.show_totals(self._run.values.copy())
        return self._scoreboard.render(
            self.render_mode, title="Seen through the privacy boundary", total=self._total_is
        )

    def _checked(self, action: Any) -> Any:
        return checks.arm(action, self._n_plays) if self._set is None else self._set.checked(action)

    def _new_scoreboard(self) -> Any:
        self._played = None
        if self._set is None:
            return Scoreboard(self._n_plays, self._rounds)
        return PointBoard(self._set, self._rounds, lambda: self._played)

    def _advance(self, arm: Any) -> tuple[Observation, bool, bool]:
        """Play `arm` below for one batch of rounds; return the released observation and the two flags."""
        for _ in range(self._rounds_a_step):
            gain, observed, terminated, truncated = self._step_below(arm)
            self._run.feed(gain, observed)
            if terminated or truncated:
                break
        return self._run.observation(), terminated, truncated

    def _reward(self, released: Observation, arm: Any) -> float:
        """Return the reward, computed from released values only."""
        if self._set is not None:
            return float(rewards_of_points(self._set, released, arm))
        if not self._run.of_sums:
            return float(released["gain"][arm])
        count = int(released["count"][arm])
        return float(released["sum"][arm]) / count if count else 0.0

    def close(self) -> None:
        """Close the environment below."""
        self._guarded(self.env.close)

    def __str__(self) -> str:
        return "".join(f"<{type(layer).__name__}" for layer in layers_of(self)) + ">" * len([*layers_of(self)])

    @property
    def graph(self) -> FeedbackGraph:
        """The feedback graph of the next round, if the game has one; it is public.

        A copy, made once for each graph. The game reads its own graph to decide which gains a round reveals: adding
        edges there would reveal more gains than the noise is scaled to.
        """
        for layer in layers_of(self.env):
            graph = getattr(layer, "graph", None)
            if isinstance(graph, FeedbackGraph):
                if self._graphs is None or self._graphs[0] is not graph:
                    self._graphs = graph, graph.copy()
                return self._graphs[1]
        raise AttributeError(f"{type(self).__name__} has no attribute 'graph': the game below has no feedback graph.")

    def get_wrapper_attr(self, name: str) -> Any:
        """Return a public attribute of this wrapper; unlike other Gymnasium wrappers, it does not search below."""
        if not self.has_wrapper_attr(name):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}, and below it everything is private."
            )
        return getattr(self, name)

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether this wrapper itself has a public attribute of that name."""
        return is_public(name) and hasattr(self, name)

    def _has_begun(self) -> bool:
        return bool(self._streams.begun)

    def _step_below(self, arm: Any) -> tuple[list[float], list[int], bool, bool]:
        """Play one step below and check its gains; count rounds here, or take the count of a boundary below."""
        observation, _, terminated, truncated, info = self.env.step(arm)
        self._round_below = self._round_below + 1 if self._counts_rounds else int(info["round"])
        expected = (self._round_below == self._rounds, self._round_below == self._limit)
        if self._counts_rounds and (bool(terminated), bool(truncated)) != expected:
            raise PublicError(ENDS_BY_ITSELF.format(type(self).__name__))
        observation = unflattened(observation, self._inputs.n_values)
        gains, observed = gains_and_observed(observation, self._inputs, type(self).__name__)
        return gains, observed, bool(terminated), bool(truncated)

    def _check_started(self) -> None:
        if self._rng is None:
            raise StepOutsideGameError("the game has not begun; call reset() first.")


class MechanismRun:
    """Runs a mechanism in one game; holds its private state and its releases.

    The boundary calls `feed` after each step below, and `observation` at the end of each step above.

    Args:
        mechanism: The mechanism.
        inputs: Public facts about the gains that it receives.
        rng: The stream of its noise.
        observation: Arrays for the releases of one game, as from `_nothing_yet`.
    """

    def __init__(
        self, mechanism: Mechanism, inputs: InputFacts, rng: np.random.Generator, observation: Observation
    ) -> None:
        self._release, self._idle, self._forget = mechanism.release_for(inputs), mechanism.idle, mechanism.forget
        self._state = Hidden(mechanism.new_state(inputs))
        in_blocks = mechanism.draws_laplace and is_builtin(type(mechanism)) and type(rng) is Stream
        self._rng: Any = LaplacesAhead(rng) if in_blocks else rng
        self._forks = FORKS[0]
        self._low, self._high = inputs.values.low, inputs.values.high
        self.of_sums = mechanism.releases_sums
        self._must_release = not (mechanism.withholds or mechanism.releases_sums)
        self._batch_size, self._withheld = mechanism.batch_size, dict[int, int]()
        self.values, self._counts, *releases = observation.values()
        self._releases = releases[0] if releases else None

    def feed(self, gain: list[float], observed: list[int]) -> None:
        """Feed the mechanism the gains that one step below revealed, in the order of the arms."""
        self.refuse_fork()
        state, rng, release, idle = self._state.value, self._rng, self._release, self._idle
        values, counts, releases = self.values, self._counts, self._releases
        arms = range(len(observed))
        # Without an `idle`, only arms that were seen matter, and of many arms few are.
        for arm in compress(arms, observed) if idle is None else arms if any(observed) else ():
            seen = observed[arm]
            pair = release(state, arm, gain[arm], rng) if seen or idle is None else idle(state, arm, rng)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise PublicError(NO_PAIR)
            value, count = pair
            if count >= 1:
                values[arm] = value
                if releases is not None:
                    if not math.isfinite(value):
                        raise PublicError(NO_NUMBER)
                    counts[arm] = count
                    releases[arm] += 1
                elif self._low <= value <= self._high:
                    counts[arm] = 1
                else:
                    raise PublicError(OUTSIDE_RELEASED.format(self._low, self._high))
            elif seen and self._must_release:
                # In a batch, only a gain of every round must lead to a release.
                self._withheld[arm] = self._withheld.get(arm, 0) + 1
                if self._withheld[arm] == self._batch_size:
                    raise PublicError(WITHHOLDS)

    def refuse_fork(self) -> None:
        """Raise in a forked process, whose copy of the game has the same noise."""
        if self._forks != FORKS[0]:
            raise PublicError(FORKED)

    def end_step(self) -> None:
        """Let the mechanism clear its state for one step."""
        self._withheld.clear()
        if self._forget is not None:
            self._forget(self._state.value)

    def observation(self) -> Observation:
        """End a step above; return the releases, in arrays that are not written to again."""
        self.end_step()
        if self._releases is not None:
            return {"sum": self.values.copy(), "count": self._counts.copy(), "release": self._releases.copy()}
        observation = {"gain": self.values, "observed": self._counts}
        self.values, self._counts = np.zeros(len(self.values)), np.zeros(len(self.values), np.int8)
        return observation


class SecureStreams:
    """Replaces `EpisodeStreams` for secure draws, which have no seed."""

    def __init__(self) -> None:
        self.begun = False

    def next(self, seed: int | None, options: dict[str, Any] | None = None) -> SecureStream:
        """Begin the next game; options (a trial, a player of the game below) do not affect the noise."""
        refuse_seed(seed, "draws='secure'")
        self.begun = True
        return SecureStream()


def streams_of(mechanism: Mechanism, role: int, label: str) -> Any:
    """Return the streams of a boundary's noise: `EpisodeStreams`, or secure ones.

    Args:
        mechanism: Its mechanism.
        role: As in `dp_bandit_envs.seeding.stream`.
        label: Distinguishes its noise from the noise of other mechanisms with the same seed.
    """
    return SecureStreams() if takes_no_seed(mechanism) else EpisodeStreams(role, label)


def refuse_seed(seed: SupportsIndex | None, name: str) -> None:
    """Raise if a seed is given."""
    number = checked_seed(seed)
    if number is not None:
        raise SeedRefusedError(
            f"{name} draws its noise from the operating system and takes no seed, which would let others repeat it;"
            f" received seed={number}. Use reset() without one, and play(env, agent, seed=None); or draws='fast'."
        )


def seed_for_inputs(seed: int | None, mechanism: Mechanism, inputs_take_seed: bool) -> int | None:
    """Return the seed for the game below; with secure draws a fresh seed, so that no earlier seed continues."""
    return draw_seed() if seed is None and takes_no_seed(mechanism) and inputs_take_seed else seed


def rewards_of_points(decision_set: DecisionSet, released: Observation, points: FloatArray) -> FloatArray:
    """Return the rewards of points `(..., dimension)` from released values only, shape `(...)`.

    The reward is the scalar product of the point with the last released values or means; if rounds reveal payoffs, the
    released payoff.
    """
    means = released["sum"] / np.maximum(released["count"], 1) if "sum" in released else released["gain"]
    low, high = decision_set.payoffs
    if means.shape[-1] < points.shape[-1]:
        return np.clip(means[..., 0], low, high)
    return payoffs(means, points, low, high)


def unflattened(observation: Any, n_values: int) -> Observation:
    """Return an observation as a dict; `FlattenObservation` joins its parts in alphabetical order, on the last axis."""
    if isinstance(observation, dict):
        return observation
    return {"gain": observation[..., :n_values], "observed": observation[..., n_values:].astype(np.int8)}


def gains_and_observed(observation: Observation, inputs: InputFacts, wrapper: str) -> tuple[list[float], list[int]]:
    """Return the gains of one round, and which of them are revealed.

    Raises:
        PublicError: If a gain is outside its range, or more gains are revealed than the noise is scaled to.
    """
    low, high = inputs.values.low, inputs.values.high
    gains: list[float] = observation["gain"].tolist()
    for gain in gains:
        # NaN fails, too.
        if not low <= gain <= high:
            raise PublicError(OUTSIDE.format(wrapper, low, high))
    observed: list[int] = observation["observed"].tolist()
    if len(observed) - observed.count(0) > inputs.gains_in_a_round:
        raise PublicError(TOO_MANY.format(wrapper, inputs.gains_in_a_round))
    return gains, observed


def checked_outputs(mechanism: Mechanism, inputs: InputFacts) -> InputFacts:
    """Return the facts that a mechanism declares about its releases, or raise if they are impossible."""
    name = type(mechanism).__name__
    checks.integer(f"batch_size of {name}", mechanism.batch_size, at_least=1)
    outputs = output_facts(mechanism, inputs)
    rules = {
        "guarantee": isinstance(outputs.guarantee, PrivacyGuarantee),
        "sensitivity": isinstance(outputs.sensitivity, (int, float)) and outputs.sensitivity > 0,
        "gains_in_a_round": type(outputs.gains_in_a_round) is int and outputs.gains_in_a_round >= 1,
        "horizon": type(outputs.horizon) is int and 1 <= outputs.horizon <= inputs.horizon // mechanism.batch_size,
        "noise": isinstance(outputs.noise, Noise),
    }
    wrong = [fact for fact, holds in rules.items() if not holds]
    if wrong:
        raise ValueError(
            f"{name} must state a PrivacyGuarantee, a sensitivity greater than 0, gains_in_a_round from 1, a horizon"
            f" from 1 to {inputs.horizon // mechanism.batch_size} and a Noise; its {wrong[0]} is"
            f" {getattr(outputs, wrong[0])!r}. PrivacyGuarantee.none(reason) says that there is no guarantee."
        )
    if not mechanism.releases_sums:
        check_values(outputs, name)
    return outputs


def public_spec(spec: EnvSpec | None, boundary: type) -> EnvSpec | None:
    """Return a spec without arguments, as these may be private gains or functions that hold them.

    Such a spec cannot make an environment: its entry point is `refuse_to_make`.

    Args:
        spec: The spec of the environment below the boundary.
        boundary: The boundary's class.
    """
    if spec is None:
        return None
    outermost = WrapperSpec(boundary.__name__, f"{boundary.__module__}:{boundary.__name__}", None)
    inner = [WrapperSpec(one.name, one.entry_point, None) for one in spec.additional_wrappers]
    entry_point = f"{__name__}:{refuse_to_make.__name__}"
    return EnvSpec(id=spec.id, entry_point=entry_point, additional_wrappers=(*inner, outermost))


def refuse_to_make(**_: Any) -> Any:
    """Refuse to make an environment from the spec of a private one, as `gym.make` and `gym.make_vec` ask for."""
    raise ValueError(
        "the spec of a private environment cannot be made again, because its arguments, which may hold private gains,"
        " are left out of it. Register the game with its wrappers as an id, which can be: dp_bandit_envs"
        ".register_private('MyGame-v0', game=..., wrappers=['LaplaceClipRescale'], epsilon=...)."
    )
