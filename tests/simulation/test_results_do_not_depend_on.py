"""Seeds go by trial: cores, splits, checkpoints and company change nothing in a trial."""
# ruff: noqa: D102 (the methods of a stand-in do what the protocol says)

import numpy as np
import pytest

from dp_bandit_envs import simulate
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.simulation import trials as trials_module
from tests.tools.playable import BANDITS, LEADERS
from tests.tools.plays import POINT_IDS

FIELDS = ("external_regret", "policy_regret", "pseudo_regret", "collected", "switches", "pulls")


class Greedy:
    """An agent for which `simulate` uses processes; its coin decides, so that its stream matters."""

    def begin(self, *, n_arms, horizon, rng):
        self.n_arms, self.rng = n_arms, rng
        self.sums = np.zeros(n_arms)

    def select_arm(self):
        return int(self.rng.integers(self.n_arms)) if self.rng.random() < 0.3 else int(self.sums.argmax())

    def update(self, arm, observation):
        self.sums += observation["gain"]


def assert_equal(one, other, trials=slice(None)):
    assert list(one) == list(other)
    for name in one:
        for field in FIELDS:
            left, right = getattr(one[name], field), getattr(other[name], field)
            assert (left is None) == (right is None)
            if left is not None:
                assert np.array_equal(left[trials], right), (name, field)


TABLE = np.random.default_rng(0).random((4000, 3))


@pytest.mark.parametrize("env_id", [*IDS, "a table"])
def test_jobs(env_id, monkeypatch):
    """Threads share the adversary they were given; each needs one of its own, down to the last part of it.

    Small blocks make the threads take turns often.
    """
    monkeypatch.setattr(trials_module, "ROUNDS_AT_ONCE", 64)
    given = {"trials": 8, "seed": 5, "checkpoints": 4}
    if env_id == "a table":
        env_id, given["env_kwargs"] = "DPBandit-Replay-v0", {"gains": TABLE}
    else:
        given["horizon"] = 2000
    players = LEADERS if env_id in POINT_IDS else ["EXP3", "EXP3-tau"]
    assert_equal(simulate(env_id, players, jobs=1, **given), simulate(env_id, players, jobs=4, **given))


def test_processes():
    """An agent of one's own runs in processes, even one that pickle cannot name, such as a local class."""
    given = {"horizon": 100, "trials": 5, "seed": 2}
    algorithms = [Algorithm("mine", Greedy), Algorithm("also mine", lambda: Greedy()), make_algorithm("EXP3")]
    alone = simulate("DPBandit-Switching-v0", algorithms, jobs=1, **given)
    together = simulate("DPBandit-Switching-v0", algorithms, jobs=2, **given)
    assert alone["mine"].engine == "play"
    assert_equal(alone, together)


def test_splits():
    """Trials 3 to 7 on their own are trials 3 to 7 of all; two are too few for lanes, so another engine plays them."""
    algorithms = [*map(make_algorithm, BANDITS), Algorithm("mine", Greedy)]
    whole = simulate("DPBandit-Switching-v0", algorithms, horizon=100, trials=8, seed=1)
    for first, trials, engine in ((3, 5, "lanes"), (6, 2, "compiled")):
        part = simulate("DPBandit-Switching-v0", algorithms, horizon=100, trials=trials, first_trial=first, seed=1)
        assert_equal(whole, part, slice(first, first + trials))
        assert (whole.first_trial, part.first_trial, part["EXP3"].engine) == (0, first, engine)
    assert len(set(whole["EXP3"].external_regret[:, -1])) == 8


@pytest.mark.parametrize("names", [BANDITS[::4], pytest.param(BANDITS, marks=pytest.mark.slow)], ids=["some", "all"])
def test_company(names):
    """Alone, or with all others, before or behind: an algorithm plays the same games."""
    whole = simulate("DPBandit-FullyOblivious-v0", names, horizon=150, trials=3)
    reverse = simulate("DPBandit-FullyOblivious-v0", names[::-1], horizon=150, trials=3)
    for name in names:
        alone = simulate("DPBandit-FullyOblivious-v0", name, horizon=150, trials=3)
        for other in (whole, reverse):
            assert np.array_equal(alone[name].external_regret, other[name].external_regret)
            assert np.array_equal(alone[name].pulls, other[name].pulls)


@pytest.mark.parametrize("rounds_at_once", [1, 7, 64])
def test_checkpoints_and_blocks(monkeypatch, rounds_at_once):
    """A few checkpoints are a selection from all, wherever blocks end."""
    names = ["EXP3", "EXP3-tau", "DP-EXP3-Lap"]
    full = simulate("DPBandit-Switching-v0", names, horizon=300, trials=2, checkpoints=range(1, 301))
    monkeypatch.setattr(trials_module, "ROUNDS_AT_ONCE", rounds_at_once)
    chosen = [1, 6, 7, 8, 64, 65, 299]
    few = simulate("DPBandit-Switching-v0", names, horizon=300, trials=2, checkpoints=chosen)
    assert few.checkpoints.tolist() == [*chosen, 300]
    for name in names:
        for field in ("external_regret", "policy_regret", "collected", "switches"):
            assert np.array_equal(getattr(full[name], field)[:, few.checkpoints - 1], getattr(few[name], field))
        assert np.array_equal(full[name].pulls, few[name].pulls)


def test_another_seed_or_trial_is_another_game():
    def regret(**given):
        return simulate("DPBandit-Stochastic-v0", "EXP3", horizon=500, **given)["EXP3"].external_regret[0].tolist()

    assert regret(seed=0) == regret(seed=0)
    assert regret(seed=0) != regret(seed=1)
    assert regret(seed=0) != regret(seed=0, first_trial=1)
