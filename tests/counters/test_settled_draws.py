"""Every draw is rounded in one release, and all later ones see it rounded; see `privacy.accounting`, counters."""

import numpy as np
import pytest

from dp_bandit_envs.draws import Stream
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.laplace import to_grid
from tests.tools.counter_noise import ALL, counter

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
