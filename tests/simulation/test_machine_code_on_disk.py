"""Machine code on disk is never stale, damaged or another function's, and a process can do without it."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import config
from numba.core.caching import CacheImpl

from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.simulation import lanes
from dp_bandit_envs.simulation.lanes import LaneLoop
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.simulation.stages import add_up

ROOT = Path(__file__).parents[2]
# Played with fixed seeds by both engines; the difference must be nothing, and the regret shows which code ran.
PROGRAM = """
import dp_bandit_envs, numpy as np, gymnasium as gym, sys
from dp_bandit_envs import make_algorithm, play, simulate
assert dp_bandit_envs.__file__.startswith(sys.argv[1]), dp_bandit_envs.__file__
algorithm = make_algorithm(sys.argv[2])
outcome = simulate("DPBandit-Stochastic-v0", [algorithm], horizon=400, checkpoints=400, seed=1)[algorithm.name]
assert outcome.engine == "compiled"
game = play(gym.make("DPBandit-Stochastic-v0", horizon=400), algorithm, seed=1)
assert np.array_equal(outcome.external_regret[0], game.external_regret), "stale"
print(",".join(map(str, game.arms)))
"""


class Copy:
    """A copy of the package with a cache of its own."""

    def __init__(self, folder):
        self.package = folder / "copy" / "dp_bandit_envs"
        self.cache = folder / "cache"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "dp_bandit_envs", self.package, ignore=ignored)
        for name in ("agents", "wrappers"):
            shutil.copytree(ROOT / name, self.package / name, ignore=ignored)

    def arms(self, algorithm):
        """Run the program above and return the arms played."""
        home = str(self.package.parent)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, home, algorithm],
            cwd=home,
            env={**os.environ, "PYTHONPATH": home, "NUMBA_CACHE_DIR": str(self.cache)},
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def edit(self, file, old, new):
        """Edit a source file; its length and time stamp are the same as before, as if by a careless tool."""
        path = self.package / file
        source, times = path.read_text(encoding="utf-8"), path.stat()
        assert source.count(old) == 1
        assert len(old) == len(new)
        path.write_text(source.replace(old, new), encoding="utf-8")
        # Python's own cache of byte code trusts the time stamp; Numba's must not need it.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def machine_code(self):
        """Return the files of compiled code with their contents' time stamps."""
        return {path.name: path.stat().st_mtime_ns for path in self.cache.rglob("*.nbc")}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("stale"))


@pytest.mark.thorough
def test_a_second_run_takes_everything_from_the_cache_and_an_edit_nothing_old(copy):
    """One story, because each compilation costs seconds: run, edit a mechanism, undo it and edit comments.

    An agent's functions and constants are in `test_compiling.py`.
    """
    first = copy.arms("DP-EXP3-Lap")
    assert len(copy.machine_code()) == 2  # the loop with EXP3, and what checks and adds up gains

    # A constant in a helper of the loop itself.
    copy.edit("privacy/mechanisms/laplace_gains.py", "(width + 2.0 * state.bound)", "(width + 9.0 * state.bound)")
    assert copy.arms("DP-EXP3-Lap") != first

    # Undone, the first code is back, from the cache, whatever comments say.
    kept = copy.machine_code()
    copy.edit("privacy/mechanisms/laplace_gains.py", "(width + 9.0 * state.bound)", "(width + 2.0 * state.bound)")
    copy.edit("compiling/intrinsics.py", "# mypy: disable-error-code", "# MYPY: disable-error-code")
    copy.edit("compiling/numba_functions.py", "# Loops over arms", "# LOOPS over arms")
    assert copy.arms("DP-EXP3-Lap") == first
    assert copy.machine_code() == kept


