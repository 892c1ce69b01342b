"""The order of arms: as given, or drawn anew for each game, with means, features, graph and names."""

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2

from dp_bandit_envs import Adversary, BanditEnv, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Deterministic, GainTable, MemoryBounded, Stochastic, stay
from dp_bandit_envs.adversaries.trial import TREATMENTS, Trial
from dp_bandit_envs.errors import UnknownArgumentError, WrongGameError
from tests.tools.refusals import refused

TABLE = np.random.default_rng(5).random((60, 3))
RANDOM = {
    "Deterministic": {},
    "Stochastic": {},
    "FullyOblivious": {},
    "Oblivious": {"period": 7},
    "Trial": {},
    "Replay": {},
    "Linear": {},
    "Linear, coins": {"coins": True},
    "Experts": {},
    "Graph": {"graph": "star", "gains": "Stochastic"},
    "Graph, redrawn": {
        "graph": "power-law", "n_arms": 9, "gains": "Deterministic", "redraw_every": 11, "max_revealed": 4
    },
}  # fmt: skip
"""Games whose order is drawn by default: what they have for arms is the package's."""
GIVEN = {
    "Stochastic": {"means": [0.9, 0.2, 0.1]},
    "Replay": {"gains": TABLE},
    "Linear": {"features": np.eye(3)},
    "Experts": {"means": [0.9, 0.2, 0.1]},
    "Graph": {"graph": "cycle", "n_arms": 3, "means": [0.9, 0.2, 0.1]},
    "Graph, own": {"graph": nx.star_graph(4), "gains": "Stochastic"},
    "MemoryBounded": {"gains": Stochastic(3, 60), "payoff": stay, "memory": 1},
}
"""Games in which it is the user's."""
BOTH = {name: (name, arguments) for name, arguments in RANDOM.items()} | {
    f"{name}, random": (name, {**arguments, "arm_order": "random"}) for name, arguments in GIVEN.items()
}


def made(name, arguments, **more):
    return gym.make(f"DPBandit-{name.partition(',')[0]}-v0", **{"horizon": 60, **arguments, **more}).unwrapped


def sized(name, arguments):
    """Leave out the horizon of games that have their own."""
    own = any(isinstance(value, Adversary) for value in arguments.values())
    return (name.partition(",")[0], arguments), {} if own else {"horizon": 60}


def table_of(env, seed=0):
    """Return the gains of a game."""
    env.reset(seed=seed)
    gains = np.empty((env.horizon, env.adversary.n_arms))
    env.adversary.fill(gains)
    return gains


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Stochastic", "Experts", "FullyOblivious", "Trial", "Deterministic", "Graph"])
def test_the_best_arm_of_a_default_game_is_any_arm(name):
    """Chi-square over 4,000 games. False alarm: 1e-6."""
    env = made(name, RANDOM[name], horizon=6, **({} if name == "Trial" else {"n_arms": 4}))
    best = np.zeros(4)
    for trial in range(4000):
        env.reset(seed=1, options={"trial": trial})
        means = env.adversary.means
        best[np.argmax(means if means is not None else env.adversary.order == 1)] += 1
    assert ((best - 1000) ** 2 / 1000).sum() < chi2.isf(1e-6, 3)


@pytest.mark.parametrize(("name", "arguments"), BOTH.values(), ids=BOTH)
def test_what_is_said_of_arms_moves_with_them(name, arguments):
    given, random = made(name, {**arguments, "arm_order": "given"}), made(name, arguments)
    orders = set()
    for seed in range(6):
        old, new = table_of(given, seed), table_of(random, seed)
        order = random.adversary.order
        orders.add(tuple(order))
        assert given.adversary.order is None
        if name.partition(",")[0] in ("Deterministic", "Replay", "Trial") or arguments.get("gains") == "Deterministic":
            np.testing.assert_array_equal(new, old[:, order])
        for fact in ("means", "features"):
            one, other = getattr(given.adversary, fact), getattr(random.adversary, fact)
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_array_equal(other, one[order])
        if hasattr(random.adversary, "arm_names"):
            names = given.adversary.arm_names
            assert random.adversary.arm_names == tuple(names[arm] for arm in order)
        if "Graph" in name:
            for arm in range(random.n_arms):
                neighbours = {int(order[other]) for other in random.graph.revealed_by(arm)}
                assert neighbours == set(given.graph.revealed_by(int(order[arm])).tolist())
    assert len(orders) > 1
    if name == "Trial":
        assert sorted(random.adversary.arm_names) == sorted(TREATMENTS) == sorted(Trial().arm_names)


