"""An algorithm: a name from a paper, the wrappers that make it private, and the agent inside them.

Its methods return the games it can play, and its guarantee and regret bounds in a game.
"""

import dataclasses
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

import gymnasium as gym

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Deterministic
from dp_bandit_envs.agents import FunctionalAgent, RandomLabels
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import WrongGameError, WrongTypeError
from dp_bandit_envs.graphs import GraphSource
from dp_bandit_envs.privacy.guarantee import DELTA, PrivacyGuarantee, with_agent
from dp_bandit_envs.privacy.secure_draws import ChoosesDraws
from dp_bandit_envs.protocols import AgentFactory, Environment, PointAgentFactory, plays_points
from dp_bandit_envs.text import name_of, written_value
from dp_bandit_envs.theory.argument_ranges import arm_means
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.wrappers.layers import boundaries_below, layers_of, participation_below


def refusal_of_hidden(name: str, env: Environment) -> str:
    """Return why an agent that needs all gains refuses a game that does not reveal them."""
    way_out = "feedback='full'" if plays_points(env) else "DPBandit-Experts-v0"
    return (
        f"{name} learns from the gains of all arms or coordinates, but this game does not reveal them all in every"
        f" round. Use {way_out}."
    )


def unchanged(env: Environment) -> Environment:
    """Return the environment without wrappers."""
    return env


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """Wrappers and an agent, with the guarantees and regret bounds known for the two together.

    `Algorithm("mine", MyAgent)` is enough for your own agent; `make_algorithm` makes the papers' algorithms.

    Args:
        name: The name of its results.
        make_agent: Makes a fresh agent for games with arms, such as an agent's class; None if it plays points only. An
            agent whose confidence terms depend on the noise needs a method `see_noise`, like the agents of this
            package.
        make_point_agent: Makes a fresh agent for games of points; by default it plays arms only.
        feedback: The feedback its agents need: `"any"`; `"full"` for every value of every round (also taken from the
            attribute `feedback = "full"` of an agent's class); or `"payoff"`, for games of points, if they need only
            the payoff of the point.
        decision_sets: Names of the decision sets whose points it plays; by default all.
        wrapping: Puts the privacy wrappers around an environment; by default there are none.
        own_guarantee: The guarantee for `(n_arms, horizon)` where it comes from the agent's own randomness, so that it
            covers the arms only; by default it is that of the outermost wrapper. It must cover horizon + 1 steps: with
            batches, the last, unfinished one counts as a step, although it releases no sum.
        paper_guarantee_of: The paper's claim for `(n_arms, horizon)`, where it differs.
        bound: An upper bound on the expected external regret for `(n_arms, horizon, memory)`, where one is known.
        bound_in: An upper bound on it for an environment whose bound depends on more, such as the decision set; by
            default `bound` for games with arms.
        stochastic_bound: An upper bound on the pseudo-regret for `(means, horizon)`, where one is known.
        graph_bound: The same for feedback that always reveals the gain of the arm played, and may reveal others.
        sample_bound: A lower bound on the expected rounds until an algorithm of its kind stops, for `means` of coins.
        parameters: The chosen parameters, for reports.
        reference: Author (year) and theorem.
        player: Determines the random streams of agent and wrappers, together with the seed; by default name and
            parameters, whatever the results are called later. Algorithms with the same player share their noise.

    Example:
        >>> from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale
        >>> mine = Algorithm("mine", Exp3, lambda env: LaplaceClipRescale(env, epsilon=0.5))
        >>> guarantee = mine.guarantee(n_arms=4, horizon=1000)
        >>> guarantee.epsilon, guarantee.model, guarantee.covers
        (0.5, 'local', 'arms and releases')
    """

    name: str
    make_agent: AgentFactory | None
    wrapping: Callable[[Environment], Environment] = unchanged
    make_point_agent: PointAgentFactory | None = None
    feedback: Literal["any", "full", "payoff"] = "any"
    decision_sets: tuple[str, ...] = ()
    own_guarantee: Callable[[int, int], PrivacyGuarantee] | None = None
    paper_guarantee_of: Callable[[int, int], PrivacyGuarantee] | None = None
    bound: Callable[[int, int, int], float] | None = None
    bound_in: Callable[[Environment], float] | None = None
    stochastic_bound: Callable[[Sequence[float], int], float] | None = None
    graph_bound: Callable[[Sequence[float], int], float] | None = None
    sample_bound: Callable[[Sequence[float]], float] | None = None
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    reference: str = ""
    player: str = ""

    def __post_init__(self) -> None:
        """Refuse an agent instead of an agent factory; name the player."""
        _check_wrapping(self.wrapping)
        makers: list[Any] = [one for one in (self.make_agent, self.make_point_agent) if one is not None]
        for factory in makers or [None]:
            if callable(factory):
                continue
            kind = type(factory).__name__
            raise TypeError(
                f"make_agent must make a fresh agent when called; received {checks.kind_of(factory)}. Use {kind}"
                f" itself, or lambda: {kind}(...)."
            )
        if any(needs_all(one) for one in makers):
            object.__setattr__(self, "feedback", "full")
        if not self.player:
            object.__setattr__(self, "player", f"{self.name} {written_value(self.parameters)}")

    def __repr__(self) -> str:
        """Return the chosen arguments; functions by name, without addresses, which differ between processes.

        Functions without a name of their own, such as lambdas, are left out.
        """
        makers = {"make_agent": self.make_agent, "make_point_agent": self.make_point_agent, "wrapping": self.wrapping}
        names = {key: _written(one) for key, one in makers.items() if one is not None and one is not unchanged}
        chosen = [f"{key}={name}" for key, name in names.items() if "<" not in name]
        if self.parameters:
            chosen.append(
                f"parameters={{{', '.join(f'{key!r}: {_written(one)}' for key, one in self.parameters.items())}}}"
            )
        return f"Algorithm({', '.join([repr(self.name), *chosen])})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle an algorithm of `make_algorithm` as its name and parameters, because its functions are local."""
        recipe: Callable[[], Algorithm] | None = vars(self).get("_recipe")
        return super().__reduce_ex__(protocol) if recipe is None else (build_from_recipe, (recipe,))

    def wrap(self, env: Environment) -> Environment:
        """Return the environment in this algorithm's privacy wrappers."""
        inside: Any = self.wrapping(env)
        if not isinstance(inside, gym.Env):
            raise _wrong_wrapping(f"one that returned {'None' if inside is None else checks.kind_of(inside)}")
        return inside

    def agent(self, env: Environment | None = None) -> Any:
        """Return a fresh agent for a game; `play` and `simulate` pass it the noise of the wrappers (`see_noise`).

        Args:
            env: The game; by default any game with arms, or with points if it does not play arms.

        Raises:
            WrongGameError: If it cannot play this game.
        """
        if env is not None:
            self.check_game(env)
        points = self.make_agent is None if env is None else plays_points(env)
        make = self.make_point_agent if points else self.make_agent
        assert make is not None
        agent = make()
        if env is not None and needs_all(agent) and hides_gains(env):
            raise WrongGameError(refusal_of_hidden(self.name, env))
        return agent if env is None else _labelled(agent, env)

    def check_game(self, env: Environment) -> None:
        """Raise `WrongGameError` if it cannot play a game."""
        reason = self.refusal(env)
        if reason is not None:
            raise WrongGameError(reason)

    def refusal(self, env: Environment) -> str | None:
        """Return why it cannot play a game, or None if it can."""
        points = plays_points(env)
        if (self.make_point_agent if points else self.make_agent) is None:
            here, there = ("points", "arms") if points else ("arms", "points of a decision set")
            other = "OSMD" if points else "EXP3"
            return (
                f"{self.name} plays {there}; the actions of this game are {here}. Use one for {here}, such as {other}."
            )
        facts: Any = env.unwrapped
        if self.feedback == "full" and hides_gains(env):
            return refusal_of_hidden(self.name, env)
        if points and self.feedback == "payoff" and facts.n_values != 1:
            return f"{self.name} learns from payoffs; use feedback='bandit'."
        if points and self.feedback != "payoff" and facts.n_values == 1:
            return f"{self.name} learns from gain vectors, but this game reveals payoffs only. Use feedback='full'."
        name = facts.decision_set.name if points else ""
        if points and self.decision_sets and name not in self.decision_sets:
            return f"{self.name} is for the {' and the '.join(self.decision_sets)}; this game is on the {name}."
        return None

    @checks.answers_wrong_calls
    def guarantee(self, *, n_arms: SupportsIndex, horizon: SupportsIndex, sensitivity: float = 1.0) -> PrivacyGuarantee:
        """Return the guarantee for the sequence of all arms played in one game.

        Args:
            n_arms: Number of arms K, at least 2.
            horizon: Number of rounds T, at least 1.
            sensitivity: The environment's sensitivity: 1, or on a feedback graph the largest number of gains that a
                round reveals.
        """
        k, t = _size_of(n_arms, horizon)
        game: BanditEnv
        if self.feedback == "full":
            game = ExpertsEnv(gains=Deterministic(k, t))
        else:
            game = BanditEnv(Deterministic(k, t))
            game.sensitivity = sensitivity
        return self.guarantee_in(game)

    def guarantee_in(self, env: Environment) -> PrivacyGuarantee:
        """Return the guarantee for the sequence of all actions in one game.

        If both the agent's own randomness and a privacy wrapper have a guarantee, it is the guarantee with the smaller
        epsilon at delta = 1e-6.

        Args:
            env: The game, without this algorithm's wrappers.
        """
        return self._guarantee(None, env)

    def first_release_in(self, env: Environment) -> int:
        """Return the number of rounds of a game before its first release; above the horizon if there is none.

        Args:
            env: The game, without this algorithm's wrappers.
        """
        layers = [layer for layer in layers_of(self.wrap(env)) if isinstance(layer, PrivacyBoundary)]
        return math.prod(layer.mechanism.first_release(layer.inputs) for layer in layers)

    def guarantee_inside(self, inside: Environment, env: Environment) -> PrivacyGuarantee:
        """Return `guarantee_in` for a game that is already wrapped.

        Args:
            inside: The game in this algorithm's wrappers, from `wrap`.
            env: The game.
        """
        is_overridden = type(self).guarantee_in is not Algorithm.guarantee_in
        return self.guarantee_in(env) if is_overridden else self._guarantee(inside, env)

    def _guarantee(self, inside: Environment | None, env: Environment) -> PrivacyGuarantee:
        reason = None if self.own_guarantee is None else _proofs_do_not_cover(env, self.name)
        if reason is not None:
            return PrivacyGuarantee.none(reason)
        inside = self.wrap(env) if inside is None else inside
        stated = inside.get_wrapper_attr("guarantee") if inside.has_wrapper_attr("guarantee") else None
        of_sums = inside.has_wrapper_attr("releases_sums") and inside.get_wrapper_attr("releases_sums")
        if (
            self.own_guarantee is not None
            and of_sums
            and self.feedback != "full"
            and env.get_wrapper_attr("sensitivity") > 1
        ):
            return PrivacyGuarantee.none("a round reveals several gains, which all enter sums; the proof is for one")
        if self.own_guarantee is not None:
            by_agent = self.own_guarantee(set_of(env)[1], env.get_wrapper_attr("horizon"))
        elif stated is not None:
            return stated  # type: ignore[no-any-return]
        else:
            by_agent = PrivacyGuarantee.none(
                "no wrapper adds noise, and nothing is known of the agent's own randomness"
            )
        if not isinstance(by_agent, PrivacyGuarantee):
            return by_agent
        # What a boundary states holds for any agent above it.
        if isinstance(stated, PrivacyGuarantee) and stated.epsilon_at(DELTA) < by_agent.epsilon_at(DELTA):
            return stated
        layers = stated.steps if isinstance(stated, PrivacyGuarantee) else ()
        return dataclasses.replace(
            by_agent if by_agent.steps else with_agent(by_agent, layers), data=participation_below(env)
        )

    @checks.answers_wrong_calls
    def paper_guarantee(self, *, n_arms: SupportsIndex, horizon: SupportsIndex) -> PrivacyGuarantee:
        """Return the paper's claim, for comparison; rely on `guarantee`."""
        k, t = _size_of(n_arms, horizon)
        return self.guarantee(n_arms=k, horizon=t) if self.paper_guarantee_of is None else self.paper_guarantee_of(k, t)

    def paper_guarantee_in(self, env: Environment) -> PrivacyGuarantee:
        """Return the paper's claim for a game, for comparison."""
        if self.paper_guarantee_of is None:
            return self.guarantee_in(env)
        return self.paper_guarantee_of(set_of(env)[1], env.get_wrapper_attr("horizon"))

    @checks.answers_wrong_calls
    def regret_bound(
        self, *, n_arms: SupportsIndex, horizon: SupportsIndex, memory: SupportsIndex = 0, sensitivity: float = 1.0
    ) -> float:
        """Return an upper bound on the expected external regret, in units of gain; inf if none is known.

        Bounds are capped at T, as a round costs at most 1.

        Args:
            n_arms: Number of arms K, at least 2.
            horizon: Number of rounds T, at least 1.
            memory: The adversary's memory m, which charges rounds after a change of arm; most bounds hold for m = 0
                only, and with other payoff functions none holds for m > 0.
            sensitivity: The environment's sensitivity; above 1, noise is larger than the bounds assume, except for
                algorithms that need all gains.
        """
        k, t = _size_of(n_arms, horizon)
        m = checks.integer("memory", memory, at_least=0)
        # Where every round reveals all gains, its noise is scaled to them in any case.
        louder = sensitivity > 1 and self.feedback != "full"
        if self.bound_in is not None and self.feedback == "full" and m == 0:
            return _cut(self.bound_in(ExpertsEnv(gains=Deterministic(k, t))), t)
        if self.bound is None:
            return math.inf
        if louder and self.own_guarantee is None and self.guarantee(n_arms=k, horizon=t).model != "none":
            return math.inf
        return _cut(self.bound(k, t, m), t)

    def regret_bound_in(self, env: Environment) -> float:
        """Return an upper bound on the expected external regret in a game, in units of gain; inf if none is known.

        It is at most T times the width of the range of payoffs: T with arms, 2 T on the ball and the cube. None is
        known for graphs with arms that do not reveal their own gains.

        Args:
            env: The game, without this algorithm's wrappers; a DPBandit environment.
        """
        game: Any = env.unwrapped
        memory, payoff = game.adversary.memory, game.adversary.payoff
        # With memory, the known bounds assume switching charges, under which a fixed arm collects its gains.
        if self.refusal(env) is not None or (memory > 0 and payoff is not None) or hides_own_gains(env):
            return math.inf
        points = plays_points(env)
        if self.bound_in is not None and memory == 0:
            low, high = game.decision_set.payoffs if points else (0.0, 1.0)
            return _cut(self.bound_in(env), game.horizon, high - low)
        if points:
            return math.inf
        return self.regret_bound(n_arms=game.n_arms, horizon=game.horizon, memory=memory, sensitivity=game.sensitivity)

    @checks.answers_wrong_calls
    def pseudo_regret_bound(
        self, *, means: Sequence[SupportsFloat], horizon: SupportsIndex, sensitivity: float = 1.0
    ) -> float:
        """Return an upper bound on the pseudo-regret for independent gains, in units of gain; inf if none is known.

        Bounds are capped at T, as a round costs at most 1.

        Args:
            means: The arms' means, at least 2, each in [0, 1].
            horizon: Number of rounds T, at least 1.
            sensitivity: The environment's sensitivity; above 1, bounds are known only for algorithms that need all
                gains, and for some without noise, if every arm reveals its own gain.
        """
        numbers = arm_means(means)
        _, t = _size_of(len(numbers), horizon)
        # Most proofs are for rounds that reveal one gain, or all of them.
        bound = self.graph_bound if sensitivity > 1 and self.feedback != "full" else self.stochastic_bound
        return math.inf if bound is None else _cut(bound(numbers, t), t)

    @checks.answers_wrong_calls
    def sample_lower_bound(self, *, means: Sequence[SupportsFloat]) -> float:
        """Return the expected rounds that every algorithm with its guarantees plays until it stops, with coins.

        Its guarantees are its privacy, and how often it recommends a wrong arm; 0 for algorithms that do not stop.

        Args:
            means: The arms' means, at least 2, each in [0, 1]; inf if two arms are best.
        """
        numbers = arm_means(means)
        return 0.0 if self.sample_bound is None else self.sample_bound(numbers)


