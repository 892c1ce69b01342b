"""MABWiser's learning policies as agents here."""

import numpy as np
import pytest

from dp_bandit_envs.adapters import as_mabwiser, from_mabwiser
from dp_bandit_envs.conformance import check_agent
from dp_bandit_envs.errors import WrongTypeError
from tests.neighbours.own_loops import ARMS, ROUNDS, TABLE, arms_here, private, released
from tests.tools.refusals import refused

mab = pytest.importorskip("mabwiser.mab", reason="not installed; pip install 'dp-bandit-envs[neighbours]'")

POLICIES = {
    "UCB1": mab.LearningPolicy.UCB1(alpha=1.0),
    "EpsilonGreedy": mab.LearningPolicy.EpsilonGreedy(epsilon=0.1),
    "Softmax": mab.LearningPolicy.Softmax(tau=0.1),
    "Popularity": mab.LearningPolicy.Popularity(),
    "Random": mab.LearningPolicy.Random(),
    "ThompsonSampling": mab.LearningPolicy.ThompsonSampling(lambda arm, reward: int(reward > 0.5)),
}


def mabwisers_loop(policy, seed, rewards):
    """Try each arm until something is learnt of it, then predict; `rewards(round, arm)` is None for nothing."""
    one, untried, arms = mab.MAB(list(range(ARMS)), policy, seed=seed), list(range(ARMS)), []
    decisions, seen = [], []
    for t in range(ROUNDS):
        arms.append(untried[0] if untried else one.predict())
        reward = rewards(t, arms[-1])
        if reward is None:
            continue
        if untried:
            decisions.append(untried.pop(0))
            seen.append(reward)
            one.fit(decisions, seen)
        else:
            one.partial_fit([arms[-1]], [reward])
    return arms


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["UCB1", "EpsilonGreedy", "Softmax", "Random", "ThompsonSampling"])
def test_the_arms_are_those_of_mabwisers_own_loop(name):
    arms, rng = arms_here(from_mabwiser(POLICIES[name]))
    seed = int(rng.integers(2**31))
    assert arms == mabwisers_loop(POLICIES[name], seed, lambda t, arm: TABLE[t, arm])
    assert len(set(arms)) == ARMS


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["UCB1", "EpsilonGreedy"])
def test_behind_a_boundary_the_policy_learns_released_gains_only(name):
    arms, rng = arms_here(from_mabwiser(POLICIES[name]), private)
    shown = released(arms)
    assert None in shown
    assert arms == mabwisers_loop(POLICIES[name], int(rng.integers(2**31)), lambda t, arm: shown[t])


@pytest.mark.thorough
@pytest.mark.slow_cases("ThompsonSampling")
@pytest.mark.parametrize("name", ["UCB1", "ThompsonSampling"])
def test_they_keep_the_contract_of_agents(name):
    check_agent(from_mabwiser(POLICIES[name]))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (None, ["NoneType", "LearningPolicy.UCB1"]),
        (mab.LearningPolicy.UCB1, ["class", "UCB1"]),
        (mab.LearningPolicy.LinUCB(), ["LinUCB", "context"]),
        (mab.MAB([0, 1], POLICIES["UCB1"]), ["MAB"]),
    ],
)
def test_what_is_no_learning_policy_without_context_is_refused(wrong, words):
    with refused(WrongTypeError, "policy", *words):
        from_mabwiser(wrong)


def test_one_loop_plays_a_mab_and_an_algorithm_of_ours():
    """The methods have the same names and arguments."""
    theirs = mab.MAB(["a", "b", "c"], POLICIES["EpsilonGreedy"], seed=1)
    theirs.fit(["a", "b", "c"], [0.0, 0.0, 0.0])
    ours = as_mabwiser("DP-EXP3-Lap", ["a", "b", "c"], horizon=ROUNDS)
    for one in (theirs, ours):
        arms = []
        for row in TABLE:
            arms.append(one.predict())
            one.partial_fit(decisions=[arms[-1]], rewards=np.array([row[one.arms.index(arms[-1])]]))
        assert len(arms) == ROUNDS and set(arms) == {"a", "b", "c"}
