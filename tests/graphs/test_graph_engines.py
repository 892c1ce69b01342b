"""`simulate` is `play` to the last bit on feedback graphs too: fixed, directed, redrawn, capped, with charges."""

import math

import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import BernoulliPrior, MemoryBounded, Stochastic, SwitchingCost
from dp_bandit_envs.agents import Imed, KlUcb, SuccessiveElimination, ThompsonSampling, Ucb
from dp_bandit_envs.agents.exp3_set import Exp3Set
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.max_n import TsMaxN, UcbMaxN
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.protocols import Gains
from dp_bandit_envs.simulation import engines as engines_module
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, IntervalSums, MiniBatchAverage, RandomizedResponse
from tests.tools.both_ways import HORIZON, SEED, Bits, BitsOfSums, arm_of_bits, assert_same, laplace
from tests.tools.graph_games import DIRECTED
from tests.tools.refusals import refused
from tests.tools.toys import Script

ON_GRAPHS = ["TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN", "EXP3-SET"]
PRIVATE = [
    *("DP-KLUCB", "DP-IMED", "DP-UCB-BOUND", "DP-UCB", "AdaP-KLUCB", "Lazy-DP-TS", "DP-TS", "DP-UCB-INT"),
    *("LDP-UCB-B", "LDP-UCB-L", "Batched-Lap-HTINF", "DP-EXP3-Lap", "EXP3-tau"),
]
SOME = ["DP-UCB-BOUND", "DP-UCB-INT", "LDP-UCB-B", "DP-EXP3-Lap", "EXP3-tau"]
"""One of most chains of wrappers, which `tests/simulation` compiles for graphs, too."""


def batch(env, batch_size=3):
    return MiniBatchAverage(env, batch_size=batch_size)


def private():
    """Return the private algorithms; epsilon is large enough for them to leave their first arm within the game."""
    made = [make_algorithm(name, epsilon=8.0) for name in PRIVATE if name not in ("Batched-Lap-HTINF", "EXP3-tau")]
    made.append(make_algorithm("Batched-Lap-HTINF", epsilon=0.4))  # in batches of 3
    made.append(make_algorithm("EXP3-tau", batch_size=3))
    made.append(
        Algorithm(
            "DP-SE with short epochs",
            lambda: SuccessiveElimination(epsilon=50.0),
            lambda env: BlockSums(env, epsilon=50.0, lengths=(4, 9, 20)),
        )
    )
    return made


IN_BATCHES = [
    Algorithm("TS-N in batches", ThompsonSampling, lambda env: ExactSums(batch(env))),
    Algorithm("TS-MaxN in batches", TsMaxN, lambda env: ExactSums(batch(env))),
    Algorithm("UCB-MaxN in batches", UcbMaxN, lambda env: ExactSums(batch(env))),
    Algorithm("UCB on counters in batches", Ucb, lambda env: HybridSums(batch(env), epsilon=5.0)),
    Algorithm("IMED on blocks in batches", Imed, lambda env: BlockSums(batch(env), epsilon=5.0)),
    Algorithm("KL-UCB on coins in batches", KlUcb, lambda env: ExactSums(RandomizedResponse(batch(env), epsilon=9.0))),
    Algorithm("EXP3 in batches around Laplace", Exp3, lambda env: batch(laplace(env, 20.0))),
    Algorithm("UCB in batches around Laplace", Ucb, lambda env: ExactSums(batch(laplace(env, 5.0, bound=0.5)))),
    Algorithm("EXP3-SET around Laplace", Exp3Set, lambda env: laplace(env, 20.0, bound=0.2)),
    Algorithm("EXP3-SET in batches", Exp3Set, batch),
]


def able(algorithms, make_env):
    """Return the algorithms that can play: where an arm may hide its own gain, some would wait for it forever."""
    env = make_env()
    env.reset(seed=0)
    if env.graph.reveals_itself:
        return algorithms
    return [one for one in algorithms if not getattr(one.agent(), "waits", False)]


def fixed(graph, **options):
    return lambda: GraphEnv(graph, horizon=HORIZON, **options)


def against(graph, gains, **options):
    return lambda: GraphEnv(graph, gains=gains(), **options)


