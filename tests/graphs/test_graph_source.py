"""Which graph a round has: one for all games, one for each game, or a new one every few rounds; never after a gain."""

import copy

import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs.graphs import GraphSource
from dp_bandit_envs.graphs.graph_source import RANDOM
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


@pytest.mark.parametrize("name", RANDOM)
def test_a_random_graph_is_drawn_once_for_each_game(name):
    source = GraphSource(name, n_arms=20, degree=4)
    games = [rounds_of(source, 30, seed) for seed in (1, 2, 1)]
    assert all(game[0] == rows for game in games for rows in game)
    assert games[0] == games[2] != games[1]


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


def test_a_game_that_begins_again_forgets_the_one_before():
    source = GraphSource("erdos-renyi", n_arms=20, degree=4, redraw_every=3)
    first = rounds_of(source, 8, seed=1)
    rounds_of(source, 5, seed=2)
    assert rounds_of(source, 8, seed=1) == first


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


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("most", [None, 1, 3, 100])
@pytest.mark.parametrize(
    ("graph", "options"),
    [
        ("erdos-renyi", {"n_arms": 12, "degree": 4, "redraw_every": 1}),
        ("power-law", {"n_arms": 12, "degree": 4, "redraw_every": 1}),
        ("planted-partition", {"n_arms": 12, "degree": 8, "groups": 2, "redraw_every": 1}),
        ("star", {"n_arms": 12}),
        (DIRECTED, {}),
    ],
    ids=str,
)
def test_no_round_reveals_more_than_the_sensitivity(graph, options, most, self_loops):
    source = GraphSource(graph, max_revealed=most, self_loops=self_loops, **options)
    revealed = []
    for seed in range(4):
        revealed += [max(map(len, rows)) for rows in rounds_of(source, 100, seed)]
    assert max(revealed) <= source.sensitivity
    assert source.sensitivity <= (source.n_arms if most is None else most)
    if not options.get("redraw_every"):
        assert max(revealed) == source.sensitivity  # a fixed graph states what it is


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


def test_a_capped_graph_is_drawn_for_each_game_and_held_in_it():
    source = GraphSource("complete", n_arms=10, max_revealed=3)
    games = [rounds_of(source, 10, seed) for seed in (1, 2, 1)]
    assert all(game[0] == rows for game in games for rows in game)
    assert games[0] == games[2] != games[1]
    assert all(arm in row and len(row) == 3 for arm, row in enumerate(games[0][0]))


def test_a_capped_random_graph_is_part_of_the_whole_one():
    """With the same stream the whole graph comes first, and then the choice among its rows."""
    for seed in range(5):
        whole, capped = (
            rounds_of(GraphSource("erdos-renyi", n_arms=12, degree=6, max_revealed=most), 1, seed)[0]
            for most in (None, 3)
        )
        for before, after in zip(whole, capped, strict=True):
            assert set(after) <= set(before) and len(after) == min(3, len(before))


@pytest.mark.parametrize("graph", ["karate-club", "complete", "cliques", nx.path_graph(4), np.eye(3)], ids=str)
def test_only_random_graphs_can_be_redrawn(graph):
    with refused(ValueError, "redraw_every", *RANDOM):
        GraphSource(graph, redraw_every=5)


@pytest.mark.parametrize("name", ["redraw_every", "max_revealed"])
@pytest.mark.parametrize("value", [0, -1, 2.5])
def test_numbers_of_rounds_and_gains_must_be_whole_and_positive(name, value):
    with refused((ValueError, TypeError), name, 1, value):
        GraphSource("erdos-renyi", **{name: value})