Algorithm.__init__ = checks.answers_wrong_calls(Algorithm.__init__)  # type: ignore[method-assign]


def build_from_recipe(recipe: Callable[[], Algorithm]) -> Algorithm:
    """Return an algorithm that stores its recipe, so that it can be pickled.

    Args:
        recipe: A function that makes it and can be pickled. A copy with other fields (`dataclasses.replace`) loses the
            recipe.
    """
    algorithm = recipe()
    object.__setattr__(algorithm, "_recipe", recipe)
    return algorithm


def secured(algorithm: Algorithm) -> Algorithm:
    """Return an algorithm whose privacy wrappers have secure draws, for `play` with `seed=None`.

    Agents and guarantees are unchanged, except for `draw_distance`; noise that must cover a grid is larger by about one
    part in 10^9. Agents still draw arms with NumPy's generator. Wrappers without noise are unchanged.

    Raises:
        WrongTypeError: If it is not an `Algorithm`; from `wrap`, if a wrapper has a user's noise, which has no secure
            form.
        ValueError: From `wrap`, if a wrapper has own-norm noise, or a counter that weights its draws (as in `AS-FTPL`,
            and in `DP-FTRL` with the default `counter`), which has no exact form.
        ImportError: From `wrap`, if OpenDP is missing (extra `secure`).
    """
    if not isinstance(algorithm, Algorithm):
        raise WrongTypeError(f"secured needs an Algorithm, such as make_algorithm('DP-IMED'); received {algorithm!r}.")

    def wrapping(env: Environment) -> Environment:
        return _with_secure_draws(algorithm.wrap(env), env)

    return dataclasses.replace(algorithm, wrapping=wrapping)


