"""The rules for agents: three methods, arms drawn from the agent's own stream, and no memory of other games."""

import inspect
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance.rules import copies_of, global_randomness_untouched, must_not_fail, require
from dp_bandit_envs.conformance.same_games import COMPILED, check_played_equals_simulated
from dp_bandit_envs.conformance.trial_games import OWN_IDS, WORLDS, World, made, steps_of, table_of
from dp_bandit_envs.observations import Gains, Sums
from dp_bandit_envs.protocols import Agent, AgentFactory, FloatArray, Observation
from dp_bandit_envs.simulation import play

METHODS: Final = {"begin": ("n_arms", "horizon", "rng"), "select_arm": (), "update": ("arm", "observation")}
SIZES: Final = ((1, 1), (1, 20), (2, 1), (2, 40), (3, 200), (50, 120))  # arms and rounds
KINDS: Final = {"gains": ("gains",), "sums": ("sums",), "both": ("gains", "sums")}


def check_agent(make_agent: AgentFactory, *, learns_from: str | None = None) -> None:
    """Check an agent of your own against everything that `play` and `simulate` rely on.

    The rules: it has the three methods with the protocol's names; arms are integers in [0, K); the same stream gives
    the same arms; `begin` resets everything; two agents share no state; observations are neither modified nor stored,
    and no undeclared key is read; the global random state is not used; it plays games of one round and of one, two and
    many arms, rounds in which nothing is released, and sums outside [0, count]; `probabilities`, if present, is the
    distribution from which arms are drawn; copies and pickles play the same; every base environment can be played,
    graphs included; and a `FunctionalAgent` plays the same compiled as step by step, to the last bit.

    Args:
        make_agent: Makes a new agent when called without arguments, such as an agent's class.
        learns_from: `"gains"`, `"sums"` or `"both"`; by default the agent's attribute `learns_from`, or `"gains"` if it
            has none.

    Raises:
        ConformanceError: If a rule is broken.
    """
    with global_randomness_untouched("an agent"):
        agent = _fresh(make_agent)
        _check_methods(agent)
        for kind in _kinds(agent, learns_from):
            for name, world in WORLDS[kind].items():
                _check_learning(make_agent, world, name)
            _check_withheld(make_agent, kind)
            exact, noisy = list(WORLDS[kind].values())[:2]
            for world in (exact, noisy):
                _check_games(make_agent, world)
            if isinstance(agent, FunctionalAgent):
                algorithm = Algorithm(type(agent).__name__, make_agent, exact)
                check_played_equals_simulated(algorithm, "DPBandit-Stochastic-v0", what=COMPILED)


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
    _check_reading(make_agent(), world, table)
    _check_probabilities(make_agent(), world, table, expected[0])


class _Watched(dict[str, Any]):
    """An observation that records the keys that are read."""

    asked: set[str]

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def _check_reading(agent: Agent, world: World, table: FloatArray) -> None:
    asked: set[str] = set()

    def watched(seen: Observation) -> Observation:
        noting = _Watched(seen)
        noting.asked = asked
        return noting

    def learned(seen: Mapping[str, Any]) -> None:
        # Keys that a later version may add are allowed; keys for evaluators are not.
        private = asked & {"reward", "info", "gains", "true_gain", "regret", "external_regret"}
        require(
            not private,
            "an agent must read only what is in the observation",
            f"an agent that reads {', '.join(sorted(private))}",
            "Rewards, info and true gains are not in it.",
        )

    with must_not_fail(f"{type(agent).__name__} with any mapping", "An observation is a mapping from names to arrays."):
        for _ in steps_of(agent, world, table, observed=watched, after=learned):
            pass


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


def _check_withheld(make_agent: AgentFactory, kind: str) -> None:
    world = next(iter(WORLDS[kind].values()))

    def nothing(seen: Observation) -> Observation:
        return {name: np.zeros_like(part) for name, part in seen.items()}

    for n_arms in (1, 3):
        with must_not_fail("an agent that never receives a release", "Observed or count is then 0 for every arm."):
            for _ in steps_of(make_agent(), world, table_of(80, n_arms), observed=nothing):
                pass
        for value in (0.0, 1.0):
            for name in WORLDS[kind]:
                _arms(make_agent(), WORLDS[kind][name], np.full((80, n_arms), value))


def _check_games(make_agent: AgentFactory, world: World) -> None:
    way_out = "play(world(gym.make(id)), agent) shows the error."
    for id_ in OWN_IDS:
        with must_not_fail(f"a game of {id_}", way_out):
            play(world(made(id_, horizon=60)), make_agent(), seed=1)
    with must_not_fail("a game on a graph that is redrawn every 7 rounds", way_out):
        graph = {"graph": "erdos-renyi", "n_arms": 5, "redraw_every": 7}
        play(world(made("DPBandit-Graph-v0", horizon=60, **graph)), make_agent(), seed=1)
