"""Agents made of plain functions: calls, observations, errors of own functions, parameters; and the uniform one."""

import inspect
import math
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation

from dp_bandit_envs import BanditEnv, Exp3, LaplaceClipRescale, agents, play, simulate
from dp_bandit_envs.adversaries import Deterministic
from dp_bandit_envs.agents import (
    FunctionalAgent,
    FunctionalPointAgent,
    Htinf,
    Imed,
    KlUcb,
    RandomLabels,
    SuccessiveElimination,
    ThompsonSampling,
    TsallisInf,
    Ucb,
    Uniform,
)
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import StepOutsideGameError, WrongObservationError, WrongTypeError
from dp_bandit_envs.privacy import Noise
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, IntervalSums
from tests.tools.refusals import refused

SUMS_WRAPPERS = [
    ExactSums,
    lambda env: HybridSums(env, epsilon=1.0),
    lambda env: IntervalSums(env, epsilon=1.0),
    lambda env: BlockSums(env, epsilon=1.0),
]


def game(horizon=10):
    return gym.make("DPBandit-Stochastic-v0", horizon=horizon)


def begun(kind):
    agent = kind()
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    return agent


@pytest.mark.parametrize("kind", [Exp3, Ucb])
def test_nothing_works_before_begin(kind):
    agent = kind()
    for call in (agent.select_arm, lambda: agent.update(0, {}), getattr(agent, "probabilities", agent.select_arm)):
        with refused(StepOutsideGameError, kind.__name__, "begin(n_arms=, horizon=, rng=)"):
            call()


OF_GAINS = "'gain'", "'observed'", "LaplaceClipRescale", "MiniBatchAverage", "FlattenObservation"
OF_SUMS = "'sum'", "'count'", "'release'", "ExactSums(env)", "HybridSums(env, epsilon=...)"


@pytest.mark.parametrize(
    ("kind", "observation", "shown"),
    [
        (Exp3, {"sum": np.zeros(2), "count": np.zeros(2)}, "['sum', 'count']"),
        (Exp3, {"gain": np.array([0.123456, 0.0])}, "['gain']"),
        (Exp3, np.zeros(4), "ndarray"),
        (Ucb, {"sum": np.zeros(2), "count": np.zeros(2, int)}, "['sum', 'count']"),
        (Ucb, {"total": np.array([0.123456, 0.0])}, "['total']"),
        (Ucb, 3, "int"),
    ],
    ids=["sums", "half", "flat", "two thirds", "another name", "discrete"],
)
def test_a_wrong_observation_names_the_wrappers_and_no_gain(kind, observation, shown):
    with refused(WrongObservationError, kind.__name__, shown, *(OF_GAINS if kind is Exp3 else OF_SUMS)) as error:
        begun(kind).update(0, observation)
    assert "0.123456" not in str(error.value) and error.value.__suppress_context__


@pytest.mark.parametrize("kind", [Exp3, TsallisInf, Htinf, Uniform])
def test_games_of_sums_are_refused_by_agents_of_gains(kind):
    with refused(WrongObservationError, "FlattenObservation"):
        play(FlattenObservation(game()), kind())
    with refused(WrongObservationError, "'gain'", "'observed'", "['sum', 'count', 'release']"):
        play(ExactSums(game()), kind())


@pytest.mark.parametrize("kind", [Ucb, KlUcb, Imed, ThompsonSampling, SuccessiveElimination])
def test_games_of_gains_are_refused_by_agents_of_sums(kind):
    for env in (game(), LaplaceClipRescale(game(), epsilon=1.0)):
        with refused(WrongObservationError, kind.__name__, "sums", "gains", *OF_SUMS[-2:]):
            play(env, kind())
    for wrap in SUMS_WRAPPERS if kind is Ucb else SUMS_WRAPPERS[-1:]:
        assert len(play(wrap(game(60)), kind()).arms) == 60