def _with_secure_draws(inside: Environment, env: Environment) -> Environment:
    if inside is env:
        return env
    name = type(inside).__name__
    if not isinstance(inside, PrivacyBoundary):
        raise WrongTypeError(f"only privacy wrappers can have secure draws; this algorithm has a {name} of its own.")
    mechanism = inside.mechanism
    if isinstance(mechanism, ChoosesDraws):
        mechanism = mechanism.secured()
    elif mechanism.guarantee(inside.inputs).model != "none":
        raise WrongTypeError(
            f"{name} has noise without a secure form. Those of dp_bandit_envs.privacy.mechanisms have one."
        )
    wrapper: Any = type(inside).__new__(type(inside))
    PrivacyBoundary.__init__(wrapper, _with_secure_draws(inside.env, env), mechanism)
    return wrapper  # type: ignore[no-any-return]


def _labelled(agent: Any, env: Environment) -> Any:
    """Return the agent, with random labels if ties are common: in games that reveal gains of other arms."""
    game: Any = env.unwrapped
    if not getattr(agent, "tries_in_order", False) or plays_points(env) or getattr(game, "sensitivity", 1.0) == 1.0:
        return agent
    sees_graph = type(agent).with_graph is not FunctionalAgent.with_graph and env.has_wrapper_attr("graph")
    return agent if sees_graph else RandomLabels(agent)


