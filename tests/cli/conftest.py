"""The command line as a function."""

import sys

import pytest

from dp_bandit_envs.cli import main


@pytest.fixture
def dp_bandit(monkeypatch, capsys, tmp_path):
    """Return a function that runs the command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the command adds the folder

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["dp-bandit", *map(str, words)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as leave:
            code = leave.code
        return code, *capsys.readouterr()

    return call
