"""Feedback graphs: for each arm, the arms whose gains its play reveals; and sources of graphs."""

import dataclasses
import functools
import itertools
import os
import sys
from array import array
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, Final, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.checks import require
from dp_bandit_envs.errors import GraphFileError, UnknownArgumentError, WrongTypeError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.protocols import IntArray

__all__ = ["NAMES", "REAL", "FeedbackGraph", "GraphSource", "as_feedback_graph"]

SMALLEST: Final = 2


@dataclasses.dataclass(frozen=True, eq=False)
class FeedbackGraph:
    """A feedback graph stored as rows of arm numbers; memory is linear in arms and edges.

    Playing arm i reveals the gains of `revealed_by(i)`: its closed neighbourhood. In a directed graph these are the
    arms that an edge leads to.

    Attributes:
        starts: Where each arm's row begins in `revealed`, shape `(n_arms + 1,)`.
        revealed: The arms that each arm reveals, ascending within a row, shape `(entries,)`.
        revealer_starts, revealers: The transpose: the arms that reveal each arm. In an undirected graph, the same two
            arrays.
        names: The nodes' original names, in the order of the arms; None if they were arm numbers.
    """

    starts: IntArray
    revealed: IntArray
    revealer_starts: IntArray
    revealers: IntArray
    names: tuple[Hashable, ...] | None = None

    @classmethod
    def from_edges(
        cls,
        n_arms: int,
        sources: Iterable[int],
        targets: Iterable[int],
        *,
        directed: bool,
        self_loops: bool = True,
        names: tuple[Hashable, ...] | None = None,
    ) -> "FeedbackGraph":
        """Make a graph from its edges; duplicate edges count once.

        Args:
            n_arms: Number of arms K.
            sources: Source of each edge, in [0, K).
            targets: Target of each edge.
            directed: Whether playing a source reveals its target, but not vice versa.
            self_loops: Whether every arm reveals itself; otherwise only arms with an edge to themselves.
            names: As in the attribute.
        """
        first, second = (
            np.asarray(ends if isinstance(ends, np.ndarray) else list(ends), np.int64) for ends in (sources, targets)
        )
        for ends in (first, second):
            if ends.size and not (ends.min() >= 0 and ends.max() < n_arms):
                raise ValueError(f"edges must join arms in [0, {n_arms - 1}]; one of them does not.")
        if not directed:
            first, second = np.concatenate([first, second]), np.concatenate([second, first])
        if self_loops:
            every = np.arange(n_arms)
            first, second = np.concatenate([first, every]), np.concatenate([second, every])
        keys = np.unique(first * n_arms + second)
        first, second = keys // n_arms, keys % n_arms
        starts = np.searchsorted(first, np.arange(n_arms + 1))
        if not directed:
            return cls(starts, second, starts, second, names)
        order = np.lexsort((first, second))
        return cls(starts, second, np.searchsorted(second[order], np.arange(n_arms + 1)), first[order], names)

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.starts) - 1

    @property
    def directed(self) -> bool:
        """Whether revealing may be one-sided."""
        return self.revealers is not self.revealed

    @property
    def most_revealed(self) -> int:
        """The most gains that one round reveals: the L1 sensitivity of observations."""
        return int(np.diff(self.starts).max())

    @property
    def edges(self) -> int:
        """Number of edges without self-loops; an undirected edge counts twice."""
        rows = np.repeat(np.arange(self.n_arms), np.diff(self.starts))
        return int(np.count_nonzero(rows != self.revealed))

    @functools.cached_property
    def reveals_itself(self) -> bool:
        """Whether every arm reveals its own gain."""
        rows = np.repeat(np.arange(self.n_arms), np.diff(self.starts))
        return int(np.count_nonzero(rows == self.revealed)) == self.n_arms

    @functools.cached_property
    def independent_arms(self) -> int:
        """The size of an independent set (no arm reveals another), found greedily by degree: at most alpha."""
        taken = np.zeros(self.n_arms, np.bool_)
        size = 0
        for arm in np.argsort(np.diff(self.starts), kind="stable"):
            if not taken[arm]:
                size += 1
                taken[self.revealed_by(arm)] = True
                taken[self.revealers[self.revealer_starts[arm] : self.revealer_starts[arm + 1]]] = True
                taken[arm] = True
        return size

    @functools.cached_property
    def clique_cover(self) -> list[list[int]]:
        """A clique cover of the arms, found greedily by degree.

        In a clique every arm reveals every other. The number of cliques is an upper bound on the clique cover number,
        the chromatic number of the complement.
        """
        rows = [set(self.revealed_by(arm).tolist()) for arm in range(self.n_arms)]
        left = set(range(self.n_arms))
        cover = []
        for arm in np.argsort(np.diff(self.starts), kind="stable").tolist():
            if arm not in left:
                continue
            clique = [arm]
            # Neighbours of low degree first, so that fewer of them remain as cliques of one arm.
            for other in sorted(rows[arm] & left - {arm}, key=lambda neighbour: len(rows[neighbour])):
                if all(other in rows[member] and member in rows[other] for member in clique):
                    clique.append(other)
            left -= set(clique)
            cover.append(sorted(clique))
        return cover

    def revealed_by(self, arm: int) -> IntArray:
        """Return the arms that playing `arm` reveals, ascending."""
        return self.revealed[self.starts[arm] : self.starts[arm + 1]]

    def copy(self) -> "FeedbackGraph":
        """Return a graph with its own arrays; changing them changes no game."""
        starts, revealed = self.starts.copy(), self.revealed.copy()
        if not self.directed:
            return FeedbackGraph(starts, revealed, starts, revealed, self.names)
        return FeedbackGraph(starts, revealed, self.revealer_starts.copy(), self.revealers.copy(), self.names)

    def in_order(self, order: IntArray) -> "FeedbackGraph":
        """Return the same graph with renumbered arms: arm i was arm `order[i]`."""
        number = np.argsort(order)
        rows = np.repeat(np.arange(self.n_arms), np.diff(self.starts))
        return FeedbackGraph.from_edges(
            self.n_arms,
            number[rows],
            number[self.revealed],
            directed=self.directed,
            self_loops=False,
            names=None if self.names is None else tuple(self.names[arm] for arm in order),
        )

    def capped(self, most: int, rng: np.random.Generator) -> "FeedbackGraph":
        """Return a graph with at most `most` revealed arms per arm: itself, if it did before, and others at random.

        The draw depends on the graph only, never on gains, so the result is public.
        """
        rows, kept = [], []
        for arm in range(self.n_arms):
            row = self.revealed_by(arm)
            if len(row) > most:
                others = row[row != arm]
                room = most - (len(others) < len(row))
                row = np.append(rng.choice(others, room, replace=False), [arm] * (len(others) < len(row)))
            rows.append(np.full(len(row), arm))
            kept.append(row)
        return FeedbackGraph.from_edges(
            self.n_arms,
            np.concatenate(rows),
            np.concatenate(kept),
            directed=True,
            self_loops=False,
            names=self.names,
        )


