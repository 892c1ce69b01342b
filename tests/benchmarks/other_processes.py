"""Benchmarks in processes of their own: importing, memory, a cluster's workers, and an older commit."""

import contextlib
import functools
import importlib.util
import io
import json
import os
import pickle
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dp_bandit_envs.compiling.compiled import not_cancelled
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.figures import figure_1
from dp_bandit_envs.figures.figure_1 import TRIALS
from dp_bandit_envs.simulation.results import run_task
from dp_bandit_envs.simulation.simulation import prepare
from tests.benchmarks.measuring import Line, Skipped, median_rates, written

BEFORE = "07a6571"
BEFORE_HORIZON, BEFORE_TRIALS = 2**18, 64
WANTED = {"EXP3": 5.0, "DP-EXP3-Lap": 5.0, "EXP3-tau": 1.0}
WANTED_OF_AVX2 = {"EXP3": 3.0}
AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2"}
PLAY_BEFORE = f"""
import sys
from dp_bandit_envs import simulate
for name in sys.stdin:
    simulate("DPBandit-Stochastic-v0", [name.strip()], horizon={BEFORE_HORIZON}, trials={BEFORE_TRIALS}, seed=3)
    print("played", flush=True)
"""


def before_lanes() -> list[Line | Skipped]:
    """Compare `simulate` with the commit before games were played in vector lanes, also restricted to AVX2.

    Both run in processes of the same interpreter, which take turns.
    """
    name = f"{', '.join(WANTED)} beside the commit before lanes"
    if shutil.which("git") is None:
        return [Skipped(name, "there is no git here")]
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "archive", BEFORE, "dp_bandit_envs", "agents", "wrappers"]
        archive = subprocess.run(command, capture_output=True, cwd=Path(__file__).parents[2], check=False)
        if archive.returncode != 0:
            return [Skipped(name, f"commit {BEFORE} is not in this repository")]
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        for part in ("agents", "wrappers"):
            (Path(folder) / part).rename(Path(folder) / "dp_bandit_envs" / part)
        found = lines_of("", WANTED, folder, {})
        if platform.machine() in ("x86_64", "AMD64"):
            found += lines_of(" with AVX2", WANTED_OF_AVX2, folder, AVX2)
    return found


def lines_of(note: str, wanted: dict[str, float], folder: str, settings: dict[str, str]) -> list[Line | Skipped]:
    """Return the lines of some algorithms under some settings of Numba."""
    with player(folder, settings) as now, player(folder, {**settings, "PYTHONPATH": folder}) as before:
        found: list[Line | Skipped] = []
        for name, times in wanted.items():
            programs = {
                "now": functools.partial(play_there, now, name),
                "before": functools.partial(play_there, before, name),
            }
            rates = median_rates(
                {key: (work, BEFORE_HORIZON * BEFORE_TRIALS) for key, work in programs.items()}, repetitions=5
            )
            title = f"{name} simulated{note}, one core, beside before lanes"
            ratio = rates["now"] / rates["before"]
            found.append(Line(title, written(rates["now"]), written(rates["before"]), ratio, times))
        return found


