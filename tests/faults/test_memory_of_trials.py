"""Memory does not grow with the number of trials that were played and thrown away."""

import subprocess
import sys

import pytest

PROGRAM = """
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
    command = [sys.executable, "-c", PROGRAM, str(trials), *algorithms]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(map(int, done.stdout.split()))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_five_times_the_trials_take_no_more_memory(trials=1000):
    first, *_, last = resident_after(trials, "EXP3", "DP-EXP3-Lap")
    assert last <= 1.05 * first, (first, last)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("algorithm", ["EXP3", "DP-EXP3-Lap", "UCB", "DP-UCB", "TS", "DP-KLUCB"])
def test_fifteen_thousand_trials_take_no_more_memory_than_three_thousand(algorithm):
    """It grew by 11 kB an algorithm and trial: 160 MB here."""
    first, *_, last = resident_after(3000, algorithm)
    assert last <= 1.05 * first, (first, last)
