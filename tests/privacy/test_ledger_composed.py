"""A game over adversaries inside others counts with all that their data serve, and what was counted pays no more."""

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import Algorithm, Ledger, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Adversary, OutcomePools, Replay
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.announced import announced
from dp_bandit_envs.privacy.data_use import DataUse
from dp_bandit_envs.wrappers import LaplaceClipRescale
from dp_bandit_envs.wrappers import vector as of_many

TABLE = np.zeros((6, 2))


def at(ledger):
    return ledger.spent.games, ledger.spent.epsilon


class Pools(OutcomePools):
    """One record an arm, which serves in all four rounds."""

    def __init__(self, ledger):
        super().__init__([np.zeros(1), np.zeros(1)], 4)
        self.ledger = ledger


class Mixed(Adversary):
    """Means of two adversaries over the same data; records of the one serve once, of the other four times."""

    def __init__(self, ledger):
        self.table, self.pools = Replay(TABLE, ledger=ledger), Pools(ledger)
        super().__init__(2, 6)

    def begin(self, rng):
        """Begin both, the one whose records serve more often first."""
        self.pools.begin(rng)
        self.table.begin(rng)

    def next_gains(self, rounds):
        """Return the means."""
        return (self.table.next_gains(rounds) + self.pools.next_gains(rounds)) / 2


class Repeated(Adversary):
    """Plays a table three times, and says so."""

    def __init__(self, ledger):
        self.table = Replay(TABLE, ledger=ledger)
        super().__init__(2, 12)
        self.data_use = DataUse(3)

    def begin(self, rng):
        """Begin the table once."""
        self.table.begin(rng)

    def next_gains(self, rounds):
        """Return its gains."""
        return np.zeros((rounds, 2))


class Plain(Exp3):
    """An agent that is played, not compiled."""

    def update(self, arm, observation):
        """Learn as usual."""
        super().update(arm, observation)


def by_reset(env):
    LaplaceClipRescale(env(BanditEnv), epsilon=1.0).reset()


def by_vector(env):
    of_many.LaplaceClipRescale(env(BanditVectorEnv, num_envs=1), epsilon=1.0).reset()


def by_two_at_once(env):
    of_many.LaplaceClipRescale(env(BanditVectorEnv, num_envs=2), epsilon=1.0).reset()


def by_simulate(env):
    simulate(lambda: env(BanditEnv), ["DP-EXP3-Lap"], seed=None, checkpoints=1)


def by_play(env):
    player = Algorithm("plain", Plain, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    assert simulate(lambda: env(BanditEnv), [player], seed=None, checkpoints=1)["plain"].engine == "play"


@pytest.mark.parametrize(
    ("begin", "games"), [(by_reset, 1), (by_vector, 1), (by_two_at_once, 2), (by_simulate, 1), (by_play, 1)]
)
@pytest.mark.parametrize(("adversary", "rounds"), [(Repeated, 3), (Mixed, 5)])
def test_a_game_counts_with_what_all_of_it_says_of_its_data(adversary, rounds, begin, games):
    """However it begins."""
    ledger = Ledger(epsilon=12.0)

    def env(kind, **arguments):
        return kind(adversary=adversary(ledger), **arguments)

    begin(env)
    assert at(ledger) == (games, games * rounds)


def test_two_adversaries_serve_together_and_one_twice_in_two_names_once():
    ledger = Ledger(epsilon=12.0)
    mixed = Mixed(ledger)
    assert mixed.data_use == DataUse(5)
    assert LaplaceClipRescale(BanditEnv(mixed), epsilon=1.0).guarantee.for_record().epsilon == 5.0
    mixed.again = mixed.pools
    assert mixed.data_use == DataUse(5)
    mixed.other = Pools(ledger)
    assert mixed.data_use == DataUse(6)  # at most all rounds


def test_a_game_counted_for_data_that_serve_less_often_pays_no_other():
    """As where a function makes other environments for later trials than the one that was counted."""
    ledger = Ledger(epsilon=12.0)
    game = [[PrivacyGuarantee(1.0)]]
    for paid, use, spent in (
        (DataUse(1), DataUse(2), 2.0),
        (DataUse(2), DataUse(1), 2.0),
        (DataUse(2, 2), DataUse(2, 3), 4.0),
        (DataUse(2), DataUse(2, 2), 6.0),
        (DataUse(2, 3), DataUse(2), 8.0),
    ):
        with announced(game, secret=True, paid_by=(ledger.id, paid)):
            ledger.enter(use)
        assert ledger.spent.epsilon == spent


def test_a_function_that_makes_other_environments_each_time_pays_for_each():
    ledger = Ledger(epsilon=12.0)
    uses = iter([1, 3, 3])

    def make():
        pools = OutcomePools([np.zeros(12), np.zeros(12)], 12)
        pools.ledger, pools.data_use = ledger, DataUse(next(uses))
        return gym.wrappers.OrderEnforcing(BanditEnv(pools))

    player = Algorithm("plain", Plain, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    simulate(make, [player], trials=2, seed=None, checkpoints=1)
    assert ledger.spent.epsilon == 2 + 6  # counted before as 1 each, and then as what they are


@pytest.mark.parametrize("player", ["EXP3", "Tsallis-INF"])
def test_a_boundary_in_the_environment_counts_with_what_it_releases(player):
    """EXP3's own guarantee, which is smaller here, is for arms; a wrapper above the boundary sees all releases."""

    def make():
        env = LaplaceClipRescale(gym.make("DPBandit-Replay-v0", gains=np.zeros((50, 2)), ledger=ledger), epsilon=7.5)
        return gym.wrappers.RecordEpisodeStatistics(env)

    for begin in (
        lambda: play(make(), make_algorithm(player), seed=None),
        lambda: simulate(make, [player], seed=None, checkpoints=1),
        lambda: simulate(lambda: make().env, [player], seed=None, checkpoints=1),
    ):
        ledger = Ledger(epsilon=9.0, delta=1e-3)
        begin()
        assert at(ledger) == (1, 7.5)
