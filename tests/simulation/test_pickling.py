"""Other processes play what a user's files, classes and games are in this one now, or the error says what to do."""

import importlib
import os
import signal
import sys
import threading

import gymnasium as gym
import joblib
import numpy as np
import pytest

from dp_bandit_envs import Adversary, Exp3, register_adversary, simulate
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.errors import NotSendableError
from dp_bandit_envs.simulation.pickling import PickledWork
from tests.tools.refusals import refused

GAME = "DPBandit-Stochastic-v0"
FILE = """import threading
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions

ARM = {arm}
lock = threading.Lock()


class Fixed:
    def begin(self, *, n_arms, horizon, rng):
        pass

    def select_arm(self):
        return ARM

    def update(self, arm, observation):
        pass


class State(NamedTuple):
    sums: np.ndarray


def select(state, rng):
    return arm_of_all(state)


def arm_of_all(state):
    return min(ARM, len(state.sums) - 1)


def update(state, arm, seen):
    return state


class CompiledFunction(FunctionalAgent):
    functions = Functions(select, update)

    def initial_state(self, n_arms, horizon):
        return State(np.zeros(n_arms))


class Locked(Fixed):
    def select_arm(self):
        with lock:
            return ARM
"""


class Foreign(Exp3):
    """An agent that is not compiled, so that it plays in processes."""

    def begin(self, **options):
        """Begin as usual."""
        super().begin(**options)


class Waiting:
    """Starts workers that have not seen the file, and do not look for it where it will be."""

    def begin(self, *, n_arms, horizon, rng):
        """Nothing."""

    def select_arm(self):
        """Return arm 0."""
        return 0

    def update(self, arm, observation):
        """Nothing."""


def arm_of(player, engine="play"):
    """Return the arm that an agent pulls in two processes."""
    with joblib.parallel_config(backend="loky"):
        outcome = simulate(GAME, {"a": player}, horizon=9, trials=4, jobs=2)["a"]
    assert outcome.engine == engine and np.all(outcome.pulls.max(axis=1) == 9)
    return int(outcome.pulls[0].argmax())


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes `fixed_arm.py` and imports it."""
    arm_of(Waiting)
    monkeypatch.syspath_prepend(tmp_path)
    # Byte code is kept for a file of this second and this size.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(arm, *, load=True):
        (tmp_path / "fixed_arm.py").write_text(FILE.format(arm=arm), encoding="utf-8")
        return importlib.reload(importlib.import_module("fixed_arm")) if load else None

    yield write
    sys.modules.pop("fixed_arm", None)


@pytest.mark.thorough
def test_a_file_that_was_changed_is_played_as_it_is_once_it_is_loaded_again(written):
    assert [arm_of(written(arm).Fixed) for arm in (0, 1, 0)] == [0, 1, 0]
    agent = written(1).Fixed
    written(0, load=False)
    assert arm_of(agent) == 1
    assert [arm_of(written(arm).CompiledFunction, "compiled") for arm in (0, 1)] == [0, 1]


@pytest.mark.thorough
def test_what_cannot_be_sent_says_so_and_plays_with_one_job(written):
    agent = written(1).Locked
    with refused(NotSendableError, "environment", "picklable", "_thread.lock", "installed", "jobs=1"):
        arm_of(agent)
    outcome = simulate(GAME, {"a": agent}, horizon=9, trials=4, jobs=1)["a"]
    assert np.all(outcome.pulls[:, 1] == 9)


@pytest.mark.thorough
def test_an_attribute_of_a_class_is_played_as_it_is_now():
    """The workers have seen the class before, by the same id, and keep what they have unpacked."""

    class Set(Waiting):  # travels by value, as one of a notebook does
        arm = 0

        def select_arm(self):
            return self.arm + getattr(self, "more", 0)

    arms = []
    for Set.arm in (0, 1, 0):
        arms.append(arm_of(Set))
    Set.more = 2
    arms.append(arm_of(Set))
    del Set.more
    assert [*arms, arm_of(Set)] == [0, 1, 0, 2, 0]


def made(power):
    """Return a class that no worker can import: it travels by value."""

    class Drifting(Adversary):
        """Gains of arm i are u^((i + 1) power) for one uniform u a round."""

        def __init__(self, n_arms=3, horizon=40):
            super().__init__(n_arms, horizon)

        def begin(self, rng):
            self._rng = rng

        def next_gains(self, rounds):
            return self._rng.random((rounds, 1)) ** (power * np.arange(1, self.n_arms + 1))

    return Drifting


def forget(name):
    """Take a name out of the tables."""
    gym.registry.pop(GAMES.pop(f"DPBandit-{name}-v0").id)


@pytest.fixture
def mine():
    yield register_adversary("Mine", made(1.0))
    forget("Mine")


def regrets(game, jobs, **options):
    outcome = simulate(game, {"a": Foreign}, trials=4, jobs=jobs, **options)["a"]
    assert outcome.engine == "play"
    return outcome.external_regret


def test_workers_know_a_game_that_was_registered_in_the_parent_only(mine):
    """By its id, in a function, and as gains on a graph."""

    def make():
        return gym.make("DPBandit-Mine-v0", horizon=20)

    on_graph = {"horizon": 20, "env_kwargs": {"graph": "star", "gains": "mine", "n_arms": 4}}
    for game, options in ((mine, {}), (make, {}), ("DPBandit-Graph-v0", on_graph)):
        np.testing.assert_array_equal(regrets(game, 2, **options), regrets(game, 1, **options))


def test_a_registered_game_is_played_as_it_is_now(mine):
    """Joblib's workers outlive a simulation, and know the older class and the older attribute."""
    found = []
    for power in (1.0, 5.0, 1.0):
        forget("Mine")
        register_adversary("Mine", made(power))
        found.append(regrets(mine, 2))
        np.testing.assert_array_equal(found[-1], regrets(mine, 1))
    assert np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[1])


