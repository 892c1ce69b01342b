"""Machine code from disk is found by its name: code of several processes must not have the same one."""

import os
import subprocess
import sys

import pytest

from dp_bandit_envs.compiling.layout_code import reader, writer
from dp_bandit_envs.simulation.lane_loops import LaneLoop
from dp_bandit_envs.simulation.prepared import prepare

PROGRAM = """
import sys
import gymnasium as gym
from dp_bandit_envs import make_algorithm, play, simulate
for n_arms in map(int, sys.argv[1:]):
    found = simulate("DPBandit-Stochastic-v0", ["Uniform"], horizon=40, trials=4, env_kwargs={"n_arms": n_arms})
    env = gym.make("DPBandit-Stochastic-v0", horizon=40, n_arms=n_arms)
    game = play(env, make_algorithm("Uniform"), seed=0, trial=3)
    assert found["Uniform"].engine == "lanes", found["Uniform"].reason
    assert found["Uniform"].collected[3, -1] == game.gains.sum(), n_arms
"""


def loop(n_arms):
    given = {"horizon": 20, "seed": 0, "checkpoints": 3, "env_kwargs": {"n_arms": n_arms}}
    work = next(iter(prepare("DPBandit-Stochastic-v0", ["Uniform"], **given).works))
    return LaneLoop(work.plans["Uniform"])


def test_loops_for_other_layouts_have_other_names():
    four, eight, again = (loop(n_arms) for n_arms in (4, 8, 4))
    for make in (reader, writer):
        names = [make(one._layout.form).__qualname__ for one in (four, eight, again)]
        assert names[0] == names[2] != names[1]
    names = [one.compiled._dispatcher.py_func.__qualname__ for one in (four, eight, again)]
    assert names[0] == names[2] != names[1]


@pytest.mark.slow
def test_code_of_two_processes_is_used_by_a_third(tmp_path):
    """Each numbers its functions from 1, so that the two loops had one name, and the third took one for the other."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "DP_BANDIT_ENVS_COMPILE": "always"}
    for sizes in (["4"], ["8"], ["4", "8"], ["8", "4"]):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *sizes], env=environment, capture_output=True, encoding="utf-8"
        )
        assert done.returncode == 0, (sizes, done.stderr)