@pytest.mark.parametrize(("name", "arguments"), GIVEN.items(), ids=GIVEN)
def test_what_is_given_stays_in_its_order(name, arguments):
    horizon = {} if "payoff" in arguments else {"horizon": 60}
    env = gym.make(f"DPBandit-{name.partition(',')[0]}-v0", **horizon, **arguments).unwrapped
    for seed in range(3):
        table_of(env, seed)
        assert env.adversary.order is None and env.adversary.arm_order == "given"
    assert arguments.get("payoff") is None or arguments["gains"].arm_order == "random"  # the user's own is left alone


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "arguments"), BOTH.values(), ids=BOTH)
def test_play_and_simulate_agree_to_the_bit_and_so_do_many_games(name, arguments):
    env = made(name, arguments)
    known = ("UCB", "DP-EXP3-Lap", "AS-EXP2", "DP-GOPE")
    players = [one for one in known if make_algorithm(one).refusal(env) is None]
    games, more = sized(name, arguments)
    for trials in (2, 17):
        outcomes = simulate(games, players, trials=trials, seed=4, checkpoints=5, **more)
        for player in players:
            outcome = outcomes[player]
            game = play(made(name, arguments), make_algorithm(player), seed=4, trial=trials - 1)
            at = outcome.checkpoints - 1
            np.testing.assert_array_equal(outcome.external_regret[-1], game.external_regret[at])
            if game.pseudo_regret is not None:
                np.testing.assert_array_equal(outcome.pseudo_regret[-1], game.pseudo_regret[at])
    many = gym.make_vec(env.spec.id, num_envs=3, vectorization_mode="vector_entry_point", **env.spec.kwargs)
    many.reset(seed=7)
    rows = np.array([many.step(np.full(3, t % 3))[1] for t in range(20)])
    for place in range(3):
        env.reset(seed=7 + place)
        assert [env.step(t % 3)[1] for t in range(20)] == rows[:, place].tolist()


def test_an_agent_sees_the_features_of_its_game():
    """Also above a boundary, which keeps a copy; without that, elimination would drop the wrong arms."""
    seen = []
    algorithm = make_algorithm("DP-GOPE")
    for trial in range(3):
        env = gym.make("DPBandit-Linear-v0", horizon=60)
        wrapped = algorithm.wrap(env)
        wrapped.reset(seed=2, options={"trial": trial})
        np.testing.assert_array_equal(wrapped.get_wrapper_attr("features"), env.unwrapped.adversary.features)
        seen.append(wrapped.get_wrapper_attr("features").tolist())
    assert seen[0] != seen[1] != seen[2]


class Reversed(Adversary):
    """Knows both orders, and pays by what `draw_order` says."""

    def __init__(self, n_arms=3, horizon=20):
        super().__init__(n_arms, horizon)

    def begin(self, rng):
        self.gains = np.linspace(1, 0, self.n_arms)[self.draw_order(rng)]
        self.means = self.gains

    def next_gains(self, rounds):
        return np.tile(self.gains, (rounds, 1))


class OneOrder(Reversed):
    """Knows one order only."""

    def begin(self, rng):
        self.gains = np.linspace(1, 0, self.n_arms)


def test_the_order_of_an_object_is_its_own_and_what_is_given_is_left_alone():
    coins = Stochastic(means=[0.9, 0.1], horizon=20)
    assert BanditEnv(coins, arm_order="random").adversary.arm_order == "random"
    assert coins.arm_order == "given"
    held = MemoryBounded(gains=coins)
    held.arm_order = "random"
    assert (held.arm_order, coins.arm_order) == ("random", "given")
    table = GainTable(TABLE)
    table.arm_order = "random"
    assert BanditEnv(table).adversary.arm_order == "random"
    with refused(ValueError, "arm_order", "'given', 'random'", "'sorted'"):
        BanditEnv(Deterministic(), arm_order="sorted")
    with refused(UnknownArgumentError, "arm_order"):
        gym.make("DPBandit-Ball-v0", arm_order="given")
    # Adversaries of others are in the order that they give unless they draw one.
    assert BanditEnv(Reversed()).adversary.arm_order == "given"
    env = BanditEnv(Reversed(), arm_order="random")
    tables = {tuple(table_of(env, seed)[0]) for seed in range(20)}
    assert len(tables) > 3
    assert table_of(BanditEnv(Reversed()))[0].tolist() == [1, 0.5, 0] == table_of(BanditEnv(OneOrder()))[0].tolist()
    with refused(WrongGameError, "OneOrder", "random", "self.draw_order(rng)"):
        BanditEnv(OneOrder(), arm_order="random").reset()
