"""With numpy and gymnasium alone everything is there but speed, pictures, random graphs and the command line."""

import shutil
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest

from dp_bandit_envs import __version__, make_algorithm, play
from dp_bandit_envs.cli.command_names import COMMANDS

ROOT = Path(__file__).parents[1]
BLOCK = """
import sys

class Refuse:
    missing = (
        "numba llvmlite networkx joblib matplotlib typer rich click scipy pandas xarray statsmodels torch"
        " opendp dp_accounting distributed moviepy stable_baselines3"
    ).split()

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
"""


BROWSER = """
# Modules that a browser's Python (Pyodide) lacks, or that do nothing there; and it starts no threads.
Refuse.missing += "fcntl msvcrt resource termios pwd grp ssl sqlite3 lzma".split()
import threading

def start(self):
    raise RuntimeError("can't start new thread")

threading.Thread.start = start
"""


def light(code, cwd=ROOT):
    """Run code in a Python that finds no optional package; return its standard output and error as lines."""
    done = subprocess.run([sys.executable, "-c", BLOCK + code], capture_output=True, encoding="utf-8", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr.splitlines()


EVERYTHING = """
import gymnasium as gym, numpy as np
import dp_bandit_envs
from dp_bandit_envs import algorithm_names, make_algorithm, play
from dp_bandit_envs.envs.registration import IDS

for name in dp_bandit_envs.__all__:
    getattr(dp_bandit_envs, name)
own = {
    "DPBandit-Graph-v0": {"graph": np.ones((4, 4)), "horizon": 12},
    "DPBandit-Replay-v0": {"gains": np.tile(np.eye(3), (4, 1))},
    "DPBandit-Trial-v0": {},
}
names = set(algorithm_names())
for id_ in IDS:
    for feedback in ({}, {"feedback": "bandit"}) if id_.split("-")[1] in ("Ball", "Cube", "Simplex") else ({},):
        arguments = {**own.get(id_, {"horizon": 12}), **feedback}
        env = gym.make(id_, **arguments)
        for name in sorted(names):
            player = make_algorithm(name)
            if player.refusal(env) is None:
                play(env, player, seed=None)
                names.remove(name)
        envs = gym.make_vec(id_, num_envs=2, **arguments)
        envs.reset()
        envs.step(envs.action_space.sample())
print("left:", *names)
for graph in ("complete", "empty", "star", "cycle", "cliques"):
    gym.make("DPBandit-Graph-v0", graph=graph, horizon=12).reset(seed=1)
print(dp_bandit_envs.simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=12, trials=2)["EXP3"].engine)
"""


@pytest.mark.thorough
def test_every_game_and_every_algorithm_is_played_in_something_like_a_browser():
    out, err = light(BROWSER + EVERYTHING)
    assert out == ["left:", "play"] and len(err) == 1


NAMES = ("EXP3", "DP-EXP3-Lap")
SIMULATES = """
import sys
from dp_bandit_envs import simulate

for jobs in (1, 2):
    games = {"horizon": 200, "checkpoints": 200, "trials": 3}
    simulation = simulate("DPBandit-Switching-v0", ["EXP3", "DP-EXP3-Lap"], **games, jobs=jobs)
    for outcome in simulation.values():
        print(outcome.engine, "dp-bandit-envs[fast]" in outcome.reason, outcome.external_regret[2].tobytes().hex())
print(*{"numba", "joblib", "matplotlib", "networkx"} & set(sys.modules))
"""


@pytest.mark.thorough
def test_simulate_plays_the_same_games_says_so_once_and_says_what_makes_it_fast():
    out, err = light(SIMULATES)
    games = [play(gym.make("DPBandit-Switching-v0", horizon=200), make_algorithm(name), trial=2) for name in NAMES]
    lines = [f"play True {game.external_regret.tobytes().hex()}" for game in games]
    assert out == [*lines, *lines, ""]
    assert len(err) == 1 and "pip install 'dp-bandit-envs[fast]'" in err[0]


REFUSES = """
import gymnasium as gym, numpy as np
import dp_bandit_envs
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.adversaries.adversary import filler

def refused(function):
    try:
        function()
    except ImportError as error:
        print(error)

refused(lambda: gym.make("DPBandit-Graph-v0"))
refused(lambda: gym.make("DPBandit-Graph-v0", graph="karate-club"))
def picture():
    env = gym.make("DPBandit-Stochastic-v0", render_mode="rgb_array")
    env.reset(seed=1)
    env.step(0)
    env.render()
refused(picture)
def figure():
    import dp_bandit_envs.plots.curves_figure
refused(figure)
# An adversary that would be compiled by now.
adversary = Stochastic(horizon=10**5)
from dp_bandit_envs.seeding import stream
adversary.begin(stream(1, role=0))
gains = np.empty((10**5, adversary.n_arms))
filler(adversary.next_round)._python_seconds = 9.0
adversary.fill(gains)
print(gains.mean() > 0)
from dp_bandit_envs.cli import main
sys.argv[1:] = ["list"]
main()
"""


@pytest.mark.thorough
def test_what_needs_more_names_the_extra_in_one_line():
    done = subprocess.run([sys.executable, "-c", BLOCK + REFUSES], capture_output=True, encoding="utf-8", cwd=ROOT)
    assert done.returncode == 2, done.stderr
    *refused, drawn = done.stdout.splitlines()
    assert drawn == "True"
    assert [line.partition("'")[2].rstrip("'") for line in refused]
    for line, extra in zip(refused, ("graphs", "graphs", "plots", "plots"), strict=False):
        assert line.endswith(f"Use: pip install 'dp-bandit-envs[{extra}]'")
    (last,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert last.endswith("Use: pip install 'dp-bandit-envs[cli]'")


UNINSTALLED = """
import sys
# As in an environment where nothing of this package is installed.
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
sys.path[:] = ["", *(path for path in sys.path if "dp_bandit_envs" not in path)]
import dp_bandit_envs
from dp_bandit_envs import Exp3, LaplaceClipRescale
print(dp_bandit_envs.__file__, sys.modules["dp_bandit_envs.agents"].__file__, sep="\\n")
"""


@pytest.mark.thorough
def test_a_clone_that_is_not_installed_is_found_as_a_whole(tmp_path):
    for folder in ("dp_bandit_envs", "agents", "wrappers"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    out, _ = light(UNINSTALLED, cwd=tmp_path)
    assert [Path(line).parents[1] for line in out] == [tmp_path, tmp_path]


COMMAND_LINE = """
import runpy
for words in (["--version"], ["--help"], []):
    sys.argv = ["dp-bandit", *words]
    runpy.run_module("dp_bandit_envs", run_name="__main__", alter_sys=False)
"""


@pytest.mark.thorough
def test_without_typer_there_is_a_short_help_and_without_numpy_and_gymnasium_what_to_type():
    (version, *help_), err = light(COMMAND_LINE)
    assert version == f"dp-bandit-envs {__version__}" and err == []
    assert help_[: len(help_) // 2] == help_[len(help_) // 2 :] != []
    text = "\n".join(help_)
    assert all(name in text for names in COMMANDS.values() for name in names)
    assert "pip install 'dp-bandit-envs[cli]'" in text
    # The last line of the traceback; -S leaves out everything that is installed.
    words = [sys.executable, "-S", "-c", "import dp_bandit_envs.agents"]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=ROOT)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and "gymnasium" in last and "pip install ." in last
    assert "During handling" not in done.stderr
