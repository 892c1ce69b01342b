"""The logarithmic counter: it releases at powers of two only, for any number of items."""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.counters.counter import Counter
from dp_bandit_envs.privacy.counters.digits import octaves
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import add, fill
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """Items so far and the noise of the last release, each `(n_arms,)`, and the scale of all draws."""

    items: IntArray
    noise: FloatArray
    scale: float


def start(n_arms: int, scale: float) -> State:
    """Return the state of counters for any number of items."""
    return State(np.zeros(n_arms, np.int64), np.zeros(n_arms), scale)


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """At a power of two, add one draw to the noise and release; otherwise do not release."""
    state.items[arm] += 1
    t = state.items[arm]
    if t & (t - 1) != 0:
        return state.noise[arm], False
    state.noise[arm] += draw(state.scale, rng)
    return state.noise[arm], True


def settle(state: State, arm: int, noise: float) -> None:
    """Let the last draw take what rounding the release changed."""
    state.noise[arm] = noise


class Joint(NamedTuple):
    """The state of all coordinates together.

    Attributes:
        items: Rounds so far, `(1,)`.
        own: One draw, `(n_values,)`.
        noise: The noise of the last releases, `(n_values,)`.
        scale: The scale of all draws.
        norm: The norm of own-norm noise.
    """

    items: IntArray
    own: FloatArray
    noise: FloatArray
    scale: float
    norm: int


def insert_all(state: Joint, rng: np.random.Generator) -> bool:
    """At a power of two, add one draw to the noise of each coordinate and release; otherwise do not release."""
    state.items[0] += 1
    t = state.items[0]
    if t & (t - 1) != 0:
        return False
    fill(state.own, state.scale, state.norm, rng)
    add(state.noise, state.noise, state.own)
    return True


def settle_all(state: Joint, place: int, noise: float) -> None:
    """Do what `settle` does, for one coordinate."""
    state.noise[place] = noise


class LogarithmicCounter(Counter):
    """The logarithmic mechanism of Chan, Shi and Song (2011): each item is counted in one draw of scale 1 / epsilon.

    The release after 2^k items contains the k + 1 draws made so far; in between there is no release.
    """

    noise = staticmethod(next_noise)
    settled = staticmethod(settle)
    joint_noise = staticmethod(insert_all)
    joint_settled = staticmethod(settle_all)

    nodes_per_item = 1
    after_every_item = False

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        return start(n_arms, self.scale_of(1))

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        return Joint(np.zeros(1, np.int64), np.zeros(n_values), np.zeros(n_values), self.scale_of(1), norm)

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the last release up to `items` items, each with its number of terms."""
        return [(self.scale_of(1), items.bit_length())]

    def _sum_of_variances(self, items: int) -> float:
        return self._variance(1) * sum((place + 1) * numbers for place, numbers, _ in octaves(items))
