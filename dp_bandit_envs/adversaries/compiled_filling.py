"""The machine code that fills blocks of gains; loading this module loads Numba."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.adversaries.filling import fill_rounds
from dp_bandit_envs.compiling.addresses import stream_address
from dp_bandit_envs.compiling.compiled import compile_with, switched_off
from dp_bandit_envs.compiling.intrinsics import streams_at
from dp_bandit_envs.protocols import FloatArray


def compiled(loop: Callable[..., None]) -> Callable[..., None] | None:
    """Return a loop like `fill_rounds` as machine code for streams of SFC64, or None if Numba is switched off."""
    if switched_off():
        return None
    entry = compile_with(enter, {"fill_rounds": loop})

    def fill(state: Any, first: int, gains: FloatArray, rng: np.random.Generator) -> None:
        entry(state, first, gains, (stream_address(rng),))

    return fill


def enter(state: Any, first: int, gains: FloatArray, generators: tuple[int]) -> None:
    """Fill a block with the generator at the given address. Runs only compiled."""
    fill_rounds(state, first, gains, streams_at(generators)[0])
