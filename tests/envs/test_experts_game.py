"""Full information: every gain is revealed, and the game is that of a complete feedback graph."""

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play
from dp_bandit_envs.adversaries import Stochastic, SwitchingCost, overfished
from dp_bandit_envs.adversaries.memory_bounded import MemoryBounded
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents import Exp3Set
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv, ExpertsVectorEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import UnknownNameError, WrongTypeError
from dp_bandit_envs.wrappers import HybridSums, LaplaceClipRescale, MiniBatchAverage, RandomizedResponse
from tests.tools.refusals import refused

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


def test_noise_is_scaled_to_all_gains_of_a_round():
    env = ExpertsEnv(8, 100)
    assert env.sensitivity == 8.0
    assert LaplaceClipRescale(env, epsilon=0.5).noise.scale == pytest.approx(16.0, rel=2e-9)
    assert LaplaceClipRescale(
        MiniBatchAverage(ExpertsEnv(8, 100), batch_size=4), epsilon=0.5
    ).noise.scale == pytest.approx(4.0, rel=2e-9)
    assert HybridSums(ExpertsEnv(8, 100), epsilon=1.0).noise.sensitivity == 8.0
    assert RandomizedResponse(ExpertsEnv(8, 100), epsilon=1.0).guarantee.epsilon == 1.0
    assert ExpertsVectorEnv(2, 8, 100).sensitivity == 8.0


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
