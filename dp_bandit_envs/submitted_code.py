"""Runs submitted code in a process of its own, for grading; it stops mistakes, and is no sandbox.

A process has a folder of its own with a copy of its file, limits of time, memory, processes and output, and ordinary
calls for processes, networks, machine code and files elsewhere fail. It answers by messages of bytes, of which nothing
is unpickled. It is ended with all that it started.
"""

import contextlib
import ctypes
import errno
import functools
import html
import json
import math
import os
import re
import signal
import site
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from time import monotonic
from types import FrameType, TracebackType
from typing import IO, Any, Final, NamedTuple, NoReturn, Self, TypeVar

import dp_bandit_envs
from dp_bandit_envs import checks

Thing = TypeVar("Thing")
Result = TypeVar("Result")
OUT_OF_MEMORY: Final = 77
"""The exit code of a process that has no memory left to say so."""
MOST_WORDS: Final = 400
"""Characters of a reason that are kept."""
HEAD: Final = struct.Struct("<cI")
LONGEST: Final = 2**26
"""The longest message; a process that announces a longer one talks nonsense."""
JOB: Final = b"J"
"""To a process: what to do, as JSON, with its limits."""
READY: Final = b"R"
"""From a process: it is about to run the file; JSON says which limits are not in force."""
DONE: Final = b"D"
"""From a process: all is done."""
FAILED: Final = b"F"
"""From a process: why it cannot go on, in words."""

NO_SANDBOX: Final = (
    "This is no sandbox: what was handed in runs in processes with your rights. Each finds only a copy of its own file"
    " in its folder, but can look further, and its limits stop mistakes, not attacks. Run files of people you do not"
    " trust on a machine that has nothing else on it."
)
FORMULA: Final = ("=", "+", "-", "@")
"""With these a spreadsheet begins a formula."""

# ---- Files that were handed in ----

MOST_BYTES: Final = 2**20
"""The longest file, which is read into memory."""
MOST_LETTERS: Final = 60


class Submission(NamedTuple):
    """A submitted file: its name without the ending, the same for readers, its name, and what is in it, or a problem.

    `player` is as it is, and chooses an agent's random streams; `name` is printable, short, different from all others.
    """

    player: str
    name: str
    file: str
    source: bytes
    problem: str = ""


def submissions_in(folder: Path, taken: Iterable[str] = ()) -> list[Submission]:
    """Return the files NAME.py of a folder, by name."""
    files = files_in(folder, "*.py", "one file NAME.py for each agent")
    names = different([shown(path.stem)[:MOST_LETTERS] for path in files], taken)
    return [read_submission(path, name) for path, name in zip(files, names, strict=True)]


def files_in(folder: Path, pattern: str, what: str) -> list[Path]:
    """Return what a folder has of a pattern, sorted, but for what is below a name that begins with . or _, or raise."""
    if not folder.is_dir():
        raise ValueError(f"FOLDER must be a folder with {what}; received {str(folder)!r}.")
    paths = sorted(folder.glob(pattern))
    found = [path for path in paths if not any(part[0] in "._" for part in path.relative_to(folder).parts)]
    if not found:
        raise ValueError(
            f"FOLDER must have {what}; there is no file in {str(folder)!r}. Names that begin with . or _ do not count."
        )
    return found


def shown(text: str) -> str:
    """Return text on one line, of letters that can be printed; others, and bytes that are no letters, become ?."""
    return "".join(one if one.isprintable() else " " if one.isspace() else "?" for one in text)


