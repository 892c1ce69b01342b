"""`simulate` is `play` to the last bit, for every environment, algorithm, mechanism and order of wrappers."""

import itertools
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, make_algorithm, play, simulate
from dp_bandit_envs.agents import GaussianThompsonSampling, Imed, KlUcb, SuccessiveElimination, ThompsonSampling, Ucb
from dp_bandit_envs.agents.noise_width import counter_width, log_log_width, log_width
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.errors import WrongObservationError
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.simulation import engines as engines_module
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    RandomizedResponse,
)
from tests.tools.both_ways import HORIZON, ORDERS, BitsOfSums, LastBit, assert_same, batch, laplace
from tests.tools.playable import FULL_INFORMATION, players_for
from tests.tools.plays import POINT_IDS
from tests.tools.refusals import refused

THREE = "Laplace around batch around Laplace"

GAMES = [
    *((id_, {}) for id_ in IDS if id_ not in (*POINT_IDS, "DPBandit-Switching-v0", "DPBandit-MemoryBounded-v0")),
    *((id_, {"feedback": "full"}) for id_ in POINT_IDS),
    # No algorithm plays mixtures of arms from payoffs.
    *((id_, {"feedback": "bandit"}) for id_ in POINT_IDS if id_ != "DPBandit-Simplex-v0"),
    *(("DPBandit-Switching-v0", {"observe_charge": seen}) for seen in (True, False)),
    *(("DPBandit-MemoryBounded-v0", {"observe_charge": seen, "memory": m}) for seen, m in ((True, 0), (False, 3))),
]
"""Every id; with both ways of charging, and several memories, where there is a memory."""


def some_with_every_wrapper(env_id, **arguments):
    """Return those for such games, or all on the ball, and others as long as they bring a wrapper not yet met."""
    chosen, met, players = [], set(), players_for(env_id, **arguments)
    for_it = {"DPBandit-Experts-v0": FULL_INFORMATION, "DPBandit-Graph-v0": ("TS-N", "EXP3-SET")}.get(env_id, ())
    own = [one for one in players if env_id == "DPBandit-Ball-v0" or one.name in for_it]
    for algorithm in [*own, *(one for one in players if one not in own)]:
        env = algorithm.wrap(gym.make(env_id, horizon=HORIZON, **arguments))
        layers = {None}  # a game without a wrapper, too
        while isinstance(env, gym.Wrapper):
            layers.add(type(env))
            env = env.env
        if algorithm in own or layers - met:
            chosen.append(algorithm)
            met |= layers
    return chosen


@pytest.mark.thorough
@pytest.mark.slow_cases("DPBandit-Shifting-v0-{}")
@pytest.mark.parametrize(("env_id", "env_kwargs"), GAMES, ids=str)
def test_every_algorithm_plays_the_same_game_both_ways(env_id, env_kwargs):
    """All algorithms for bandits on coins and with a memory; elsewhere each wrapper is met. The rest is slow."""
    every = env_id == "DPBandit-Stochastic-v0" or env_kwargs.get("memory") == 3
    arguments = env_kwargs if env_id in POINT_IDS else {}
    assert_same(env_id, (players_for if every else some_with_every_wrapper)(env_id, **arguments), **env_kwargs)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_every_algorithm_plays_the_same_game_both_ways_in_all_games(env_id):
    for arguments in ({"feedback": "full"}, {"feedback": "bandit"}) if env_id in POINT_IDS else ({},):
        players = players_for(env_id, **arguments)
        assert players or arguments == {"feedback": "bandit"}
        if players:
            assert_same(env_id, players, **arguments)


@pytest.mark.thorough
@pytest.mark.slow_cases("batch around Laplace, clipped", "the same, clipped inside", "the same, clipped outside")
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_wrappers_plays_the_same_game_both_ways(order):
    algorithm = Algorithm("EXP3", Exp3, ORDERS[order])
    assert_same("DPBandit-Switching-v0", [algorithm], trials=1, observe_charge=False)


