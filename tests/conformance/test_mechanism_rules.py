"""`check_wrapper` names what is wrong with a mechanism, on gains of its own; a game says no more than it may."""

import itertools
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import BanditEnv, PrivacyGuarantee, play
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.conformance import ConformanceError, check_wrapper
from dp_bandit_envs.conformance.mechanism_rules import check_mechanism
from dp_bandit_envs.errors import BoundaryError
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.boundary_games import MARK, PLANTED, everything_in
from tests.tools.refusals import refused


class State(NamedTuple):
    """Nothing that changes."""

    scale: float


def honest(state, arm, gain, rng):
    return gain, 1


class Bare(Mechanism):
    """Releases gains as they are, or does something wrong."""

    withholds = False
    release = staticmethod(honest)
    stated = PrivacyGuarantee.none("a trial")

    def new_state(self, below):
        """Return it."""
        return State(1.0)

    def guarantee(self, below):
        """Return what is stated."""
        return self.stated


def broken(function=honest, **more):
    """Return a wrapper with this mechanism."""
    kind = type("Broken", (Bare,), {"release": staticmethod(function), **more})
    return lambda env: PrivacyBoundary(env, kind())


def fails(state, arm, gain, rng):
    raise ZeroDivisionError(f"the gain was {gain}")


BREAKS = {
    "outside": (lambda state, arm, gain, rng: (gain + 1.5, 1), ["[0, 1]", "1.5"]),
    "nan": (lambda state, arm, gain, rng: (np.nan, 1), ["[0, 1]", "nan"]),
    "one value": (lambda state, arm, gain, rng: gain, ["release(state, arm, gain, rng)", "0.0"]),
    "three": (lambda state, arm, gain, rng: (gain, 1, 2), ["release(state, arm, gain, rng)", "(0.0, 1, 2)"]),
    "text": (lambda state, arm, gain, rng: ("half", 1), ["release(state, arm, gain, rng)", "('half', 1)"]),
    "no count": (lambda state, arm, gain, rng: (gain, None), ["release(state, arm, gain, rng)", "(0.0, None)"]),
    "negative count": (lambda state, arm, gain, rng: (gain, -1), ["release(state, arm, gain, rng)", "(0.0, -1)"]),
    "withheld": (lambda state, arm, gain, rng: (gain, 0), ["withholds = False", "withholds = True"]),
    "error": (fails, ["ZeroDivisionError", "the gain was 0.0"]),
}


@pytest.mark.parametrize(("function", "words"), BREAKS.values(), ids=BREAKS)
def test_a_broken_mechanism_is_caught_and_named(function, words):
    with refused(ConformanceError, "Broken", *words):
        check_wrapper(broken(function), games=0)
    if function is fails:  # and one whose sums are not finite
        with refused(ConformanceError, "Broken", "finite", "inf"):
            check_wrapper(broken(lambda state, arm, gain, rng: (np.inf, 1), releases_sums=True), games=0)


@pytest.mark.thorough
def test_a_right_one_passes():
    check_wrapper(broken(), games=0)


@pytest.mark.parametrize(("name", "kind"), MECHANISMS.items())
def test_those_of_ours_pass(name, kind):
    table = np.random.default_rng(0).random((40, 3))
    check_mechanism(PrivacyBoundary(BanditEnv(GainTable(table)), kind(**kind.example)))


@pytest.mark.parametrize("stated", [None, "1", 1.0])
def test_what_is_no_guarantee_is_named_and_how_to_state_that_there_is_none(stated):
    wrap = broken(stated=stated)
    with refused(ValueError, "Broken", "guarantee", stated, "PrivacyGuarantee.none(reason)"):
        wrap(BanditEnv(GainTable(np.eye(3))))
    with refused(ConformanceError, "Broken", "guarantee", stated, "PrivacyGuarantee.none(reason)"):
        check_wrapper(wrap, games=0)


@pytest.mark.parametrize("function", [BREAKS["one value"][0], BREAKS["three"][0]])
def test_in_a_game_a_release_that_is_no_pair_is_named_without_what_it_is(function):
    game = BanditEnv(GainTable(np.full((9, 3), PLANTED)))
    with refused(BoundaryError, "(value, count)", "dp_bandit_envs.conformance.check_wrapper") as caught:
        play(broken(function)(game), Uniform())
    assert MARK not in everything_in(caught.value)


def test_errors_of_a_boundary_are_shown_because_they_are_public():
    """The release is right on the gains on which the mechanism is tried, and wrong in a later game."""
    calls = itertools.count()

    def later(state, arm, gain, rng):
        return gain + (next(calls) > 30), 1

    with refused(ConformanceError, "BoundaryError", "releases_sums = True"):
        check_wrapper(broken(later), games=0)


class Stubborn:
    """Plays arm 4 of any game."""

    def begin(self, *, n_arms, horizon, rng):
        """Forget how many there are."""

    def select_arm(self):
        """Return it."""
        return 4

    def update(self, arm, observation):
        """Learn nothing."""


@pytest.mark.parametrize("wrap", [broken(), gym.wrappers.TimeLimit, lambda env: env])
def test_an_arm_that_the_game_does_not_have_is_the_agents(wrap):
    env = BanditEnv(GainTable(np.eye(3)))
    with refused(ValueError, "Stubborn.select_arm", "[0, 2]", 4, "n_arms"):
        play(wrap(env, 9) if wrap is gym.wrappers.TimeLimit else wrap(env), Stubborn())
