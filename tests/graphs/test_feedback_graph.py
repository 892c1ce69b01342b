"""Feedback graphs, where they come from, and that nobody changes one in the middle of a game."""

import copy
import gzip
import itertools
import tracemalloc

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from dp_bandit_envs import Algorithm, LaplaceClipRescale, play, simulate
from dp_bandit_envs.agents import ThompsonSampling, TsMaxN
from dp_bandit_envs.checks import MOST_ARMS
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import DataFileError, GraphFileError, NotAnIntegerError, UnknownNameError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.graphs import (
    NAMES,
    RANDOM,
    REAL,
    SIMPLE,
    FeedbackGraph,
    GraphSource,
    as_feedback_graph,
    named_graph,
)
from dp_bandit_envs.wrappers import BlockSums, ExactSums, MiniBatchAverage, vector as of_many
from tests.tools.graph_games import DIRECTED, columns_of, rows_of, table_game
from tests.tools.refusals import refused
from tests.tools.toys import Script

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


def with_a_loop():
    graph = nx.path_graph(4)
    graph.add_edge(3, 3)  # an arm with itself is no edge
    return graph


EDGES = FeedbackGraph.from_edges(3, [0, 1, 0, 0], [1, 0, 1, 0], directed=False)
BY_HAND = {
    "closed neighbourhoods": (nx.path_graph(4), True, PATH_ROWS, PATH_ROWS, 6),
    "neighbours only": (with_a_loop(), False, [[1], [0, 2], [1, 3], [2, 3]], [[1], [0, 2], [1, 3], [2, 3]], 6),
    "a loop beside its own": (with_a_loop(), True, PATH_ROWS, PATH_ROWS, 6),
    "where edges lead": (DIRECTED, True, DIRECTED_ROWS, DIRECTED_COLUMNS, 4),
    "where edges lead only": (DIRECTED, False, [[2], [2], [3], [0]], [[3], [], [0, 1], [2]], 4),
    "double edges": (nx.MultiDiGraph([(0, 1), (0, 1), (1, 0), (0, 0)]), True, [[0, 1]] * 2, [[0, 1]] * 2, 2),
    "pairs": (EDGES, True, [[0, 1], [0, 1], [2]], [[0, 1], [0, 1], [2]], 2),
    "no edges": (nx.empty_graph(3), False, [[], [], []], [[], [], []], 0),
    # A symmetric matrix is undirected whatever its weights.
    "weights": ([[0, 3, 0], [-1, 0, 0], [0, 0, 0]], True, [[0, 1], [0, 1], [2]], [[0, 1], [0, 1], [2]], 2),
    "one way": ([[0, 3, 0], [0, 0, 0], [0, 0, 0]], True, [[0, 1], [1], [2]], [[0], [0, 1], [2]], 1),
}
"""By what is shown: the graph, whether it has self-loops, rows, columns and the number of edges."""


@pytest.mark.parametrize(("given", "self_loops", "rows", "columns", "edges"), BY_HAND.values(), ids=BY_HAND)
def test_rows_columns_and_edges_by_hand(given, self_loops, rows, columns, edges):
    graph = given if isinstance(given, FeedbackGraph) else as_feedback_graph(given, self_loops=self_loops)
    assert (rows_of(graph), columns_of(graph), graph.edges) == (rows, columns, edges)
    assert (graph.n_arms, graph.most_revealed) == (len(rows), max(map(len, rows)))
    assert graph.revealed.dtype == graph.starts.dtype == np.int64
    assert (graph.revealers is graph.revealed) == (not graph.directed)


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


# ---- where graphs come from
def rounds_of(source, rounds, seed=0):
    """Return the rows of the graphs of so many rounds of one game."""
    source.begin(np.random.default_rng(seed))
    rows = []
    for _ in range(rounds):
        rows.append(rows_of(source.graph))
        source.advance()
    return rows


def test_a_fixed_graph_is_the_same_object_in_every_game():
    source = GraphSource(DIRECTED)
    graph = source.graph
    for seed in range(3):
        source.begin(np.random.default_rng(seed))
        source.advance(100)
        assert source.graph is graph
        assert source.rounds_left is None


