"""The checks of the lab on counters: solutions pass, and each kind of wrong answer gets the words that fit."""

import math

import numpy as np
import pytest

from dp_bandit_envs.course import lab_counters
from dp_bandit_envs.course.lab_counters import (
    BY_WORDS,
    CASES,
    LOSS_CASES,
    check_node_scale,
    check_private_sums,
    errors,
    pictures,
    spreads,
)
from dp_bandit_envs.labs.solutions.counters import node_scale, private_sums


@pytest.mark.thorough
def test_the_solution_passes_both_checks():
    assert check_node_scale(node_scale).passed
    verdict = check_private_sums(private_sums)
    assert verdict.passed
    assert "lose at most 1 epsilon" in verdict.says


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda horizon, epsilon: horizon.bit_length() / epsilon**2, "epsilon = 1 only"),
        (lambda horizon, epsilon: horizon.bit_length() / epsilon + 1, "more noise than needed"),
    ],
)
def test_a_wrong_scale_is_explained(wrong, said):
    verdict = check_node_scale(wrong)
    assert not verdict.passed
    assert said in verdict.says
    assert not any(f"{horizon.bit_length() / epsilon:g}" in verdict.says for horizon, epsilon in CASES[3:6])


def right_at(factor):
    """Return the solution, but at epsilon times a factor that depends on the number of items."""
    return lambda items, epsilon, rng: private_sums(items, epsilon * factor(len(items)), rng)


def redrawn(items, epsilon, rng):
    scale, sums = node_scale(len(items), epsilon), np.cumsum(items)
    return sums + [rng.laplace(scale=scale, size=(t + 1).bit_count()).sum() for t in range(len(items))]


def noise_times_the_largest(items, epsilon, rng):
    sums = np.cumsum(items)
    return sums + (private_sums(items, epsilon, rng) - sums) * (items.max() or 1)


def with_levels_at_most(most):
    """Return a tree that draws for all its levels, and uses the noise of the lowest ones."""

    def sums(items, epsilon, rng):
        levels = len(items).bit_length()
        noise = rng.laplace(scale=levels / epsilon, size=(levels, len(items) + 1))
        released = np.cumsum(items)
        for t in range(1, len(items) + 1):
            for level in range(min(levels, most)):
                released[t - 1] += noise[level, t >> level] * (t >> level & 1)
        return released

    return sums


def kept_noise(items, epsilon, rng, noise={}):  # noqa: B006 (the mistake)
    if len(items) not in noise:
        noise[len(items)] = private_sums(np.zeros(len(items)), epsilon, rng)
    return np.cumsum(items) + noise[len(items)]


