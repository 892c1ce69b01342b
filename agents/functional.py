"""Turns an algorithm written as three plain functions into an agent.

    start(n_arms, horizon, ...) -> State        select(state, rng) -> arm        update(state, arm, seen) -> State

`State` is a NamedTuple of arrays and numbers; `seen` is the release, `Gains` or `Sums` of
`dp_bandit_envs.protocols`. The agent calls the functions as ordinary Python; `dp_bandit_envs.simulation` compiles
the same functions. They use only scalar arithmetic and `math`, so that both give the same results to the last bit.

For points, `select(state, point, rng)` writes its choice into `point`, a sequence of `dimension` numbers that the
caller owns, and `update` gets arm 0. An agent that needs the point again stores it in its state.
"""

import abc
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, ClassVar, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.errors import StepOutsideGameError, WrongGameError, WrongObservationError, WrongTypeError
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.privacy.facts import Noise
from dp_bandit_envs.protocols import KEYS, FloatArray, Gains, Sums
from dp_bandit_envs.text import name_of

CURE: Final = {
    Gains: "Use a DPBandit environment without FlattenObservation, or with LaplaceClipRescale or MiniBatchAverage"
    " around it; both are in dp_bandit_envs.wrappers.",
    Sums: "wrap it in ExactSums(env) or HybridSums(env, epsilon=...); both are in dp_bandit_envs.wrappers.",
}
SINGLE: Final = "the arrays of the state are lists in play: read and write single elements, as state.sums[arm] += 1.0"


class ObservationFields:
    """The argument of `update` in ordinary Python: the fields of `Gains` or `Sums`.

    One object is reused for the whole game: a new NamedTuple per step would take longer than EXP3's update.
    """

    __slots__ = ("counts", "gains", "observed", "releases", "sums")

    gains: Sequence[float]
    observed: Sequence[int]
    sums: Sequence[float]
    counts: Sequence[int]
    releases: Sequence[int]


TIDY_EVERY: Final = 32
"""Steps from one call of `tidy` to the next."""


class Functions(NamedTuple):
    """An algorithm's functions for each step.

    Attributes:
        select: Returns the arm to play.
        update: Returns the state after a release.
        tidy: Called after every 32nd update; rare work goes here, which keeps the other functions short.
        update_own: A shorter `update` for games where only the arm played can have a new release; `select` must return
            the same after either. The compiled loop calls it there.
        recommend: Returns the arm that seems best, for agents that look for it.
        is_done: Returns whether such an agent has stopped.
    """

    select: Callable[[Any, np.random.Generator], int]
    update: Callable[[Any, int, Any], Any]
    tidy: Callable[[Any], Any] | None = None
    update_own: Callable[[Any, int, Any], Any] | None = None
    recommend: Callable[[Any], int] | None = None
    is_done: Callable[[Any], bool] | None = None

    def after(self, state: Any, arm: int, seen: Any, step: int) -> Any:
        """Return the state after a step; steps count from 1."""
        state = self.update(state, arm, seen)
        return state if self.tidy is None or step % TIDY_EVERY else self.tidy(state)


