"""Reads a user's graph: a networkx graph, a matrix, or a file of edges."""

import sys
from array import array
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import GraphFileError, WrongTypeError
from dp_bandit_envs.graphs.feedback_graph import FeedbackGraph

SMALLEST: Final = 2


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
            "graph must be a name, a networkx graph, a square matrix or the path of a file of edges; received a"
            f" {type(graph).__name__}{shape}."
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
