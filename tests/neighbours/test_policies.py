"""Policies of river, MABWiser and Vowpal Wabbit as agents here, and our algorithms in the loops of the first two."""

import copy

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, LaplaceClipRescale, Ledger, adapters, play
from dp_bandit_envs.adapters import as_mabwiser, as_river_policy, from_river, from_vowpalwabbit
from dp_bandit_envs.conformance import check_agent
from dp_bandit_envs.errors import BudgetSpentError, StepOutsideGameError, WrongObservationError, WrongTypeError
from dp_bandit_envs.wrappers import HybridSums, MiniBatchAverage
from tests.neighbours.own_loops import ARMS, ROUNDS, TABLE, arms_here, game, private, released
from tests.tools.refusals import refused


def module(name):
    """Return a module of another package, or skip the test."""
    return pytest.importorskip(name, reason="not installed; pip install 'dp-bandit-envs[neighbours]'")


def policy(adapter, name, seed=None):
    """Return a policy of the package that an adapter is for, or its arguments; a seed is given to river's only."""
    if adapter == "from_mabwiser":
        rules = module("mabwiser.mab").LearningPolicy
        binary = rules.ThompsonSampling(lambda arm, reward: int(reward > 0.5))
        made = {"UCB1": rules.UCB1(alpha=1.0), "EpsilonGreedy": rules.EpsilonGreedy(epsilon=0.1)}
        return (made | {"Softmax": rules.Softmax(tau=0.1), "Random": rules.Random(), "ThompsonSampling": binary})[name]
    if adapter == "from_river":
        bandit, options = module("river.bandit"), {"seed": seed}
        beta = module("river.proba").Beta()
        return {
            "UCB": lambda: bandit.UCB(delta=1, **options),
            "EpsilonGreedy": lambda: bandit.EpsilonGreedy(epsilon=0.1, **options),
            "Exp3": lambda: bandit.Exp3(gamma=0.1, **options),
            "ThompsonSampling": lambda: bandit.ThompsonSampling(reward_obj=beta, **options),
            "BayesUCB": lambda: bandit.BayesUCB(**options),
            "burn-in": lambda: bandit.UCB(delta=1, burn_in=4, **options),
        }[name]()
    module("vowpalwabbit")
    return name


def rivers_loop(name, rng, rewards):
    """Play as in river's documentation; `rewards(round, arm)` is None where nothing is to be learnt."""
    rule, arms = policy("from_river", name, int(rng.integers(2**31))), []
    for t in range(ROUNDS):
        arms.append(rule.pull(range(ARMS)))
        reward = rewards(t, arms[-1])
        if reward is not None:
            rule.update(arms[-1], reward)
    return arms


def mabwisers_loop(name, rng, rewards):
    """Try each arm until something is learnt of it, then predict."""
    mab = module("mabwiser.mab").MAB(list(range(ARMS)), policy("from_mabwiser", name), seed=int(rng.integers(2**31)))
    untried, arms, decisions, seen = list(range(ARMS)), [], [], []
    for t in range(ROUNDS):
        arms.append(untried[0] if untried else mab.predict())
        reward = rewards(t, arms[-1])
        if reward is None:
            continue
        if untried:
            decisions.append(untried.pop(0))
            seen.append(reward)
            mab.fit(decisions, seen)
        else:
            mab.partial_fit([arms[-1]], [reward])
    return arms


def vowpal_wabbits_loop(arguments, rng, rewards):
    """Draw arms by NumPy's own draw of one of many."""
    words = f"--cb_explore {ARMS} {arguments} --quiet --random_seed {int(rng.integers(2**31))}"
    workspace, arms = module("vowpalwabbit").Workspace(words), []
    for t in range(ROUNDS):
        chances = np.array(workspace.predict("|"))
        arms.append(int(np.searchsorted(np.cumsum(chances) / chances.sum(), rng.random(), side="right")))
        reward = rewards(t, arms[-1])
        if reward is not None:
            workspace.learn(f"{arms[-1] + 1}:{1 - reward}:{chances[arms[-1]]} |")
    workspace.finish()
    return arms


