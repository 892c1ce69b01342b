"""Programs that are interrupted, killed or run side by side, and the files that they leave."""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""Programs that a shell starts in the background ignore SIGINT, and so does all that they start."""
COMMAND_LINE = [sys.executable, "-c", f"{INTERRUPTIBLE}from dp_bandit_envs.cli import main; main()"]
POSIX = os.name == "posix"


@contextlib.contextmanager
def interruptible():
    """Let SIGINT interrupt this process as Ctrl-C does, also if a shell started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def start(arguments, folder, program=COMMAND_LINE, **environment):
    """Start a program in a folder."""
    folder.mkdir(exist_ok=True, parents=True)
    return subprocess.Popen(
        [*program, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process):
    """Wait for a program and return its exit code, output and errors."""
    out, err = process.communicate()
    return process.returncode, out, err


def dp_bandit(folder, *arguments):
    """Run a command to its end."""
    return finish(start(arguments, folder))


def kill_group(process):
    """Kill a program and its workers by SIGKILL."""
    os.killpg(process.pid, signal.SIGKILL)
    return finish(process)[0]


def files(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder, by its path there; bytes are slow to show where they differ."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
