"""The process of one agent: loads its file, then plays all games side by side, seeing released observations only."""

import base64
import contextlib
import errno
import io
import json
import operator
import os
import random
import reprlib
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final, NoReturn

import numpy as np

from dp_bandit_envs.draws import Stream
from dp_bandit_envs.privacy.facts import Noise
from dp_bandit_envs.tournament import process_limits
from dp_bandit_envs.tournament.agent_source import SubmissionError, load_maker
from dp_bandit_envs.tournament.message_pipe import ARMS, DONE, FAILED, READY, MessagePipe

OUT_OF_MEMORY: Final = 77
"""The exit code of a process that has no memory left to say so."""
MOST_WORDS: Final = 400
"""Characters of a reason that are kept."""


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
    unlimited = process_limits.set_limits(games["seconds"], games["megabytes"])
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
        process_limits.free_memory_limit()
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
        return f"printed more than {process_limits.MOST_WRITTEN:,} characters, or wrote as large a file"
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