@pytest.mark.slow
def test_an_edit_beneath_the_functions_and_one_of_a_constant_of_a_module_are_noticed(copy):
    """What generates machine code is code as well."""
    first, number = copy.arms("DP-EXP3-Lap"), len(copy.machine_code())
    copy.edit("compiling/intrinsics.py", "builder.add(counter, WORD(1))", "builder.add(WORD(1), counter)")
    assert copy.arms("DP-EXP3-Lap") == first
    assert len(copy.machine_code()) == number + 2
    before = copy.arms("HTINF")
    copy.edit("theory/adversarial_bounds.py", "Final = 1 - 2 ** (-1 / 3)", "Final = 9 - 2 ** (-1 / 3)")
    assert copy.arms("HTINF") != before


def twice(x):
    return 2.0 * x


def test_where_nothing_can_be_kept_it_is_compiled_each_time(monkeypatch):
    """A container may have no writable folder at all; that costs seconds, and must not cost the simulation."""
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    monkeypatch.setattr(twice, "__module__", "dp_bandit_envs.tests")
    assert CompiledFunction(twice, {})(1.0) == 2.0


def test_the_file_of_a_function_that_was_sent_is_not_run(tmp_path, monkeypatch):
    """A process that gets a function gets it without its module, whose file may do anything once more."""
    (tmp_path / "runs_once.py").write_text("raise RuntimeError('run again')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sent = {"__name__": "runs_once"}
    exec("def half(x):\n    return x / 2\n\n\ndef quarter(x):\n    return half(half(x))\n", sent)
    assert CompiledFunction(sent["quarter"], {})(3.0) == 0.75


def loop_for(n_arms):
    given = {"horizon": 20, "seed": 0, "checkpoints": 3, "env_kwargs": {"n_arms": n_arms}}
    (engine,) = prepare("DPBandit-Stochastic-v0", ["Uniform"], **given).engines
    return LaneLoop(engine.games["Uniform"])


@pytest.mark.thorough
def test_loops_over_lanes_are_kept_on_disk_and_have_a_name_for_each_layout(tmp_path, monkeypatch):
    """They have a compiler of their own, which could forget it; code from disk is found by its name."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(lanes, "_play_loop", lanes._play_loop.__wrapped__)
    assert loop_for(3).address
    assert len(list(tmp_path.rglob("lanes.play_lanes_*.nbc"))) == 1
    four, two, again = (loop_for(n_arms).compiled._dispatcher.py_func.__qualname__ for n_arms in (4, 2, 4))
    assert four == again != two


SEVERAL = """
import sys
started = []
starts = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile")
sys.addaudithook(lambda event, _: started.append(event) if event in starts else None)
from dp_bandit_envs import simulate
outcomes = simulate("DPBandit-Stochastic-v0", ["EXP3", "EXP3-tau", "Uniform", "UCB"], horizon=50, trials=4)
print({one.engine for one in outcomes.values()}, started)
"""


@pytest.mark.thorough
def test_no_second_process_starts_to_compile_or_to_load(tmp_path):
    """Several loops over lanes, without machine code on disk and with all of it, which small simulations load, too."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = []
    for compiling in ("always", "always", "auto"):
        done = subprocess.run(
            [sys.executable, "-c", SEVERAL],
            env=environment | {"DP_BANDIT_ENVS_COMPILE": compiling},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append((done.stdout.strip(), len(list(tmp_path.rglob("*.nbc")))))
    assert found[0] == found[1] == found[2] and found[0][0] == "{'lanes'} []" and found[0][1] > 4


MODULE = """
from typing import NamedTuple
import numpy as np
from dp_bandit_envs import Algorithm, Exp3, simulate
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism


class State(NamedTuple):
    truth: float


def release(state, arm, gain, rng):
    return (1.0 if rng.random() < gain else 0.0), 1


class Coin(Mechanism):
    release = staticmethod(release)
    withholds = False

    def new_state(self, below):
        return State(1.0)

    def guarantee(self, below):
        return PrivacyGuarantee.none("a coin hides nothing")


mine = Algorithm("mine", Exp3, lambda env: PrivacyBoundary(env, Coin()))
found = simulate("DPBandit-Stochastic-v0", [mine], horizon=50, trials=2)["mine"]
print(found.engine, found.pulls.sum())
"""


@pytest.mark.thorough
def test_functions_of_a_module_that_is_being_imported_are_compiled(tmp_path):
    """Another thread would wait for the import for ever; the limit is only there so that the test can fail."""
    (tmp_path / "experiment.py").write_text(MODULE, encoding="utf-8")
    command = [sys.executable, "-c", "import experiment"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.split() == ["compiled", "100"]


# ---- a damaged file of machine code is as good as none: the function is compiled again, and the file is replaced


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of a cache of its own."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def call():
    """Call a small function of the package as a new process would, and return it."""
    compiled = CompiledFunction(add_up, {})
    totals, record = np.zeros(2), np.zeros((1, 2))
    compiled(np.array([[0.25, 1.0], [0.5, 0.0]]), totals, 1, np.array([2]), record)
    assert totals.tolist() == record[0].tolist() == [0.75, 1.0]
    return compiled


def was_loaded(compiled):
    return sum(compiled._dispatcher.stats.cache_hits.values()) == 1


def one_file(cache):
    (file,) = cache.rglob("*.nbc")
    return file


DAMAGE = {
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "a flipped bit in the code": lambda data: data[:900] + bytes([data[900] ^ 1]) + data[901:],
    "a flipped bit in the digest": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "a digest of something that is no code": lambda data: hashlib.sha256(b"nothing").digest() + b"nothing",
}


@pytest.mark.thorough
def test_a_damaged_file_is_compiled_again_and_replaced(cache):
    assert not was_loaded(call())
    assert was_loaded(call())
    file = one_file(cache)
    whole = file.read_bytes()
    for kind, damage in DAMAGE.items():
        file.write_bytes(damage(whole))
        assert not was_loaded(call()), kind
        assert was_loaded(call()), kind


def test_a_folder_that_cannot_be_written_costs_time_only(cache, monkeypatch):
    def refused(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("dp_bandit_envs.compiling.numba_functions.os.replace", refused)
        call()
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".nbi"]
    shutil.rmtree(cache)
    cache.write_text("a file in the place of the folder")
    call()
    assert cache.read_text() == "a file in the place of the folder"


def aged(file, days):
    then = time.time() - days * 86_400
    os.utime(file, (then, then))
    return file


@pytest.mark.thorough
def test_what_nobody_uses_is_removed_when_something_is_written(cache):
    call()
    used = one_file(cache)
    name, folder = used.name.rpartition("-")[0], used.parent
    left = [folder / "mine.nbc", folder / f"{name}-{'0' * 32}.txt"]
    old = [folder / f"{name}-{'0' * 32}.nbc", folder / f"{name}-{'1' * 32}.nbc.{'2' * 32}"]
    for file in (*left, *old):
        file.touch()
        aged(file, 91)
    young = folder / f"{name}-{'3' * 32}.nbc"
    young.touch()
    aged(young, 89)
    aged(used, 89)
    assert was_loaded(call())
    assert time.time() - used.stat().st_mtime < 3_600  # it was used now
    assert all(file.exists() for file in (*old, young))
    used.unlink()
    assert not was_loaded(call())
    assert not [file for file in old if file.exists()]
    assert all(file.exists() for file in (used, young, *left))


def test_a_folder_that_is_only_read_is_used_in_silence(cache, monkeypatch, capfd):
    call()
    aged(one_file(cache), 100)

    def refused(*arguments):
        raise PermissionError(30, "Read-only file system")

    for change in ("utime", "replace", "unlink"):
        monkeypatch.setattr(f"dp_bandit_envs.compiling.numba_functions.os.{change}", refused)
    assert was_loaded(call())
    assert capfd.readouterr() == ("", "")
