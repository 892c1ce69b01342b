"""What all agents made of plain functions have in common: order of calls, observations, and errors of own functions.

Streams, memory and copies are the business of `check_agent`, which `tests/conformance` runs over all agents.
"""

from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation

from dp_bandit_envs import Exp3, play
from dp_bandit_envs.agents import (
    FunctionalAgent,
    Htinf,
    Imed,
    KlUcb,
    SuccessiveElimination,
    ThompsonSampling,
    TsallisInf,
    Ucb,
    Uniform,
)
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.errors import StepOutsideGameError, WrongObservationError, WrongTypeError
from dp_bandit_envs.privacy import Noise
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, IntervalSums, LaplaceClipRescale
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
    """Two arrays and a number."""

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
    """Has the state above."""

    def initial_state(self, n_arms, horizon):
        """Return the state before the first step."""
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