@checks.answers_wrong_calls
def as_feedback_graph(graph: Any, *, n_arms: SupportsIndex | None = None, self_loops: bool = True) -> FeedbackGraph:
    """Return the feedback graph of a networkx graph, a square matrix, or a file of edges.

    Args:
        graph: A networkx graph: nodes 0, ..., K - 1 are the arms of those numbers; other nodes become arms 0, 1, ... in
            the graph's order, and `names` keeps their names. Or a dense or scipy sparse matrix: a nonzero entry in row
            i and column j means that playing i reveals j; undirected if it is symmetric. Or the path of a file with two
            arm numbers per line, from 0 (and `#` before comments), read as undirected; for other formats use networkx.
            A `DataFile` can replace a path. A `FeedbackGraph` is returned unchanged.
        n_arms: Number of arms of a file, including arms without an edge; None for one more than the largest number.
        self_loops: Whether every arm reveals its own gain; otherwise only arms with an edge to themselves.

    Raises:
        GraphFileError: If a file breaks a rule; the message names file, line and column.
    """
    if isinstance(graph, FeedbackGraph):
        return graph
    if isinstance(graph, (str, Path)):
        graph = DataFile.read(graph, error=GraphFileError)
    if isinstance(graph, DataFile):
        return _from_file(graph, n_arms, self_loops)
    networkx = sys.modules.get("networkx")  # loaded if this is one of its graphs
    if networkx is not None and isinstance(graph, networkx.Graph):
        nodes = list(graph)
        numbered = set(nodes) == set(range(len(nodes)))
        number = {node: node if numbered else arm for arm, node in enumerate(nodes)}
        edges = [(number[one], number[other]) for one, other in graph.edges()]
        return _graph_of_edges(len(nodes), edges, graph.is_directed(), self_loops, None if numbered else tuple(nodes))
    if hasattr(graph, "tocoo"):
        return _from_sparse(graph.tocoo(), self_loops)
    try:
        matrix = np.asarray(graph)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        shape = f" of shape {matrix.shape}" if matrix.size else ""
        raise WrongTypeError(
            "graph must be a name, a networkx graph, a square matrix or the path of a file of edges; received"
            f" {checks.kind_of(graph)}{shape}."
        )
    if np.isnan(matrix.astype(float)).any():
        raise ValueError("a graph's matrix must hold numbers; it holds nan.")
    rows, columns = np.nonzero(matrix)
    return _from_entries(len(matrix), rows, columns, self_loops)