def test_an_attribute_of_a_registered_game_is_that_of_now():
    class Best(Adversary):
        best = 0

        def begin(self, rng):
            pass

        def next_gains(self, rounds):
            return np.tile(np.arange(self.n_arms) == self.best, (rounds, 1)).astype(float)

    id_, found = register_adversary("BestOfNow", Best), []
    try:
        for Best.best in (0, 1, 0):
            outcome = simulate(id_, {"a": Waiting}, horizon=9, trials=4, jobs=2)["a"]
            found.append(outcome.external_regret[0, -1])
    finally:
        forget("BestOfNow")
    assert found == [0, 9, 0]


@pytest.mark.thorough
def test_an_adversary_that_cannot_be_pickled_says_what_to_do():
    locked = made(1.0)
    locked.lock = threading.Lock()
    id_ = register_adversary("Locked", locked)
    try:
        with refused(NotSendableError, "DPBandit-Locked-v0", "picklable", "jobs=1"):
            regrets(id_, 2)
        regrets(id_, 1)
        # Other games do not need it.
        regrets(GAME, 2, horizon=10)
    finally:
        forget("Locked")


class TwoWordsError(Exception):
    """Cannot be unpickled: its class takes two arguments, and it keeps one."""

    def __init__(self, arm, why):
        super().__init__(f"arm {arm} {why}")


class Stops(Foreign):
    """Has no arm to play."""

    def select_arm(self):
        """Raise."""
        raise TwoWordsError(3, "is gone")


@pytest.mark.parametrize("jobs, error", [(1, TwoWordsError), (2, RuntimeError)])
def test_an_error_that_cannot_be_pickled_keeps_its_words(jobs, error):
    with refused(error, "arm 3 is gone") as caught:
        simulate(GAME, {"a": Stops}, horizon=10, trials=2, jobs=jobs)
    assert jobs == 1 or "TwoWordsError" in str(caught.value)


class Unknown:
    """Work whose game is unknown where it is played."""

    seed = 123456

    def run(self, trials, stopped):
        """Make it."""
        return [gym.make("DPBandit-Nowhere-v0") for _ in trials]


def test_what_a_worker_cannot_import_says_so_and_a_log_does_not_show_the_work():
    """Dask writes what a task was given into its logs when it fails; the seed of all noise is in it."""
    with refused(NotSendableError, "environment", "importable"):
        PickledWork(b"nonsense", ()).play(range(1))
    sent = PickledWork(PickledWork.of(Unknown()).work, (("Nowhere", b"nonsense"),))
    assert "bytes" in repr(sent) and "123456" not in repr(sent) and "Unknown" not in repr(sent)
    with refused(NotSendableError, "DPBandit-Nowhere-v0", "importable"):
        sent.play(range(1))
    with pytest.raises(gym.error.NameNotFound):
        PickledWork(sent.work, ()).play(range(1))


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes can be forked")
def test_a_fork_does_not_wait_for_its_parents_workers():
    """It plays the same games; the limit is there to let it fail."""
    before = regrets(GAME, 2, horizon=30)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(120)
        same = False
        try:
            same = np.array_equal(regrets(GAME, 2, horizon=30), before)
        finally:
            os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(regrets(GAME, 2, horizon=30), before)
