"""EXP3-SET: by hand on four nodes, Hedge on the complete graph, and against a naive form on changing graphs."""

import math

import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs import play
from dp_bandit_envs.adversaries import Deterministic, Stochastic
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents.exp3_set import TOTAL, Exp3Set
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.graphs import as_feedback_graph
from dp_bandit_envs.seeding import AGENT, stream
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.simulation.compiled_game import begin_games, make_compiled_game
from tests.tools.graph_games import DIRECTED, columns_of, rows_of
from tests.tools.refusals import refused


class Fixed:
    """A random generator whose next uniform number is `value`."""

    value = 0.0

    def random(self):
        """Return it."""
        return self.value


def begun(graph, rate=None, horizon=100, rng=None):
    """Return an agent at the start of a game on this graph."""
    agent = Exp3Set(learning_rate=rate)
    graph = as_feedback_graph(graph)
    agent.begin(n_arms=graph.n_arms, horizon=horizon, rng=rng or Fixed())
    agent.see_graph(graph)
    return agent


def told(agent, arm, graph, gains):
    """Tell an agent what playing `arm` reveals of these gains."""
    observed = np.zeros(len(gains), np.int8)
    observed[as_feedback_graph(graph).revealed_by(arm)] = 1
    agent.update(arm, {"gain": np.array(gains) * observed, "observed": observed})


def chances(agent):
    """Return the probability of each arm, from where the answer to a uniform number changes."""
    n_arms = len(agent._state.weights)
    ends = []
    for arm in range(n_arms - 1):
        low, high = 0.0, 1.0
        for _ in range(52):
            agent._rng.value = (low + high) / 2
            low, high = (agent._rng.value, high) if agent.select_arm() <= arm else (low, agent._rng.value)
        ends.append(low)
    return np.diff([0.0, *ends, 1.0])


def test_two_updates_on_a_path_by_hand():
    """0 - 1 - 2 - 3 with eta = 1/2. At first every arm has chance 1/4, and 0 is revealed with 1/2, 1 and 2 with 3/4.

    Playing 1 reveals losses 1, 1/2, 0 of arms 0, 1, 2: estimates 2, 2/3, 0, times 1/2. So arm 0 has weight e^-1, arm 1
    e^-1/3, and 2 and 3 have 1. Playing 3 reveals losses 1 and 1/4 of arms 2 and 3, whose chances are w1 + w2 + w3 and
    w2 + w3 over the sum.
    """
    graph = nx.path_graph(4)
    agent = begun(graph, 0.5)
    assert chances(agent) == pytest.approx([0.25] * 4, abs=1e-12)
    told(agent, 1, graph, [0.0, 0.5, 1.0, 1.0])
    assert list(agent._state.losses) == pytest.approx([1, 1 / 3, 0, 0], rel=1e-14)
    weights = np.array([math.exp(-1), math.exp(-1 / 3), 1, 1])
    assert chances(agent) == pytest.approx(weights / weights.sum(), abs=1e-12)
    told(agent, 3, graph, [1.0, 1.0, 0.0, 0.75])
    q2, q3 = weights[1:].sum() / weights.sum(), 2 / weights.sum()
    expected = [1, 1 / 3, 0.5 / q2, 0.5 * 0.25 / q3]
    assert list(agent._state.losses) == pytest.approx(expected, rel=1e-14)
    weights = np.exp(-np.array(expected))
    assert chances(agent) == pytest.approx(weights / weights.sum(), abs=1e-12)


def test_an_update_on_a_directed_graph_divides_by_those_who_reveal():
    """0 is revealed by 0 and 3, 2 by 0, 1 and 2: chances 1/2 and 3/4. Playing 0 reveals losses 1/2 and 1 of them."""
    agent = begun(DIRECTED, 1.0)
    told(agent, 0, DIRECTED, [0.5, 0.0, 0.0, 0.0])
    assert list(agent._state.losses) == pytest.approx([1.0, 0, 4 / 3, 0], rel=1e-14)


def test_the_graph_of_the_round_decides():
    agent = begun(nx.empty_graph(4), 1.0)
    told(agent, 2, nx.empty_graph(4), [0.0] * 4)
    assert list(agent._state.losses) == pytest.approx([0, 0, 4, 0], rel=1e-14)
    agent.see_graph(as_feedback_graph(nx.complete_graph(4)))
    told(agent, 2, nx.complete_graph(4), [0.0] * 4)
    assert list(agent._state.losses) == pytest.approx([1, 1, 5, 1], rel=1e-14)


