"""Calls the compiled loop from Python, passing only numbers, arrays and plain tuples through Numba.

Numba's handling of other objects crashes on Ctrl-C and leaks memory. To return a NamedTuple it calls the class; when a
pending KeyboardInterrupt makes such a call fail, it continues with a null pointer. Random streams are passed as
addresses: machine code steps the words of NumPy's own SFC64, which costs a fifth of a call of NumPy's function.
"""

from collections.abc import Callable, Mapping
from typing import Any

from dp_bandit_envs.compiling.compiled import compile_with
from dp_bandit_envs.compiling.functions import plain_tuple, stream_address, streams_at
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation.play_block import Progress, Record, Rules, Streams, play_block
from dp_bandit_envs.specialise import specialise


class Entry:
    """The compiled loop of one algorithm, called like `play_block`.

    Args:
        parts: The functions that replace the stages of `play_block`, by name.
    """

    def __init__(self, parts: Mapping[str, Callable[..., Any]]) -> None:
        self._compiled = compile_with(enter, {"play_block": loop_of(parts)})

    @property
    def foreign(self) -> list[Callable[..., Any]]:
        """The functions in it that are somebody else's."""
        return self._compiled.foreign

    @property
    def ready(self) -> bool:
        """Whether it has been compiled or loaded here."""
        return self._compiled.ready

    def __call__(
        self,
        state: Any,
        states: Any,
        graph: Any,
        gains: FloatArray,
        rules: Rules,
        streams: Streams,
        progress: Progress,
        record: Record,
    ) -> Any:
        """Play one round for each row of `gains`; the first call for each signature compiles."""
        generators = tuple(map(stream_address, streams))
        returned = self._compiled(state, states, graph, gains, rules, generators, progress, record)
        return _named(state, returned)


def loop_of(parts: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """Return `play_block` with these functions in place of its placeholders."""
    loop: Callable[..., Any] = play_block
    for name, part in parts.items():
        loop = specialise(loop, name, part)
    return loop


def enter(
    state: Any,
    states: Any,
    graph: Any,
    gains: FloatArray,
    rules: Rules,
    generators: tuple[int, ...],
    progress: Progress,
    record: Record,
) -> Any:
    """Play a block with the generators at the given addresses; return the state as plain tuples. Runs only compiled."""
    streams = streams_at(generators)
    return plain_tuple(play_block(state, states, graph, gains, rules, streams, progress, record))


def _named(like: Any, value: Any) -> Any:
    """Convert plain tuples back to the NamedTuples of `like`."""
    if not isinstance(like, tuple):
        return value
    parts = map(_named, like, value)
    return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)