def no_formula(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


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


def read_submission(path: Path, name: str) -> Submission:
    """Return a file of at most `MOST_BYTES`, or why it cannot be read; `name` is for readers."""
    source, problem = b"", ""
    try:
        if path.is_file():
            with path.open("rb") as file:
                source = file.read(MOST_BYTES + 1)
        else:  # a folder, or a named pipe, for whose writer nobody waits
            problem = "cannot be read: it is no regular file"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    if len(source) > MOST_BYTES:
        source, problem = b"", f"is longer than {MOST_BYTES:,} bytes"
    return Submission(path.stem, name, shown(path.name), source, problem)


# ---- The process, from outside ----


class Limits(NamedTuple):
    """What submitted code may use: seconds of processor time, and megabytes of memory."""

    seconds: float
    megabytes: int

    @property
    def by_the_clock(self) -> float:
        """Seconds by the clock: more than of processor time, as the machine may be busy."""
        return 3 * self.seconds


def checked_limits(seconds: float, memory: int, jobs: int) -> tuple[Limits, int]:
    """Return options of the command line, or raise `ValueError` if one leaves its range."""
    limits = Limits(checks.greater_than("seconds", seconds, 0.0), checks.integer("memory", memory, at_least=64))
    return limits, checks.integer("jobs", jobs, at_least=1)


def in_threads(
    work: Callable[[Thing, Event], Result],
    things: Iterable[Thing],
    jobs: int,
    progress: Callable[[Result], None] | None,
) -> list[Result]:
    """Do some work with each thing, `jobs` at a time; an interrupt sets the event, and waits until all have stopped."""
    stopped = Event()
    with ThreadPoolExecutor(jobs) as threads:
        try:
            futures = [threads.submit(work, thing, stopped) for thing in things]
            for future in as_completed(futures):
                if progress is not None:
                    progress(future.result())
        except BaseException:
            stopped.set()
            threads.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


class MessagePipe:
    """Sends and receives whole messages over two files."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader, self._writer = reader, writer

    def send(self, letter: bytes, content: bytes = b"") -> None:
        """Send a message, or raise `OSError` if nobody is at the other end."""
        self._writer.write(HEAD.pack(letter, len(content)) + content)
        self._writer.flush()

    def receive(self) -> tuple[bytes, bytes]:
        """Return letter and content of the next message, or raise `EOFError` if nobody sends one."""
        head = self._reader.read(HEAD.size)
        letter, length = HEAD.unpack(head) if len(head) == HEAD.size else (b"", LONGEST + 1)
        content = self._reader.read(length) if length <= LONGEST else b""
        if len(content) < length:
            raise EOFError
        return letter, content


SECONDS_TO_START, SECONDS_TO_END = 120.0, 5.0
"""The most seconds until Python and this package are loaded, and until all processes of a submission are ended."""
OUTPUT_KEPT: Final = 1000
"""Characters that are kept of the beginning and of the end of what is printed."""
INHERITED: Final = ("PYTHONPATH", "PYTHONNOUSERSITE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables without which Python may not start; all others may be secrets."""
THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PROGRAM: Final = "import sys; sys.path.append(sys.argv.pop()); from dp_bandit_envs.{} import {} as it; it.main()"


class WatchedProcess:
    """A process with a submission's file in a folder of its own; it is ended, with all it started, with its context.

    Args:
        room, module: Where its function `main` is, which calls `serve`.
        submission: The file of which it has a copy.
        limits: What it may use.
        stopped: Set when nobody wants its answers any more; it is then ended.
    """

    def __init__(self, room: str, module: str, submission: Submission, limits: Limits, stopped: Event) -> None:
        self._program = PROGRAM.format(room, module)
        self.job = {"file": submission.file, "seconds": limits.seconds, "megabytes": limits.megabytes}
        self._submission, self._limits, self._stopped = submission, limits, stopped
        self.late, self.waited = False, 0.0
        self._limit, self._since = SECONDS_TO_START, -1.0
        self._ended = Event()

    def __enter__(self) -> Self:
        self._rooms = contextlib.ExitStack()
        try:
            own = tempfile.TemporaryDirectory(prefix="dp-bandit-", ignore_cleanup_errors=True)
            folder = self._rooms.enter_context(own)
            (Path(folder) / self._submission.file).write_bytes(self._submission.source)
            self._output = self._rooms.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", self._program, str(Path(dp_bandit_envs.__file__).resolve().parents[1])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._output,
                cwd=folder,
                env=_environment(folder),
                start_new_session=True,
            )
            assert self._process.stdout is not None and self._process.stdin is not None
            self._pipe = MessagePipe(self._process.stdout, self._process.stdin)
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

    def is_ready(self) -> None:
        """Count from now on how long it is waited for; its limit by the clock is in force."""
        self.waited, self._limit = 0.0, self._limits.by_the_clock

    def ask(self, letter: bytes = b"", content: bytes = b"") -> tuple[bytes, bytes]:
        """Send a message, if one is given, and return the next answer; raise `EOFError` or `OSError` if none comes."""
        self._since = began = monotonic()
        try:
            if letter:
                self._pipe.send(letter, content)
            return self._pipe.receive()
        finally:
            self._since = -1.0
            self.waited += monotonic() - began

    def end(self) -> int:
        """End the process and all that it started at once, and return its exit code."""
        if sys.platform == "linux":
            self._process.terminate()  # its keeper then ends what left its group, too
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(SECONDS_TO_END)
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
    def why_it_ended(self) -> str:
        """Why there is no answer, in words."""
        code, limits = self.left_by_itself(), self._limits
        if self.late:
            return f"gave no answer in {limits.by_the_clock:g} s by the clock"
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"used up its {limits.seconds:g} s of processor time"
        if code == OUT_OF_MEMORY:
            return f"needed more than {limits.megabytes:,} MB of memory"
        if code < 0:
            return f"its process was ended by signal {-code} ({signal.strsignal(-code)})"
        return f"its process ended in the middle of its work, with exit code {code}"

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


