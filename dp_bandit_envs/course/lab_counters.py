"""Lab 4, counters: ways to release running sums side by side, and checks of a tree's noise and of private sums.

The checks compute the effect of an answer exactly: their rate of false alarms is 0.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.audits.linear_noise import LinearNoise, cheapest_change
from dp_bandit_envs.course.checking import (
    ScriptedDraws,
    WrongAnswer,
    call,
    check_formula,
    graded,
    mistakes,
    numbers,
    some_epsilon,
    some_number,
)
from dp_bandit_envs.course.notebooks import panel
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
    """Return the exact standard deviations of the sums after `at` of T items, in items, `(len(at),)`."""
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
    """Return the errors of the sums of one stream, `(horizon,)`; the noise does not depend on the items."""
    rng = np.random.default_rng(seed)
    if way is WAYS[0]:
        return rng.laplace(scale=horizon / epsilon, size=horizon)
    if not way.counter:
        return np.cumsum(rng.laplace(scale=1 / epsilon, size=horizon))
    counter = _counter(way, horizon, epsilon, rng)
    off = np.zeros(horizon)
    for t in range(horizon):
        counter.insert(0.0)
        off[t] = counter.release()
    return off


def pictures(streams: Mapping[Way, FloatArray], horizon: int, epsilon: float) -> tuple[Figure, Figure]:
    """Draw the errors of one stream as dots on the spread of all streams, and the exact standard deviations."""
    at = np.unique(np.geomspace(1, horizon, POINTS).astype(np.int64))
    dots = np.unique(np.linspace(0, horizon - 1, 2000).astype(np.int64))
    (error_figure, left), (deviation_figure, right) = panel(), panel(3.4 + 0.15 * len(streams))
    for way, off in streams.items():
        if way is not WAYS[0]:  # On this scale it would hide all others.
            middle, spread = spreads(way, horizon, epsilon)
            left.fill_between(middle, -spread, spread, color=way.colour, alpha=0.15, linewidth=0)
            for edge in (-spread, spread):
                left.plot(middle, edge, color=way.colour, linewidth=1.6)
            left.scatter(dots + 1, off[dots], color=way.colour, s=1.5, linewidth=0)
        right.plot(at, deviations(way, at, horizon, epsilon), color=way.colour, label=way.words)
    left.axhline(0, color=ORANGE, linewidth=1.0)
    left.set(title="Errors: one stream (dots), all (bands)", xlabel="items t", ylabel="error, in items")
    right.set(title="Exact standard deviation", xlabel="items t", ylabel="in items", xscale="log", yscale="log")
    right.minorticks_off()
    if streams:
        deviation_figure.legend(loc="outside lower center", ncols=2, fontsize=7.5, frameon=False)
    return error_figure, deviation_figure


def spreads(way: Way, horizon: int, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Return the exact root mean square errors, over all streams, of up to 64 runs of neighbouring sums.

    The first array has the middle of each run. A tree's error jumps from sum to sum; runs smooth it.
    """
    runs = np.array_split(np.arange(1, horizon + 1), min(64, horizon))
    squares = [np.mean(deviations(way, run, horizon, epsilon) ** 2) for run in runs]
    return np.array([run.mean() for run in runs]), np.sqrt(squares)


def _counter(way: Way, horizon: int, epsilon: float, rng: np.random.Generator | None = None) -> Counter:
    extra: dict[str, Any] = {"delta": DELTA} if way.counter == "square-root" else {}
    return make_counter(way.counter, epsilon=epsilon, horizon=horizon, rng=rng, **extra)


CASES = [(horizon, epsilon) for horizon in (7, 1000, 4095, 4096) for epsilon in (1.0, 0.5, 4.0)]
SMALL, LONG, LARGE = 31, 100, 4095
MOST_NOISE = 600.0
"""The largest sum of a release's scales that is accepted for 4,095 items and epsilon = 1. A binary tree has up to 144,
12 nodes of scale 12; two levels of 63 blocks have 252; noise on every item, 4,095."""
TOLERANCE = 1e-6


def levels(horizon: int) -> int:
    """Return the number of levels of a binary tree over this many items, without nodes that never fill."""
    return horizon.bit_length()


