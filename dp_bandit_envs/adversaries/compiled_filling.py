"""The machine code that fills blocks of gains."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.adversaries.filling import fill_rounds
from dp_bandit_envs.compiling.compiled import compile_with, obstacle
from dp_bandit_envs.compiling.functions import draws_elsewhere, stream_address, streams_at
from dp_bandit_envs.protocols import FloatArray


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
    entry = compile_with(enter, {"fill_rounds": loop})
    if draws_elsewhere(entry.foreign, {}):
        return None

    def fill(state: Any, first: int, gains: FloatArray, rng: np.random.Generator) -> None:
        entry(state, first, len(gains), gains, (stream_address(rng),))

    entry(state, 1, 0, gains, (stream_address(rng),))
    return fill


def enter(state: Any, first: int, rounds: int, gains: FloatArray, generators: tuple[int]) -> None:
    """Fill the first rows of an array with the generator at the given address. Runs only compiled."""
    fill_rounds(state, first, gains[:rounds], streams_at(generators)[0])
