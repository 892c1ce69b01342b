"""From which horizon on privacy is free, or nearly so, and where it costs a constant factor; and the verdicts."""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.experiments.figure_price.price_games import BALL
from dp_bandit_envs.experiments.figure_price.price_numbers import (
    UNKNOWN,
    Estimate,
    over_horizon,
    slope_of,
    slope_weights,
)
from dp_bandit_envs.experiments.figure_price.price_setup import (
    EPSILON,
    LENGTHS,
    PAPER,
    PERTURBED,
    Price,
    last,
    lengths,
    longest,
)
from dp_bandit_envs.experiments.verdicts import DECIDES
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Verdict

NEARLY = 1.5
"""The ratio of regrets below which privacy counts as nearly free."""
FLAT = 0.05
"""The largest exponent of T, up or down, that counts as constant."""
LOOSE = 0.05
"""The largest standard error of an exponent that decides."""
LARGEST_POWER = 40
"""The power of 2 up to which bounds are computed."""
LARGEST_EXACT = 20
"""The power of 2 up to which FTPL's noise is computed."""


class NearlyFree(NamedTuple):
    """Ratios of regrets at each horizon, by game; and where the bounds come near each other, None where none is known.

    Attributes:
        ratios: By price and horizon.
        by_bound: For each price the power of 2 from which on the bound is below `NEARLY` times that without noise.
    """

    ratios: Mapping[Price, Mapping[int, Estimate]]
    by_bound: Mapping[Price, int | None]

    @property
    def horizon(self) -> int:
        """The longest horizon."""
        return max(max(each) for each in self.ratios.values())

    @property
    def ends(self) -> dict[Price, Estimate]:
        """The ratios at the longest horizon."""
        return {price: each[max(each)] for price, each in self.ratios.items()}

    @property
    def first(self) -> dict[Price, int | None]:
        """The first horizon from which on the ratio is clearly below `NEARLY`; None if there is none."""
        found: dict[Price, int | None] = {}
        for price, each in self.ratios.items():
            late: int | None = None
            for length in sorted(each, reverse=True):
                if not each[length].value + DECIDES * each[length].error < NEARLY:
                    break
                late = length
            found[price] = late
        return found


class ConstantFactor(NamedTuple):
    """The exponent of T in the ratio of regrets, and the ratio in the longest games, by price."""

    exponents: Mapping[Price, Estimate]
    ends: Mapping[Price, Estimate]
    horizon: int

    @property
    def growing(self) -> list[Price]:
        """The prices that clearly grow with T."""
        return [price for price, one in self.exponents.items() if one.value - DECIDES * one.error > FLAT]

    @property
    def falling(self) -> list[Price]:
        """The prices that clearly fall with T."""
        return [price for price, one in self.exponents.items() if one.value + DECIDES * one.error < -FLAT]


class ExactlyFree(NamedTuple):
    """The first power of 2 at which FTPL needs no more noise for privacy than for regret, by dimension."""

    horizons: Mapping[int, int | None]
    horizon: int


def nearly_free(results: Results, prices: Sequence[Price]) -> tuple[NearlyFree, Verdict]:
    """Judge whether regret at the longest horizon is within `NEARLY` times that without privacy."""
    ratios = {price: over_horizon(results, price) for price in prices}
    found = NearlyFree(ratios, {price: _by_bound(price) for price in prices if price.private == PAPER})
    ends = found.ends.values()
    if any(one.value - DECIDES * one.error > NEARLY for one in ends):
        return found, Verdict.NO
    clear = all(one.value + DECIDES * one.error < NEARLY for one in ends)
    return found, Verdict.YES if clear else Verdict.UNDECIDED


def constant_factor(results: Results, prices: Sequence[Price]) -> tuple[ConstantFactor, Verdict]:
    """Judge whether the ratio of regrets stays above 1 and does not change with T."""
    exponents = {price: _exponent_of_ratio(results, price) for price in prices}
    ratios = {price: over_horizon(results, price) for price in prices}
    ends = {price: each[max(each)] for price, each in ratios.items()}
    found = ConstantFactor(exponents, ends, longest(results))
    if found.growing or found.falling:
        return found, Verdict.NO
    if any(one.value + DECIDES * one.error < 1 for one in ends.values()):
        return found, Verdict.NO
    dearer = all(one.value - DECIDES * one.error > 1 for one in ends.values())
    narrow = all(one.error <= LOOSE for one in exponents.values())
    return found, Verdict.YES if dearer and narrow else Verdict.UNDECIDED


def exactly_free(results: Results, dimensions: Sequence[int]) -> tuple[ExactlyFree, Verdict]:
    """Judge whether FTPL on the ball is the same algorithm with and without privacy within the longest games."""
    found = ExactlyFree({dimension: _first_exactly_free(dimension) for dimension in dimensions}, longest(results))
    usual = found.horizons[BALL.dimension]
    return found, Verdict.YES if usual is not None and usual <= found.horizon else Verdict.NO


def is_exactly_free(dimension: int, horizon: int) -> bool:
    """Return whether FTPL at epsilon = 1 puts the same wrapper around the ball as FTPL without privacy."""
    game = BALL.make(horizon, dimension)
    wrapped = [make_algorithm(PERTURBED, epsilon=epsilon).wrap(game) for epsilon in (EPSILON, math.inf)]
    private, free = (one.get_wrapper_attr("mechanism").epsilon for one in wrapped)
    return bool(private == free)


@functools.lru_cache
def _first_exactly_free(dimension: int) -> int | None:
    powers = (2**power for power in range(LARGEST_EXACT + 1))
    return next((horizon for horizon in powers if is_exactly_free(dimension, horizon)), None)


@functools.lru_cache
def _by_bound(price: Price) -> int | None:
    """Return the first power of 2 at which the noise makes the bound less than `NEARLY` times as large."""
    for power in range(10, LARGEST_POWER + 1):
        env = price.game.make(2**power)
        private, free = (make_algorithm(PAPER, epsilon=one).regret_bound_in(env) for one in (EPSILON, math.inf))
        if private < NEARLY * free:
            return power
    return None


def _exponent_of_ratio(results: Results, price: Price) -> Estimate:
    horizons = lengths(longest(results), LENGTHS)
    private, free = (_columns(results, price, name, horizons) for name in (price.private, price.free))
    if len(horizons) < 2 or not (np.all(private.mean(axis=0) > 0) and np.all(free.mean(axis=0) > 0)):
        return UNKNOWN
    difference = private / private.mean(axis=0) - free / free.mean(axis=0)
    _, error = mean_and_standard_error(difference @ slope_weights(horizons))
    return Estimate(slope_of(horizons, private.mean(axis=0) / free.mean(axis=0)), float(error))


def _columns(results: Results, price: Price, name: str, horizons: Sequence[int]) -> FloatArray:
    return np.stack([last(results, price.game.key(length), name) for length in horizons], axis=1)
