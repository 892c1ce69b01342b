"""TS-N, UCB-N and their MaxN forms: known algorithms in the limit cases, and by hand on four nodes."""

import math

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs import play
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import Htinf, Imed, LocalUcb, RandomLabels, ThompsonSampling, Ucb
from dp_bandit_envs.agents.largest_beta import MANY, among_many, changed, one_by_one, start
from dp_bandit_envs.agents.max_n import TsMaxN, UcbMaxN
from dp_bandit_envs.agents.noise_width import log_width
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.graphs import as_feedback_graph
from dp_bandit_envs.privacy import Noise
from dp_bandit_envs.seeding import ADVERSARY, AGENT, stream
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, LaplaceClipRescale
from tests.tools.doors import one_each
from tests.tools.fake_draws import InOrder
from tests.tools.graph_games import DIRECTED, columns_of, rows_of, table_game
from tests.tools.one_noise import as_one_player

MEANS = [0.3, 0.8, 0.5, 0.75, 0.1]
PAIRS = [("UCB", "UCB-N"), ("UCB", "UCB-MaxN"), ("TS", "TS-N"), ("TS", "TS-MaxN")]
OTHERS = ["EXP3", "DP-KLUCB", "DP-UCB-BOUND", "DP-TS", "DP-EXP3-Lap", "LDP-UCB-B", "Batched-Lap-HTINF", "AdaP-UCB"]


def played(name, env, seed):
    return play(env, as_one_player(make_algorithm(name)), seed=seed)


@pytest.mark.thorough
def test_on_the_empty_graph_an_algorithm_is_the_one_without_a_graph():
    """Arm for arm and gain for gain: `DPBandit-Stochastic-v0` with the same means and seed has the same stream."""
    for plain, on_graph in [*PAIRS, *((name, name) for name in OTHERS)]:
        without = played(plain, BanditEnv(Stochastic(5, 400, means=MEANS)), 1)
        with_graph = played(on_graph, GraphEnv("empty", means=MEANS, horizon=400), 1)
        assert np.array_equal(without.arms, with_graph.arms)
        assert np.array_equal(without.gains, with_graph.gains)
        assert np.array_equal(without.pseudo_regret, with_graph.pseudo_regret)
        assert len(set(without.arms.tolist())) > 1
    # Otherwise that could be because the graph is never looked at.
    on = {
        (graph, name): played(name, GraphEnv(graph, means=MEANS, horizon=400), 0).arms.tolist()
        for graph in ("empty", "cycle")
        for _, name in PAIRS
    }
    assert all(on["empty", name] != on["cycle", name] for _, name in PAIRS)
    assert all(on["cycle", f"{kind}-N"] != on["cycle", f"{kind}-MaxN"] for kind in ("UCB", "TS"))


def test_on_the_complete_graph_ucb_follows_the_leader_and_maxn_agrees():
    """All widths are equal, so the index is largest where the mean is; and every arm reveals every other."""
    env = GraphEnv("complete", means=MEANS, horizon=300)
    table = Stochastic(5, 300, means=MEANS)
    table.begin(stream(1, role=ADVERSARY))
    sums = np.cumsum(table.next_gains(300), axis=0)
    # Nothing is known in round 1; then one of the largest sums is played, drawn where there are several.
    for name in ("UCB-N", "UCB-MaxN"):
        arms = played(name, env, 1).arms[1:]
        assert (sums[np.arange(299), arms] == sums[:-1].max(axis=1)).all()


