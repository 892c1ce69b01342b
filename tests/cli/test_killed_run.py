"""`dp-bandit run`, killed while it writes: the same command finishes the work."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

GAMES = ["run", "Stochastic", "Switching", "EXP3", "Uniform", "--trials", "40", "--horizon", "16", "--out", "out"]
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


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("last", ["chunks/switching-000032.npz", pytest.param("figure.svg", marks=pytest.mark.slow)])
def test_a_killed_run_ends_with_the_same_bytes(last, dp_bandit, tmp_path):
    code, _, err = dp_bandit(*GAMES)
    assert (code, err) == (0, "")
    whole = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    shutil.move(tmp_path / "out", tmp_path / "whole")
    killed = subprocess.run([sys.executable, "-c", KILLED, last, "dp-bandit", *GAMES], cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "out" / Path(last)).exists()
    code, _, err = dp_bandit(*GAMES, "--jobs", 2)
    assert (code, err) == (0, "")
    for name in ("results.npz", "summary.csv", "figure.png", "figure.svg", "configuration.json"):
        assert (tmp_path / "out" / name).read_bytes() == whole[name], name
    # The report differs in the words of the command, which has one more option.
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert report.replace(" --jobs 2", "") == whole["report.md"].decode()
