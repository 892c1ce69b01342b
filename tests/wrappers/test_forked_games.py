"""A forked process has a copy of every game that has begun: it can neither play it on nor repeat its noise later."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os
import gymnasium as gym
import numpy as np
import dp_bandit_envs
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.wrappers import CounterSums, LaplaceClipRescale
from dp_bandit_envs.wrappers import vector as of_many

def made():
    game = gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=9, means=[1.0, 1.0])
    games = gym.make_vec("DPBandit-Stochastic-v0", num_envs=2, n_arms=2, horizon=9, means=[1.0, 1.0])
    yield LaplaceClipRescale(game, epsilon=0.1), 0
    yield CounterSums(LaplaceClipRescale(game, epsilon=0.1), counter="binary", epsilon=0.1), 0
    yield of_many.LaplaceClipRescale(games, epsilon=0.1), [0, 0]

def noise(env, arm):
    return np.concatenate([np.ravel(env.step(arm)[1]) for _ in range(8)]).tolist()

for env, arm in made():
    for seed in (None, 3):
        env.reset(seed=seed)
        env.step(arm)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            said = "played on"
            try:
                env.step(arm)
            except BoundaryError as refusal:
                said = "refused" if "fork" in str(refusal) else str(refusal)
            try:
                env.step(arm)
            except StepOutsideGameError:
                env.reset()
                said = repr((said, noise(env, arm)))
            os.write(write, said.encode())
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        said, there = eval(os.read(read, 10_000))
        assert said == "refused", said
        env.step(arm)
        env.reset()
        here = noise(env, arm)
        assert len(here) == len(there) and len(set(here) & set(there) - {0.0, 1.0}) <= 3, (here, there)
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_forked_game_is_refused_and_the_next_one_has_noise_of_its_own():
    """With and without a seed; in its parent the game goes on. In a process of its own, which has no threads.

    Repeated noise would share 8 or 16 numbers. Two independent draws are the same point of the grid with probability
    1 / 5120 (g / 4 b), so of up to 256 pairs four are equal with probability 3e-7.
    """
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["done"]), done.stderr
