"""Lazy Hedge: a step by hand, its exact law, and Hedge itself at p = 1."""

import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs import play, simulate
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Hedge, LazyHedge
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.wrappers import ExactSums
from tests.tools.exact_laws import lazy_law
from tests.tools.refusals import refused


class Fixed:
    """A stream of given numbers."""

    def __init__(self, *numbers):
        self._numbers = iter(numbers)

    def random(self):
        """Return the next one."""
        return next(self._numbers)


def begun(*numbers, **options):
    agent = LazyHedge(**options)
    agent.begin(n_arms=2, horizon=10, rng=Fixed(*numbers))
    return agent


def told(agent, arm, gains):
    agent.update(arm, {"gain": np.array(gains, float), "observed": np.ones(2, np.int8)})


def test_steps_by_hand():
    """At a = ln 2 and p = .25 an arm of gain 0 stays with probability .75 / 2 = .375, one of gain 1 with .75."""
    options = {"learning_rate": math.log(2), "fresh_probability": 0.25}
    # Uniform: arm 0 below .5. A coin of .37 keeps it, one of .38 does not; then weights are 1 and 2.
    for coin, draws, arm in ((0.37, (), 0), (0.38, (0.33,), 0), (0.38, (0.34,), 1)):
        agent = begun(0.49, coin, *draws, **options)
        assert agent.select_arm() == 0
        told(agent, 0, [0, 1])
        assert agent.select_arm() == arm
    agent = begun(0.49, 0.74, 0.76, 0.79, **options)
    assert agent.select_arm() == 0
    told(agent, 0, [1, 0])
    assert agent.select_arm() == 0
    told(agent, 0, [1, 0])
    # Weights 4 and 1: arm 0 below .8.
    assert agent.select_arm() == 0


def test_without_draws_left_it_stays():
    agent = begun(0.6, 0.99, 0.01, learning_rate=1.0, fresh_probability=1.0, most_draws=1)
    arms = []
    for _ in range(6):
        arms.append(agent.select_arm())
        told(agent, arms[-1], [1, 0])
    # Arm 1, then the one draw, .99 of 1 + 1 / e: arm 1 again. The number .01, which would be arm 0, is never asked for.
    assert arms == [1] * 6


@pytest.mark.parametrize("most", [1, 9])
def test_played_sequences_have_the_exact_law(most):
    """Pearson's chi-square over the 27 sequences of 3 arms in 3 rounds. False alarm: 1e-6 (52 degrees and fewer)."""
    table = np.array([[1.0, 0.2, 0.0], [0.0, 0.5, 1.0], [0.3, 0.4, 0.6]])
    games = 20_000
    algorithm = Algorithm("lazy", lambda: LazyHedge(learning_rate=1.0, fresh_probability=0.2, most_draws=most))
    outcome = simulate(lambda: ExpertsEnv(gains=GainTable(table)), [algorithm], trials=games, checkpoints=[1, 2, 3])
    # Pulls are those of the whole game; each round's arm is found from the gain collected in it.
    gained = np.diff(outcome["lazy"].collected, axis=1, prepend=0)
    arms = np.abs(gained[:, :, np.newaxis] - table).argmin(axis=2)
    played = arms @ [9, 3, 1]
    found = np.bincount(played, minlength=27)
    law = lazy_law(table, 1.0, 0.2, most)
    expected = games * np.array([law.get(arms, 0.0) for arms in itertools.product(range(3), repeat=3)])
    possible = expected > 0
    assert found[~possible].sum() == 0 and expected[possible].min() > 5
    statistic = ((found - expected)[possible] ** 2 / expected[possible]).sum()
    # The quantile at 1 - 1e-6 for 26 degrees of freedom is 73.6, and smaller for fewer.
    assert statistic < 74


def test_with_a_fresh_draw_in_every_round_it_is_hedge():
    for seed in range(3):
        lazy = play(ExpertsEnv(5, 500), LazyHedge(fresh_probability=1), seed=seed)
        plain = play(ExactSums(ExpertsEnv(5, 500)), Hedge(), seed=seed)
        # Their streams carry their names.
        assert lazy.arms.shape == plain.arms.shape
    one, other = (
        Algorithm("one", lambda: LazyHedge(fresh_probability=1), player="same"),
        Algorithm("other", Hedge, ExactSums, player="same"),
    )
    outcomes = simulate("DPBandit-Experts-v0", [one, other], horizon=2000, trials=3)
    np.testing.assert_array_equal(outcomes["one"].pulls, outcomes["other"].pulls)


def test_it_changes_its_arm_far_less_often_than_hedge():
    lazy = play(ExpertsEnv(5, 2000), LazyHedge(), seed=1)
    plain = play(ExactSums(ExpertsEnv(5, 2000)), Hedge(), seed=1)
    assert lazy.switches[-1] < plain.switches[-1] / 4


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_the_probability_of_a_fresh_draw_is_one(wrong):
    with refused(ValueError, "fresh_probability", "[0, 1]", wrong):
        LazyHedge(fresh_probability=wrong)


@pytest.mark.parametrize("wrong", [-1, 2.5])
def test_the_number_of_draws_is_a_whole_number(wrong):
    with refused(ValueError, "most_draws", 0, wrong):
        LazyHedge(most_draws=wrong)
