"""The draws of counters: how many an item costs, that each is rounded once, and that compiled ones are the same.

An item costs a constant on average, and O(log T) at once where the mechanism allows it.
"""

import math

import numpy as np
import pytest

from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.laplace import to_grid
from tests.tools.counter_noise import ALL, LAPLACE, counter, measured_noise
from tests.tools.fake_draws import Counting

HORIZON = 2**14


def draws_of(name: str, horizon: int, **more) -> np.ndarray:
    """Return how many draws each insert makes."""
    some = counter(name, horizon, **more)
    state, rng = some.new_state(1), Counting(0)
    made = [0]
    for _ in range(horizon):
        some.noise(state, 0, rng)
        made.append(rng.draws)
    return np.diff(made)


@pytest.mark.parametrize("name", ["binary", "hybrid", "segment-trees", "square-root"])
def test_one_draw_an_item(name):
    assert (draws_of(name, HORIZON) == 1).all()


def test_the_logarithmic_counter_draws_at_powers_of_two_only():
    made = draws_of("logarithmic", HORIZON)
    assert (np.flatnonzero(made) + 1).tolist() == [2**k for k in range(15)]
    assert made.max() == 1


def test_honaker_draws_one_for_each_node_that_closes():
    """Node (level l) closes every 2^l items: after t items there are 2 t - (number of ones of t) of them."""
    made = draws_of("honaker", HORIZON)
    assert made.sum() == 2 * HORIZON - 1
    assert made.max() == 15  # at 2^14: the leaf and 14 nodes above it
    assert np.cumsum(made)[1000 - 1] == 2000 - (1000).bit_count()


def test_the_smooth_counter_draws_few_on_average_and_half_its_height_at_most():
    """2^14 items need height 18 (C(16, 8) = 12,870): at most 9 ones in a leaf. Twice and a bit on average."""
    made = draws_of("smooth-binary", HORIZON)
    assert made.min() >= 1
    assert made.max() <= 9
    assert made.mean() < 2.5
    assert draws_of("smooth-binary", 2**11).mean() < 2.5  # and not more for a longer horizon


@pytest.mark.parametrize("base", [3, 5, 11])
def test_the_k_ary_counter_draws_one_an_item_on_average(base):
    """A digit makes (k - 1) / 2 draws when it wraps and one for each step up from 0: k - 1 in each turn of k.

    So level l costs (k - 1) / k^(l + 1) an item, and all levels 1 together, up to what is drawn ahead: half a turn
    on each level. At once: half a turn on all levels but one, and one more draw.
    """
    some = counter("k-ary", HORIZON, base=base)
    levels, half = some.nodes_per_item, base // 2
    made = draws_of("k-ary", HORIZON, base=base)
    assert abs(made.sum() - HORIZON) <= levels * half
    assert made.max() <= (levels - 1) * half + 1
    assert made.min() == 0  # a negative digit steps towards 0 by giving up a node


@pytest.mark.parametrize("name", ALL)
def test_without_noise_nothing_is_drawn(name):
    assert not draws_of(name, 200, epsilon=math.inf).any()


# ---- every draw is rounded in one release, and later ones see it rounded; see `privacy.accounting`, counters


ITEMS = 40
ROUNDED_ONCE = [name for name in ALL if not COUNTERS[name].ahead_of_items]


class Nudged(Stream):
    """A stream that adds a number to one of its draws, and counts them."""

    def __init__(self, hot: int, by: float) -> None:
        """Take which, from 0, and the number."""
        super().__init__(np.random.SFC64(5))
        self.hot, self.by, self.drawn = hot, by, 0

    def _moved(self, draw: float) -> float:
        self.drawn += 1
        return draw + (self.by if self.drawn - 1 == self.hot else 0.0)

    def laplace(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return a draw."""
        return self._moved(super().laplace(loc, scale))

    def normal(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return a draw."""
        return self._moved(super().normal(loc, scale))

    def laplaces(self, numbers: np.ndarray, scale: float) -> None:
        """Fill an array with draws, of which the first can be moved."""
        super().laplaces(numbers, scale)
        numbers[0] = self._moved(numbers[0])


def alone(name: str, rng: Nudged) -> tuple[list[float], list[int]]:
    """Return the releases of a counter, and how many draws were made up to each."""
    some = counter(name, ITEMS, 1.0, rng=rng)
    releases, draws = [], []
    for item in np.random.default_rng(3).random(ITEMS).tolist():
        some.insert(item)
        releases.append(some.release())
        draws.append(some._rng.drawn)
    return releases, draws


def together(name: str, rng: Nudged) -> tuple[list[float], list[int]]:
    """Return the same of the first of two coordinates that share a position."""
    some, kind = counter(name, ITEMS, 1.0), COUNTERS[name]
    state, releases, draws, exact = some.new_joint_state(2), [0.0], [], 0.0
    for item in np.random.default_rng(3).random(ITEMS).tolist():
        exact += item
        if kind.joint_noise(state, rng):
            total = to_grid(exact + state.noise[0], some.grid)
            kind.joint_settled(state, 0, total - exact)
            releases.append(total)
        else:
            releases.append(releases[-1])
        draws.append(rng.drawn)
    return releases[1:], draws


@pytest.mark.parametrize("play", [alone, together])
@pytest.mark.parametrize("name", ROUNDED_ONCE)
def test_a_draw_that_is_rounded_to_the_same_number_changes_nothing_later(name, play):
    """Each draw in turn is moved by .3 steps; where the release that it first enters stays, so do all others.

    Unrounded, it would move each later release with chance .3. Of the draws of padded and smooth trees only a release's
    first holds items; the others are the same whatever the items are.
    """
    grid = counter(name, ITEMS, 1.0).grid
    plain, draws = play(name, Nudged(-1, 0.0))
    stayed = 0
    for hot in range(draws[-1]):
        first = next(place for place, number in enumerate(draws) if number > hot)
        if name in ("padded-binary", "smooth-binary") and hot != ([0, *draws])[first]:
            continue
        releases, _ = play(name, Nudged(hot, 0.3 * grid))
        if releases[first] == plain[first]:
            stayed += 1
            assert releases == plain
    assert stayed >= (draws[-1] // 3 if draws[-1] == ITEMS else 1)


# ---- compiled functions


@pytest.mark.parametrize("name", LAPLACE)
@pytest.mark.parametrize("epsilon", [0.7, math.inf])
def test_compiled_noise_equals_the_python_one_bit_for_bit(name, epsilon):
    """Two arms in turns and one stream, so that a draw too many or too few shows in all that follows."""
    some = counter(name, 200, epsilon)
    compiled = Compiled(COUNTERS[name].noise, {})
    states, streams = [some.new_state(2), some.new_state(2)], [np.random.default_rng(11), np.random.default_rng(11)]
    arms = np.random.default_rng(12).permutation(np.repeat([0, 1], 200)).tolist()
    python = [some.noise(states[0], arm, streams[0]) for arm in arms]
    machine = [compiled(states[1], arm, streams[1]) for arm in arms]
    assert machine == python
    assert streams[0].bit_generator.state == streams[1].bit_generator.state
    for one, other in zip(*states, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", LAPLACE)
def test_a_compiled_loop_equals_advance(name):
    """Compiled into a loop that calls it, as the simulator does, `insert` still gives the same noise."""
    some = counter(name, 100)
    at = np.arange(1, 101)
    state, rng = some.new_state(3), np.random.default_rng(13)
    python = [[some.noise(state, arm, rng)[0] for _ in at] for arm in range(3)]
    assert np.array_equal(measured_noise(some, name, at, 3, seed=13).T, python)
