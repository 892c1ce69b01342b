"""Which graph a round has, by name or the user's: one for all games, one for each, or new ones; never after a gain."""

import copy

import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import NotAnIntegerError, UnknownNameError
from dp_bandit_envs.graphs import NAMES, RANDOM, REAL, SIMPLE, GraphSource, as_feedback_graph, named_graph
from tests.tools.graph_games import DIRECTED, rows_of
from tests.tools.refusals import refused


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


@pytest.mark.parametrize("name", REAL)
def test_real_graphs_have_the_size_and_the_source_that_they_cite(name):
    make, citation = REAL[name]
    assert f"{make().number_of_nodes()} arms" in citation
    graph = drawn(name)
    assert graph.n_arms == make().number_of_nodes()
    assert graph.edges == 2 * make().number_of_edges()
    assert GraphSource(name).n_arms == graph.n_arms


def test_known_numbers_of_real_graphs():
    """Zachary (1977): 78 ties, and the two leaders 0 and 33 have 16 and 17 friends."""
    karate = drawn("karate-club")
    assert karate.edges == 2 * 78
    assert [len(karate.revealed_by(arm)) - 1 for arm in (0, 33)] == [16, 17]
    assert drawn("florentine-families").edges == 2 * 20
    assert drawn("davis-southern-women").edges == 2 * 89
    assert drawn("les-miserables").edges == 2 * 254


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
