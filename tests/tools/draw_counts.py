"""Counts exactly how many of the 2^53 uniform numbers lead to each released number of one draw, in machine code."""

import functools
import math

import numpy as np

from dp_bandit_envs.compiling.compiled import compile_with
from dp_bandit_envs.compiling.intrinsics import streams_at
from dp_bandit_envs.privacy.laplace import grid_of, to_grid
from dp_bandit_envs.specialise import specialise
from tests.tools.led_stream import UNIFORMS, lead, sample

FAR = {"laplace": 37.0, "exponential": 37.0, "normal": 8.5}
"""No draw is farther away than this, in scales."""
NEAR = 8
"""Draws never fall, as k grows, but for rounding errors between neighbours; so many of them are looked at."""


def laplace(rng, scale):
    """Draw."""
    return rng.laplace(0.0, scale)


def exponential(rng, scale):
    """Draw."""
    return rng.exponential(scale)


def normal(rng, scale):
    """Draw."""
    return rng.normal(0.0, scale)


DRAWS = {"laplace": laplace, "exponential": exponential, "normal": normal}


def reached(rng, words, k, gain, scale, grid):
    """Return the number that k / 2^53 leads to, in grid steps."""
    lead(words, k)
    return to_grid(gain + sample(rng, scale), grid) / grid


def count_from(words, addresses, gain, scale, grid, wanted, found):
    """Write how many k lead to each wanted number or a larger one.

    Args:
        words: Those of a stream, `(4,)`.
        addresses: Where they are.
        gain: What is released.
        scale: That of its draw.
        grid: The step between released numbers.
        wanted: In grid steps, `(numbers,)`.
        found: For the result, `(numbers,)`.
    """
    (rng,) = streams_at(addresses)
    for place in range(len(wanted)):
        low = 0
        high = UNIFORMS
        while low < high:
            middle = (low + high) // 2
            if reached(rng, words, middle, gain, scale, grid) >= wanted[place]:
                high = middle
            else:
                low = middle + 1
        last = min(low + NEAR, UNIFORMS)
        found[place] = UNIFORMS - last
        for k in range(max(low - NEAR, 0), last):
            found[place] += reached(rng, words, k, gain, scale, grid) >= wanted[place]


def write_in_a_row(words, addresses, start, values):
    """Write the draws that start / 2^53 and the numbers behind it lead to."""
    (rng,) = streams_at(addresses)
    for place in range(len(values)):
        lead(words, start + place)
        values[place] = sample(rng, 1.0)


def in_a_row(kind: str, start: int, number: int) -> np.ndarray:
    """Return the draws of scale 1 that (start + i) / 2^53 leads to, for i from 0 to number - 1."""
    values, words = np.empty(number), np.empty(4, np.uint64)
    compile_with(write_in_a_row, {"sample": DRAWS[kind]})(words, (words.ctypes.data,), start, values)
    return values


def points(scale: float, kind: str) -> np.ndarray:
    """Return all numbers that a gain in [0, 1] can lead to, in grid steps, ascending."""
    grid, far = grid_of(scale), FAR[kind] * scale
    low = -1 if kind == "exponential" else math.floor(-far / grid)
    return np.arange(low, math.ceil((1 + far) / grid) + 1, dtype=np.float64)


@functools.cache
def counts(gain: float, scale: float, kind: str = "laplace") -> np.ndarray:
    """Return for each of these points how many k lead to it."""
    wanted = points(scale, kind)
    words, found = np.empty(4, np.uint64), np.empty(len(wanted), np.int64)
    count = compile_with(count_from, {"reached": specialise(reached, "sample", DRAWS[kind])})
    count(words, (words.ctypes.data,), gain, scale, grid_of(scale), wanted, found)
    of_each = -np.diff(np.append(found, 0))
    assert found[0] == UNIFORMS == of_each.sum() and (of_each >= 0).all()
    of_each.flags.writeable = False
    return of_each


def counted_delta(epsilon: float, one: np.ndarray, other: np.ndarray) -> float:
    """Return the smallest delta for which (epsilon, delta)-DP holds between two counts, in both directions."""
    both = [np.maximum(a - math.exp(epsilon) * b, 0.0).sum() for a, b in ((one, other), (other, one))]
    return float(max(both)) / UNIFORMS


def counted_distance(scale: float, kind: str = "laplace") -> float:
    """Return the total variation distance between what a draw and real noise of this scale add to 0 on the grid."""
    edges = (np.append(points(scale, kind), points(scale, kind)[-1] + 1) - 0.5) * (grid_of(scale) / scale)
    return float(np.abs(counts(0.0, scale, kind) / UNIFORMS - MASSES[kind](edges[:-1], edges[1:])).sum() / 2)


def masses(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mass of real Laplace noise of scale 1 in each cell."""
    nearer = np.where(low >= 0, low, -high)
    cell = 0.5 * np.exp(-nearer) * -np.expm1(-(high - low))
    around = (low < 0) & (high > 0)
    return np.where(around, -0.5 * (np.expm1(low) + np.expm1(-high)), cell)


def exponential_masses(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mass of real exponential noise of mean 1 in each cell."""
    return np.where(high > 0, np.exp(-np.maximum(low, 0)) * -np.expm1(np.maximum(low, 0) - high), 0.0)


def normal_masses(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mass of real standard normal noise in each cell, by Taylor's series around its middle.

    A difference of distribution functions would lose what is to be measured; the first term left out is h^6 / 10^5.
    """
    x, h = ((low + high) / 2) ** 2, (high - low) ** 2
    series = 1 + (x - 1) * h / 24 + ((x - 6) * x + 3) * h * h / 1920
    return np.exp(-x / 2) / math.sqrt(2 * math.pi) * (high - low) * series


MASSES = {"laplace": masses, "exponential": exponential_masses, "normal": normal_masses}
