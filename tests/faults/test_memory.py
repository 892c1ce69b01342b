"""Memory grows neither with the trials that were played and thrown away, nor with the tasks that a worker plays."""

import os
import subprocess
import sys

import pytest

from dp_bandit_envs.simulation.pickling import _unpacked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
TRIALS = """
import gc, sys
from dp_bandit_envs import simulate

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

def play(trials):
    simulate("DPBandit-Stochastic-v0", sys.argv[2:], horizon=10, trials=trials)
    gc.collect()
    return resident()

trials = int(sys.argv[1])
play(20)
print(play(trials), *(play(trials) for _ in range(4)))
"""


def resident_after(trials, *algorithms):
    command = [sys.executable, "-c", TRIALS, str(trials), *algorithms]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(map(int, done.stdout.split()))


EACH = ["EXP3", "DP-EXP3-Lap", "UCB", "DP-UCB", "TS", "DP-KLUCB"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("trials", "algorithms"),
    [(1000, EACH[:2]), *(pytest.param(3000, [name], marks=pytest.mark.slow) for name in EACH)],
)
def test_five_times_the_trials_take_no_more_memory(trials, algorithms):
    """It grew by 11 kB an algorithm and trial: 160 MB in the slow cases."""
    first, *_, last = resident_after(trials, *algorithms)
    assert last <= 1.05 * first, (first, last)


# Packs work as a notebook does, whose own classes and functions travel by value.
NOTEBOOK = """
import pickle, sys
from typing import NamedTuple
import gymnasium as gym
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.simulation.pickling import PickledWork
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.wrappers import LaplaceClipRescale

class State(NamedTuple):
    n_arms: int

def select(state, rng):
    return int(rng.random() * state.n_arms)

def update(state, arm, seen):
    return state

class Own(FunctionalAgent):
    functions = Functions(select, update)

    def initial_state(self, n_arms, horizon):
        return State(n_arms)

own = Algorithm("own", Own, lambda env: LaplaceClipRescale(env, epsilon=1.0))
players = [own, *map(make_algorithm, sys.argv[2:])]
for seed in range(int(sys.argv[1])):
    prepared = prepare("DPBandit-Stochastic-v0", players, horizon=10, seed=seed, checkpoints=2, env_kwargs=None)
    assert not prepared.reasons, prepared.reasons
    pickle.dump(PickledWork.of(prepared.engines[0]), sys.stdout.buffer)
sys.stdout.flush()
"""
# Plays tasks of all works in turn; each is unpickled anew, as it is in a worker.
WORKER = """
import gc, pickle, sys
from numba.core import event

compiled = []
class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event)
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())

tasks, works = int(sys.argv[1]), []
while True:
    try:
        works.append(pickle.load(sys.stdin.buffer))
    except EOFError:
        break
packed = [pickle.dumps(work) for work in works]

def play(tasks):
    for number in range(tasks):
        pickle.loads(packed[number % len(packed)]).play(range(number, number + 1))
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4096, len(compiled)

play(2 * len(packed) + tasks // 10)
print(*play(0), *play(tasks))
"""


def after_tasks(tasks, works, *algorithms):
    """Return a worker's memory in bytes and the number of compiled functions, before and after tasks."""
    notebook = [sys.executable, "-c", NOTEBOOK, str(works), *algorithms]
    # Else games of so few rounds are not worth a compilation.
    environment = os.environ | {"DP_BANDIT_ENVS_COMPILE": "always"}
    packed = subprocess.run(notebook, capture_output=True, check=True, env=environment).stdout
    worker = [sys.executable, "-c", WORKER, str(tasks)]
    done = subprocess.run(worker, input=packed, capture_output=True, check=True)
    return list(map(int, done.stdout.split()))


def check(tasks, works, *algorithms):
    before, compiled, after, compiled_after = after_tasks(tasks, works, *algorithms)
    assert after <= 1.05 * before, (before, after)
    assert compiled_after == compiled > 0


KEPT = _unpacked.cache_parameters()["maxsize"]
"""So many works stay unpacked in a worker; an older one is unpacked and compiled again: 3 MB and 0.5 s each time."""


@pytest.mark.slow_cases("as many works as are kept")
@pytest.mark.parametrize(
    "works",
    [pytest.param(1, id="one work", marks=pytest.mark.slow), pytest.param(KEPT, id="as many works as are kept")],
)
def test_tasks_of_a_notebooks_agent_take_no_more_memory_and_compile_once(works):
    """Unpacked and compiled in each task, an agent of a notebook would take megabytes and 0.7 s each time."""
    check(200, works, "DP-EXP3-Lap")


@pytest.mark.slow
@pytest.mark.parametrize("works", [1, KEPT])
def test_ten_thousand_tasks_take_no_more_memory(works):
    check(10_000, works, "DP-EXP3-Lap", "DP-Lambda-Lap", "UCB", "DP-UCB", "EXP3-tau", "TS")
