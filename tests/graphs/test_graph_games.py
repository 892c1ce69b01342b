"""Games on graphs: what is revealed, charged and refused; and means drawn from a prior."""

import functools
import math
import tracemalloc

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs import BanditEnv, LaplaceClipRescale, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import BernoulliPrior, MemoryBounded, Stochastic, SwitchingCost
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.envs.graph_env import GraphEnv, GraphVectorEnv
from dp_bandit_envs.envs.registration import sized_adversaries
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, IntervalSums, MiniBatchAverage, RandomizedResponse
from tests.tools.both_ways import assert_same
from tests.tools.doors import one_each
from tests.tools.graph_games import DIRECTED, rows_of, table_game
from tests.tools.refusals import refused

KINDS = {
    "fixed": ("karate-club", {}),
    "directed": (DIRECTED, {}),
    "matrix": (np.triu(np.ones((5, 5))), {"self_loops": False}),
    "drawn": ("erdos-renyi", {"n_arms": 9, "degree": 3}),
    "redrawn": ("erdos-renyi", {"n_arms": 9, "degree": 3, "redraw_every": 7}),
    "redrawn always": ("power-law", {"n_arms": 9, "degree": 3, "redraw_every": 1}),
    "capped": ("complete", {"n_arms": 6, "max_revealed": 3}),
    "capped and redrawn": ("erdos-renyi", {"n_arms": 9, "degree": 5, "redraw_every": 2, "max_revealed": 3}),
    "without self-loops": ("cycle", {"n_arms": 5, "self_loops": False}),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def made(kind, **more):
    graph, options = KINDS[kind]
    return GraphEnv(graph, **{"horizon": 50, **options, **more})


def watch(env, arms, **reset):
    """Play these arms; return gains, observed, rewards and the graphs of all rounds."""
    env.reset(**reset)
    seen = []
    for arm in arms:
        rows = rows_of(env.unwrapped.graph)
        observation, reward, *_ = env.step(arm)
        seen.append((observation["gain"].tolist(), observation["observed"].tolist(), reward, rows))
    return seen


TABLE = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], [0.9, 1.0, 0.0, 0.25], [0.75, 0.5, 0.125, 1.0]]


