"""What a user's function uses may change between two calls, as in a notebook; the next call plays what it is now."""

import math
import sys
from types import ModuleType
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, BanditEnv, play, simulate
from dp_bandit_envs.adversaries import MemoryBounded
from dp_bandit_envs.agents import FunctionalAgent, Uniform
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.audits import sampled_loss
from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.wrappers import PrivacyBoundary


class Named(NamedTuple):
    """Two numbers."""

    first: float
    second: float


class Swapped(NamedTuple):
    """The same numbers by each other's names."""

    second: float
    first: float


def made(source):
    """Run a cell; return its names."""
    names = {"np": np, "math": math, "Named": Named, "Swapped": Swapped}
    exec(source, names)
    return names


@pytest.mark.parametrize(
    ("cell", "change"),
    [
        ("NUMBER = 2.0\ndef use(x): return x * NUMBER", "NUMBER = 5.0"),
        ("NUMBER = 2.0\ndef helper(): return NUMBER\ndef use(x): return x * helper()", "NUMBER = 5.0"),
        ("def helper(): return 2.0\ndef use(x): return x * helper()", "def helper(): return 5.0"),
        ("def helper(): return 2.0\ndef use(x): return x * helper()", "helper.__code__ = (lambda: 5.0).__code__"),
        ("def use(x, by=2.0): return x * by", "use.__defaults__ = (5.0,)"),
        ("TABLE = np.array([2.0])\ndef use(x): return x * TABLE[0]", "TABLE[0] = 5.0"),
        ("TABLES = (np.array([2.0]),)\ndef use(x): return x * TABLES[0][0]", "TABLES[0][0] = 5.0"),
        ("PAIR = Named(2.0, 5.0)\ndef use(x): return x * PAIR.first", "PAIR = Swapped(2.0, 5.0)"),
    ],
    ids=["global", "of a helper", "another helper", "code", "default", "array", "array in a tuple", "named tuple"],
)
def test_a_function_whose_values_changed_is_compiled_anew(cell, change):
    inside = made(cell)
    before = Compiled(inside["use"], {})
    assert before(3.0) == 6.0
    exec(change, inside)
    assert inside["use"](3.0) == 15.0
    assert Compiled(inside["use"], {})(3.0) == 15.0
    # Compiled for another type afterwards, the first is what it was.
    assert before(3) == 6.0


def test_a_cell_of_a_closure_that_changed_is_compiled_anew():
    names = made(
        "def outer():\n"
        "    number = 2.0\n"
        "    def use(x):\n        return x * number\n"
        "    def change():\n        nonlocal number\n        number = 5.0\n"
        "    return use, change\n"
        "use, change = outer()"
    )
    assert Compiled(names["use"], {})(3.0) == 6.0
    names["change"]()
    assert Compiled(names["use"], {})(3.0) == 15.0


def test_a_module_within_a_package_counts(monkeypatch):
    package, settings = ModuleType("mine"), ModuleType("mine.settings")
    package.settings, settings.NUMBER = settings, 2.0
    monkeypatch.setitem(sys.modules, "mine", package)
    monkeypatch.setitem(sys.modules, "mine.settings", settings)
    use = made("import mine.settings\ndef use(x): return x * mine.settings.NUMBER")["use"]
    assert Compiled(use, {})(3.0) == 6.0
    settings.NUMBER = 5.0
    assert Compiled(use, {})(3.0) == 15.0


def test_a_bound_function_of_the_users_has_its_globals_of_now():
    use = made("NUMBER = 2.0\ndef part(): return 0.0\ndef use(x): return NUMBER * part()")["use"]

    def part():
        return 3.0

    assert bind(use, {"part": part})(1.0) == 6.0
    use.__globals__["NUMBER"] = 5.0
    assert bind(use, {"part": part})(1.0) == 15.0


STEP, ANSWER, PAID = 1, 0.0, 0.0


class Turn(NamedTuple):
    """An array."""

    turn: np.ndarray


def select(state, rng):
    """Return the arms in turn."""
    return int(state.turn[0]) % 4


def update(state, arm, seen):
    """Go on by the step."""
    state.turn[0] += STEP
    return state


class Turns(FunctionalAgent):
    """Plays the arms in turn, at a step."""

    functions = Functions(select, update)

    def initial_state(self, n_arms, horizon):
        """Return arm 0."""
        return Turn(np.zeros(1))


class Truth(NamedTuple):
    """Nothing of use."""

    number: float


def answer(state, arm, gain, rng):
    """Release the same whatever the gain."""
    return ANSWER, 1


class Answers(Mechanism):
    """Releases one number."""

    release = staticmethod(answer)
    withholds = False

    def new_state(self, below):
        """Return a state."""
        return Truth(0.0)

    def guarantee(self, below):
        """Return none."""
        return PrivacyGuarantee.none("it is only a test")


class Follows(Turns):
    """Plays arm 3 once a gain was released."""

    functions = Functions(select, lambda state, arm, seen: follow(state, arm, seen))


def follow(state, arm, seen):
    """Go to arm 3 where a gain is 1."""
    if seen.gains[arm] > 0.5:
        state.turn[0] = 3
    return state


def paid(gains, arms, t):
    """Pay the same in each round."""
    return PAID


@pytest.mark.parametrize("name", ["STEP", *(pytest.param(name, marks=pytest.mark.slow) for name in ("ANSWER", "PAID"))])
def test_simulate_plays_as_play_does_after_a_global_changed(name, monkeypatch):
    """An agent, a mechanism, a payoff function: their functions are the same objects before and after."""

    def env():
        if name == "PAID":
            return BanditEnv(MemoryBounded(4, 40, payoff=paid))
        return gym.make("DPBandit-Stochastic-v0", horizon=40)

    players = {
        "STEP": Algorithm("a", Turns, lambda env: env),
        "ANSWER": Algorithm("a", Follows, lambda env: PrivacyBoundary(env, Answers())),
        "PAID": Algorithm("a", Uniform, lambda env: env),
    }
    seen = []
    for value in (1, 2) if name == "STEP" else (0.0, 1.0):
        monkeypatch.setattr(sys.modules[__name__], name, value)
        outcome = simulate(env, [players[name]], seed=0)["a"]
        assert outcome.engine == "compiled"
        game = play(env(), players[name], seed=0)
        assert np.array_equal(outcome.pulls[0], np.bincount(game.arms, minlength=4))
        assert outcome.collected[0, -1] == game.collected[-1]
        seen.append((*outcome.pulls[0], outcome.collected[0, -1]))
    assert seen[0] != seen[1]


TRUTH = 0.75


def toss(state, arm, gain, rng):
    """Tell the truth with that chance."""
    return (1.0 if rng.random() < (TRUTH if gain > 0.5 else 1.0 - TRUTH) else 0.0), 1


class Coin(Answers):
    """Declares more privacy than it has once it tells the truth more often."""

    release = staticmethod(toss)

    def guarantee(self, below):
        """Return what holds for the first chance."""
        return PrivacyGuarantee(epsilon=math.log(3.0), model="local", covers="releases")


def test_an_audit_refutes_a_mechanism_that_leaks_more_since_a_global_changed(monkeypatch):
    """At a confidence of 1 - 1e-6, a claim that holds is refuted by chance once in a million; seeds are fixed."""
    options = {"of": "releases", "games": 2_000, "horizon": 2, "confidence": 1 - 1e-6}
    assert sampled_loss(Coin(), **options).holds
    monkeypatch.setattr(sys.modules[__name__], "TRUTH", 0.99)
    assert not sampled_loss(Coin(), **options).holds
