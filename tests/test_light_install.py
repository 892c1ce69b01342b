"""With numpy and gymnasium alone everything is there but speed, pictures, random graphs and the command line."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MISSING = (
    "numba llvmlite networkx joblib matplotlib typer rich click scipy pandas xarray h5netcdf statsmodels torch opendp"
    " dp_accounting distributed moviepy stable_baselines3"
).split()
BLOCK = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MISSING!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
"""


def light(code, *, cwd=ROOT, **environment):
    """Run code in a Python that finds none of the optional packages; return what it printed and what it said."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCK + code], capture_output=True, encoding="utf-8", cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


PLAYS = """
import gymnasium as gym, numpy as np
import dp_bandit_envs
from dp_bandit_envs import agents, algorithms, wrappers
from dp_bandit_envs.envs.registration import IDS

for name in dp_bandit_envs.__all__:
    getattr(dp_bandit_envs, name)
rows = np.eye(3)
for id_ in IDS:
    more = {"gains": np.tile(rows, (4, 1))} if "Replay" in id_ else {"graph": "cycle", "n_arms": 5} if "Graph" in id_ else {}
    more |= {} if id_.startswith(("DPBandit-Trial", "DPBandit-Replay")) else {"horizon": 12}
    env = gym.make(id_, **more)
    env.reset(seed=1)
    env.step(env.action_space.sample())
    envs = gym.make_vec(id_, num_envs=2, **more)
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())
    played = [name for name in algorithms.algorithm_names() if plays(name, id_, more)]
    print(id_, len(played))
"""
