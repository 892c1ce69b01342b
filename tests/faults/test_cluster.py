"""A cluster plays the games of one process bit for bit, and whatever of it is killed, nothing is lost."""

import contextlib
import importlib.util
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, make_algorithm, simulate
from dp_bandit_envs.errors import ClusterError
from dp_bandit_envs.simulation import cluster as cluster_module
from dp_bandit_envs.simulation.provenance import installed_code, made_by
from dp_bandit_envs.simulation.sending import Carried
from dp_bandit_envs.simulation.trials import PlayedTrials
from dp_bandit_envs.simulation.workers import Task
from tests.simulation.test_sending import forget, made
from tests.tools.pages import blocks
from tests.tools.processes import dp_bandit, files, finish, start
from tests.tools.refusals import refused

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None or os.name != "posix",
    reason="needs dask.distributed (pip install 'dp-bandit-envs[cluster]') and SIGKILL",
)
HOST = "127.0.0.1"


class LocalCluster:
    """A scheduler with workers of one thread each; use it in a `with` statement.

    Attributes:
        address: The scheduler's address, which stays the same when it is restarted.
    """

    def __init__(self, folder, workers=2):
        with contextlib.closing(socket.socket()) as free:
            free.bind((HOST, 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://{HOST}:{self._port}"
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._wanted = workers
        self._scheduler, self._workers = None, []

    def __enter__(self):
        self.start_scheduler()
        self.start_workers()
        return self

    def __exit__(self, *_):
        for process in (*self._workers, self._scheduler):
            self._kill(process)

    def start_scheduler(self):
        """Start the scheduler."""
        self._scheduler = self._start("dask_scheduler", "--host", HOST, "--port", self._port)

    def start_workers(self):
        """Start workers in place of those that are gone."""
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        for _ in range(self._wanted - len(self._workers)):
            place = ("--local-directory", self._folder, "--host", HOST, "--no-nanny")
            self._workers.append(self._start("dask_worker", self.address, "--nthreads", 1, *place))

    def kill_worker(self, number=0):
        """Kill a worker by SIGKILL."""
        self._kill(self._workers[number % len(self._workers)])

    def kill_scheduler(self):
        """Kill the scheduler by SIGKILL."""
        self._kill(self._scheduler)

    def restart_all(self):
        """Kill the scheduler and all workers by SIGKILL, and start them again."""
        self.__exit__()
        self.start_scheduler()
        self.start_workers()

    def _start(self, what, *arguments):
        program = [sys.executable, "-m", f"distributed.cli.{what}", *map(str, arguments), "--no-dashboard"]
        return subprocess.Popen(program, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @staticmethod
    def _kill(process):
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()


MEASURES = ("external_regret", "policy_regret", "collected", "switches", "pulls")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with LocalCluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def own_agent():
    """Return an agent's class that no worker can import."""

    class Own(Exp3):
        """EXP3 with another class."""

    return Own


def played_agent():
    """Return another such class, which is not compiled."""

    class Foreign(Exp3):
        """EXP3 with a method of its own."""

        def begin(self, **options):
            """Begin as usual."""
            super().begin(**options)

    return Foreign


def assert_same(one, other):
    assert list(one) == list(other)
    for name in one:
        for measure in MEASURES:
            np.testing.assert_array_equal(getattr(one[name], measure), getattr(other[name], measure))
        assert one[name].engine == other[name].engine, (name, one[name].reason, other[name].reason)


@needs_dask
def test_a_cluster_plays_the_games_of_one_process(cluster):
    """Compiled and played, an agent and a game that no worker can import, and trials that do not begin at 0."""
    from dp_bandit_envs import register_adversary

    id_ = register_adversary("Mine", made(1.0))
    try:
        players = {"a": make_algorithm("DP-EXP3-Lap"), "b": Algorithm("b", own_agent()), "c": played_agent()}
        given = {"trials": 25, "seed": 3, "first_trial": 7, "horizon": 50}
        calls = []
        there = simulate(id_, players, cluster=cluster.address, progress=lambda *call: calls.append(call), **given)
        assert_same(simulate(id_, players, **given), there)
        assert calls[-1] == (75, 75) and calls == sorted(set(calls))
        summary = simulate(id_, players, cluster=cluster.address, keep="summary", **given)
        for name in there:
            assert np.array_equal(there[name].last(), summary[name].last())
            assert summary[name].mean() == pytest.approx(there[name].mean(), rel=1e-13)
    finally:
        forget("Mine")


@needs_dask
def test_a_client_stays_open(cluster):
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        given = {"horizon": 30, "trials": 3}
        there = simulate("DPBandit-Switching-v0", ["EXP3"], cluster=client, **given)
        assert_same(simulate("DPBandit-Switching-v0", ["EXP3"], **given), there)
        assert client.status == "running"


@needs_dask
def test_an_error_in_a_game_reaches_the_caller(cluster):
    class Failing(played_agent()):
        def select_arm(self):
            raise ZeroDivisionError("in the game")

    with refused(ZeroDivisionError, "in the game"):
        simulate("DPBandit-Stochastic-v0", {"a": Failing}, horizon=9, trials=3, cluster=cluster.address)


@needs_dask
def test_a_task_that_kills_its_workers_is_given_up_in_the_end(cluster):
    """The scheduler tries four workers; that is done ten times, because workers may also be killed by chance."""
    from distributed import KilledWorker

    task, error = Task(None, range(3)), KilledWorker("task", None, 3)
    with cluster_module.Crew(cluster.address) as crew:
        for _ in range(cluster_module.ATTEMPTS - 1):
            crew.recover(task, error)
        crew.recover(task._replace(trials=range(3, 4)), error)
        with pytest.raises(KilledWorker):
            crew.recover(task, error)
        with refused(ClusterError, cluster.address, "command"):
            crew.recover(task._replace(trials=range(9)), OSError("gone"))


def kill_workers(cluster, kills, horizon, trials, seed):
    """Simulate while workers are killed at random moments and replaced; return how many were killed in time."""
    rng, over, killed = random.Random(seed), threading.Event(), []
    players = ["EXP3", "DP-UCB"]

    def kill():
        for number in range(kills):
            # The first one at once, so that it comes in time however fast the machine is.
            if over.wait(rng.uniform(0.2, 3) if number else 0.0):
                return
            cluster.kill_worker(number)
            killed.append(number)
            cluster.start_workers()

    killer = threading.Thread(target=kill)
    given = {"horizon": horizon, "trials": trials}
    begun = threading.Event()

    def progress(done, games):
        if not begun.is_set():
            begun.set()
            killer.start()

    there = simulate("DPBandit-Switching-v0", players, cluster=cluster.address, progress=progress, **given)
    over.set()
    killer.join()
    assert_same(simulate("DPBandit-Switching-v0", players, jobs=2, **given), there)
    return len(killed)


@needs_dask
def test_a_killed_worker_loses_nothing(cluster):
    assert kill_workers(cluster, 1, 100_000, 40, seed=0) == 1


@needs_dask
@pytest.mark.slow
def test_workers_killed_thirty_times_lose_nothing(tmp_path):
    killed = 0
    with LocalCluster(tmp_path / "cluster") as cluster:
        for seed in range(30):
            killed += kill_workers(cluster, 30 - killed, 300_000, 100, seed)
            if killed >= 30:
                return
    pytest.fail(f"only {killed} workers were killed while they played")


@needs_dask
def test_a_lost_scheduler_is_one_sentence(tmp_path):
    """Dask would log how its client failed to connect again."""
    logged = []
    handler = logging.Handler()
    handler.emit = logged.append
    loggers = [logging.getLogger(f"distributed.{part}") for part in ("client", "core", "comm", "utils")]
    with LocalCluster(tmp_path / "cluster", workers=1) as cluster, contextlib.ExitStack() as stack:
        for logger in loggers:
            logger.addHandler(handler)
            stack.callback(logger.removeHandler, handler)
        given = {"horizon": 2**18, "trials": 100_000, "cluster": cluster.address}
        with refused(ClusterError, cluster.address, "was lost", "same command"):
            simulate("DPBandit-Stochastic-v0", ["EXP3"], progress=lambda *_: cluster.kill_scheduler(), **given)
    assert [record.getMessage() for record in logged] == []
    assert not any(logger.disabled for logger in loggers)


def command(*more):
    return ["run", "Stochastic", "EXP3", "UCB", "--trials", 480, "--horizon", 200_000, "--out", "o", *more]


def kill_scheduler(folder, whole, waits):
    """Run the command, kill the whole cluster after each wait, and run it to its end; compare all bytes.

    Waits begin when a chunk has been saved. Returns how many runs were cut short.
    """
    cut = 0
    with LocalCluster(folder / "cluster") as cluster:
        for wait in waits:
            process = start(command("--cluster", cluster.address), folder)
            while process.poll() is None and not list(folder.glob("o/chunks/*.npz")):
                time.sleep(0.01)
            time.sleep(wait)
            cluster.restart_all()
            code, _, err = finish(process)
            assert code == 0 or (code == 2 and cluster.address in err), err
            cut += code == 2
        code, _, err = dp_bandit(folder, *command("--cluster", cluster.address))
        assert code == 0, err
    found = files(folder / "o")
    assert not [name for name in found if "chunks" in name]
    # The report differs in the words of the command.
    assert {name: found[name] for name in whole if name != "report.md"} == {
        name: whole[name] for name in whole if name != "report.md"
    }
    return cut


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    code, _, err = dp_bandit(folder, *command())
    assert code == 0, err
    return files(folder / "o")


@needs_dask
@pytest.mark.slow
def test_a_restarted_scheduler_and_the_same_command_lose_nothing(whole, tmp_path):
    assert kill_scheduler(tmp_path, whole, [0]) == 1


@needs_dask
@pytest.mark.slow
def test_thirty_restarted_schedulers_lose_nothing(whole, tmp_path):
    rng = random.Random(1)
    cut = [kill_scheduler(tmp_path / f"{number}", whole, [rng.uniform(0, 1)]) for number in range(30)]
    assert sum(cut) >= 10


SRUN = f"""#!{sys.executable}
import subprocess, sys
machines = [subprocess.Popen(sys.argv[1:]) for _ in range(2)]
try:
    sys.exit(max(machine.wait() for machine in machines))
finally:
    for machine in machines:
        machine.kill()
"""
"""Stands for Slurm's: starts what it is told on two machines, which are this one."""


@needs_dask
def test_the_job_of_the_page_plays_on_two_workers_and_ends(tmp_path):
    (script,) = [block for block in blocks("docs/cluster.md", "bash") if "#SBATCH" in block]
    small = script.replace("--trials 1000", "--trials 9 --horizon 40")
    assert small != script
    words = small.split("dp-bandit ")[1].split(" --cluster")[0].split()
    code, _, err = dp_bandit(tmp_path / "whole", *words)
    assert code == 0, err
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "srun").write_text(SRUN)
    (folder / "srun").chmod(0o755)
    path = os.pathsep.join([str(folder), os.path.dirname(sys.executable), os.environ["PATH"]])
    slurm = {"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "1", "PATH": path}
    code, out, err = finish(start([], folder, ["bash", "-c", small], **slurm))
    assert code == 0 and "results/mine/report.md" in out, err
    assert not (folder / "scheduler-7.json").exists()
    found, whole = (files(place / "results/mine")["results.npz"] for place in (folder, tmp_path / "whole"))
    assert found == whole


@needs_dask
def test_an_address_without_a_scheduler_says_so(monkeypatch):
    monkeypatch.setattr(cluster_module, "REACHED", 0.3)
    with refused(ClusterError, "cluster", "tcp://127.0.0.1:9", "dask scheduler"):
        simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=9, cluster="tcp://127.0.0.1:9")


@needs_dask
def test_a_cluster_without_workers_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "PATIENCE", 0.3)
    monkeypatch.setattr(cluster_module, "REACHED", 60.0)
    with LocalCluster(tmp_path, workers=0) as empty, refused(ClusterError, "workers", empty.address, "dask worker"):
        simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=9, cluster=empty.address)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with refused(ImportError, "distributed", "dp-bandit-envs[cluster]"):
        simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=9, cluster="tcp://127.0.0.1:9")


def refuse(made):
    """Play on a worker what was made by this code."""
    cluster_module._play(cluster_module._Parcel(Carried(b"", ()), made), range(1), "trials")


def test_a_worker_with_other_code_refuses_to_play():
    mine, other = made_by()["code"], "0123456789" * 6 + "abcd"
    with refused(ClusterError, f"code {mine[:8]} instead of 01234567. Install"):
        refuse({**made_by(), "code": other})


def test_a_worker_with_another_version_of_an_installed_agent_refuses_to_play():
    """What is installed is sent by name, so that the worker's own would play."""
    from numpy.random import Generator

    def wrapping(env):
        return Generator

    sent = installed_code(PlayedTrials(None, {"a": Algorithm("a", played_agent(), wrapping)}, 0, np.ones(1, np.int64)))
    assert sent == {"installed numpy": np.__version__}
    with refused(ClusterError, "installed numpy", np.__version__, "0.9"):
        refuse({**made_by(), "installed numpy": "0.9"})
    with refused(ClusterError, f"module {__name__}", "none"):
        refuse({**made_by(), f"module {__name__}.gone": "0" * 64})
