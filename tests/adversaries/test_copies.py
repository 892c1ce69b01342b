"""Games of one adversary that are played at the same time have nothing in common, however its class keeps its state."""

import copy
import pickle

import numpy as np
import pytest

from dp_bandit_envs import Adversary, Ledger, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Oblivious, Replay
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.wrappers import LaplaceClipRescale


class History(Adversary):
    """Keeps an array and a list for all games, the list twice, and shows both in the gains."""

    def __init__(self):
        super().__init__(2, 50)
        self.place, self.seen = np.zeros(2), []
        self.own = {"list": self.seen}

    def begin(self, rng):
        self.rng = rng
        self.place[:] = 0
        self.seen.clear()

    def next_gains(self, rounds):
        gains = np.empty((rounds, 2))
        for row in gains:
            self.seen.append(self.rng.random())
            self.place += self.seen[-1]
            self.place %= 1
            row[:] = np.mean(self.own["list"]), self.place[1] / len(self.seen)
        return gains


class Inside(Adversary):
    """Has another adversary in a list."""

    def __init__(self):
        super().__init__(3, 50)
        self.parts = [Oblivious(3, 50)]

    def begin(self, rng):
        self.parts[0].begin(rng)

    def next_gains(self, rounds):
        return self.parts[0].next_gains(rounds)


both = pytest.mark.parametrize("made", [History, Inside])


@pytest.mark.thorough
@both
def test_games_side_by_side_are_those_of_play(made):
    outcome = simulate(lambda: BanditEnv(made()), ["Uniform"], trials=5, seed=1)["Uniform"]
    for trial in range(5):
        game = play(BanditEnv(made()), make_algorithm("Uniform"), seed=1, trial=trial)
        assert outcome.external_regret[trial, -1] == game.external_regret[-1], (outcome.engine, trial)


@both
def test_a_copy_in_the_middle_of_a_game_goes_on_by_itself(made):
    one, alone = made(), made()
    for each in (one, alone):
        each.begin(np.random.default_rng(2))
        each.next_gains(10)
    expected = alone.next_gains(40).tolist()
    for copied in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert copied.next_gains(40).tolist() == expected
    assert one.next_gains(40).tolist() == expected


def test_what_copies_share(tmp_path):
    """Read-only tables and ledgers; and what cannot be copied, but not in the middle of a game."""
    one = Inside()
    one.table, one.other = np.ones(5), np.ones(5)
    one.table.flags.writeable = False
    one.bound, one.ledger = one.next_gains, Ledger(epsilon=1)
    two = copy.copy(one)
    assert two.table is one.table and two.ledger is one.ledger and two.other is not one.other
    assert two.bound.__self__ is two
    with (tmp_path / "open").open("w") as one.parts[0].file:
        assert copy.copy(one).parts[0].file is one.parts[0].file
        with pytest.raises(TypeError):
            copy.deepcopy(one)
    one = Inside()
    assert not one.is_real
    one.parts.append(Replay(np.ones((60, 3))))
    assert one.is_real and one.data_use.record == 1  # in a list, data are real too


def test_copies_share_the_ledger_and_cost_no_game():
    ledger = Ledger(epsilon=3)
    env = LaplaceClipRescale(BanditEnv(Replay(np.tile([0.2, 0.6], (20, 1)), ledger=ledger)), epsilon=1)
    env.reset()
    below = env.unwrapped
    copied = copy.deepcopy(below)
    assert [copied.step(1)[1] for _ in range(20)] == [below.step(1)[1] for _ in range(20)] == [0.6] * 20
    assert copied.adversary.ledger is ledger
    assert ledger.spent.games == 1
    env.reset()
    env.step(0)
    assert ledger.spent.games == 2
