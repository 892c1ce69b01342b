"""Takes whatever a user has as a graph: a networkx graph, a matrix, a file of edges."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from dp_bandit_envs.graphs.feedback_graph import FeedbackGraph

SMALLEST = 2


def as_feedback_graph(graph: Any, *, self_loops: bool = True) -> FeedbackGraph:
    """Return the feedback graph of a networkx graph, a square matrix, or a file of edges.

    Args:
        graph: A networkx graph, whose nodes become arms 0, 1, ... in their order; a matrix in which a number other than
            0 in row i and column j means that playing i reveals j, undirected if it is symmetric; or the path of a file
            with two arm numbers a line (and `#` before comments), read as undirected.
        self_loops: Whether every arm reveals its own gain; otherwise only those with an edge to themselves.
    """
    if isinstance(graph, FeedbackGraph):
        return graph
    if isinstance(graph, (str, Path)):
        return _from_file(Path(graph), self_loops)
    if isinstance(graph, nx.Graph):
        number = {node: arm for arm, node in enumerate(graph)}
        edges = [(number[one], number[other]) for one, other in graph.edges()]
        return _made(len(number), edges, graph.is_directed(), self_loops)
    try:
        matrix = np.asarray(graph)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        shape = f" of shape {matrix.shape}" if matrix.size else ""
        raise TypeError(
            "graph must be a name, a networkx graph, a square matrix or the path of a file of edges; received a"
            f" {type(graph).__name__}{shape}."
        )
    if np.isnan(matrix.astype(float)).any():
        raise ValueError("a graph's matrix must hold numbers; it holds nan.")
    directed = not np.array_equal(matrix != 0, matrix.T != 0)
    return _made(len(matrix), [tuple(edge) for edge in np.argwhere(matrix).tolist()], directed, self_loops)


def _from_file(path: Path, self_loops: bool) -> FeedbackGraph:
    if not path.is_file():
        raise ValueError(f"graph must be a name or a file of edges; there is no file {str(path)!r}.")
    edges: list[tuple[int, int]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            raise ValueError(f"{path}, line {number}: must hold two arm numbers, such as 0 3; it holds {line!r}.")
        edges.append((int(words[0]), int(words[1])))
    if not edges:
        raise ValueError(f"{path}: must hold at least one edge; it holds none.")
    return _made(1 + max(max(edge) for edge in edges), edges, False, self_loops)


def _made(n_arms: int, edges: list[Any], directed: bool, self_loops: bool) -> FeedbackGraph:
    if n_arms < SMALLEST:
        raise ValueError(f"a graph must have at least {SMALLEST} arms; received {n_arms}.")
    sources, targets = zip(*edges, strict=True) if edges else ((), ())
    return FeedbackGraph.from_edges(n_arms, sources, targets, directed=directed, self_loops=self_loops)
