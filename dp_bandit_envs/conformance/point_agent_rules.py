"""The rules for agents that play points: those for arms, with points in the set in place of arms."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalPointAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance.rules import copies_of, must_not_fail, require
from dp_bandit_envs.conformance.same_games import COMPILED, check_played_equals_simulated
from dp_bandit_envs.conformance.trial_games import World, bare, made, noisy_gains, noisy_sums
from dp_bandit_envs.decisions import DECISION_SETS
from dp_bandit_envs.errors import WrongGameError, WrongPointError
from dp_bandit_envs.observations import Gains, Sums
from dp_bandit_envs.protocols import Environment, Observation, PointAgentFactory
from dp_bandit_envs.wrappers import ExactSums

POINT_IDS: Final = ("DPBandit-Ball-v0", "DPBandit-Cube-v0", "DPBandit-Simplex-v0")
METHODS: Final = {
    "begin": ("dimension", "horizon", "rng"),
    "select_point": (),
    "update": ("point", "observation"),
}
WORLDS: Final[dict[str, dict[str, World]]] = {
    "gains": {"gains": bare, "noisy gains": noisy_gains},
    "sums": {"exact sums": ExactSums, "noisy sums": noisy_sums},
}
KINDS: Final = {"gains": ("gains",), "sums": ("sums",), "both": ("gains", "sums")}
FEEDBACK: Final = {"full": "full", "payoff": "bandit"}
"""What a game must reveal, by what an agent learns from."""
OTHER_SET: Final = (
    "decision_set.project(point) returns the nearest point. If the agent is not for the {}, raise WrongGameError in"
    " see_set(decision_set), or name its sets: check_agent(..., decision_sets=['ball'])."
)
SIZES: Final = ((2, 1), (2, 30), (10, 60))  # dimensions and rounds
Points = list[list[float]]


def check_point_agent(
    make_agent: PointAgentFactory,
    *,
    learns_from: str | None,
    feedback: str | None,
    decision_sets: Iterable[str] | None,
) -> None:
    """Check an agent with `select_point`; see `check_agent`."""
    with must_not_fail("make_agent()", "It is called without arguments; give parameters by functools.partial."):
        agent: Any = make_agent()
        require(agent is not make_agent(), "make_agent must make a fresh agent each time", "one twice", "Pass a class.")
    _check_methods(agent)
    stated = getattr(agent, "feedback", "full") if feedback is None else feedback
    revealed = FEEDBACK[checks.one_of("feedback", stated, tuple(FEEDBACK))]
    if learns_from is None:
        learns_from = "sums" if getattr(agent, "learns_from", Gains) is Sums else "gains"
    names = tuple(DECISION_SETS)
    wanted = [
        checks.one_of("decision_sets", name, names) for name in (names if decision_sets is None else decision_sets)
    ]
    played = 0
    for id_ in POINT_IDS:
        if made(id_, horizon=9, dimension=2, feedback=revealed).get_wrapper_attr("decision_set").name not in wanted:
            continue
        if _refuses(make_agent(), made(id_, horizon=9, dimension=2, feedback=revealed)):
            continue
        played += 1
        for kind in KINDS[checks.one_of("learns_from", learns_from, tuple(KINDS))]:
            for name, world in WORLDS[kind].items():
                _check_learning(make_agent, world, id_, revealed, f"{name} in {id_}")
            if isinstance(agent, FunctionalPointAgent):
                exact = next(iter(WORLDS[kind].values()))
                algorithm = Algorithm(
                    type(agent).__name__,
                    None,
                    exact,
                    make_point_agent=make_agent,
                    feedback="full" if revealed == "full" else "payoff",
                )
                check_played_equals_simulated(algorithm, id_, what=COMPILED, feedback=revealed, dimension=4)
    shown = f"none of {', '.join(wanted)}" if wanted else "no names"
    require(played, "an agent must play the points of one decision set at least", shown, "Raise WrongGameError less.")


def _refuses(agent: Any, env: Environment) -> bool:
    """Whether an agent refuses a decision set with a `WrongGameError`, before or when the game begins."""
    try:
        _begin(agent, env, 0)
    except WrongGameError:
        return True
    except Exception as error:
        rule = "a decision set must be played, or refused with a WrongGameError by see_set or begin"
        require(False, rule, f"a {type(error).__name__}", "decision_set.name says which set it is.")
    return False


def _begin(agent: Any, env: Environment, seed: int) -> None:
    decision_set = env.get_wrapper_attr("decision_set")
    if hasattr(agent, "see_set"):
        agent.see_set(decision_set)
    horizon = int(env.get_wrapper_attr("horizon"))
    agent.begin(dimension=decision_set.dimension, horizon=horizon, rng=np.random.default_rng([seed, 7]))


def _check_methods(agent: Any) -> None:
    name = type(agent).__name__
    for method, parameters in METHODS.items():
        wanted = f"{method}({', '.join(parameters)})"
        has = callable(getattr(agent, method, None))
        require(has, f"an agent must have the method {wanted}", f"a {name} without it", "Define it.")
        signature = inspect.signature(getattr(agent, method))
        try:
            signature.bind(**dict.fromkeys(parameters))
        except TypeError:
            shown = f"{name}.{method}{signature}"
            require(False, f"an agent is called by {wanted}, names included", shown, "Use these names.")


def _points(
    agent: Any, env: Environment, seed: int = 0, *, observed: Callable[[Observation], Any] = lambda seen: None
) -> Points:
    """Return the points of a game, checking each, and that no observation is changed.

    `observed` may change an observation after the agent has learned from it; the returned points are changed, too.
    """
    decision_set = env.get_wrapper_attr("decision_set")
    points: Points = []
    with must_not_fail(
        f"{type(agent).__name__} in a game on the {decision_set.name}",
        "If it learns from sums, say so: check_agent(..., learns_from='sums').",
    ):
        _begin(agent, env, seed)
        env.reset(seed=seed)
        ended: Any = False
        while not ended:
            point = agent.select_point()
            try:
                own = decision_set.checked(point)
            except WrongPointError:
                rule = f"select_point must return {decision_set.dimension} numbers, a point of the {decision_set.name}"
                require(False, rule, "another value", OTHER_SET.format(decision_set.name))
            points.append(own.tolist())
            seen, _, terminated, truncated, _ = env.step(own)
            before = {key: part.copy() for key, part in seen.items()}
            agent.update(point, seen)
            same = set(seen) == set(before) and all(np.array_equal(seen[key], part) for key, part in before.items())
            require(same, "update must not change the observation", "another one than before", "Copy what you change.")
            observed(seen)
            if isinstance(point, np.ndarray):
                point[...] = np.nan
            ended = terminated or truncated
    return points


def _check_learning(make_agent: PointAgentFactory, world: World, id_: str, revealed: str, where: str) -> None:
    def game(rounds: int = 60, dimension: int = 4, **more: Any) -> Environment:
        return world(made(id_, horizon=rounds, dimension=dimension, feedback=revealed, **more))

    for dimension, rounds in SIZES:
        _points(make_agent(), game(rounds, dimension))
    expected = [_points(make_agent(), game(), seed) for seed in range(3)]

    def same(points: list[Points], rule: str, way_out: str) -> None:
        require(points == expected, f"with {where}, {rule}", "other points", way_out)

    again = [_points(make_agent(), game(), seed) for seed in range(3)]
    same(again, "the same stream and observations must give the same points", "Draw from the rng of begin only.")
    used = make_agent()
    _points(used, game(90, 6), 9)
    played = [_points(used, game(), seed) for seed in range(3)]
    same(played, "begin must forget the game before", "Set every attribute anew in begin.")

    def scramble(seen: Observation) -> None:
        for part in seen.values():
            part[...] = part[::-1].copy() + 1

    touched = [_points(make_agent(), game(), seed, observed=scramble) for seed in range(3)]
    same(touched, "update must not keep the observation", "Copy what you keep; its arrays may change later.")
    one, other = make_agent(), make_agent()

    def interrupted(seen: Observation) -> None:
        if not interruptions:
            interruptions.append(_points(other, game(30), 8))

    beside = []
    for seed in range(3):
        interruptions: list[Points] = []
        beside.append(_points(one, game(), seed, observed=interrupted))
    same(beside, "two agents must share nothing", "Keep state in attributes of the object, not of its class.")
    for name, twin in {**copies_of(make_agent(), "an agent"), **copies_of(used, "an agent after a game")}.items():
        copied = [_points(twin, game(), seed) for seed in range(3)]
        same(copied, f"{name} must play like the original", "Check __copy__, __reduce__ and __getstate__.")
