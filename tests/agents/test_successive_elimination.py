"""Successive elimination: lengths of epochs, thresholds and turns by hand."""

import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play
from dp_bandit_envs.adversaries import GainTable, Stochastic
from dp_bandit_envs.agents import SuccessiveElimination
from dp_bandit_envs.agents.successive_elimination import EPOCH, epoch_lengths
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.wrappers import BlockSums
from tests.tools.fake_draws import InOrder
from tests.tools.invented_releases import begun, told
from tests.tools.refusals import refused


def threshold(n_arms, horizon, epsilon, epoch, samples):
    """2 h + 2 c with h = sqrt(ln(8 K e^2 T) / (2 R)) and c = ln(4 K e^2 T) / (R epsilon)."""
    h = math.sqrt(math.log(8 * n_arms * epoch**2 * horizon) / (2 * samples))
    c = math.log(4 * n_arms * epoch**2 * horizon) / (samples * epsilon)
    return 2 * h + 2 * c


def alive(agent):
    return list(agent._state.alive)


def test_lengths_of_epochs_by_hand():
    """K = 2, T = 10^6, no noise: 128 ln(16 10^6) = 2123.3 and 512 ln(64 10^6) = 9202.8, rounded up, plus 1.

    Then 2048 ln(8 * 2 * 9 * 10^6) = 38472.3, and so on, each about four times as long, until 10^6 is reached.
    """
    lengths = epoch_lengths(2, 10**6, math.inf)
    assert lengths[:3] == [2125, 9204, 38474]
    assert sum(lengths[:-1]) < 10**6 <= sum(lengths)
    assert all(3 < longer / length < 5 for length, longer in itertools.pairwise(lengths[:-1]))


def test_little_epsilon_rules_the_lengths_of_epochs():
    """K = 2, T = 10^6, epsilon = 1/100: 1600 ln(8 10^6) = 25431.9 is more than 2123.3; then 3200 ln(32 10^6)."""
    lengths = epoch_lengths(2, 10**6, 0.01)
    assert lengths[:2] == [25433, math.ceil(3200 * math.log(32e6)) + 1]
    # In epoch e the one grows like 4^e and the other like 2^e, so gains rule in the end.
    assert epoch_lengths(2, 10**9, 0.01)[6] == epoch_lengths(2, 10**9, math.inf)[6]


def test_an_epoch_is_no_longer_than_the_game():
    """128 ln(8 * 2 * 100) = 944.3 is more than there is: one block of the whole game, which is never released."""
    assert epoch_lengths(2, 100, 1.0) == [101]
    assert epoch_lengths(3, 1, 1e-300) == [2]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, math.inf])
@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_an_arm_goes_once_it_is_behind_by_more_than_the_threshold(epsilon, epoch):
    """A hair less and it stays, in any epoch; K = 3, T = 1000, R = 100 e. Arm 1 is ahead, arm 2 in question."""
    if epsilon == 1.0 and epoch == 1:
        # 2 sqrt(ln 24000 / 200) + 2 ln 12000 / 100 = 0.4491 + 0.1879.
        assert threshold(3, 1000, 1.0, 1, 100) == pytest.approx(0.6370, abs=1e-4)
    for hair in (1e-9, -1e-9):
        agent = begun(SuccessiveElimination(epsilon=epsilon), 3, 1000, rng=InOrder())
        sums, counts = np.zeros(3), np.zeros(3, np.int64)
        for e in range(1, epoch + 1):
            samples = 100 * e
            behind = threshold(3, 1000, epsilon, e, samples) + hair if e == epoch else 0.0
            for arm, mean in enumerate([0.8, 0.9, 0.9 - behind]):
                assert agent.select_arm() == arm
                # Released only when the block is full; until then the arm is played on.
                told(agent, sums, counts, arm=arm, rounds=3)
                assert agent.select_arm() == arm
                sums[arm], counts[arm] = mean * samples, samples
                told(agent, sums, counts, arm=arm)
        assert alive(agent) == [1, 1, 0 if hair > 0 else 1]


