"""A feedback graph holds the right rows, the right transpose and no more memory than its edges need."""

import gzip
import itertools
import tracemalloc

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from dp_bandit_envs.checks import MOST_ARMS
from dp_bandit_envs.errors import DataFileError, GraphFileError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.graphs import FeedbackGraph, GraphSource, as_feedback_graph
from tests.tools.graph_games import DIRECTED, columns_of, rows_of
from tests.tools.refusals import refused

PATH_ROWS = [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]
DIRECTED_ROWS = [[0, 2], [1, 2], [2, 3], [0, 3]]
DIRECTED_COLUMNS = [[0, 3], [1], [0, 1, 2], [2, 3]]


def brute(matrix):
    """Return rows and columns of a matrix of booleans."""
    return [np.flatnonzero(row).tolist() for row in matrix], [np.flatnonzero(row).tolist() for row in matrix.T]


def some_graphs():
    """Yield small graphs of all kinds, with the matrix of each."""
    rng = np.random.default_rng(5)
    for n_arms, chance, directed, loops in itertools.product((2, 5, 8), (0.0, 0.3, 0.7, 1.0), (0, 1), (0, 1)):
        matrix = rng.random((n_arms, n_arms)) < chance
        if not directed:
            matrix |= matrix.T
        if loops:
            np.fill_diagonal(matrix, True)
        yield matrix


# ---- from networkx -------------------------------------------------------------------------------------------------


def test_an_undirected_graph_reveals_closed_neighbourhoods():
    graph = as_feedback_graph(nx.path_graph(4))
    assert rows_of(graph) == columns_of(graph) == PATH_ROWS
    assert (graph.n_arms, graph.most_revealed, graph.edges) == (4, 3, 6)


def test_without_self_loops_only_the_neighbours_are_revealed():
    plain = nx.path_graph(4)
    plain.add_edge(3, 3)
    graph = as_feedback_graph(plain, self_loops=False)
    assert rows_of(graph) == [[1], [0, 2], [1, 3], [2, 3]]
    assert graph.edges == 6  # an arm with itself is no edge
    assert rows_of(as_feedback_graph(plain)) == PATH_ROWS


def test_a_directed_graph_reveals_where_its_edges_lead():
    graph = as_feedback_graph(DIRECTED)
    assert rows_of(graph) == DIRECTED_ROWS
    assert columns_of(graph) == DIRECTED_COLUMNS
    assert (graph.most_revealed, graph.edges) == (2, 4)
    bare = as_feedback_graph(DIRECTED, self_loops=False)
    assert rows_of(bare) == [[2], [2], [3], [0]]
    assert columns_of(bare) == [[3], [], [0, 1], [2]]


def test_double_edges_count_once():
    several = nx.MultiDiGraph([(0, 1), (0, 1), (1, 0), (0, 0)])
    assert rows_of(as_feedback_graph(several)) == [[0, 1], [0, 1]]
    graph = FeedbackGraph.from_edges(3, [0, 1, 0, 0], [1, 0, 1, 0], directed=False)
    assert rows_of(graph) == [[0, 1], [0, 1], [2]]
    assert graph.revealed.dtype == graph.starts.dtype == np.int64
    bare = as_feedback_graph(nx.empty_graph(3), self_loops=False)
    assert rows_of(bare) == columns_of(bare) == [[], [], []]
    assert bare.most_revealed == bare.edges == 0


def test_matrices_of_every_kind_give_the_same_graph_as_networkx():
    for matrix in some_graphs():
        rows, columns = brute(matrix)
        symmetric = np.array_equal(matrix, matrix.T)
        for kind in (bool, np.int8, np.uint16, float):
            graph = as_feedback_graph((matrix * 2).astype(kind), self_loops=False)
            assert (rows_of(graph), columns_of(graph)) == (rows, columns)
        for kind in ("csr_matrix", "coo_array", "csc_array", "lil_matrix"):
            graph = as_feedback_graph(getattr(scipy.sparse, kind)(matrix.astype(float)), self_loops=False)
            assert (rows_of(graph), columns_of(graph), graph.directed) == (rows, columns, not symmetric)
        theirs = nx.from_numpy_array(matrix, create_using=nx.Graph if symmetric else nx.DiGraph)
        graph = as_feedback_graph(theirs, self_loops=False)
        assert (rows_of(graph), columns_of(graph)) == (rows, columns)
        graph = as_feedback_graph(matrix.tolist())
        looped = brute(matrix | np.eye(len(matrix), dtype=bool))
        assert (rows_of(graph), columns_of(graph)) == looped
        assert graph.edges == sum(map(len, looped[0])) - graph.n_arms


