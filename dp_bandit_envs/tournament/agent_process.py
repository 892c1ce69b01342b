"""The process of one agent: its limits, its file, and all of its games side by side, with released observations only.

The referee at the other end of the pipe has the games; nothing here knows a seed or a gain, and nothing is unpickled.
The limits stop mistakes: ordinary calls for processes and networks fail, but this is no sandbox.
"""

import base64
import contextlib
import errno
import importlib
import inspect
import io
import json
import linecache
import math
import operator
import os
import random
import reprlib
import struct
import sys
import time
import traceback
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from dp_bandit_envs.draws import Stream
from dp_bandit_envs.privacy.facts import Noise
from dp_bandit_envs.protocols import Agent

OUT_OF_MEMORY: Final = 77
"""The exit code of a process that has no memory left to say so."""
MOST_WORDS: Final = 400
"""Characters of a reason that are kept."""
HEAD: Final = struct.Struct("<cI")
LONGEST: Final = 2**26
"""The longest message; an agent's process that announces a longer one talks nonsense."""

GAMES: Final = b"G"
"""To the agent: its file, and how many games of what size there are, as JSON."""
STEP: Final = b"S"
"""To the agent: what was released in one round of all games: gains, then which were observed."""
READY: Final = b"R"
"""From the agent: it is about to load the file; JSON says which limits are not in force."""
ARMS: Final = b"A"
"""From the agent: the arm to play in each game, as int32."""
DONE: Final = b"D"
"""From the agent: the last round of all games is learnt."""
FAILED: Final = b"F"
"""From the agent: why it cannot go on, in words."""


class MessagePipe:
    """Sends and receives whole messages over two unbuffered files."""

    def __init__(self, reader: io.FileIO, writer: io.FileIO) -> None:
        self._reader, self._writer = reader, writer

    def send(self, letter: bytes, content: bytes = b"") -> None:
        """Send a message.

        Raises:
            OSError: If nobody is at the other end.
        """
        left = memoryview(HEAD.pack(letter, len(content)) + content)
        while left:
            left = left[self._writer.write(left) or 0 :]

    def receive(self) -> tuple[bytes, bytearray]:
        """Return the letter and the content of the next message.

        Raises:
            EOFError: If nobody is at the other end, or it sends something else.
        """
        letter, length = HEAD.unpack(self._read(HEAD.size))
        if length > LONGEST:
            raise EOFError
        return letter, self._read(length)

    def _read(self, length: int) -> bytearray:
        content = bytearray(length)
        left = memoryview(content)
        while left:
            number = self._reader.readinto(left)
            if not number:
                raise EOFError
            left = left[number:]
        return content


def main() -> NoReturn:
    """Play what standard input brings, answer on standard output; what the agent prints goes to standard error."""
    pipe = _moved_away()
    code = 0
    try:
        _play(pipe, json.loads(pipe.receive()[1]))
    except (EOFError, BrokenPipeError):
        code = 1  # the referee is gone
    # At once: no thread, no exit handler and no buffer of the agent's keeps the process.
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _moved_away() -> MessagePipe:
    """Return a pipe over what was standard input and output, which the agent's own `print` and `input` do not reach."""
    reader, writer = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return MessagePipe(io.FileIO(reader, "rb"), io.FileIO(writer, "wb"))


def _play(pipe: MessagePipe, games: dict[str, Any]) -> None:
    file = games["file"]
    random.seed(games["global_seed"])
    np.random.seed(games["global_seed"])  # noqa: NPY002 (agents may use it)
    unlimited = set_limits(games["seconds"], games["megabytes"])
    pipe.send(READY, json.dumps(unlimited).encode())
    agents: list[Any] = []
    try:
        make = load_maker(base64.b64decode(games["source"]), file)
        noise = Noise(*games["noise"])
        for state in games["streams"]:
            agents.append(make())
            _begin(agents[-1], games["n_arms"], games["horizon"], noise, _stream(state))
        _rounds(pipe, agents, games["n_arms"], games["horizon"])
    except MemoryError:
        agents.clear()
        free_memory_limit()
        try:
            words = f"needed more than {games['megabytes']:,} MB of memory"
            pipe.send(FAILED, words.encode())
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
    except BaseException as error:
        if isinstance(error, (EOFError, BrokenPipeError)) and not _lines_in(error, file):
            raise
        words = _words(error, file)
        with contextlib.suppress(BaseException):
            traceback.print_exception(error)
        pipe.send(FAILED, words.encode(errors="replace"))


