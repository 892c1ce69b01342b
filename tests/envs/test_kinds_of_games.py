"""What only the evaluator sees, by hand; games of experts; and games whose arms have features."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play
from dp_bandit_envs.adversaries import (
    Deterministic,
    GainTable,
    LinearGains,
    MemoryBounded,
    Stochastic,
    SwitchingCost,
    overfished,
)
from dp_bandit_envs.agents import Exp2, Exp3Set
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv, ExpertsVectorEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import UnknownNameError, WrongTypeError
from dp_bandit_envs.wrappers import HybridSums, LaplaceClipRescale, MiniBatchAverage, RandomizedResponse
from tests.tools.refusals import refused

ARMS = [0, 1, 1, 3, 2, 2]
REWARDS = [0.38, 1, 0, 0, 0, 1]
TOTALS = [
    [0.38, 0, 0, 0],
    [0.76, 1, 0, 0],
    [1.14, 1, 1, 0],
    [1.52, 2, 1, 0],
    [1.90, 2, 1, 0],
    [2.28, 3, 2, 0],
]
COLLECTED = [0.38, 1.38, 1.38, 1.38, 1.38, 2.38]
REGRET = [0, -0.38, -0.24, 0.62, 0.62, 0.62]  # the largest total less what was collected


@pytest.mark.parametrize("block_length", [1, 5, 4096])
def test_evaluators_numbers_by_hand_in_every_round(block_length):
    """Also in a second game, which starts the count anew; and what is shown is a copy."""
    env = BanditEnv(Deterministic(horizon=6), arm_order="given", block_length=block_length)
    for _ in range(2):
        env.reset()
        assert (env.cumulative_gains.tolist(), env.collected, env.external_regret()) == ([0, 0, 0, 0], 0, 0)
        for arm, reward, totals, collected, regret in zip(ARMS, REWARDS, TOTALS, COLLECTED, REGRET, strict=True):
            assert env.step(arm)[1] == reward
            env.cumulative_gains[:] = 100
            np.testing.assert_allclose(env.cumulative_gains, totals, rtol=1e-14)
            assert env.collected == pytest.approx(collected, rel=1e-14)
            assert env.external_regret() == pytest.approx(regret, abs=1e-14)


def test_evaluators_numbers_by_hand_in_a_vector_of_games():
    env = BanditVectorEnv(2, Deterministic(horizon=6), arm_order="given")
    env.reset()
    for t, arm in enumerate(ARMS):
        env.step([arm, 1])  # the second game stays with the best arm
        np.testing.assert_allclose(env.cumulative_gains, [TOTALS[t]] * 2, rtol=1e-14)
        np.testing.assert_allclose(env.collected, [COLLECTED[t], TOTALS[t][1]], rtol=1e-14)
        np.testing.assert_allclose(env.external_regret()[0], REGRET[t], atol=1e-14)
    np.testing.assert_array_equal(env.external_regret()[1], 0)
    # A listener hears every round once in blocks.
    heard = []
    env = BanditEnv(Deterministic(horizon=6), arm_order="given", block_length=4)
    env.on_block = lambda *block: heard.append(block)
    env.reset()
    for arm in ARMS:
        env.step(arm)
    assert len(heard) == 1
    env.report_block()
    arms, gains, tables = (np.concatenate(parts) for parts in zip(*heard, strict=True))
    assert arms.tolist() == ARMS
    assert gains.tolist() == REWARDS
    np.testing.assert_allclose(tables.sum(axis=0), TOTALS[-1], rtol=1e-14)


@pytest.mark.parametrize(("observe_charge", "seen"), [(True, [0.1, 0.0, 0.7]), (False, [0.1, 0.8, 0.7])])
def test_score_is_charged_either_way_and_the_observation_only_by_default(observe_charge, seen):
    table = GainTable([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    env = BanditEnv(MemoryBounded(memory=1, gains=table), observe_charge=observe_charge)
    env.reset()
    steps = [env.step(arm) for arm in (0, 1, 1)]
    assert [reward for _, reward, *_ in steps] == [0.1, 0.0, 0.7]
    assert [observation["gain"].max() for observation, *_ in steps] == seen
    assert [observation["observed"].tolist() for observation, *_ in steps] == [[1, 0], [0, 1], [0, 1]]
    assert env.collected == pytest.approx(0.8, rel=1e-15)


# ---- experts


TABLE = np.random.default_rng(3).random((60, 5))


def test_every_gain_is_revealed():
    env = ExpertsEnv(gains=GainTable(TABLE))
    env.reset(seed=1)
    for t in range(60):
        observation, reward, ended, _, _ = env.step(t % 5)
        np.testing.assert_array_equal(observation["gain"], TABLE[t])
        assert observation["observed"].tolist() == [1] * 5 and reward == TABLE[t, t % 5]
        observation["gain"][:] = 7.0
    assert ended and env.cumulative_gains == pytest.approx(TABLE.sum(axis=0))
    # Noise is scaled to all gains of a round.
    env = ExpertsEnv(8, 100)
    assert env.sensitivity == 8.0
    assert LaplaceClipRescale(env, epsilon=0.5).noise.scale == pytest.approx(16.0, rel=2e-9)
    assert LaplaceClipRescale(
        MiniBatchAverage(ExpertsEnv(8, 100), batch_size=4), epsilon=0.5
    ).noise.scale == pytest.approx(4.0, rel=2e-9)
    assert HybridSums(ExpertsEnv(8, 100), epsilon=1.0).noise.sensitivity == 8.0
    assert RandomizedResponse(ExpertsEnv(8, 100), epsilon=1.0).guarantee.epsilon == 1.0
    assert ExpertsVectorEnv(2, 8, 100).sensitivity == 8.0


@pytest.mark.thorough
def test_it_is_the_game_of_the_complete_graph():
    """EXP3-SET needs no graph here: with the same learning rate every gain is revealed with probability 1."""
    games = [
        *((lambda: SwitchingCost(5, 200), name) for name in ("UCB", "DP-EXP3-Lap", "Batched-Lap-EXP3", "DP-IMED")),
        *((lambda: MemoryBounded(5, 60, payoff=overfished), name) for name in ("EXP3", "DP-TS")),
        (lambda: SwitchingCost(5, 400), Exp3Set(learning_rate=0.1)),
    ]
    for adversary, player in games:
        for observe_charge in (True, False):
            algorithm = make_algorithm(player) if isinstance(player, str) else player
            full = play(ExpertsEnv(gains=adversary(), observe_charge=observe_charge), algorithm, seed=4)
            graph = play(GraphEnv("complete", gains=adversary(), observe_charge=observe_charge), algorithm, seed=4)
            np.testing.assert_array_equal(full.arms, graph.arms)
            np.testing.assert_array_equal(full.gains, graph.gains)
            np.testing.assert_array_equal(full.external_regret, graph.external_regret)
            np.testing.assert_array_equal(full.policy_regret, graph.policy_regret)
    assert len(set(full.arms.tolist())) == 5
    bandit = play(BanditEnv(SwitchingCost(5, 400)), algorithm, seed=4)
    assert not np.array_equal(full.arms, bandit.arms)


def test_vector_games_show_a_charge_to_the_arm_played_only():
    envs, games = (
        ExpertsVectorEnv(2, gains=SwitchingCost(4, 30)),
        [ExpertsEnv(gains=SwitchingCost(4, 30)) for _ in "ab"],
    )
    envs.reset(seed=[5, 9])
    for game, seed in zip(games, (5, 9), strict=True):
        game.reset(seed=seed)
    charged = 0
    for t in range(30):
        arms = np.array([t % 3, t // 5 % 4])
        observation, rewards, *_ = envs.step(arms)
        for place, game in enumerate(games):
            one, reward, *_ = game.step(int(arms[place]))
            np.testing.assert_array_equal(observation["gain"][place], one["gain"])
            assert rewards[place] == reward == one["gain"][arms[place]]
            charged += reward == 0.0 and one["gain"].max() > 0.0
    assert charged > 20


def test_sizes_and_what_is_no_game_of_experts():
    env = ExpertsEnv(means=[0.1, 0.9, 0.2])
    assert (env.n_arms, env.horizon) == (3, 2**16) and isinstance(env.adversary, Stochastic)
    assert ExpertsEnv(gains="switching", n_arms=6, horizon=50).adversary.gap == SwitchingCost(6, 50).gap
    assert ExpertsEnv(gains=SwitchingCost(6, 50), horizon=50).n_arms == 6
    with refused(ValueError, "gains", "means"):
        ExpertsEnv(gains="Switching", means=[0.1, 0.2])
    with refused(ValueError, "n_arms", 6, 7):
        ExpertsEnv(7, gains=SwitchingCost(6, 50))
    with refused(ValueError, "horizon", 50, 60):
        ExpertsEnv(horizon=60, gains=SwitchingCost(6, 50))
    with refused(WrongTypeError, "gains", "float"):
        ExpertsEnv(gains=0.5)
    with refused(UnknownNameError, "'Swtching'", "Switching"):
        ExpertsEnv(gains="Swtching")


# ---- linear gains


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
    # Agents get features also through boundaries.
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


class Curious(Exp2):
    """Keeps what it sees."""

    def see_features(self, features):
        super().see_features(features)
        self.seen = features
