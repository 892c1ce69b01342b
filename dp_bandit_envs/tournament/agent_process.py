"""The process of one agent: its limits, its file, and all of its games side by side, with released observations only.

The referee at the other end of the pipe has the games; nothing here knows a seed or a gain, and nothing is unpickled.
"""

import contextlib
import inspect
import linecache
import operator
import random
import reprlib
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from dp_bandit_envs.draws import Stream
from dp_bandit_envs.privacy.facts import Noise
from dp_bandit_envs.protocols import Agent
from dp_bandit_envs.submitted_code import MessagePipe, SubmissionError, do_job, lines_in

STEP: Final = b"S"
"""To the agent: what was released in one round of all games: gains, then which were observed."""
ARMS: Final = b"A"
"""From the agent: the arm to play in each game, as int32."""


def main() -> NoReturn:
    """Play what standard input brings, and answer on standard output."""
    do_job(_prepared)


def _prepared(games: dict[str, Any]) -> Callable[[MessagePipe], None]:
    file, agents = games["file"], list[Any]()
    random.seed(games["global_seed"])
    np.random.seed(games["global_seed"])  # noqa: NPY002 (agents may use it)

    def play(pipe: MessagePipe) -> None:
        try:
            make = load_maker(Path(file).read_bytes(), file)
            for state in games["streams"]:
                agents.append(make())
                _begin(agents[-1], games["n_arms"], games["horizon"], Noise(*games["noise"]), _stream(state))
            _rounds(pipe, agents, games["n_arms"], games["horizon"])
        except MemoryError:
            agents.clear()
            raise
        except KeyError as error:
            if lines_in(error, file) and error.args[:1] not in (("gain",), ("observed",)):
                error.add_note("; an observation has 'gain' and 'observed'")
            raise

    return play


def _stream(state: list[int]) -> Stream:
    bits: Any = np.random.SFC64(0)
    bits.state = {**bits.state, "state": {"state": np.array(state, np.uint64)}}
    return Stream(bits)


def _begin(agent: Any, n_arms: int, horizon: int, noise: Noise, rng: Stream) -> None:
    """Begin a game in the same order as `play`."""
    for see, what in (("see_noise", noise), ("see_features", None)):
        if (look := getattr(agent, see, None)) is not None:
            look(what)
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


def _arm(value: Any, n_arms: int) -> int:
    """Return a value as an arm, or raise if it is none."""
    with contextlib.suppress(TypeError):
        arm = operator.index(value)
        if 0 <= arm < n_arms:
            return arm
    raise SubmissionError(
        f"select_arm must return an arm, an integer in [0, {n_arms - 1}]; it returned {reprlib.repr(value)}"
    )


MODULE: Final = "submission"
"""The name under which a file is loaded, whatever its own: one called numpy.py hides nothing."""
METHODS: Final = ("begin", "select_arm", "update")
NEEDED: Final = "begin, select_arm and update"
MAKER: Final = "make_agent"


def load_maker(source: bytes, file: str) -> Callable[[], Any]:
    """Run a file and return what makes a new agent; raise if it is no Python, or has not exactly one agent."""
    try:
        code = compile(source, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        raise SubmissionError(f"{file} must be Python; {where}{getattr(error, 'msg', error)}.") from None
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
    if len(classes) == 1:
        return _checked(*classes.popitem(), file)
    hint = f"or write a function {MAKER}() that returns a new agent."
    if not classes:
        raise SubmissionError(f"{file} must have one agent and has none: write one class with {NEEDED}, {hint}")
    raise SubmissionError(
        f"{file} must have one agent and has {len(classes)}: {', '.join(classes.values())}. Begin the other names with"
        f" _, {hint}"
    )


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
            raise SubmissionError(f"{file}: an agent must have {NEEDED}; {what} has no {' and no '.join(missing)}.")
        return agent

    return checked