def test_a_symmetric_matrix_is_undirected_whatever_its_weights():
    graph = as_feedback_graph([[0, 3, 0], [-1, 0, 0], [0, 0, 0]])
    assert rows_of(graph) == [[0, 1], [0, 1], [2]]
    assert graph.revealers is graph.revealed
    one_way = as_feedback_graph([[0, 3, 0], [0, 0, 0], [0, 0, 0]])
    assert (rows_of(one_way), columns_of(one_way)) == ([[0, 1], [1], [2]], [[0], [0, 1], [2]])


def test_a_file_of_edges_may_have_comments_commas_and_blank_lines(tmp_path, monkeypatch):
    path = tmp_path / "edges.csv"
    text = "# two arm numbers a line\n0, 1\n\n1\t2  # an edge\n3,3\n2 1\n"
    path.write_text(text, encoding="utf-8-sig")
    for given in (path, str(path), DataFile("edges.gz", gzip.compress(text.encode()))):
        assert rows_of(as_feedback_graph(given)) == [[0, 1], [0, 1, 2], [1, 2], [3]]
    assert rows_of(as_feedback_graph(path, self_loops=False)) == [[1], [0, 2], [1], [3]]
    # Arms without edges; and a name without dot or folder, but a known name is that graph, whatever files there are.
    assert rows_of(as_feedback_graph(path, n_arms=5))[4] == [4]
    monkeypatch.chdir(tmp_path)
    for name in ("edges", "star"):
        (tmp_path / name).write_text("0 1\n1 2\n", encoding="utf-8")
    assert rows_of(GraphSource("edges").graph) == [[0, 1], [0, 1, 2], [1, 2]]
    assert rows_of(GraphSource("edges", n_arms=4).graph)[3] == [3]
    assert GraphSource("star", n_arms=5).n_arms == 5
    with refused(ValueError, "n_arms", 4, str(path), 3):
        as_feedback_graph(path, n_arms=3)
    for name in ("edgse", "long" * 200):
        with refused(KeyError, "graph", repr(name)):
            GraphSource(name)


def test_nodes_that_are_numbers_of_arms_stay_those_arms_and_others_come_in_order():
    """Read edge by edge, node 3 comes second; it is arm 3 all the same."""
    graph = as_feedback_graph(nx.Graph([(0, 3), (3, 1), (1, 2)]))
    assert rows_of(graph) == [[0, 3], [1, 2, 3], [1, 2], [0, 1, 3]]
    assert graph.names is None
    named = as_feedback_graph(nx.Graph([("x", ("z", 1)), (("z", 1), "y")]))
    assert named.names == ("x", ("z", 1), "y") and rows_of(named) == [[0, 1], [0, 1, 2], [1, 2]]
    assert named.capped(2, np.random.default_rng(0)).names == named.names
    # Numbers with gaps are names as well.
    assert as_feedback_graph(nx.Graph([(5, 7)])).names == (5, 7)


def test_what_is_no_graph_is_refused():
    for graph, error, words in [
        (scipy.sparse.csr_matrix(np.ones((2, 3))), TypeError, ["square", "(2, 3)"]),
        (np.zeros((2, 3)), TypeError, ["graph", "square", "ndarray", "(2, 3)"]),
        (np.zeros(4), TypeError, ["graph", "networkx", "ndarray", "(4,)"]),
        ([[0, 1], [1]], TypeError, ["graph", "list"]),
        ([["0", "1"], ["1", "0"]], TypeError, ["graph", "list"]),
        (np.zeros((2, 2), complex), TypeError, ["graph", "ndarray"]),
        (5, TypeError, ["graph", "int"]),
        ([[0.0, np.nan], [0.0, 0.0]], ValueError, ["matrix", np.nan]),
        (np.ones((1, 1)), ValueError, ["graph", 2, 1]),
        (nx.empty_graph(1), ValueError, ["graph", 2, 1]),
    ]:
        with refused(error, *words):
            as_feedback_graph(graph)


