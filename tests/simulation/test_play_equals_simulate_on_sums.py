"""`simulate` is `play` to the last bit on released sums and vectors too, for every mechanism and order of wrappers."""

import itertools
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, LaplaceClipRescale, play, simulate
from dp_bandit_envs.agents import GaussianThompsonSampling, Imed, KlUcb, SuccessiveElimination, ThompsonSampling, Ucb
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import counter_width, log_log_width, log_width
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.errors import WrongObservationError
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.simulation import engines as engines_module
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    MiniBatchAverage,
    RandomizedResponse,
)
from tests.simulation.test_play_equals_simulate import Bits, arm_of_bits, assert_same
from tests.tools.refusals import refused


def batch(env, batch_size=7):
    return MiniBatchAverage(env, batch_size=batch_size)


def laplace(env, **options):
    return LaplaceClipRescale(env, epsilon=2.0, bound=0.4, **options)


ORDERS = {
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
    "ExactSums around Laplace that rejects": lambda env: ExactSums(laplace(env)),
    "ExactSums around Laplace that clips": lambda env: ExactSums(laplace(env, outside="clip")),
    "BlockSums around batch": lambda env: BlockSums(batch(env), epsilon=1.0),
    "HybridSums around batch": lambda env: HybridSums(batch(env, 2), epsilon=1.0),
    "BlockSums around batch around Laplace": lambda env: BlockSums(batch(laplace(env), 2), epsilon=1.0),
    "ExactSums around Laplace around batch": lambda env: ExactSums(laplace(batch(env, 3))),
    "ExactSums around responses around batch": lambda env: ExactSums(RandomizedResponse(batch(env, 2), epsilon=1.0)),
    "ExactSums around Laplace, batch, responses": lambda env: ExactSums(
        laplace(batch(RandomizedResponse(env, epsilon=3.0), 2))
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


def mix_sums(state, arm, seen):
    mixed = state.mixed
    for each in range(state.n_arms):
        # 2^52 times what is after the point keeps all bits of a sum of 1/2 or more in size.
        whole = math.floor(seen.sums[each])
        bits = int((seen.sums[each] - whole) * 4503599627370496.0)
        mixed = (31 * mixed + bits + int(whole) + int(seen.counts[each])) % 1000003
        mixed = (31 * mixed + int(seen.releases[each])) % 1000003
    return Bits((31 * mixed + arm) % 1000003, state.n_arms)


class BitsOfSums(FunctionalAgent):
    """Plays another game from then on if the last bit of any released sum is another; it learns nothing."""

    functions = Functions(arm_of_bits, mix_sums)
    learns_from = Sums

    def initial_state(self, n_arms, horizon):
        """Return the state before the first step."""
        return Bits(0, n_arms)


# An agent of a test is compiled anew in every process, a second for each kind of chain; each mechanism is here once.
SOME = [
    *("CounterSums, k-ary, Gaussian", "IntervalSums, redrawn", "BlockSums of single gains"),
    "ExactSums around Laplace, batch, responses",
]


def assert_equal_and_different(env_id, env_kwargs, orders):
    """Equal both ways; and no two orders the same, or the first half would compare one chain again and again."""
    players = [Algorithm(name, BitsOfSums, wrap) for name, wrap in orders.items()]
    _, arms = assert_same(env_id, env_kwargs, players, trials=1)
    for one, other in itertools.combinations(orders, 2):
        assert not np.array_equal(arms[one, 0], arms[other, 0]), (one, other)


@pytest.mark.thorough
@pytest.mark.parametrize("orders", [SOME, pytest.param([*ORDERS], marks=pytest.mark.slow)], ids=["some", "all"])
def test_what_an_agent_is_told_of_sums_is_equal_to_the_last_bit(orders):
    for env_id, env_kwargs in (("Stochastic", {}), ("MemoryBounded", {"memory": 2, "observe_charge": False})):
        assert_equal_and_different(f"DPBandit-{env_id}-v0", env_kwargs, {order: ORDERS[order] for order in orders})


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
    """On exact sums those of the table play in `test_play_equals_simulate.py`."""
    assert_same(f"DPBandit-{env_id}-v0", {}, [Algorithm(name, agent, ORDERS[order]) for name, agent in AGENTS.items()])


OTHERS = [f"CounterSums, {name}" for name in COUNTERS if name != "hybrid"] + ["IntervalSums, redrawn"]


@pytest.mark.slow
@pytest.mark.parametrize("order", OTHERS)
def test_ucb_plays_the_same_game_both_ways_in_other_orders(order):
    algorithms = [Algorithm(name, AGENTS[name], ORDERS[order]) for name in ("UCB", "UCB, lazy", "UCB of a counter")]
    assert_same("DPBandit-Stochastic-v0", {"means": [0.9, 0.6, 0.7]}, algorithms, trials=1)


@pytest.mark.thorough
def test_blocks_of_the_simulator_may_cut_sums_anywhere(monkeypatch):
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", 5)
    chosen = ("HybridSums, padded", "IntervalSums, redrawn", "BlockSums around batch")
    assert_same("DPBandit-Stochastic-v0", {}, [Algorithm(each, Ucb, ORDERS[each]) for each in chosen], trials=1)


@pytest.mark.parametrize(
    ("agent", "wrap", "words"),
    [
        (Exp3, ExactSums, ("Exp3", "'gain'", "'observed'", "['sum', 'count', 'release']")),
        (ThompsonSampling, laplace, ("ThompsonSampling", "ExactSums(env)")),
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
    assert_same(EXPERTS, {"n_arms": 4}, [Algorithm("UCB", Ucb, ON_VECTORS[order])], trials=1)