def _environment(folder: str) -> dict[str, str]:
    """Return the environment of a submission's process."""
    base = site.getuserbase()
    own = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONHASHSEED": "0"}
    return {
        **{name: os.environ[name] for name in INHERITED if name in os.environ},
        **dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), folder),
        **dict.fromkeys(THREADS, "1"),
        **({"PYTHONUSERBASE": base} if base else {}),
        **own,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Ran(NamedTuple):
    """What came of a process: why it ended before its work, what it printed, how long it took, and missing limits."""

    failure: str = ""
    output: str = ""
    seconds: float = 0.0
    unlimited: tuple[str, ...] = ()


def run(process: WatchedProcess, job: dict[str, Any], talk: Callable[[], tuple[bytes, bytes]]) -> Ran:
    """Give a process its job; `talk` returns the last message of what follows. A failure of the process is no error."""
    unlimited: tuple[str, ...] = ()
    try:
        with process:
            try:
                letter, content = process.ask(JOB, json.dumps({**job, **process.job}).encode())
                if letter == READY:
                    unlimited = tuple(json.loads(content))
                    process.is_ready()
                    letter, content = talk()
                failure = content.decode(errors="replace") if letter == FAILED else "" if letter == DONE else NONSENSE
            except (EOFError, OSError):
                failure = process.why_it_ended
            except ValueError:
                failure = NONSENSE
            process.left_by_itself()  # so that all of its output is there
            return Ran(shown(failure[:MOST_WORDS]), process.output, process.waited, unlimited)
    except OSError as error:
        return Ran(shown(f"its process could not be started: {error.strerror}"))


NONSENSE: Final = "its process sent something that is no answer"


# ---- The process, from inside ----


def serve(work: Callable[[MessagePipe], None]) -> NoReturn:
    """Do some work with a pipe over standard input and output; what submitted code prints goes to standard error."""
    _become_a_kept_child()
    code = 0
    try:
        work(_moved_away())
    except (EOFError, BrokenPipeError):
        code = 1  # nobody waits for answers
    # At once: no thread, no exit handler and no buffer of the code's keeps the process.
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def do_job(prepare: Callable[[dict[str, Any]], Callable[[MessagePipe], None]]) -> NoReturn:
    """Receive a job, prepare for it without limits, do the work that `prepare` returns within them, and say so."""

    def work(pipe: MessagePipe) -> None:
        job: dict[str, Any] = json.loads(pipe.receive()[1])
        do = prepare(job)
        pipe.send(READY, json.dumps(set_limits(job["seconds"], job["megabytes"])).encode())
        try:
            do(pipe)
            pipe.send(DONE)
        except BaseException as error:
            fail(pipe, error, job["file"], job["megabytes"])

    serve(work)


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def _become_a_kept_child() -> None:
    """Go on in a child of this process, which ends whatever the child leaves behind, in groups of its own too.

    Only Linux gives orphans to a chosen process; elsewhere nothing happens here.
    """
    if sys.platform != "linux":
        return
    prctl = ctypes.CDLL(None).prctl
    if prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        return
    child = os.fork()
    if not child:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        return
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    os.close(0)
    os.close(1)
    ended = code = None
    while ended != child:
        ended, code = os.wait()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with contextlib.suppress(ChildProcessError):
        while True:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                _kill_children()
                time.sleep(0.01)
    code = os.waitstatus_to_exitcode(code or 0)
    if code < 0:  # end as the child did
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _kill_children() -> None:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[1]
            if int(parent) == os.getpid():
                os.kill(int(folder.name), signal.SIGKILL)


