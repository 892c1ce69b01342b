"""`dp-bandit run`, killed while it writes: the same command finishes the work."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

GAMES = ["run", "Stochastic", "Switching", "EXP3", "Uniform", "--trials", "40", "--horizon", "64"]
# Runs the command, and sends itself SIGKILL when half of a file with a certain name is on the disk.
KILLED = """
import os, signal, sys
from dp_bandit_envs import files

last, *sys.argv = sys.argv[1:]
open_new = files.open_new

def killed(path, mode=0o666):
    file = open_new(path, mode)
    if last.rpartition("/")[2] in path.name:
        file.write(bytes(100))
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    return file

files.open_new = killed
from dp_bandit_envs.cli import main
main()
"""


def go(folder, last="never", *more):
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", KILLED, last, "dp-bandit", *GAMES, "--out", "out", *more],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    done = go(folder)
    assert (done.returncode, done.stderr) == (0, "")
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("last", ["chunks/switching-000032.npz", pytest.param("figure.svg", marks=pytest.mark.slow)])
def test_a_killed_run_ends_with_the_same_bytes(last, whole, tmp_path):
    killed = go(tmp_path, last)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "out" / Path(last)).exists()
    again = go(tmp_path, "never", "--jobs", "2")
    assert again.returncode == 0, again.stderr
    for name in ("results.npz", "summary.csv", "figure.png", "figure.svg", "configuration.json"):
        assert (tmp_path / "out" / name).read_bytes() == whole[name], name
    # The report differs in the words of the command, which has one more option.
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert report.replace(" --jobs 2", "") == whole["report.md"].decode()