def test_the_default_rate_follows_from_the_first_graph():
    """Eta = sqrt(2 ln K / (alpha T)); alpha is 1, 2, 4 for the complete graph, the path and the empty one of four."""
    for graph, alpha in ((nx.complete_graph(4), 1), (nx.path_graph(4), 2), (nx.empty_graph(4), 4)):
        agent = begun(graph, horizon=50)
        expected = math.sqrt(2 * math.log(4) / (alpha * 50))
        assert agent._state.learning_rate == pytest.approx(expected, rel=1e-14)
        told(agent, 0, graph, [0.5] * 4)
        agent.see_graph(as_feedback_graph(nx.complete_graph(4)))
        assert agent._state.learning_rate == pytest.approx(expected, rel=1e-14)
    assert begun(nx.path_graph(4), 0.3)._state.learning_rate == 0.3
    for rate in (0, math.nan, math.inf):
        with refused(ValueError, "learning_rate", 0, f"received {rate}"):
            Exp3Set(learning_rate=rate)
    # No graph is as the empty one.
    coins = {"means": [0.3, 0.6, 0.5], "horizon": 200}
    games = [play(env, Exp3Set(), seed=3).arms for env in (GraphEnv("empty", **coins), BanditEnv(Stochastic(**coins)))]
    assert np.array_equal(*games)


def test_the_bound_by_hand():
    """T = 200, K = 6. A star has 5 independent leaves, and 5 cliques, one with the middle; a cycle has 3 of both."""
    algorithm, log = make_algorithm("EXP3-SET"), math.log(6)
    for graph, size in (("empty", 6), ("complete", 1), ("star", 5), ("cycle", 3)):
        env = GraphEnv(graph, n_arms=6, horizon=200)
        assert algorithm.regret_bound_in(env) == pytest.approx(math.sqrt(2 * size * 200 * log), rel=1e-12)
    assert algorithm.regret_bound(n_arms=6, horizon=200) == pytest.approx(math.sqrt(2 * 6 * 200 * log), rel=1e-12)
    # A path of four, found from its ends: two independent arms; two cliques.
    path = GraphEnv(nx.path_graph(4), horizon=300)
    assert algorithm.regret_bound_in(path) == pytest.approx(math.sqrt(4 * 300 * math.log(4)), rel=1e-12)
    for unknown in (
        {"graph": "erdos-renyi"},
        {"graph": nx.path_graph(4, nx.DiGraph)},
        {"graph": "star", "max_revealed": 2},
    ):
        assert algorithm.regret_bound_in(GraphEnv(horizon=300, **unknown)) == math.inf
    assert algorithm.guarantee(n_arms=4, horizon=100).model == "none"


@pytest.mark.parametrize("name", ["EXP3", "EXP2", "Tsallis-INF", "EXP3-SET"])
def test_no_bound_is_stated_where_an_arm_hides_its_own_gain(name):
    """Arm 0 pays and reveals nothing: no algorithm can learn that, and EXP3's regret grows like T."""
    hidden, seen = (GraphEnv(np.diag([one, 1]), means=[0.9, 0.1], horizon=2000, self_loops=False) for one in (0, 1))
    algorithm = make_algorithm(name)
    assert algorithm.regret_bound_in(hidden) == math.inf
    assert algorithm.regret_bound_in(seen) < 2000
    if name == "EXP3":
        assert play(hidden, algorithm, seed=0).external_regret[-1] > algorithm.regret_bound_in(seen)


def test_on_the_complete_graph_it_is_hedge_whatever_is_played():
    """Every loss is revealed with chance 1, so the weights are exp(-eta L) with the true cumulative losses L."""
    rounds, n_arms, eta = 500, 5, 0.2
    table = np.random.default_rng(2).random((rounds, n_arms)) * np.linspace(0.5, 1, n_arms)
    graph = as_feedback_graph(nx.complete_graph(n_arms))
    agent = begun(nx.complete_graph(n_arms), eta, rounds)
    losses = np.zeros(n_arms)
    for t in range(rounds):
        agent.update(t % n_arms, {"gain": table[t], "observed": np.ones(n_arms, np.int8)})
        losses += 1 - table[t]
        weights = np.exp(-eta * (losses - losses.min()))
        state = agent._state
        assert np.array(state.weights) / state.scale[TOTAL] == pytest.approx(weights / weights.sum(), rel=1e-9)
    assert list(agent._state.losses) == pytest.approx(eta * losses, rel=1e-11)
    assert graph.most_revealed == n_arms


# ---- a naive form --------------------------------------------------------------------------------------------------

CHANGING = {
    "directed": (DIRECTED, {}),
    "karate-club": ("karate-club", {}),
    "redrawn in every round": ("erdos-renyi", {"n_arms": 8, "degree": 3, "redraw_every": 1}),
    "redrawn, directed by a cap": ("erdos-renyi", {"n_arms": 8, "degree": 5, "redraw_every": 3, "max_revealed": 3}),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "rate"), [*((kind, 0.05) for kind in CHANGING), ("directed", None)])
