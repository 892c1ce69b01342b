"""What a user has registered in this process plays in worker processes too, or the error says what to do."""

import threading

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Adversary, Exp3, register_adversary, simulate
from dp_bandit_envs.envs.registration import GAMES, register_here
from dp_bandit_envs.errors import NotSendableError
from dp_bandit_envs.simulation.sending import Carried
from tests.tools.refusals import refused


class Foreign(Exp3):
    """An agent that is not compiled, so that it plays in processes."""

    def begin(self, **options):
        """Begin as usual."""
        super().begin(**options)


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
    np.testing.assert_array_equal(regrets(mine, 2), regrets(mine, 1))


def test_workers_know_it_in_functions_and_as_gains_on_a_graph(mine):
    def make():
        return gym.make("DPBandit-Mine-v0", horizon=20)

    np.testing.assert_array_equal(regrets(make, 2), regrets(make, 1))
    options = {"horizon": 20, "env_kwargs": {"graph": "star", "gains": "mine", "n_arms": 4}}
    on_graph = regrets("DPBandit-Graph-v0", 2, **options)
    np.testing.assert_array_equal(on_graph, regrets("DPBandit-Graph-v0", 1, **options))


def test_workers_that_live_on_play_the_class_as_it_was_edited(mine):
    """Joblib's workers outlive a simulation, and know the older class."""
    old = regrets(mine, 2)
    forget("Mine")
    register_adversary("Mine", made(5.0))
    new = regrets(mine, 2)
    np.testing.assert_array_equal(new, regrets(mine, 1))
    assert not np.array_equal(old, new)


def test_registering_here_is_the_same_as_registering_and_may_be_repeated():
    first, second = made(1.0), made(2.0)
    for class_ in (first, first, second):
        register_here("Again", class_)
        assert GAMES["DPBandit-Again-v0"].adversary is class_
        assert isinstance(gym.make("DPBandit-Again-v0").unwrapped.adversary, class_)
    forget("Again")


def test_an_adversary_that_cannot_be_pickled_says_what_to_do():
    locked = made(1.0)
    locked.lock = threading.Lock()
    id_ = register_adversary("Locked", locked)
    try:
        with refused(NotSendableError, "DPBandit-Locked-v0", "picklable", "jobs=1"):
            regrets(id_, 2)
        regrets(id_, 1)
        # Other games do not need it.
        regrets("DPBandit-Stochastic-v0", 2, horizon=10)
    finally:
        forget("Locked")


def test_a_player_that_cannot_be_pickled_says_what_to_do():
    lock = threading.Lock()

    class Locked(Foreign):
        def select_arm(self):
            with lock:
                return super().select_arm()

    with refused(NotSendableError, "environment", "picklable", "installed", "jobs=1"):
        simulate("DPBandit-Stochastic-v0", {"a": Locked}, horizon=10, trials=2, jobs=2)


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
        simulate("DPBandit-Stochastic-v0", {"a": Stops}, horizon=10, trials=2, jobs=jobs)
    assert jobs == 1 or "TwoWordsError" in str(caught.value)


def test_what_a_worker_cannot_import_says_so(mine):
    sent = Carried(b"nonsense", ())
    with refused(NotSendableError, "environment", "importable"):
        sent.play(range(1))


class Unknown:
    """Work whose game is unknown where it is played."""

    def run_all(self, trials, stopped):
        """Make it."""
        return [gym.make("DPBandit-Nowhere-v0") for _ in trials]


def test_a_game_that_a_worker_cannot_import_says_so():
    sent = Carried(Carried.of(Unknown()).work, (("Nowhere", b"nonsense"),))
    with refused(NotSendableError, "DPBandit-Nowhere-v0", "importable"):
        sent.play(range(1))
    with pytest.raises(gym.error.NameNotFound):
        Carried(sent.work, ()).play(range(1))
