"""`simulate` is `play` to the last bit, for every environment, algorithm and order of wrappers."""

import math
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, LaplaceClipRescale, play, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.simulation import engines as engines_module
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.playable import FULL_INFORMATION, players_for
from tests.tools.plays import POINT_IDS

SEED = 20170208
# Prime: no batch size divides it, and neither does any block length below.
HORIZON = 331


def laplace(env, epsilon=2.0, **options):
    return LaplaceClipRescale(env, epsilon=epsilon, **options)


def batch(env, batch_size=7):
    return MiniBatchAverage(env, batch_size=batch_size)


# Small bounds, so that a good share of the gains falls outside and both ways of dealing with it matter.
ORDERS = {
    "bare": lambda env: env,
    "Laplace": laplace,
    "Laplace, small bound": lambda env: laplace(env, bound=0.1),
    "Laplace, clipped": lambda env: laplace(env, bound=0.1, outside="clip"),
    "Laplace, bound 0": lambda env: laplace(env, bound=0.0),
    "Laplace without noise": lambda env: laplace(env, math.inf),
    "batch": batch,
    "batch of 1": lambda env: batch(env, 1),
    "batch of the whole game": lambda env: batch(env, HORIZON),
    "Laplace around batch": lambda env: laplace(batch(env), 0.3),
    "Laplace around batch, clipped": lambda env: laplace(batch(env), 0.3, bound=0.05, outside="clip"),
    "batch around Laplace": lambda env: batch(laplace(env), 3),
    "batch around Laplace, small bound": lambda env: batch(laplace(env, bound=0.4), 2),
    "batch around Laplace, clipped": lambda env: batch(laplace(env, bound=0.1, outside="clip")),
    "Laplace around batch around Laplace": lambda env: laplace(batch(laplace(env), 3), 1.0, bound=0.5),
    "the same, clipped": lambda env: laplace(
        batch(laplace(env, bound=0.1, outside="clip")), 1.0, bound=0.2, outside="clip"
    ),
    "the same, clipped inside": lambda env: laplace(batch(laplace(env, bound=0.1, outside="clip"), 2), 1.0, bound=0.2),
    "the same, clipped outside": lambda env: laplace(batch(laplace(env, bound=0.4), 2), 1.0, bound=0.2, outside="clip"),
}
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


def assert_same(env_id, env_kwargs, algorithms, *, trials=2, horizon=HORIZON, seed=SEED, engine="compiled"):
    """Compare at every round, so that equal curves of switches and regret leave no room for other arms."""
    every_round = range(1, horizon + 1)
    simulation = simulate(
        env_id,
        algorithms,
        horizon=horizon,
        trials=trials,
        seed=seed,
        checkpoints=every_round,
        env_kwargs=env_kwargs,
    )
    arms = {}
    for algorithm in algorithms:
        outcome = simulation[algorithm.name]
        assert outcome.engine == engine, outcome.reason
        for trial in range(trials):
            env = gym.make(env_id, horizon=horizon, **env_kwargs)
            game = play(env, algorithm, seed=seed, trial=trial)
            arms[algorithm.name, trial] = game.arms
            assert game.arms.shape == (horizon,)
            assert np.array_equal(outcome.external_regret[trial], game.external_regret)
            assert np.array_equal(outcome.policy_regret[trial], game.policy_regret)
            assert np.array_equal(outcome.collected[trial], game.collected)
            assert np.array_equal(outcome.switches[trial], game.switches)
            assert np.array_equal(outcome.pulls[trial], np.bincount(game.arms, minlength=game.n_plays))
            if env.unwrapped.adversary.means is None or env_id in POINT_IDS:
                assert outcome.pseudo_regret is None and game.pseudo_regret is None
            else:
                assert np.array_equal(outcome.pseudo_regret[trial], game.pseudo_regret)
    return simulation, arms


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
    assert_same(env_id, env_kwargs, (players_for if every else some_with_every_wrapper)(env_id, **arguments))


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_every_algorithm_plays_the_same_game_both_ways_in_all_games(env_id):
    for arguments in ({"feedback": "full"}, {"feedback": "bandit"}) if env_id in POINT_IDS else ({},):
        assert_same(env_id, arguments, players_for(env_id, **arguments))