def _stream(state: list[int]) -> Stream:
    bits: Any = np.random.SFC64(0)
    bits.state = {**bits.state, "state": {"state": np.array(state, np.uint64)}}
    return Stream(bits)


def _begin(agent: Any, n_arms: int, horizon: int, noise: Noise, rng: Stream) -> None:
    """Begin a game in the same order as `play`."""
    see_noise = getattr(agent, "see_noise", None)
    if see_noise is not None:
        see_noise(noise)
    see_features = getattr(agent, "see_features", None)
    if see_features is not None:
        see_features(None)
    agent.begin(n_arms=n_arms, horizon=horizon, rng=rng)


def _rounds(pipe: MessagePipe, agents: list[Any], n_arms: int, horizon: int) -> None:
    number = len(agents)
    size = number * n_arms
    select: list[Callable[[], Any]] = [agent.select_arm for agent in agents]
    arms = [_arm(one(), n_arms) for one in select]
    for left in range(horizon - 1, -1, -1):
        pipe.send(ARMS, np.array(arms, np.int32).tobytes())
        content = pipe.receive()[1]
        gains = np.frombuffer(content, np.float64, size).reshape(number, n_arms)
        observed = np.frombuffer(content, np.int8, size, 8 * size).reshape(number, n_arms)
        for game, agent in enumerate(agents):
            agent.update(arms[game], {"gain": gains[game], "observed": observed[game]})
            if left:
                arm = select[game]()
                arms[game] = arm if type(arm) is int and 0 <= arm < n_arms else _arm(arm, n_arms)
    pipe.send(DONE)


def _arm(value: Any, n_arms: int) -> int:
    """Return a value as an arm, or raise if it is none."""
    with contextlib.suppress(TypeError):
        arm = operator.index(value)
        if 0 <= arm < n_arms:
            return arm
    raise SubmissionError(f"select_arm must return an arm, an integer in [0, {n_arms - 1}]; it returned {_repr(value)}")


def _words(error: BaseException, file: str) -> str:
    """Say in one clause why an agent cannot go on; what it says of itself is cut."""
    if isinstance(error, SubmissionError):
        return str(error)
    lines = _lines_in(error, file)
    where = f" in line {lines[-1].lineno}" if lines else ""
    if lines and lines[-1].name != "<module>":
        where += f" ({lines[-1].name})"
    if isinstance(error, SystemExit):
        return f"called sys.exit{where}; an agent plays to the end of its games"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return f"printed more than {MOST_WRITTEN:,} characters, or wrote as large a file"
    try:
        said = str(error)
    except BaseException:
        said = ""
    if isinstance(error, KeyError) and lines and error.args and error.args[0] not in ("gain", "observed"):
        said += "; an observation has 'gain' and 'observed'"
    return f"stopped with {type(error).__name__}{where}{': ' if said else ''}{said}"


