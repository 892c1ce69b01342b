"""The rules for agents: three methods, choices from the agent's own stream, and no memory of other games."""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import FunctionalPointAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance.rules import copies_of, global_randomness_untouched, must_not_fail, require
from dp_bandit_envs.conformance.trial_games import (
    COMPILED,
    EXPERTS,
    GRAPH,
    OWN_IDS,
    POINT_IDS,
    REVEALING_ALL,
    STOCHASTIC,
    WORLDS,
    AgentTrial,
    World,
    begin,
    check_played_equals_simulated,
    game_of_arms,
    game_of_points,
    made,
    revealing_all,
    steps_of,
    table_of,
)
from dp_bandit_envs.decisions import DECISION_SETS
from dp_bandit_envs.errors import WrongGameError, WrongObservationError, WrongPointError
from dp_bandit_envs.protocols import AgentFactory, Environment, FloatArray, Gains, Observation, Sums, plays_points
from dp_bandit_envs.simulation import play

OF_ARMS: Final = {"begin": ("n_arms", "horizon", "rng"), "select_arm": (), "update": ("arm", "observation")}
OF_POINTS: Final = {"begin": ("dimension", "horizon", "rng"), "select_point": (), "update": ("point", "observation")}
SIZES: Final = ((1, 1), (1, 20), (2, 1), (2, 40), (3, 200), (50, 120))  # arms and rounds
POINT_SIZES: Final = ((2, 1), (2, 30), (10, 60))  # dimensions and rounds
KINDS: Final = {"gains": ("gains",), "sums": ("sums",), "both": ("gains", "sums")}
REVEALED: Final = {"full": "full", "payoff": "bandit"}
"""The feedback of a game of points, by the feedback that an agent needs."""
playing: Final = functools.partial(must_not_fail, is_public=True)
"""All gains of these games are synthetic, so messages are public."""
OTHER_SET: Final = (
    "decision_set.project(point) returns the nearest point. If the agent is not for the {}, raise WrongGameError in"
    " see_set(decision_set), or name its sets: check_agent(..., decision_sets=['ball'])."
)
Choices = list[Any]
"""The arms of a game, or its points as lists."""


@checks.answers_wrong_calls
def check_agent(
    make_agent: AgentFactory,
    *,
    learns_from: str | None = None,
    feedback: str | None = None,
    decision_sets: Iterable[str] | None = None,
) -> None:
    """Check your own agent against everything that `play` and `simulate` rely on.

    The rules: it has the three methods with the protocol's names, and arms are integers in [0, K). The same stream
    gives the same arms, `begin` resets all state, and two agents share no state. Observations are not modified or
    stored, and no undeclared key is read. The global random state is not used. It plays games of one round and of one,
    two and many arms, rounds without a release, and sums outside [0, count]. `probabilities`, if present, is the
    distribution of the arms drawn. Copies and pickles play the same. Every base environment can be played, graphs
    included. A `FunctionalAgent` plays the same compiled as step by step, to the last bit. An agent that needs the
    gains of all arms is checked in games that reveal them, with experts and on the complete graph. If it has the
    attribute `feedback = "full"`, `play` and `simulate` refuse other games. An agent with `select_point` is checked by
    the same rules in games of points, on every decision set that it does not refuse with a `WrongGameError`.

    Args:
        make_agent: Makes a new agent when called without arguments, such as an agent's class.
        learns_from: `"gains"`, `"sums"` or `"both"`; by default the agent's attribute `learns_from`, or `"gains"` if it
            has none.
        feedback: `"full"` for an agent that needs the gains of all arms in every round, or `"any"`; by default the
            agent's attribute `feedback`, or `"any"` if it has none. For points `"full"`, the default, or `"payoff"`.
        decision_sets: For agents that play points, the names of their sets: `"ball"`, `"cube"`, `"simplex"`; by default
            all sets that they do not refuse.

    Raises:
        ConformanceError: If a rule is broken.
    """
    with global_randomness_untouched("an agent"):
        agent: Any = _fresh(make_agent)
        points = hasattr(agent, "select_point")
        _check_methods(agent, OF_POINTS if points else OF_ARMS)
        usual, allowed = ("full", tuple(REVEALED)) if points else ("any", ("any", "full"))
        stated = getattr(agent, "feedback", usual) if feedback is None else feedback
        needs = checks.one_of("feedback", stated, allowed)
        if learns_from is None:
            learns_from = "sums" if getattr(agent, "learns_from", Gains) is Sums else "gains"
        kinds = KINDS[checks.one_of("learns_from", learns_from, tuple(KINDS))]
        if points:
            _check_on_sets(make_agent, kinds, needs, decision_sets)
        else:
            _check_on_arms(make_agent, kinds, full=needs == "full")