def fail(pipe: MessagePipe, error: BaseException, file: str, megabytes: int) -> None:
    """Send in one clause why the work ended, also when no memory is left, and print the traceback."""
    if isinstance(error, MemoryError):
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource

            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        try:
            pipe.send(FAILED, f"needed more than {megabytes:,} MB of memory".encode())
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        return
    if isinstance(error, (EOFError, BrokenPipeError)) and not lines_in(error, file):
        raise error
    words = words_of(error, file)
    with contextlib.suppress(BaseException):
        traceback.print_exception(error)
    pipe.send(FAILED, words.encode(errors="replace"))


class SubmissionError(Exception):
    """A file is not what was asked for; the message is one sentence with its name."""


def words_of(error: BaseException, file: str) -> str:
    """Say in one clause why submitted code cannot go on, with the line of its file."""
    if isinstance(error, SubmissionError):
        return str(error)
    lines = lines_in(error, file)
    where = f" in line {lines[-1].lineno}" if lines else ""
    if lines and lines[-1].name != "<module>":
        where += f" ({lines[-1].name})"
    if isinstance(error, SystemExit):
        return f"called sys.exit{where}; it has to go on to the end"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return f"printed more than {MOST_WRITTEN:,} characters, or wrote as large a file"
    said = str(error)
    notes = "".join(getattr(error, "__notes__", ()))
    return f"stopped with {type(error).__name__}{where}{': ' if said else ''}{said}{notes}"


def lines_in(error: BaseException, file: str) -> list[traceback.FrameSummary]:
    """Return the places in the submitted file through which an error came."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]


def _moved_away() -> MessagePipe:
    """Return a pipe over what was standard input and output, which ordinary `print` and `input` do not reach."""
    reader, writer = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return MessagePipe(os.fdopen(reader, "rb"), os.fdopen(writer, "wb"))


MOST_WRITTEN: Final = 10**6
"""Bytes that submitted code may print, and write into one file."""
MEGABYTE: Final = 2**20
PROCESSES: Final = re.compile(
    r"os\.(exec|fork|forkpty|kill|killpg|posix_spawn|spawn|startfile|system)|pty\.spawn|subprocess\.Popen"
)
NETWORK: Final = re.compile(r"socket\.(bind|connect|getaddrinfo|gethostbyname|sendmsg|sendto)")
CHANGES: Final = re.compile(r"os\.(chmod|chown|link|mkdir|remove|rename|rmdir|symlink|truncate)")
WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
SPARE_PROCESSES: Final = 256
"""How many processes and threads its user may have beyond those of now."""


class ForbiddenError(RuntimeError):
    """Submitted code did what it must not do."""


class ForbiddenFileError(ForbiddenError, PermissionError):
    """The same with a file that is not its own; for libraries, an error of the system."""


def set_limits(seconds: float, megabytes: int) -> list[str]:
    """Limit this process from now on, beyond what it has used; return in words what this system cannot limit."""
    sys.addaudithook(functools.partial(refuse_event, own=os.getcwd()))
    try:
        import resource
    except ImportError:
        return ["processor time", "memory", "processes", "what is written to files"]
    missing = []
    most = math.ceil(time.process_time() + seconds)
    _lower(resource, resource.RLIMIT_CPU, most, most + 1)
    _lower(resource, resource.RLIMIT_FSIZE, MOST_WRITTEN)
    _lower(resource, resource.RLIMIT_CORE, 0)
    used = _address_space()
    if used is None:
        missing.append("memory")
    else:
        # Not the hard limit: whoever is out of memory still has to say so.
        _lower(resource, resource.RLIMIT_AS, used + megabytes * MEGABYTE, None)
    running = _running()
    if running is None or os.geteuid() == 0:  # nothing limits root
        missing.append("processes")
    else:
        _lower(resource, resource.RLIMIT_NPROC, running + SPARE_PROCESSES)
    return missing


def _running() -> int | None:
    """Return how many processes and threads this user has; None where the system does not say."""
    number = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            number += len(os.listdir(folder / "task")) if folder.stat().st_uid == os.getuid() else 0
    return number or None


def _lower(resource: Any, kind: int, soft: int, hard: int | None = -1) -> None:
    """Lower a limit; `hard` is None to leave the hard one, and by default the same as `soft`."""
    old = resource.getrlimit(kind)[1]
    new = old if hard is None else soft if hard == -1 else hard
    if old != resource.RLIM_INFINITY:
        soft, new = min(soft, old), old if new == resource.RLIM_INFINITY else min(new, old)
    resource.setrlimit(kind, (soft, new))


def _address_space() -> int | None:
    """Return the bytes of address space of this process; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def refuse_event(event: str, arguments: tuple[Any, ...], own: str = os.sep) -> None:
    """Raise `ForbiddenError` for what submitted code must not do; an audit hook of Python.

    It must not start or end processes, use a network, call machine code by ctypes from its own lines, or change a file
    that is not below the folder `own`. This stops mistakes; code that means to can get around it.
    """
    if PROCESSES.fullmatch(event):
        raise ForbiddenError(f"submitted code must not start or end processes ({event})")
    if NETWORK.fullmatch(event):
        raise ForbiddenError(f"submitted code must not use a network ({event})")
    if event.startswith("ctypes.") and _is_own(sys._getframe(1), own):
        raise ForbiddenError(f"submitted code must not use ctypes ({event})")
    if CHANGES.fullmatch(event) or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES):
        for name in arguments[: 1 if event == "open" else 2]:
            if isinstance(name, (str, bytes)):
                path = os.path.realpath(os.fsdecode(name))
                if not path.startswith((own + os.sep, "/dev/")):
                    raise ForbiddenFileError(f"submitted code must not change files outside of its folder ({event})")