def _lines_in(error: BaseException, file: str) -> list[traceback.FrameSummary]:
    """Return the places in the agent's file through which an error came."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]


def _repr(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except Exception:
        return f"a {type(value).__name__}"


MODULE: Final = "submission"
"""The name under which a file is loaded, whatever its own: one called numpy.py hides nothing."""
METHODS: Final = ("begin", "select_arm", "update")
MAKER: Final = "make_agent"


class SubmissionError(Exception):
    """A file has no agent, or more than one, or no Python; the message is one sentence with its name."""


def load_maker(source: bytes, file: str) -> Callable[[], Any]:
    """Run a file and return what makes a new agent.

    Raises:
        SubmissionError: If it is no Python, or has not exactly one agent.
        BaseException: Whatever the file itself raises.
    """
    try:
        code = compile(source, file, "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise SubmissionError(f"{file} must be Python; {where}{error.msg}.") from None
    except ValueError as error:
        raise SubmissionError(f"{file} must be Python; {error}.") from None
    text = source.decode(errors="replace")
    # Error messages and inspect.getsource then know the lines.
    linecache.cache[file] = (len(source), None, text.splitlines(keepends=True), file)
    module = types.ModuleType(MODULE)
    module.__file__ = file
    sys.modules[MODULE] = module
    exec(code, vars(module))
    return _maker(vars(module), file)


def _maker(names: dict[str, Any], file: str) -> Callable[[], Any]:
    given = names.get(MAKER)
    if given is not None:
        if not callable(given):
            raise SubmissionError(f"{file}: {MAKER} must be a function that returns a new agent.")
        return _checked(given, MAKER, file)
    # By class: an agent with two names is one agent.
    classes = {value: name for name, value in names.items() if not name.startswith("_") and _is_agent(value)}
    agents = list(classes.values())
    if not agents:
        raise SubmissionError(
            f"{file} must have one agent and has none: write one class with {', '.join(METHODS[:-1])} and"
            f" {METHODS[-1]}, or a function {MAKER}() that returns a new agent."
        )
    if len(agents) > 1:
        raise SubmissionError(
            f"{file} must have one agent and has {len(agents)}: {', '.join(agents)}. Begin the other names with _, or"
            f" write a function {MAKER}() that returns a new agent."
        )
    return _checked(next(iter(classes)), agents[0], file)


def _is_agent(value: Any) -> bool:
    """Whether a value is a class of an agent that the file itself defines."""
    if not inspect.isclass(value) or value.__module__ != MODULE or inspect.isabstract(value):
        return False
    return Agent in value.__mro__ or all(callable(getattr(value, method, None)) for method in METHODS)


def _checked(make: Callable[[], Any], name: str, file: str) -> Callable[[], Any]:
    """Return a function that makes an agent and looks for its methods; those of the class `Agent` do nothing."""
    made: dict[int, Any] = {}

    def checked() -> Any:
        agent = make()
        if id(agent) in made:
            raise SubmissionError(
                f"{file}: {name}() must return a new agent at every call, one for each game; it returned the same one"
                " twice."
            )
        made[id(agent)] = agent  # kept, so that no other object gets its id
        kind = type(agent)
        missing = [
            method
            for method in METHODS
            if not callable(getattr(agent, method, None)) or getattr(kind, method, None) is getattr(Agent, method)
        ]
        if missing:
            what = f"the {kind.__name__} that {MAKER}() returns" if name == MAKER else name
            raise SubmissionError(
                f"{file}: an agent must have {', '.join(METHODS[:-1])} and {METHODS[-1]}; {what} has no"
                f" {' and no '.join(missing)}."
            )
        return agent

    return checked


MOST_WRITTEN: Final = 10**6
"""Bytes that an agent may print, and write into one file."""
MEGABYTE: Final = 2**20
PROCESSES: Final = (
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.kill",
    "os.killpg",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
    "subprocess.Popen",
)
NETWORK: Final = (
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendmsg",
    "socket.sendto",
)
UNAUDITED: Final = (("_posixsubprocess", "fork_exec"), ("signal", "pidfd_send_signal"))
"""Modules and functions for processes of which Python tells no audit hook."""


class ForbiddenError(RuntimeError):
    """An agent did what agents must not do."""


def set_limits(seconds: float, megabytes: int) -> list[str]:
    """Limit this process from now on; return in words what this system cannot limit.

    Args:
        seconds: Processor time, beyond what is used already.
        megabytes: Memory, beyond what is used already.
    """
    sys.addaudithook(refuse_event)
    for module, function in UNAUDITED:
        _refuse_function(module, function)
    try:
        import resource
    except ImportError:
        return ["processor time", "memory", "what is written to files"]
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
    return missing


def free_memory_limit() -> None:
    """Lift the limit of memory, for the last words of a process that has reached it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


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


def _refuse_function(module: str, function: str) -> None:
    """Let a function raise in this process from now on, where there is one."""
    event = f"{module}.{function}"

    def refused(*_: Any, **__: Any) -> None:
        refuse_event(event, (), processes=(event,))

    with contextlib.suppress(ImportError):
        place = importlib.import_module(module)
        if hasattr(place, function):
            setattr(place, function, refused)


def refuse_event(
    event: str,
    arguments: tuple[Any, ...],
    processes: Sequence[str] = PROCESSES,
    network: Sequence[str] = NETWORK,
    error: type[Exception] = ForbiddenError,
) -> None:
    """Raise for what agents must not do; an audit hook of Python.

    This stops mistakes; code that means to can get around it. What is refused stands in the defaults, so that an agent
    which changes this module changes nothing.

    Raises:
        ForbiddenError: If it starts or ends a process, or uses a network.
    """
    if event in processes:
        raise error(f"agents must not start or end processes ({event})")
    if event in network:
        raise error(f"agents must not use a network ({event})")
