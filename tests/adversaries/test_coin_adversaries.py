"""The stochastic and the fully oblivious adversary: one law, two ways to draw it."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import FullyOblivious, Stochastic
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
