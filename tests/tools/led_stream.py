"""Leads streams to a given uniform number, in Python and in machine code."""

import numpy as np

from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.compiling.functions import stream_address
from dp_bandit_envs.compiling.intrinsics import put_back, stream_at
from dp_bandit_envs.draws import Stream

UNIFORMS = 2**53
"""A stream's uniform numbers are k / 2^53 with k = 0, ..., 2^53 - 1, all with the same chance."""


def lead(words, word):
    """Write the words of an SFC64 whose next word is this one, the sum of the first, second and last of them."""
    words[0] = word
    words[1] = 0
    words[2] = 0
    words[3] = 0


def led(k: int) -> Stream:
    """Return a stream whose next uniform number is k / 2^53, the upper bits of its next word."""
    return led_word(k << 11)


def led_word(word: int) -> Stream:
    """Return a stream whose next word is this one."""
    rng, words = Stream(np.random.SFC64(0)), np.empty(4, np.uint64)
    lead(words, word)
    rng.bit_generator.state = {**rng.bit_generator.state, "state": {"state": words}}
    return rng


def sample(rng, scale):
    """Stand for a draw."""


def with_stream(addresses, numbers, scale):
    """Write draws of the stream at an address into an array."""
    rng = stream_at(addresses[0])
    for i in range(len(numbers)):
        numbers[i] = sample(rng, scale)
    put_back(addresses[0], rng)


def drawn(function, rng: Stream, scale: float, number: int) -> np.ndarray:
    """Return draws in Python."""
    return np.array([function(rng, scale) for _ in range(number)])


def drawn_compiled(function, rng: Stream, scale: float, number: int) -> np.ndarray:
    """Return draws in machine code, from the same stream, which goes on behind them."""
    numbers = np.empty(number)
    compiled_draws(function)((stream_address(rng),), numbers, scale)
    return numbers


def compiled_draws(function) -> Compiled:
    """Return `with_stream` for a draw, compiled."""
    return Compiled(with_stream, {"sample": function})


def filled_compiled(rng: Stream, numbers: np.ndarray, scale: float) -> None:
    """Fill an array with Laplace draws in machine code."""
    Compiled(fill_with_stream, {})((stream_address(rng),), numbers, scale)


def fill_with_stream(addresses, numbers, scale):
    """Fill an array from the stream at an address."""
    rng = stream_at(addresses[0])
    rng.laplaces(numbers, scale)
    put_back(addresses[0], rng)