LOOPS = {
    "from_river": rivers_loop,
    "from_mabwiser": mabwisers_loop,
    "from_vowpalwabbit": vowpal_wabbits_loop,
}
NAMES = {
    "from_river": ("UCB", "EpsilonGreedy", "Exp3", "ThompsonSampling", "BayesUCB", "burn-in"),
    "from_mabwiser": ("UCB1", "EpsilonGreedy", "Softmax", "Random", "ThompsonSampling"),
    "from_vowpalwabbit": ("", "--epsilon 0.1", "--bag 5", "--cover 3", "--first 10"),
}
CASES = [(adapter, name) for adapter, names in NAMES.items() for name in names]


def agent_of(adapter, name):
    return getattr(adapters, adapter)(policy(adapter, name))


@pytest.mark.thorough
@pytest.mark.parametrize(("adapter", "name"), CASES)
def test_the_arms_are_those_of_the_packages_own_loop(adapter, name):
    arms, rng = arms_here(agent_of(adapter, name))
    assert arms == LOOPS[adapter](name, rng, lambda t, arm: TABLE[t, arm])
    assert len(set(arms)) == ARMS or adapter == "from_vowpalwabbit"


@pytest.mark.parametrize(
    ("adapter", "name"), [(adapter, name) for adapter, names in NAMES.items() for name in names[:3] if name]
)
def test_behind_a_boundary_the_policy_learns_released_gains_only(adapter, name):
    arms, rng = arms_here(agent_of(adapter, name), private)
    shown = released(arms)
    assert None in shown and not set(TABLE.ravel()) >= set(shown) - {None}
    assert arms == LOOPS[adapter](name, rng, lambda t, arm: shown[t])


@pytest.mark.thorough
@pytest.mark.slow_cases("from_mabwiser-ThompsonSampling", "from_vowpalwabbit---bag 5")
@pytest.mark.parametrize(
    ("adapter", "name"),
    [
        *(("from_river", name) for name in ("Exp3", "burn-in")),
        *(("from_mabwiser", name) for name in ("UCB1", "ThompsonSampling")),
        *(("from_vowpalwabbit", name) for name in ("", "--bag 5")),
    ],
)
def test_they_keep_the_contract_of_agents(adapter, name):
    check_agent(agent_of(adapter, name))


def wrong_policies(adapter):
    """Return what is no policy without context, with the words about it."""
    if adapter == "from_river":
        bandit = module("river.bandit")
        return [
            (None, ["NoneType", "river.bandit.UCB"]),
            (bandit.UCB, ["class", "UCB"]),
            (lambda: bandit.UCB(delta=1), ["function"]),
            (bandit.LinUCBDisjoint(), ["LinUCBDisjoint", "context"]),
        ]
    mab = module("mabwiser.mab")
    return [
        (None, ["NoneType", "LearningPolicy.UCB1"]),
        (mab.LearningPolicy.UCB1, ["class", "UCB1"]),
        (mab.LearningPolicy.LinUCB(), ["LinUCB", "context"]),
        (mab.MAB([0, 1], mab.LearningPolicy.UCB1(alpha=1.0)), ["MAB"]),
    ]


@pytest.mark.parametrize("adapter", ["from_river", "from_mabwiser"])
def test_what_is_no_policy_without_context_is_refused(adapter):
    for wrong, words in wrong_policies(adapter):
        with refused(WrongTypeError, "policy", *words):
            getattr(adapters, adapter)(wrong)


# ---- Vowpal Wabbit


