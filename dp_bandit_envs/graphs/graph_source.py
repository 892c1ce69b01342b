"""Where a game's graphs come from: graphs by name or a user's; one for all games, one for each, or new ones in it."""

import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import UnknownArgumentError
from dp_bandit_envs.graphs.feedback_graph import FeedbackGraph, as_feedback_graph
from dp_bandit_envs.optional import require

Pairs = Iterable[tuple[int, int]]
SIMPLE: dict[str, Callable[[int], Pairs]] = {
    "complete": lambda n_arms: itertools.combinations(range(n_arms), 2),
    "empty": lambda n_arms: (),
    "star": lambda n_arms: ((0, arm) for arm in range(1, n_arms)),
    "cycle": lambda n_arms: ((arm, (arm + 1) % n_arms) for arm in range(n_arms)),
}
"""The edges of graphs with any number of arms; arm 0 is the centre of the star."""


def cliques(n_arms: int, *, size: int = 5) -> Pairs:
    """Return the edges of separate cliques of `size` arms; the last one may be smaller."""
    starts = range(0, n_arms, size)
    members = (range(start, min(start + size, n_arms)) for start in starts)
    return itertools.chain.from_iterable(itertools.combinations(clique, 2) for clique in members)


def erdos_renyi(n_arms: int, rng: np.random.Generator, *, degree: float = 10.0) -> Any:
    """Return a graph with each edge present with the same probability, for a given mean degree (Gilbert 1959)."""
    return _networkx().fast_gnp_random_graph(n_arms, min(1.0, degree / (n_arms - 1)), seed=_seed(rng))


def planted_partition(n_arms: int, rng: np.random.Generator, *, degree: float = 10.0, groups: int = 10) -> Any:
    """Return a graph of equal groups with nine of ten edges inside them, for a mean degree (Condon and Karp 2001)."""
    # In smaller groups, arms could not have that many neighbours.
    groups = max(1, min(groups, int(n_arms // (degree + 1))))
    sizes = [n_arms // groups + (group < n_arms % groups) for group in range(groups)]
    inside = max(n_arms / groups - 1, 1e-9)
    outside = max(n_arms - n_arms / groups, 1e-9)
    chances = np.full((groups, groups), min(1.0, 0.1 * degree / outside))
    np.fill_diagonal(chances, min(1.0, 0.9 * degree / inside))
    return _networkx().stochastic_block_model(sizes, chances, seed=_seed(rng), sparse=True)


def power_law(n_arms: int, rng: np.random.Generator, *, degree: float = 10.0) -> Any:
    """Return a graph by preferential attachment, with degrees that follow a power law (Barabási and Albert 1999).

    Each new arm gets round(degree / 2) edges to earlier ones, at least 1, so the mean degree is near an even number.
    """
    return _networkx().barabasi_albert_graph(n_arms, max(1, min(n_arms - 1, round(degree / 2))), seed=_seed(rng))


def _networkx() -> Any:
    return require("networkx", extra="graphs")


RANDOM: dict[str, Callable[..., Any]] = {
    "erdos-renyi": erdos_renyi,
    "planted-partition": planted_partition,
    "power-law": power_law,
}
"""Random families; `degree` is the mean number of neighbours, rounded to an even number for the power law."""


def _shipped(name: str, source: str) -> tuple[Callable[[], Any], str]:
    """Return what makes a graph that networkx ships, and its source."""
    return lambda: getattr(_networkx(), name)(), source


REAL = {
    "karate-club": _shipped("karate_club_graph", "Zachary (1977), members of a karate club, 34 arms"),
    "les-miserables": _shipped("les_miserables_graph", "Knuth (1993), characters of Les Misérables, 77 arms"),
    "davis-southern-women": _shipped(
        "davis_southern_women_graph", "Davis, Gardner and Gardner (1941), 18 women and 14 events, 32 arms"
    ),
    "florentine-families": _shipped(
        "florentine_families_graph", "Breiger and Pattison (1986), marriages of Florentine families, 15 arms"
    ),
}
"""Real social graphs, each with its source."""

NAMES = (*SIMPLE, "cliques", *RANDOM, *REAL)


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
            given = self._name or checks.kind_of(graph)
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


def named_graph(
    name: str, n_arms: int | None, rng: np.random.Generator, *, self_loops: bool = True, **options: Any
) -> Any:
    """Return a graph by name: one of networkx where it comes from there, else a `FeedbackGraph`.

    Args:
        name: One of `NAMES`.
        n_arms: Number of arms; None for real graphs, which have their own.
        rng: The stream of random families.
        self_loops: Whether every arm of a `FeedbackGraph` reveals its own gain.
        options: `degree`, `groups` or `size`, where the graph has them.

    Raises:
        ImportError: If networkx is needed and not installed.
    """
    known = checks.known_name("graph", name, NAMES)
    if known in REAL:
        if options:
            raise _no_options(known, options)
        return REAL[known][0]()
    count = 10 if n_arms is None else n_arms
    if known in RANDOM:
        return RANDOM[known](count, rng, **_positive(known, options, ("degree", "groups")))
    if known == "cliques":
        edges = cliques(count, **_positive(known, options, ("size",)))
    elif options:
        raise _no_options(known, options)
    else:
        edges = SIMPLE[known](count)
    ends = np.array([*edges], np.int64).reshape(-1, 2)
    return FeedbackGraph.from_edges(count, ends[:, 0], ends[:, 1], directed=False, self_loops=self_loops)


def _no_options(graph: str, options: dict[str, Any]) -> UnknownArgumentError:
    return UnknownArgumentError(f"the graph {graph!r}", next(iter(options)), "It has no options.")


def _positive(graph: str, options: dict[str, Any], allowed: tuple[str, ...]) -> dict[str, Any]:
    if graph != "planted-partition":
        allowed = tuple(name for name in allowed if name != "groups")
    checked: dict[str, Any] = {}
    for name, value in options.items():
        if name not in allowed:
            raise UnknownArgumentError(f"the graph {graph!r}", name, f"Known: {', '.join(allowed)}.")
        if name == "degree":
            checked[name] = checks.at_least(name, value, 0)
        else:
            checked[name] = checks.integer(name, value, at_least=1)
    return checked


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**32))


def _is_given(graph: Any) -> bool:
    """Whether this is a graph or the path of one, rather than a name."""
    if not isinstance(graph, str):
        return True
    # os.path, because Path refuses names that are too long instead of saying that there is no such file.
    return graph.lower() not in NAMES and ("." in graph or "/" in graph or os.path.isfile(graph))
