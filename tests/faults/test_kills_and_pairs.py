"""Runs killed at random moments, and pairs of processes in one folder, end with the numbers of one whole run."""

import random
import time

import pytest

from tests.tools.folders import files
from tests.tools.processes import POSIX, dp_bandit, finish, kill_group, start

pytestmark = pytest.mark.skipif(not POSIX, reason="sends SIGKILL")


def command(seed=0):
    return [
        "run",
        "Stochastic",
        "EXP3",
        "UCB",
        "--trials",
        96,
        "--horizon",
        3000,
        "--seed",
        seed,
        "--jobs",
        1,
        "--out",
        "o",
    ]


def whole_runs(folder, seeds):
    """Return the files of an undisturbed run of each seed."""
    for seed in seeds:
        code, _, err = dp_bandit(folder / f"whole-{seed}", *command(seed))
        assert code == 0, err
    return {seed: files(folder / f"whole-{seed}" / "o") for seed in seeds}


@pytest.mark.slow
def test_runs_killed_at_random_moments_end_with_the_same_bytes(tmp_path):
    """Sixty kills by SIGKILL; after every third, one run to the end."""
    whole = whole_runs(tmp_path, [0])[0]
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


def check_pairs(tmp_path, seeds, pairs):
    whole, rng = {}, random.Random(5)
    for number in range(pairs):
        folder = tmp_path / f"pair-{number}"
        processes = []
        for seed in seeds:
            processes.append(start(command(seed), folder))
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
            whole |= whole_runs(tmp_path, [seed])
        assert files(folder / "o") == whole[seed], ends


@pytest.mark.parametrize(
    "seeds",
    [pytest.param((0, 1), id="other seeds"), pytest.param((0, 0), id="one configuration", marks=pytest.mark.slow)],
)
def test_a_pair_of_processes_in_one_folder_is_one_run_or_is_refused(seeds, tmp_path):
    check_pairs(tmp_path, seeds, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(0, 1), (0, 0)], ids=["other seeds", "one configuration"])
def test_many_pairs_of_processes_in_one_folder_are_one_run_or_are_refused(seeds, tmp_path):
    check_pairs(tmp_path, seeds, 30)