def test_what_each_play_reveals_in_a_directed_graph_of_four():
    env = table_game(TABLE, DIRECTED)
    gains, observed, rewards, _ = zip(*watch(env, [0, 1, 2, 3], seed=0), strict=True)
    assert list(gains) == [[0.1, 0, 0.3, 0], [0, 0.6, 0.7, 0], [0, 0, 0.0, 0.25], [0.75, 0, 0, 1.0]]
    assert list(observed) == [[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
    assert list(rewards) == [0.1, 0.6, 0.0, 1.0]
    assert env.sensitivity == 2.0
    assert env.collected == pytest.approx(1.7)
    assert env.external_regret() == pytest.approx(2.45 - 1.7)  # arm 3: 0.4 + 0.8 + 0.25 + 1
    # Without self-loops the own gain is hidden, but paid.
    env = table_game(TABLE, DIRECTED, self_loops=False)
    gains, observed, rewards, _ = zip(*watch(env, [0, 1, 2, 3], seed=0), strict=True)
    assert list(gains) == [[0, 0, 0.3, 0], [0, 0, 0.7, 0], [0, 0, 0, 0.25], [0.75, 0, 0, 0]]
    assert list(observed) == [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert list(rewards) == [0.1, 0.6, 0.0, 1.0]
    assert env.sensitivity == 1.0


def test_the_empty_graph_is_bandit_feedback_and_the_complete_one_full_information():
    gains = [gain for gain, *_ in watch(table_game(TABLE, "empty"), [3, 2, 1, 0], seed=0)]
    assert gains == [[0, 0, 0, 0.4], [0, 0, 0.7, 0], [0, 1.0, 0, 0], [0.75, 0, 0, 0]]
    assert [gain for gain, *_ in watch(table_game(TABLE, "complete"), [3, 2, 1, 0], seed=0)] == TABLE


@pytest.mark.parametrize(
    ("observe_charge", "memory", "arms", "changed", "rewards"),
    [
        # The third round is a change, so arm 1's gain of 1 is 0 there, and no other gain changes.
        (True, 1, [0, 0, 1, 1], {2: [0.9, 0.0, 0.0, 0.25]}, [0.1, 0.5, 0.0, 0.5]),
        (False, 1, [0, 0, 1, 1], {}, [0.1, 0.5, 0.0, 0.5]),
        (True, 2, [0, 1, 1, 1], {1: [0.5, 0.0, 0.7, 0.8], 2: [0.9, 0.0, 0.0, 0.25]}, [0.1, 0.0, 0.0, 0.5]),
    ],
)
def test_a_charge_falls_on_the_arm_played_only_by_hand(observe_charge, memory, arms, changed, rewards):
    charged = MemoryBounded(memory=memory, gains=GainTable(np.array(TABLE)))
    played = watch(GraphEnv("complete", gains=charged, observe_charge=observe_charge), arms, seed=0)
    assert [gain for gain, *_ in played] == [changed.get(t, row) for t, row in enumerate(TABLE)]
    assert [reward for _, _, reward, _ in played] == rewards
    # Without a self-loop it is paid unseen.
    gains = MemoryBounded(memory=memory, gains=GainTable(np.array(TABLE)))
    bare = watch(GraphEnv("complete", gains=gains, self_loops=False), arms, seed=0)
    assert [reward for _, _, reward, _ in bare] == rewards
    assert [gain[arm] for (gain, *_), arm in zip(bare, arms, strict=True)] == [0.0] * 4


@kinds
def test_what_is_observed_is_the_row_of_the_arm_in_the_public_graph_and_depends_on_no_gain(kind):
    n_arms = made(kind).n_arms
    arms = np.random.default_rng(2).integers(n_arms, size=50).tolist()
    seen = []
    for table in (np.zeros((50, n_arms)), np.ones((50, n_arms)), np.random.default_rng(3).random((50, n_arms))):
        env = made(kind, horizon=None, gains=GainTable(table))
        game = watch(env, arms, seed=6)
        seen.append([(observed, rows) for _, observed, _, rows in game])
        for arm, (gain, observed, reward, rows) in zip(arms, game, strict=True):
            assert np.flatnonzero(observed).tolist() == rows[arm]
            assert sum(observed) <= env.sensitivity
            assert all(gain[other] == 0 for other in range(n_arms) if not observed[other])
            assert not observed[arm] or gain[arm] == reward
    assert seen[0] == seen[1] == seen[2]


@kinds
def test_the_same_seed_is_the_same_game_and_a_trial_is_another(kind):
    arms = [t % 4 for t in range(50)]
    env = made(kind)
    games = [
        watch(env, arms, seed=seed, options={"trial": trial})
        for seed, trial in ((1, 0), (1, 0), (1, 1), (2, 0), (1, 1))
    ]
    assert games[0] == games[1] == watch(made(kind), arms, seed=1)
    assert games[2] == games[4]
    assert games[0] != games[2] != games[3] != games[0]
    random = not isinstance(KINDS[kind][0], (nx.Graph, np.ndarray))  # graphs by name are numbered anew in each game
    graphs = [[rows for *_, rows in game] for game in games]
    assert (graphs[0] != graphs[2]) == (graphs[0] != graphs[3]) == random


@kinds
def test_graphs_and_gains_have_streams_of_their_own(kind):
    """A draw more or less of one must not change the other: the gains are those of any other graph of that size."""
    env, n_arms = made(kind), made(kind).n_arms
    plain = GraphEnv("complete", n_arms=n_arms, horizon=50)
    for (gain, observed, reward, _), (whole, *_) in zip(
        watch(env, [0] * 50, seed=5), watch(plain, [0] * 50, seed=5), strict=True
    ):
        assert gain == [value * seen for value, seen in zip(whole, observed, strict=True)]
        assert reward == whole[0]


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "charged"), one_each(list(KINDS), [True, False]))
def test_many_games_at_once_are_the_single_games_bit_for_bit(kind, charged):
    """Three games in a row: one with seeds, and two that follow by themselves, with other graphs."""
    graph, options = KINDS[kind]
    n_arms = made(kind).n_arms
    rounds = 23

    def gains():
        """Return gains of its own for each game, because an adversary given to two games is one and the same."""
        adversary = BernoulliPrior(n_arms, rounds)
        return MemoryBounded(memory=1, gains=adversary) if charged else adversary

    many = GraphVectorEnv(3, graph, gains=gains(), **options)
    single = [GraphEnv(graph, gains=gains(), **options) for _ in range(3)]
    rng = np.random.default_rng(9)
    assert many.sensitivity == single[0].sensitivity
    many.reset(seed=11)
    for index, env in enumerate(single):
        env.reset(seed=11 + index)
    graphs = []
    for game in range(3):
        if game:
            many.step(np.zeros(3, np.int64))
            for env in single:
                env.reset()
        graphs += [str(rows_of(one)) for one in many.graphs]
        for _ in range(rounds):
            arms = rng.integers(n_arms, size=3)
            assert [rows_of(one) for one in many.graphs] == [rows_of(env.graph) for env in single]
            observation, reward, terminated, _, _ = many.step(arms)
            for index, env in enumerate(single):
                expected, gain, ended, _, _ = env.step(int(arms[index]))
                for part in ("gain", "observed"):
                    assert np.array_equal(observation[part][index], expected[part])
                    assert observation[part].dtype == expected[part].dtype
                assert (reward[index], terminated[index]) == (gain, ended)
        assert np.array_equal(many.external_regret(), [env.external_regret() for env in single])
    assert len(set(graphs)) == (9 if "drawn" in kind or "capped" in kind else 1)


def test_wrong_arguments_are_refused():
    for arguments, error, words in [
        *(
            ({name: value[name] for name in names}, ValueError, [" and ".join(names)])
            for value in [{"gains": Stochastic(2, 5), "means": [0.1, 0.2], "prior": (1, 1)}]
            for names in (("means", "prior"), ("gains", "means"), ("gains", "prior"), ("gains", "means", "prior"))
        ),
        ({"gains": 3}, TypeError, ["gains", "Deterministic", "int"]),
        ({"gains": "Switch"}, KeyError, ["gains", "'Switch'", "Switching"]),
        ({"gains": Stochastic(3, 9), "horizon": 8}, ValueError, ["gains", 9, "horizon=8"]),
        ({"graph": DIRECTED, "gains": Stochastic(3, 9)}, ValueError, ["gains", "graph", 3, 4]),
        ({"graph": DIRECTED, "means": [0.5] * 3}, ValueError, ["means", 4, "[0, 1]"]),
        ({"prior": (1, np.nan)}, ValueError, ["beta", 0, np.nan]),
        ({"horizon": 0}, ValueError, ["horizon", 1, 0]),
        ({"colour": 3}, TypeError, ["colour", "'empty'"]),
        ({"render_mode": "human"}, ValueError, ["render_mode", "'rgb_array'", "'human'"]),
        ({"self_loops": "false"}, TypeError, ["self_loops", True, False, "'false'"]),
        ({"observe_charge": 1}, TypeError, ["observe_charge", True, False, 1]),
    ]:
        for make in (GraphEnv, functools.partial(GraphVectorEnv, 2)):
            with refused(error, *words):
                make(**{"graph": "empty", **arguments})
    with refused(ValueError, "block_length", 1, 0):
        GraphEnv("empty", block_length=0)


def test_means_and_gains_say_how_many_arms_a_named_graph_has():
    assert (GraphEnv("cycle", means=[0.1] * 7).n_arms, GraphEnv("cycle").n_arms, GraphEnv().n_arms) == (7, 10, 34)
    assert GraphEnv("cycle", gains=Stochastic(6, 9)).n_arms == 6
    assert GraphEnv("cycle", gains=Stochastic(6, 9), horizon=9).horizon == 9
    assert isinstance(GraphEnv("cycle", prior=(2, 3)).adversary, BernoulliPrior)
    assert GraphEnv("cycle", prior=np.array([2, 3])).adversary.beta == 3.0
    env = GraphEnv("karate-club", gains="switching", horizon=50)
    assert isinstance(env.adversary, SwitchingCost) and (env.n_arms, env.horizon) == (34, 50)
    assert len({type(GraphEnv("star", gains=name, horizon=9).adversary) for name in sized_adversaries()}) >= 6


@pytest.mark.thorough
def test_a_game_of_ten_thousand_arms_is_played_in_linear_memory():
    """Nothing of the size K x K = 100 MB in single bytes is ever made: gains come in short blocks."""
    env = GraphEnv("power-law", n_arms=10_000, horizon=30)
    tracemalloc.start()
    env.reset(seed=0)
    for t in range(30):
        observation = env.step(7 * t)[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert observation["observed"].sum() == len(env.graph.revealed_by(7 * 29))
    assert peak < 6e7


@pytest.mark.slow
def test_playing_many_arms_needs_no_table_of_rounds_by_arms():
    """4,000 arms and 1,000 rounds: counts of plays up to each round would make it 78 MB; it is 36 MB."""
    env = GraphEnv("empty", n_arms=4_000, horizon=1_000, block_length=64)
    tracemalloc.start()
    game = play(env, Uniform(), seed=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6e7
    means = env.adversary.means
    assert game.pseudo_regret[-1] == pytest.approx(np.sum(means.max() - means[game.arms]))


def test_text_shows_how_often_arms_were_played_and_seen():
    env = table_game(TABLE, DIRECTED, render_mode="ansi")
    env.reset(seed=0)
    for arm in (0, 0, 3):
        env.step(arm)
    lines = [line.split() for line in env.render().splitlines()]
    assert lines[0] == ["GainTable", "adversary,", "round", "3", "of", "4"]
    # Seen: 0 in all three rounds, 2 in the first two, 3 in the last.
    assert lines[1] == ["arm", "0", "plays", "2", "seen", "3", "reveals", "0", "2"]
    assert lines[2] == ["arm", "1", "plays", "0", "seen", "0", "reveals", "1", "2"]
    assert lines[3] == ["arm", "2", "plays", "0", "seen", "2", "reveals", "2", "3"]
    assert lines[4] == ["arm", "3", "plays", "1", "seen", "1", "reveals", "0", "3"]
    # Arm 1 has 0.2 + 0.6 + 1; collected are 0.1 + 0.5 + 0.25.
    assert lines[5] == ["external", "regret", "0.95"]


@pytest.mark.thorough
def test_a_picture_changes_with_what_was_played_and_a_new_game_has_a_new_one():
    env = made("directed", render_mode="rgb_array")
    pictures = []
    for arms in ([], [0], [0, 1], [], [0]):
        env.reset(seed=0)
        for arm in arms:
            env.step(arm)
        pictures.append(env.render())
    assert all(picture.shape == pictures[0].shape and picture.dtype == np.uint8 for picture in pictures)
    assert pictures[0].ndim == 3 and pictures[0].shape[2] == 3
    assert not np.array_equal(pictures[0], pictures[1]) and not np.array_equal(pictures[1], pictures[2])
    assert np.array_equal(pictures[0], pictures[3]) and np.array_equal(pictures[1], pictures[4])


BOUNDARIES = {
    "Laplace": lambda env: LaplaceClipRescale(env, epsilon=1.0),
    "response": lambda env: RandomizedResponse(env, epsilon=1.0),
    "batch": lambda env: MiniBatchAverage(env, batch_size=3),
    "Laplace around batch": lambda env: LaplaceClipRescale(MiniBatchAverage(env, batch_size=3), epsilon=1.0),
    "running": ExactSums,
    "hybrid": lambda env: HybridSums(env, epsilon=1.0),
    "blocks": lambda env: BlockSums(env, epsilon=1.0),
    "intervals": lambda env: IntervalSums(env, epsilon=8.0),
    "running around responses around batch": lambda env: ExactSums(
        RandomizedResponse(MiniBatchAverage(env, batch_size=3), epsilon=1.0)
    ),
}
PRIVATE = ("source", "adversary", "cumulative_gains", "collected", "external_regret", "observe_charge", "on_block")


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_a_boundary_hands_the_graph_through_and_nothing_else(boundary):
    env = gym.make("DPBandit-Graph-v0", graph="erdos-renyi", n_arms=9, degree=3, redraw_every=2, horizon=60)
    wrapped = BOUNDARIES[boundary](env)
    wrapped.reset(seed=1)
    seen = []  # all of them, so that no address is used twice
    for _ in range(15):
        graph = wrapped.get_wrapper_attr("graph")
        assert isinstance(graph, FeedbackGraph)
        assert rows_of(graph) == rows_of(env.unwrapped.graph)
        seen.append(graph)
        wrapped.step(0)
    assert len({id(graph) for graph in seen}) > 3
    assert wrapped.has_wrapper_attr("graph")
    for name in PRIVATE:
        assert hasattr(env.unwrapped, name)
        assert not wrapped.has_wrapper_attr(name)
        with refused(AttributeError, type(wrapped).__name__, repr(name)):
            wrapped.get_wrapper_attr(name)
    assert wrapped.spec is None or not wrapped.spec.kwargs


def test_a_boundary_around_a_game_without_a_graph_has_none_and_needs_something_revealed():
    wrapped = LaplaceClipRescale(gym.make("DPBandit-Stochastic-v0", horizon=5), epsilon=1.0)
    assert not wrapped.has_wrapper_attr("graph")
    with refused(AttributeError, "LaplaceClipRescale", "'graph'"):
        _ = wrapped.graph
    with refused(ValueError, "LaplaceClipRescale", "sensitivity", "received 0.0"):
        LaplaceClipRescale(GraphEnv("empty", self_loops=False, horizon=5), epsilon=1.0)


# ---- means from a prior
def means_of(trial, seed=3, n_arms=6, prior=(1, 1)):
    """Return the means that a game must have: the first numbers of the adversary's stream."""
    rng = stream(seed, trial=trial, role=ADVERSARY)
    return np.array([rng.beta(*prior) for _ in range(n_arms)])


def test_each_game_draws_means_of_its_own():
    env = GraphEnv("cycle", n_arms=6, horizon=5)
    assert env.adversary.means is None  # before a game
    drawn = []
    for trial in (0, 1, 0, 2):
        env.reset(seed=3, options={"trial": trial})
        drawn.append(env.adversary.means.tolist())
        assert drawn[-1] == means_of(trial).tolist()
    assert drawn[0] == drawn[2]
    assert len({tuple(means) for means in drawn}) == 3
    env.reset()
    assert env.adversary.means.tolist() not in drawn
    many = GraphVectorEnv(3, "empty", n_arms=4, prior=(2, 8), horizon=5)
    many.reset(seed=9)
    for index, adversary in enumerate(many.adversaries):
        assert adversary.means.tolist() == means_of(0, seed=9 + index, n_arms=4, prior=(2, 8)).tolist()


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 6), (0.5, 0.5)])
def test_means_follow_the_prior(alpha, beta):
    """Beta(a, b) has mean a / (a + b) and variance m (1 - m) / (a + b + 1); allow five standard errors.

    The variance of a number in [0, 1] is estimated with standard error at most 1 / (2 sqrt(n)) / 2, and five of them.

    False alarm: 1.2e-6 (five standard errors, two sides, mean and variance).
    """
    n = 4000
    adversary = BernoulliPrior(n, 1, alpha=alpha, beta=beta)
    adversary.begin(np.random.default_rng(7))
    mean = alpha / (alpha + beta)
    variance = mean * (1 - mean) / (alpha + beta + 1)
    assert abs(adversary.means.mean() - mean) < 5 * math.sqrt(variance / n)
    assert abs(adversary.means.var() - variance) < 5 * 0.25 / math.sqrt(n)
    assert np.all((adversary.means >= 0) & (adversary.means <= 1))


