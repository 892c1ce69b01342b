"""Plays all hidden games with one agent: the games are here, the agent is in its process, arms and releases between."""

import base64
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from threading import Event
from time import monotonic
from types import TracebackType
from typing import Final, NamedTuple, Self

import numpy as np

import dp_bandit_envs
from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.tournament.agent_process import (
    ARMS,
    DONE,
    FAILED,
    GAMES,
    MOST_WORDS,
    OUT_OF_MEMORY,
    READY,
    STEP,
    MessagePipe,
)
from dp_bandit_envs.tournament.hidden_games import KINDS, HiddenGames

MOST_BYTES = 2**20
"""The longest file, which is read into memory."""
MOST_LETTERS = 60
FLAGS: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Nobody waits for a writer to a named pipe."""


class Submission(NamedTuple):
    """A submitted file.

    Attributes:
        player: Its name without the ending, as it is; it chooses the agent's random streams.
        name: The same for readers: printable, short, different from all others.
        file: Its name, printable.
        source: What is in it.
        problem: Why it cannot be read; empty if it can.
    """

    player: str
    name: str
    file: str
    source: bytes
    problem: str = ""


def submissions_in(folder: Path, taken: Iterable[str] = ()) -> list[Submission]:
    """Return the files NAME.py of a folder, by name; names that begin with . or _ are no submissions.

    Raises:
        ValueError: If it is no folder, or there is no such file in it.
    """
    if not folder.is_dir():
        raise ValueError(f"FOLDER must be a folder with one file NAME.py for each agent; received {str(folder)!r}.")
    files = sorted(path for path in folder.iterdir() if path.suffix == ".py" and path.name[0] not in "._")
    if not files:
        raise ValueError(
            f"FOLDER must have one file NAME.py for each agent; there is none in {str(folder)!r}. Files that begin with"
            " . or _ do not count."
        )
    names = different([shown(path.stem)[:MOST_LETTERS] for path in files], taken)
    return [_read(path, name) for path, name in zip(files, names, strict=True)]


def shown(text: str) -> str:
    """Return text on one line, of letters that can be printed; others, and bytes that are no letters, become ?."""
    return "".join(one if one.isprintable() else " " if one.isspace() else "?" for one in text)


def different(names: list[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names with a number behind those that were there before, ignoring case."""
    seen, found = {name.lower() for name in taken}, []
    for name in names:
        new, number = name, 2
        while new.lower() in seen:
            new, number = f"{name} ({number})", number + 1
        seen.add(new.lower())
        found.append(new)
    return found


def _read(path: Path, name: str) -> Submission:
    source, problem = b"", ""
    try:
        if path.is_file():
            with os.fdopen(os.open(path, FLAGS), "rb") as file:
                source = file.read(MOST_BYTES + 1)
        else:
            problem = "cannot be read: it is no regular file"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    if len(source) > MOST_BYTES:
        source, problem = b"", f"is longer than {MOST_BYTES:,} bytes"
    return Submission(path.stem, name, shown(path.name), source, problem)


class Limits(NamedTuple):
    """What an agent may use for all its games: seconds of processor time, and megabytes of memory."""

    seconds: float
    megabytes: int


@dataclasses.dataclass(frozen=True)
class Match:
    """All games of one agent.

    Attributes:
        submission: Whose they are.
        regret: The external regret of each game, shape `(kinds, games)`; None if the agent did not play to the end.
        failure: Why it did not, in words; empty if it did.
        output: What it printed, cut in the middle.
        seconds: How long the agent took, by the clock.
        unlimited: What this system could not limit, in words.
    """

    submission: Submission
    regret: FloatArray | None
    failure: str = ""
    output: str = ""
    seconds: float = 0.0
    unlimited: tuple[str, ...] = ()


BY_THE_CLOCK: Final = 3.0
"""Seconds by the clock for each second of processor time: the machine may be busy."""
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

    def __init__(self, stopped: Event) -> None:
        self._stopped = stopped
        self.late, self.waited = False, 0.0
        self._limit, self._since = SECONDS_TO_START, -1.0
        self._ended = Event()

    def __enter__(self) -> Self:
        self._rooms = contextlib.ExitStack()
        try:
            folder = tempfile.mkdtemp(prefix="dp-bandit-")
            self._rooms.callback(_remove, folder)
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