@pytest.mark.parametrize("part", ["sum", "count", "release"])
def test_parts_of_sums_that_no_environment_gives_are_refused(part):
    """Numbers of releases are whole and not negative, like counts; each part has one number for each arm."""
    agent = begun(Ucb)
    wrong = [np.zeros(3, int), np.array([0.0, np.nan]), [0, 0], np.array(["1", "2"])]
    wrong += [np.array([1, -1]), np.array([1.0, 2.0])] if part != "sum" else []
    for one in wrong:
        observation = {"sum": np.zeros(2), "count": np.ones(2, int), "release": np.ones(2, int)}
        with refused(WrongObservationError, "Ucb", "'sum'", "'count'", "'release'", 2, 0):
            agent.update(0, {**observation, part: one})


def test_what_was_seen_of_the_noise_holds_until_another_boundary_says_otherwise():
    """`begin` forgets the game, not the boundary around it; what is no noise is refused."""
    agent = Htinf(sigma=None)
    assert agent.noise == Noise() == Noise(1.0, 0.0, 0.0)
    for noise, sigma_and_bound in ((Noise(scale=2.0, bound=3.0), (3.0, 3.0)), (Noise(), (1.0, 0.0))):
        agent.see_noise(noise)
        for wrong in (5.0, (1.0, 0.0, 0.0), None, {"sensitivity": 5.0}):
            with refused(WrongTypeError, "noise", "dp_bandit_envs.privacy.Noise", type(wrong).__name__):
                agent.see_noise(wrong)
        for _ in range(2):
            agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
            assert (agent._state.sigma, agent._state.bound) == sigma_and_bound


class State(NamedTuple):
    sums: np.ndarray
    clock: np.ndarray
    steps: int


def first(state, rng):
    return 0


def keep(state, arm, seen):
    return state


def halves(state, rng):
    return int((state.sums / 2)[0])


def asks_the_array(state, rng):
    return int(state.sums.argmax())


def counts_on(state, arm, seen):
    clock = state.clock
    clock += 1
    return state


def counts_a_number(state, arm, seen):
    state.steps += 1
    return state


def reads_sums(state, arm, seen):
    state.sums[arm] += seen.sums[arm]
    return state


def misspells(state, arm, seen):
    state.sums[arm] += seen.gain[arm]
    return state


def forgets(state, arm, seen):
    state.sums[arm] += 1.0


def fails_in_its_own_way(state, rng):
    return len(None)


class Base(FunctionalAgent):
    def initial_state(self, n_arms, horizon):
        return State(np.zeros(n_arms), np.zeros(1), 0)


CASES = [
    (halves, keep, ("halves of Mine", "line", "single elements")),
    (asks_the_array, keep, ("asks_the_array of Mine", "single elements")),
    (first, counts_on, ("counts_on of Mine", "single elements")),
    (first, counts_a_number, ("counts_a_number of Mine", "State(...)")),
    (first, reads_sums, ("reads_sums of Mine", "gains and observed", "learns_from = Sums")),
    (first, misspells, ("misspells of Mine", "gains and observed", "not gain")),
    (first, forgets, ("forgets of Mine", "return state")),
]


@pytest.mark.parametrize("select, update, words", CASES)
def test_play_names_the_own_function_and_the_rule_that_it_breaks(select, update, words):
    with refused(TypeError, *words):
        play(game(5), mine(select, update))


def test_other_errors_of_own_functions_stay_as_they_are():
    with pytest.raises(TypeError, match="has no len"):
        play(game(5), mine(fails_in_its_own_way, keep))


def mine(select, update):
    """Return an agent of these functions."""

    class Mine(Base):
        functions = Functions(select, update)

    return Mine()


# ---- parameters
def own_width(n_arms, horizon, sensitivity):
    raise NotImplementedError


