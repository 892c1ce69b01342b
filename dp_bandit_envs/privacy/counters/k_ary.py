"""The k-ary counter with subtraction: few levels; nodes are added or subtracted, whichever takes fewer."""

import functools
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters.counter import Counter
from dp_bandit_envs.privacy.laplace import draw
from dp_bandit_envs.privacy.node_noise import add, copy, fill
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The state of the tree.

    Attributes:
        digits: Balanced digits of the number of items, `(n_arms, levels)`, each from -half to half.
        upward: At each level, the noise of the last release for which all lower digits were 0, `(n_arms, levels)`.
        ahead: Noise of the nodes subtracted while a digit is negative, nearest last, `(n_arms, levels, half)`.
        scale: The scale of all nodes.
    """

    digits: IntArray
    upward: FloatArray
    ahead: FloatArray
    scale: float


def start(n_arms: int, levels: int, half: int, scale: float) -> State:
    """Return the state of counters for at most ((2 half + 1)^levels - 1) / 2 items."""
    return State(
        np.zeros((n_arms, levels), np.int64), np.zeros((n_arms, levels)), np.zeros((n_arms, levels, half)), scale
    )


def next_noise(state: State, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Add one in balanced digits; a digit that grows drops a subtracted node or gains an added one."""
    digits, upward, ahead = state.digits[arm], state.upward[arm], state.ahead[arm]
    half = ahead.shape[1]
    level = 0
    noise = 0.0
    while digits[level] == half:
        # From half the digit wraps to -half: the block above is counted in full, minus its last nodes.
        digits[level] = -half
        for node in range(half):
            ahead[level, node] = draw(state.scale, rng)
            noise -= ahead[level, node]
        level += 1
    noise += upward[level] + (ahead[level, half + digits[level]] if digits[level] < 0 else draw(state.scale, rng))
    digits[level] += 1
    settle(state, arm, noise)
    return noise, True


def settle(state: State, arm: int, noise: float) -> None:
    """Store the rounded noise of the last release, which later releases use."""
    digits, upward = state.digits[arm], state.upward[arm]
    level = 0
    upward[level] = noise
    while digits[level] == 0:
        level += 1
        upward[level] = noise


class KAryJointState(NamedTuple):
    """The state of all coordinates together: as `State`, with `(..., n_values)` for `(n_arms, ...)`.

    Attributes:
        digits, upward, ahead, scale: As in `State`; digits, `(levels,)`, are those of the number of rounds.
        drawn: The draw of one node, `(n_values,)`.
        noise: The noise of the present releases, `(n_values,)`.
        norm: The norm of own-norm noise.
    """

    digits: IntArray
    upward: FloatArray
    ahead: FloatArray
    drawn: FloatArray
    noise: FloatArray
    scale: float
    norm: int


def insert_all(state: KAryJointState, rng: np.random.Generator) -> bool:
    """Add one to the number of rounds in balanced digits; see `next_noise`."""
    digits, noise, half = state.digits, state.noise, state.ahead.shape[1]
    level = 0
    noise[:] = 0.0
    while digits[level] == half:
        digits[level] = -half
        for digit in range(half):
            node = state.ahead[level, digit]
            fill(node, state.scale, state.norm, rng)
            for i in range(len(noise)):
                noise[i] -= node[i]
        level += 1
    if digits[level] < 0:
        add(noise, noise, state.ahead[level, half + digits[level]])
    else:
        fill(state.drawn, state.scale, state.norm, rng)
        add(noise, noise, state.drawn)
    add(noise, noise, state.upward[level])
    digits[level] += 1
    level = 0
    copy(state.upward[level], noise)
    while digits[level] == 0:
        level += 1
        copy(state.upward[level], noise)
    return True


def settle_all(state: KAryJointState, coordinate: int, noise: float) -> None:
    """Do as `settle`, for one coordinate."""
    level = 0
    state.upward[level, coordinate] = noise
    while state.digits[level] == 0:
        level += 1
        state.upward[level, coordinate] = noise


def levels_for(base: int, horizon: int) -> int:
    """Return the fewest levels h with (base^h - 1) / 2 >= horizon."""
    levels = 1
    while (base**levels - 1) // 2 < horizon:
        levels += 1
    return levels