def test_memory_is_linear_in_edges():
    """K = 10,000 and 50,000 edges: K x K would be 100 MB in single bytes, 800 MB in numbers."""
    n_arms, rng = 10_000, np.random.default_rng(1)
    sources, targets = rng.integers(n_arms, size=(2, 50_000))
    tracemalloc.start()
    graph = FeedbackGraph.from_edges(n_arms, sources, targets, directed=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    entries = len(graph.revealed)
    assert n_arms + 49_000 < entries <= n_arms + 50_000
    arrays = (graph.starts, graph.revealed, graph.revealer_starts, graph.revealers)
    assert sum(array.nbytes for array in arrays) / 8 == 2 * (entries + n_arms + 1)
    # A dozen copies on the way, of 8 bytes an entry, and Python's numbers of 40 bytes: but nothing near K x K.
    assert peak < min(250 * entries, n_arms**2 / 2)


@pytest.mark.thorough
def test_capping_and_covering_ten_thousand_arms_needs_no_square():
    n_arms = 10_000
    graph = as_feedback_graph(nx.barabasi_albert_graph(n_arms, 5, seed=1))
    tracemalloc.start()
    capped = graph.capped(20, np.random.default_rng(0))
    assert graph.independent_arms > n_arms / 10
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert capped.most_revealed == 20 < graph.most_revealed
    assert peak < n_arms**2 / 4


@pytest.mark.parametrize(("most", "self_loops"), [(1, True), (3, True), (2, False)])
def test_a_capped_graph_keeps_the_own_arm_and_some_of_the_others(most, self_loops):
    rng = np.random.default_rng(3)
    for matrix in some_graphs():
        whole = as_feedback_graph(matrix, self_loops=self_loops)
        capped = whole.capped(most, rng)
        for arm, (before, after) in enumerate(zip(rows_of(whole), rows_of(capped), strict=True)):
            assert len(after) == min(len(before), most)
            assert set(after) <= set(before)
            assert (arm in after) == (arm in before)
            assert after == sorted(after)
        for arm, column in enumerate(columns_of(capped)):
            assert column == [one for one, row in enumerate(rows_of(capped)) if arm in row]


@pytest.mark.thorough
def test_every_neighbour_is_kept_equally_often():
    """3 of 5 neighbours stay, each with chance 0.6: a mean with standard error sqrt(0.24 / n); allow five of them.

    False alarm: 3e-6 (five standard errors, two sides, five neighbours).
    """
    whole = as_feedback_graph(nx.star_graph(5))
    n, rng, kept = 4000, np.random.default_rng(8), np.zeros(6)
    for _ in range(n):
        kept[rows_of(whole.capped(4, rng))[0]] += 1
    assert kept[0] == n
    assert np.abs(kept[1:] / n - 0.6).max() < 5 * np.sqrt(0.24 / n)
    assert rows_of(whole.capped(4, np.random.default_rng(2))) == rows_of(whole.capped(4, np.random.default_rng(2)))


# ---- independent arms and cliques ----------------------------------------------------------------------------------


def independence_number(rows):
    """Return the size of the largest set of arms of which none reveals another, by trying all."""
    n_arms = len(rows)
    linked = [[j in rows[i] or i in rows[j] for j in range(n_arms)] for i in range(n_arms)]
    best = 0
    for chosen in range(1, 2**n_arms):
        members = [arm for arm in range(n_arms) if chosen >> arm & 1]
        if len(members) > best and not any(linked[i][j] for i, j in itertools.combinations(members, 2)):
            best = len(members)
    return best


def cover_number(rows):
    """Return the fewest cliques that hold all arms, by the best last clique of every set of arms."""
    n_arms = len(rows)
    mutual = [sum(1 << j for j in rows[i] if i in rows[j] and j != i) for i in range(n_arms)]
    clique = [True] * 2**n_arms
    fewest = [0] * 2**n_arms
    for chosen in range(1, 2**n_arms):
        lowest = (chosen & -chosen).bit_length() - 1
        rest = chosen & (chosen - 1)
        clique[chosen] = clique[rest] and rest & ~mutual[lowest] == 0
        part, best = chosen, n_arms
        while part:
            if part >> lowest & 1 and clique[part]:
                best = min(best, 1 + fewest[chosen ^ part])
            part = (part - 1) & chosen
        fewest[chosen] = best
    return fewest[-1]


def greedy_set(graph):
    """Return a set that the greedy rule finds, by asking for it again without the library's arrays."""
    rows, free, found = rows_of(graph), set(range(graph.n_arms)), []
    for arm in sorted(free, key=lambda one: (len(rows[one]), one)):
        if arm in free:
            found.append(arm)
            free -= {arm, *rows[arm], *(other for other in free if arm in rows[other])}
    return found


def test_independent_arms_are_independent_and_at_most_alpha():
    exact = 0
    for matrix in some_graphs():
        for self_loops in (True, False):
            graph = as_feedback_graph(matrix, self_loops=self_loops)
            rows = rows_of(graph)
            found = greedy_set(graph)
            assert graph.independent_arms == len(found)
            assert not any(j in rows[i] or i in rows[j] for i, j in itertools.combinations(found, 2))
            alpha = independence_number(rows)
            assert 1 <= graph.independent_arms <= alpha
            exact += graph.independent_arms == alpha
    assert exact > 60  # of 96: a rule that finds 1 everywhere would not do


def test_a_cover_holds_every_arm_once_in_cliques_of_both_directions():
    exact = total = 0
    for matrix in some_graphs():
        graph = as_feedback_graph(matrix)
        rows = rows_of(graph)
        cover = graph.clique_cover
        assert sorted(arm for clique in cover for arm in clique) == list(range(graph.n_arms))
        for clique in cover:
            assert clique == sorted(clique)
            assert all(j in rows[i] and i in rows[j] for i, j in itertools.combinations(clique, 2))
        optimum = cover_number(rows)
        assert optimum <= len(cover)
        exact += len(cover) == optimum
        total += 1
    assert exact > 0.75 * total
    # In a directed cycle no two arms reveal each other.
    one_way = as_feedback_graph(nx.cycle_graph(6, create_using=nx.DiGraph))
    assert (one_way.independent_arms, len(one_way.clique_cover)) == (3, 6)


# ---- wrong files of edges ------------------------------------------------------------------------------------------


WRONG = {
    "a weight": (b"# edges\n0 1\n0 1 0.5\n", ["line 3", "0 3", 3]),
    "a negative arm": (b"0 1\n0 -1\n", ["line 2, column 2", "0 3"]),
    "a half": (b"0 1\n1.0 2\n", ["line 2, column 1"]),
    "semicolons": (b"0 1\n0;1\n", ["line 2", "0 3", 1]),
    "a digit of another alphabet": ("0 1\n٣ 1\n".encode(), ["line 2, column 1"]),
    "5,000 digits": (b"0 1\n0 " + b"9" * 5000 + b"\n", ["line 2, column 2", "[0, 999,999]", "5,000 digits"]),
    "too many arms": (b"0 50000000\n", ["line 1, column 2", "[0, 999,999]", 50000000]),
    "no edges": (b"# nothing\n", ["none"]),
    "one arm alone": (b"0 0\n", [2, 1, "n_arms="]),
}


def file_refused(given, *words):
    """Assert that a file is refused with a sentence that begins with its name and names all the words."""
    with refused(GraphFileError, *words) as caught:
        as_feedback_graph(given)
    message = str(caught.value)
    assert message.startswith(given.name if isinstance(given, DataFile) else str(given))
    assert message.endswith(".")
    assert issubclass(GraphFileError, DataFileError) and issubclass(DataFileError, ValueError)


@pytest.mark.parametrize(("content", "words"), WRONG.values(), ids=WRONG.keys())
def test_wrong_files_are_refused_with_line_and_column(tmp_path, content, words):
    path = tmp_path / "edges.txt"
    path.write_bytes(content)
    file_refused(path, *words)
    file_refused(DataFile("edges.txt", content), *words)
    with pytest.raises(GraphFileError):
        GraphSource(str(path))


def test_a_file_of_gains_given_by_mistake_is_not_shown(tmp_path):
    path = tmp_path / "gains.csv"
    for text in ("0.1234567,0.5\n", "0.1234567 0.1234567 0.1234567\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(GraphFileError) as caught:
            as_feedback_graph(path)
        assert "1234567" not in str(caught.value)


def test_more_arms_than_are_read_are_refused_before_they_take_memory():
    tracemalloc.start()
    try:
        file_refused(DataFile("edges", b"0 50000000\n"))
        with refused(ValueError, "n_arms", f"{MOST_ARMS:,}", 2_000_000_000):
            as_feedback_graph(DataFile("edges", b"0 1\n"), n_arms=2_000_000_000)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