def _from_sparse(entries: Any, self_loops: bool) -> FeedbackGraph:
    """Read the coordinates of a sparse matrix; scipy itself is not needed."""
    if len(set(entries.shape)) != 1:
        raise WrongTypeError(f"a graph's matrix must be square; received one of shape {entries.shape}.")
    if np.isnan(np.asarray(entries.data, float)).any():
        raise ValueError("a graph's matrix must hold numbers; it holds nan.")
    kept = np.asarray(entries.data) != 0
    return _from_entries(
        int(entries.shape[0]), np.asarray(entries.row)[kept], np.asarray(entries.col)[kept], self_loops
    )


def _from_entries(n_arms: int, rows: Any, columns: Any, self_loops: bool) -> FeedbackGraph:
    """Make a graph from the nonzero entries of a matrix; it is undirected if they are symmetric."""
    edges = [*zip(rows.tolist(), columns.tolist(), strict=True)]
    directed = {(column, row) for row, column in edges} != set(edges)
    return _graph_of_edges(n_arms, edges, directed, self_loops)


def _from_file(file: DataFile, n_arms: SupportsIndex | None, self_loops: bool) -> FeedbackGraph:
    # A flat array takes a tenth of the memory of pairs of Python integers.
    ends = array("q")
    for number, line in enumerate(file.lines(error=GraphFileError), start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if len(words) != 2:
            raise GraphFileError(
                f"{file.name}, line {number}: must hold two arm numbers, such as 0 3; entries received: {len(words)}."
            )
        for column, word in enumerate(words, start=1):
            # The entry is not shown: a file of gains may have been given by mistake.
            if not (word.isascii() and word.isdecimal()):
                raise GraphFileError(
                    f"{file.name}, line {number}, column {column}: must hold two arm numbers, such as 0 3; the entry"
                    " there is not a whole number. Number the arms 0, 1, 2, ..."
                )
            if len(word) > 9 or int(word) >= checks.MOST_ARMS:
                raise GraphFileError(
                    f"{file.name}, line {number}, column {column}: arms must be in [0, {checks.MOST_ARMS - 1:,}];"
                    f" received {word if len(word) <= 20 else f'a number of {len(word):,} digits'}. Number the arms"
                    " from 0 without large gaps."
                )
            ends.append(int(word))
    if not ends:
        raise GraphFileError(f"{file.name}: must hold at least one edge; it holds none. Write two arm numbers a line.")
    edges = np.frombuffer(ends, np.int64).reshape(-1, 2)
    needed = 1 + int(edges.max())
    count = needed if n_arms is None else checks.integer("n_arms", n_arms, at_least=2)
    if count < needed:
        raise ValueError(f"n_arms must be at least {needed}, as {file.name} has an arm {needed - 1}; received {count}.")
    if count > checks.MOST_ARMS:
        raise ValueError(f"n_arms must be at most {checks.MOST_ARMS:,} for a file of edges; received {count}.")
    if count < SMALLEST:
        raise GraphFileError(
            f"{file.name}: a graph must have at least {SMALLEST} arms; received {count}. Use n_arms=... if others have"
            " no edges."
        )
    return FeedbackGraph.from_edges(count, edges[:, 0], edges[:, 1], directed=False, self_loops=self_loops)


def _graph_of_edges(
    n_arms: int, edges: list[Any], directed: bool, self_loops: bool, names: tuple[Hashable, ...] | None = None
) -> FeedbackGraph:
    if n_arms < SMALLEST:
        raise ValueError(f"a graph must have at least {SMALLEST} arms; received {n_arms}.")
    sources, targets = zip(*edges, strict=True) if edges else ((), ())
    return FeedbackGraph.from_edges(n_arms, sources, targets, directed=directed, self_loops=self_loops, names=names)


Pairs = Iterable[tuple[int, int]]
SIMPLE: dict[str, Callable[[int], Pairs]] = {
    "complete": lambda n_arms: itertools.combinations(range(n_arms), 2),
    "empty": lambda n_arms: (),
    "star": lambda n_arms: ((0, arm) for arm in range(1, n_arms)),
    "cycle": lambda n_arms: ((arm, (arm + 1) % n_arms) for arm in range(n_arms)),
}
"""The edges of graphs with any number of arms; arm 0 is the centre of the star."""


def cliques(n_arms: int, *, size: int = 5) -> Pairs:
    """Return the edges of separate cliques of `size` arms; the last clique may be smaller."""
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

    Each new arm gets round(degree / 2) edges to earlier arms, at least 1, so the mean degree is near an even number.
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


def _graph_of_networkx(name: str, source: str) -> tuple[Callable[[], Any], str]:
    """Return the function that makes one of networkx's graphs, and its source."""
    return lambda: getattr(_networkx(), name)(), source


REAL = {
    "karate-club": _graph_of_networkx("karate_club_graph", "Zachary (1977), members of a karate club, 34 arms"),
    "les-miserables": _graph_of_networkx("les_miserables_graph", "Knuth (1993), characters of Les Misérables, 77 arms"),
    "davis-southern-women": _graph_of_networkx(
        "davis_southern_women_graph", "Davis, Gardner and Gardner (1941), 18 women and 14 events, 32 arms"
    ),
    "florentine-families": _graph_of_networkx(
        "florentine_families_graph", "Breiger and Pattison (1986), marriages of Florentine families, 15 arms"
    ),
}
"""Real social graphs, each with its source."""

NAMES = (*SIMPLE, "cliques", *RANDOM, *REAL)
OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "cliques": ("size",),
    "erdos-renyi": ("degree",),
    "planted-partition": ("degree", "groups"),
    "power-law": ("degree",),
}
"""The options of named graphs; graphs missing here have none."""


