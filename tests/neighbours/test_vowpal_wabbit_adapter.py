"""Vowpal Wabbit's exploration without context as an agent here."""

import copy

import numpy as np
import pytest

from dp_bandit_envs.adapters import from_vowpalwabbit
from dp_bandit_envs.conformance import check_agent
from dp_bandit_envs.errors import StepOutsideGameError
from tests.neighbours.own_loops import ARMS, ROUNDS, TABLE, arms_here, private, released
from tests.tools.refusals import refused

vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="not installed; pip install 'dp-bandit-envs[neighbours]'")

ARGUMENTS = ["", "--epsilon 0.1", "--bag 5", "--cover 3", "--first 10"]


def its_own_loop(arguments, rng, rewards):
    """Draw arms by NumPy's own draw of one of many; `rewards(round, arm)` is None where nothing is to be learnt."""
    workspace = vowpalwabbit.Workspace(
        f"--cb_explore {ARMS} {arguments} --quiet --random_seed {int(rng.integers(2**31))}"
    )
    arms = []
    for t in range(ROUNDS):
        chances = np.array(workspace.predict("|"))
        arms.append(int(np.searchsorted(np.cumsum(chances) / chances.sum(), rng.random(), side="right")))
        reward = rewards(t, arms[-1])
        if reward is not None:
            workspace.learn(f"{arms[-1] + 1}:{1 - reward}:{chances[arms[-1]]} |")
    workspace.finish()
    return arms


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_the_arms_are_those_of_its_own_loop(arguments):
    arms, rng = arms_here(from_vowpalwabbit(arguments))
    assert arms == its_own_loop(arguments, rng, lambda t, arm: TABLE[t, arm])


@pytest.mark.parametrize("arguments", ARGUMENTS[1:3])
def test_behind_a_boundary_it_learns_released_gains_only(arguments):
    arms, rng = arms_here(from_vowpalwabbit(arguments), private)
    shown = released(arms)
    assert None in shown
    assert arms == its_own_loop(arguments, rng, lambda t, arm: shown[t])


@pytest.mark.thorough
@pytest.mark.slow_cases("--bag 5")
@pytest.mark.parametrize("arguments", ["", "--bag 5"])
def test_it_keeps_the_contract_of_agents(arguments):
    check_agent(from_vowpalwabbit(arguments))


def test_what_vowpal_wabbit_does_not_know_is_refused_at_once():
    with refused(ValueError, "arguments", "--nonsense"):
        from_vowpalwabbit("--nonsense 4")


def test_a_copy_begins_anew():
    agent = from_vowpalwabbit("--bag 2")()
    agent.begin(n_arms=2, horizon=9, rng=np.random.default_rng(1))
    twin = copy.deepcopy(agent)
    with refused(StepOutsideGameError, "begin"):
        twin.select_arm()
