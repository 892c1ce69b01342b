"""Workers of joblib's backends play the games of one process bit for bit; no secret seed leaves the machine."""

import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
from concurrent.futures import Future

import joblib
import numpy as np
import pytest
from joblib.parallel import BACKENDS, MultiprocessingBackend, ThreadingBackend

from dp_bandit_envs import Algorithm, Exp3, compare, make_algorithm, simulate
from dp_bandit_envs.errors import ClusterError
from dp_bandit_envs.simulation.engines import PythonEngine
from dp_bandit_envs.simulation.pickling import PickledWork
from dp_bandit_envs.simulation.provenance import installed_code, made_by
from tests.faults.test_foreign_results import OTHER_RATE, copied
from tests.tools.pages import blocks, run, small
from tests.tools.processes import files, finish, start
from tests.tools.refusals import refused
from tests.tools.toys import drifting, forget

GAME = "DPBandit-Stochastic-v0"
MEASURES = ("external_regret", "policy_regret", "collected", "switches", "pulls")
OWN = ("loky", "multiprocessing", "threading", "sequential")


class Elsewhere(MultiprocessingBackend):
    """Stands for Ray's, which inherits the same class: it returns results only together."""


class Losing(ThreadingBackend):
    """Loses all that it is given, and tells nobody, as dask's backend in joblib 1.6 does."""

    def submit(self, func, callback=None):
        """Return a future that has failed."""
        lost = Future()
        lost.set_exception(ZeroDivisionError("all workers died"))
        return lost


@pytest.fixture(autouse=True, scope="module")
def backends():
    """Register them by name."""
    for kind in (Elsewhere, Losing):
        joblib.register_parallel_backend(kind.__name__, kind)
    yield
    for kind in (Elsewhere, Losing):
        del BACKENDS[kind.__name__]


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


def assert_plays_the_same_games():
    """CompiledFunction and played, an agent and a game that no worker can import, and trials that do not begin at 0."""
    from dp_bandit_envs import register_adversary

    id_ = register_adversary("Mine", drifting(1.0))
    try:
        players = {"a": make_algorithm("DP-EXP3-Lap"), "b": Algorithm("b", own_agent()), "c": played_agent()}
        given = {"trials": 25, "seed": 3, "first_trial": 7, "horizon": 50, "jobs": 2}
        calls = []
        there = simulate(id_, players, progress=lambda *call: calls.append(call), **given)
        summary = simulate(id_, players, keep="summary", **given)
        with joblib.parallel_config(backend="sequential"):
            assert_same(simulate(id_, players, **given), there)
        assert calls[-1] == (75, 75) and calls == sorted(set(calls)) and len(calls) > 2
        for name in there:
            assert np.array_equal(there[name].last(), summary[name].last())
            assert summary[name].mean() == pytest.approx(there[name].mean(), rel=1e-13)
    finally:
        forget("Mine")


@pytest.mark.thorough
@pytest.mark.parametrize("backend", [*OWN, "Elsewhere"])
def test_every_backend_plays_the_games_of_one_process(backend):
    with joblib.parallel_config(backend=backend):
        assert_plays_the_same_games()


