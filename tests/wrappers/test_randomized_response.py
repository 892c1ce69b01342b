"""RandomizedResponse: exact chances, the privacy loss that follows, and what it declares."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.privacy.mechanisms.randomized_response import coin_chances, release
from dp_bandit_envs.wrappers import (
    MiniBatchAverage,
    RandomizedResponse,
    vector,
)
from tests.tools.boundary_games import RevealsBoth, games
from tests.tools.doors import one_each

GAINS = (0.0, 0.3, 1.0)
STEP = 2.0**-53
"""`Generator.random` gives each multiple of this below 1 with the same chance."""


def uniform(number):
    """Return a random generator whose uniform numbers are this one."""
    return SimpleNamespace(random=lambda: number)


def chances(env):
    """Return the chances of an environment's coins."""
    return env.mechanism.new_state(env.inputs)


def chance_of_one(gain, mechanism) -> Fraction:
    """Return the exact chance of a 1: how many of the 2^53 uniform numbers answer so, found by bisection."""
    low, high = 0, 2**53
    while low < high:
        middle = (low + high) // 2
        if release(mechanism, 0, gain, uniform(middle * STEP))[0] == 1.0:
            low = middle + 1
        else:
            high = middle
    return Fraction(low, 2**53)


def loss(mechanism, gains=GAINS) -> float:
    """Return the largest log-ratio of the chance of either answer between two gains."""
    ones = [chance_of_one(gain, mechanism) for gain in gains]
    return max(math.log(p / q) for side in (ones, [1 - p for p in ones]) for p in side for q in side)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, math.log(3), 3.0, 8.0])
def test_either_answer_changes_by_exactly_e_to_the_epsilon(epsilon):
    """Attained between gains 0 and 1.

    A chance is a number of 2^-53, small beside the least chance; and the floor is raised by 2^-50 of itself on purpose.
    """
    mechanism = coin_chances(epsilon)
    least = 1 / (1 + math.exp(epsilon))
    tolerance = 4 * STEP / least
    assert epsilon - 2**-48 - tolerance <= loss(mechanism) <= epsilon + tolerance
    assert loss(mechanism, np.linspace(0, 1, 21).tolist()) <= epsilon + tolerance
    assert loss(mechanism, (0.0, 0.3)) < epsilon * 0.9


def test_chances_by_hand():
    """Epsilon = ln 3: (2 g + 1) / 4, so 1/4, 0.4 and 3/4 for gains 0, 0.3 and 1."""
    mechanism = coin_chances(math.log(3))
    found = [float(chance_of_one(gain, mechanism)) for gain in GAINS]
    assert found == pytest.approx([0.25, 0.4, 0.75], rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_chances_are_those_of_the_stated_formula(epsilon):
    mechanism = coin_chances(epsilon)
    for gain in np.linspace(0, 1, 11).tolist():
        by_formula = (gain * math.expm1(epsilon) + 1) / (math.exp(epsilon) + 1)
        assert float(chance_of_one(gain, mechanism)) == pytest.approx(by_formula, rel=1e-12)


@pytest.mark.parametrize("epsilon", [40.0, 100.0, 800.0, 1e300])
def test_both_answers_stay_possible_however_large_epsilon_is(epsilon):
    """Below e^-36 a chance could be none of 2^53 numbers, and an answer that cannot occur gives the gain away."""
    mechanism = coin_chances(epsilon)
    assert release(mechanism, 0, 0.0, uniform(0.0))[0] == 1.0
    assert release(mechanism, 0, 1.0, uniform(1 - STEP))[0] == 0.0
    for gain in GAINS:
        assert 0 < chance_of_one(gain, mechanism) < 1
    assert loss(mechanism) <= 40.0


def test_without_noise_a_gain_becomes_a_coin_with_that_mean():
    mechanism = coin_chances(math.inf)
    assert [chance_of_one(gain, mechanism) for gain in (0.0, 0.25, 1.0)] == [0, Fraction(1, 4), 1]
    assert float(chance_of_one(0.3, mechanism)) == pytest.approx(0.3, abs=STEP)


def test_a_round_that_reveals_both_arms_answers_twice_with_half_of_epsilon():
    """P(1, 1) changes from 1/16 to 9/16 at epsilon = 2 ln 3: by 9 = e^epsilon."""
    env = RandomizedResponse(RevealsBoth(GainTable(np.zeros((2, 2)))), epsilon=2 * math.log(3))
    assert chance_of_one(1.0, chances(env)) / chance_of_one(0.0, chances(env)) == pytest.approx(3.0, rel=1e-12)
    env.reset(seed=1)
    env._run._rng = uniform(0.2)
    assert env.step(0)[0]["gain"].tolist() == [1.0, 1.0]
    env._run._rng = uniform(0.3)
    assert env.step(0)[0]["gain"].tolist() == [0.0, 0.0]
    assert env.guarantee.epsilon == 2 * math.log(3)


# ---- the wrapper


@pytest.mark.thorough
@pytest.mark.parametrize(("gain", "epsilon"), one_each(GAINS, [2.0, 0.5, math.inf]))
def test_the_share_of_ones_is_the_chance(gain, epsilon):
    """Standard error sqrt(p (1 - p) / n) with p = (g (e^eps - 1) + 1) / (e^eps + 1): allow five.

    False alarm: 6e-7 (five standard errors, two sides).
    """
    n = 200
    env = vector.RandomizedResponse(games(100, np.full((n, 2), gain)), epsilon=epsilon)
    env.reset(seed=9)
    share = np.mean([env.step(np.ones(100, int))[1] for _ in range(n)])
    p = gain if math.isinf(epsilon) else (gain * math.expm1(epsilon) + 1) / (math.exp(epsilon) + 1)
    assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / (100 * n))


@pytest.mark.parametrize("epsilon", [20.0, 30.0, 35.0, 36.0, 36.5, 36.7])
def test_chances_near_what_a_uniform_double_can_tell_are_rounded_to_more_noise(epsilon):
    """Chances are multiples of 2^-53, so the smaller one must be rounded up, and not the larger one up as well."""
    mechanism = coin_chances(epsilon)
    assert Fraction(mechanism.floor) * 2**53 == int(mechanism.floor * 2**53)
    assert Fraction(mechanism.floor) + Fraction(mechanism.span) == 1 - Fraction(mechanism.floor)
    assert loss(mechanism) <= epsilon


def test_averages_of_several_gains_share_epsilon_by_their_number():
    """One round moves two averages of two gains by 1/2 each, which is 1 in L1; but two coins depend on it.

    A coin's loss is not linear in the gain: ln((floor + span / 2) / floor) for half a gain.
    """
    env = RandomizedResponse(MiniBatchAverage(RevealsBoth(GainTable(np.zeros((4, 2)))), batch_size=2), epsilon=1.0)
    mechanism = chances(env)
    assert 2 * math.log((mechanism.floor + mechanism.span / 2) / mechanism.floor) <= 1.0
    assert mechanism == coin_chances(0.5)
    assert env.sensitivity == 2.0
