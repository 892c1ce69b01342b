"""The checks of the lab on counters: solutions pass, and each kind of wrong answer gets the words that fit."""

import math

import numpy as np
import pytest

from dp_bandit_envs.course.lab_counters import CASES, check_node_scale, check_private_sums
from dp_bandit_envs.labs.solutions.counters import node_scale, private_sums


def test_the_solution_passes_both_checks():
    assert check_node_scale(node_scale).passed
    verdict = check_private_sums(private_sums)
    assert verdict.passed
    assert "lose at most 1 epsilon" in verdict.says


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda horizon, epsilon: horizon.bit_length(), "does not depend on epsilon"),
        (lambda horizon, epsilon: epsilon * horizon.bit_length(), "grows with epsilon"),
        (lambda horizon, epsilon: math.sqrt(2) * horizon.bit_length() / epsilon, "standard deviation"),
        (lambda horizon, epsilon: 2 * (horizon.bit_length() / epsilon) ** 2, "variance"),
        (lambda horizon, epsilon: math.log(horizon) / epsilon, "ln counts too few"),
        (lambda horizon, epsilon: (horizon.bit_length() - 1) / epsilon, "One level is missing"),
        (lambda horizon, epsilon: math.ceil(math.log2(horizon)) / epsilon, "a power of two"),
        (lambda horizon, epsilon: (math.ceil(math.log2(horizon)) + 1) / epsilon, "no node of 8 items"),
        (lambda horizon, epsilon: horizon / epsilon, "T nodes"),
        (lambda horizon, epsilon: 1 / epsilon, "one node only"),
        (lambda horizon, epsilon: horizon.bit_length() / epsilon**2, "epsilon = 1 only"),
        (lambda horizon, epsilon: horizon.bit_length() / epsilon + 1, "more noise than needed"),
    ],
)
def test_a_wrong_scale_is_explained(wrong, said):
    verdict = check_node_scale(wrong)
    assert not verdict.passed
    assert said in verdict.says
    assert not any(f"{horizon.bit_length() / epsilon:g}" in verdict.says for horizon, epsilon in CASES[3:6])


def noise_of_one_node(items, epsilon, rng):
    return private_sums(items, epsilon * len(items).bit_length(), rng)


def levels_by_ln(items, epsilon, rng):
    counted = max(math.log(len(items)), 1)
    return private_sums(items, epsilon * len(items).bit_length() / counted, rng)


def redrawn(items, epsilon, rng):
    scale, sums = node_scale(len(items), epsilon), np.cumsum(items)
    return sums + [rng.laplace(scale=scale, size=(t + 1).bit_count()).sum() for t in range(len(items))]


def one_draw_for_all(items, epsilon, rng):
    return np.cumsum(items) + rng.laplace(scale=1 / epsilon)


def noise_on_items(items, epsilon, rng):
    return np.cumsum(items + rng.laplace(0, 1 / epsilon, len(items)))


def noise_on_sums(items, epsilon, rng):
    return np.cumsum(items) + rng.laplace(0, len(items) / epsilon, len(items))


def late(items, epsilon, rng):
    return np.concatenate([[0.0], private_sums(items, epsilon, rng)[:-1]])


def no_noise(items, epsilon, rng):
    return np.cumsum(items)


def own_generator(items, epsilon, rng):
    return private_sums(items, epsilon, np.random.default_rng())


def right_for_one(items, epsilon, rng):
    return private_sums(items, 1.0, rng)


def clipped(items, epsilon, rng):
    return np.clip(private_sums(items, epsilon, rng), 0, len(items))


def noise_by_data(items, epsilon, rng):
    return private_sums(items, epsilon * (1 + items[0]), rng)


def noise_times_the_largest(items, epsilon, rng):
    sums = np.cumsum(items)
    return sums + (private_sums(items, epsilon, rng) - sums) * (items.max() or 1)


def a_level_too_few_at_powers_of_two(items, epsilon, rng):
    horizon = len(items)
    return private_sums(items, epsilon * horizon.bit_length() / max(1, math.ceil(math.log2(horizon))), rng)


def normal_noise(items, epsilon, rng):
    return np.cumsum(items) + rng.normal(0, 1, len(items))


def last_sum(items, epsilon, rng):
    return private_sums(items, epsilon, rng)[-1]


def exact_after_32_items(items, epsilon, rng):
    return np.concatenate([private_sums(items, epsilon, rng)[:32], np.cumsum(items)[32:]])


def exact_steps_after_32_items(items, epsilon, rng):
    sums = private_sums(items, epsilon, rng)
    return np.concatenate([sums[:32], sums[:32][-1] - items[:32].sum() + np.cumsum(items)[32:]])


