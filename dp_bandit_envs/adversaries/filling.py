"""Fills blocks of gains by a function of one round: in Python while there is little to draw, then compiled.

Machine code draws a few hundred times faster, but costs seconds before its first number. So a process draws in Python
until that has taken about as long as machine code would take to get, as one rents skis until the rent has reached their
price: that is never much more than twice the best. The numbers are the same.
"""

import functools
import math
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

import numpy as np

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
        from dp_bandit_envs.adversaries.filling import compiled

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
