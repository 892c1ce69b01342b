"""Gains are rounded before they are added, so that one changed round moves a stored sum by no more than it may."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.privacy.facts import (
    STEP,
    InputFacts,
    ValueRange,
    distance_in_norm,
    distance_l1,
    distance_l2,
    to_item,
)
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, ExactSums, HybridSums, IntervalSums
from tests.tools.vector_sums import experts

SUMS = {
    "CounterSums": lambda: CounterSums(counter="binary", epsilon=math.inf),
    "HybridSums": lambda: HybridSums(epsilon=math.inf),
    "BlockSums": lambda: BlockSums(epsilon=math.inf, lengths=[500]),
    "IntervalSums": lambda: IntervalSums(epsilon=math.inf, intervals="uniform"),
}


def last_sum(mechanism, gains) -> Fraction:
    """Return the last released sum of one arm, exactly."""
    state, rng = mechanism.new_state(InputFacts(1, len(gains))), Stream(np.random.SFC64(0))
    found = [mechanism.release(state, 0, gain, rng) for gain in gains]
    return Fraction([value for value, count in found if count][-1])


def apart(make, gains) -> Fraction:
    """Return how far the sums of two games are apart that differ in the first gain, which is 1 or 0."""
    return last_sum(make(), [1.0, *gains]) - last_sum(make(), [0.0, *gains])


@pytest.mark.thorough
@pytest.mark.parametrize("name", SUMS)
def test_neighbouring_sums_are_no_further_apart_than_the_sensitivity(name):
    """Random gains of 53 digits: some sums of doubles are more than 1 apart, and none of those with rounded gains."""
    tables = [np.random.default_rng(seed).random(499).tolist() for seed in range(20)]
    assert max(apart(ExactSums, gains) for gains in tables) > 1
    assert {apart(SUMS[name], gains) for gains in tables} == {1}


@pytest.mark.parametrize("gain", [0.0, 1.0, 0.5, -1.0, STEP, -STEP, 3 * STEP])
def test_multiples_stay(gain):
    assert to_item(gain) == gain


def test_others_move_towards_0_to_the_next_multiple():
    assert to_item(0.1) == math.floor(0.1 * 2**30) / 2**30
    assert to_item(-0.1) == -to_item(0.1)
    assert to_item(math.nextafter(1.0, 0.0)) == 1.0 - STEP
    assert to_item(STEP * 0.999) == to_item(-STEP * 0.999) == 0.0


def test_compiled_rounding_is_the_python_one():
    compiled = CompiledFunction(to_item, {})
    gains = np.random.default_rng(3).uniform(-1, 1, 2000)
    assert [compiled(gain) for gain in gains] == [to_item(gain) for gain in gains.tolist()]
    assert (np.abs([to_item(gain) for gain in gains]) <= np.abs(gains)).all()


def test_sums_below_2_to_the_22_have_no_rounding():
    """The largest multiple below it has 52 bits."""
    assert Fraction(2.0**22 - STEP) + Fraction(STEP) == Fraction(2.0**22 - STEP + STEP)


# ---- how far rounded values are apart ------------------------------------------------------------------------------


def test_gains_that_are_the_range_apart_are_no_further_apart_when_rounded():
    inputs = experts(3, 9)
    assert (distance_l1(inputs), distance_in_norm(inputs)) == (3.0, 1.0)
    assert distance_l2(inputs) == inputs.values.l2
    assert distance_l1(InputFacts(4, 9)) == distance_l2(InputFacts(4, 9)) == 1.0


@pytest.mark.parametrize("batch_size", [3, 7, 100])
def test_averages_may_be_further_apart_when_rounded(batch_size):
    """Neighbouring averages of 3 gains each, 1 / tau apart, on either side of a multiple of 2^-30."""
    low = 100.9 * STEP
    moved = to_item(low + 1 / batch_size) - to_item(low)
    values = ValueRange(l2=math.sqrt(3) / batch_size, norm="sup", norm_distance=1 / batch_size, complete=True)
    inputs = InputFacts(3, 9, 3 / batch_size, 3, values=values)
    assert 1 / batch_size < moved <= distance_in_norm(inputs) == min(1.0, 1 / batch_size + STEP)
    assert distance_l1(inputs) >= 3 / batch_size + 3 * STEP
    assert math.sqrt(3) / batch_size + 1.7 * STEP < distance_l2(inputs) < math.sqrt(3) / batch_size + 1.8 * STEP


def test_distances_in_other_norms():
    ball = InputFacts(4, 9, 4.0, 4, values=ValueRange(-1.0, 1.0, 2.0, "l2", 2.0, True))
    cube = InputFacts(4, 9, 2.0, 4, values=ValueRange(-1.0, 1.0, 2.0, "l1", 2.0, True))
    assert distance_in_norm(ball) == distance_l2(ball) == 2.0 + 2 * STEP
    assert distance_in_norm(cube) == distance_l1(cube) == 2.0 + 4 * STEP
