"""No algorithm does better, or worse, because the best arm is the first or the last."""

import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import algorithm_names, make_algorithm, play, simulate
from dp_bandit_envs.agents import Exp3, KlUcb, RandomLabels, SuccessiveElimination, Ucb
from dp_bandit_envs.agents.random_labels import shuffle
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.wrappers import BlockSums

FIRST, LAST = [0.9, 0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5, 0.9]
COINS = np.random.default_rng(1).random((5000, 5))
GAMES = {
    "Stochastic": [{"means": means} for means in (FIRST, LAST)],
    "Experts": [{"means": means} for means in (FIRST, LAST)],
    "Graph": [{"means": means, "graph": "cycle"} for means in (FIRST, LAST)],
    "Replay": [{"gains": (means > COINS).astype(float)} for means in (FIRST, LAST)],
}


def names_in(game):
    env = gym.make(f"DPBandit-{game}-v0", horizon=10, **GAMES[game][0])
    return [name for name in algorithm_names() if make_algorithm(name).refusal(env) is None]


def check_even(game, name, horizon, trials):
    """The mean share of rounds in which the best arm is played, first or last: within four standard errors.

    False alarm: 6e-5, and at most .03 for all 420 cases of the slow test; seeds are fixed.
    """
    shares = []
    for options, best in zip(GAMES[game], (0, 4), strict=True):
        played = simulate(game, name, env_kwargs=options, horizon=horizon, trials=trials, checkpoints=[horizon])
        shares.append(next(iter(played.outcomes.values())).pulls[:, best] / horizon)
    first, last = shares
    error = np.sqrt((first.var(ddof=1) + last.var(ddof=1)) / trials)
    assert abs(first.mean() - last.mean()) <= 4 * error


# Those whose best arm, first or last, made the largest difference before.
COSTLY = ["DP-SE", "DP-UCB-INT", "GOPE", "AdaP-KLUCB", "DP-KLUCB", "LDP-UCB-L", "SW-KLUCB-CF"]


@pytest.mark.parametrize("name", COSTLY)
def test_the_best_arm_may_stand_anywhere(name):
    check_even("Stochastic", name, 60, 200)


@pytest.mark.parametrize("name", ["UCB", "KL-UCB", "DP-SE", "DP-IMED", "UCB-MaxN", "Lazy-DP-TS"])
def test_the_best_expert_may_stand_anywhere(name):
    check_even("Experts", name, 60, 200)


def test_the_best_of_neighbours_may_stand_anywhere():
    check_even("Graph", "TS-MaxN", 60, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [60, 1000, 5000])
@pytest.mark.parametrize(("game", "name"), [(game, name) for game in GAMES for name in names_in(game)])
def test_the_best_arm_may_stand_anywhere_in_every_game(game, name, horizon):
    check_even(game, name, horizon, 200)


def test_an_epoch_keeps_each_arm_in_one_run():
    """As many changes of arm as there are arms in the epochs: going round would change in most of 2^13 rounds."""
    outcome = simulate("Switching", ["DP-SE"], horizon=2**13, trials=20, seed=1)["DP-SE"]
    assert outcome.switches[:, -1].max() <= 4
    env = BlockSums(gym.make("DPBandit-Stochastic-v0", means=[0.5] * 3, horizon=600), epsilon=np.inf, lengths=[40] * 5)
    arms = play(env, SuccessiveElimination(), seed=2).arms
    runs = arms.reshape(-1, 40)
    assert (runs == runs[:, :1]).all()
    assert all(sorted(epoch) == [0, 1, 2] for epoch in runs[:, 0].reshape(-1, 3).tolist())
    assert SuccessiveElimination.waits


def test_all_orders_are_equally_likely():
    """24 orders of four arms in 24,000 draws. False alarm: 1e-6 (chi-squared above 71 with 23 degrees of freedom)."""
    rng, counts = np.random.default_rng(0), {}
    for _ in range(24_000):
        arms = [0, 1, 2, 3]
        shuffle(arms, 4, rng)
        counts[tuple(arms)] = counts.get(tuple(arms), 0) + 1
    assert len(counts) == 24 and sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 71


@pytest.mark.parametrize("inner", [Ucb, KlUcb, Exp3])
def test_labels_hide_nothing_else(inner):
    """A game in which the arms are relabelled by hand is the game of the inner agent, whose stream is the same."""
    n_arms, rounds, of_sums = 4, 80, inner.learns_from is Sums
    gains = np.random.default_rng(3).random((rounds, n_arms))
    agent, own = RandomLabels(inner()), inner()
    agent.begin(n_arms=n_arms, horizon=rounds, rng=np.random.default_rng(5))
    own.begin(n_arms=n_arms, horizon=rounds, rng=(rng := np.random.default_rng(5)))
    labelled = list(range(n_arms))
    shuffle(labelled, n_arms, rng)
    sums, counts = np.zeros(n_arms), np.zeros(n_arms, np.int64)
    for row in gains:
        agent = pickle.loads(pickle.dumps(agent))
        arm, label = agent.select_arm(), own.select_arm()
        assert arm == labelled[label]
        sums[arm] += row[arm]
        counts[arm] += 1
        if of_sums:
            seen = {"sum": sums, "count": counts, "release": counts}
        else:
            seen = {"gain": np.where(np.arange(n_arms) == arm, row, 0.0), "observed": (np.arange(n_arms) == arm) * 1}
        agent.update(arm, seen)
        own.update(label, {key: part[labelled] for key, part in seen.items()})


def test_indices_stay_where_only_the_arm_played_is_seen():
    """An algorithm hides the order of arms only where it would show: bits of index policies in bandit games stay."""
    bandit = gym.make("DPBandit-Stochastic-v0")
    for name, labelled in (("UCB", False), ("DP-IMED", True), ("EXP3", False)):
        assert isinstance(make_algorithm(name).agent(bandit), RandomLabels) is labelled
    assert isinstance(make_algorithm("UCB").agent(gym.make("DPBandit-Experts-v0")), RandomLabels)
    assert not isinstance(make_algorithm("UCB-MaxN").agent(gym.make("DPBandit-Graph-v0")), RandomLabels)
