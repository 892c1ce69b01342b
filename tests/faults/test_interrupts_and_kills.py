"""Interrupted runs answer at once and live on; killed ones, and two in one folder, end with the numbers of one run."""

import random
import signal
import sys
import time

import pytest

from tests.tools.processes import INTERRUPTIBLE, POSIX, dp_bandit, files, finish, kill_group, start
from tests.tools.refusals import missing

pytestmark = pytest.mark.skipif(not POSIX, reason="sends signals as a terminal does")
# Interrupts itself after some seconds of a game that takes minutes, then plays on; prints how long the answer took.
PROGRAM = """
import os, signal, sys, threading, time
from dp_bandit_envs import simulate

jobs, wait, horizon, warm = int(sys.argv[1]), float(sys.argv[2]), int(float(sys.argv[3])), sys.argv[4] == "warm"
algorithms = sys.argv[5:]
if warm:
    simulate("DPBandit-Stochastic-v0", algorithms, horizon=10)

def interrupt():
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

timer = threading.Timer(wait, interrupt)
try:
    timer.start()
    simulate("DPBandit-Stochastic-v0", algorithms, horizon=horizon, trials=40, jobs=jobs)
except KeyboardInterrupt:
    print("answered after", time.monotonic() - sent)
outcomes = simulate("DPBandit-Stochastic-v0", algorithms, horizon=1000, jobs=jobs)
print("goes on", *(int(outcome.pulls.sum()) for outcome in outcomes.values()), *(o.engine for o in outcomes.values()))
"""


def interrupted(folder, jobs, wait, horizon, kind, *algorithms, **environment):
    """Return the seconds between Ctrl-C and its answer; raise if the process did not live on."""
    program = [sys.executable, "-X", "faulthandler", "-c", INTERRUPTIBLE + PROGRAM]
    environment["DP_BANDIT_ENVS_COMPILE"] = "always"  # also the small simulation after an interrupted compilation
    code, out, err = finish(start([jobs, wait, horizon, kind, *algorithms], folder, program, **environment))
    first, second = out.splitlines()
    assert first.startswith("answered after"), (code, out, err)
    assert second == f"goes on {' '.join(['1000'] * len(algorithms) + ['compiled'] * len(algorithms))}", (out, err)
    more = [line for line in err.splitlines() if not line.startswith("compiling ")]
    assert code == 0 and not more, err
    return float(first.split()[-1])


@pytest.mark.thorough
@pytest.mark.slow_cases("once-1")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("times", "algorithms"),
    [
        pytest.param(1, ("EXP3", "DP-UCB"), id="once"),
        pytest.param(20, ("EXP3", "DP-EXP3-Lap"), id="lanes", marks=pytest.mark.slow),
        pytest.param(20, ("DP-UCB",), id="one by one", marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_inside_compiled_code_leaves_a_living_process(times, algorithms, jobs, tmp_path):
    rng = random.Random(1)
    late = [interrupted(tmp_path, jobs, rng.uniform(0.3, 2), 1e9, "warm", *algorithms) for _ in range(times)]
    print(f"answered within {max(late):.2f} s")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupts_while_compiling_or_loading_leave_a_living_process(jobs, tmp_path):
    """Machine code is made anew in ten tries, and loaded from disk in the others."""
    rng = random.Random(2)
    late = []
    for number in range(20):
        cache = tmp_path / (f"cache-{number}" if number < 10 else "cache-0")
        wait = rng.uniform(0.05, 6) if number < 10 else rng.uniform(0.05, 0.8)
        late.append(interrupted(tmp_path, jobs, wait, 1e9, "cold", "EXP3", "DP-UCB", NUMBA_CACHE_DIR=str(cache)))
    print(f"answered within {max(late):.2f} s")


def interrupted_command(folder, jobs, wait):
    """Interrupt the command line some seconds after it has begun to simulate; return its exit code and errors."""
    process = start(
        ["run", "Stochastic", "EXP3", "UCB", "--trials", 240, "--horizon", 3_000_000, "--jobs", jobs, "--out", "o"],
        folder,
    )
    while not (folder / "o" / "configuration.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    return finish(process)


@pytest.mark.thorough
@pytest.mark.slow_cases("1-1")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_the_command_line_says_what_is_saved(times, jobs, tmp_path):
    rng = random.Random(3)
    for number in range(times):
        code, _, err = interrupted_command(tmp_path / f"{number}", jobs, rng.uniform(0, 3))
        assert code == 130 and not missing(err, "saved", "command"), (number, code, err)


def command(seed=0, horizon=3000):
    run = ["run", "Stochastic", "EXP3", "UCB", "--trials", 96, "--horizon", horizon]
    return [*run, "--seed", seed, "--jobs", 1, "--out", "o"]


def whole_run(folder, *size):
    """Return the files of an undisturbed run."""
    code, _, err = dp_bandit(folder / "whole", *command(*size))
    assert code == 0, err
    return files(folder / "whole" / "o")


@pytest.mark.slow
def test_runs_killed_at_random_moments_end_with_the_same_bytes(tmp_path):
    """Sixty kills by SIGKILL; after every third, one run to the end."""
    whole = whole_run(tmp_path)
    rng = random.Random(4)
    for number in range(20):
        folder = tmp_path / f"killed-{number}"
        for _ in range(3):
            process = start(command(), folder)
            time.sleep(rng.uniform(0.3, 3))
            kill_group(process)
        code, _, err = dp_bandit(folder, *command())
        assert code == 0, err
        assert files(folder / "o") == whole


def check_pairs(tmp_path, seeds, pairs, horizon):
    whole, rng = {}, random.Random(5)
    for number in range(pairs):
        folder = tmp_path / f"pair-{number}"
        processes = []
        for seed in seeds:
            processes.append(start(command(seed, horizon), folder))
            time.sleep(rng.choice([0, 0, 0, 0.01, 0.05, 0.5]))
        ends = [finish(process) for process in processes]
        ended_well = [code == 0 for code, _, _ in ends]
        refused = [code == 2 and "configuration" in err for code, _, err in ends]
        if seeds[0] == seeds[1]:
            # The second one finds the first at work, or its results.
            assert any(ended_well) and all(code == 0 or (code == 2 and "--jobs" in err) for code, _, err in ends), ends
        else:
            assert sorted(ended_well) == [False, True] and refused == [not well for well in ended_well], ends
        seed = seeds[ended_well.index(True)]
        if seed not in whole:
            whole[seed] = whole_run(tmp_path / f"{seed}", seed, horizon)
        assert files(folder / "o") == whole[seed], ends


SAME, OTHERS = (0, 0), (0, 1)
"""One configuration twice, and two of other seeds."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seeds", "pairs"),
    [
        pytest.param(OTHERS, 1, id="other seeds"),
        pytest.param(SAME, 1, id="one configuration", marks=pytest.mark.slow),
        pytest.param(OTHERS, 30, id="other seeds, many", marks=pytest.mark.slow),
        pytest.param(SAME, 30, id="one configuration, many", marks=pytest.mark.slow),
    ],
)
def test_a_pair_of_processes_in_one_folder_is_one_run_or_is_refused(seeds, pairs, tmp_path):
    check_pairs(tmp_path, seeds, pairs, horizon=3000 if pairs > 1 else 4)
