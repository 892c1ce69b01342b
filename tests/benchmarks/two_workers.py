"""Measures figure 1 at a tenth of its trials on two dask workers, beside two threads."""

import functools
import importlib.util
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from dp_bandit_envs.experiments import figure_1
from dp_bandit_envs.experiments.chunked_run import run
from dp_bandit_envs.experiments.figure_1.figure_1_setup import TRIALS
from dp_bandit_envs.experiments.results_folder import ResultsFolder
from tests.benchmarks.measuring import Line, Skipped, median_rates, written

NAME = "Figure 1 on two dask workers, beside two threads"


def lines(trials: int = TRIALS // 10, repetitions: int = 3) -> list[Line | Skipped]:
    """Return the line: at least 0.9 of the speed, and in the note the seconds of CPU that each took."""
    if importlib.util.find_spec("distributed") is None:
        return [Skipped(NAME, "dask.distributed is not installed")]
    if (os.cpu_count() or 1) < 2:
        return [Skipped(NAME, "there is only one core here")]
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
    (experiment,) = figure_1.reproduction(trials=trials).experiments
    ratio = rates["cluster"] / rates["threads"]
    shown = {name: written(rate * experiment.rounds) for name, rate in rates.items()}
    # The first turn loads machine code.
    note = f"seconds of CPU: {min(spent['cluster'][1:]):.1f} beside {min(spent['threads'][1:]):.1f}"
    return [Line(NAME, shown["cluster"], shown["threads"], ratio, 0.9, note=note)]


def play(client: Any, trials: int, spent: list[float], **where: Any) -> None:
    """Play figure 1, and add to a list the seconds of CPU that this process and the workers took."""
    before = cpu_seconds(client)
    (experiment,) = figure_1.reproduction(trials=trials).experiments
    with tempfile.TemporaryDirectory() as folder:
        run(experiment, ResultsFolder(Path(folder) / "figure-1", experiment.configuration()), **where)
    spent.append(cpu_seconds(client) - before)


def cpu_seconds(client: Any) -> float:
    """Return the seconds of CPU that this process, with the scheduler, and the workers have taken."""
    return time.process_time() + sum(client.run(time.process_time).values())