class GraphSource:
    """Supplies the graph of each round; it never sees gains, so its graphs are public.

    Args:
        graph: A name of `dp_bandit_envs.graphs.NAMES`, or anything that `as_feedback_graph` reads.
        n_arms: Number of arms of a named graph or a file; None for the graph's own number, or 10.
        redraw_every: Number of rounds between graphs of a random family; None for one graph per game.
        max_revealed: The most gains that a round may reveal: the arm's own and random others among the graph's. None
            for all.
        self_loops: Whether every arm reveals its own gain; otherwise only those with an edge to themselves.
        options: Options of a named graph.

    Attributes:
        n_arms: Number of arms.
        sensitivity: The most gains that one round can reveal, in all games.
        graph: The graph of the next round.
        is_fixed: Whether every round of all games has this graph, up to the numbers of its arms.
        is_given: Whether it is the user's own graph.
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
        self.is_given, self._random = self._name is None, self._name in RANDOM
        self.redraw_every = None if redraw_every is None else checks.integer("redraw_every", redraw_every, at_least=1)
        if self.redraw_every is not None and not self._random:
            received = self._name or checks.kind_of(graph)
            raise ValueError(f"redraw_every needs a random graph, one of {', '.join(RANDOM)}; received {received}.")
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
        self.is_fixed = not self._random and self.graph is first
        self.reveals_all = not self._random and len(self.graph.revealed) == self.n_arms**2

    def begin(self, rng: np.random.Generator, order: IntArray | None = None) -> None:
        """Start a new game; every random graph of the game comes from `rng`, and arm i is the given arm `order[i]`."""
        self._rng, self._order = rng, order
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
        graph = self._capped(graph, self._rng)
        self.graph = graph if self._order is None else graph.in_order(self._order)

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
    """Return a graph by name: a networkx graph if it comes from networkx, else a `FeedbackGraph`.

    Args:
        name: One of `NAMES`.
        n_arms: Number of arms; None for real graphs, which have their own.
        rng: The stream of random families.
        self_loops: Whether every arm of a `FeedbackGraph` reveals its own gain.
        options: `degree`, `groups` or `size`, if the graph has them.

    Raises:
        ImportError: If networkx is needed and not installed.
    """
    family = checks.known_name("graph", name, NAMES)
    checked = _checked_options(family, options)
    if family in REAL:
        return REAL[family][0]()
    count = 10 if n_arms is None else n_arms
    if family in RANDOM:
        return RANDOM[family](count, rng, **checked)
    edges = cliques(count, **checked) if family == "cliques" else SIMPLE[family](count)
    ends = np.array([*edges], np.int64).reshape(-1, 2)
    return FeedbackGraph.from_edges(count, ends[:, 0], ends[:, 1], directed=False, self_loops=self_loops)


def _checked_options(graph: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a named graph, or raise."""
    allowed = OPTIONS.get(graph, ())
    checked: dict[str, Any] = {}
    for name, value in options.items():
        if name not in allowed:
            hint = f"Known: {', '.join(allowed)}." if allowed else "It has no options."
            raise UnknownArgumentError(f"the graph {graph!r}", name, hint)
        checked[name] = checks.at_least(name, value, 0) if name == "degree" else checks.integer(name, value, at_least=1)
    return checked


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**32))


def _is_given(graph: Any) -> bool:
    """Whether this is a graph or a path, rather than a name."""
    if not isinstance(graph, str):
        return True
    # os.path, because Path refuses names that are too long instead of saying that there is no such file.
    return graph.lower() not in NAMES and ("." in graph or "/" in graph or os.path.isfile(graph))
