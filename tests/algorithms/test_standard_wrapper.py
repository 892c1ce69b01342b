"""The standard wrapper: batches by hand, what it releases, what it guarantees and loses, and any agent behind it."""

import math
import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import GainTable, Stochastic
from dp_bandit_envs.agents import Exp3, Hedge, Ucb
from dp_bandit_envs.algorithms.standard_wrapper import (
    BASES,
    learns_from_sums,
    standard_batch_size,
    standard_wrapper,
    wrap_in_clipped_averages,
)
from dp_bandit_envs.audits import exact_loss
from dp_bandit_envs.conformance import check_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.simulation.engines import always_compiled
from tests.tools.one_noise import with_one_noise


def test_batch_sizes_by_hand():
    """4 s / epsilon rounds, rounded up, unless that leaves fewer than 64 batches."""
    assert standard_batch_size(1.0, 8192) == 4
    assert standard_batch_size(0.1, 8192) == 40
    assert standard_batch_size(0.3, 8192) == 14  # 13.3
    assert standard_batch_size(10.0, 8192) == 1
    assert standard_batch_size(0.1, 1024) == 16  # 40, but 1024 / 64 are the most
    assert standard_batch_size(0.1, 8192, sensitivity=3.0) == 120
    assert standard_batch_size(0.1, 8192, sensitivity=20.0) == 128
    assert [standard_batch_size(1.0, rounds) for rounds in (1, 63, 64, 128, 256)] == [1, 1, 1, 2, 4]
    assert standard_batch_size(math.inf, 8192) == 1
    assert standard_batch_size(1e-300, 8192) == 128


def tau_in(env, **options):
    wrapped = make_algorithm("Clipped-Lap", **options).wrap(env)
    return round(env.get_wrapper_attr("horizon") / wrapped.get_wrapper_attr("horizon"))


def test_batches_depend_on_public_facts_only():
    """Games of the same size have the same batches whatever they pay; graphs and experts by their sensitivity."""
    table = np.random.default_rng(0).random((2048, 3))
    taus = {tau_in(BanditEnv(one), epsilon=0.5) for one in (GainTable(table), GainTable(table[::-1] ** 3))}
    assert taus == {8}
    assert tau_in(gym.make("DPBandit-Graph-v0", graph="cycle", n_arms=5, horizon=6400), epsilon=0.5) == 24
    assert tau_in(gym.make("DPBandit-Experts-v0", n_arms=10, horizon=6400), epsilon=0.5) == 80
    assert tau_in(BanditEnv(Stochastic(horizon=6400)), epsilon=0.5, batch_size=5) == 5
    assert tau_in(BanditEnv(Stochastic(horizon=3)), epsilon=0.5, batch_size=50) == 3


def test_releases_are_clipped_averages_with_the_declared_noise():
    """Gains of 1/2: of 4,000 averages, P(|Lap(1/4)| >= 1/2) = e^-2 are at an end. False alarm: 6e-7 (five errors)."""
    env = wrap_in_clipped_averages(BanditEnv(GainTable(np.full((16_000, 2), 0.5))), epsilon=1.0)
    env.reset(seed=3)
    released = np.array([env.step(0)[1] for _ in range(4000)])
    assert released.min() == 0 and released.max() == 1
    ends, expected = np.mean((released == 0) | (released == 1)), math.exp(-2)
    assert abs(ends - expected) < 5 * math.sqrt(expected * (1 - expected) / 4000)
    inside = np.abs(released - 0.5)
    # E |N| of what is clipped at 1/2 is (1 - e^-2) / 4, with a standard deviation below 1/4.
    assert abs(inside.mean() - (1 - expected) / 4) < 5 * 0.25 / math.sqrt(4000)


def test_without_noise_nothing_changes():
    bare, wrapped = make_algorithm("EXP3"), make_algorithm("Clipped-Lap", epsilon=math.inf)
    games = [play("Stochastic", one, horizon=500, seed=2) for one in with_one_noise(bare, wrapped).values()]
    assert games[0].arms.tolist() == games[1].arms.tolist()
    assert wrapped.guarantee(n_arms=4, horizon=500).model == "none"


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_it_guarantees_its_epsilon_in_every_kind_of_game(epsilon):
    algorithm = make_algorithm("Clipped-Lap", epsilon=epsilon)
    for env in (
        BanditEnv(Stochastic(horizon=2000)),
        gym.make("DPBandit-Graph-v0", graph="star", n_arms=5, horizon=2000),
        gym.make("DPBandit-Experts-v0", horizon=2000),
        gym.make("DPBandit-Trial-v0"),
    ):
        guarantee = algorithm.guarantee_in(env)
        assert (guarantee.epsilon, guarantee.delta, guarantee.covers) == (epsilon, 0.0, "arms and releases")
    assert algorithm.guarantee(n_arms=4, horizon=63).model == "local"
    assert (algorithm.guarantee(n_arms=4, horizon=8192).model == "central") == (epsilon < 4)


@pytest.mark.parametrize(("base", "epsilon"), [("EXP3", 1.0), ("TS", 0.1)])
def test_it_loses_exactly_its_epsilon(base, epsilon):
    """In batches: 128 rounds in 64 batches of two."""
    loss = exact_loss(make_algorithm("Clipped-Lap", epsilon=epsilon, base=base), horizon=128)
    assert loss.holds and loss.ratio == pytest.approx(1.0, rel=1e-7)
    assert loss.declared.epsilon == epsilon


@pytest.mark.parametrize("base", ["EXP3", "TS"])
def test_it_keeps_the_rules_of_algorithms(base):
    """False alarm: 5e-7."""
    check_algorithm(make_algorithm("Clipped-Lap", base=base), games=100)


def test_every_base_by_name_and_any_agent_of_ones_own_plays_behind_it():
    made = {base: make_algorithm("Clipped-Lap", base=base, label=base) for base in BASES}
    made["class"] = make_algorithm("Clipped-Lap", base=Ucb, label="class")
    made["function"] = make_algorithm("Clipped-Lap", base=lambda: Ucb(), label="function")
    played = simulate("Stochastic", made, horizon=200, trials=2, seed=1)
    assert all(outcome.guarantee.epsilon == 1.0 for outcome in played.values())
    assert learns_from_sums(Ucb) and learns_from_sums(lambda: Ucb()) and not learns_from_sums(Exp3)
    hedge = make_algorithm("Clipped-Lap", base=Hedge)
    assert hedge.feedback == "full" and hedge.refusal(BanditEnv(Stochastic())) is not None


def test_the_wrapper_alone_can_be_pickled_and_plays_as_the_name_does():
    wrapping = pickle.loads(pickle.dumps(standard_wrapper(Ucb, epsilon=0.5)))
    mine, named = Algorithm("mine", Ucb, wrapping), make_algorithm("Clipped-Lap", epsilon=0.5, base=Ucb)
    games = [play("Stochastic", one, horizon=600, seed=4) for one in with_one_noise(mine, named).values()]
    assert games[0].arms.tolist() == games[1].arms.tolist()
    assert mine.guarantee(n_arms=4, horizon=600) == named.guarantee(n_arms=4, horizon=600)


def test_it_is_compiled():
    with always_compiled():
        outcome = simulate("Stochastic", ["Clipped-Lap"], horizon=700, trials=2, seed=6)["Clipped-Lap"]
    assert outcome.engine in ("compiled", "lanes")