class FunctionalAgent(abc.ABC):
    """An agent made of `select` and `update`, and of `initial_state`, which calls the algorithm's `start`.

    It prints the parameters that are not the defaults, and `clone` makes another one with them. For both an agent of
    your own stores each argument of its `__init__` under the argument's name.

    Example:
        >>> from dp_bandit_envs import Exp3
        >>> agent = Exp3(exploration_rate=0.1)
        >>> agent, agent.clone(exploration_rate=0.2), Exp3()
        (Exp3(exploration_rate=0.1), Exp3(exploration_rate=0.2), Exp3())
    """

    functions: Functions
    """The algorithm's `select` and `update`."""
    learns_from: ClassVar[type[Gains] | type[Sums]] = Gains
    """The type of the third argument of `update`."""
    noise: Noise = Noise()
    """The noise in the observations, set before `begin`."""
    feedback: ClassVar[str] = "any"
    """`"full"` if the agent needs the gains of all arms in every round; bandit games are then refused."""
    waits: bool = False
    """Whether the agent keeps playing an arm until that arm's own gains are released."""
    tries_in_order: bool = False
    """Whether the agent tries new arms in order, or breaks ties for the first; an `Algorithm` then hides the order from
    it in games that reveal gains of other arms, by `RandomLabels`."""

    def __init_subclass__(cls) -> None:
        """Let this package's agents answer wrong calls."""
        super().__init_subclass__()
        checks.answer_wrong_calls_of(cls, "__init__", "begin")

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of `__init__` that are stored under their names."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters if hasattr(self, name)}

    def __repr__(self) -> str:
        signature = inspect.signature(type(self)).parameters.values()
        has_defaults = all(one.default is not one.empty or one.kind not in (1, 3) for one in signature)
        usual = type(self)().parameters if has_defaults else {}
        chosen = {
            name: name_of(value) if inspect.isfunction(value) else repr(value)
            for name, value in self.parameters.items()
            if name not in usual or repr(value) != repr(usual[name])
        }
        return f"{type(self).__name__}({', '.join(f'{name}={written}' for name, written in chosen.items())})"

    def clone(self, **changes: Any) -> Self:
        """Return a new agent, which has no game yet, with the parameters of this one.

        Args:
            changes: Other values for some of them.

        Raises:
            WrongTypeError: If a parameter is not stored under its name, so that its value is unknown.
        """
        parameters = self.parameters
        parameters |= {name: one.clone() for name, one in parameters.items() if isinstance(one, FunctionalAgent)}
        signature = inspect.signature(type(self)).parameters
        unknown = [name for name, one in signature.items() if one.kind in (1, 3) and name not in parameters | changes]
        if unknown:
            raise WrongTypeError(
                f"{type(self).__name__} must store each argument of its __init__ under its name to be cloned; it has no"
                f" attribute {unknown[0]!r}. Write self.{unknown[0]} = {unknown[0]} there."
            )
        return type(self)(**parameters | changes)

    @abc.abstractmethod
    def initial_state(self, n_arms: int, horizon: int) -> Any:
        """Return the state before the first step, with this agent's parameters."""

    @checks.answers_wrong_calls
    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Reset everything for a game of `horizon` steps."""
        n_arms = checks.integer("n_arms", n_arms, at_least=1, at_most=checks.MOST_ARMS)
        horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.MOST_ROUNDS)
        checks.generator("rng", rng)
        self._state = _listed(self.initial_state(n_arms, horizon))
        self._rng = rng
        self._step = 0
        self._use_values(n_arms)

    def _use_values(self, number: int) -> None:
        """Expect observations of this many values: of arms, or of coordinates."""
        self._n_arms = number
        self._counts_before = [0] * number
        self._seen = ObservationFields()

    _size_is: ClassVar[str] = "n_arms"
    """What `begin` calls the size of a game."""

    def see_noise(self, noise: Noise) -> None:
        """Store the noise in the observations; called before `begin`."""
        if not isinstance(noise, Noise):
            raise WrongTypeError(f"noise must be a dp_bandit_envs.privacy.Noise; received {checks.kind_of(noise)}.")
        self.noise = noise

    def with_graph(self, state: Any, graph: FeedbackGraph) -> Any:
        """Return the state with the feedback graph of the next round; agents that do not use graphs ignore it."""
        if self.waits and not graph.reveals_itself:
            raise ValueError(
                f"{type(self).__name__} plays arms until their own gains are released, and on this graph some arms do"
                " not reveal their own. Use self_loops=True, or TsMaxN, UcbMaxN or ThompsonSampling()."
            )
        return state

    def see_graph(self, graph: FeedbackGraph) -> None:
        """Receive the feedback graph of the next round; called before the first round and when the graph changes."""
        self._check_begun()
        if not isinstance(graph, FeedbackGraph):
            raise WrongTypeError(
                f"graph must be a FeedbackGraph; received {checks.kind_of(graph)}. Use"
                " dp_bandit_envs.graphs.as_feedback_graph(graph)."
            )
        if graph.n_arms != self._n_arms:
            raise ValueError(
                f"graph must have {self._n_arms} arms, as begin(n_arms=...) was told; received one of {graph.n_arms}."
            )
        self._state = _listed(self.with_graph(self._state, graph))

    def select_arm(self) -> int:
        """Choose the next arm."""
        try:
            state, rng = self._state, self._rng
        except AttributeError:
            self._check_begun()
            raise
        try:
            return self.functions.select(state, rng)
        except (AttributeError, TypeError) as error:
            _explain(error, self, self.functions.select)
            raise

    def update(self, arm: int, observation: Mapping[str, NDArray[Any]]) -> None:
        """Learn from the observation after `arm` was played."""
        of_sums = self.learns_from is Sums
        try:
            n_arms, seen = self._n_arms, self._seen
            if of_sums:
                value, count, release = observation["sum"], observation["count"], observation["release"]
            else:
                value, count = observation["gain"], observation["observed"]
        except (AttributeError, KeyError, IndexError, TypeError):
            self._check_begun()
            raise WrongObservationError(self._complaint(observation)) from None
        if not (type(arm) is int and 0 <= arm < n_arms):
            arm = checks.arm(arm, n_arms)
        try:
            values, counts = value.tolist(), count.tolist()
            # A finite (or integer) sum means that all terms are, and it takes a tenth of the time of checking each.
            valid = len(values) == n_arms and math.isfinite(sum(values))
            if of_sums:
                releases = release.tolist()
                valid = valid and len(counts) == len(releases) == n_arms and min(counts) >= 0 and min(releases) >= 0
                valid = valid and type(sum(counts)) is int and type(sum(releases)) is int
            else:
                valid = valid and counts.count(0) + counts.count(1) == n_arms
        except (AttributeError, TypeError, ValueError, OverflowError):
            valid = False
        if not valid:
            self._refuse_other_size([value, count, release] if of_sums else [value, count])
            values, counts = self._checked(value, "biuf"), self._checked(count, "biu")
            if of_sums:
                releases = self._checked(release, "biu")
        if of_sums:
            if 0 in counts and any(before and not now for before, now in zip(self._counts_before, counts, strict=True)):
                raise self._refusal("an arm that has a release keeps one")
            self._counts_before = counts
            seen.sums, seen.counts, seen.releases = values, counts, releases
        else:
            seen.gains, seen.observed = values, counts
        self._step += 1
        try:
            state = self.functions.after(self._state, arm, seen, self._step)
        except (AttributeError, TypeError) as error:
            _explain(error, self, self.functions.update)
            raise
        if state is None:
            raise no_state(self)
        self._state = state

    def _refuse_other_size(self, arrays: Sequence[Any]) -> None:
        """Raise if these arrays are an observation of another number of values than the agent was begun for."""
        shapes = {getattr(array, "shape", ()) for array in arrays}
        shape: tuple[int, ...] = shapes.pop() if len(shapes) == 1 else ()
        if len(shape) == 1 and shape[0] != self._n_arms and self.feedback != "payoff":
            raise WrongObservationError(
                f"{type(self).__name__} was begun with {self._size_is}={self._n_arms}, and this observation has"
                f" {shape[0]} values. Call begin({self._size_is}=...) with the size of the game that is played."
            )

    def _checked(self, array: Any, kinds: str) -> list[Any]:
        """Return an entry of an observation as a list, or raise."""
        if isinstance(array, np.ndarray) and array.dtype.kind in kinds and array.shape == (self._n_arms,):
            numbers: list[Any] = array.tolist()
            if all(map(math.isfinite, numbers)) and (kinds == "biuf" or min(numbers) >= 0):
                return numbers
        first, *others = map(repr, KEYS[self.learns_from])
        raise self._refusal(
            f"{first} must be an array of {self._n_arms} finite numbers, and {' and '.join(others)} of integers of at"
            " least 0"
        )

    def _refusal(self, rule: str) -> WrongObservationError:
        """Return an error that does not show the observation, because it may be private."""
        return WrongObservationError(
            f"{type(self).__name__} cannot learn from this observation: {rule}. Pass the observation that env.step"
            " returned."
        )

    def _complaint(self, observation: Any) -> str:
        name = type(self).__name__
        received = list(observation) if isinstance(observation, Mapping) else type(observation).__name__
        if self.learns_from is Sums and isinstance(observation, Mapping) and "gain" in observation:
            return f"{name} learns from running sums, but this environment reports gains; {CURE[Sums]}"
        keys = " and ".join(map(repr, KEYS[self.learns_from]))
        cure = CURE[self.learns_from]
        return f"{name} learns from observations with {keys}; received {received}. {cure[0].upper()}{cure[1:]}"

    def _check_begun(self) -> None:
        if not hasattr(self, "_state"):
            raise StepOutsideGameError(
                f"{type(self).__name__} has no game yet; call begin({self._size_is}=, horizon=, rng=) first."
            )


def _listed(state: Any) -> Any:
    """Return a state with lists instead of arrays: access to single elements is twice as fast in ordinary Python."""
    if isinstance(state, np.ndarray):
        return state.tolist()
    return type(state)(*map(_listed, state)) if isinstance(state, tuple) else state


class StoppingAgent(FunctionalAgent):
    """An agent that looks for the best arm and stops; its functions include `recommend` and `is_done`.

    A game continues to its horizon: after the stop the agent plays the recommended arm and no longer learns, so its
    state and recommendation do not change.
    """

    def recommend(self) -> int:
        """Return the arm that seems best; the final one once it is `done`."""
        self._check_begun()
        assert self.functions.recommend is not None
        return self.functions.recommend(self._state)

    @property
    def done(self) -> bool:
        """Whether it has stopped."""
        self._check_begun()
        assert self.functions.is_done is not None
        return self.functions.is_done(self._state)


class FunctionalPointAgent(FunctionalAgent):
    """An agent for points made of `select` and `update`, and of `initial_state`, which calls `start`."""

    feedback: ClassVar[Literal["full", "payoff"]] = "full"
    """Whether it learns from gain vectors or from the payoffs of the points it played."""
    _size_is = "dimension"
    decision_set: DecisionSet | None = None
    """The set whose points are played, set before `begin`."""

    def begin(self, *, dimension: int, horizon: int, rng: np.random.Generator) -> None:  # type: ignore[override]
        """Reset everything for a game of `horizon` steps."""
        dimension = checks.integer("dimension", dimension, at_least=1, at_most=checks.MOST_ARMS)
        super().begin(n_arms=dimension, horizon=horizon, rng=rng)
        self._use_values(dimension if self.feedback == "full" else 1)
        self._point = [0.0] * dimension

    def see_set(self, decision_set: DecisionSet) -> None:
        """Receive the decision set; called before `begin`."""
        if not isinstance(decision_set, DecisionSet):
            raise WrongTypeError(f"decision_set must be a DecisionSet; received {checks.kind_of(decision_set)}.")
        self.decision_set = decision_set

    def for_set(self, table: Mapping[str, Any]) -> Any:
        """Return the entry of the decision set that was seen, or raise if the table has none."""
        seen = "none" if self.decision_set is None else self.decision_set.name
        if seen not in table:
            raise WrongGameError(f"{type(self).__name__} is for the {', the '.join(table)}; the set it saw is {seen}.")
        return table[seen]

    def select_point(self) -> FloatArray:
        """Choose the next point, shape `(dimension,)`."""
        self._check_begun()
        self.functions.select(self._state, self._point, self._rng)  # type: ignore[call-arg, arg-type]
        return np.array(self._point)

    def select_arm(self) -> int:
        """Raise an error: this agent plays points."""
        raise WrongTypeError(f"{type(self).__name__} plays points; call select_point().")

    def update(self, point: Any, observation: Mapping[str, NDArray[Any]]) -> None:
        """Learn from the release after `point` was played."""
        super().update(0, observation)


def no_state(agent: Any) -> WrongTypeError:
    """Return the error for an `update` that returned None."""
    name = agent.functions.update.__name__
    return WrongTypeError(
        f"{name} of {type(agent).__name__} must return the state; it returned nothing: write return state."
    )


def _explain(error: Exception, agent: Any, function: Any) -> None:
    """Replace an error from an agent's function by a clearer one, or return if there is none."""
    rule = _rule(error, agent)
    line = _line_in(error, function.__code__)
    if rule is None or line is None:
        return
    location = f"{PurePath(function.__code__.co_filename).name}, line {line}"
    raise WrongTypeError(f"{function.__name__} of {type(agent).__name__} ({location}) failed: {rule}.") from error


def _rule(error: Exception, agent: Any) -> str | None:
    """Return the rule that the function broke; the error itself is not shown, as it may contain a gain."""
    if isinstance(error, AttributeError) and type(error.obj).__name__ == "ObservationFields":
        fields = agent.learns_from._fields
        there = f"seen has {', '.join(fields[:-1])} and {fields[-1]}, not {error.name}"
        for kind in (Gains, Sums):
            if error.name in kind._fields:
                return f"{there}; write learns_from = {kind.__name__} in the class"
        return there
    text = str(error)
    if isinstance(error, AttributeError) and "can't set" in text:
        return (
            "fields of the state cannot be set: write single elements of an array, as state.sums[arm] += 1.0; a number"
            " changes by returning a new State(...), or is kept in an array of length 1"
        )
    of_a_list = "list" in text and "list indices" not in text
    return SINGLE if of_a_list or "object is not iterable" in text else None


def _line_in(error: Exception, code: Any) -> int | None:
    """Return the line of a function where an error passed through it, or None."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            return trace.tb_lineno
        trace = trace.tb_next
    return None