OTHER = {
    "agent": Ucb(forced=1.0),
    "alpha": 4.0,
    "bonus": 0.25,
    "constants": "improved",
    "discount": 0.5,
    "each_first": True,
    "epsilon": 0.5,
    "exploration": 3.0,
    "exploration_rate": 0.125,
    "failure_probability": 0.25,
    "forced": 2.0,
    "fresh_probability": 0.5,
    "index": "kl",
    "lazy": True,
    "leader_share": 0.25,
    "learning_rate": 0.5,
    "level": 2.0,
    "log_factor": 2.0,
    "most_draws": 7,
    "normal": True,
    "period": 10,
    "rule": "episodes",
    "shifts": 3,
    "sigma": 2.0,
    "window": 20,
}
CLASSES = [kind for name in agents.__all__ if not inspect.isabstract(kind := getattr(agents, name))]


def cases():
    for kind in CLASSES:
        for name in inspect.signature(kind).parameters:
            if name in OTHER:  # but for functions, and texts that need other parameters
                yield pytest.param(kind, name, id=f"{kind.__name__}-{name}")


@pytest.mark.parametrize(("kind", "name"), list(cases()))
def test_every_parameter_is_printed_and_cloned(kind, name):
    agent = kind(**{name: OTHER[name]})
    again = eval(repr(agent), {**vars(agents), "inf": math.inf})
    assert repr(agent).startswith(f"{kind.__name__}({name}=")
    for other in (again, agent.clone()):
        assert type(other) is kind and other is not agent
        assert repr(other) == repr(agent)
        assert {**other.parameters, "agent": 0} == {**agent.parameters, "agent": 0}


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind is not RandomLabels])
def test_defaults_are_not_printed(kind):
    assert repr(kind()) == repr(kind().clone()) == f"{kind.__name__}()"


@pytest.mark.thorough
def test_a_clone_plays_what_the_agent_plays():
    def arms(agent):
        game = ExpertsEnv if agent.feedback == "full" else BanditEnv
        env = game(gains=Deterministic(3, 60)) if game is ExpertsEnv else game(Deterministic(3, 60))
        return play(ExactSums(env) if agent.learns_from is Sums else env, agent, seed=3).arms

    for kind in CLASSES:
        if issubclass(kind, FunctionalPointAgent) or "features" in str(inspect.getsource(kind)):
            continue
        given = [name for name in inspect.signature(kind).parameters if name in OTHER and name != "each_first"]
        agent = kind(**{name: OTHER[name] for name in given[:1]})
        np.testing.assert_array_equal(arms(agent), arms(agent.clone()), err_msg=repr(agent))


def test_a_clone_has_no_game_and_takes_other_values():
    agent = Exp3(exploration_rate=0.5)
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    with refused(Exception, "begin(n_arms=, horizon=, rng=)"):
        agent.clone().select_arm()
    assert agent.clone(exploration_rate=0.25).exploration_rate == 0.25
    with refused(TypeError, "exploration_rat", "Did you mean exploration_rate"):
        agent.clone(exploration_rat=0.25)


def test_the_agent_of_a_clone_is_another_one():
    agent = RandomLabels(Ucb(exploration=3.0))
    assert agent.clone().agent is not agent.agent
    assert repr(agent.clone()) == "RandomLabels(agent=Ucb(exploration=3.0))"