# An agent of a test is compiled anew in every process; EXP3 meets the other orders above.
TOLD = ["bare", THREE, "the same, clipped"]


@pytest.mark.thorough
@pytest.mark.parametrize("orders", [TOLD, pytest.param([*ORDERS], marks=pytest.mark.slow)], ids=["some", "all"])
def test_what_an_agent_is_told_is_equal_to_the_last_bit(orders):
    """Gains themselves, and through noise around batches around noise, rejecting and clipping."""
    algorithms = [Algorithm(order, LastBit, ORDERS[order]) for order in orders]
    assert_same("DPBandit-Stochastic-v0", algorithms)
    assert_same("DPBandit-MemoryBounded-v0", algorithms, memory=2, observe_charge=False)


@pytest.mark.parametrize("rounds_at_once", [1, 100])
def test_blocks_of_the_simulator_may_cut_batches_anywhere(monkeypatch, rounds_at_once):
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", rounds_at_once)
    chosen = ("batch", "Laplace around batch", "batch around Laplace", THREE)
    algorithms = [Algorithm(order, Exp3, ORDERS[order]) for order in chosen]
    assert_same("DPBandit-MemoryBounded-v0", algorithms, trials=1, memory=3)
    assert_same("DPBandit-Oblivious-v0", algorithms, trials=1, period=3)


@pytest.mark.thorough
@pytest.mark.parametrize("horizon", [2, *(pytest.param(size, marks=pytest.mark.slow) for size in (3, 19, 20))])
def test_the_shortest_games_agree_too(horizon):
    for env_id in ("DPBandit-Deterministic-v0", "DPBandit-Switching-v0", "DPBandit-Experts-v0"):
        players = some_with_every_wrapper(env_id) if env_id == "DPBandit-Experts-v0" else players_for(env_id)
        assert_same(env_id, players, horizon=horizon)


@pytest.mark.thorough
def test_many_arms_and_many_blocks_agree():
    """More rounds than one block of the simulator and of the environment, and far more arms than the papers have."""
    algorithms = [make_algorithm("EXP3"), make_algorithm("Batched-Lap-HTINF", epsilon=0.1)]
    horizon = engines_module.ROUNDS_AT_ONCE + 1001
    assert_same("DPBandit-Switching-v0", algorithms, trials=1, horizon=horizon, n_arms=50)
    for env_id in ("DPBandit-Switching-v0", "DPBandit-Trial-v0"):
        assert_same(env_id, [make_algorithm("EXP3-tau", batch_size=7)], trials=1, block_length=1)


# ---- released sums and vectors


def rejecting(env, **options):
    return laplace(env, bound=0.4, **options)


