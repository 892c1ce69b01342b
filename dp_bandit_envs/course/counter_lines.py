"""Counters of the lab side by side: two simple ways to release running sums, and those of `privacy.counters`."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.course.panels import panel
from dp_bandit_envs.plots.plot_style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from dp_bandit_envs.privacy.counters import Counter, make_counter
from dp_bandit_envs.protocols import FloatArray, IntArray

DELTA = 1e-6
"""The delta of Gaussian noise."""
POINTS = 500


class Way(NamedTuple):
    """One way to release running sums: its name in words, its counter's name (`""`: none), and its colour."""

    words: str
    counter: str
    colour: str


WAYS = (
    Way("fresh noise on every sum", "", GREY),
    Way("noise on every item", "", PURPLE),
    Way("hybrid (T need not be known)", "hybrid", VERMILION),
    Way("binary tree", "binary", BLACK),
    Way("tree with many children", "k-ary", GREEN),
    Way("matrix factorisation, delta = 1e-6", "square-root", BLUE),
)
BY_WORDS = {way.words: way for way in WAYS}


def deviations(way: Way, at: IntArray, horizon: int, epsilon: float) -> FloatArray:
    """Return the exact standard deviations of the sums after so many items, in items, `(len(at),)`.

    Args:
        way: One of `WAYS`.
        at: Numbers of items, from 1 to the horizon.
        horizon: Number of items T.
        epsilon: What all releases together lose about one item.
    """
    if way.counter:
        counter = _counter(way, horizon, epsilon)
        return np.array([math.sqrt(counter.variance(int(t))) for t in at])
    if way is WAYS[0]:  # An item enters up to T sums, which share epsilon.
        return np.full(len(at), math.sqrt(2) * horizon / epsilon)
    return np.array([math.sqrt(2 * t) / epsilon for t in at])


def worst(way: Way, horizon: int, epsilon: float) -> float:
    """Return the largest standard deviation of a sum up to the horizon, in items."""
    times = _counter(way, horizon, epsilon).peaks(horizon) if way.counter else [horizon]
    return float(deviations(way, np.array([t for t in times if t > 0]), horizon, epsilon).max())


def errors(way: Way, horizon: int, epsilon: float, seed: int) -> FloatArray:
    """Return by how much the sums of one stream are off, `(horizon,)`; the noise does not depend on the items."""
    rng = np.random.default_rng(seed)
    if way is WAYS[0]:
        return rng.laplace(scale=horizon / epsilon, size=horizon)
    if not way.counter:
        return np.cumsum(rng.laplace(scale=1 / epsilon, size=horizon))
    counter = _counter(way, horizon, epsilon, rng)
    found = np.zeros(horizon)
    for t in range(horizon):
        counter.insert(0.0)
        found[t] = counter.release()
    return found


def pictures(streams: Mapping[Way, FloatArray], horizon: int, epsilon: float) -> tuple[Figure, Figure]:
    """Draw the errors of one stream, and the exact standard deviations.

    Args:
        streams: For some of `WAYS`, what `errors` returns.
        horizon: Number of items T.
        epsilon: What all releases together lose about one item.
    """
    at = np.unique(np.geomspace(1, horizon, POINTS).astype(np.int64))
    shown = np.unique(np.linspace(0, horizon - 1, 2000).astype(np.int64))
    (one, left), (two, right) = panel(), panel(3.4 + 0.15 * len(streams))
    for way, off in streams.items():
        if way is not WAYS[0]:  # On this scale it would hide all others.
            left.plot(shown + 1, off[shown], color=way.colour, linewidth=1.0)
        right.plot(at, deviations(way, at, horizon, epsilon), color=way.colour, label=way.words)
    left.axhline(0, color=ORANGE, linewidth=1.0)
    left.set(title="One stream: released minus true sum", xlabel="items t", ylabel="error, in items")
    right.set(title="Exact standard deviation", xlabel="items t", ylabel="in items", xscale="log", yscale="log")
    right.minorticks_off()
    if streams:
        two.legend(loc="outside lower center", ncols=2, fontsize=7.5, frameon=False)
    return one, two


def _counter(way: Way, horizon: int, epsilon: float, rng: np.random.Generator | None = None) -> Counter:
    extra: dict[str, Any] = {"delta": DELTA} if way.counter == "square-root" else {}
    return make_counter(way.counter, epsilon=epsilon, horizon=horizon, rng=rng, **extra)
