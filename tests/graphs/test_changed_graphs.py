"""The graph is public, but it is not the agent's to change: noise is for what the game's own graph reveals."""

import copy

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs import play, simulate
from dp_bandit_envs.agents import ThompsonSampling, TsMaxN
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.graphs import as_feedback_graph
from dp_bandit_envs.wrappers import BlockSums, ExactSums, LaplaceClipRescale, MiniBatchAverage, vector as of_many
from tests.tools.graph_games import rows_of, table_game
from tests.tools.refusals import refused


def widen(graph):
    """Make arm 0 reveal all that any arm reveals."""
    graph.starts[1:] = len(graph.revealed)


class Widening:
    """An agent of the plain kind that changes every graph it is handed."""

    def __init__(self):
        """Nothing is known before a game."""
        self.most = 0

    def begin(self, *, n_arms, horizon, rng):
        """Begin."""

    def see_graph(self, graph):
        """Change it."""
        widen(graph)

    def select_arm(self):
        """Play the arm that would reveal all."""
        return 0

    def update(self, arm, observation):
        """Count what was revealed."""
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
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[0], pictures[2])


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
