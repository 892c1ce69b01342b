"""Counts exactly how many of the 2^64 words of a stream lead to each released number of one draw.

A word gives a sign and one of 2^63 middles, which are rounded to doubles v in (0, 1]; a draw is a function of v that
falls in size as v grows. So each number on the grid has a largest v that leads to it or farther from the value, which
is found by bisection among doubles, and the words of all smaller v are counted.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.draws import log_array, normal_quantile
from dp_bandit_envs.privacy.laplace import to_grid_array

NEAR = {"normal": 48}
"""Draws never grow with v, but for rounding errors between so many neighbouring doubles (4 for others)."""
LONG = np.longdouble
WORDS = 2**63
"""Words of one sign."""
FAR = {"laplace": 45.0, "exponential": 46.0, "normal": 9.4, "uniform": 1.0}
"""No draw is farther away than this, in scales."""
LEAST, ONE = (int(np.float64(v).view(np.int64)) for v in (2.0**-64, 1.0))
"""The bits of the smallest v and of the largest; doubles above 0 are in the order of their bits."""


def each_number(numbers: np.ndarray, found: np.ndarray) -> None:
    """Write `function` of each number."""
    for i in range(len(numbers)):
        found[i] = function(numbers[i])


def function(x: float) -> float:
    """Placeholder for the function that is compiled."""
    raise NotImplementedError


compiled_quantiles = CompiledFunction(each_number, {"function": normal_quantile})


def sizes(kind: str, v: np.ndarray) -> np.ndarray:
    """Return the size of a draw of scale 1 at each v; a uniform number (of own-norm noise) is v itself.

    An exponential draw is another function of v for each sign: "exponential", and "exponential near 0".
    """
    if kind == "uniform":
        return v
    if kind.startswith("exponential"):
        return -log_array(0.5 * v if kind == "exponential" else 1.0 - 0.5 * v)
    if kind == "normal":
        quantiles = np.empty(len(v))
        compiled_quantiles(v, quantiles)
        return quantiles
    return -log_array(v)


def words_from(v: np.ndarray) -> np.ndarray:
    """Return how many of the middles of one sign are rounded to v or more."""
    n = v * 2.0**64
    below = n - np.nextafter(n, 0.0)
    exact, high = n <= 2.0**53, n >= 2.0**63
    number = np.ceil(np.where(high, n - 2.0**63, n)).astype(np.uint64) + np.where(high, np.uint64(WORDS), np.uint64(0))
    middle = number - np.where(exact, 1.0, below / 2).astype(np.uint64)
    # An odd number is rounded to n if it is above the middle between n and the double before; there, if n is even.
    tie = ~exact & (middle % np.uint64(2) == 1) & ((n / below) % 2 == 0)
    return np.uint64(WORDS) - ((middle + np.uint64(1)) // np.uint64(2) - tie.astype(np.uint64))


def farther(kind: str, sign: float, value: float, scale: float, grid: float, points: np.ndarray) -> np.ndarray:
    """Return how many words of this sign lead to each point, in grid steps, or farther from the value."""
    grows = kind in ("uniform", "exponential near 0")

    def reached(bits: np.ndarray) -> np.ndarray:
        released = to_grid_array(value + sign * (scale * sizes(kind, bits.view(np.float64))), grid) / grid
        return released >= points if sign > 0 else released <= points

    # The words with v up to `low` are farther; of a uniform number, those from `low` + 1 on.
    low, high = np.full(len(points), LEAST - 1), np.full(len(points), ONE)
    while (low < high).any():
        middle = low + (high - low + 1) // 2
        found = reached(np.maximum(middle, LEAST)) != grows
        open_ = low < high
        low, high = np.where(open_ & found, middle, low), np.where(open_ & ~found, middle - 1, high)
    above = np.where(low >= ONE, np.uint64(0), words_from(np.clip(low + 1, LEAST, ONE).view(np.float64)))
    count = (above if grows else np.uint64(WORDS) - above).astype(LONG)
    near = NEAR.get(kind, 4)
    for place in range(1 - near, near + 1):
        bits = np.clip(low + place, LEAST, ONE)
        next_one = np.where(bits < ONE, words_from(np.minimum(bits + 1, ONE).view(np.float64)), np.uint64(0))
        own = (words_from(bits.view(np.float64)) - next_one).astype(LONG)
        counted, is_so = (place <= 0) != grows, reached(bits)
        wrong = (bits == low + place) & (is_so != counted)
        count += np.where(wrong, np.where(is_so, own, -own), LONG(0))
    return count


class Cells(NamedTuple):
    """The numbers on the grid, in steps, and the probability of each with fast draws and with exact ones."""

    points: np.ndarray
    drawn: np.ndarray
    exact: np.ndarray


@functools.lru_cache(maxsize=16)
def cells(kind: str, value: float, scale: float, grid: float) -> Cells:
    """Count a draw on a value in [0, 1]."""
    far = FAR[kind] * scale
    points = np.arange(math.floor(-far / grid) - 2, math.ceil((1 + far) / grid) + 3, dtype=np.float64)
    up = farther(kind, 1.0, value, scale, grid, points)
    if kind == "exponential":
        up += farther("exponential near 0", 1.0, value, scale, grid, points)
        drawn = (up - np.append(up[1:], 0)) / (2 * LONG(WORDS))
    else:
        down = farther(kind, -1.0, value, scale, grid, points)
        drawn = (up - np.append(up[1:], 0) + down - np.append(0, down[:-1])) / (2 * LONG(WORDS))
    low = ((points - LONG(0.5)) * LONG(grid) - LONG(value)) / LONG(scale)
    return Cells(points, drawn, MASSES[kind](low, low + LONG(grid) / LONG(scale)))


def laplace_masses(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mass of real Laplace noise of scale 1 in each cell."""
    nearer = np.maximum(np.where(low >= 0, low, -high), 0)
    cell = LONG(0.5) * np.exp(-nearer) * -np.expm1(-(high - low))
    around = (low < 0) & (high > 0)
    return np.where(around, -LONG(0.5) * (np.expm1(np.minimum(low, 0)) + np.expm1(-np.maximum(high, 0))), cell)