MISTAKES: Final = mistakes(
    "t, e",
    """\
levels(t) | It does not depend on epsilon. What has to happen to the noise if epsilon is halved?
levels(t) * e | Your noise grows with epsilon. A small epsilon means more privacy: more noise or less?
1 / e | This is the noise for an item that is in one node only. In how many nodes is an item?
t / e | This pays for T nodes for each item. An item is in one node of each level only.
math.sqrt(2) * levels(t) / e | This is the standard deviation of a node's noise. The scale is the b in the density \
exp(-|x| / b) / (2 b).
2 * (levels(t) / e) ** 2 | This is the variance of a node's noise; the task asks for its scale.
(levels(t) / e) ** 2 | This is the square of a scale.
math.log(t) / e | A level doubles the length of a node, so ln counts too few levels.
(math.floor(math.log(t)) + 1) / e | A level doubles the length of a node, so ln counts too few levels.
math.log2(t) / e | The number of levels is a whole number, and the single items are a level, too.
(levels(t) - 1) / e | One level is missing. For T = 7 draw all nodes above item 1 that can fill, and count them.
math.ceil(math.log2(t)) / e | Too small for T = 4,096, a power of two: then one node holds all items. Count the \
levels for T = 4.
(math.ceil(math.log2(t)) + 1) / e | More noise than needed: for T = 7 no node of 8 items ever fills, so it is never \
released and costs nothing.
""",
    levels=levels,
)


@graded
def check_node_scale(node_scale: Any, *, seed: int | None = None) -> str:
    """Check the Laplace scale of a node of the binary tree, (floor(lg T) + 1) / epsilon. No false alarms."""
    for cases, known_mistakes in ((CASES, MISTAKES), ([(1, 1.0), (1, 0.5)], ())):  # of one item, mistakes say little
        check_formula(
            node_scale,
            lambda t, e: levels(t) / e,
            cases,
            lambda rng: (some_number(rng, 2, 1e6), some_epsilon(rng)),
            seed,
            known_mistakes=known_mistakes,
            wrong="For T = {0:,} and epsilon = {1:g}, {answer:.6g} is {side}.",
            sides=("too little noise", "more noise than needed"),
            what="The scale",
            partly=(
                (
                    lambda t, e: e == 1,
                    "It is right for epsilon = 1 only. Try epsilon = 0.5: an item may lose half as much.",
                ),
            ),
        )
    return "Each of an item's nodes costs 1 / scale, and together they cost epsilon."


@graded
def check_private_sums(private_sums: Any, *, seed: int | None = None) -> str:
    """Check private running sums by the exact privacy loss of the answer, for any way to combine Laplace draws.

    The function gets chosen draws, one after the other, which shows how each draw enters each sum; the loss of an item
    is the least change of the draws that compensates it. This is exact. It is checked for each of up to 32 items, and
    for three of 100; of 4,095, each sum must have some noise. Trees of any shape are accepted if their noise is not
    much larger than the binary tree's.

    Rate of false alarms: 0.
    """
    for horizon in (SMALL, 6, 1, LONG, LARGE):
        _check_sums(private_sums, horizon)
    losses = {(horizon, epsilon): _loss(private_sums, horizon, epsilon) for horizon, epsilon in LOSS_CASES}
    refuted = {case: loss for case, loss in losses.items() if loss[0] > case[1] * (1 + TOLERANCE)}
    if refuted and not any(epsilon == 1 for _, epsilon in refuted):
        raise WrongAnswer("It is private for epsilon = 1, but not for epsilon = 0.5. Does each draw depend on it?")
    if refuted and all(case[0] in POWERS and math.isfinite(loss[0]) for case, loss in refuted.items()):
        (horizon, _), (loss, _, _) = next(iter(refuted.items()))
        raise WrongAnswer(
            f"It is private for {SMALL} items, but loses {loss:.3g} for {horizon}, a power of two: then one node holds"
            " all items. Count the levels for T = 4."
        )
    for (horizon, epsilon), (loss, index, draws) in refuted.items():
        raise WrongAnswer(_what_is_lost(horizon, epsilon, loss, index, draws))
    rng = np.random.default_rng(seed)
    for horizon, epsilon in ((some_number(rng, 5, SMALL), some_epsilon(rng)) for _ in range(3)):
        _check_sums(private_sums, horizon)
        loss, index, draws = _loss(private_sums, horizon, epsilon)
        if loss > epsilon * (1 + TOLERANCE):
            raise WrongAnswer(_what_is_lost(horizon, epsilon, loss, index, draws))
    # Nearly 1, but no two alike: sums of a tree may subtract nodes.
    unlike = ScriptedDraws(np.random.default_rng(0).uniform(1, 1.001, 16 * LARGE), after=1.0)
    noise = np.abs(_play(private_sums, np.zeros(LARGE), 1.0, unlike))
    if noise.min() < 1e-9:
        raise WrongAnswer(
            f"The sum after item {np.argmin(noise) + 1:,} of {LARGE:,} has no noise at all. How many levels has a tree"
            " of so many items?"
        )
    if (most_noise := noise.max()) > MOST_NOISE:
        raise WrongAnswer(
            f"It is private, but noisy: for {LARGE:,} items and epsilon = 1, the scales of the draws in one sum add up"
            f" to {most_noise:,.0f}. With a tree it is {levels(LARGE) ** 2} at most."
        )
    most = max(loss / epsilon for (_, epsilon), (loss, _, _) in losses.items())
    return f"All sums together lose at most {most:.3g} epsilon about an item, and a sum has the noise of few nodes."