SUMS = {
    "ExactSums": ExactSums,
    **{f"CounterSums, {name}": lambda env, name=name: CounterSums(env, epsilon=0.5, counter=name) for name in COUNTERS},
    **{
        f"CounterSums, {name}, Gaussian": lambda env, name=name: CounterSums(
            env, epsilon=0.5, counter=name, noise="gaussian"
        )
        for name in ("honaker", "segment-trees", "k-ary")
    },
    "HybridSums, padded": lambda env: HybridSums(env, epsilon=0.5, pad_unplayed=True),
    "CounterSums, logarithmic, padded": lambda env: CounterSums(
        env, epsilon=0.5, counter="logarithmic", pad_unplayed=True
    ),
    "HybridSums, paper's budget": lambda env: HybridSums(env, epsilon=0.5, budget="paper"),
    "IntervalSums": lambda env: IntervalSums(env, epsilon=2.0, v=1.3, delta=0.1),
    "IntervalSums, redrawn": lambda env: IntervalSums(env, epsilon=2.0, v=1.3, delta=0.1, release="redraw"),
    "IntervalSums, uniform": lambda env: IntervalSums(env, epsilon=3.0, delta=0.1, intervals="uniform"),
    "BlockSums": lambda env: BlockSums(env, epsilon=0.5),
    "BlockSums, kept": lambda env: BlockSums(env, epsilon=0.5, ratio=1.2, first=3, keep=True),
    "BlockSums of single gains": lambda env: BlockSums(env, epsilon=0.5, ratio=1, keep=True),
    "BlockSums of lengths of one's own": lambda env: BlockSums(env, epsilon=0.5, lengths=(2, 5, 3)),
    "ExactSums around responses": lambda env: ExactSums(RandomizedResponse(env, epsilon=1.0)),
    "ExactSums around Laplace that rejects": lambda env: ExactSums(rejecting(env)),
    "ExactSums around Laplace that clips": lambda env: ExactSums(rejecting(env, outside="clip")),
    "BlockSums around batch": lambda env: BlockSums(batch(env), epsilon=1.0),
    "HybridSums around batch": lambda env: HybridSums(batch(env, 2), epsilon=1.0),
    "BlockSums around batch around Laplace": lambda env: BlockSums(batch(rejecting(env), 2), epsilon=1.0),
    "ExactSums around Laplace around batch": lambda env: ExactSums(rejecting(batch(env, 3))),
    "ExactSums around responses around batch": lambda env: ExactSums(RandomizedResponse(batch(env, 2), epsilon=1.0)),
    "ExactSums around Laplace, batch, responses": lambda env: ExactSums(
        rejecting(batch(RandomizedResponse(env, epsilon=3.0), 2))
    ),
}
NO_NOISE = {
    "ExactSums": ExactSums,
    "hybrid": lambda env: HybridSums(env, epsilon=math.inf),
    "single gains": lambda env: BlockSums(env, epsilon=math.inf, ratio=1, keep=True),
    "intervals of one": lambda env: IntervalSums(env, epsilon=math.inf, intervals="uniform"),
}
AGENTS = {
    "UCB": Ucb,
    "UCB, lazy": lambda: Ucb(lazy=True, log_factor=2.0, width=log_width(0.5, offset=0.1, power=0.7)),
    "UCB of a counter": lambda: Ucb(width=counter_width("hybrid", epsilon=0.5)),
    "KL-UCB": lambda: KlUcb(width=log_width(0.2)),
    "KL-UCB, private, lazy": lambda: KlUcb(epsilon=0.5, lazy=True),
    "IMED": Imed,
    "IMED, private, lazy": lambda: Imed(epsilon=0.5, lazy=True),
    "TS": lambda: ThompsonSampling(width=log_log_width(0.3)),
    "TS, each first, lazy": lambda: ThompsonSampling(each_first=True, lazy=True),
    "Gaussian TS": GaussianThompsonSampling,
    "SE": lambda: SuccessiveElimination(epsilon=0.5),
}


# An agent of a test is compiled anew in every process, a second for each kind of chain; each mechanism is here once.
SOME = [
    *("CounterSums, k-ary, Gaussian", "IntervalSums, redrawn", "BlockSums of single gains"),
    "ExactSums around Laplace, batch, responses",
]


def assert_equal_and_different(env_id, env_kwargs, orders):
    """Equal both ways; and no two orders the same, or the first half would compare one chain again and again."""
    players = [Algorithm(name, BitsOfSums, wrap) for name, wrap in orders.items()]
    arms = assert_same(env_id, players, trials=1, **env_kwargs)
    for one, other in itertools.combinations(orders, 2):
        assert not np.array_equal(arms[one, 0], arms[other, 0]), (one, other)


@pytest.mark.thorough
@pytest.mark.parametrize("orders", [SOME, pytest.param([*SUMS], marks=pytest.mark.slow)], ids=["some", "all"])
def test_what_an_agent_is_told_of_sums_is_equal_to_the_last_bit(orders):
    for env_id, env_kwargs in (("Stochastic", {}), ("MemoryBounded", {"memory": 2, "observe_charge": False})):
        assert_equal_and_different(f"DPBandit-{env_id}-v0", env_kwargs, {order: SUMS[order] for order in orders})