def exact_for_many_items(items, epsilon, rng):
    return private_sums(items, epsilon, rng) if len(items) <= 32 else np.cumsum(items)


def exact_for_a_hundred_items(items, epsilon, rng):
    return private_sums(items, epsilon, rng) if len(items) != 100 else np.cumsum(items)


def noise_used_again(items, epsilon, rng):
    few = private_sums(np.zeros(min(len(items), 64)), epsilon * 7 / 12, rng)
    return np.cumsum(items) + np.resize(few, len(items))


def always_six_levels(items, epsilon, rng):
    return private_sums(items, epsilon * len(items).bit_length() / 6, rng)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (exact_after_32_items, "The sum of items 1 to 33 of 100 can be read"),
        (exact_steps_after_32_items, "Item 33 of 100 can be read"),
        (exact_for_many_items, "No noise is drawn"),
        (exact_for_a_hundred_items, "No noise is drawn"),
        (noise_used_again, "The sum of items 2 to 65 of 100 can be read"),
        (always_six_levels, "loses at least 1.17 about item 1 of 100"),
        (noise_of_one_node, "lose 5 about item 1; at most 1"),
        (levels_by_ln, "lose 1.46 about item 1"),
        (redrawn, "drawn anew each time"),
        (one_draw_for_all, "no noise at all"),
        (noise_on_items, "private, but noisy"),
        (noise_on_sums, "private, but noisy"),
        (late, "sum before that item"),
        (no_noise, "No noise is drawn"),
        (own_generator, "from the rng that is given"),
        (right_for_one, "not for epsilon = 0.5"),
        (clipped, "without clipping"),
        (noise_by_data, "depend on the items"),
        (noise_times_the_largest, "the noise itself gives the items away"),
        (a_level_too_few_at_powers_of_two, "loses 2 for 2, a power of two"),
        (normal_noise, "rng.laplace(scale=...) only"),
        (last_sum, "shape"),
    ],
)
def test_wrong_sums_are_explained(wrong, said):
    verdict = check_private_sums(wrong)
    assert not verdict.passed
    assert said in verdict.says


def tree(base, order, ahead):
    """Return private sums by a tree whose nodes have `base` children, with its draws in any order."""

    def sums(items, epsilon, rng):
        horizon = len(items)
        height = 1
        while base**height <= horizon:
            height += 1
        scale = height / epsilon
        spans = [
            (start, base**level)
            for level in range(height)
            for start in range(0, horizon + 1 - base**level, base**level)
        ]
        spans = [spans[place] for place in np.random.default_rng(order).permutation(len(spans))]
        noise = dict(zip(spans, rng.laplace(scale=scale, size=len(spans)), strict=True)) if ahead else {}
        if not ahead:
            for span in spans:
                noise[span] = rng.laplace(0.0, scale)
        known = np.cumsum(items)
        released = []
        for t in range(1, horizon + 1):
            start, total = 0, 0.0
            for level in reversed(range(height)):
                while start + base**level <= t:
                    total += noise[start, base**level]
                    start += base**level
            released.append(known[t - 1] + total)
        return released

    return sums


@pytest.mark.parametrize("base", [2, 64])
def test_trees_of_other_shapes_pass(base):
    assert check_private_sums(tree(base, 0, True)).passed


def by_subtraction(items, epsilon, rng):
    """Return sums by a tree with four children to a node; three of them are their parent without the fourth."""
    horizon = len(items)
    height = 1
    while 4**height <= horizon:
        height += 1
    spans = [(start, 4**level) for level in range(height) for start in range(0, horizon + 1 - 4**level, 4**level)]
    noise = dict(zip(spans, rng.laplace(scale=height / epsilon, size=len(spans)), strict=True))
    released = np.cumsum(items)
    for t in range(1, horizon + 1):
        start = 0
        for length in (4**level for level in reversed(range(height))):
            children = (t - start) // length
            if children == 3 and (start, 4 * length) in noise:
                released[t - 1] += noise[start, 4 * length] - noise[start + 3 * length, length]
            else:
                released[t - 1] += sum(noise[start + child * length, length] for child in range(children))
            start += children * length
    return released


@pytest.mark.filterwarnings("error")
def test_sums_that_subtract_nodes_pass():
    assert check_private_sums(by_subtraction).passed


@pytest.mark.slow
def test_no_false_alarm_for_200_correct_solutions():
    rng = np.random.default_rng(15)
    for number in range(200):
        verdict = check_private_sums(tree(int(rng.choice([2, 3, 4, 5, 6, 8, 16, 64])), number, number % 2 == 0))
        assert verdict.passed, verdict
