"""The statistics for figure-modern's claims on the lower bound and the price of privacy, and their verdicts."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.experiments.figure_modern.modern_numbers import end, last, start
from dp_bandit_envs.experiments.figure_modern.modern_setup import (
    EPSILON,
    GAMES,
    OPTIMAL,
    PRIVATE,
    REFERENCE,
    SWEEP,
    VIEW,
    Means,
    key,
    sweep_of,
)
from dp_bandit_envs.experiments.verdicts import DECIDES, all_ahead, over_error, paired, ratio
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Verdict
from dp_bandit_envs.theory.lower_bounds import lai_robbins, private_lower_bound

TOLD = ("DP-SE",)
"""Algorithms that know the horizon."""
NEARLY = 2.0
"""The factor that doubling blocks can cost; differences within it do not count."""
CLOSE = 0.25
"""The largest deviation of an exponent from -1, and its largest standard error, for it to count as -1."""


class Played(NamedTuple):
    """An algorithm in a game."""

    algorithm: str
    game: str


class Estimate(NamedTuple):
    """A number with its standard error; both are NaN if the game is too short."""

    value: float
    error: float


class Slopes(NamedTuple):
    """Slopes of regret in ln t over the last two powers of ten, as multiples of the lower bound's slope."""

    slopes: Mapping[Played, Estimate]
    horizon: int

    @property
    def below(self) -> dict[Played, Estimate]:
        """Those clearly below the lower bound's."""
        return {name: one for name, one in self.slopes.items() if one.value + DECIDES * one.error < 1}

    @property
    def over(self) -> list[Played]:
        """Those clearly above the lower bound's by more than blocks can cost."""
        return [name for name, one in self.slopes.items() if one.value - DECIDES * one.error > NEARLY]

    @property
    def known(self) -> bool:
        """Whether every slope has a standard error."""
        return not any(math.isnan(one.error) for one in self.slopes.values())


class LargeEpsilon(NamedTuple):
    """Regret at the largest epsilon compared with that without privacy.

    Attributes:
        epsilon: The largest.
        horizon: The number of rounds.
        ratios: Of mean regrets.
        errors: By how many standard errors regret is less than `NEARLY` times that without privacy.
        bounds: Ratio of the lower bounds, by game.
    """

    epsilon: float
    horizon: int
    ratios: Mapping[Played, float]
    errors: Mapping[Played, float]
    bounds: Mapping[str, float]


class SmallEpsilon(NamedTuple):
    """Exponents of epsilon between its two smallest values."""

    low: float
    high: float
    horizon: int
    exponents: Mapping[Played, Estimate]

    @property
    def loose(self) -> list[Played]:
        """Those whose standard error is too large for a verdict."""
        return [name for name, one in self.exponents.items() if not one.error <= CLOSE]


def above_the_lower_bound(results: Results) -> tuple[Slopes, Verdict]:
    """Judge whether any regret grows more slowly than its lower bound."""
    found = _slopes(results, (*PRIVATE, REFERENCE))
    if found.below:
        return found, Verdict.NO
    return found, Verdict.YES if found.known else Verdict.UNDECIDED


def reaches_the_lower_bound(results: Results) -> tuple[Slopes, Verdict]:
    """Judge whether the two best match the lower bound."""
    found = _slopes(results, OPTIMAL)
    if found.over:
        return found, Verdict.NO
    return found, Verdict.YES if found.known else Verdict.UNDECIDED


def free_at_large_epsilon(results: Results) -> tuple[LargeEpsilon, Verdict]:
    """Judge whether privacy is nearly free at the largest epsilon."""
    ratios, errors = {}, {}
    for game in GAMES:
        reference = last(results, key(game, None), REFERENCE)
        for name in OPTIMAL:
            regret = last(results, key(game, SWEEP[-1]), name)
            ratios[Played(name, game.name)] = ratio(regret.mean(), reference.mean())
            errors[Played(name, game.name)] = over_error(paired(NEARLY * reference, regret))
    bounds = {game.name: private_lower_bound(game.means, 10, SWEEP[-1]) / lai_robbins(game.means, 10) for game in GAMES}
    return LargeEpsilon(SWEEP[-1], end(results), ratios, errors, bounds), all_ahead(errors.values())


def inverse_at_small_epsilon(results: Results) -> tuple[SmallEpsilon, Verdict]:
    """Judge whether regret is proportional to 1 / epsilon at small epsilon."""
    low, high = SWEEP[:2]
    exponents = {
        Played(name, game.name): _exponent(sweep_of(results, game, name)[:, :2], math.log(high / low))
        for game in GAMES
        for name in OPTIMAL
    }
    found = SmallEpsilon(low, high, end(results), exponents)
    if any(abs(one.value + 1) > CLOSE + DECIDES * one.error for one in exponents.values()):
        return found, Verdict.NO
    return found, Verdict.UNDECIDED if found.loose else Verdict.YES


def _slopes(results: Results, names: tuple[str, ...]) -> Slopes:
    found = {Played(name, game.name): _slope(results, game, name) for game in GAMES for name in names}
    return Slopes(found, end(results))


def _slope(results: Results, game: Means, name: str) -> Estimate:
    """Return the slope of regret in ln t over the last two powers of ten, divided by the lower bound's."""
    panel = key(game, EPSILON)
    rounds = results.rounds(panel)
    begin = start(results, panel)
    if rounds[begin] == rounds[-1]:
        return Estimate(math.nan, math.nan)
    free = name == REFERENCE
    # The bound is linear in ln T, so at T = 10 it is ln 10 times its slope.
    bound = lai_robbins(game.means, 10) if free else private_lower_bound(game.means, 10, EPSILON)
    regret = results.regret(panel, name, VIEW.measure)
    if name in TOLD:
        slopes = regret[:, -1] / math.log(rounds[-1])
    else:
        slopes = (regret[:, -1] - regret[:, begin]) / math.log(rounds[-1] / rounds[begin])
    mean, error = mean_and_standard_error(slopes * math.log(10) / bound)
    return Estimate(float(mean), float(error))


def _exponent(regrets: FloatArray, span: float) -> Estimate:
    """Return the slope of ln E[regret] between two levels, with a standard error by the delta method.

    Args:
        regrets: Shape `(trials, 2)`.
        span: The difference of the levels' logarithms.
    """
    means: FloatArray = regrets.mean(axis=0)
    if not np.all(means > 0):
        return Estimate(math.nan, math.nan)
    relative = regrets / means
    _, error = mean_and_standard_error(relative[:, 1] - relative[:, 0])
    return Estimate(float(np.log(means[1] / means[0]) / span), float(error / span))
