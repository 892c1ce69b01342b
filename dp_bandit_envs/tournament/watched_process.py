"""Starts an agent's process in an empty folder, without the environment of this one, and ends it when time is up."""

import contextlib
import os
import signal
import site
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final, Self

import dp_bandit_envs
from dp_bandit_envs.tournament.folder_removal import remove_folder
from dp_bandit_envs.tournament.message_pipe import MessagePipe

SECONDS_TO_START: Final = 120.0
"""The most seconds until Python and this package are loaded."""
OUTPUT_KEPT: Final = 1000
"""Characters that are kept of the beginning and of the end of what an agent prints."""
INHERITED: Final = ("PYTHONPATH", "PYTHONNOUSERSITE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables without which Python may not start; all others may be secrets."""
THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PROGRAM: Final = "import sys; sys.path.append(sys.argv.pop()); from dp_bandit_envs.tournament import agent_process"


class WatchedProcess:
    """An agent's process. As a context it is ended, with all that it started, when the context is left.

    Args:
        stopped: Set when nobody wants its answers any more; it is then ended.

    Attributes:
        pipe: What it receives and answers.
        late: Whether it was ended because it gave no answer in time.
        waited: Seconds for which it was waited for since it was ready.
    """

    pipe: MessagePipe

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped
        self.late, self.waited = False, 0.0
        self._limit, self._since = SECONDS_TO_START, -1.0
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self._rooms = contextlib.ExitStack()
        try:
            folder = tempfile.mkdtemp(prefix="dp-bandit-")
            self._rooms.callback(remove_folder, folder)
            self._output = self._rooms.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", f"{PROGRAM}; agent_process.main()", _package_folder()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._output,
                bufsize=0,
                cwd=folder,
                env=_environment(folder),
                start_new_session=True,
            )
            self.pipe = MessagePipe(self._process.stdout, self._process.stdin)  # type: ignore[arg-type]
        except BaseException:
            self._rooms.close()
            raise
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self.end()
        for file in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                file.close()  # type: ignore[union-attr]
        self._rooms.close()

    def is_ready(self, seconds: float) -> None:
        """Count from now on how long it is waited for, and end it after so many seconds."""
        self.waited, self._limit = 0.0, seconds

    def ask(self, letter: bytes = b"", content: bytes = b"") -> tuple[bytes, bytearray]:
        """Send a message, if one is given, and return the next answer; the process is ended if none comes in time.

        Raises:
            EOFError: If the process has ended, for whatever reason.
            OSError: The same, while the message was sent.
        """
        self._since = began = monotonic()
        try:
            if letter:
                self.pipe.send(letter, content)
            return self.pipe.receive()
        finally:
            self._since = -1.0
            self.waited += monotonic() - began

    def end(self) -> int:
        """End the process and its group at once, and return its exit code."""
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        return self._process.wait()

    def left_by_itself(self) -> int:
        """Return the exit code of a process that closed its pipe; one that goes on is ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=1)
        return self.end()

    @property
    def output(self) -> str:
        """The beginning and the end of what it printed."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(0)
        if size <= 2 * OUTPUT_KEPT:
            return self._output.read().decode(errors="replace")
        first = self._output.read(OUTPUT_KEPT).decode(errors="replace")
        self._output.seek(size - OUTPUT_KEPT)
        last = self._output.read().decode(errors="replace")
        return f"{first}\n... {size - 2 * OUTPUT_KEPT:,} bytes left out ...\n{last}"

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            since = self._since
            self.late = since >= 0 and self.waited + monotonic() - since > self._limit
            if self.late or self._stopped.is_set():
                self.end()
                return


def _package_folder() -> str:
    """Return the folder from which this package was imported, for a clone that is not installed."""
    return str(Path(dp_bandit_envs.__file__).resolve().parents[1])


def _environment(folder: str) -> dict[str, str]:
    """Return the environment of an agent's process."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    own = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), folder)
    numbers = dict.fromkeys(THREADS, "1")
    base = site.getuserbase()
    return {
        **kept,
        **own,
        **numbers,
        **({"PYTHONUSERBASE": base} if base else {}),
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
    }