@pytest.mark.parametrize(
    ("name", "options"), [*((name, {"n_arms": 20, "degree": 4}) for name in RANDOM), ("complete", {"max_revealed": 3})]
)
def test_a_random_graph_is_drawn_once_for_each_game_by_its_stream(name, options):
    """A capped one too."""
    source = GraphSource(name, **options)
    games = [rounds_of(source, 30, seed) for seed in (1, 2, 1)]
    assert all(game[0] == rows for game in games for rows in game)
    assert games[0] == games[2] != games[1]
    if "max_revealed" in options:
        assert all(arm in row and len(row) == 3 for arm, row in enumerate(games[0][0]))


@pytest.mark.parametrize("every", [1, 2, 7])
def test_a_redrawn_graph_changes_after_so_many_rounds_and_not_before(every):
    rows = rounds_of(GraphSource("erdos-renyi", n_arms=20, degree=4, redraw_every=every), 5 * every + 1)
    changes = [t for t in range(1, len(rows)) if rows[t] != rows[t - 1]]
    assert changes == [every, 2 * every, 3 * every, 4 * every, 5 * every]


def test_rounds_left_counts_down_and_advance_may_take_them_at_once():
    one, other = (GraphSource("erdos-renyi", n_arms=20, degree=4, redraw_every=7) for _ in range(2))
    rows = rounds_of(one, 30, seed=5)
    other.begin(np.random.default_rng(5))
    t = 0
    for step in (3, 4, 7, 1, 1, 5, 7):
        assert other.rounds_left == 7 - t % 7
        other.advance(step)
        t += step
        assert rows_of(other.graph) == rows[t]


def test_copies_do_not_share_their_games():
    source = GraphSource("erdos-renyi", n_arms=20, degree=4, redraw_every=3)
    expected = rounds_of(copy.copy(source), 12, seed=1)
    source.begin(np.random.default_rng(1))
    other = copy.copy(source)
    other.begin(np.random.default_rng(2))
    rows = []
    for _ in range(12):
        rows.append(rows_of(source.graph))
        source.advance()
        other.advance()
    assert rows == expected


@pytest.mark.thorough
def test_no_round_reveals_more_than_the_sensitivity():
    for graph, options in [
        ("erdos-renyi", {"n_arms": 12, "degree": 4, "redraw_every": 1}),
        ("power-law", {"n_arms": 12, "degree": 4, "redraw_every": 1}),
        ("planted-partition", {"n_arms": 12, "degree": 8, "groups": 2, "redraw_every": 1}),
        ("star", {"n_arms": 12}),
        (DIRECTED, {}),
    ]:
        for most, self_loops in [(None, True), (1, True), (3, False), (100, False)]:
            source = GraphSource(graph, max_revealed=most, self_loops=self_loops, **options)
            # A graph that is not drawn again is the same in all rounds.
            games = [rounds_of(source, 30 if source.redraw_every else 1, seed) for seed in range(2)]
            revealed = max(len(row) for game in games for rows in game for row in rows)
            assert revealed <= source.sensitivity
            assert source.sensitivity <= (source.n_arms if most is None else most)
            if not options.get("redraw_every"):
                assert revealed == source.sensitivity  # a fixed graph states what it is


def test_sensitivities_by_hand():
    assert GraphSource("complete", n_arms=7).sensitivity == 7.0
    assert GraphSource("empty", n_arms=7).sensitivity == 1.0
    assert GraphSource("star", n_arms=7).sensitivity == 7.0
    assert GraphSource("star", n_arms=7, self_loops=False).sensitivity == 6.0
    assert GraphSource("star", n_arms=7, max_revealed=3).sensitivity == 3.0
    assert GraphSource("cycle", n_arms=7, max_revealed=5).sensitivity == 3.0
    assert GraphSource(DIRECTED).sensitivity == 2.0
    assert GraphSource("karate-club").sensitivity == 18.0  # node 33 and its 17 friends
    # A random graph may be complete, however seldom.
    assert GraphSource("erdos-renyi", n_arms=7, degree=1).sensitivity == 7.0
    assert GraphSource("erdos-renyi", n_arms=7, degree=1, max_revealed=2).sensitivity == 2.0


def test_a_capped_random_graph_is_part_of_the_whole_one():
    """With the same stream the whole graph comes first, and then the choice among its rows."""
    for seed in range(5):
        whole, capped = (
            rounds_of(GraphSource("erdos-renyi", n_arms=12, degree=6, max_revealed=most), 1, seed)[0]
            for most in (None, 3)
        )
        for before, after in zip(whole, capped, strict=True):
            assert set(after) <= set(before) and len(after) == min(3, len(before))