def needs_all(agent: Any) -> bool:
    """Whether an agent or its factory declares that it needs every value of every round."""
    return getattr(agent, "feedback", "any") == "full"


def hides_gains(env: Environment) -> bool:
    """Whether some rounds of a game hide gains of arms, or a part of the gain vector."""
    game: Any = env.unwrapped
    values = getattr(game, "values", None)
    payoffs_only = plays_points(env) and game.n_values < game.decision_set.dimension
    return values is None or not values.complete or payoffs_only


def hides_own_gains(env: Environment) -> bool:
    """Whether some arms of a game do not reveal their own gains, which the proofs of bounds exclude."""
    source = getattr(env.unwrapped, "source", None)
    return isinstance(source, GraphSource) and not source.graph.reveals_itself


def set_of(env: Environment) -> tuple[str, int]:
    """Return the decision set's name and dimension; arms are the corners of the simplex."""
    if plays_points(env):
        decision_set = env.get_wrapper_attr("decision_set")
        return decision_set.name, int(decision_set.dimension)
    return "simplex", int(env.get_wrapper_attr("n_arms"))


def _size_of(n_arms: SupportsIndex, horizon: SupportsIndex) -> tuple[int, int]:
    return checks.integer("n_arms", n_arms, at_least=2), checks.integer("horizon", horizon, at_least=1)


