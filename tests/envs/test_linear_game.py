"""Arms with features: gains are linear in them, agents get them, and a boundary's copy changes nothing below."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import play
from dp_bandit_envs.adversaries import LinearGains, Stochastic
from dp_bandit_envs.agents import Exp2
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage

SQUARE = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]


def table(adversary, rounds):
    adversary.begin(np.random.default_rng(1))
    return adversary.next_gains(rounds)


def test_gains_are_linear_in_the_features():
    """Opposite features earn opposite gains around 1 / 2, and least squares leaves nothing unexplained."""
    gains = table(LinearGains(features=SQUARE), 500)
    np.testing.assert_allclose(gains[:, 0] + gains[:, 2], 1.0, atol=1e-15)
    adversary = LinearGains(12, 500, dimension=3)
    gains = 2 * table(adversary, 500) - 1
    hidden = np.linalg.lstsq(adversary.features, gains.T, rcond=None)[0]
    np.testing.assert_allclose(adversary.features @ hidden, gains.T, atol=1e-12)
    assert np.linalg.norm(hidden, axis=0).max() <= 1 + 1e-12


@pytest.mark.parametrize("coins", [False, True])
def test_the_best_arm_is_ahead_by_the_gap(coins):
    """At gap 0.6, arms with the features v and -v would have the means 0.8 and 0.2; these are the closest of 50.

    A mean of 20,000 gains in [0, 1] has a standard error of at most 1 / (2 sqrt(20,000)) = 0.0036: allow five.
    False alarm: 6e-7 (two sides).
    """
    adversary = LinearGains(50, 20_000, dimension=2, gap=0.6, coins=coins)
    means = table(adversary, 20_000).mean(axis=0)
    expected = (1 + 0.6 * adversary.features @ adversary._direction) / 2
    assert np.abs(means - expected)[[means.argmax(), means.argmin()]].max() < 0.018
    assert expected.max() > 0.75


def test_coins_say_the_means_of_their_game_and_linear_gains_do_not():
    """Pseudo-regret is then what the arms played cost on average: gap <A_best - A_played, v> / 2 a round."""
    adversary = LinearGains(7, 400, gap=0.6, coins=True)
    assert adversary.means is None
    table(adversary, 5)
    expected = (1 + 0.6 * adversary.features @ adversary._direction) / 2
    np.testing.assert_allclose(adversary.means, expected, rtol=1e-13)
    env = BanditEnv(LinearGains(7, 400, gap=0.6, coins=True))
    game = play(env, Exp2(), seed=2)
    means = env.unwrapped.adversary.means
    assert game.pseudo_regret[-1] == pytest.approx((means.max() - means[game.arms]).sum(), rel=1e-12)
    assert play(BanditEnv(LinearGains(7, 40)), Exp2(), seed=2).pseudo_regret is None


def test_default_features_are_public_and_always_the_same():
    one, other = gym.make("DPBandit-Linear-v0", horizon=5), gym.make("DPBandit-Linear-v0", horizon=99)
    features = one.get_wrapper_attr("features")
    np.testing.assert_array_equal(features, other.get_wrapper_attr("features"))
    assert features.shape == (10, 5)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0)
    with pytest.raises(ValueError):
        features[0, 0] = 7.0
    assert not BanditEnv(Stochastic(3, 5)).has_wrapper_attr("features")


class Curious(Exp2):
    """Keeps what it sees."""

    def see_features(self, features):
        super().see_features(features)
        self.seen = features


def test_agents_get_features_also_through_boundaries():
    env = BanditEnv(LinearGains(features=SQUARE, horizon=30))
    wrapped = LaplaceClipRescale(MiniBatchAverage(env, batch_size=3), epsilon=1.0)
    for one in (env, wrapped):
        agent = Curious()
        play(one, agent)
        np.testing.assert_array_equal(agent.seen, SQUARE)
    wrapped.features[:] = 0.0
    np.testing.assert_array_equal(env.features, SQUARE)
    play(BanditEnv(Stochastic(4, 30)), agent)
    assert agent.seen is None
