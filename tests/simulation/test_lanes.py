"""Games side by side are the same games one at a time, and those of `play`, to the last bit: every pair of lanes."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, LaplaceClipRescale, MiniBatchAverage, make_algorithm, play
from dp_bandit_envs.agents import Hedge
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.metrics.regrets import pseudo_regret
from dp_bandit_envs.simulation.lane_loops import carries
from dp_bandit_envs.simulation.plan import make_plan
from dp_bandit_envs.simulation.tasks import Column
from dp_bandit_envs.wrappers import ExactSums
from tests.tools.lane_games import assert_same_columns, assert_same_ends, one_at_a_time, side_by_side

SEED = 20170208
# Prime: no batch ends with it.
HORIZON = 701
MEMORY, EXPERTS = "DPBandit-MemoryBounded-v0", "DPBandit-Experts-v0"


def bandits(epsilon=1.0):
    """Return algorithms in whose games something happens within some hundred rounds."""
    return [
        make_algorithm("EXP3"),
        make_algorithm("EXP3", exploration_rate=1.0, label="rate 1"),
        make_algorithm("DP-EXP3-Lap", epsilon=epsilon),
        make_algorithm("DP-Lambda-Lap", epsilon=epsilon, base="Uniform"),
        make_algorithm("EXP3-tau", batch_size=7),
        Algorithm(
            "pairs at rate 1", lambda: Exp3(exploration_rate=1.0), lambda env: MiniBatchAverage(env, batch_size=2)
        ),
        make_algorithm("Batched-Lap-EXP3", epsilon=epsilon),
        make_algorithm("Uniform"),
    ]


def experts(epsilon=1.0):
    """Return algorithms for games that reveal all gains."""
    return [
        make_algorithm("Hedge"),
        make_algorithm("DP-Hedge", epsilon=epsilon),
        # Its scores move by 50 every ten rounds or so, and then all weights are taken afresh.
        Algorithm("fast Hedge", lambda: Hedge(learning_rate=5.0), ExactSums),
        Algorithm("noisy Hedge", lambda: Hedge(learning_rate=2.0), lambda env: ExactSums(noisy(env, epsilon))),
        Algorithm("batched Hedge", Hedge, lambda env: ExactSums(MiniBatchAverage(env, batch_size=5))),
        *bandits(epsilon)[-2:],
    ]


def noisy(env, epsilon):
    return LaplaceClipRescale(env, epsilon=epsilon)


def assert_same_three_ways(env_id, algorithms, *, trials=range(3), horizon=HORIZON, **env_kwargs: Any):
    """Compare at every round, so that equal curves leave no room for other arms; return the lanes' games."""
    env = gym.make(env_id, horizon=horizon, **env_kwargs)
    for algorithm in algorithms:
        assert carries(make_plan(algorithm, env)), algorithm.name
    every_round = np.arange(1, horizon + 1)
    found = side_by_side(env, algorithms, SEED, trials, every_round)
    assert_same_ends(found, one_at_a_time(env, algorithms, SEED, trials, every_round))
    for columns, trial in zip(found.columns, trials, strict=True):
        for algorithm in algorithms:
            game = play(gym.make(env_id, horizon=horizon, **env_kwargs), algorithm, seed=SEED, trial=trial)
            assert_same_columns(columns[algorithm.name], column_of(game, env.unwrapped.adversary.means))
    return found


def column_of(game, means):
    arms = np.array(game.arms)
    pulls = np.cumsum(arms[:, np.newaxis] == np.arange(game.n_plays), axis=0)
    pseudo = None if means is None else pseudo_regret(pulls, means)
    if pseudo is not None:
        assert np.array_equal(pseudo, game.pseudo_regret)
    return Column(game.external_regret, game.policy_regret, pseudo, game.collected, game.switches, pulls[-1])


def games():
    """Yield games that lanes carry, with both ways of charging and several memories where there is a memory."""
    for name in ("Deterministic", "Stochastic", "FullyOblivious", "Oblivious", "Switching", "MemoryBounded", "Experts"):
        yield f"DPBandit-{name}-v0", {"n_arms": 4}
    # Adversaries without a function of a round.
    yield "DPBandit-Trial-v0", {}
    yield "DPBandit-Linear-v0", {"n_arms": 4}
    yield "DPBandit-Replay-v0", {"gains": np.random.default_rng(1).random((HORIZON, 4))}
    yield "DPBandit-Switching-v0", {"n_arms": 4, "observe_charge": False}
    for memory in (0, 1, 3):
        yield MEMORY, {"n_arms": 4, "memory": memory, "observe_charge": False}


@pytest.mark.parametrize(("env_id", "options"), list(games()), ids=str)
def test_lanes_one_at_a_time_and_play_are_the_same_games(env_id, options):
    assert_same_three_ways(env_id, experts() if env_id == EXPERTS else bandits(), **options)