@contextlib.contextmanager
def player(folder: str, settings: dict[str, str]) -> "Iterator[subprocess.Popen[str]]":
    """Run a process that simulates each algorithm that it is sent."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    # Python's path begins with the folder where it starts, which must not be this repository's.
    empty = Path(tempfile.mkdtemp(dir=folder))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", PLAY_BEFORE]
    with subprocess.Popen(command, cwd=empty, env={**environment, **settings}, **pipes) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def play_there(process: "subprocess.Popen[str]", name: str) -> None:
    """Let a process simulate an algorithm, and wait for it."""
    assert process.stdin is not None and process.stdout is not None
    print(name, file=process.stdin, flush=True)
    if process.stdout.readline() != "played\n":
        raise RuntimeError(f"simulate({name!r}) failed in a process of its own; see above.")


REPETITIONS = 7
SLOW = ("numba", "torch", "matplotlib")
IMPORT = f"""
import json, sys, time
start = time.perf_counter()
import dp_bandit_envs
taken = time.perf_counter() - start
print(json.dumps([taken, [name for name in {SLOW} if name in sys.modules]]))
"""


def import_time() -> list[Line]:
    """Import the package: below 0.6 s, with none of the slow libraries."""
    runs = [import_in_fresh_process() for _ in range(REPETITIONS)]
    taken = statistics.median(run[0] for run in runs)
    loaded = sorted({name for run in runs for name in run[1]})
    return [
        Line("import dp_bandit_envs", f"{taken:.2f} s", "", taken, 0.6, " s", True),
        Line(f"... loads of {', '.join(SLOW)}", ", ".join(loaded) or "none", "", len(loaded), 0, "", True),
    ]


def import_in_fresh_process() -> tuple[float, list[str]]:
    """Return the seconds that the import took and which slow libraries it loaded."""
    output = subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, encoding="utf-8").stdout
    taken, loaded = json.loads(output)
    return taken, loaded


FIRST_USE = """
import os
from dp_bandit_envs import simulate
names = ["EXP3", "DP-EXP3-Lap", "UCB", "KL-UCB", "TS", "DP-UCB", "DP-UCB-INT", "DP-SE", "AdaP-UCB", "AdaP-KLUCB"]
simulate("DPBandit-Stochastic-v0", names, trials=3, seed=1, horizon=10_000)
print(sum(os.times()[:4]))
"""


def first_use() -> list[Line]:
    """Compile ten algorithms: at most 17 s of processor time, with no machine code on disk."""
    with tempfile.TemporaryDirectory() as cache:
        own = {**os.environ, "NUMBA_CACHE_DIR": cache, "DP_BANDIT_ENVS_COMPILE": "always"}
        taken = [
            float(subprocess.run([sys.executable, "-c", FIRST_USE], check=True, capture_output=True, env=own).stdout)
            for _ in range(2)
        ]
    note = f"{taken[1]:.1f} s from disk"
    return [Line("Ten algorithms for the first time", f"{taken[0]:.1f} s", "", taken[0], 17, " s", True, note)]


HORIZONS = (2**14, 2**18, 2**22)
ALGORITHMS = ["EXP3", "DP-EXP3-Lap", "EXP3-tau"]


def memory() -> list[Line]:
    """Simulate three horizons: below 1 GB at the longest, and no more there than at the shortest."""
    simulate_in_fresh_process(HORIZONS[0])  # compile first, because compiling takes memory of its own
    peaks = [simulate_in_fresh_process(horizon) for horizon in HORIZONS]
    shown = [f"{peak / 1e6:.0f} MB" for peak in peaks]
    note = f"2^14, 2^18, 2^22 rounds: {', '.join(shown)}"
    return [
        Line("Peak memory, 3 algorithms, 2^22 rounds", shown[-1], "", peaks[-1] / 1e6, 1000, " MB", True, note),
        # Storing the gains of all rounds would take 134 MB, so 1.05 allows only for variation of the allocator.
        Line("Peak memory, 2^22 rounds beside 2^14", shown[-1], shown[0], peaks[-1] / peaks[0], 1.05, at_most=True),
    ]


def simulate_in_fresh_process(horizon: int) -> int:
    """Return the peak memory in bytes of a process that simulates two trials."""
    command = [sys.executable, "-m", "tests.benchmarks.other_processes", str(horizon)]
    return int(subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout)


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux getrusage starts a process off with the peak of the process that started it.
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="utf-8"))
        assert found is not None
        return 1024 * int(found[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


NAME = "Figure 1 on two dask workers, beside two threads"


def two_workers(trials: int = TRIALS // 10, repetitions: int = 3) -> list[Line | Skipped]:
    """Play a tenth of figure 1 on two dask workers: .95 of the speed of two threads, and 2 us a trial in the client."""
    return [client_line(), workers_line(trials, repetitions)]


def client_line(trials: int = 512, tasks: int = 20, repetitions: int = 9) -> Line:
    """Return the line: what the client of a cluster takes to unpickle the results of tasks and put them into tables.

    As dask does it: the arrays are beside the pickle, in what came from the network.
    """
    given = {"horizon": 2**10, "seed": 1, "checkpoints": None, "env_kwargs": None, "trials": trials}
    prepared = prepare("DPBandit-Stochastic-v0", ["EXP3", "DP-EXP3-Lap"], **given)
    (engine,) = prepared.engines
    engine.compile(not_cancelled)
    arrays: list[pickle.PickleBuffer] = []
    sent = pickle.dumps(run_task(engine, range(trials)), protocol=5, buffer_callback=arrays.append)
    received = [bytearray(array.raw()) for array in arrays]
    games, taken = trials * tasks * len(prepared.players), []
    for _ in range(repetitions):
        start = time.thread_time()
        tables = prepared.tables(trials * tasks)
        for number in range(tasks):
            for name, column in pickle.loads(sent, buffers=received).columns.items():
                tables[name].put(number * trials, column)
        taken.append((time.thread_time() - start) / games * 1e6)
    size = sum(map(len, received)) / trials / len(prepared.players)
    note = f"{size:,.0f} bytes, {len(prepared.checkpoints)} checkpoints"
    name, us = "Client of a cluster, a trial and algorithm", statistics.median(taken)
    return Line(name, f"{us:.2f} us", "", us, 2.0, " us", at_most=True, note=note)


def workers_line(trials: int, repetitions: int) -> Line | Skipped:
    """Return the line of two workers beside two threads."""
    if importlib.util.find_spec("distributed") is None:
        return Skipped(NAME, "dask.distributed is not installed")
    if (os.cpu_count() or 1) < 2:
        return Skipped(NAME, "there is only one core here")
    import dask
    from distributed import Client, LocalCluster

    # As docs/cluster.md says: dask's profiler takes a tenth of a core from each worker.
    dask.config.set({"distributed.worker.profile.enabled": False})
    place = {"host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=2, threads_per_worker=1, **place) as cluster, Client(cluster) as client:
        spent: dict[str, list[float]] = {"cluster": [], "threads": []}
        programs = {
            "cluster": (functools.partial(play, client, trials, spent["cluster"], "dask"), 1),
            "threads": (functools.partial(play, client, trials, spent["threads"], "threading"), 1),
        }
        rates = median_rates(programs, repetitions)
    (experiment,) = figure_1.study(trials=trials).experiments
    ratio = rates["cluster"] / rates["threads"]
    shown = {name: written(rate * experiment.rounds) for name, rate in rates.items()}
    # The first turn loads machine code.
    note = f"seconds of CPU: {min(spent['cluster'][1:]):.1f} beside {min(spent['threads'][1:]):.1f}"
    return Line(NAME, shown["cluster"], shown["threads"], ratio, 0.95, note=note)


def play(client: Any, trials: int, spent: list[float], backend: str) -> None:
    """Play figure 1 by a backend of joblib, and add to a list the seconds of CPU of this process and the workers."""
    import joblib

    before = cpu_seconds(client)
    (experiment,) = figure_1.study(trials=trials).experiments
    with tempfile.TemporaryDirectory() as folder, joblib.parallel_config(backend=backend):
        run(experiment, ResultsFolder(Path(folder) / "figure-1", experiment.configuration()), jobs=2)
    spent.append(cpu_seconds(client) - before)


def cpu_seconds(client: Any) -> float:
    """Return the seconds of CPU that this process, with the scheduler, and the workers have taken."""
    return time.process_time() + sum(client.run(time.process_time).values())


if __name__ == "__main__":
    from dp_bandit_envs import simulate

    simulate("DPBandit-Stochastic-v0", ALGORITHMS, horizon=int(sys.argv[1]), trials=2)
    print(peak_memory())