def drawn(name, n_arms=None, seed=0, **options):
    return as_feedback_graph(named_graph(name, n_arms, np.random.default_rng(seed), **options))


def test_every_name_belongs_to_one_kind_and_makes_a_game():
    assert sorted(NAMES) == sorted([*SIMPLE, "cliques", *RANDOM, *REAL])
    assert len(set(NAMES)) == len(NAMES)
    for name in NAMES:
        env = GraphEnv(name, horizon=3)
        env.reset(seed=0)
        observation = env.step(1)[0]
        assert observation["observed"].sum() == len(env.graph.revealed_by(1)) >= 1
    for name in [*SIMPLE, "cliques", *RANDOM]:
        assert [drawn(name, n_arms).n_arms for n_arms in (None, 2, 37)] == [10, 2, 37]


def test_names_of_simple_graphs():
    assert rows_of(drawn("complete", 3)) == [[0, 1, 2]] * 3
    assert rows_of(drawn("empty", 3)) == [[0], [1], [2]]
    assert rows_of(drawn("star", 4)) == [[0, 1, 2, 3], [0, 1], [0, 2], [0, 3]]
    assert rows_of(drawn("cycle", 4)) == [[0, 1, 3], [0, 1, 2], [1, 2, 3], [0, 2, 3]]
    assert rows_of(drawn("cliques", 5, size=2)) == [[0, 1], [0, 1], [2, 3], [2, 3], [4]]
    assert [len(clique) for clique in drawn("cliques", 12).clique_cover] == [2, 5, 5]
    for n_arms, self_loops in ((2, True), (3, False), (7, False)):
        theirs = {
            "complete": nx.complete_graph(n_arms),
            "empty": nx.empty_graph(n_arms),
            "star": nx.star_graph(n_arms - 1),
            "cycle": nx.cycle_graph(n_arms),
        }
        for name, graph in theirs.items():
            ours = named_graph(name, n_arms, np.random.default_rng(0), self_loops=self_loops)
            assert rows_of(ours) == rows_of(as_feedback_graph(graph, self_loops=self_loops)), name


TIES = {"karate-club": 78, "florentine-families": 20, "davis-southern-women": 89, "les-miserables": 254}


@pytest.mark.parametrize("name", REAL)
def test_real_graphs_have_the_size_and_the_source_that_they_cite(name):
    """Zachary (1977): 78 ties, and the two leaders 0 and 33 have 16 and 17 friends."""
    make, citation = REAL[name]
    assert f"{make().number_of_nodes()} arms" in citation
    graph = drawn(name)
    assert graph.n_arms == make().number_of_nodes() == GraphSource(name).n_arms
    assert graph.edges == 2 * make().number_of_edges() == 2 * TIES[name]
    if name == "karate-club":
        assert [len(graph.revealed_by(arm)) - 1 for arm in (0, 33)] == [16, 17]


@pytest.mark.parametrize("degree", [4, 10])
def test_gilberts_graph_has_the_mean_degree(degree):
    """Pairs with chance p: the mean degree has standard error 2 sqrt(pairs p (1 - p)) / n; allow five of them.

    False alarm: 6e-7 (five standard errors, two sides).
    """
    n_arms = 1000
    share = degree / (n_arms - 1)
    error = 2 * np.sqrt(n_arms * (n_arms - 1) / 2 * share * (1 - share)) / n_arms
    assert abs(drawn("erdos-renyi", n_arms, degree=degree).edges / n_arms - degree) < 5 * error


def test_planted_groups_hold_nine_of_ten_edges():
    """The number of edges inside and outside are sums of coins; allow five of their standard errors, sqrt(mean).

    False alarm: 1.2e-6 (five standard errors, two sides, inside and outside).
    """
    n_arms, groups, degree = 1000, 10, 10
    graph = drawn("planted-partition", n_arms, degree=degree, groups=groups)
    rows = np.repeat(np.arange(n_arms), np.diff(graph.starts))
    apart = rows // 100 != graph.revealed // 100
    inside = (np.count_nonzero(~apart) - n_arms) / 2
    outside = np.count_nonzero(apart) / 2
    edges = n_arms * degree / 2
    assert abs(inside - 0.9 * edges) < 5 * np.sqrt(0.9 * edges)
    assert abs(outside - 0.1 * edges) < 5 * np.sqrt(0.1 * edges)


