"""Adversaries that draw their gains a round at a time, by one plain function for every way of playing.

A block of gains is filled in Python while there is little to draw, then compiled. Machine code draws a few hundred
times faster, but costs seconds before its first number. So a process draws in Python until that has taken about as long
as machine code would take to get, as one rents skis until the rent has reached their price: that is never much more
than twice the best. The numbers are the same.
"""

import abc
import functools
import math
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar, Final, Self

import numpy as np

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.compiling.compiled import Compiled, in_background, obstacle
from dp_bandit_envs.compiling.functions import bind, draws_elsewhere, put_back, stream_address, stream_at
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.optional import installed
from dp_bandit_envs.protocols import FloatArray

SECONDS_TO_IMPORT: Final = 0.5
SECONDS_TO_COMPILE: Final = 0.05
"""Between loading machine code from disk, 0.01 s, and compiling it, 0.2 to 0.6 s."""
GAINS_AT_ONCE: Final = 2**13
"""The number of gains that are drawn in Python before the price is asked again."""


class RoundByRound(Adversary):
    """An adversary with a plain function of one round, which `next_gains` and compiled games call.

    Attributes:
        next_round: A static method, `next_round(state, t, row, rng)`, that writes the gains of round t, from 1, into
            `row`, of shape `(n_arms,)`. It draws single numbers from `rng`, round by round, and changes arrays of the
            state only in place. So that many games can be played in vector registers, it has no early return and no
            loop but those over arms, and its conditions and indices depend on t, on arms and on constants of the state,
            not on gains or draws.
    """

    next_round: ClassVar[Callable[..., None]]
    _state: Any

    @abc.abstractmethod
    def first_round_state(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the state before round 1, a tuple or NamedTuple of arrays (float64 or int64) and of constants.

        Arrays are new ones if rounds change them; what differs between games is in arrays. It may draw from `rng`.
        """

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._rng = rng
        self._state = self.first_round_state(rng)
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        gains = np.empty((rounds, self.n_arms))
        self._draw(type(self).next_round, gains)
        return gains

    def fill(self, gains: FloatArray, *, check: bool = False) -> None:
        """Write the gains of the next `len(gains)` rounds into `gains`, an array of shape `(rounds, n_arms)`."""
        if not self.has_methods_of(RoundByRound):
            super().fill(gains, check=check)
            return
        self._draw(type(self).next_round, gains)
        if check:
            self.check_range(gains)

    @property
    def by_rounds(self) -> Self | None:
        """Itself, if its gains are those of `next_round`: if no subclass has a `next_gains` of its own, for example."""
        return self if self.has_methods_of(RoundByRound) else None

    def _draw(self, function: Callable[..., None], rows: FloatArray) -> None:
        """Call a function like `next_round` for each of the next rounds, with the rows of an array."""
        filler(function).fill(self._state, self._round + 1, rows, self._rng)
        self._round += len(rows)


def next_round(state: Any, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of round t; placeholder for an adversary's own function."""
    raise NotImplementedError


def fill_rounds(state: Any, first: int, gains: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of rounds `first`, `first` + 1, ... into the rows of `gains`, shape `(rounds, n_arms)`."""
    for place in range(len(gains)):
        next_round(state, first + place, gains[place], rng)


class Filler:
    """Fills blocks by one function of a round.

    Args:
        function: A function like `next_round`; only those of this package are compiled.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self._loop = bind(fill_rounds, {"next_round": function})
        self._ours = f"{function.__module__}.".startswith("dp_bandit_envs.")
        self._spent = 0.0
        """Seconds in Python."""
        self._compiled: dict[bool, Callable[..., None]] = {}
        """Machine code for arrays in C order, and for others."""

    def fill(self, state: Any, first: int, gains: FloatArray, rng: np.random.Generator) -> None:
        """Write gains as `fill_rounds` does."""
        in_order, compiled = gains.flags.c_contiguous, None
        # Other generators have draws of their own, which machine code does not know.
        compilable = self._ours and type(rng) is Stream and isinstance(rng.bit_generator, np.random.SFC64)
        at_once = max(1, GAINS_AT_ONCE // gains.shape[1])
        start = 0
        while start < len(gains):
            if compilable:
                compiled = self._compiled.get(in_order) or self._bought(in_order, state, gains, rng)
            if compiled is not None:
                compiled(state, first + start, gains[start:], rng)
                return
            began = perf_counter()
            self._loop(state, first + start, gains[start : start + at_once], rng)
            self._spent += perf_counter() - began
            start += at_once

    def _bought(
        self, in_order: bool, state: Any, gains: FloatArray, rng: np.random.Generator
    ) -> Callable[..., None] | None:
        """Return new machine code if as much was spent without it as it costs, else None."""
        if self._spent >= price() and not installed("numba"):
            self._spent = -math.inf
        elif self._spent >= price():
            in_background(lambda stopped: self._compile(in_order, state, gains, rng))
        return self._compiled.get(in_order)

    def _compile(self, in_order: bool, state: Any, gains: FloatArray, rng: np.random.Generator) -> None:
        fill = compiled(self._loop, state, gains, rng)
        if fill is None:
            self._spent = -math.inf
        else:
            self._compiled[in_order] = fill


def price() -> float:
    """Return about how many seconds machine code costs in this process."""
    return SECONDS_TO_COMPILE + (0.0 if "numba" in sys.modules else SECONDS_TO_IMPORT)


filler = functools.cache(Filler)
"""Returns the one filler of a function."""


def compiled(
    loop: Callable[..., None], state: Any, gains: FloatArray, rng: np.random.Generator
) -> Callable[..., None] | None:
    """Compile a loop like `fill_rounds` for arguments like these, for streams of SFC64; nothing is drawn.

    Returns:
        The machine code, called like the loop; None if Numba is missing or switched off, or if somebody else's
        function in it draws from another generator.
    """
    if obstacle():
        return None
    entry = Compiled(enter, {"fill_rounds": loop})
    if draws_elsewhere(entry.foreign, {}):
        return None

    def fill(state: Any, first: int, gains: FloatArray, rng: np.random.Generator) -> None:
        entry(state, first, len(gains), gains, stream_address(rng))

    entry(state, 1, 0, gains, stream_address(rng))
    return fill


def enter(state: Any, first: int, rounds: int, gains: FloatArray, address: int) -> None:
    """Fill the first rows of an array with the generator at the given address. Runs only compiled."""
    rng = stream_at(address)
    fill_rounds(state, first, gains[:rounds], rng)
    put_back(address, rng)
