"""`simulate` is `play` to the last bit where every round reveals every gain, for every counter and kind of noise."""

import itertools

import numpy as np
import pytest

from dp_bandit_envs import MiniBatchAverage, RandomizedResponse
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.wrappers import CounterSums, HybridSums
from tests.simulation.test_play_equals_simulate import assert_same
from tests.simulation.test_play_equals_simulate_on_sums import BitsOfSums

EXPERTS = "DPBandit-Experts-v0"
ORDERS = {
    f"{name}, {noise}": lambda env, name=name, noise=noise: CounterSums(env, epsilon=0.5, counter=name, noise=noise)
    for name, kind in COUNTERS.items()
    for noise in kind.noises
}
MORE = {
    "padded": lambda env: HybridSums(env, epsilon=0.5, pad_unplayed=True),
    "around batch": lambda env: HybridSums(MiniBatchAverage(env, batch_size=3), epsilon=1.0, noise="own-norm"),
    "around responses": lambda env: CounterSums(RandomizedResponse(env, epsilon=1.0), epsilon=1.0, counter="binary"),
}
SOME = ["binary, laplace", "k-ary, own-norm", "honaker, gaussian"]


def assert_equal_and_different(orders, env_id=EXPERTS, **given):
    algorithms = [Algorithm(name, BitsOfSums, wrap) for name, wrap in orders.items()]
    _, arms = assert_same(env_id, given, algorithms, trials=1)
    for one, other in itertools.combinations(orders, 2):
        assert not np.array_equal(arms[one, 0], arms[other, 0]), (one, other)


def test_what_an_agent_is_told_of_vectors_is_equal_to_the_last_bit():
    assert_equal_and_different({name: ORDERS[name] for name in SOME} | MORE, n_arms=3)


@pytest.mark.slow
def test_what_an_agent_is_told_of_vectors_is_equal_to_the_last_bit_for_every_counter():
    assert_equal_and_different(ORDERS, n_arms=3)
    assert_equal_and_different(ORDERS, "DPBandit-Graph-v0", graph="complete", n_arms=4)


@pytest.mark.parametrize("order", ["square-root, gaussian", "binary, own-norm"])
def test_ucb_on_vectors_plays_the_same_game_both_ways(order):
    assert_same(EXPERTS, {"n_arms": 4}, [Algorithm("UCB", Ucb, ORDERS[order])], trials=1)