def test_preferential_attachment_has_hubs_and_the_mean_degree():
    """Each of the n - 5 nodes that come brings 5 edges; hubs have many times the mean degree, unlike with coins."""
    n_arms = 1000
    graph = drawn("power-law", n_arms)
    assert graph.edges == 2 * 5 * (n_arms - 5)
    assert graph.most_revealed > 60
    assert drawn("erdos-renyi", n_arms).most_revealed < 40


def test_wrong_names_and_options_are_refused():
    for name, arguments, error, words in [
        ("karate-clu", {}, UnknownNameError, ["graph", "'karate-clu'", "karate-club"]),
        ("cliques", {"size": 0}, ValueError, ["size", 1, 0]),
        ("cliques", {"size": 2.5}, NotAnIntegerError, ["size", 1, 2.5]),
        ("cliques", {"degree": 3}, TypeError, ["'cliques'", "'degree'", "size"]),
        ("erdos-renyi", {"degree": -1}, ValueError, ["degree", 0, -1]),
        ("erdos-renyi", {"degree": np.nan}, ValueError, ["degree", 0, np.nan]),
        ("erdos-renyi", {"groups": 3}, TypeError, ["'erdos-renyi'", "'groups'", "degree"]),
        ("planted-partition", {"groups": 0}, ValueError, ["groups", 1, 0]),
        ("power-law", {"size": 3}, TypeError, ["'power-law'", "'size'", "degree"]),
        ("star", {"degree": 3}, TypeError, ["degree", "'star'"]),
        ("karate-club", {"size": 3}, TypeError, ["size", "'karate-club'"]),
        ("karate-club", {"n_arms": 33}, ValueError, ["n_arms", 34, 33]),
        ("star", {"n_arms": 1}, ValueError, ["n_arms", 2, 1]),
        ("star", {"n_arms": 3.0}, NotAnIntegerError, ["n_arms", 2, 3.0]),
        (nx.path_graph(3), {"n_arms": 4}, ValueError, ["n_arms", 3, 4]),
        (nx.path_graph(3), {"degree": 4}, TypeError, ["degree"]),
        *((graph, {"redraw_every": 5}, ValueError, ["redraw_every", *RANDOM]) for graph in ("complete", np.eye(3))),
        *(("erdos-renyi", {"redraw_every": value}, ValueError, ["redraw_every", 1, value]) for value in (0, 2.5)),
        *(("erdos-renyi", {"max_revealed": value}, ValueError, ["max_revealed", 1, value]) for value in (0, 2.5)),
    ]:
        with refused(error, *words):
            GraphSource(name, **arguments)
        with refused(error, *words):
            GraphEnv(name, horizon=3, **arguments)


# ---- nobody changes one in the middle of a game
def widen(graph):
    """Make arm 0 reveal all that any arm reveals."""
    graph.starts[1:] = len(graph.revealed)


class Widening(Script):
    """An agent of the plain kind that changes every graph it is handed."""

    most = 0

    def see_graph(self, graph):
        widen(graph)

    def update(self, arm, observation):
        self.most = max(self.most, int(np.count_nonzero(observation["count"])))


def test_an_agent_cannot_make_a_round_reveal_more_than_noise_was_made_for():
    """On a cycle of 20 a round reveals 3 gains; with the game's own graph in hand it could be made to reveal 20."""
    agent = Widening()
    play(BlockSums(GraphEnv("cycle", n_arms=20, horizon=10), epsilon=1.0, ratio=1), agent)
    assert agent.most == 3


@pytest.mark.parametrize("around", [lambda env: LaplaceClipRescale(env, epsilon=1.0), ExactSums])
def test_what_a_boundary_shows_is_a_copy_that_lasts_until_the_graph_changes(around):
    env = GraphEnv("erdos-renyi", n_arms=8, degree=3, redraw_every=2, horizon=20)
    wrapped = ExactSums(MiniBatchAverage(env, batch_size=1)) if around is ExactSums else around(env)
    wrapped.reset(seed=3)
    for _ in range(4):
        first = wrapped.get_wrapper_attr("graph")
        before = rows_of(env.graph)
        assert rows_of(first) == before and wrapped.graph is first
        wrapped.step(0)
        assert wrapped.graph is first
        widen(first)
        assert rows_of(env.graph) == before
        wrapped.step(1)
        assert wrapped.graph is not first


