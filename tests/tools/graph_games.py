"""Graphs to test with, games with given gains on them, and the exact privacy loss of a whole row of gains."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.graphs import FeedbackGraph
from tests.tools.fake_draws import Impulse, cheapest_shift

SIZE = 2.0**38
"""What the one draw is: so large that rounding to a grid of a thousandth is lost in it."""

DIRECTED = nx.DiGraph()
"""Four nodes. Playing 0 reveals 0, 2; 1 reveals 1, 2; 2 reveals 2, 3; 3 reveals 0, 3.

What reveals an arm: 0 is revealed by 0, 3; 1 by 1 alone; 2 by 0, 1, 2; 3 by 2, 3.
"""
DIRECTED.add_nodes_from(range(4))
DIRECTED.add_edges_from([(0, 2), (1, 2), (2, 3), (3, 0)])


def table_game(table: Any, graph: Any, **options: Any) -> GraphEnv:
    """Return a game on a graph with exactly these gains, rows being rounds."""
    return GraphEnv(graph, gains=GainTable(np.array(table, dtype=float)), **options)


def rows_of(graph: FeedbackGraph) -> list[list[int]]:
    """Return what each arm reveals."""
    return [graph.revealed_by(arm).tolist() for arm in range(graph.n_arms)]


def columns_of(graph: FeedbackGraph) -> list[list[int]]:
    """Return which arms reveal each arm, from the other pair of arrays."""
    starts = graph.revealer_starts
    return [graph.revealers[starts[arm] : starts[arm + 1]].tolist() for arm in range(graph.n_arms)]


class Draws(Impulse):
    """A random generator whose draw number `hot` is `size` and all others 0; it keeps the scales asked for."""

    def __init__(self, hot: int = -1, size: float = SIZE) -> None:
        """Take the number of the draw, from 0; -1 for none."""
        super().__init__(hot, height=size)


def released(env: Any, arms: Sequence[int], rng: Any) -> tuple[np.ndarray, np.ndarray]:
    """Play these arms with the noise of `rng`; return all released numbers, and all that is told besides.

    That is what was observed, or for sums the counts with the numbers of releases behind them.
    """
    env.reset(seed=0)
    env._run._rng = rng
    results = [env.step(arm)[0] for arm in arms]
    if "sum" in results[0]:
        besides = [np.concatenate([each["count"], each["release"]]) for each in results]
        return np.array([each["sum"] for each in results]), np.array(besides)
    return np.array([each["gain"] for each in results]), np.array([each["observed"] for each in results])


class Map(NamedTuple):
    """What comes out of a game as a linear map of the draws and of the gains.

    Attributes:
        noise: `(releases, draws)`.
        scales: The scale of each draw.
        moves: `(releases, rounds, n_arms)`: how a change of one gain from 0 to 1 moves what comes out.
        revealed: `(rounds, n_arms)`: whether that changes anything.
    """

    noise: np.ndarray
    scales: np.ndarray
    moves: np.ndarray
    revealed: np.ndarray


def linear_map(
    wrap: Callable[[Any], Any],
    make: Callable[[np.ndarray], Any],
    shape: tuple[int, int],
    arms: Sequence[int],
    size: float = SIZE,
    unit: float = 1.0,
) -> Map:
    """Return the map of a game of this many rounds and arms, in which the agent plays `arms`.

    `unit` undoes a rescaling of what comes out.
    """
    zeros = np.zeros(shape)
    silent, without_gains = Draws(), wrap(make(zeros))
    base, counts = released(without_gains, arms, silent)

    def moved(game: Any, rng: Draws) -> np.ndarray:
        numbers, again = released(game, arms, rng)
        # Neither how much is drawn nor what is counted may depend on gains or noise.
        assert rng.asked == silent.asked
        np.testing.assert_array_equal(again, counts)
        return unit * (numbers - base).ravel()

    columns = [moved(without_gains, Draws(hot, size)) / size for hot in range(len(silent.asked))]
    moves = np.zeros((base.size, *shape))
    for cell in np.ndindex(shape):
        table = zeros.copy()
        table[cell] = 1.0
        moves[(slice(None), *cell)] = moved(wrap(make(table)), Draws())
    noise = np.array(columns).T if columns else np.zeros((base.size, 0))
    return Map(noise, np.array(silent.asked), moves, moves.any(axis=0))


def cheapest(found: Map, move: np.ndarray) -> float:
    """Return the log-density that a change of the draws costs which hides `move`; inf if none does."""
    noise, scales = found.noise, found.scales
    # Sums that were held since the step before say nothing new.
    rows = np.unique(np.hstack([noise, move[:, np.newaxis]]).round(9), axis=0, return_index=True)[1]
    if not move.any():
        return 0.0
    shift = cheapest_shift(noise[rows], scales, move[rows]) if len(scales) else None
    return np.inf if shift is None else float(np.abs(shift) @ (1 / scales))


def row_losses(found: Map) -> tuple[np.ndarray, np.ndarray]:
    """Return for each round what a change of its whole row can lose, at most and at least.

    The cost of a change is a norm, so that of any row with entries in [-1, 1] is at most the sum over single gains;
    and the row of ones is one of them. Where the two agree they are the loss.
    """
    rounds, n_arms = found.revealed.shape
    most, least = np.zeros(rounds), np.zeros(rounds)
    for changed in range(rounds):
        seen = [arm for arm in range(n_arms) if found.revealed[changed, arm]]
        most[changed] = sum(cheapest(found, found.moves[:, changed, arm]) for arm in seen)
        least[changed] = cheapest(found, found.moves[:, changed].sum(axis=1))
    return most, least


def all_signs(found: Map, changed: int) -> float:
    """Return the largest cost over all rows of -1, 0 and 1, the slow second route."""
    seen = np.flatnonzero(found.revealed[changed])
    rows = itertools.product((-1.0, 0.0, 1.0), repeat=len(seen))
    return max(cheapest(found, found.moves[:, changed, seen] @ np.array(row)) for row in rows)