def exponential_masses(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mass of real exponential noise of mean 1 in each cell."""
    return np.where(high > 0, np.exp(-np.maximum(low, 0)) * -np.expm1(np.maximum(low, 0) - high), 0)


def normal_masses(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mass of real standard normal noise in each cell, by Taylor's series around its middle.

    A difference of distribution functions would lose what is to be measured. The derivatives are Hermite polynomials.
    """
    x, half = (low + high) / 2, (high - low) / 2
    before, hermite, series, factor = np.zeros_like(x), np.ones_like(x), np.ones_like(x), np.ones_like(x)
    for k in range(1, 25):
        before, hermite = hermite, x * hermite - (k - 1) * before
        factor = factor * half / (k + 1)
        series += hermite * factor * (k % 2 == 0)
    return np.exp(-x * x / 2) / np.sqrt(2 * LONG("3.14159265358979323846264338327950288")) * 2 * half * series


def uniform_masses(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mass of real uniform noise in [-1, 1] in each cell."""
    return (np.clip(high, -1, 1) - np.clip(low, -1, 1)) / 2


MASSES = {
    "laplace": laplace_masses,
    "exponential": exponential_masses,
    "normal": normal_masses,
    "uniform": uniform_masses,
}


class Measured(NamedTuple):
    """What `privacy.accounting.Distance` declares, as counted, for each grid step in the scale."""

    whole: float
    tail: float
    bulk: float


def measured(kind: str, value: float, scale: float, grid: float, *, beyond: float = 1e-7) -> Measured:
    """Count a draw on one value."""
    found = cells(kind, value, scale, grid)
    off, below, steps = found.drawn - found.exact, np.cumsum(found.exact), scale / grid
    assert abs(float(found.drawn.sum()) - 1) < 1e-15 and (found.drawn >= 0).all()
    sides = 1 if kind == "exponential" else 2
    bulk = (found.exact > 0) & (below < 1 - beyond / sides) & ((below > beyond / 2) | (sides == 1))
    chi_square = float((off[bulk] ** 2 / found.exact[bulk]).sum())
    whole, tail = (float(np.abs(part).sum() / 2) for part in (off, off[~bulk]))
    return Measured(whole / steps, tail / steps, math.sqrt(chi_square) / steps)


def counted_delta(epsilon: float, scale: float, grid: float) -> float:
    """Return the smallest delta for which (epsilon, delta)-DP holds between releases of 0 and 1, both ways."""
    one, other = (cells("laplace", value, scale, grid).drawn for value in (0.0, 1.0))
    return float(max(np.maximum(a - np.exp(LONG(epsilon)) * b, 0).sum() for a, b in ((one, other), (other, one))))
