"""The switching-cost adversary: its walk, its constants, its hidden arm."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import SwitchingCost
from dp_bandit_envs.adversaries.switching import lowest_bit
from dp_bandit_envs.seeding import ADVERSARY, stream


def naive_walk(horizon, sigma, seed, n_arms=4):
    """W_t = W_{t & (t - 1)} + xi_t with W_0 = 0, one round after the other; the best arm is drawn before the xi."""
    rng = stream(seed, role=ADVERSARY)
    best_arm = int(rng.random() * n_arms)
    steps = np.array([rng.normal(0.0, sigma) for _ in range(horizon)])
    walk = np.zeros(horizon + 1)
    for t in range(1, horizon + 1):
        walk[t] = walk[t & (t - 1)] + steps[t - 1]
    return best_arm, steps, walk[1:]


@pytest.mark.parametrize(("horizon", "block"), [(2, 2), (3, 1), (1000, 1000), (1024, 100), (4097, 3)])
def test_walk_equals_the_naive_recursion_with_the_same_stream(horizon, block):
    adversary = SwitchingCost(horizon=horizon)
    adversary.begin(stream(7, role=ADVERSARY))
    best_arm, _, walk = naive_walk(horizon, adversary.sigma, 7)
    assert adversary.best_arm == best_arm
    blocks = [adversary.next_walk(min(block, horizon - start)) for start in range(0, horizon, block)]
    np.testing.assert_array_equal(np.concatenate(blocks), walk)


def test_walk_of_1024_rounds_has_width_11_and_depth_10():
    """Each round's parent is read off the walk: the round p for which W_p is W_t without its own step.

    Dekel et al.: width = max over t of the number of rounds s whose step from their parent passes over t. For
    t = 1024 = 2^10 it reaches the bound floor(log2 T) + 1 = 11. Depth = steps in W_t = ones in t, 10 at t = 1023.
    """
    adversary = SwitchingCost(horizon=1024)
    adversary.begin(stream(2, role=ADVERSARY))
    walk = np.concatenate([[0.0], adversary.next_walk(1024)])
    steps = naive_walk(1024, adversary.sigma, 2)[1]
    parent = np.array([0] + [np.abs(walk[:t] - (walk[t] - steps[t - 1])).argmin() for t in range(1, 1025)])
    later = np.arange(1025)
    assert max(np.count_nonzero((parent < t) & (t <= later)) for t in range(1, 1025)) == 11
    depth = np.zeros(1025, int)
    for t in range(1, 1025):
        depth[t] = depth[parent[t]] + 1
    assert depth.max() == 10
    assert SwitchingCost.memory == 1


def test_constants_at_paper_scale_match_the_formula_by_hand():
    """T = 2^18, K = 4: sigma = 1 / (9 * 18) = 1 / 162; gap = (4 / 2^18)^(1/3) / 162 = 2^(-16/3) / 162 = 1.531e-4."""
    adversary = SwitchingCost(n_arms=4, horizon=2**18)
    assert adversary.sigma == pytest.approx(1 / 162, rel=1e-12)
    assert adversary.gap == pytest.approx(2 ** (-16 / 3) / 162, rel=1e-12)
    assert adversary.gap == pytest.approx(1.531e-4, rel=1e-3)
    assert adversary.gap * 2**18 == pytest.approx(40, rel=0.01)  # all the regret that the hidden arm can cause


def test_others_gain_one_half_less_the_walk_and_the_best_is_ahead_by_exactly_the_gap():
    """Gains are near 1/2 and come from three roundings of numbers up to 1: each is off by at most 2^-53."""
    adversary = SwitchingCost(n_arms=5, horizon=1000)
    adversary.begin(stream(4, role=ADVERSARY))
    gains = adversary.next_gains(1000)
    others = np.delete(gains, adversary.best_arm, axis=1)
    np.testing.assert_array_equal(others, others[:, :1].repeat(4, axis=1))
    assert np.abs(gains[:, adversary.best_arm] - others[:, 0] - adversary.gap).max() <= 6 * 2.0**-53
    walk = naive_walk(1000, adversary.sigma, 4, n_arms=5)[2]
    np.testing.assert_allclose(others[:, 0], 0.5 - walk, rtol=0, atol=4e-16)


def test_a_walk_that_leaves_the_range_is_clipped():
    class Steps:
        ahead = iter([3.0, -3.0])  # W_1 = 3, W_2 = -3

        def integers(self, n_arms):
            return 0

        def normal(self, mean, sigma):
            return next(self.ahead)

    adversary = SwitchingCost(n_arms=2, horizon=2)
    adversary.begin(Steps())
    np.testing.assert_array_equal(adversary.next_gains(2), [[0, 0], [1, 1]])


def test_the_lowest_bit_is_that_of_integers():
    for number in (*range(1, 2049), 3 << 40, 2**53, 2**53 + 2**20, 2**62):
        assert lowest_bit(number) == (number & -number).bit_length() - 1
