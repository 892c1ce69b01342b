"""Every graph that has a name is what its name and its citation say."""

import inspect
import re

import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import NotAnIntegerError, UnknownNameError
from dp_bandit_envs.graphs import NAMES, REAL, GraphSource, as_feedback_graph
from dp_bandit_envs.graphs.graph_source import RANDOM, SIMPLE, named_graph
from tests.tools.graph_games import rows_of
from tests.tools.refusals import refused


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


def test_names_of_simple_graphs():
    assert rows_of(drawn("complete", 3)) == [[0, 1, 2]] * 3
    assert rows_of(drawn("empty", 3)) == [[0], [1], [2]]
    assert rows_of(drawn("star", 4)) == [[0, 1, 2, 3], [0, 1], [0, 2], [0, 3]]
    assert rows_of(drawn("cycle", 4)) == [[0, 1, 3], [0, 1, 2], [1, 2, 3], [0, 2, 3]]
    assert rows_of(drawn("cliques", 5, size=2)) == [[0, 1], [0, 1], [2, 3], [2, 3], [4]]
    assert [len(clique) for clique in drawn("cliques", 12).clique_cover] == [2, 5, 5]


@pytest.mark.parametrize("name", [*SIMPLE, "cliques", *RANDOM])
def test_graphs_of_any_size_have_ten_arms_by_default(name):
    assert drawn(name).n_arms == 10
    assert drawn(name, 2).n_arms == 2
    assert drawn(name, 37).n_arms == 37


@pytest.mark.parametrize("name", REAL)
def test_real_graphs_have_the_size_and_the_source_that_they_cite(name):
    make, citation = REAL[name]
    assert re.search(r"[A-Z]\w+.* \(\d{4}\), ", citation)
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


@pytest.mark.parametrize("name", RANDOM)
def test_random_families_name_their_source(name):
    assert re.search(r"\([A-Z][\w áé]+ \d{4}\)", inspect.getdoc(RANDOM[name]))


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


@pytest.mark.parametrize("name", RANDOM)
def test_the_stream_decides_a_random_graph(name):
    rows = [rows_of(drawn(name, 30, seed)) for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]


@pytest.mark.parametrize(
    ("name", "arguments", "error", "words"),
    [
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
    ],
    ids=str,
)
def test_wrong_names_and_options_are_refused(name, arguments, error, words):
    with refused(error, *words):
        GraphSource(name, **arguments)
    with refused(error, *words):
        GraphEnv(name, horizon=3, **arguments)


@pytest.mark.parametrize("n_arms", [2, 3, 7])
@pytest.mark.parametrize("self_loops", [True, False])
def test_simple_graphs_are_those_of_networkx(n_arms, self_loops):
    theirs = {
        "complete": nx.complete_graph(n_arms),
        "empty": nx.empty_graph(n_arms),
        "star": nx.star_graph(n_arms - 1),
        "cycle": nx.cycle_graph(n_arms),
        "cliques": nx.disjoint_union_all([nx.complete_graph(min(5, n_arms - start)) for start in range(0, n_arms, 5)]),
    }
    for name, graph in theirs.items():
        ours = named_graph(name, n_arms, np.random.default_rng(0), self_loops=self_loops)
        same = as_feedback_graph(graph, self_loops=self_loops)
        assert np.array_equal(ours.starts, same.starts) and np.array_equal(ours.revealed, same.revealed), name
