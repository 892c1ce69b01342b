"""What all agents made of plain functions have in common: order of calls, observations, and errors of own functions.

Streams, memory and copies are the business of `check_agent`, which `tests/conformance` runs over all agents.
"""

from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation

from dp_bandit_envs import Exp3, Htinf, TsallisInf, Uniform, play
from dp_bandit_envs.agents import FunctionalAgent, Imed, KlUcb, SuccessiveElimination, ThompsonSampling, Ucb
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.errors import StepOutsideGameError, WrongObservationError, WrongTypeError
from dp_bandit_envs.privacy import Noise
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, IntervalSums, LaplaceClipRescale
from tests.tools.refusals import refused

AGENTS = [Exp3, TsallisInf, Htinf, Uniform]
OF_SUMS = [Ucb, KlUcb, Imed, ThompsonSampling, SuccessiveElimination]
EVERY = pytest.mark.parametrize("kind", AGENTS + OF_SUMS)
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


@EVERY
def test_nothing_works_before_begin(kind):
    agent = kind()
    calls = [agent.select_arm, lambda: agent.update(0, {"gain": np.zeros(2), "observed": np.zeros(2, np.int8)})]
    if hasattr(agent, "probabilities"):
        calls.append(agent.probabilities)
    for call in calls:
        with refused(StepOutsideGameError, kind.__name__, "begin(n_arms=, horizon=, rng=)"):
            call()


@pytest.mark.parametrize(
    ("observation", "shown"),
    [
        ({"sum": np.zeros(2), "count": np.zeros(2)}, "['sum', 'count']"),
        ({"gain": np.array([0.123456, 0.0])}, "['gain']"),
        (np.zeros(4), "ndarray"),
        (3, "int"),
    ],
    ids=["sums", "half", "flat", "discrete"],
)
def test_a_wrong_observation_names_the_wrappers_and_no_gain(observation, shown):
    cures = "LaplaceClipRescale", "MiniBatchAverage", "FlattenObservation"
    with refused(WrongObservationError, "Exp3", "'gain'", "'observed'", shown, *cures) as error:
        begun(Exp3).update(0, observation)
    assert "0.123456" not in str(error.value) and error.value.__suppress_context__


@pytest.mark.parametrize(
    ("observation", "shown"),
    [
        ({"sum": np.zeros(2)}, "['sum']"),
        ({"sum": np.zeros(2), "count": np.zeros(2, int)}, "['sum', 'count']"),
        ({"total": np.array([0.123456, 0.0])}, "['total']"),
        (np.zeros(4), "ndarray"),
        (3, "int"),
    ],
    ids=["a third", "two thirds", "another name", "flat", "discrete"],
)
def test_other_wrong_observations_name_the_wrappers_too(observation, shown):
    words = "Ucb", "'sum'", "'count'", "'release'", shown, "ExactSums(env)", "HybridSums(env, epsilon=...)"
    with refused(WrongObservationError, *words) as error:
        begun(Ucb).update(0, observation)
    assert "0.123456" not in str(error.value) and error.value.__suppress_context__


@EVERY
def test_games_of_the_other_kind_are_refused(kind):
    """A flattened game, and sums where an agent learns from gains; gains, noisy or not, where it learns from sums."""
    if kind in AGENTS:
        with refused(WrongObservationError, "FlattenObservation"):
            play(FlattenObservation(game()), kind())
        with refused(WrongObservationError, "'gain'", "'observed'", "['sum', 'count', 'release']"):
            play(ExactSums(game()), kind())
        return
    for env in (game(), LaplaceClipRescale(game(), epsilon=1.0)):
        cures = "ExactSums(env)", "HybridSums(env, epsilon=...)"
        with refused(WrongObservationError, kind.__name__, "sums", "gains", *cures):
            play(env, kind())
    for wrap in SUMS_WRAPPERS:
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


@EVERY
def test_every_agent_takes_notice_of_noise_before_its_first_game(kind):
    """With that of a bare environment it is as if nobody had told it; what is no noise is refused."""
    agent = kind()
    assert agent.noise == Noise() == Noise(1.0, 0.0, 0.0)
    agent.see_noise(Noise())
    assert str(agent.initial_state(3, 50)) == str(kind().initial_state(3, 50))
    for wrong in (5.0, (1.0, 0.0, 0.0), None, {"sensitivity": 5.0}):
        with refused(WrongTypeError, "noise", "dp_bandit_envs.privacy.Noise", type(wrong).__name__):
            agent.see_noise(wrong)
    assert agent.noise == Noise()


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
