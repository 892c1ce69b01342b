"""Measures figure 1 at a tenth of its trials on two dask workers, beside two threads, and what a client has to do."""

import functools
import importlib.util
import os
import pickle
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from dp_bandit_envs.compiling.compiled import never
from dp_bandit_envs.figures import figure_1
from dp_bandit_envs.figures.figure_1 import TRIALS
from dp_bandit_envs.runs.running import run
from dp_bandit_envs.runs.store import ResultsFolder
from dp_bandit_envs.simulation.outcomes import play_all
from dp_bandit_envs.simulation.simulation import prepare
from tests.benchmarks.measuring import Line, Skipped, median_rates, written

NAME = "Figure 1 on two dask workers, beside two threads"


def lines(trials: int = TRIALS // 10, repetitions: int = 3) -> list[Line | Skipped]:
    """Return the lines: at least 0.95 of the speed, with the seconds of CPU that each took; and 2 us in the client."""
    return [client_line(), workers_line(trials, repetitions)]


def client_line(trials: int = 512, tasks: int = 20, repetitions: int = 9) -> Line:
    """Return the line: what the client of a cluster takes to unpickle the results of tasks and put them into tables.

    As dask does it: the arrays are beside the pickle, in what came from the network.
    """
    given = {"horizon": 2**10, "seed": 1, "checkpoints": None, "env_kwargs": None}
    prepared = prepare("DPBandit-Stochastic-v0", ["EXP3", "DP-EXP3-Lap"], **given)
    (work,) = prepared.works_of(trials)
    work.compile(never)
    arrays: list[pickle.PickleBuffer] = []
    sent = pickle.dumps(play_all(work, range(trials)), protocol=5, buffer_callback=arrays.append)
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
            "cluster": (functools.partial(play, client, trials, spent["cluster"], cluster=client), 1),
            "threads": (functools.partial(play, client, trials, spent["threads"], jobs=2), 1),
        }
        rates = median_rates(programs, repetitions)
    (experiment,) = figure_1.study(trials=trials).experiments
    ratio = rates["cluster"] / rates["threads"]
    shown = {name: written(rate * experiment.rounds) for name, rate in rates.items()}
    # The first turn loads machine code.
    note = f"seconds of CPU: {min(spent['cluster'][1:]):.1f} beside {min(spent['threads'][1:]):.1f}"
    return Line(NAME, shown["cluster"], shown["threads"], ratio, 0.95, note=note)


def play(client: Any, trials: int, spent: list[float], **where: Any) -> None:
    """Play figure 1, and add to a list the seconds of CPU that this process and the workers took."""
    before = cpu_seconds(client)
    (experiment,) = figure_1.study(trials=trials).experiments
    with tempfile.TemporaryDirectory() as folder:
        run(experiment, ResultsFolder(Path(folder) / "figure-1", experiment.configuration()), **where)
    spent.append(cpu_seconds(client) - before)


def cpu_seconds(client: Any) -> float:
    """Return the seconds of CPU that this process, with the scheduler, and the workers have taken."""
    return time.process_time() + sum(client.run(time.process_time).values())
