"""river's policies as agents here, and our algorithms in river's loops."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, LaplaceClipRescale, Ledger, play
from dp_bandit_envs.adapters import as_river_policy, from_river
from dp_bandit_envs.conformance import check_agent
from dp_bandit_envs.errors import BudgetSpentError, WrongObservationError, WrongTypeError
from dp_bandit_envs.wrappers import HybridSums, MiniBatchAverage
from tests.neighbours.own_loops import ARMS, ROUNDS, TABLE, arms_here, game, private, released
from tests.tools.refusals import refused

bandit = pytest.importorskip("river.bandit", reason="not installed; pip install 'dp-bandit-envs[neighbours]'")

from river import proba, stats  # noqa: E402 (needs the package)

POLICIES = {
    "UCB": lambda seed=None: bandit.UCB(delta=1, seed=seed),
    "EpsilonGreedy": lambda seed=None: bandit.EpsilonGreedy(epsilon=0.1, seed=seed),
    "Exp3": lambda seed=None: bandit.Exp3(gamma=0.1, seed=seed),
    "ThompsonSampling": lambda seed=None: bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed),
    "BayesUCB": lambda seed=None: bandit.BayesUCB(seed=seed),
    "burn-in": lambda seed=None: bandit.UCB(delta=1, burn_in=4, seed=seed),
}


def rivers_loop(policy, rewards):
    """Play as in river's documentation; `rewards(round, arm)` is None where nothing is to be learnt."""
    arms = []
    for t in range(ROUNDS):
        arms.append(policy.pull(range(ARMS)))
        reward = rewards(t, arms[-1])
        if reward is not None:
            policy.update(arms[-1], reward)
    return arms


@pytest.mark.parametrize("name", POLICIES)
def test_the_arms_are_those_of_rivers_own_loop(name):
    arms, rng = arms_here(from_river(POLICIES[name]()))
    assert arms == rivers_loop(POLICIES[name](int(rng.integers(2**31))), lambda t, arm: TABLE[t, arm])
    assert len(set(arms)) == ARMS


@pytest.mark.parametrize("name", ["UCB", "EpsilonGreedy", "Exp3"])
def test_behind_a_boundary_the_policy_learns_released_gains_only(name):
    arms, rng = arms_here(from_river(POLICIES[name]()), private)
    shown = released(arms)
    assert None in shown and not set(TABLE.ravel()) >= set(shown) - {None}
    assert arms == rivers_loop(POLICIES[name](int(rng.integers(2**31))), lambda t, arm: shown[t])


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Exp3", "burn-in"])
def test_they_keep_the_contract_of_agents(name):
    check_agent(from_river(POLICIES[name]()))


def test_the_given_policy_never_plays():
    policy = POLICIES["UCB"]()
    arms_here(from_river(policy))
    assert policy._n == 0


def test_a_batch_is_one_reward():
    counted = []

    class Counted(stats.Mean):
        def update(self, x):
            counted.append(x)
            super().update(x)

    play(MiniBatchAverage(game(), batch_size=8), from_river(bandit.UCB(delta=1, reward_obj=Counted()))(), seed=1)
    assert len(counted) == ROUNDS / 8 and any(0 < mean < 1 for mean in counted)


def test_sums_are_refused():
    with refused(WrongObservationError, "RiverAgent", "sums", "from_function"):
        play(HybridSums(game(), epsilon=1.0), from_river(POLICIES["UCB"]())())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (None, ["NoneType", "river.bandit.UCB"]),
        (bandit.UCB, ["class", "UCB"]),
        (lambda: bandit.UCB(delta=1), ["function"]),
        (bandit.LinUCBDisjoint(), ["LinUCBDisjoint", "context"]),
    ],
)
def test_what_is_no_policy_without_context_is_refused(wrong, words):
    with refused(WrongTypeError, "policy", *words):
        from_river(wrong)


def ours(**options):
    algorithm = Algorithm("private UCB", from_river(POLICIES["UCB"]()), private)
    return as_river_policy(algorithm, n_arms=ARMS, horizon=ROUNDS, **options)


def test_our_algorithms_play_in_rivers_evaluate_with_a_game_for_each_clone():
    env = gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8, 0.5], horizon=ROUNDS)
    ledger = Ledger(epsilon=20.0)
    policies = [ours(ledger=ledger), POLICIES["UCB"](1)]
    steps = list(bandit.evaluate(policies, env, n_episodes=2, seed=1))
    assert len(steps) == 2 * 2 * ROUNDS and ledger.spent.games == 2
    share = np.mean([step["arm"] == 1 for step in steps if step["policy_idx"] == 0])
    assert share > 0.5
    with refused(BudgetSpentError, "20"):
        list(bandit.evaluate(policies, env, n_episodes=1, seed=1))


def test_our_algorithms_play_in_rivers_replay_of_a_log():
    logged = np.random.default_rng(2).integers(ARMS, size=ROUNDS)
    history = [(range(ARMS), None, int(arm), TABLE[t, arm]) for t, arm in enumerate(logged)]
    policy = ours()
    total, used = bandit.evaluate_offline(policy, history)
    assert 100 < used < 170 and used == policy._game.rounds and total.get() > used / 3


def evaluated(env):
    policies = [bandit.EpsilonGreedy(epsilon=share, seed=1) for share in (0.05, 0.5)]
    return list(bandit.evaluate(policies, env, n_episodes=3, seed=4))


def test_copies_of_a_game_with_one_noise_are_refused():
    """`evaluate` copies a game after its reset; two copies would release one gain twice with the same noise."""
    env = LaplaceClipRescale(gym.make("DPBandit-Stochastic-v0", horizon=10), epsilon=1.0)
    with refused(TypeError, "LaplaceClipRescale"):
        evaluated(env)