def _written(part: Any) -> str:
    """Return the name of a function or a class, and otherwise the repr, if it has no address."""
    function = getattr(part, "func", part)  # of a functools.partial
    if hasattr(function, "__qualname__"):
        return name_of(function)
    text = repr(part)
    return f"<{type(part).__name__}>" if " at 0x" in text else text


def _cut(bound: float, horizon: int, width: float = 1.0) -> float:
    """Return the bound, capped at the largest cost of T rounds; inf (unknown) stays inf."""
    return bound if math.isinf(bound) else min(bound, horizon * width)


def _proofs_do_not_cover(env: Environment, algorithm: str) -> str | None:
    """Return why the guarantee of an agent's own randomness does not hold in a game, or None if it does.

    An agent sees the wrappers' outputs. Its proof assumes that a changed round changes each arm's gain once, by at most
    1; batches, which change it by less, are covered.
    """
    try:
        boundaries = boundaries_below(env, algorithm)
    except TypeError:
        return f"a wrapper may change what {algorithm} observes, and its proof assumes the game's own observations"
    values = getattr(env.unwrapped, "values", None)
    if values is not None and not plays_points(env) and not (values.low >= 0 and values.high <= 1):
        return f"the proof is for gains in [0, 1]; this game reveals values in [{values.low:g}, {values.high:g}]"
    if boundaries:
        game, seen = boundaries[-1].inputs, boundaries[0].outputs
        most = max(game.sensitivity, game.values.width * game.gains_in_a_round)
        if seen.gains_in_a_round > game.gains_in_a_round or seen.sensitivity > most:
            return "a mechanism below lets one round count more than once, or more than its gains do"
    return None


def _check_wrapping(wrapping: Any) -> None:
    """Raise a TypeError unless `wrapping` can be called with only an environment."""
    if not callable(wrapping):
        raise _wrong_wrapping(checks.kind_of(wrapping))
    try:
        signature = inspect.signature(wrapping)
    except (TypeError, ValueError):  # some callables of other languages have none
        return
    try:
        signature.bind(None)
    except TypeError as error:
        name = getattr(wrapping, "__name__", type(wrapping).__name__)
        raise _wrong_wrapping(f"{name}, which cannot be called with env alone ({error})") from None


def _wrong_wrapping(received: str) -> WrongTypeError:
    return WrongTypeError(
        "wrapping must be a function env -> wrapped env, such as lambda env: dp_bandit_envs.LaplaceClipRescale(env,"
        " epsilon=1.0);"
        f" received {received}."
    )
