"""Seeds go by trial: cores, tasks, splits, checkpoints and company change nothing in a trial."""

import itertools

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, make_algorithm, simulate
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.simulation import engines as engines_module, workers
from dp_bandit_envs.simulation.results import TaskResults, TrialResults
from dp_bandit_envs.simulation.workers import Task, TaskSplitter
from tests.tools.playable import BANDITS
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
    for name, field in itertools.product(one, FIELDS):
        left, right = getattr(one[name], field), getattr(other[name], field)
        assert (left is None) == (right is None)
        assert left is None or np.array_equal(left[trials], right), (name, field)


@pytest.mark.thorough
@pytest.mark.parametrize("env_id", IDS)
def test_jobs(env_id, monkeypatch):
    """Threads share the adversary they were given; each needs one of its own, down to the last part of it.

    Small blocks make the threads take turns often.
    """
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", 64)
    given = {"trials": 8, "seed": 5, "checkpoints": 4, "horizon": 1000}
    players = ["AS-FTRL"] if env_id in POINT_IDS else ["EXP3", "EXP3-tau"]
    if env_id == "DPBandit-Experts-v0":
        players = ["Hedge", "DP-Hedge"]
    assert_equal(simulate(env_id, players, jobs=1, **given), simulate(env_id, players, jobs=4, **given))


@pytest.mark.thorough
def test_processes():
    """An agent of one's own runs in processes, even one that pickle cannot name, such as a local class."""
    given = {"horizon": 100, "trials": 5, "seed": 2}
    algorithms = [Algorithm("mine", Greedy), Algorithm("also mine", lambda: Greedy()), make_algorithm("EXP3")]
    alone = simulate("DPBandit-Switching-v0", algorithms, jobs=1, **given)
    together = simulate("DPBandit-Switching-v0", algorithms, jobs=2, **given)
    assert alone["mine"].engine == "play"
    assert_equal(alone, together)


@pytest.mark.thorough
def test_splits():
    """Trials 3 to 7 on their own are trials 3 to 7 of all; two are too few for lanes, so another engine plays them."""
    algorithms = [*map(make_algorithm, BANDITS), Algorithm("mine", Greedy)]
    whole = simulate("DPBandit-Switching-v0", algorithms, horizon=100, trials=8, seed=1)
    for first, trials, engine in ((3, 5, "lanes"), (6, 2, "compiled")):
        part = simulate("DPBandit-Switching-v0", algorithms, horizon=100, trials=trials, first_trial=first, seed=1)
        assert_equal(whole, part, slice(first, first + trials))
        assert (whole.first_trial, part.first_trial, part["EXP3"].engine) == (0, first, engine)
    assert len(set(whole["EXP3"].external_regret[:, -1])) == 8


@pytest.mark.thorough
@pytest.mark.parametrize("names", [BANDITS[::8], pytest.param(BANDITS, marks=pytest.mark.slow)], ids=["some", "all"])
def test_company(names):
    """Alone, or with all others, before or behind: an algorithm plays the same games."""
    given = {"horizon": 150, "trials": 3}
    whole, reverse = (simulate("DPBandit-FullyOblivious-v0", order, **given) for order in (names, names[::-1]))
    for name in names:
        alone = simulate("DPBandit-FullyOblivious-v0", name, **given)
        for other in (whole, reverse):
            assert_equal(alone, {name: other[name]})


@pytest.mark.parametrize(("trials", "rounds"), [(2, 1), (2, 64), (4, 64)])
def test_checkpoints_and_blocks(trials, rounds, monkeypatch):
    """A few checkpoints are a selection from all, wherever blocks end, one by one and side by side."""
    given = {"algorithms": ["EXP3", "EXP3-tau", "DP-EXP3-Lap"], "horizon": 300, "trials": trials}
    full = simulate("DPBandit-Switching-v0", checkpoints=range(1, 301), **given)
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", rounds)
    monkeypatch.setattr(engines_module, "LANE_NUMBERS", rounds)
    chosen = [1, 6, 7, 8, 64, 65, 299]
    few = simulate("DPBandit-Switching-v0", checkpoints=chosen, **given)
    assert few.checkpoints.tolist() == [*chosen, 300]
    for name, outcome in few.items():
        assert outcome.engine == ("lanes" if trials == 4 else "compiled")
        for field in ("external_regret", "policy_regret", "collected", "switches"):
            assert np.array_equal(getattr(full[name], field)[:, few.checkpoints - 1], getattr(outcome, field))
        assert np.array_equal(full[name].pulls, outcome.pulls)