def _check_on_arms(make_agent: Any, kinds: tuple[str, ...], *, full: bool) -> None:
    for kind in kinds:
        worlds = {name: revealing_all(world) if full else world for name, world in WORLDS[kind].items()}
        for name, world in worlds.items():
            for n_arms, horizon in SIZES:
                _choices(make_agent(), game_of_arms(world, table_of(horizon, n_arms)))
            trial = game_of_arms(world, table_of(120, 3))
            others = (
                game_of_arms(world, table_of(90, 5, key=1)),
                game_of_arms(world, table_of(120, 3, key=2)[:, ::-1].copy()),
            )
            _check_learning(make_agent, trial, others, name)
        _check_withheld(make_agent, worlds)
        exact, noisy = list(WORLDS[kind].values())[:2]
        for world in (exact, noisy):
            _check_own_games(make_agent, world, full=full)
        if isinstance(make_agent(), FunctionalAgent):
            algorithm = Algorithm(type(make_agent()).__name__, make_agent, exact)
            check_played_equals_simulated(algorithm, EXPERTS if full else STOCHASTIC, what=COMPILED)


def _check_on_sets(make_agent: Any, kinds: tuple[str, ...], needs: str, decision_sets: Iterable[str] | None) -> None:
    names, revealed = tuple(DECISION_SETS), REVEALED[needs]
    wanted = [
        checks.one_of("decision_sets", name, names) for name in (names if decision_sets is None else decision_sets)
    ]
    played = 0
    for id_ in POINT_IDS:
        game = made(id_, horizon=9, dimension=2, feedback=revealed)
        if game.get_wrapper_attr("decision_set").name not in wanted or _refuses(make_agent(), game):
            continue
        played += 1
        for kind in kinds:
            worlds = dict(list(WORLDS[kind].items())[:2])
            for name, world in worlds.items():
                trials = functools.partial(game_of_points, world, id_, feedback=revealed)
                for dimension, rounds in POINT_SIZES:
                    _choices(make_agent(), trials(rounds, dimension))
                trial = trials(60, 4)
                _check_learning(make_agent, trial, (trials(90, 6), trial), f"{name} in {id_}")
            if isinstance(make_agent(), FunctionalPointAgent):
                exact = next(iter(worlds.values()))
                options: Any = {"make_point_agent": make_agent, "feedback": needs}
                algorithm = Algorithm(type(make_agent()).__name__, None, exact, **options)
                check_played_equals_simulated(algorithm, id_, what=COMPILED, feedback=revealed, dimension=4)
    received = f"none of {', '.join(wanted)}" if wanted else "no names"
    rule = "an agent must play the points of one decision set at least"
    require(played, rule, received, "Raise WrongGameError less.")


def _refuses(agent: Any, env: Environment) -> bool:
    """Whether an agent refuses a decision set with a `WrongGameError`, before or when the game begins."""
    try:
        begin(agent, env, 0)
    except WrongGameError:
        return True
    except Exception as error:
        rule = "a decision set must be played, or refused with a WrongGameError by see_set or begin"
        require(False, rule, checks.kind_of(error), "decision_set.name says which set it is.")
    return False


def _fresh(make_agent: Any) -> Any:
    require(
        callable(make_agent),
        "make_agent must make a fresh agent when called",
        checks.kind_of(make_agent),
        "Pass the agent's class, or a function.",
    )
    with must_not_fail("make_agent()", "It is called without arguments; give parameters by functools.partial."):
        agent, again = make_agent(), make_agent()
    way_out = "Give check_agent the agent's class; check_algorithm is for algorithms."
    require(not isinstance(agent, Algorithm), "make_agent must make an agent", "one that makes an Algorithm", way_out)
    require(agent is not again, "make_agent must make a fresh agent each time", "one twice", "Pass the agent's class.")
    return agent


