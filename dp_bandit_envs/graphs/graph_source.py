"""Where a game's graphs come from: one for all games, one for each game, or a new one every few rounds."""

import os
from typing import Any, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import UnknownArgumentError
from dp_bandit_envs.graphs.feedback_graph import FeedbackGraph
from dp_bandit_envs.graphs.graph_reading import as_feedback_graph
from dp_bandit_envs.graphs.named_graphs import NAMES, RANDOM, named_graph


def _is_given(graph: Any) -> bool:
    """Whether this is a graph or the path of one, rather than a name."""
    if not isinstance(graph, str):
        return True
    # os.path, because Path refuses names that are too long instead of saying that there is no such file.
    return graph.lower() not in NAMES and ("." in graph or "/" in graph or os.path.isfile(graph))


class GraphSource:
    """Supplies the graph of each round; it never sees gains, so its graphs are public.

    Args:
        graph: A name of `dp_bandit_envs.graphs.NAMES`, or anything that `as_feedback_graph` reads.
        n_arms: Number of arms of a named graph or a file; None for the graph's own number, or 10.
        redraw_every: Number of rounds after which a random family draws a new graph; None for one graph in each game.
        max_revealed: The most gains that a round may reveal: the arm's own and others drawn at random from those that
            the graph reveals. None for all.
        self_loops: Whether every arm reveals its own gain; otherwise only those with an edge to themselves.
        options: Options of a named graph.

    Attributes:
        n_arms: Number of arms.
        sensitivity: The most gains that one round can reveal, in all games.
        graph: The graph of the next round.
        reveals_all: Whether every round reveals the gains of all arms, in all games.
    """

    def __init__(
        self,
        graph: Any = "erdos-renyi",
        *,
        n_arms: SupportsIndex | None = None,
        redraw_every: SupportsIndex | None = None,
        max_revealed: SupportsIndex | None = None,
        self_loops: bool = True,
        **options: Any,
    ) -> None:
        count = None if n_arms is None else checks.integer("n_arms", n_arms, at_least=2, at_most=checks.MOST_ARMS)
        self._name = None if _is_given(graph) else checks.known_name("graph", graph, NAMES)
        if self._name is None and options:
            raise UnknownArgumentError("a graph of your own", next(iter(options)), "Only named graphs have options.")
        self._random = self._name in RANDOM
        self.redraw_every = None if redraw_every is None else checks.integer("redraw_every", redraw_every, at_least=1)
        if self.redraw_every is not None and not self._random:
            given = self._name or f"a {type(graph).__name__}"
            raise ValueError(f"redraw_every needs a random graph, one of {', '.join(RANDOM)}; received {given}.")
        self._most = None if max_revealed is None else checks.integer("max_revealed", max_revealed, at_least=1)
        self._self_loops = checks.boolean("self_loops", self_loops)
        self._options, self._count = options, count
        self._whole = (
            None if self._name is not None else as_feedback_graph(graph, n_arms=count, self_loops=self._self_loops)
        )
        first = self._draw(np.random.default_rng(0))
        self.n_arms = first.n_arms
        if count is not None and count != self.n_arms:
            raise ValueError(f"n_arms must be the graph's number of nodes, {self.n_arms}; received {count}.")
        if not self._random:
            self._whole = first
        most = self.n_arms if self._random else first.most_revealed
        self.sensitivity = float(most if self._most is None else min(most, self._most))
        self.graph = self._capped(first, np.random.default_rng(0))
        self.reveals_all = not self._random and len(self.graph.revealed) == self.n_arms**2

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game; every random graph of the game comes from `rng`."""
        self._rng = rng
        self._round = 0
        self._next()

    def advance(self, rounds: int = 1) -> None:
        """Advance by `rounds` rounds, which must not go beyond the next change of the graph."""
        self._round += rounds
        if self.redraw_every is not None and self._round % self.redraw_every == 0:
            self._next()

    @property
    def rounds_left(self) -> int | None:
        """Number of rounds until the graph changes; None if it does not change in this game."""
        return None if self.redraw_every is None else self.redraw_every - self._round % self.redraw_every

    def _next(self) -> None:
        graph = self._whole if self._whole is not None else self._draw(self._rng)
        self.graph = self._capped(graph, self._rng)

    def _draw(self, rng: np.random.Generator) -> FeedbackGraph:
        if self._whole is not None:
            return self._whole
        assert self._name is not None
        drawn = named_graph(self._name, self._count, rng, self_loops=self._self_loops, **self._options)
        return as_feedback_graph(drawn, self_loops=self._self_loops)

    def _capped(self, graph: FeedbackGraph, rng: np.random.Generator) -> FeedbackGraph:
        return graph if self._most is None or graph.most_revealed <= self._most else graph.capped(self._most, rng)
