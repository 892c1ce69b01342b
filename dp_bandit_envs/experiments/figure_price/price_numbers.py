"""Ratios of mean regrets and exponents, each with a standard error over games that share their gains."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.experiments.figure_price.price_setup import LENGTHS, Price, last, lengths, longest
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import Results


class Estimate(NamedTuple):
    """A number with its standard error; NaN where the games do not determine it."""

    value: float
    error: float

    def __str__(self) -> str:
        if not self.known:
            return "unknown" if math.isnan(self.value) else f"{self.value:.2f}"
        return f"{self.value:.2f} ± {self.error:.2f}"

    @property
    def known(self) -> bool:
        """Whether there is a standard error."""
        return not math.isnan(self.error)


UNKNOWN = Estimate(math.nan, math.nan)


def ratio_of_means(private: FloatArray, free: FloatArray) -> Estimate:
    r"""Return the ratio of mean regrets, paired by game, with its standard error by the delta method.

    The ratio r of means is, to first order, off by the mean of :math:`(p_j - r f_j) / \bar f` over games j.

    Args:
        private: Regret p of each game, shape `(trials,)`.
        free: Regret f without privacy on the same gains, shape `(trials,)`.
    """
    middle = float(free.mean())
    if not middle > 0:
        return UNKNOWN
    value = float(private.mean()) / middle
    _, error = mean_and_standard_error((private - value * free) / middle)
    return Estimate(value, float(error))


def exponent(sizes: Sequence[float], regrets: FloatArray) -> Estimate:
    r"""Return the least-squares slope of ln E[regret] in ln(size), with its standard error by the delta method.

    Games of one row share their seed, so a row's regrets are not independent; the error is over rows.

    Args:
        sizes: The values of T, d or epsilon, shape `(sizes,)`.
        regrets: Shape `(trials, sizes)`.
    """
    means: FloatArray = regrets.mean(axis=0)
    if len(sizes) < 2 or not np.all(means > 0):
        return UNKNOWN
    weights = slope_weights(sizes)
    _, error = mean_and_standard_error((regrets / means) @ weights)
    return Estimate(float(np.log(means) @ weights), float(error))


def slope_weights(sizes: Sequence[float]) -> FloatArray:
    """Return the weights that give the least-squares slope in ln(size), shape `(sizes,)`."""
    places = np.log(np.asarray(sizes, dtype=float))
    centred = places - places.mean()
    weights: FloatArray = centred / (centred @ centred)
    return weights


def slope_of(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of a formula's logarithm, fitted as `exponent` fits regrets."""
    logarithms = np.log(np.maximum(values, 1e-300))
    return float(logarithms @ slope_weights(sizes)) if len(sizes) > 1 else math.nan


def over_horizon(results: Results, price: Price) -> dict[int, Estimate]:
    """Return the ratio of regrets at each horizon."""
    found = {}
    for length in lengths(longest(results), LENGTHS):
        panel = price.game.key(length)
        found[length] = ratio_of_means(last(results, panel, price.private), last(results, panel, price.free))
    return found