def _is_own(frame: FrameType | None, own: str) -> bool:
    """Return whether the first frame that is not of ctypes is of submitted code: a name of no file, or one below."""
    while frame is not None:
        name = frame.f_code.co_filename
        if "ctypes" not in name and not name.startswith("<frozen"):
            return not os.path.isabs(name) or name.startswith(own + os.sep)
        frame = frame.f_back
    return False


# ---- What is written about them ----

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2430; --paper: #fdfdfb; --faint: #5b6575; --line: #d9dce3;
  --bar: #2b6cb0; --other: #9aa5b5; --chance: #c2410c; --yes: #1f7a4a; --no: #b45309; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ec; --paper: #14171c; --faint: #9aa3b2; --line: #323843; --bar: #63a4e8; --other: #6b7586;
    --chance: #f59e66; --yes: #5fc794; --no: #f0a35e; }
}
body { margin: 0 auto; max-width: 60rem; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; color: var(--faint); font-size: .85rem; }
th, td { padding: .4rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; }
.wide { overflow-x: auto; font-size: .9rem; } .wide td:first-child { min-width: 8rem; }
small { display: block; color: var(--faint); }
.note { color: var(--faint); font-size: .9rem; } li { margin: .3rem 0; }
"""


def html_page(title: str, parts: Iterable[str], style: str = "") -> str:
    """Return a page of parts that are HTML; that this is no sandbox stands first."""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{title}</title><style>{STYLE}{style}</style></head>\n<body>\n"
        + "\n".join([f"<p><strong>{html.escape(NO_SANDBOX)}</strong></p><h1>{title}</h1>", *parts])
        + f"\n<p class='note'>Made by dp-bandit-envs {dp_bandit_envs.__version__}.</p>\n</body></html>\n"
    )


def html_list(lines: Iterable[str], kind: str = "") -> str:
    """Return a list of lines of text."""
    return f"<ul class='{kind}'>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


def scrolling_table(head: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table of cells and rows that are HTML, which scrolls where it is too wide."""
    return f"<div class='wide'><table><tr>{''.join(head)}</tr>{''.join(rows)}</table></div>"
