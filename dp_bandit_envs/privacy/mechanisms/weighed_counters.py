r"""Secure draws for counters whose releases weigh their draws by fractions: Honaker's and the square-root counter.

A fraction times a whole number of steps is rounded, and what is rounded off depends on the draw and not on the sum. So
these counters do not add noise to exact sums: each draw is added, exactly, to what it hides, which is rounded to the
grid before. What the counter does with these noisy numbers is post-processing, in the same function that otherwise adds
up noise, as its weights add up noisy nodes to noisy sums.

What a draw hides: in Honaker's counter the sum of the items of one node; in the square-root counter, whose matrix of
sums is L C, entry t of C times the items. These entries are computed in doubles: a changed round moves them by its
column of C, and by rounding.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dp_bandit_envs.privacy.counters import Counter, SquareRootCounter
from dp_bandit_envs.privacy.counters.counter import trailing_zeros
from dp_bandit_envs.privacy.counters.exponentials import exponentials, of_items
from dp_bandit_envs.privacy.mechanism import Below
from dp_bandit_envs.privacy.mechanisms.counter_releases import State, next_noise
from dp_bandit_envs.privacy.secure_draws import on_grid

WEIGHED = ("honaker", "square-root")
"""The counters of this kind."""


class Noisy:
    """Stands for a generator: each draw of noise is the next hidden number with exact noise."""

    def __init__(self, hidden: Iterable[float], grid: float, rng: Any) -> None:
        self._hidden: Iterator[float] = iter(hidden)
        self._grid, self._rng = grid, rng

    def laplace(self, location: float, scale: float) -> float:
        """Return the next hidden number, which is on the grid, plus exact Laplace noise."""
        return next(self._hidden) + self._grid * float(self._rng.laplace_steps(scale / self._grid))

    def normal(self, location: float, scale: float) -> float:
        """Return the next hidden number, which is on the grid, plus exact normal noise."""
        return next(self._hidden) + self._grid * float(self._rng.normal_steps(scale / self._grid))


class NodeSums:
    """The sums of the items of the nodes that close, for each arm; they are exact, as items are on the grid."""

    def __init__(self, n_values: int, levels: int) -> None:
        self._items = np.zeros(n_values, np.int64)
        self._sum = np.zeros(n_values)
        self._before = np.zeros((n_values, levels))

    def after(self, arm: int, item: float) -> list[float]:
        """Insert an item; return the sums of the nodes that end with it, from the leaf up."""
        t = int(self._items[arm])
        # A node of level i begins after every multiple of 2^i items.
        begun = trailing_zeros(t) + 1 if t else self._before.shape[1]
        self._before[arm, :begun] = self._sum[arm]
        self._items[arm] += 1
        self._sum[arm] += item
        ended = trailing_zeros(t + 1) + 1
        return [float(self._sum[arm] - before) for before in self._before[arm, :ended]]


class Entries:
    """The entries of C times the items so far, for each arm, rounded to the grid."""

    def __init__(self, n_values: int, horizon: int, grid: float) -> None:
        self._matrix, self._grid = of_items(*exponentials(horizon)), grid
        self._decayed = np.zeros((n_values, len(self._matrix.weights)))

    def after(self, arm: int, item: float) -> list[float]:
        """Insert an item; return the next entry."""
        entry = self._matrix.first * item + float(self._matrix.weights @ self._decayed[arm])
        self._decayed[arm] = (1 - self._matrix.gaps) * self._decayed[arm] + item
        return [on_grid(entry, self._grid)]


def hidden_numbers(counter: Counter, n_values: int, grid: float) -> Any:
    """Return what the draws of a counter of this kind hide, for each arm."""
    if isinstance(counter, SquareRootCounter):
        assert counter.horizon is not None
        return Entries(n_values, counter.horizon, grid)
    return NodeSums(n_values, counter.nodes_per_item)


def factor_of_entries(counter: SquareRootCounter, distance: float, grid: float, below: Below) -> float:
    r"""Return the multiplier of the square-root counter's noise that also covers what rounding moves, rounded up.

    With T items and columns of norm c, rounding to the grid moves each of T entries for each of s values by less than
    g. Sums in doubles over up to T decaying terms are off by less than :math:`2^{-50} T` of themselves, and they are at
    most :math:`\sqrt T c` times the largest value; twice that for two games, and a column is off by as much.

    Args:
        counter: The counter.
        distance: L2 distance of neighbouring rounds' values.
        grid: The step g.
        below: Public facts about the values.
    """
    items, most = counter.horizon or 1, max(-below.values.low, below.values.high)
    relative = 2.0**-50 * (items + 100)
    ((scale, _),) = counter.item_draws()
    if not counter.sigma > 0:
        return distance
    column = scale / counter.sigma
    entries = math.sqrt(items * below.gains_in_a_round)
    moved = entries * (grid / column + 2 * relative * math.sqrt(items) * most)
    return (distance * (1 + relative) + moved) * (1 + 1e-12)


def release_weighed(state: State, arm: int, gain: float, rng: Any) -> tuple[float, int]:
    """Insert a gain into its arm's counter; release the sum that follows from its noisy numbers."""
    state.inserted[arm] += 1
    return insert(state, arm, on_grid(gain, state.grid) if state.grid > 0.0 else gain, rng)


def pad_weighed(state: State, arm: int, rng: Any) -> tuple[float, int]:
    """Insert a 0 into the counter of an arm that was not revealed; its number of gains stays."""
    return insert(state, arm, 0.0, rng)


def insert(state: State, arm: int, item: float, rng: Any) -> tuple[float, int]:
    """Insert an item; return the released sum, and the number of gains in it."""
    if not state.grid > 0.0:
        state.exact[arm] += item
        return state.exact[arm], state.inserted[arm]
    counter, hidden = state.counters
    noisy: Any = Noisy(hidden.after(arm, item), state.grid, rng)
    total, _ = next_noise(counter, arm, noisy)
    return float(total), state.inserted[arm]