GAMES = {
    "fixed, undirected": fixed("karate-club"),
    "directed": fixed(DIRECTED, means=[0.3, 0.8, 0.5, 0.7]),
    "drawn once": fixed("planted-partition", n_arms=8, degree=3, groups=3),
    "redrawn": fixed("erdos-renyi", n_arms=6, degree=2, redraw_every=7),
    "redrawn always": fixed("erdos-renyi", n_arms=6, degree=2, redraw_every=1),
    "capped": fixed("complete", n_arms=7, max_revealed=3),
    "capped and redrawn": fixed("erdos-renyi", n_arms=7, degree=4, max_revealed=2, redraw_every=7, block_length=10),
    "without self-loops": fixed("cycle", n_arms=5, self_loops=False),
    "without self-loops, redrawn": fixed("erdos-renyi", n_arms=6, degree=3, self_loops=False, redraw_every=2),
    "switching costs": against("cycle", lambda: SwitchingCost(5, HORIZON)),
    "unseen switching costs": against(DIRECTED, lambda: SwitchingCost(4, HORIZON), observe_charge=False),
    "memory, redrawn": against(
        "erdos-renyi",
        lambda: MemoryBounded(memory=2, gains=BernoulliPrior(6, HORIZON)),
        n_arms=6,
        degree=3,
        redraw_every=7,
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("game", GAMES)
def test_algorithms_play_the_same_game_both_ways(game):
    """Those for graphs in every game; and in three games some private ones, whose chains are others, and batches."""
    arms = assert_same(GAMES[game], able([make_algorithm(name) for name in ON_GRAPHS], GAMES[game]))
    if game in ("directed", "capped and redrawn", "memory, redrawn"):
        some = [one for one in private() if one.name in SOME] + IN_BATCHES[4:5]
        arms |= assert_same(GAMES[game], some, trials=1)
    if "without self-loops" not in game:
        # Otherwise most would sit on their first arm, and there would be nothing to compare.
        assert sum(len(set(played.tolist())) > 1 for played in arms.values()) > 0.6 * len(arms)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_all_private_ones_and_batches_play_the_same_game_both_ways(game):
    assert_same(GAMES[game], able(private() + IN_BATCHES, GAMES[game]), trials=1)


# Their agents play on graphs above, and others are in these chains.
def test_successive_elimination_agrees_beyond_its_first_epochs():
    """Its epochs are long: two epochs of two arms are thousands of rounds."""
    arms = assert_same(
        lambda: GraphEnv("complete", means=[0.0, 1.0], horizon=6000), [make_algorithm("DP-SE", epsilon=5.0)], trials=1
    )
    assert set(arms["DP-SE", 0].tolist()) == {0, 1}
    assert (arms["DP-SE", 0][-2000:] == 1).all()


def mix_gains(state, arm, seen):
    mixed = state.mixed
    for each in range(state.n_arms):
        # 2^52 times a number in [0, 1] keeps all bits that the number has from 1/2 on.
        bits = int(seen.gains[each] * 4503599627370496.0) + int(seen.observed[each])
        mixed = (31 * mixed + bits) % 1000003
    return Bits((31 * mixed + arm) % 1000003, state.n_arms)


class BitsOfGains(BitsOfSums):
    """Plays another game from then on if the last bit of any gain that it is told of any arm is another."""

    functions = Functions(arm_of_bits, mix_gains)
    learns_from = Gains


GAIN_CHAINS = {
    "bare": lambda env: env,
    "Laplace that rejects around batch": lambda env: laplace(batch(env), 6.0, bound=0.2),
    "batch around Laplace that clips": lambda env: batch(laplace(env, bound=0.1, outside="clip"), 2),
    "Laplace, batch, Laplace": lambda env: laplace(batch(laplace(env, 9.0, bound=0.3), 2), 9.0, bound=0.3),
    "responses": lambda env: RandomizedResponse(env, epsilon=3.0),
}
SUM_CHAINS = {
    "running": ExactSums,
    "hybrid, padded": lambda env: HybridSums(env, epsilon=5.0, pad_unplayed=True),
    "hybrid around batch": lambda env: HybridSums(batch(env, 2), epsilon=5.0),
    "blocks around batch around responses": lambda env: BlockSums(
        batch(RandomizedResponse(env, epsilon=3.0), 2), epsilon=5.0
    ),
    "intervals, redrawn": lambda env: IntervalSums(env, epsilon=9.0, delta=0.1, release="redraw"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("game", "chains"), [("memory, redrawn", 1), *(pytest.param(game, 10, marks=pytest.mark.slow) for game in GAMES)]
)
def test_what_an_agent_is_told_of_all_arms_is_equal_to_the_last_bit(game, chains):
    """In all ten chains, or in one, a hybrid counter around batches."""
    every = [(BitsOfGains, GAIN_CHAINS), (BitsOfSums, SUM_CHAINS)]
    algorithms = [Algorithm(name, kind, chain) for kind, those in every for name, chain in those.items()]
    arms = assert_same(GAMES[game], algorithms if chains == 10 else algorithms[7:8], trials=1)
    played = list(arms.values())
    assert not any(np.array_equal(one, other) for index, one in enumerate(played) for other in played[:index])


@pytest.mark.parametrize(("rounds_at_once", "block_length"), [(1, 330), (5, 1), (5, 4)])
@pytest.mark.parametrize("game", ["redrawn", "memory, redrawn"])
def test_blocks_of_simulator_and_environment_may_cut_graphs_and_batches_anywhere(
    monkeypatch, game, rounds_at_once, block_length
):
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", rounds_at_once)

    def make():
        env = GAMES[game]()
        env._block_length = block_length
        return env

    assert_same(make, [make_algorithm("UCB-MaxN"), make_algorithm("EXP3-SET"), IN_BATCHES[3]], trials=1)


def test_later_trials_have_graphs_of_their_own_and_several_at_a_time_are_the_same_games():
    algorithms = [make_algorithm(name) for name in ("TS-MaxN", "EXP3-SET")]
    arms = assert_same(GAMES["redrawn"], algorithms, trials=3, first_trial=5, jobs=2)
    assert len({tuple(arms["EXP3-SET", trial].tolist()) for trial in range(3)}) == 3


@pytest.mark.thorough
def test_many_arms_in_short_blocks_agree():
    """More gains than one block of the simulator and of the environment holds."""
    assert_same(fixed("power-law", n_arms=2000), [make_algorithm("UCB-MaxN")], trials=1)
    assert engines_module.NUMBERS_AT_ONCE // 2000 < HORIZON


class Looks(Script):
    """An agent that is not compiled: it plays the first arm that the present graph's arm 0 reveals last."""

    def begin(self, **options):
        self.row, self.told, self.seen = None, 0, []

    def see_graph(self, graph):
        self.row, self.told = graph.revealed_by(0).tolist(), self.told + 1

    def select_arm(self):
        return self.row[-1]


def test_an_agent_of_ones_own_is_told_of_every_graph_before_it_chooses():
    make = fixed("erdos-renyi", n_arms=6, degree=2, redraw_every=7)
    outcome = simulate(make, {"mine": Looks}, trials=2, seed=SEED)["mine"]
    assert outcome.engine == "play" and outcome.reason
    env, agent = make(), Looks()
    game = play(env, agent, seed=SEED)
    assert agent.told == math.ceil(HORIZON / 7)
    assert np.array_equal(outcome.pulls[0], np.bincount(game.arms, minlength=6))
    env.reset(seed=SEED)
    for arm in game.arms.tolist():
        assert arm == env.graph.revealed_by(0)[-1]
        env.step(arm)
    play(fixed(nx.path_graph(4))(), agent, seed=SEED)
    assert agent.told == 1  # of a fixed graph once


def test_gains_are_those_of_other_graphs_with_the_same_seed():
    """The best arm's gains do not depend on the graph, in both engines."""
    totals = set()
    for graph in ("empty", "complete", "erdos-renyi"):
        make = against(graph, lambda: Stochastic(4, 200, means=[0.5, 0.5, 0.5, 0.5]))
        outcome = simulate(make, ["Uniform"], seed=3)["Uniform"]
        totals.add((outcome.external_regret[0, -1], outcome.collected[0, -1]))
    assert len(totals) == 1


def test_agents_that_wait_for_an_arms_own_gains_refuse_graphs_that_hide_them():
    """They would play arm 0 to the end."""
    env = fixed("cycle", n_arms=6, self_loops=False)()
    for name in ("UCB-N", "DP-KLUCB", "DP-IMED", "DP-SE", "Lazy-DP-TS"):
        algorithm = make_algorithm(name)
        with refused(ValueError, "self_loops=True", "TsMaxN", "UcbMaxN"):
            play(algorithm.wrap(env), algorithm.agent())
    with refused(ValueError, "self_loops=True", "TsMaxN", "UcbMaxN"):
        simulate(fixed("cycle", n_arms=6, self_loops=False), ["UCB-N"])
