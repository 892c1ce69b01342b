"""Processes that live on play what a user's file says in the process that asks, not what they read of it before."""

import importlib
import sys

import gymnasium as gym
import joblib
import numpy as np
import pytest

from dp_bandit_envs import Adversary, register_adversary, simulate
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.errors import NotSendableError
from dp_bandit_envs.simulation import sending
from dp_bandit_envs.simulation.sending import Carried
from dp_bandit_envs.simulation.trials import PlayedTrials
from tests.tools.refusals import refused

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


class Compiled(FunctionalAgent):
    functions = Functions(select, update)

    def initial_state(self, n_arms, horizon):
        return State(np.zeros(n_arms))


class Locked(Fixed):
    def select_arm(self):
        with lock:
            return ARM
"""


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
        outcome = simulate("DPBandit-Stochastic-v0", {"a": player}, horizon=9, trials=4, jobs=2)["a"]
    assert outcome.engine == engine and np.all(outcome.pulls.max(axis=1) == 9)
    return int(outcome.pulls[0].argmax())


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes `fixed_arm.py` and imports it."""
    arm_of(Waiting)
    monkeypatch.syspath_prepend(tmp_path)
    # Byte code is kept for a file of this second and this size.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(arm):
        (tmp_path / "fixed_arm.py").write_text(FILE.format(arm=arm), encoding="utf-8")
        return importlib.reload(importlib.import_module("fixed_arm"))

    yield write
    sys.modules.pop("fixed_arm", None)


def test_a_file_that_was_changed_and_loaded_again_is_played_as_it_is_now(written):
    assert [arm_of(written(arm).Fixed) for arm in (0, 1, 0)] == [0, 1, 0]


def test_so_are_functions_that_are_compiled_there(written):
    assert [arm_of(written(arm).Compiled, "compiled") for arm in (0, 1)] == [0, 1]


def test_a_file_that_is_changed_but_not_loaded_again_is_played_as_it_was(written, tmp_path):
    agent = written(1).Fixed
    (tmp_path / "fixed_arm.py").write_text(FILE.format(arm=0), encoding="utf-8")
    assert arm_of(agent) == 1


def test_what_cannot_be_sent_says_so_and_plays_with_one_job(written):
    agent = written(1).Locked
    with refused(NotSendableError, "picklable", "_thread.lock", "jobs=1"):
        arm_of(agent)
    outcome = simulate("DPBandit-Stochastic-v0", {"a": agent}, horizon=9, trials=4, jobs=1)["a"]
    assert np.all(outcome.pulls[:, 1] == 9)


def made():
    """Return an agent's class that travels by value, as one of a notebook does."""

    class Set(Waiting):
        arm = 0

        def select_arm(self):
            return self.arm + getattr(self, "more", 0)

    return Set


def test_an_attribute_of_a_class_that_was_changed_and_changed_back_is_played_as_it_is_now():
    """The workers have seen the class before, by the same id, and keep what they have unpacked."""
    agent, arms = made(), []
    for agent.arm in (0, 1, 0):
        arms.append(arm_of(agent))
    assert arms == [0, 1, 0]


def test_an_attribute_of_a_class_that_is_gone_is_gone():
    agent = made()
    agent.more = 2
    assert arm_of(agent) == 2
    del agent.more
    assert arm_of(agent) == 0


def test_a_registered_game_is_played_as_it_is_now():
    class Best(Adversary):
        best = 0

        def begin(self, rng):
            pass

        def next_gains(self, rounds):
            return np.tile(np.arange(self.n_arms) == self.best, (rounds, 1)).astype(float)

    id_, regrets = register_adversary("BestOfNow", Best), []
    try:
        for Best.best in (0, 1, 0):
            outcome = simulate(id_, {"a": Waiting}, horizon=9, trials=4, jobs=2)["a"]
            regrets.append(outcome.external_regret[0, -1])
    finally:
        gym.registry.pop(GAMES.pop(id_).id)
    assert regrets == [0, 9, 0]


def test_work_that_comes_back_to_its_own_process_has_the_classes_that_are_here():
    """As where a cluster's workers are threads: a game registered there would else be another one than here."""
    agent = made()
    sent = Carried.of(PlayedTrials(None, {"a": agent}, 0, np.ones(1, np.int64)))
    assert sending._unpacked(sent)[0].algorithms["a"] is agent
    sent = sent._replace(maker="another", games=(("New", b"no pickle"),))
    assert sending._unpacked(sent)[0].algorithms["a"] is not agent
