"""Which gains a round reveals: for each arm, the arms whose gains are seen when it is played."""

import dataclasses
import functools
import sys
from array import array
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, Final, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import GraphFileError, WrongTypeError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.protocols import IntArray

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
            sources: Where each edge begins, in [0, K).
            targets: Where each edge leads.
            directed: Whether playing a source reveals its target, but not the other way round.
            self_loops: Whether every arm reveals itself; otherwise only those with an edge to themselves.
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
        """Whether an arm may reveal one that does not reveal it."""
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
        """The size of an independent set, in which no arm reveals another, found greedily by degree: at most alpha."""
        taken = np.zeros(self.n_arms, np.bool_)
        found = 0
        for arm in np.argsort(np.diff(self.starts), kind="stable"):
            if not taken[arm]:
                found += 1
                taken[self.revealed_by(arm)] = True
                taken[self.revealers[self.revealer_starts[arm] : self.revealer_starts[arm + 1]]] = True
                taken[arm] = True
        return found

    @functools.cached_property
    def clique_cover(self) -> list[list[int]]:
        """Cliques that together contain all arms, found greedily by degree.

        In a clique every arm reveals every other. The number of these cliques is an upper bound on the clique cover
        number, the chromatic number of the complement.
        """
        rows = [set(self.revealed_by(arm).tolist()) for arm in range(self.n_arms)]
        left = set(range(self.n_arms))
        cover = []
        for arm in np.argsort(np.diff(self.starts), kind="stable").tolist():
            if arm not in left:
                continue
            clique = [arm]
            # Neighbours of low degree first, so that fewer of them remain as cliques of one arm.
            for other in sorted(rows[arm] & left - {arm}, key=lambda one: len(rows[one])):
                if all(other in rows[member] and member in rows[other] for member in clique):
                    clique.append(other)
            left -= set(clique)
            cover.append(sorted(clique))
        return cover

    def revealed_by(self, arm: int) -> IntArray:
        """Return the arms whose gains are seen when `arm` is played, ascending."""
        return self.revealed[self.starts[arm] : self.starts[arm + 1]]

    def copy(self) -> "FeedbackGraph":
        """Return a graph with its own arrays; changing them changes no game."""
        starts, revealed = self.starts.copy(), self.revealed.copy()
        if not self.directed:
            return FeedbackGraph(starts, revealed, starts, revealed, self.names)
        return FeedbackGraph(starts, revealed, self.revealer_starts.copy(), self.revealers.copy(), self.names)

    def capped(self, most: int, rng: np.random.Generator) -> "FeedbackGraph":
        """Return a graph in which an arm reveals at most `most` arms: itself, if it did before, and others at random.

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


def as_feedback_graph(graph: Any, *, n_arms: SupportsIndex | None = None, self_loops: bool = True) -> FeedbackGraph:
    """Return the feedback graph of a networkx graph, a square matrix, or a file of edges.

    Args:
        graph: A networkx graph: nodes 0, ..., K - 1 are the arms of those numbers; any others become arms 0, 1, ... in
            the graph's order, and `names` keeps their names. Or a matrix, dense or one of scipy's sparse ones, in
            which a number other than 0 in row i and column j means that playing i reveals j; undirected if it is
            symmetric. Or the path of a file with two arm numbers a line, the first arm being 0 (and `#` before
            comments), read as undirected; networkx reads files of other kinds. A `DataFile` can replace a path. A
            `FeedbackGraph` is returned unchanged.
        n_arms: Number of arms of a file, some of which may have no edge; None for one more than the largest number.
        self_loops: Whether every arm reveals its own gain; otherwise only those with an edge to themselves.

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
        return _made(len(nodes), edges, graph.is_directed(), self_loops, None if numbered else tuple(nodes))
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
    """Make a graph from the places where a matrix is not 0; it is undirected if they are symmetric."""
    edges = [*zip(rows.tolist(), columns.tolist(), strict=True)]
    directed = {(column, row) for row, column in edges} != set(edges)
    return _made(n_arms, edges, directed, self_loops)


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


def _made(
    n_arms: int, edges: list[Any], directed: bool, self_loops: bool, names: tuple[Hashable, ...] | None = None
) -> FeedbackGraph:
    if n_arms < SMALLEST:
        raise ValueError(f"a graph must have at least {SMALLEST} arms; received {n_arms}.")
    sources, targets = zip(*edges, strict=True) if edges else ((), ())
    return FeedbackGraph.from_edges(n_arms, sources, targets, directed=directed, self_loops=self_loops, names=names)
