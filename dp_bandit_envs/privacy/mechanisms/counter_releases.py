"""The plain functions of `CounterSums`: sums with the noise of counters of their own, or of a shared position."""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters import Counter
from dp_bandit_envs.privacy.items import to_item
from dp_bandit_envs.privacy.laplace import to_grid
from dp_bandit_envs.privacy.secure_draws import on_grid
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The exact sums, and the counters' state.

    Attributes:
        exact: Sums of the gains so far, `(n_values,)`.
        inserted: Numbers of gains so far, `(n_values,)`.
        counters: The counters' own state, with a position for each arm; of one arm, and not used, if `joint`.
        together: The counter's joint state; of one coordinate, and not used, unless `joint`.
        joint: Whether all coordinates share one position.
        last: The coordinate that used the present position last, `(1,)`.
        fresh: Whether the present position has a new release, `(1,)`.
        grid: The step between sums that can be released; 0 without noise.
    """

    exact: FloatArray
    inserted: IntArray
    counters: Any
    together: Any
    joint: bool
    last: IntArray
    fresh: IntArray
    grid: float


class NoTogether(NamedTuple):
    """The joint state of a counter that has no joint form."""

    noise: FloatArray


def next_noise(state: Any, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Placeholder; replaced by the counter's `noise`."""
    raise NotImplementedError


def insert_all(state: Any, rng: np.random.Generator) -> bool:
    """Placeholder; replaced by the counter's `joint_noise`, if it has one."""
    raise NotImplementedError


def settle(state: Any, arm: int, noise: float) -> None:
    """Placeholder; replaced by the counter's `settled`, if it has one."""


def settle_all(state: Any, place: int, noise: float) -> None:
    """Placeholder; replaced by the counter's `joint_settled`, if it has one."""


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Insert a gain into its arm's counter; release the sum if the counter does."""
    state.exact[arm] += to_item(gain)
    state.inserted[arm] += 1
    return pad(state, arm, rng)


def pad(state: State, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Advance the counter of an arm; if its gain was not revealed, a 0 is inserted and its number of gains stays."""
    noise, fresh = noise_of(state, arm, rng)
    if not fresh:
        return 0.0, 0
    total = to_grid(state.exact[arm] + noise, state.grid)
    settle_noise(state, arm, total - state.exact[arm])
    return total, state.inserted[arm]


def release_exact(state: State, arm: int, gain: float, rng: Any) -> tuple[float, int]:
    """Do what `release` does, with noise that is a whole number of grid steps, and items on the grid."""
    state.exact[arm] += on_grid(gain, state.grid) if state.grid > 0.0 else to_item(gain)
    state.inserted[arm] += 1
    return pad_exact(state, arm, rng)


def pad_exact(state: State, arm: int, rng: Any) -> tuple[float, int]:
    """Do what `pad` does, with noise that is a whole number of grid steps; the sum is exact."""
    steps, fresh = noise_of(state, arm, rng)
    if not fresh:
        return 0.0, 0
    return state.exact[arm] + state.grid * steps, state.inserted[arm]


def noise_of(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Return the noise of an arm's next release; for games of one kind, one of the two functions replaces this one."""
    if state.joint:
        return shared_noise(state, arm, rng)
    return own_noise(state, arm, rng)


def settle_noise(state: State, arm: int, noise: float) -> None:
    """Give the counter the noise of a release after rounding; replaced like `noise_of`."""
    if state.joint:
        settle_shared(state, arm, noise)
    else:
        settle_own(state, arm, noise)


def settle_own(state: State, arm: int, noise: float) -> None:
    """Settle the last release of an arm that has a counter of its own."""
    settle(state.counters, arm, noise)


def settle_shared(state: State, arm: int, noise: float) -> None:
    """Settle a coordinate's release at the position that all coordinates share."""
    settle_all(state.together, arm, noise)


def own_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Return the noise of an arm that has a counter of its own."""
    return next_noise(state.counters, arm, rng)


def shared_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Return a coordinate's noise at the position that all coordinates share; the first one of a round advances it.

    Every driver passes a round's coordinates in ascending order. So a coordinate that is not above the last one begins
    a new round, and then `insert_all` moves to the next position, with noise for all coordinates.

    Why this is private: between two advances the coordinates ascend, so none uses a position twice, and positions only
    grow. A coordinate's releases are therefore those of its own counter, with a 0 at each position that it does not
    use, as when a mechanism below withholds its gain. And all values of one round are at one position, because only
    the first of them can advance it: a changed round moves one vector of values in one node on each level, as the
    guarantee assumes. (If all coordinates of a round are above the last one, it shares the position of the round
    before, whose coordinates are others; no two rounds are changed, so this has no effect on the argument.)
    """
    if arm <= state.last[0]:
        state.fresh[0] = 1 if insert_all(state.together, rng) else 0
    state.last[0] = arm
    return state.together.noise[arm], state.fresh[0] != 0


def settle_object(state: tuple[Counter, Any], arm: int, noise: float) -> None:
    """Settle the last release of a counter whose `noise` is a method."""
    counter, own = state
    if counter.settled is not None:
        counter.settled(own, arm, noise)


def noise_of_object(state: tuple[Counter, Any], arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Return the next noise of a counter whose `noise` is a method."""
    counter, own = state
    noise, fresh = counter.noise(own, arm, rng)
    return float(noise), bool(fresh)