@pytest.mark.thorough
@pytest.mark.slow_cases("batch around Laplace, clipped", "the same, clipped inside", "the same, clipped outside")
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_wrappers_plays_the_same_game_both_ways(order):
    assert_same("DPBandit-Switching-v0", {"observe_charge": False}, [Algorithm("EXP3", Exp3, ORDERS[order])], trials=1)


class Bits(NamedTuple):
    """What `LastBit` knows: a number that mixes every bit that it has ever seen."""

    mixed: int
    n_arms: int


def arm_of_bits(state, rng):
    return int(state.mixed + 1000.0 * rng.random()) % state.n_arms


def mix_bits(state, arm, seen):
    # 2^52 times a number in [0, 1] keeps all bits that the number has from 1/2 on.
    bits = int(seen.gains[arm] * 4503599627370496.0) + int(seen.observed[arm])
    return Bits((31 * state.mixed + bits + arm) % 1000003, state.n_arms)


class LastBit(FunctionalAgent):
    """Plays another game from then on if the last bit of anything it is told is another; it learns nothing."""

    functions = Functions(arm_of_bits, mix_bits)

    def initial_state(self, n_arms, horizon):
        """Return the state before the first step."""
        return Bits(0, n_arms)


# An agent of a test is compiled anew in every process; EXP3 meets the other orders above.
TOLD = ["bare", THREE, "the same, clipped"]


@pytest.mark.thorough
@pytest.mark.parametrize("orders", [TOLD, pytest.param([*ORDERS], marks=pytest.mark.slow)], ids=["some", "all"])
def test_what_an_agent_is_told_is_equal_to_the_last_bit(orders):
    """Gains themselves, and through noise around batches around noise, rejecting and clipping."""
    algorithms = [Algorithm(order, LastBit, ORDERS[order]) for order in orders]
    assert_same("DPBandit-Stochastic-v0", {}, algorithms)
    assert_same("DPBandit-MemoryBounded-v0", {"memory": 2, "observe_charge": False}, algorithms)


@pytest.mark.parametrize("rounds_at_once", [1, 100])
def test_blocks_of_the_simulator_may_cut_batches_anywhere(monkeypatch, rounds_at_once):
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", rounds_at_once)
    chosen = ("batch", "Laplace around batch", "batch around Laplace", THREE)
    algorithms = [Algorithm(order, Exp3, ORDERS[order]) for order in chosen]
    assert_same("DPBandit-MemoryBounded-v0", {"memory": 3}, algorithms, trials=1)
    assert_same("DPBandit-Oblivious-v0", {"period": 3}, algorithms, trials=1)


@pytest.mark.parametrize("horizon", [2, *(pytest.param(size, marks=pytest.mark.slow) for size in (3, 19, 20))])
def test_the_shortest_games_agree_too(horizon):
    for env_id in ("DPBandit-Deterministic-v0", "DPBandit-Switching-v0", "DPBandit-Experts-v0"):
        players = some_with_every_wrapper(env_id) if env_id == "DPBandit-Experts-v0" else players_for(env_id)
        assert_same(env_id, {}, players, horizon=horizon)


@pytest.mark.thorough
def test_many_arms_and_many_blocks_agree():
    """More rounds than one block of the simulator and of the environment, and far more arms than the papers have."""
    algorithms = [make_algorithm("EXP3"), make_algorithm("Batched-Lap-HTINF", epsilon=0.1)]
    horizon = engines_module.ROUNDS_AT_ONCE + 1001
    assert_same("DPBandit-Switching-v0", {"n_arms": 50}, algorithms, trials=1, horizon=horizon)
    for env_id in ("DPBandit-Switching-v0", "DPBandit-Trial-v0"):
        assert_same(env_id, {"block_length": 1}, [make_algorithm("EXP3-tau", batch_size=7)], trials=1)


def test_a_trial_of_play_is_that_trial_of_simulate():
    """Trials differ, and each is the same game on its own as among others."""
    simulation = simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=50, trials=3, seed=4)
    env = BanditEnv(Stochastic(horizon=50))
    alone = [play(env, make_algorithm("EXP3"), seed=4, trial=trial) for trial in (2, 0, 1)]
    assert simulation["EXP3"].external_regret[[2, 0, 1], -1].tolist() == [game.external_regret[-1] for game in alone]
    assert len({tuple(game.arms) for game in alone}) == 3