POWERS = (2, 4, 32)
LOSS_CASES = [(SMALL, 1.0), (SMALL, 0.5), (20, 1.0), *((power, 1.0) for power in POWERS), (1, 1.0), (LONG, 1.0)]


def _what_is_lost(horizon: int, epsilon: float, loss: float, index: int, draws: int) -> str:
    if math.isinf(loss):
        return (
            f"Item {index + 1} of {horizon} can be read from your sums: some of their differences have no noise at all."
        )
    if horizon > 1 and draws > 2 * horizon:
        return (
            f"Your {horizon} sums use {draws} draws and lose {loss:.3g} about item {index + 1}, not {epsilon:g}. A tree"
            f" has at most {2 * horizon} nodes: is the noise of a node drawn anew each time the node is used?"
        )
    return (
        f"All {horizon} sums together lose {loss:.3g} about item {index + 1}; at most {epsilon:g} is allowed. In how"
        " many draws is that item, and what does each of them cost?"
    )


def _play(private_sums: Any, items: FloatArray, epsilon: float, draws: ScriptedDraws) -> FloatArray:
    return numbers(call(private_sums, items, epsilon, draws), items.shape, "What private_sums returns")


def _check_sums(private_sums: Any, horizon: int) -> None:
    """Refuse sums that are not exact if all draws are 0, and noise from another source."""
    items = np.arange(1, horizon + 1) % 4 / 4
    silent, again, others = ScriptedDraws(), ScriptedDraws(), ScriptedDraws()
    sums = _play(private_sums, items, 1.0, silent)
    if horizon < LARGE:  # which takes seconds in pure Python
        if not np.array_equal(sums, _play(private_sums, items, 1.0, again)):
            raise WrongAnswer("Two calls with the same draws of rng differ: draw all noise from the rng that is given.")
        if again.scales != silent.scales:
            raise WrongAnswer("Two calls with the same items draw other noise: does one use what the other kept?")
    exact = np.cumsum(items)
    if not np.allclose(sums, exact, atol=1e-9):
        t = int(np.argmax(np.abs(sums - exact) > 1e-9))
        hint = ""
        if horizon > 1 and np.allclose(sums[1:], exact[:-1], atol=1e-9):
            hint = " It is the sum before that item."
        elif np.allclose(sums, items, atol=1e-9):
            hint = " It is the item itself."
        raise WrongAnswer(
            f"With every draw 0, the sum after item {t + 1} of {horizon} is {sums[t]:g}, not {exact[t]:g}.{hint}"
        )
    if not silent.scales:
        raise WrongAnswer("No noise is drawn at all: use rng.laplace(scale=...).")
    if horizon < LARGE:
        _play(private_sums, 1 - items, 1.0, others)
        if others.scales != silent.scales:
            raise WrongAnswer(
                "The scales or the number of the draws depend on the items, so the noise itself gives them away."
            )


def _loss(private_sums: Any, horizon: int, epsilon: float) -> tuple[float, int, int]:
    """Return the largest exact loss of an item (of many, three are tried), its index, and the number of draws."""
    zeros, silent = np.zeros(horizon), ScriptedDraws()
    _play(private_sums, zeros, epsilon, silent)
    draws = len(silent.scales)
    noise = np.array([_play(private_sums, zeros, epsilon, ScriptedDraws(row)) for row in np.eye(draws)]).T
    some = np.cos(np.arange(draws))
    if not np.allclose(_play(private_sums, zeros, epsilon, ScriptedDraws(some)), noise @ some, rtol=1e-6, atol=1e-6):
        raise WrongAnswer("Your sums are not the exact ones plus draws: leave them as they are, without clipping.")
    rising = np.arange(1, horizon + 1) % 4 / 4
    for items in (rising, 1 - rising, np.ones(horizon)):
        seen = _play(private_sums, items, epsilon, ScriptedDraws(some)) - np.cumsum(items)
        if not np.allclose(seen, noise @ some, rtol=1e-6, atol=1e-6):
            raise WrongAnswer(
                "The same draws add other noise if the items are others, so the noise itself gives the items away: it"
                " may depend on T and epsilon only."
            )
    sums = LinearNoise(noise, np.tril(np.ones((horizon, horizon)))[:, :, None], "laplace", [0] * horizon)
    changes = {
        index: cheapest_change(sums, sums.moves[:, index, 0])
        for index in (range(horizon) if horizon < LONG else (0, LONG // 2, LONG - 1))
    }
    losses = {index: math.inf if change is None else float(np.abs(change).sum()) for index, change in changes.items()}
    worst_item = max(losses, key=lambda index: losses[index])
    return losses[worst_item], worst_item, draws