def test_blocks_with_one_sum_are_told_apart_by_their_number():
    """The same sums and counts again and again, as without noise: a turn ends with a release, and only then."""
    agent = begun(SuccessiveElimination(), 3, 1000, rng=InOrder())
    releases = np.zeros(3, int)
    for turn in range(9):
        arm = turn % 3
        told(agent, [10, 10, 10], [20, 20, 20], arm=arm, releases=releases, rounds=2)
        assert agent.select_arm() == arm
        releases[arm] += 1
        told(agent, [10, 10, 10], [20, 20, 20], arm=arm, releases=releases)
        assert agent.select_arm() == (arm + 1) % 3
    assert agent._state.status[EPOCH] == 4
    env = BlockSums(BanditEnv(GainTable(np.full((60, 3), 0.5))), epsilon=math.inf, ratio=1, first=5)
    turns = play(env, SuccessiveElimination()).arms.reshape(4, 3, 5)
    assert (turns == turns[:, :, :1]).all()
    orders = turns[:, :, 0].tolist()
    assert all(sorted(order) == [0, 1, 2] for order in orders) and len(set(map(tuple, orders))) > 1


def test_arms_that_are_gone_are_skipped_and_the_rest_take_turns():
    """A naive version beside it: epochs over the arms left, each played until its release, in order of number."""
    rng = np.random.default_rng(3)
    n_arms, horizon, epsilon = 5, 10_000, 2.0
    means = np.array([0.9, 0.2, 0.87, 0.5, 0.7])
    agent = begun(SuccessiveElimination(epsilon=epsilon), n_arms, horizon, rng=InOrder())
    left, sums, counts, gone = list(range(n_arms)), np.zeros(n_arms), np.zeros(n_arms, np.int64), []
    for epoch in range(1, 12):
        samples = 60 * 2**epoch
        for arm in left:
            for _ in range(2):
                assert agent.select_arm() == arm
                told(agent, sums, counts, arm=arm)
            assert agent.select_arm() == arm
            sums[arm], counts[arm] = samples * (means[arm] + rng.normal(0, 0.01)), samples
            told(agent, sums, counts, arm=arm)
        released = {arm: sums[arm] / samples for arm in left}
        limit = max(released.values()) - threshold(n_arms, horizon, epsilon, epoch, samples)
        gone += [(epoch, arm) for arm in left if released[arm] < limit]
        left = [arm for arm in left if released[arm] >= limit]
        assert [arm for arm in range(n_arms) if alive(agent)[arm]] == left
    # All but two went, in different epochs, so that skipping first, middle and last arms was seen.
    assert [arm for _, arm in gone] == [1, 3, 4, 2]
    assert len({epoch for epoch, _ in gone}) == 4


def test_the_last_arm_is_played_whatever_is_released():
    agent = begun(SuccessiveElimination(), 2, 1000, rng=InOrder())
    told(agent, [0, 0], [1000, 0], arm=agent.select_arm())
    told(agent, [0, 1000], [1000, 1000], arm=agent.select_arm())
    assert alive(agent) == [0, 1]
    for count in range(2000, 6000, 1000):
        assert agent.select_arm() == 1
        told(agent, [9e9, -9e9], [count, count], arm=1)
    assert alive(agent) == [0, 1]


@pytest.mark.thorough
def test_equal_arms_all_stay():
    """A game of fair coins: it loses an arm with probability at most pi^2 / 12 / T, below 0.00002.

    T = 50,000 with three arms are three epochs; pulls differ by no more than the epoch in which the game ends.

    False alarm: 2e-5 at most (as above, which is a loose bound).
    """
    algorithm = make_algorithm("DP-SE", epsilon=1.0)
    horizon, agent = 50_000, algorithm.agent()
    game = play(algorithm.wrap(BanditEnv(Stochastic(means=[0.5] * 3, horizon=horizon))), agent)
    assert alive(agent) == [1, 1, 1]
    assert agent._state.status[EPOCH] >= 2
    lengths = epoch_lengths(3, horizon, 1.0)
    pulls = np.bincount(game.arms, minlength=3)
    assert pulls.max() - pulls.min() <= lengths[agent._state.status[EPOCH] - 1]


@pytest.mark.parametrize("wrong", [0, -1.0, math.nan])
def test_epsilon_must_be_positive(wrong):
    with refused(ValueError, "epsilon", 0, wrong):
        SuccessiveElimination(epsilon=wrong)