def test_another_seed_or_trial_is_another_game():
    def regret(**given):
        return simulate("DPBandit-Stochastic-v0", "EXP3", horizon=500, **given)["EXP3"].external_regret[0].tolist()

    assert regret(seed=0) == regret(seed=0)
    assert regret(seed=0) != regret(seed=1)
    assert regret(seed=0) != regret(seed=0, first_trial=1)


# ---- tasks are cut by measured speed, every trial is in one of them, and the last ones are small


class Fake:
    def __init__(self, at_once=1):
        self.at_once = at_once


def cut(tasks, seconds_a_trial, seconds=2.0, width=4):
    """Cut all tasks, each played before the next one is cut; return what is cut."""
    cutter, found = TaskSplitter(tasks, seconds, sum(len(task.trials) for task in tasks), width), []
    for task in cutter:
        found.append(task)
        number = len(task.trials)
        assert cutter.result(task, TaskResults(number * seconds_a_trial(task), {})) == (task.owner, task.trials, {})
    return found


def test_every_trial_is_played_once_with_its_owner_and_each_work_has_a_speed_of_its_own():
    slow, fast = Fake(), Fake()
    tasks = [
        Task(slow, range(3, 40), "id", "a"),
        Task(fast, range(5000), None, "b"),
        Task(Fake(), range(5), None, "c"),
    ]
    found = cut(tasks, lambda task: 2.0 if task.engine is slow else 0.002)
    for task in tasks:
        pieces = [piece for piece in found if piece.owner == task.owner]
        assert [trial for piece in pieces for trial in piece.trials] == list(task.trials)
        assert {(piece.engine, piece.env_id) for piece in pieces} == {(task.engine, task.env_id)}
    assert {len(task.trials) for task in found if task.engine is slow} == {1}
    assert max(len(task.trials) for task in found if task.engine is fast) == 1000


SIZES = {
    # 2 s of 0.25 s each are 8 trials; with 4 wanted at a time, the last 32 are divided by 4: 8, 6, 4, 3, ...
    (1, 1001, 0.25): [1, *[8] * 121, 8, 6, 4, 3, 2, 2, *[1] * 7],
    (1, 30, 3.0): [1] * 30,
    # Side by side, pieces are multiples of 16 up to the last; less than one block is one piece.
    (16, 7, 0.5): [7],
    # 2 s are 200 trials of 0.01 s; of 1,030, a fourth of those that are left limits the size.
    (16, 1030, 0.01): [16, 192, 192, 160, 112, 96, 64, 48, 32, 32, *[16] * 5, 6],
}


@pytest.mark.parametrize(("at_once", "trials", "each"), SIZES)
def test_sizes_follow_the_speed(at_once, trials, each):
    sizes = [len(task.trials) for task in cut([Task(Fake(at_once), range(trials))], lambda task: each)]
    assert sizes == SIZES[at_once, trials, each] and sum(sizes) == trials


def test_results_of_a_task_have_a_most(monkeypatch):
    """Of 80 bytes a trial, 4,000 bytes are 50 trials, however fast they are."""
    monkeypatch.setattr(workers, "MOST_BYTES", 4000)
    column = TrialResults(None, None, None, None, None, np.zeros((1, 10)))
    cutter = TaskSplitter([Task(Fake(), range(1000))], 2.0, 1000, 4)
    cutter.result(next(cutter), TaskResults(1e-6, {"a": column}))
    assert len(next(cutter).trials) == 50