def test_an_evaluator_who_changes_the_games_own_graph_is_told():
    env = GraphEnv("cycle", n_arms=6, horizon=5)
    env.reset(seed=0)
    widen(env.graph)
    with refused(ValueError, "arm 0", 18, 3):
        env.step(0)
    many = gym.make_vec("DPBandit-Graph-v0", 2, graph="cycle", n_arms=6, horizon=5).unwrapped
    many.reset(seed=0)
    widen(many.graphs[1])
    with refused(ValueError, "arm 0", 18, 3):
        many.step(np.array([0, 0]))


class Vandal(TsMaxN):
    """A compiled agent that changes the graph it is handed."""

    def with_graph(self, state, graph):
        """Hand on the rows of a changed graph."""
        widen(graph)
        return super().with_graph(state, graph)


@pytest.mark.thorough
def test_in_the_compiled_game_too_an_agent_has_a_graph_of_its_own():
    """Its neighbour in the same run plays the same game as without it."""
    vandal = Algorithm(name="Vandal", make_agent=Vandal, wrapping=ExactSums)
    honest = Algorithm(name="TS", make_agent=ThompsonSampling, wrapping=ExactSums)
    game = {"env_kwargs": {"n_arms": 8, "graph": "cycle"}, "horizon": 300, "trials": 2, "seed": 1}
    beside = simulate("DPBandit-Graph-v0", [vandal, honest], **game)
    alone = simulate("DPBandit-Graph-v0", [honest], **game)
    assert beside["TS"].engine == beside["Vandal"].engine == "compiled"
    assert np.array_equal(beside["TS"].pseudo_regret, alone["TS"].pseudo_regret)


def test_a_copy_is_equal_and_shares_nothing():
    for graph in (nx.path_graph(4), nx.DiGraph([("a", "b"), ("b", "c")])):
        own = as_feedback_graph(graph)
        other = own.copy()
        assert rows_of(other) == rows_of(own)
        assert (other.directed, other.names) == (own.directed, own.names)
        for name in ("starts", "revealed", "revealer_starts", "revealers"):
            assert np.array_equal(getattr(other, name), getattr(own, name))
            assert not np.shares_memory(getattr(other, name), getattr(own, name))


# ---- many games, of which one needs more noise ---------------------------------------------------------------------


def many_games(*games):
    return gym.vector.SyncVectorEnv([lambda one=one: one for one in games])


def empty_and_complete():
    return [GraphEnv("empty", n_arms=20, horizon=40), GraphEnv("complete", n_arms=20, horizon=40)]


def first_state(wrapped):
    """Return what the mechanism of a wrapper begins every game with."""
    return wrapped.mechanism.new_state(wrapped.inputs)


@pytest.mark.parametrize("order", [1, -1])
def test_noise_for_many_games_is_made_for_the_one_that_needs_the_most(order):
    games = empty_and_complete()[::order]
    assert first_state(of_many.LaplaceClipRescale(many_games(*games), epsilon=1.0)).scale == pytest.approx(
        20.0, rel=2e-9
    )
    sums = of_many.HybridSums(many_games(*games), epsilon=1.0)
    assert first_state(sums).counters.scales[1] == pytest.approx(2 * 20.0, rel=2e-9)
    assert first_state(of_many.BlockSums(many_games(*games), epsilon=0.5)).scale == pytest.approx(40.0, rel=2e-9)
    assert of_many.MiniBatchAverage(many_games(*games), batch_size=2).sensitivity == 10.0
    several = of_many.RandomizedResponse(many_games(*games), epsilon=1.0)
    alone = of_many.RandomizedResponse(many_games(empty_and_complete()[1]), epsilon=1.0)
    assert several.sensitivity == alone.sensitivity == 20.0
    assert first_state(several) == first_state(alone)
    # Batches below count as they are in each game: the average of two gains moves by 1/2.
    batches = [MiniBatchAverage(GraphEnv("empty", n_arms=5, horizon=size * 8), batch_size=size) for size in (10, 2)]
    wrapped = of_many.LaplaceClipRescale(many_games(*batches[::order]), epsilon=1.0)
    assert first_state(wrapped).scale == pytest.approx(0.5, rel=2e-9)
    with refused(ValueError, "HybridSums", "horizon", 2):
        of_many.HybridSums(many_games(*(GraphEnv("empty", horizon=length) for length in (30, 40))), epsilon=1.0)


