"""The rules for agents: three methods, arms drawn from the agent's own stream, and no memory of other games."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance.agent_games import STOCHASTIC, check_agents_games
from dp_bandit_envs.conformance.agent_reading import check_reading
from dp_bandit_envs.conformance.point_agent_rules import check_point_agent
from dp_bandit_envs.conformance.rules import copies_of, global_randomness_untouched, must_not_fail, require
from dp_bandit_envs.conformance.same_games import COMPILED, check_played_equals_simulated
from dp_bandit_envs.conformance.trial_games import (
    EXPERTS,
    WORLDS,
    World,
    revealing_all,
    steps_of,
    table_of,
)
from dp_bandit_envs.observations import Gains, Sums
from dp_bandit_envs.protocols import Agent, AgentFactory, FloatArray, Observation

METHODS: Final = {"begin": ("n_arms", "horizon", "rng"), "select_arm": (), "update": ("arm", "observation")}
SIZES: Final = ((1, 1), (1, 20), (2, 1), (2, 40), (3, 200), (50, 120))  # arms and rounds
FEEDBACK: Final = ("any", "full")
KINDS: Final = {"gains": ("gains",), "sums": ("sums",), "both": ("gains", "sums")}


def check_agent(
    make_agent: AgentFactory,
    *,
    learns_from: str | None = None,
    feedback: str | None = None,
    decision_sets: Iterable[str] | None = None,
) -> None:
    """Check an agent of your own against everything that `play` and `simulate` rely on.

    The rules: it has the three methods with the protocol's names; arms are integers in [0, K); the same stream gives
    the same arms; `begin` resets everything; two agents share no state; observations are neither modified nor stored,
    and no undeclared key is read; the global random state is not used; it plays games of one round and of one, two and
    many arms, rounds in which nothing is released, and sums outside [0, count]; `probabilities`, if present, is the
    distribution from which arms are drawn; copies and pickles play the same; every base environment can be played,
    graphs included; and a `FunctionalAgent` plays the same compiled as step by step, to the last bit. An agent that
    needs the gains of all arms is checked in games that reveal them, with experts and on the complete graph; with the
    attribute `feedback = "full"`, `play` and `simulate` refuse it other games. An agent with `select_point` is checked
    by the same rules in games of points, on every decision set that it does not refuse with a `WrongGameError`.

    Args:
        make_agent: Makes a new agent when called without arguments, such as an agent's class.
        learns_from: `"gains"`, `"sums"` or `"both"`; by default the agent's attribute `learns_from`, or `"gains"` if it
            has none.
        feedback: `"full"` for an agent that needs the gains of all arms in every round, or `"any"`; by default the
            agent's attribute `feedback`, or `"any"` if it has none. For points `"full"`, the default, or `"payoff"`.
        decision_sets: For agents that play points, the names of the sets that they are for: `"ball"`, `"cube"`,
            `"simplex"`; by default all that they do not refuse.

    Raises:
        ConformanceError: If a rule is broken.
    """
    with global_randomness_untouched("an agent"):
        agent: Any = _fresh(make_agent)
        if hasattr(agent, "select_point"):
            options = {"learns_from": learns_from, "feedback": feedback, "decision_sets": decision_sets}
            check_point_agent(make_agent, **options)  # type: ignore[arg-type]
            return
        _check_methods(agent)
        full = _needs(agent, feedback) == "full"
        for kind in _kinds(agent, learns_from):
            worlds = {name: revealing_all(world) if full else world for name, world in WORLDS[kind].items()}
            for name, world in worlds.items():
                _check_learning(make_agent, world, name)
            _check_withheld(make_agent, worlds)
            exact, noisy = list(WORLDS[kind].values())[:2]
            for world in (exact, noisy):
                check_agents_games(make_agent, world, full=full)
            if isinstance(agent, FunctionalAgent):
                algorithm = Algorithm(type(agent).__name__, make_agent, exact)
                check_played_equals_simulated(algorithm, EXPERTS if full else STOCHASTIC, what=COMPILED)


def _needs(agent: Agent, feedback: str | None) -> str:
    stated = getattr(agent, "feedback", "any") if feedback is None else feedback
    return checks.one_of("feedback", stated, FEEDBACK)


def _kinds(agent: Agent, learns_from: str | None) -> tuple[str, ...]:
    if learns_from is None:
        learns_from = "sums" if getattr(agent, "learns_from", Gains) is Sums else "gains"
    return KINDS[checks.one_of("learns_from", learns_from, tuple(KINDS))]


def _fresh(make_agent: AgentFactory) -> Agent:
    require(
        callable(make_agent),
        "make_agent must make a fresh agent when called",
        f"a {type(make_agent).__name__}",
        "Pass the agent's class, or a function.",
    )
    with must_not_fail("make_agent()", "It is called without arguments; give parameters by functools.partial."):
        agent, again = make_agent(), make_agent()
    way_out = "Give check_agent the agent's class; check_algorithm is for algorithms."
    require(not isinstance(agent, Algorithm), "make_agent must make an agent", "one that makes an Algorithm", way_out)
    require(agent is not again, "make_agent must make a fresh agent each time", "one twice", "Pass the agent's class.")
    return agent


def _check_methods(agent: Agent) -> None:
    name = type(agent).__name__
    for method, parameters in METHODS.items():
        wanted = f"{method}({', '.join(parameters)})"
        require(
            callable(getattr(agent, method, None)),
            f"an agent must have the method {wanted}",
            f"a {name} without it",
            "Define it.",
        )
        signature = inspect.signature(getattr(agent, method))
        try:
            signature.bind(**dict.fromkeys(parameters))
            if method == "update":
                signature.bind(0, {})
        except TypeError:
            shown = f"{name}.{method}{signature}"
            require(False, f"an agent is called by {wanted}, names included", shown, "Use these names.")
    extra = ", ".join(sorted(set(inspect.signature(agent.update).parameters) & {"reward", "info", "gain", "env"}))
    rule = "an agent learns from the arm and the observation alone"
    require(not extra, rule, f"{name}.update with {extra}", "Everything that may be known is in the observation.")


def _arms(agent: Agent, world: World, table: FloatArray, **options: Any) -> list[int]:
    """Return the arms of a game, checking each arm and that no observation is modified."""
    n_arms = table.shape[1]
    copies: list[Observation] = []

    def keep(seen: Observation) -> Observation:
        copies[:] = [{key: np.copy(part) for key, part in seen.items()}]
        return seen

    after = options.pop("after", lambda seen: None)

    def compare(seen: Observation) -> None:
        same = set(seen) == set(copies[0]) and all(np.array_equal(seen[key], part) for key, part in copies[0].items())
        require(same, "update must not change the observation", "another one than before", "Copy what you change.")
        after(seen)

    arms: list[int] = []
    with must_not_fail(
        f"{type(agent).__name__} in a game of {n_arms} arms and {len(table)} rounds",
        "If it learns from sums, say so: check_agent(..., learns_from='sums').",
    ):
        for arm in steps_of(agent, world, table, **{"observed": keep, **options}, after=compare):
            whole = isinstance(arm, (int, np.integer)) and not isinstance(arm, bool)
            require(
                whole and 0 <= arm < n_arms,
                f"select_arm must return an integer in [0, {n_arms - 1}]",
                f"{arm!r} of type {type(arm).__name__}",
                "Return int(arm), counted from 0.",
            )
            arms.append(int(arm))
    return arms


def _check_learning(make_agent: AgentFactory, world: World, where: str) -> None:
    for n_arms, horizon in SIZES:
        _arms(make_agent(), world, table_of(horizon, n_arms))
    table = table_of(120, 3)
    expected = [_arms(make_agent(), world, table, seed=seed) for seed in range(3)]

    def same(arms: list[list[int]], rule: str, way_out: str) -> None:
        require(arms == expected, f"with {where}, {rule}", "other arms", way_out)

    again = [_arms(make_agent(), world, table, seed=seed) for seed in range(3)]
    same(again, "the same stream and observations must give the same arms", "Draw from the rng of begin only.")
    used = make_agent()
    _arms(used, world, table_of(90, 5, key=1), seed=9)
    played = [_arms(used, world, table, seed=seed) for seed in range(3)]
    same(played, "begin must forget the game before", "Set every attribute anew in begin.")

    def scramble(seen: Observation) -> None:
        for part in seen.values():
            if np.ndim(part):
                part[:] = part[::-1].copy()
        seen.clear()

    touched = [_arms(make_agent(), world, table, seed=seed, after=scramble) for seed in range(3)]
    same(touched, "update must not keep the observation", "Copy what you keep; its arrays may change later.")
    other = table_of(120, 3, key=2)[:, ::-1].copy()
    pairs = [
        [*zip(steps_of(make_agent(), world, table, seed=s), steps_of(make_agent(), world, other, seed=s), strict=True)]
        for s in range(3)
    ]
    beside = [[int(arm) for arm, _ in pair] for pair in pairs]
    same(beside, "two agents must share nothing", "Keep state in attributes of the object, not of its class.")
    for name, agent in {**copies_of(make_agent(), "an agent"), **copies_of(used, "an agent after a game")}.items():
        copied = [_arms(agent, world, table, seed=seed) for seed in range(3)]
        same(copied, f"{name} must play like the original", "Check __copy__, __reduce__ and __getstate__.")
    check_reading(make_agent(), world, table)
    _check_probabilities(make_agent(), world, table, expected[0])


def _check_probabilities(agent: Agent, world: World, table: FloatArray, expected: list[int]) -> None:
    """Require valid probabilities before each choice, and that asking for them changes nothing."""
    ask = getattr(agent, "probabilities", None)
    if ask is None:
        return
    way_out = "Return the chances of the next arm, or leave out the method."
    seen: list[FloatArray] = []

    def before() -> None:
        chances = np.asarray(ask())
        good = chances.shape == (table.shape[1],) and bool(np.all(chances >= 0)) and abs(chances.sum() - 1) < 1e-9
        require(good, "probabilities() must be K numbers of at least 0 with sum 1", "others", way_out)
        seen.append(chances)

    with must_not_fail("probabilities() between begin and the last round", way_out):
        arms = [int(arm) for arm in steps_of(agent, world, table, before=before)]
    require(arms == expected, "asking for probabilities() must not change the arms", "other arms", way_out)
    possible = all(chances[arm] > 0 for chances, arm in zip(seen, arms, strict=True))
    require(possible, "an arm of probability 0 must not be played", "one that was", way_out)


def _check_withheld(make_agent: AgentFactory, worlds: Mapping[str, World]) -> None:
    world = next(iter(worlds.values()))

    def nothing(seen: Observation) -> Observation:
        return {name: np.zeros_like(part) for name, part in seen.items()}

    for n_arms in (1, 3):
        with must_not_fail("an agent that never receives a release", "Observed or count is then 0 for every arm."):
            for _ in steps_of(make_agent(), world, table_of(80, n_arms), observed=nothing):
                pass
        for value in (0.0, 1.0):
            for each in worlds.values():
                _arms(make_agent(), each, np.full((80, n_arms), value))