def _check_methods(agent: Any, methods: Mapping[str, tuple[str, ...]]) -> None:
    name = type(agent).__name__
    for method, parameters in methods.items():
        wanted = f"{method}({', '.join(parameters)})"
        has = callable(getattr(agent, method, None))
        require(has, f"an agent must have the method {wanted}", f"a {name} without it", "Define it.")
        signature = inspect.signature(getattr(agent, method))
        try:
            signature.bind(**dict.fromkeys(parameters))
            if method == "update":
                signature.bind(0, {})
        except TypeError:
            received = f"{name}.{method}{signature}"
            require(False, f"an agent is called by {wanted}, names included", received, "Use these names.")
    extra = ", ".join(sorted(set(inspect.signature(agent.update).parameters) & {"reward", "info", "gain", "env"}))
    rule = f"an agent learns from the {methods['update'][0]} and the observation alone"
    require(not extra, rule, f"{name}.update with {extra}", "Everything that may be known is in the observation.")


def _choices(
    agent: Any, trial: AgentTrial, *, seed: int = 0, after: Callable[[Observation], Any] = lambda seen: None
) -> Choices:
    """Return the arms or points of a game, checking each, and that no observation is modified.

    `after` may change an observation after the agent has learned from it; a returned point is overwritten, too.
    """
    name, choices = type(agent).__name__, []
    copies: dict[str, Any] = {}
    returned: Any = None

    def keep(seen: Observation) -> Observation:
        copies.clear()
        copies.update({key: np.copy(part) for key, part in seen.items()})
        return seen

    def compare(seen: Observation) -> None:
        same = set(seen) == set(copies) and all(np.array_equal(seen[key], part) for key, part in copies.items())
        require(same, "update must not change the observation", "another one than before", "Copy what you change.")
        after(seen)
        if isinstance(returned, np.ndarray):
            returned[...] = np.nan

    with playing(f"{name} in {trial.what}", _of_what_it_reads):
        for returned in steps_of(agent, trial, seed=seed, observed=keep, after=compare):
            choices.append(_arm(returned, trial.n_arms) if trial.n_arms else _point(returned, trial))
    return choices


def _of_what_it_reads(error: Exception) -> str:
    of_observations = isinstance(error, (KeyError, WrongObservationError))
    return "If it learns from sums, say so: check_agent(..., learns_from='sums')." if of_observations else ""


def _arm(arm: Any, n_arms: int) -> int:
    whole = isinstance(arm, (int, np.integer)) and not isinstance(arm, bool)
    require(
        whole and 0 <= arm < n_arms,
        f"select_arm must return an integer in [0, {n_arms - 1}]",
        f"{arm!r} of type {type(arm).__name__}",
        "Return int(arm), counted from 0.",
    )
    return int(arm)


def _point(point: Any, trial: AgentTrial) -> list[float]:
    decision_set = trial.decision_set
    try:
        numbers: list[float] = decision_set.checked(point).tolist()
    except WrongPointError:
        rule = f"select_point must return {decision_set.dimension} numbers, a point of the {decision_set.name}"
        require(False, rule, "another value", OTHER_SET.format(decision_set.name))
    return numbers


def _check_learning(make_agent: Any, trial: AgentTrial, others: tuple[AgentTrial, AgentTrial], where: str) -> None:
    """Check one kind of observations; the other games have another size, and this size for a second agent."""
    things = "arms" if trial.n_arms else "points"

    def played(agent: Any = None, **options: Any) -> list[Choices]:
        return [_choices(make_agent() if agent is None else agent, trial, seed=seed, **options) for seed in range(3)]

    def same(choices: list[Choices], rule: str, way_out: str) -> None:
        require(choices == expected, f"with {where}, {rule}", f"other {things}", way_out)

    expected = played()
    rule = f"the same stream and observations must give the same {things}"
    same(played(), rule, "Draw from the rng of begin only.")
    used = make_agent()
    _choices(used, others[0], seed=9)
    same(played(used), "begin must forget the game before", "Set every attribute anew in begin.")

    def scramble(seen: Observation) -> None:
        for array in seen.values():
            if np.ndim(array):
                array[...] = array[::-1].copy() + 1

    touched = played(after=scramble)
    same(touched, "update must not keep the observation", "Copy what you keep; its arrays may change later.")
    beside = []
    for seed in range(3):
        # Another agent plays another game, one step after each of this one's.
        second = steps_of(make_agent(), others[1], seed=seed + 8)
        beside.append(_choices(make_agent(), trial, seed=seed, after=functools.partial(_step, second)))
    same(beside, "two agents must share nothing", "Keep state in attributes of the object, not of its class.")
    for name, twin in {**copies_of(make_agent(), "an agent"), **copies_of(used, "an agent after a game")}.items():
        way_out = "Check __copy__, __reduce__ and __getstate__."
        same(played(twin), f"{name} must play like the original", way_out)
    _check_reading(make_agent(), trial)
    _check_probabilities(make_agent(), trial, expected[0])