def test_what_vowpal_wabbit_does_not_know_is_refused_at_once_and_a_copy_of_an_agent_begins_anew():
    module("vowpalwabbit")
    with refused(ValueError, "arguments", "--nonsense"):
        from_vowpalwabbit("--nonsense 4")
    agent = from_vowpalwabbit("--bag 2")()
    agent.begin(n_arms=2, horizon=9, rng=np.random.default_rng(1))
    with refused(StepOutsideGameError, "begin"):
        copy.deepcopy(agent).select_arm()


# ---- MABWiser


def test_one_loop_plays_a_mab_and_an_algorithm_of_ours():
    """The methods have the same names and arguments."""
    theirs = module("mabwiser.mab").MAB(["a", "b", "c"], policy("from_mabwiser", "EpsilonGreedy"), seed=1)
    theirs.fit(["a", "b", "c"], [0.0, 0.0, 0.0])
    ours = as_mabwiser("DP-EXP3-Lap", ["a", "b", "c"], horizon=ROUNDS)
    for mab in (theirs, ours):
        arms = []
        for row in TABLE:
            arms.append(mab.predict())
            mab.partial_fit(decisions=[arms[-1]], rewards=np.array([row[mab.arms.index(arms[-1])]]))
        assert len(arms) == ROUNDS and set(arms) == {"a", "b", "c"}


# ---- river


def test_the_given_policy_never_plays():
    given = policy("from_river", "UCB")
    arms_here(from_river(given))
    assert given._n == 0


def test_a_batch_is_one_reward_and_sums_are_refused():
    counted, bandit = [], module("river.bandit")

    class Counted(module("river.stats").Mean):
        def update(self, x):
            counted.append(x)
            super().update(x)

    play(MiniBatchAverage(game(), batch_size=8), from_river(bandit.UCB(delta=1, reward_obj=Counted()))(), seed=1)
    assert len(counted) == ROUNDS / 8 and any(0 < mean < 1 for mean in counted)
    with refused(WrongObservationError, "RiverAgent", "sums", "from_function"):
        play(HybridSums(game(), epsilon=1.0), agent_of("from_river", "UCB")())


def ours(**options):
    algorithm = Algorithm("private UCB", agent_of("from_river", "UCB"), private)
    return as_river_policy(algorithm, n_arms=ARMS, horizon=ROUNDS, **options)


def test_our_algorithms_play_in_rivers_evaluate_with_a_game_for_each_clone():
    bandit = module("river.bandit")
    env = gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8, 0.5], horizon=ROUNDS)
    ledger = Ledger(epsilon=20.0)
    policies = [ours(ledger=ledger), policy("from_river", "UCB", 1)]
    steps = list(bandit.evaluate(policies, env, n_episodes=2, seed=1))
    assert len(steps) == 2 * 2 * ROUNDS and ledger.spent.games == 2
    share = np.mean([step["arm"] == 1 for step in steps if step["policy_idx"] == 0])
    assert share > 0.5
    with refused(BudgetSpentError, "20"):
        list(bandit.evaluate(policies, env, n_episodes=1, seed=1))


def test_our_algorithms_play_in_rivers_replay_of_a_log():
    logged = np.random.default_rng(2).integers(ARMS, size=ROUNDS)
    history = [(range(ARMS), None, int(arm), TABLE[t, arm]) for t, arm in enumerate(logged)]
    rule = ours()
    total, used = module("river.bandit").evaluate_offline(rule, history)
    assert 100 < used < 170 and used == rule._game.rounds and total.get() > used / 3


def test_copies_of_a_game_with_one_noise_are_refused():
    """`evaluate` copies a game after its reset; two copies would release one gain twice with the same noise."""
    bandit = module("river.bandit")
    policies = [bandit.EpsilonGreedy(epsilon=share, seed=1) for share in (0.05, 0.5)]
    env = LaplaceClipRescale(gym.make("DPBandit-Stochastic-v0", horizon=10), epsilon=1.0)
    with refused(TypeError, "LaplaceClipRescale"):
        list(bandit.evaluate(policies, env, n_episodes=3, seed=4))