ROWS = [[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.5, 1.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]


def posteriors(graph, arms):
    """Play these arms of the table above; return alphas and betas after each round."""
    env = ExactSums(table_game(ROWS, graph))
    agent = ThompsonSampling()
    agent.begin(n_arms=4, horizon=4, rng=np.random.default_rng(0))
    env.reset(seed=0)
    states = []
    for arm in arms:
        agent.update(arm, env.step(arm)[0])
        states.append((list(agent._state.alphas), list(agent._state.betas)))
    return states


def test_posteriors_of_three_rounds_by_hand():
    """The path 0 - 1 - 2 - 3. Playing 0 reveals 0: 1 and 1: 0; playing 2 then 1: 1, 2: 1/2, 3: 1; playing 3 2: 1, 3: 0.

    Sums and counts: 0: 1 of 1; 1: 1 of 2; 2: 3/2 of 2; 3: 1 of 2. An arm not seen yet has the uniform prior.
    """
    states = posteriors(nx.path_graph(4), [0, 2, 3])
    assert states[0] == ([2, 1, 1, 1], [1, 2, 1, 1])
    assert states[1] == ([2, 2, 1.5, 2], [1, 2, 1.5, 1])
    assert states[2] == ([2, 2, 2.5, 2], [1, 2, 1.5, 2])


def test_posteriors_on_a_directed_graph_by_hand():
    """Playing 0 reveals 0: 1, 2: 1; then 3 reveals 0: 0, 3: 1; then 1 reveals 1: 1, 2: 1."""
    states = posteriors(DIRECTED, [0, 3, 1])
    assert states[0] == ([2, 1, 2, 1], [1, 1, 1, 1])
    assert states[1] == ([2, 1, 2, 2], [2, 1, 1, 1])
    assert states[2] == ([2, 2, 3, 2], [2, 1, 1, 1])


def in_order(table):
    """Return the arms that UCB-MaxN plays where ties go to the lower number."""
    env, agent = ExactSums(table_game(table, DIRECTED)), UcbMaxN()
    agent.begin(n_arms=4, horizon=len(table), rng=InOrder())
    env.reset(seed=0)
    agent.see_graph(env.get_wrapper_attr("graph"))
    arms = []
    for _ in table:
        arms.append(agent.select_arm())
        agent.update(arms[-1], env.step(arms[-1])[0])
    return arms


def test_maxn_plays_the_best_arm_that_reveals_the_wanted_one_by_hand():
    """Revealed by: 0 by {0, 3}, 1 by {1}, 2 by {0, 1, 2}, 3 by {2, 3}. UCB wants arms without a gain first, in order.

    Round 1 wants 0; both means are 1/2, the lower number is played: 0 reveals 0: 0.25 and 2: 0.375.
    Round 2 wants 1, which only 1 reveals: 1: 0.75 and 2: 0.625, so that 2 has mean 0.5.
    Round 3 wants 3; arm 2 has 0.5 and arm 3, never seen, 0.5 too: the lower number 2 reveals 2: 1 and 3: 0.125.
    Means 0.25 of 1, 0.75 of 1, 2/3 of 3, 0.125 of 1. Round 4: indices with sqrt(2 ln 3 / n): 1.48 off for n = 1, 0.86
    for n = 3; arm 1 is largest and played. It reveals 1: 0 and 2: 0: means 0.375 of 2, 0.5 of 4.
    Round 5: sqrt(2 ln 4 / n) is 1.665, 1.177, 0.833: arm 0 has 1.915, 1 has 1.552, 3 has 1.79. Wanted is 0; arm 0 with
    0.25 beats arm 3 with 0.125.
    """
    table = [[0.25, 1, 0.375, 1], [1, 0.75, 0.625, 1], [1, 1, 1, 0.125], [1, 0, 0, 1], [0, 0, 0, 0]]
    assert in_order(table) == [0, 1, 2, 1, 0]


def test_maxn_leaves_a_wanted_arm_for_a_better_one_by_hand():
    """As above, but arm 3 gave 1: wanted 3 in round 3 is left for arm 2 only if that is better than 1/2.

    Round 1: 0 reveals 0: 0 and 2: 1. Round 2: 1 reveals 1: 0 and 2: 0.5, so 2 has 0.75 > 1/2. Round 3 wants 3, plays 2.
    """
    table = [[0, 0, 1, 0], [0, 0, 0.5, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert in_order(table)[:3] == [0, 1, 2]
    # With 2 at 0.25, arm 3 itself, never seen, counts as 1/2 and is better.
    table = [[0, 0, 0.5, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert in_order(table)[:3] == [0, 1, 3]


def test_ucb_maxn_passes_over_an_arm_that_nobody_reveals_and_ts_maxn_plays_it():
    agent = UcbMaxN()
    agent.begin(n_arms=4, horizon=9, rng=np.random.default_rng(0))
    agent.see_graph(as_feedback_graph(DIRECTED, self_loops=False))
    # 0 is revealed by 3 alone; when it has gains, 1 would be next, which nothing reveals, and so it is 2.
    assert agent.select_arm() == 3
    only_0 = np.array([1, 0, 0, 0])
    agent.update(3, {"sum": only_0.astype(float), "count": only_0, "release": only_0})
    # 2 is revealed by 0, which has a mean of 1, and by 1, of which nothing is known.
    assert agent.select_arm() == 0
    # Where nothing reveals anything, nothing can be learned.
    agent.see_graph(as_feedback_graph(np.zeros((4, 4)), self_loops=False))
    assert agent.select_arm() == 0
    agent = TsMaxN()
    agent.begin(n_arms=4, horizon=9, rng=np.random.default_rng(0))
    agent.see_graph(as_feedback_graph(np.zeros((4, 4)), self_loops=False))
    assert {agent.select_arm() for _ in range(60)} == {0, 1, 2, 3}


class Naive:
    """All four algorithms in a few lines of lists, from gains and not from sums; TS by the library's draws."""

    def __init__(self, n_arms, rng, thompson, max_n):
        """Begin a game."""
        self.seen = [[] for _ in range(n_arms)]
        self.rng, self.thompson, self.max_n = rng, thompson, max_n
        self.last, self.t = 0, 0
        self.search = start(n_arms)

    def choose(self, columns):
        """Return the arm to play, and the one that was wanted."""
        sums, counts = [math.fsum(one) for one in self.seen], [len(one) for one in self.seen]
        if self.thompson:
            alphas = [1 + total for total in sums]
            betas = [1 + (n - total) for total, n in zip(sums, counts, strict=True)]
            if len(sums) < MANY:
                wanted = one_by_one(alphas, betas, self.last, self.rng)
            else:
                wanted = among_many(alphas, betas, self.search, self.rng)
        elif 0 in counts:
            wanted = counts.index(0)
        else:
            index = [s / n + math.sqrt(2 * math.log(self.t) / n) for s, n in zip(sums, counts, strict=True)]
            wanted = index.index(max(index))
        if not self.max_n:
            return wanted, wanted
        means = [s / n if n else 0.5 for s, n in zip(sums, counts, strict=True)]
        leaders = []
        for arm in columns[wanted]:
            if not leaders or means[arm] > means[leaders[0]]:
                leaders, best = [arm], arm
            elif means[arm] == means[leaders[0]]:
                leaders.append(arm)
                best = arm if self.rng.random() * len(leaders) >= len(leaders) - 1 else best
        return best, wanted

    def learn(self, arm, gains):
        """Take in what was revealed."""
        self.t += 1
        self.last = arm
        for each, gain in gains.items():
            self.seen[each].append(gain)
            changed(self.search, each)


GRAPHS = {
    "directed": (DIRECTED, {"means": [0.4, 0.6, 0.5, 0.3]}),
    "undirected": ("karate-club", {}),
    "redrawn": ("erdos-renyi", {"n_arms": 12, "degree": 4, "redraw_every": 3}),
    "capped and redrawn": ("erdos-renyi", {"n_arms": 12, "degree": 6, "redraw_every": 2, "max_revealed": 3}),
}


@pytest.mark.thorough
def test_naive_forms_play_the_same_game():
    for graph, name in one_each(list(GRAPHS), ["TS-MaxN", "UCB-MaxN", "TS-N", "UCB-N"]):
        kind, options = GRAPHS[graph]
        rounds, seed = 300, 17
        game = GraphEnv(kind, horizon=rounds, **options)
        # UCB-N itself, not by random labels.
        arms = (play(ExactSums(game), Ucb(), seed=seed) if name == "UCB-N" else played(name, game, seed)).arms
        env = GraphEnv(kind, horizon=rounds, **options)
        env.reset(seed=seed)
        rng = stream(seed, role=AGENT, player="one")
        agent = Naive(env.n_arms, rng, name.startswith("TS"), name.endswith("MaxN"))
        elsewhere = 0
        for t in range(rounds):
            columns, rows = columns_of(env.graph), rows_of(env.graph)
            arm, wanted = agent.choose(columns)
            assert arm == arms[t], t
            elsewhere += arm != wanted
            gains = env.step(arm)[0]["gain"]
            agent.learn(arm, {each: gains[each] for each in rows[arm]})
        # MaxN plays something else than what it wants, or the test would tell nothing of it.
        assert (elsewhere > 0) == name.endswith("MaxN")


def numbers_of(state):
    """Return all numbers in a state, in order."""
    if isinstance(state, tuple):
        return [number for part in state for number in numbers_of(part)]
    return np.ravel(np.asarray(state, dtype=float)).tolist()


def state_of(agent, n_arms=4, horizon=1000):
    return numbers_of(agent.initial_state(n_arms, horizon))


def told(agent, sensitivity):
    """Return the agent, which was told that a round moves the values that get noise by so much."""
    agent.see_noise(Noise(sensitivity=sensitivity))
    return agent


WIDER = [
    ("DP-UCB-BOUND", {}),
    ("DP-UCB-BOUND", {"counter": "k-ary"}),
    ("DP-UCB-BOUND", {"formula": "printed"}),
    ("Private-UCB", {}),
    ("Private-UCB", {"constants": "improved"}),
    ("Private-UCB", {"failure_probability": 0.01}),
    ("DP-SE", {}),
    ("AdaP-UCB", {}),
    ("AdaP-KLUCB", {}),
    ("Lazy-DP-TS", {}),
    ("DP-TS", {}),
    ("DP-KLUCB", {}),
    ("DP-IMED", {}),
    ("LDP-UCB-L", {}),
    ("LDP-UCB-L", {"constants": "improved"}),
]


def test_five_times_the_noise_is_that_of_a_fifth_of_epsilon():
    for name, options in WIDER:
        wide = state_of(told(make_algorithm(name, epsilon=2.0, **options).agent(), 5))
        assert wide == pytest.approx(state_of(make_algorithm(name, epsilon=0.4, **options).agent()), rel=1e-12)
        plain = state_of(make_algorithm(name, epsilon=2.0, **options).agent())
        assert plain == state_of(told(make_algorithm(name, epsilon=2.0, **options).agent(), 1))
        assert plain != wide


def made(name, **options):
    """Return the agent of an algorithm, which may know arms by random labels."""
    agent = make_algorithm(name, **options).agent()
    return agent.agent if isinstance(agent, RandomLabels) else agent


def test_widths_of_a_larger_sensitivity_by_hand():
    def width(name, **options):
        return told(made(name, **options), 5).initial_state(4, 1000).width

    assert width("AdaP-UCB", epsilon=0.5).slope == pytest.approx(3.1 * 5 / 0.5)
    assert width("AdaP-KLUCB", epsilon=0.5).slope == pytest.approx(3.1 * 5 / 0.5)
    assert width("Lazy-DP-TS", epsilon=0.5).slope == pytest.approx(3 * 5 / 0.5)
    assert width("DP-TS", epsilon=0.5).slope == pytest.approx(6 * math.sqrt(8) * 5 / 0.5)
    for name in ("DP-KLUCB", "DP-IMED", "DP-SE"):
        agent = told(made(name, epsilon=0.5), 5)
        assert agent.initial_state(4, 1000).epsilon == pytest.approx(0.1)
        # What it was made with stays; the next game may have another sensitivity.
        assert agent.epsilon == 0.5
        assert told(agent, 2).initial_state(4, 1000).epsilon == pytest.approx(0.25)
    # The noise of DP-UCB-INT does not depend on epsilon: 3.5 ln t n^(v / 2 - 1) times the sensitivity.
    interval = width("DP-UCB-INT", mode="bonus", v=1.2)
    assert (interval.slope, interval.power) == pytest.approx((3.5 * 5, 0.4))
    one, five = (told(make_algorithm("DP-UCB-BOUND").agent(), s).initial_state(4, 1000).width.table for s in (1, 5))
    assert five == pytest.approx(5 * one, rel=1e-12)


def test_first_blocks_and_epochs_grow_with_the_sensitivity():
    """Four gains for each unit of the noise's scale s / epsilon: 4 * 3 / 2 = 6 on a cycle, 2 without a graph."""

    def blocks(name, epsilon, env):
        return make_algorithm(name, epsilon=epsilon).wrap(env).mechanism.blocks(env.horizon)

    for name in ("DP-KLUCB", "DP-IMED"):
        assert blocks(name, 2.0, GraphEnv("cycle", horizon=100))[0] == 6
        assert blocks(name, 2.0, BanditEnv(Stochastic(4, 100)))[0] == 2
    cycle = blocks("DP-SE", 0.3, GraphEnv("cycle", n_arms=4, horizon=10**6))
    small, plain = (blocks("DP-SE", epsilon, BanditEnv(Stochastic(4, 10**6))) for epsilon in (0.1, 0.3))
    assert cycle == small != plain


def cliques_of_five(horizon=400):
    """Return a game whose rounds reveal five gains."""
    env = GraphEnv("cliques", n_arms=10, size=5, means=[0.1 * (arm % 5) + 0.2 for arm in range(10)], horizon=horizon)
    assert env.sensitivity == 5.0
    return env


BY_HAND = {
    "AdaP-UCB": (
        lambda env: BlockSums(env, epsilon=4.0),
        lambda: RandomLabels(Ucb(exploration=3.1 / 2, log_factor=2.0, width=log_width(3.1 / 4.0), lazy=True)),
    ),
    "LDP-UCB-L": (
        lambda env: BlockSums(env, epsilon=4.0, ratio=1, keep=True),
        lambda: RandomLabels(LocalUcb(epsilon=4.0)),
    ),
    "DP-IMED": (
        lambda env: BlockSums(env, epsilon=4.0, first=5, keep=True),
        lambda: Imed(epsilon=4.0, lazy=True),
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_an_agent_put_together_by_hand_learns_the_sensitivity_by_itself(name):
    """The algorithm's game; and what it was made for is what a fifth of epsilon is for an agent told of nothing."""
    wrapping, make = BY_HAND[name]
    agent = make()
    own = play(wrapping(cliques_of_five()), agent, seed=1)
    if name != "DP-IMED":
        algorithm = as_one_player(make_algorithm(name, epsilon=4.0), player=type(agent).__name__)
        of_paper = play(cliques_of_five(), algorithm, seed=1)
        assert np.array_equal(own.arms, of_paper.arms)
    assert agent.noise.sensitivity == 5.0
    assert state_of(agent) == state_of(told(make(), 5)) != state_of(make())
    # The same object then plays a game without a graph as one that never saw this one.
    bare = [play(wrapping(BanditEnv(Stochastic(5, 400, means=MEANS))), one, seed=2).arms for one in (agent, make())]
    assert np.array_equal(*bare)
    assert agent.noise.sensitivity == 1.0


def test_an_agent_of_gains_learns_scale_and_bound_by_itself():
    """Five gains a round at epsilon 0.5: scale 10, and the bound is 10 ln 400; sigma grows to sqrt(1 + 2 * 100)."""
    agent = Htinf()
    play(LaplaceClipRescale(cliques_of_five(), epsilon=0.5), agent)
    assert agent.noise == pytest.approx(Noise(5.0, 10.0, 10.0 * math.log(400)), rel=2e-9)
    state = agent.initial_state(10, 400)
    assert state.sigma == pytest.approx(math.sqrt(201))
    assert state.bound == pytest.approx(10.0 * math.log(400), rel=2e-9)


def test_wrappers_above_the_boundary_do_not_hide_its_noise():
    agent = Ucb()
    play(gym.wrappers.RecordEpisodeStatistics(HybridSums(cliques_of_five(30), epsilon=1.0)), agent)
    assert agent.noise == Noise(sensitivity=5.0)
    play(gym.wrappers.RecordEpisodeStatistics(ExactSums(cliques_of_five(30))), agent)
    assert agent.noise == Noise(sensitivity=5.0)
    play(ExactSums(BanditEnv(Stochastic(5, 30))), agent)
    assert agent.noise == Noise(sensitivity=1.0)
