"""Attacks on the guarantees of agents' own coins, in games where their proofs do not hold as they stand."""

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm
from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.wrappers import MiniBatchAverage


def last_probabilities(algorithm, first_row, rounds, batch_size):
    """Return Hedge's probabilities in the last step of a game in which round 1 is `first_row` and the others are 0."""
    table = np.zeros((rounds, 2))
    table[0] = first_row
    game = MiniBatchAverage(ExpertsEnv(gains=Replay(table)), batch_size=batch_size)
    env, agent = algorithm.wrap(game), algorithm.agent(game)
    env.reset(seed=1)
    agent.begin(n_arms=2, horizon=env.get_wrapper_attr("horizon"), rng=np.random.default_rng(1))
    while True:
        arm = agent.select_arm()
        chances = agent.probabilities()
        seen, _, terminated, _, _ = env.step(arm)
        if terminated:
            return chances
        agent.update(arm, seen)


@pytest.mark.parametrize("name", ["Hedge", "DP-Hedge"])
@pytest.mark.parametrize(("rounds", "batch_size"), [(3, 2), (7, 4), (5, 2), (8, 3)])
def test_the_draw_in_an_unfinished_last_batch_is_counted(name, rounds, batch_size):
    """With one whole batch the second step is beyond the horizon of 1, and its draw sees the first: not 0-DP."""
    algorithm = make_algorithm(name)
    declared = algorithm.guarantee_in(MiniBatchAverage(ExpertsEnv(2, rounds), batch_size=batch_size))
    one, other = (last_probabilities(algorithm, row, rounds, batch_size) for row in ([1, 0], [0, 1]))
    # All steps after the first have these two laws, so the KL divergences add up.
    steps = -(-rounds // batch_size) - 1
    divergence = steps * float((one * np.log(one / other)).sum())
    assert 0 < divergence <= declared.rho