WRONG = [
    *((agents.Exp3, "exploration_rate", wrong, ("(0, 1]",)) for wrong in (0, -0.1, 1.0000001, math.nan)),
    *((agents.Exp3, "exploration_rate", wrong, ("number",)) for wrong in ("0.1", True)),
    *((agents.Exp2, "exploration_rate", wrong, ()) for wrong in (0, 1.5, math.nan)),
    (agents.Exp2, "rates", "best", ("smallest-bound", "paper")),
    *((agents.Htinf, "sigma", wrong, (0,)) for wrong in (0, -1.0, math.nan, math.inf)),
    *((agents.Hedge, "learning_rate", wrong, (0,)) for wrong in (-0.1, math.nan)),
    *((agents.LazyHedge, "learning_rate", wrong, (0,)) for wrong in (-0.1, math.nan)),
    *((agents.LazyHedge, "fresh_probability", wrong, ("[0, 1]",)) for wrong in (-0.1, 1.1, math.nan)),
    *((agents.LazyHedge, "most_draws", wrong, (0,)) for wrong in (-1, 2.5)),
    *((agents.EpochLeader, "epsilon", wrong, (0,)) for wrong in (0, math.nan)),
    *((agents.SuccessiveElimination, "epsilon", wrong, (0,)) for wrong in (0, -1.0, math.nan)),
    *((agents.Ucb, "exploration", wrong, (0,)) for wrong in (-1, math.nan)),
    (agents.Ucb, "log_factor", 0.9, (1,)),
    *((agents.KlUcb, name, 0, ("greater",)) for name in ("level", "epsilon")),
    (agents.Imed, "epsilon", math.nan, (0,)),
    *((agents.SlidingWindow, name, 0, ()) for name in ("window", "shifts")),
    (agents.SlidingWindow, "index", "median", ()),
    (agents.SlidingWindow, "bonus", -1.0, ()),
    *((agents.DiscountedUcb, "discount", wrong, ()) for wrong in (0.0, 1.0, math.nan)),
    *((agents.RestartedUcb, name, 0, ()) for name in ("period", "alpha", "epsilon")),
    (agents.TopTwo, "rule", "median", ()),
    *((kind, "learning_rate", 0, ()) for kind in (agents.Scrible, agents.BallOsmd)),
]


@pytest.mark.parametrize(("kind", "name", "wrong", "words"), WRONG)
def test_wrong_parameters_are_refused_by_name(kind, name, wrong, words):
    with refused(TypeError if "number" in words else ValueError, name, wrong, *words):
        kind(**{name: wrong})


def test_a_rule_for_noise_is_refused_where_there_is_none():
    with refused(ValueError, "epsilon", "rule='sequential'"):
        agents.TopTwo(rule="sums")


def test_functions_are_printed_by_name():
    assert repr(Ucb(width=own_width)) == f"Ucb(width={__name__}.own_width)"
    assert Ucb(width=own_width).clone().width is own_width


class Named(FunctionalAgent):
    """An agent that keeps one argument under another name."""

    functions = Exp3.functions

    def __init__(self, share, *, other=1):
        self.share, self._other = share, other

    def initial_state(self, n_arms, horizon):
        raise NotImplementedError


def test_an_agent_of_ones_own_is_printed_and_says_what_it_must_store():
    assert repr(Named(0.5)) == "Named(share=0.5)"
    with refused(TypeError, "Named", "'other'", "self.other = other"):
        Named(0.5).clone()
    assert Named(0.5).clone(other=2)._other == 2


# ---- uniform
def test_it_plays_every_arm_alike():
    """Pulls have standard deviation sqrt(T p (1 - p)): allow five.

    False alarm: 3e-6 (five standard errors, two sides, five arms).
    """
    outcome = simulate("DPBandit-Deterministic-v0", ["Uniform"], horizon=100_000, env_kwargs={"n_arms": 5})["Uniform"]
    assert np.all(np.abs(outcome.pulls - 20_000) < 5 * math.sqrt(100_000 * 0.2 * 0.8))


def test_nothing_it_sees_changes_what_it_plays():
    games = []
    for gain in (0.0, 1.0):
        agent = Uniform()
        agent.begin(n_arms=3, horizon=50, rng=np.random.default_rng(7))
        arms = []
        for _ in range(50):
            arms.append(agent.select_arm())
            agent.update(arms[-1], {"gain": np.full(3, gain), "observed": np.ones(3, np.int8)})
        games.append(arms)
        assert agent.probabilities() == pytest.approx([1 / 3] * 3)
    assert games[0] == games[1]


def test_it_never_draws_an_arm_that_does_not_exist():
    class AlmostOne:
        def random(self):
            return math.nextafter(1.0, 0.0)

    for n_arms in (2, 3, 7, 10, 1000):
        agent = Uniform()
        agent.begin(n_arms=n_arms, horizon=1, rng=AlmostOne())
        assert agent.select_arm() == n_arms - 1