@pytest.mark.thorough
def test_pseudo_regret_is_that_of_the_means_of_the_game_both_ways():
    """Added up here from the arms played and the means that the game must have drawn."""
    regrets = set()
    make, algorithm = functools.partial(GraphEnv, "cycle", n_arms=6, horizon=200), make_algorithm("TS-N")
    for (_, trial), arms in assert_same(make, [algorithm], trials=4, seed=3).items():
        means, played = means_of(trial), play(make(), algorithm, seed=3, trial=trial)
        assert played.pseudo_regret == pytest.approx(np.cumsum(means.max() - means[arms]), rel=1e-12)
        regrets.add(played.pseudo_regret[-1])
    assert len(regrets) == 4


def test_the_mean_over_games_is_the_bayesian_regret_of_uniform_play():
    """K = 2 and a uniform prior: E max - E mean = 2/3 - 1/2 a round. Its spread over games is at most 1/2 a round."""
    outcomes = simulate(lambda: BanditEnv(BernoulliPrior(2, 100)), ["Uniform"], trials=400, checkpoints=[100])
    assert abs(outcomes["Uniform"].pseudo_regret.mean() / 100 - 1 / 6) < 5 * 0.5 / math.sqrt(400)


@pytest.mark.thorough
def test_games_side_by_side_have_regrets_of_their_own_means():
    assert_same(lambda: BanditEnv(BernoulliPrior(4, 200)), [make_algorithm("EXP3")], trials=4, engine="lanes")