def test_a_naive_form_plays_the_same_game(kind, rate):
    """Weights straight from estimates and chances straight from the columns of the graph, in every round."""
    graph, options = CHANGING[kind]
    rounds, seed = 400, 5
    arms = play(GraphEnv(graph, horizon=rounds, **options), Exp3Set(learning_rate=rate), seed=seed).arms
    env = GraphEnv(graph, horizon=rounds, **options)
    env.reset(seed=seed)
    rng = stream(seed, role=AGENT, player="Exp3Set")
    eta = rate or math.sqrt(2 * math.log(env.n_arms) / (env.graph.independent_arms * rounds))
    estimates = np.zeros(env.n_arms)
    for t in range(rounds):
        weights = np.exp(-eta * (estimates - estimates.min()))
        share = weights / weights.sum()
        columns, rows = columns_of(env.graph), rows_of(env.graph)
        arm = min(int(np.searchsorted(np.cumsum(share), rng.random(), side="right")), env.n_arms - 1)
        assert arm == arms[t], t
        gains = env.step(arm)[0]["gain"]
        for each in rows[arm]:
            estimates[each] += (1 - gains[each]) / share[columns[each]].sum()
    # A game in which something was learnt and every arm was played.
    assert estimates.std() * eta > 0.05
    assert len(set(arms.tolist())) >= 4


def compiled_state(env, rounds, agent=Exp3Set):
    """Play so many rounds compiled; return the agent's state and how often each arm was played."""
    plan = make_compiled_game(Algorithm("one", agent), env, checkpoints=[rounds])
    env.reset(seed=0)
    gains = np.empty((rounds, env.n_arms))
    env.adversary.begin(np.random.default_rng(0))
    env.adversary.fill(gains)
    _, (game,) = begin_games(plan, 1, [0])
    game.play(gains, env.graph)
    return game.state, game.record.pulls[-1]


@pytest.mark.thorough
@pytest.mark.slow_cases("DiGraph with 4 nodes and 4 edges", "complete", "star")
@pytest.mark.parametrize("graph", ["complete", "empty", "star", DIRECTED], ids=str)
def test_weights_are_finite_after_a_million_rounds(graph):
    rounds = 10**6
    env = GraphEnv(graph, gains=Stochastic(4, rounds, means=[0.0, 1.0, 0.5, 0.0]))
    state, pulls = compiled_state(env, rounds)
    assert np.isfinite(state.losses).all() and np.isfinite(state.weights).all()
    assert 0 < state.scale[TOTAL] < 5
    assert state.scale[TOTAL] == pytest.approx(state.weights.sum(), rel=1e-9)
    # Weights from 1 down to e^-150 and below.
    assert state.losses.max() > 150
    assert pulls[1] > 0.99 * rounds


def test_a_leader_that_fails_is_left_after_a_long_time():
    """Weights that vanished could not come back: arm 0 leads for 20,000 rounds, then arm 1 for 60,000."""
    rounds = 80_000
    table = np.zeros((rounds, 3))
    table[:20_000, 0] = 1.0
    table[20_000:, 1] = 1.0
    env = GraphEnv("complete", gains=GainTable(table))
    state, pulls = compiled_state(env, rounds, lambda: Exp3Set(learning_rate=0.1))
    assert state.losses.tolist() == pytest.approx([6000, 2000, 8000], rel=1e-6)
    assert 20_000 < pulls[0] < 41_000 and pulls[1] > 39_000
    assert state.weights[1] == pytest.approx(1.0)


@pytest.mark.parametrize(("graph", "alpha"), [("complete", 1), ("cycle", 2), ("star", 3), ("empty", 4)])
@pytest.mark.parametrize(
    "adversary",
    [Deterministic(4, 3000), Stochastic(4, 3000, means=[0.1, 0.9, 0.1, 0.1])],
    ids=["Deterministic", "Stochastic"],
)
def test_regret_is_below_its_bound(graph, alpha, adversary):
    """Against ln K / eta + eta alpha T / 2 = sqrt(2 alpha T ln K); the mean of 20 games may be three errors off.

    False alarm: below 1e-6 (the closest bound is twelve measured standard errors above the mean).
    """
    env = GraphEnv(graph, gains=adversary)
    assert env.graph.independent_arms == alpha
    bound = make_algorithm("EXP3-SET").regret_bound_in(env)
    assert bound == pytest.approx(math.sqrt(2 * alpha * 3000 * math.log(4)))
    outcome = simulate(lambda: GraphEnv(graph, gains=adversary), ["EXP3-SET", "Uniform"], trials=20)
    regret = outcome["EXP3-SET"].external_regret[:, -1]
    assert regret.mean() + 3 * regret.std(ddof=1) / math.sqrt(20) < bound
    # Uniform play exceeds it, or the bound would not ask for anything.
    assert outcome["Uniform"].external_regret[:, -1].mean() > bound