def _remove(folder: str) -> None:
    """Remove an agent's folder; one that is nested deeper than Python recurses stays, without an error."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)


def referee(submission: Submission, games: HiddenGames, limits: Limits, stopped: Event) -> Match:
    """Play all games with an agent; whatever it does ends in a `Match`, and so does `stopped` when it is set."""
    if submission.problem:
        return Match(submission, None, submission.problem)
    try:
        return _match(submission, games, limits, stopped)
    except OSError as error:
        return Match(submission, None, shown(f"its process could not be started: {error.strerror}"))
    except Exception as error:  # the others play on
        words = f"the referee could not go on: {type(error).__name__}: {error}"
        return Match(submission, None, shown(words[:MOST_WORDS]))


def _match(submission: Submission, games: HiddenGames, limits: Limits, stopped: Event) -> Match:
    unlimited: tuple[str, ...] = ()
    with WatchedProcess(stopped) as process:
        regret, failure = None, ""
        try:
            letter, content = process.ask(GAMES, _announcement(submission, games, limits))
            if letter == READY:
                unlimited = tuple(json.loads(content))
                process.is_ready(BY_THE_CLOCK * limits.seconds)
                regret, failure = _games(process, submission, games)
        except (EOFError, OSError):
            regret, failure = None, _why_it_ended(process, limits)
        process.left_by_itself()  # so that all of its output is there
        return Match(submission, regret, shown(failure[:MOST_WORDS]), process.output, process.waited, unlimited)


def _announcement(submission: Submission, games: HiddenGames, limits: Limits) -> bytes:
    """Return what an agent's process is told: nothing from which gains could be computed."""
    told = {
        "file": submission.file,
        "source": base64.b64encode(submission.source).decode("ascii"),
        "n_arms": games.n_arms,
        "horizon": games.horizon,
        "noise": list(noise_of(games.environment(0))),
        "streams": games.agent_streams(submission.player),
        "global_seed": games.global_seed(submission.player),
        **limits._asdict(),
    }
    return json.dumps(told).encode()


def _games(process: WatchedProcess, submission: Submission, games: HiddenGames) -> tuple[FloatArray | None, str]:
    """Play the games side by side; return the regrets, or why there are none."""
    envs = list(games.begun(submission.player))
    own = games.arms(submission.player)
    letter, content = process.ask()
    for _ in range(games.horizon):
        arms = _arms(letter, content, games) if letter == ARMS else None
        if arms is None:
            return None, _said(letter, content)
        letter, content = process.ask(STEP, _step(envs, arms, own))
    if letter != DONE:
        return None, _said(letter, content)
    regret = np.empty(len(envs))
    for trial, env in zip(games.trials(submission.player), envs, strict=True):
        regret[trial] = env.unwrapped.external_regret()  # type: ignore[attr-defined]
    return regret.reshape(len(KINDS), games.games), ""


def _arms(letter: bytes, content: bytearray, games: HiddenGames) -> IntArray | None:
    """Return the arms of a message, as the agent counts them, or None if they are not one arm for each game."""
    if letter != ARMS or len(content) != 4 * len(KINDS) * games.games:
        return None
    arms: IntArray = np.frombuffer(content, np.int32)
    return arms if arms.min() >= 0 and arms.max() < games.n_arms else None


def _step(envs: list[Environment], arms: IntArray, own: IntArray) -> bytes:
    """Play a round of every game and return what was released: all gains, then which were observed.

    Agents count arms as in `own`, `(games, n_arms)`: its entries are arms of the environment.
    """
    gains = np.empty(own.shape)
    observed = np.empty(own.shape, np.int8)
    played: list[int] = own[np.arange(len(envs)), arms].tolist()
    for game, env in enumerate(envs):
        seen = env.step(played[game])[0]
        gains[game] = seen["gain"]
        observed[game] = seen["observed"]
    released = (np.take_along_axis(values, own, axis=1) for values in (gains, observed))
    return b"".join(values.tobytes() for values in released)


def _said(letter: bytes, content: bytearray) -> str:
    return content.decode(errors="replace") if letter == FAILED else "its process sent something that is no arm"


def _why_it_ended(process: WatchedProcess, limits: Limits) -> str:
    code = process.left_by_itself()
    if process.late:
        return f"gave no answer in {BY_THE_CLOCK * limits.seconds:g} s by the clock"
    if code == -getattr(signal, "SIGXCPU", 0):
        return f"used up its {limits.seconds:g} s of processor time"
    if code == OUT_OF_MEMORY:
        return f"needed more than {limits.megabytes:,} MB of memory"
    if code < 0:
        return f"its process was ended by the signal {_signal(-code)}"
    return f"its process ended in the middle of a game, with exit code {code}"


def _signal(number: int) -> str:
    """Return the name of a signal, or its number: those for real-time use have no names."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
