"""Agents that forget: the same arms by rules written another way, limits without forgetting, restarts and audits."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play, simulate
from dp_bandit_envs.agents.drifting import DiscountedUcb, RestartedUcb, SlidingWindow, restart_period
from dp_bandit_envs.privacy.mechanisms.block_sums import RestartedSums
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.one_noise import as_one_player
from tests.tools.refusals import refused

COINS = np.random.default_rng(5).integers(0, 2, (900, 3)).astype(float)
TABLE = np.random.default_rng(6).random((400, 3))


def replay(gains):
    return gym.make("DPBandit-Replay-v0", gains=gains)


class _Naive:
    """Keeps all rounds, and works out each index from them anew."""

    def begin(self, *, n_arms, horizon, rng):
        self.n_arms, self.rounds = n_arms, []

    def select_arm(self):
        indices = np.array([self.index(arm) for arm in range(self.n_arms)])
        return int(np.flatnonzero((indices == indices.max()) | (indices >= indices.max() - 1e-9))[0])

    def update(self, arm, observation):
        self.rounds.append((arm, float(observation["gain"][arm])))


class _NaiveWindow(_Naive):
    def __init__(self, window, divergence):
        self.window, self.divergence = window, divergence

    def index(self, arm):
        mine = [gain for one, gain in self.rounds[-self.window :] if one == arm]
        if not mine:
            return math.inf
        level, mean = math.log(min(len(self.rounds), self.window)), np.mean(mine)
        if not self.divergence:
            return mean + math.sqrt(0.6 * level / len(mine))
        level = (level + 3 * math.log(max(level, 1))) / len(mine)
        low, high = mean, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if _kl(mean, middle) <= level else (low, middle)
        return low


def _kl(p, q):
    parts = [a * math.log(a / b) if a > 0 else 0.0 for a, b in ((p, q), (1 - p, 1 - q)) if a == 0 or b > 0]
    return sum(parts) if len(parts) == 2 else math.inf


class _NaiveDiscount(_Naive):
    def __init__(self, discount):
        self.discount = discount

    def index(self, arm):
        ages = len(self.rounds) - 1 - np.arange(len(self.rounds))
        mine = np.array([one == arm for one, _ in self.rounds], dtype=bool)
        if not mine.any():
            return math.inf
        weights = self.discount**ages
        gains = np.array([gain for _, gain in self.rounds])
        n = weights[mine].sum()
        return (weights * gains)[mine].sum() / n + 2 * math.sqrt(0.6 * math.log(max(weights.sum(), 1)) / n)


@pytest.mark.parametrize(
    ("table", "window", "index"),
    [
        *(("coins", window, "mean") for window in (1, 7, 60, 10_000)),
        ("numbers", 60, "mean"),
        *(("numbers", window, "kl") for window in (9, 60, 10_000)),
    ],
)
def test_a_window_is_its_rule(table, window, index):
    gains = COINS if table == "coins" else TABLE
    mine = play(replay(gains), SlidingWindow(window=window, index=index))
    assert mine.arms.tolist() == play(replay(gains), _NaiveWindow(window, divergence=index == "kl")).arms.tolist()


@pytest.mark.parametrize("discount", [0.4, 0.9, 0.999])
def test_a_discount_is_its_rule(discount):
    """With .4 the weights are divided by 1e100 every 251 rounds, and an arm's own is never below 1e-200."""
    agent = play(replay(TABLE), DiscountedUcb(discount=discount))
    assert agent.arms.tolist() == play(replay(TABLE), _NaiveDiscount(discount)).arms.tolist()


def test_defaults_by_hand():
    assert len(SlidingWindow().initial_state(2, 10_000).arms) == math.ceil(2 * math.sqrt(10_000 * math.log(10_000) / 5))
    assert len(SlidingWindow(shifts=20, index="kl").initial_state(2, 10_000).arms) == math.ceil(
        math.sqrt(10_000 * math.log(10_000) / 20)
    )
    assert DiscountedUcb(shifts=4).initial_state(2, 10_000).discount == 1 - 0.02 / 4
    assert [restart_period(horizon) for horizon in (1, 8, 9, 1000, 1001, 2**60)] == [1, 4, 5, 100, 101, 2**40]
    assert len(SlidingWindow().initial_state(2, 1).arms) == 1


def test_without_restart_it_is_adap_ucb():
    """Without noise both draw nothing but the order of the arms at random."""
    other = make_algorithm("AdaP-UCB", epsilon=math.inf)
    one = as_one_player(make_algorithm("Restarted-AdaP-UCB", epsilon=math.inf, period=900), other.player)
    assert play(replay(COINS), one, seed=0).arms.tolist() == play(replay(COINS), other, seed=0).arms.tolist()


def test_every_period_is_a_game_of_its_own():
    one = make_algorithm("Restarted-AdaP-UCB", epsilon=math.inf, period=150)
    arms = play(replay(np.tile(COINS[:150], (4, 1))), one).arms.reshape(4, 150)
    assert (arms == arms[0]).all() and len(set(arms[0].tolist())) == 3


def test_a_restart_drops_the_open_block():
    """Blocks of 1, 1, 2 and 4 gains; of the eight rounds of a period the last one or four are in no release."""
    env = PrivacyBoundary(
        gym.make("DPBandit-Replay-v0", gains=np.ones((16, 2))), RestartedSums(epsilon=math.inf, period=7)
    )
    env.reset(seed=0)
    seen = [env.step(0)[0] for _ in range(16)]
    assert [int(one["release"][0]) for one in seen] == [1, 2, 2, 3, 3, 3, 3, 4, 5, 5, 6, 6, 6, 6, 7, 8]
    assert [int(one["count"][0]) for one in seen] == [1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 1, 1]


def test_guarantees_are_those_of_one_period():
    size = {"n_arms": 4, "horizon": 5000}
    restarted = make_algorithm("Restarted-AdaP-UCB", epsilon=0.3, period=10).guarantee(**size)
    assert (restarted.epsilon, restarted.model) == (0.3, "central")
    local = make_algorithm("SW-KLUCB-CF", epsilon=0.3).guarantee(**size)
    assert (local.epsilon, local.delta, local.model) == (0.3, 0.0, "local")
    assert make_algorithm("SW-UCB").guarantee(**size).model == make_algorithm("D-UCB").guarantee(**size).model == "none"


def test_restarts_help_where_arms_change_often():
    """Measured over 40 games: 16,700 against 33,600, errors 141 and 765; 8 games here. False alarm: below 1e-9."""
    game = ("Shifting", {"shifts": 30, "gap": 0.8})
    found = simulate(game, ["Restarted-AdaP-UCB", "AdaP-UCB"], horizon=2**16, trials=8, seed=2, checkpoints=1)
    restarted, plain = (outcome.mean("dynamic_regret")[-1] for outcome in found.values())
    assert restarted < 0.75 * plain


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (SlidingWindow, {"window": 0}),
        (SlidingWindow, {"shifts": 0}),
        (SlidingWindow, {"index": "median"}),
        (SlidingWindow, {"bonus": -1.0}),
        (DiscountedUcb, {"discount": 1.0}),
        (DiscountedUcb, {"discount": 0.0}),
        (DiscountedUcb, {"discount": math.nan}),
        (RestartedUcb, {"period": 0}),
        (RestartedUcb, {"alpha": 0.0}),
        (RestartedUcb, {"epsilon": 0.0}),
    ],
)
def test_wrong_arguments_are_refused_by_name(make, wrong):
    with refused(ValueError, *wrong):
        make(**wrong)