def _step(game: Iterator[Any], seen: Observation) -> None:
    next(game, None)


class _ReadObservation(dict[str, Any]):
    asked: set[str]

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def _check_reading(agent: Any, trial: AgentTrial) -> None:
    """Require that no evaluator-only key is read; other unknown keys, which may be added later, are allowed."""
    asked: set[str] = set()

    def watched(seen: Observation) -> Observation:
        noting = _ReadObservation(seen)
        noting.asked = asked
        return noting

    def learned(seen: Mapping[str, Any]) -> None:
        private = asked & {"reward", "info", "gains", "true_gain", "regret", "external_regret"}
        require(
            not private,
            "an agent must read only what is in the observation",
            f"an agent that reads {', '.join(sorted(private))}",
            "Rewards, info and true gains are not in it.",
        )

    with playing(f"{type(agent).__name__} with any mapping", "An observation is a mapping from names to arrays."):
        for _ in steps_of(agent, trial, observed=watched, after=learned):
            pass


def _check_probabilities(agent: Any, trial: AgentTrial, expected: Choices) -> None:
    """Check that probabilities are valid before each choice of an arm, and that computing them has no side effect."""
    ask = getattr(agent, "probabilities", None)
    if ask is None or not trial.n_arms:
        return
    way_out = "Return the chances of the next arm, or leave out the method."
    seen: list[FloatArray] = []

    def before() -> None:
        chances = np.asarray(ask())
        good = chances.shape == (trial.n_arms,) and bool(np.all(chances >= 0)) and abs(chances.sum() - 1) < 1e-9
        require(good, "probabilities() must be K numbers of at least 0 with sum 1", "others", way_out)
        seen.append(chances)

    with playing("probabilities() between begin and the last round", way_out):
        arms = [int(arm) for arm in steps_of(agent, trial, before=before)]
    require(arms == expected, "asking for probabilities() must not change the arms", "other arms", way_out)
    possible = all(chances[arm] > 0 for chances, arm in zip(seen, arms, strict=True))
    require(possible, "an arm of probability 0 must not be played", "one that was", way_out)


def _check_withheld(make_agent: Any, worlds: Mapping[str, World]) -> None:
    world = next(iter(worlds.values()))

    def nothing(seen: Observation) -> Observation:
        return {name: np.zeros_like(part) for name, part in seen.items()}

    for n_arms in (1, 3):
        with playing("an agent that never receives a release", "Observed or count is then 0 for every arm."):
            for _ in steps_of(make_agent(), game_of_arms(world, table_of(80, n_arms)), observed=nothing):
                pass
        for gain, any_world in itertools.product((0.0, 1.0), worlds.values()):
            _choices(make_agent(), game_of_arms(any_world, np.full((80, n_arms), gain)))


def _check_own_games(make_agent: Any, world: World, *, full: bool) -> None:
    """Require that an agent can play every registered game with arms, and a game on a redrawn graph."""
    way_out = "play(world(gym.make(id)), agent) shows the error."
    for id_, arguments in REVEALING_ALL.items() if full else ((id_, {}) for id_ in OWN_IDS):
        game = made(id_, horizon=60, **arguments)
        if plays_points(game):
            continue
        with playing(f"a game of {id_}", way_out):
            play(world(game), make_agent(), seed=1)
    if not full:
        with playing("a game on a graph that is redrawn every 7 rounds", way_out):
            redrawn = made(GRAPH, horizon=60, graph="erdos-renyi", n_arms=5, redraw_every=7)
            play(world(redrawn), make_agent(), seed=1)
