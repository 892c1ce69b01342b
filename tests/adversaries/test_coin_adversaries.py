"""Arms that are coins or periodic: one law drawn in two ways, draws held for 200 rounds, and a rhythm by hand."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Deterministic, FullyOblivious, Oblivious, Stochastic
from dp_bandit_envs.seeding import ADVERSARY, stream
from tests.tools.refusals import refused

ROUNDS = 200_000
PAIR = [Stochastic(horizon=ROUNDS), FullyOblivious(horizon=ROUNDS)]


class PresetUniforms:
    """A stream whose uniform numbers are given in advance."""

    def __init__(self, uniforms):
        self._uniforms = iter(np.array(uniforms, dtype=float).ravel().tolist())

    def random(self):
        """Return the next one."""
        return next(self._uniforms)


@pytest.fixture(scope="module")
def gains():
    """200,000 rounds of either adversary, from different streams."""
    for seed, adversary in enumerate(PAIR):
        adversary.begin(stream(seed, role=ADVERSARY))
    return [adversary.next_gains(ROUNDS) for adversary in PAIR]


def test_stochastic_gain_is_one_where_the_uniform_is_below_the_mean():
    adversary = Stochastic(means=[0.0, 0.3, 1.0])
    adversary.begin(PresetUniforms([0.0, 0.29, 0.999, 0.5, 0.31, 0.0]))
    np.testing.assert_array_equal(adversary.next_gains(2), [[0, 1, 1], [0, 0, 1]])


def test_fully_oblivious_bias_lies_where_the_first_uniform_says():
    """The bias p is 0.5 + 2 gap u for arm 0 and 0.5 - gap + 2 gap u for others; the second uniform decides against p.

    With gap 0.1: u = 0, 0.5, 0.9 give p = 0.5, 0.6, 0.68 on arm 0 and 0.4, 0.5, 0.58 on arm 1.
    """
    adversary = FullyOblivious(n_arms=2, gap=0.1)
    rounds = []
    for u, best, other in [(0.0, 0.5, 0.4), (0.5, 0.6, 0.5), (0.9, 0.68, 0.58)]:
        rounds.append([(u, best - 0.001), (u, other - 0.001)])  # just below: both gains are 1
        rounds.append([(u, best + 0.001), (u, other + 0.001)])  # just above: both are 0
    adversary.begin(PresetUniforms(rounds))
    np.testing.assert_array_equal(adversary.next_gains(6), [[1, 1], [0, 0]] * 3)


def test_declared_means_are_those_of_the_paper():
    np.testing.assert_allclose(Stochastic().means, [0.55, 0.5, 0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(FullyOblivious().means, [0.55, 0.5, 0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(FullyOblivious(n_arms=3, gap=0.25).means, [0.75, 0.5, 0.5], rtol=1e-15)


@pytest.mark.parametrize("which", [0, 1], ids=["Stochastic", "FullyOblivious"])
def test_gains_have_the_declared_mean_and_variance(gains, which):
    """A 0/1 sample has mean p with standard error s = sqrt(p (1 - p) / n); its variance m (1 - m) is a function of m.

    The variance therefore moves by |1 - 2 p| s to first order and by s^2 to second: allow five s in the mean.

    False alarm: 2.3e-6 (five standard errors, two sides, four arms).
    """
    sample, p = gains[which], PAIR[which].means
    assert set(np.unique(sample)) == {0.0, 1.0}
    error = np.sqrt(p * (1 - p) / ROUNDS)
    assert np.all(np.abs(sample.mean(axis=0) - p) <= 5 * error)
    assert np.all(np.abs(sample.var(axis=0) - p * (1 - p)) <= np.abs(1 - 2 * p) * 5 * error + (5 * error) ** 2)


def test_fully_oblivious_and_stochastic_have_the_same_mean(gains):
    """The difference of two independent averages has standard error sqrt(2) * 0.5 / sqrt(n) at most: allow five.

    False alarm: 2.3e-6 (five standard errors, two sides, four arms).
    """
    difference = gains[0].mean(axis=0) - gains[1].mean(axis=0)
    assert np.all(np.abs(difference) <= 5 * np.sqrt(2) * 0.5 / np.sqrt(ROUNDS))


@pytest.mark.parametrize("which", [0, 1], ids=["Stochastic", "FullyOblivious"])
def test_rounds_and_arms_are_uncorrelated(gains, which):
    """A correlation of independent samples has standard error 1 / sqrt(n): allow five; lag 1, and between arms.

    False alarm: 1.3e-5 (five standard errors, two sides, 16 pairs of rounds and 6 of arms).
    """
    now = gains[which][1:].T
    before = gains[which][:-1].T
    n_arms = len(now)
    correlations = np.corrcoef(now, before)
    lagged, between = correlations[:n_arms, n_arms:], correlations[:n_arms, :n_arms] - np.eye(n_arms)
    assert np.abs(lagged).max() <= 5 / np.sqrt(ROUNDS)
    assert np.abs(between).max() <= 5 / np.sqrt(ROUNDS)


def test_gap_zero_leaves_fair_coins_only():
    """Mean of 4 x 50,000 fair coins: standard error 0.5 / sqrt(200,000); allow five of them.

    False alarm: 6e-7 (five standard errors, two sides).
    """
    adversary = FullyOblivious(gap=0)
    adversary.begin(stream(0, role=ADVERSARY))
    assert abs(adversary.next_gains(50_000).mean() - 0.5) <= 5 * 0.5 / np.sqrt(200_000)


def test_means_of_zero_and_one_are_certain():
    adversary = Stochastic(means=[0, 1])
    adversary.begin(np.random.default_rng(0))
    np.testing.assert_array_equal(adversary.next_gains(10_000).mean(axis=0), [0, 1])


def test_number_of_arms_follows_the_means():
    assert Stochastic(means=np.full(7, 0.5)).n_arms == 7


def test_means_are_a_copy_that_the_caller_cannot_change():
    means = np.array([0.0, 0.0])
    adversary = Stochastic(means=means)
    means[:] = 1.0
    adversary.begin(np.random.default_rng(0))
    assert not adversary.next_gains(10).any()


@pytest.mark.parametrize("means", [[0.5, 1.1], [-0.1, 0.5], [0.5, np.nan], [[0.5, 0.5]], 0.5])
def test_means_must_be_one_number_in_the_unit_interval_for_each_arm(means):
    with refused(ValueError, "means", 2, "[0, 1]"):
        Stochastic(n_arms=2, means=means)


def test_means_must_be_as_many_as_the_arms():
    with refused(ValueError, "means", 4, "[0, 1]", [0.5, 0.5]):
        Stochastic(n_arms=4, means=[0.5, 0.5])


@pytest.mark.parametrize("gap", [-0.01, 0.26, np.nan])
def test_gap_must_keep_every_bias_a_probability(gap):
    with refused(ValueError, "gap", "[0, 0.25]", gap):
        FullyOblivious(gap=gap)


# ---- the oblivious adversary ---------------------------------------------------------------------------------------


def gains_of(adversary, rounds):
    adversary.begin(stream(11, role=ADVERSARY))
    return adversary.next_gains(rounds)


def test_gains_are_redrawn_in_rounds_200_and_400_and_held_in_between():
    """The draws are those of the fully oblivious adversary with the same stream, in order."""
    held, draws = gains_of(Oblivious(n_arms=50), 600), gains_of(FullyOblivious(n_arms=50), 4)
    np.testing.assert_array_equal(held[:199], np.tile(draws[0], (199, 1)))  # rounds 1 to 199
    np.testing.assert_array_equal(held[199:399], np.tile(draws[1], (200, 1)))  # rounds 200 to 399
    np.testing.assert_array_equal(held[399:599], np.tile(draws[2], (200, 1)))  # rounds 400 to 599
    np.testing.assert_array_equal(held[599], draws[3])  # round 600
    assert len(np.unique(draws, axis=0)) == 4  # 50 coins: four equal draws would hide a missing redraw


def test_period_one_is_the_fully_oblivious_adversary():
    np.testing.assert_array_equal(gains_of(Oblivious(period=1), 300), gains_of(FullyOblivious(), 300))


def test_period_beyond_the_horizon_never_redraws():
    assert len(np.unique(gains_of(Oblivious(n_arms=50, horizon=500, period=501), 500), axis=0)) == 1


def test_held_gains_have_the_declared_means():
    """20,000 draws of an arm have mean p with standard error below 0.5 / sqrt(20,000): allow five of them.

    False alarm: 2.3e-6 (five standard errors, two sides, four arms).
    """
    gains = gains_of(Oblivious(period=3), 60_000)[2::3]
    assert np.all(np.abs(gains.mean(axis=0) - [0.55, 0.5, 0.5, 0.5]) <= 5 * 0.5 / np.sqrt(20_000))


@pytest.mark.parametrize("period", [0, -200, 1.5])
def test_period_must_be_a_positive_integer(period):
    with refused(ValueError, "period", 1, period):
        Oblivious(period=period)


# ---- the deterministic adversary against its definition ------------------------------------------------------------


def first_rounds(adversary, rounds):
    adversary.begin(np.random.default_rng(0))
    return adversary.next_gains(rounds)


def test_first_seven_rounds_match_the_definition_by_hand():
    expected = [
        [0.38, 0, 0, 0],  # round 1
        [0.38, 1, 0, 0],  # 2: even
        [0.38, 0, 1, 0],  # 3: a multiple of three
        [0.38, 1, 0, 0],
        [0.38, 0, 0, 0],
        [0.38, 1, 1, 0],  # 6: both
        [0.38, 0, 0, 0],
    ]
    np.testing.assert_array_equal(first_rounds(Deterministic(), 7), expected)


def test_six_hundred_rounds_sum_to_228_300_200_and_nothing():
    np.testing.assert_allclose(first_rounds(Deterministic(), 600).sum(axis=0), [228, 300, 200, 0], rtol=1e-12)


@pytest.mark.parametrize("n_arms", [2, 3, 9])
def test_other_numbers_of_arms_drop_the_last_or_add_worthless_ones(n_arms):
    gains = first_rounds(Deterministic(n_arms=n_arms), 12)
    shared = min(n_arms, 4)
    np.testing.assert_array_equal(gains[:, :shared], first_rounds(Deterministic(), 12)[:, :shared])
    assert not gains[:, 3:].any()