@pytest.mark.thorough
def test_chains_without_noise_are_the_same_game():
    """In Python, which is machine code to the last bit by the test above."""
    algorithms = [Algorithm(order, BitsOfSums, NO_NOISE[order], player="one") for order in NO_NOISE]
    env = gym.make("DPBandit-Stochastic-v0", horizon=300)
    assert len({tuple(play(env, algorithm, seed=3).arms) for algorithm in algorithms}) == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("env_id", "order"),
    [("Stochastic", "BlockSums"), pytest.param("Switching", "ExactSums", marks=pytest.mark.slow)],
)
def test_every_agent_of_sums_plays_the_same_game_both_ways(env_id, order):
    """On exact sums those of the table play above."""
    assert_same(f"DPBandit-{env_id}-v0", [Algorithm(name, agent, SUMS[order]) for name, agent in AGENTS.items()])


OTHERS = [f"CounterSums, {name}" for name in COUNTERS if name != "hybrid"] + ["IntervalSums, redrawn"]


@pytest.mark.slow
@pytest.mark.parametrize("order", OTHERS)
def test_ucb_plays_the_same_game_both_ways_in_other_orders(order):
    algorithms = [Algorithm(name, AGENTS[name], SUMS[order]) for name in ("UCB", "UCB, lazy", "UCB of a counter")]
    assert_same("DPBandit-Stochastic-v0", algorithms, trials=1, means=[0.9, 0.6, 0.7])


@pytest.mark.thorough
def test_blocks_of_the_simulator_may_cut_sums_anywhere(monkeypatch):
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", 5)
    chosen = ("HybridSums, padded", "IntervalSums, redrawn", "BlockSums around batch")
    assert_same("DPBandit-Stochastic-v0", [Algorithm(each, Ucb, SUMS[each]) for each in chosen], trials=1)


@pytest.mark.parametrize(
    ("agent", "wrap", "words"),
    [
        (Exp3, ExactSums, ("Exp3", "'gain'", "'observed'", "['sum', 'count', 'release']")),
        (ThompsonSampling, rejecting, ("ThompsonSampling", "ExactSums(env)")),
    ],
    ids=["gains on sums", "sums on noisy gains"],
)
def test_an_agent_that_does_not_fit_its_wrappers_gets_its_own_message(agent, wrap, words):
    """Not machine code fed with the wrong numbers, and not a message of the compiler's."""
    with refused(WrongObservationError, *words):
        simulate("DPBandit-Stochastic-v0", [Algorithm("mine", agent, wrap)], horizon=50, trials=1)


EXPERTS = "DPBandit-Experts-v0"
ON_VECTORS = {
    f"{name}, {noise}": lambda env, name=name, noise=noise: CounterSums(env, epsilon=0.5, counter=name, noise=noise)
    for name, kind in COUNTERS.items()
    for noise in kind.noises
}
MORE = {
    "padded": lambda env: HybridSums(env, epsilon=0.5, pad_unplayed=True),
    "around batch": lambda env: HybridSums(batch(env, 3), epsilon=1.0, noise="own-norm"),
    "around responses": lambda env: CounterSums(RandomizedResponse(env, epsilon=1.0), epsilon=1.0, counter="binary"),
}


@pytest.mark.slow
def test_what_an_agent_is_told_of_vectors_is_equal_to_the_last_bit():
    """Every round reveals every gain."""
    assert_equal_and_different(EXPERTS, {"n_arms": 3}, ON_VECTORS | MORE)
    assert_equal_and_different("DPBandit-Graph-v0", {"graph": "complete", "n_arms": 4}, ON_VECTORS)


@pytest.mark.slow  # AS-FTRL and DP-FTRL play on sums of vectors above
@pytest.mark.parametrize("order", ["square-root, gaussian", "binary, own-norm"])
def test_ucb_on_vectors_plays_the_same_game_both_ways(order):
    assert_same(EXPERTS, [Algorithm("UCB", Ucb, ON_VECTORS[order])], trials=1, n_arms=4)