@pytest.mark.thorough
def test_a_secret_seed_goes_to_joblibs_own_backends_only(tmp_path):
    """By its name, before anything is played or written; real data have one if none is given."""
    real = tmp_path / "gains.npy"
    np.save(real, np.tile([0.0, 1.0], (9, 1)))
    agent = played_agent()
    with joblib.parallel_config(backend="Elsewhere"):
        for game, given in ((GAME, {"seed": None, "horizon": 9}), (str(real), {})):
            with refused(ClusterError, "secret seed", "Elsewhere", *OWN):
                simulate(game, {"a": agent}, **given)
        with refused(ClusterError, "secret seed", "Elsewhere"):
            compare("Stochastic", ["EXP3"], horizon=9, seed=None, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    for backend in OWN:
        with joblib.parallel_config(backend=backend):
            assert simulate(GAME, {"a": agent}, horizon=9, trials=4, jobs=2, seed=None)["a"].trials == 4


def test_a_task_that_a_backend_loses_is_not_waited_for():
    with joblib.parallel_config(backend="Losing"), refused(ZeroDivisionError, "all workers died"):
        simulate(GAME, {"a": played_agent()}, horizon=9, trials=4, jobs=2)


def refuse(made):
    """Play on a worker what was made by this code."""
    PickledWork(b"", (), code=tuple(made.items())).play(range(1))


def test_a_worker_with_other_code_refuses_to_play():
    mine, other = made_by()["code"], "0123456789" * 6 + "abcd"
    with refused(ClusterError, f"code {mine[:8]} instead of 01234567. Install"):
        refuse({**made_by(), "code": other})


def test_a_worker_with_another_version_of_an_installed_agent_refuses_to_play():
    """What is installed is sent by name, so that the worker's own would play."""
    from numpy.random import Generator

    def wrapping(env):
        return Generator

    sent = installed_code(PythonEngine(None, {"a": Algorithm("a", played_agent(), wrapping)}, 0, np.ones(1, np.int64)))
    assert sent == {"installed numpy": np.__version__}
    with refused(ClusterError, "installed numpy", np.__version__, "0.9"):
        refuse({**made_by(), "installed numpy": "0.9"})
    with refused(ClusterError, f"module {__name__}", "none"):
        refuse({**made_by(), f"module {__name__}.gone": "0" * 64})


# ---- two real workers of dask

HOST = "127.0.0.1"


def on_dask(test):
    """Mark a test that starts processes of dask."""
    there = importlib.util.find_spec("distributed") is not None and os.name == "posix"
    return pytest.mark.slow(pytest.mark.skipif(not there, reason="needs dask.distributed and SIGKILL")(test))


class LocalCluster:
    """A scheduler with workers of one thread each; use it in a `with` statement."""

    def __init__(self, folder, paths=(None, None), failures=3):
        """Remember where, what to put on Python's path of each worker, and after how many deaths a task may go on."""
        with contextlib.closing(socket.socket()) as free:
            free.bind((HOST, 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://{HOST}:{self.port}"
        self._folder, self._paths, self._failures, self._processes = folder, paths, failures, []

    def __enter__(self):
        from distributed import Client

        self._processes = [self._start("dask_scheduler", None, "--host", HOST, "--port", self.port)]
        for path in self._paths:
            self.start_worker(path)
        self.client = Client(self.address)
        self.client.wait_for_workers(len(self._paths), timeout=60)
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.client.close()
        for number in range(len(self._processes)):
            self.kill(number)

    def start_worker(self, path=None):
        """Start a worker."""
        where = ("--local-directory", self._folder, "--host", HOST, "--no-nanny", "--nthreads", 1)
        self._processes.append(self._start("dask_worker", path, self.address, *where))

    def kill(self, number):
        """Kill by SIGKILL: 0 is the scheduler, 1 and more are workers in the order of their start."""
        self._processes[number].kill()
        self._processes[number].wait()

    def _start(self, what, path, *arguments):
        program = [sys.executable, "-m", f"distributed.cli.{what}", *map(str, arguments), "--no-dashboard"]
        own = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(self._failures)}
        own |= {"PYTHONPATH": str(path)} if path else {}
        return subprocess.Popen(
            program,
            cwd=self._folder,
            env={**os.environ, **own},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


@pytest.fixture
def cluster(tmp_path):
    with LocalCluster(tmp_path) as started, joblib.parallel_config(backend="dask"):
        yield started


@on_dask
def test_dask_plays_the_games_of_one_process_without_a_secret_seed_and_passes_on_errors(cluster):
    assert_plays_the_same_games()
    with refused(ClusterError, "secret seed", "DaskDistributedBackend"):
        simulate(GAME, ["EXP3"], horizon=9, seed=None)

    class Failing(played_agent()):
        def select_arm(self):
            raise ZeroDivisionError("in the game")

    with refused(ZeroDivisionError, "in the game"):
        simulate(GAME, {"a": Failing}, horizon=9, trials=3)


@on_dask
def test_a_killed_worker_loses_nothing(cluster):
    """While it plays, and one that came later takes its place."""
    given = {"horizon": 100_000, "trials": 40}
    killed = []

    def kill(done, games):
        if not killed:
            killed.append(done)
            cluster.start_worker()
            cluster.kill(1)

    there = simulate("DPBandit-Switching-v0", ["EXP3", "DP-UCB"], progress=kill, **given)
    assert killed and killed[0] < 80
    with joblib.parallel_config(backend="threading"):
        assert_same(simulate("DPBandit-Switching-v0", ["EXP3", "DP-UCB"], jobs=2, **given), there)


@on_dask
def test_a_task_that_kills_its_workers_ends_in_an_error(tmp_path):
    """That of dask, which names the worker; nobody waits for ever."""
    from distributed import KilledWorker

    class Fatal(played_agent()):
        def select_arm(self):
            os._exit(1)

    with (
        LocalCluster(tmp_path, failures=0),
        joblib.parallel_config(backend="dask"),
        pytest.raises(KilledWorker),
    ):
        simulate(GAME, {"a": Fatal}, horizon=9, trials=3)


@on_dask
def test_a_lost_scheduler_ends_in_an_error_and_the_same_call_goes_on(tmp_path):
    """The folder is that of one process in the end."""
    given = {"horizon": 20_000, "trials": 640, "epsilon": [1.0]}
    players = ["EXP3", "DP-UCB"]
    with (
        LocalCluster(tmp_path) as cluster,
        joblib.parallel_config(backend="dask"),
        pytest.raises(Exception, match=r"(?i)cancelled|lost|closed"),
    ):
        compare(GAME, players, folder=tmp_path / "out", progress=lambda *_: cluster.kill(0), **given)
    saved = files(tmp_path / "out")
    assert "results.npz" not in saved
    with LocalCluster(tmp_path) as cluster, joblib.parallel_config(backend="dask"):
        compare(GAME, players, folder=tmp_path / "out", progress=False, **given)
    compare(GAME, players, folder=tmp_path / "whole", progress=False, **given)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


@on_dask
def test_a_worker_with_an_edited_copy_refuses_by_name(tmp_path):
    copied(tmp_path / "copy", OTHER_RATE)
    with (
        LocalCluster(tmp_path, (tmp_path / "copy", tmp_path / "copy")),
        joblib.parallel_config(backend="dask"),
        refused(ClusterError, "same code", f"instead of {made_by()['code'][:8]}"),
    ):
        simulate(GAME, ["EXP3"], horizon=9)


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


@on_dask
def test_the_job_of_the_page_plays_on_two_workers_and_ends(tmp_path):
    (script,) = [block for block in blocks("docs/cluster.md", "bash") if "#SBATCH" in block]
    (tmp_path / "srun").write_text(SRUN, encoding="utf-8")
    (tmp_path / "srun").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.path.dirname(sys.executable), os.environ["PATH"]])
    slurm = {"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "1", "SLURM_NTASKS": "2", "PATH": path}
    code, _, err = finish(start([], tmp_path, ["bash", "-c", small(script)], **slurm))
    assert code == 0, err
    assert not (tmp_path / "scheduler-7.json").exists()
    compare("Stochastic", ["EXP3", "UCB"], trials=6, folder=tmp_path / "whole", progress=False)
    assert files(tmp_path / "results" / "mine") == files(tmp_path / "whole")


@on_dask
def test_the_python_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with LocalCluster(tmp_path) as cluster:
        first, *others = blocks("docs/cluster.md", "python")
        run(small(first.replace("tcp://scheduler:8786", cluster.address)), *others)
    assert "UCB" in capsys.readouterr().out
    assert (tmp_path / "results" / "mine" / "results.npz").exists()