def balanced_digits(number: int, base: int) -> list[int]:
    """Return the digits of a number from the lowest, each from -(base - 1) / 2 to (base - 1) / 2."""
    digits = []
    while number:
        digit = (number + base // 2) % base - base // 2
        digits.append(digit)
        number = (number - digit) // base
    return digits


class KAryCounter(Counter):
    r"""A tree of odd base k with sums in balanced digits (Count on Your Elders, FORC 2025).

    It has h levels, for the smallest h with :math:`(k^h - 1) / 2 \ge T`. On each level, the digit gives the number of
    nodes that a release adds or subtracts. An item is counted in one node on each level: Laplace scale
    :math:`h / \epsilon`. Nodes may cover future items; the release is still the exact sum plus noise, as the noise does
    not depend on the data.

    Args:
        epsilon: Privacy parameter.
        horizon: Number of items T.
        base: Odd base k, at least 3; by default the base with the smallest mean variance for T.
        more: As in `Counter`: `rng`, `delta` and `values`.
    """

    noise = staticmethod(next_noise)
    settled = staticmethod(settle)
    joint_noise = staticmethod(insert_all)
    joint_settled = staticmethod(settle_all)

    needs_horizon = True
    ahead_of_items = True
    base: int

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        horizon: SupportsIndex | None = None,
        base: SupportsIndex | None = None,
        **more: Any,
    ) -> None:
        self._given = None if base is None else checks.integer("base", base, at_least=3)
        if self._given is not None and self._given % 2 == 0:
            raise ValueError(f"base must be odd; received {base}.")
        super().__init__(epsilon=epsilon, horizon=horizon, **more)

    def new_state(self, n_arms: int) -> State:
        """Return the state of `n_arms` counters before their first items."""
        assert self.horizon is not None
        self.base = self._given or best_base(self.horizon)
        self.nodes_per_item = levels_for(self.base, self.horizon)
        return start(n_arms, self.nodes_per_item, self.base // 2, self.scale_of(self.nodes_per_item))

    def new_joint_state(self, n_values: int, norm: int = 0) -> Any:
        """Return the state of `insert_all` before the first round."""
        levels, half = self.nodes_per_item, self.base // 2
        return KAryJointState(
            np.zeros(levels, np.int64),
            np.zeros((levels, n_values)),
            np.zeros((levels, half, n_values)),
            np.zeros(n_values),
            np.zeros(n_values),
            self.scale_of(levels),
            norm,
        )

    def scales(self, items: int) -> list[tuple[float, int]]:
        """Return the Laplace scales in the release after `items` items, each with its number of terms."""
        nodes = sum(abs(digit) for digit in balanced_digits(items, self.base))
        return [(self.scale_of(self.nodes_per_item), nodes)]

    def _sum_of_variances(self, items: int) -> float:
        return self._variance(1) * balanced_digit_sum(items, self.base)

    def noisiest(self, places: int, ones: int) -> list[tuple[float, int]]:
        """Return the scales of the noisiest release in [2^places, 2^(places + 1)), if all digits were the largest."""
        levels = levels_for(self.base, (2 << places) - 1)
        return [(self.scale_of(self.nodes_per_item), levels * (self.base // 2))]

    def peaks(self, items: int) -> list[int]:
        """Return some numbers of items up to this one; after one of them the variance is largest.

        A smaller number has a smaller digit at some place. The variance is largest if that digit is one less, or the
        smallest digit, and all lower digits are the largest.
        """
        base, numbers = self.base, [items]
        above, power = items, 1
        for digit in balanced_digits(items, base):
            above = (above - digit) // base
            for smaller in {digit - 1, -(base // 2)}:
                if -(base // 2) <= smaller < digit:
                    numbers.append((above * base + smaller) * power + (power - 1) // 2)
            power *= base
        return [number for number in numbers if number > 0]


@functools.lru_cache(maxsize=256)
def best_base(horizon: int) -> int:
    """Return the odd base from 3 to 99 with the smallest mean variance, which is h^2 times the mean sum of |digits|."""
    return min(range(3, 100, 2), key=lambda base: _mean_variance(base, horizon))


def _mean_variance(base: int, horizon: int) -> float:
    levels = levels_for(base, horizon)
    if levels > 12:
        return float("inf")
    t = np.arange(1, horizon + 1) if horizon <= 10**5 else np.linspace(1, horizon, 10**5).astype(np.int64)
    total = np.zeros(len(t))
    for _ in range(levels):
        digit = (t + base // 2) % base - base // 2
        total += np.abs(digit)
        t = (t - digit) // base
    return float(levels**2 * total.mean())


def balanced_digit_sum(items: int, base: int) -> int:
    """Return the sum of the absolute balanced digits of 1, ..., items in an odd base.

    The digit of t at level i is the lowest digit of u, which is t without its lower digits. Each u comes from base^i
    numbers t around u base^i; the last u may come from fewer.
    """
    half, power, total = base // 2, 1, 0
    while (top := (items + (power - 1) // 2) // power) > 0:
        below = (power - 1) // 2
        last = items - (top * power - below) + 1
        total += power * _absolute_digits(top - 1, base) + last * abs((top + half) % base - half)
        power *= base
    return total


def _absolute_digits(top: int, base: int) -> int:
    """Return the sum of the absolute lowest balanced digits of 0, ..., top."""
    half = base // 2
    periods, remainder = divmod(top + 1, base)
    rising = min(remainder, half + 1)
    # One period is 0, 1, ..., half, half, half - 1, ..., 1.
    falling = remainder - rising
    return periods * half * (half + 1) + rising * (rising - 1) // 2 + falling * half - falling * (falling - 1) // 2
