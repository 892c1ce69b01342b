"""Compares `simulate` with the commit before games were played in vector lanes, also restricted to AVX2.

Both run in processes of the same interpreter, which take turns.
"""

import contextlib
import functools
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measuring import Line, Skipped, median_rates, written

BEFORE = "07a6571"
HORIZON, TRIALS = 2**18, 64
WANTED = {"EXP3": 5.0, "DP-EXP3-Lap": 5.0, "EXP3-tau": 1.0}
WANTED_OF_AVX2 = {"EXP3": 3.0}
AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2"}
PLAY = f"""
import sys
from dp_bandit_envs import simulate
for name in sys.stdin:
    simulate("DPBandit-Stochastic-v0", [name.strip()], horizon={HORIZON}, trials={TRIALS}, seed=3)
    print("played", flush=True)
"""


def lines() -> list[Line | Skipped]:
    """Return a line for each algorithm: how many times as fast as before."""
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
            programs = {"now": functools.partial(play, now, name), "before": functools.partial(play, before, name)}
            rates = median_rates({key: (work, HORIZON * TRIALS) for key, work in programs.items()}, repetitions=5)
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
    command = [sys.executable, "-c", PLAY]
    with subprocess.Popen(command, cwd=empty, env={**environment, **settings}, **pipes) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def play(process: "subprocess.Popen[str]", name: str) -> None:
    """Let a process simulate an algorithm, and wait for it."""
    assert process.stdin is not None and process.stdout is not None
    print(name, file=process.stdin, flush=True)
    if process.stdout.readline() != "played\n":
        raise RuntimeError(f"simulate({name!r}) failed in a process of its own; see above.")