WRONG_SUMS = {
    "ten levels": (with_levels_at_most(10), "The sum after item 1,024 of 4,095 has no noise at all"),
    "kept noise": (kept_noise, "does one use what the other kept?"),
    "exact after 32 items": (
        lambda items, epsilon, rng: np.concatenate([private_sums(items, epsilon, rng)[:32], np.cumsum(items)[32:]]),
        "Item 1 of 100 can be read",
    ),
    "always six levels": (right_at(lambda t: t.bit_length() / 6), "All 100 sums together lose 1.17 about item 1"),
    "noise of one node": (right_at(int.bit_length), "lose 5 about item 1; at most 1"),
    "levels by ln": (right_at(lambda t: t.bit_length() / max(math.log(t), 1)), "lose 1.46 about item 1"),
    "redrawn": (redrawn, "drawn anew each time"),
    "one draw for all": (
        lambda items, epsilon, rng: np.cumsum(items) + rng.laplace(scale=1 / epsilon),
        "no noise at all",
    ),
    "noise on items": (
        lambda items, epsilon, rng: np.cumsum(items + rng.laplace(0, 1 / epsilon, len(items))),
        "private, but noisy",
    ),
    "noise on sums": (
        lambda items, epsilon, rng: np.cumsum(items) + rng.laplace(0, len(items) / epsilon, len(items)),
        "private, but noisy",
    ),
    "late": (
        lambda items, epsilon, rng: np.concatenate([[0.0], private_sums(items, epsilon, rng)[:-1]]),
        "sum before that item",
    ),
    "no noise": (lambda items, epsilon, rng: np.cumsum(items), "No noise is drawn"),
    "own generator": (
        lambda items, epsilon, rng: private_sums(items, epsilon, np.random.default_rng()),
        "from the rng that is given",
    ),
    "right for one": (lambda items, epsilon, rng: private_sums(items, 1.0, rng), "not for epsilon = 0.5"),
    "clipped": (
        lambda items, epsilon, rng: np.clip(private_sums(items, epsilon, rng), 0, len(items)),
        "without clipping",
    ),
    "noise by data": (
        lambda items, epsilon, rng: private_sums(items, epsilon * (1 + items[0]), rng),
        "depend on the items",
    ),
    "noise times the largest": (noise_times_the_largest, "the noise itself gives the items away"),
    "a level too few at powers of two": (
        right_at(lambda t: t.bit_length() / max(1, math.ceil(math.log2(t)))),
        "loses 2 for 2, a power of two",
    ),
    "normal noise": (
        lambda items, epsilon, rng: np.cumsum(items) + rng.normal(0, 1, len(items)),
        "rng.laplace(scale=...) only",
    ),
    "last sum": (lambda items, epsilon, rng: private_sums(items, epsilon, rng)[-1], "shape"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRONG_SUMS)
def test_wrong_sums_are_explained(name, monkeypatch):
    wrong, said = WRONG_SUMS[name]
    if " 100 " not in said:  # the last case, of 100 items, takes as long as all others
        monkeypatch.setattr(lab_counters, "LOSS_CASES", LOSS_CASES[:-1])
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


def in_blocks(items, epsilon, rng):
    """Return sums by blocks of about sqrt(T) items: two levels, of which an item enters both."""
    length = max(1, math.isqrt(len(items)))
    noise = rng.laplace(scale=2 / epsilon, size=(2, len(items)))
    inside = [noise[0, t - t % length : t].sum() for t in range(1, len(items) + 1)]
    return np.cumsum(items) + inside + [noise[1, : t // length].sum() for t in range(1, len(items) + 1)]


@pytest.mark.thorough
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "right",
    [tree(2, 0, True), tree(64, 0, True), in_blocks, with_levels_at_most(12), by_subtraction],
    ids=["two children", "64 children", "blocks", "all levels at once", "subtracted nodes"],
)
def test_other_right_sums_pass(right):
    """Trees of other shapes and orders of draws, two levels of blocks, nodes that are subtracted from others."""
    assert check_private_sums(right).passed


@pytest.mark.slow
def test_no_false_alarm_for_200_correct_solutions():
    rng = np.random.default_rng(15)
    for number in range(200):
        verdict = check_private_sums(tree(int(rng.choice([2, 3, 4, 5, 6, 8, 16, 64])), number, number % 2 == 0))
        assert verdict.passed, verdict


@pytest.mark.thorough
@pytest.mark.parametrize("words", ["noise on every item", "binary tree"])
def test_the_bands_of_the_first_picture_are_the_errors_of_many_streams(words):
    """Each of 64 runs has 200 streams or more: a root mean square with a standard error of at most 8 % (measured)."""
    way = BY_WORDS[words]
    middle, spread = spreads(way, 255, 1.0)
    of_streams = np.array([errors(way, 255, 1.0, stream) for stream in range(200)])
    found = [np.sqrt((of_streams[:, runs] ** 2).mean()) for runs in np.array_split(np.arange(255), 64)]
    assert len(middle) == 64 and found == pytest.approx(spread, rel=0.4)
    assert np.sqrt((of_streams**2).mean()) == pytest.approx(np.sqrt((spread**2).mean()), rel=0.1)


def test_the_first_picture_shows_what_the_lab_says_of_4095_items():
    """The band of the tree is wider at first and narrower at the end, whatever the stream."""
    on_items, of_tree = (BY_WORDS[words] for words in ("noise on every item", "binary tree"))
    left, _ = pictures({way: errors(way, 4095, 1.0, 0) for way in (on_items, of_tree)}, 4095, 1.0)
    upper = [line.get_ydata() for line in left.axes[0].lines if len(line.get_ydata()) == 64 and line.get_ydata()[0] > 0]
    assert upper[0][0] < upper[1][0] and upper[0][-1] == pytest.approx(90, abs=1) and upper[1][-1] < 60