def test_a_boundary_around_many_games_shows_copies_of_their_graphs():
    options = {"graph": "erdos-renyi", "n_arms": 6, "degree": 2, "redraw_every": 2, "horizon": 12}
    made = gym.make_vec("DPBandit-Graph-v0", 3, **options)
    synced = many_games(*(GraphEnv(**options) for _ in range(3)))
    for below in (made, synced):
        wrapped = of_many.HybridSums(of_many.MiniBatchAverage(below, batch_size=1), epsilon=1.0)
        wrapped.reset(seed=5)
        for _ in range(3):
            own = [env.graph for env in below.envs] if below is synced else below.unwrapped.graphs
            shown = wrapped.graphs
            before = [rows_of(graph) for graph in own]
            assert [rows_of(graph) for graph in shown] == before
            assert all(one is other for one, other in zip(shown, wrapped.graphs, strict=True))
            for graph in shown:
                widen(graph)
            assert [rows_of(graph) for graph in own] == before
            wrapped.step(np.zeros(3, int))
            wrapped.step(np.zeros(3, int))
    plain = of_many.HybridSums(gym.make_vec("DPBandit-Stochastic-v0", 2, horizon=5), epsilon=1.0)
    assert not hasattr(plain, "graphs")


# ---- pictures ------------------------------------------------------------------------------------------------------


def test_a_picture_shows_the_graph_of_the_last_round():
    env = GraphEnv("erdos-renyi", n_arms=7, degree=3, redraw_every=1, horizon=20, render_mode="ansi")
    env.reset(seed=2)
    for arm in (0, 3, 5):
        played = copy.copy(env.graph)
        observation = env.step(arm)[0]
        assert rows_of(env.graph) != rows_of(played)
        lines = env.render().splitlines()[1:-1]
        assert [line.split("reveals ")[1].split() for line in lines] == [[*map(str, row)] for row in rows_of(played)]
        assert np.flatnonzero(observation["observed"]).tolist() == rows_of(played)[arm]


@pytest.mark.thorough
def test_a_directed_graph_is_drawn_with_arrows_and_says_so():
    pictures = []
    for graph in (nx.DiGraph([(0, 1), (1, 2)]), nx.DiGraph([(1, 0), (2, 1)]), nx.Graph([(0, 1), (1, 2)])):
        env = GraphEnv(graph, horizon=4, render_mode="rgb_array")
        env.reset(seed=0)
        pictures.append(env.render())
    assert not any(np.array_equal(pictures[0], other) for other in pictures[1:])


def test_text_names_the_arms_of_a_graph_with_names_and_many_games_have_one_each():
    env = table_game(np.zeros((3, 2)), nx.Graph([("Alice", "Bob")]), render_mode="ansi")
    env.reset(seed=0)
    assert [line.split()[-1] for line in env.render().splitlines()[1:3]] == ["Alice", "Bob"]
    many = gym.make_vec("DPBandit-Graph-v0", 2, graph="star", n_arms=5, horizon=9, render_mode="ansi")
    single = GraphEnv("star", n_arms=5, horizon=9, render_mode="ansi")
    for env, arms in ((many, np.array([0, 3])), (single, 0)):
        env.reset(seed=0)
        env.step(arms)
    first, second = many.render()
    assert first.splitlines()[1:-1] == single.render().splitlines()[1:-1]
    assert second.splitlines()[4].split()[:4] == ["arm", "3", "plays", "1"]


# ---- agents without self-loops -------------------------------------------------------------------------------------


def test_ucb_max_n_learns_what_can_be_learned_when_nobody_reveals_an_arm():
    """1 is revealed by none; 0 by 3, 2 by 0 and 1, 3 by 2. It once wanted 1 for good, and so played it for good."""
    graph = nx.DiGraph([(0, 2), (1, 2), (2, 3), (3, 0)])
    means = [0.7, 0.1, 0.9, 0.3]
    options = {"graph": graph, "means": means, "self_loops": False}
    results = simulate("DPBandit-Graph-v0", ["UCB-MaxN"], env_kwargs=options, horizon=2000, trials=4)
    pulls = results["UCB-MaxN"].pulls.mean(axis=0)
    # 2 looks best; of the two that reveal it, 0 has a better mean than the 1/2 of an arm never seen.
    assert pulls[1] < 50 and pulls[0] > 1000
