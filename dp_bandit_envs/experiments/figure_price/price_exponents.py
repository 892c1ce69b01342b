"""The exponents of T, dimension and 1 / epsilon in measured regret, beside those of the paper's tables 1 and 2."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.experiments.claim import Verdict
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.figure_price.price_games import ARMS, BALL, CUBE, EXPERTS, FULL, PAYOFFS, Game
from dp_bandit_envs.experiments.figure_price.price_numbers import Estimate, exponent, slope_of
from dp_bandit_envs.experiments.figure_price.price_setup import (
    BANDIT_SIZES,
    EPSILON,
    EXPONENT_HORIZON,
    EXPONENT_LENGTHS,
    FULL_SIZES,
    LEVELS,
    MEASURED,
    SWEEP_HORIZON,
    Price,
    label_at,
    last,
    lengths,
    longest,
)
from dp_bandit_envs.experiments.verdicts import DECIDES
from dp_bandit_envs.protocols import FloatArray

TOLERANCE = 0.1
"""By how much a measured exponent may exceed the paper's: logarithms and lower orders count at a finite T."""
LOOSE = 0.1
"""The largest standard error of an exponent that decides."""
SMALL = tuple(level for level in LEVELS if level <= EPSILON)
"""The values of epsilon from which the exponent is taken: at larger ones little is left of the price."""


class Row(NamedTuple):
    """A row of the paper's tables: its bound in words, and as a function of (T, size, epsilon).

    Attributes:
        game: The game.
        says: The bound.
        term: With full information its term with epsilon, which bounds the extra regret; with bandits all of it.
        sized: Whether the paper states how it depends on the size.
    """

    game: Game
    says: str
    term: Callable[[float, float, float], float]
    sized: bool = True


ROWS = (
    Row(EXPERTS, "sqrt(T ln N) + N ln N ln^2 T / epsilon", lambda t, d, e: d * math.log(d) * math.log(t) ** 2 / e),
    Row(BALL, "sqrt(T) + N ln^2 T / epsilon", lambda t, d, e: d * math.log(t) ** 2 / e),
    Row(CUBE, "sqrt(N T) + N ln^2 T / epsilon", lambda t, d, e: d * math.log(t) ** 2 / e),
    Row(
        PAYOFFS,
        "sqrt(T) / epsilon, logarithms and N left out",
        lambda t, d, e: d * math.sqrt(t * math.log(t)) / e,
        False,
    ),
    Row(ARMS, "sqrt(T N ln N) / epsilon, logarithms left out", lambda t, d, e: math.sqrt(t * d * math.log(d)) / e),
)
"""Tables 1 and 2. For linear bandits the size's exponent is that of theorem 4.5 with noise on the payoff."""


class Exponent(NamedTuple):
    """A measured exponent beside the paper's, fitted to its formula at the same sizes."""

    measured: Estimate
    paper: float

    @property
    def over(self) -> bool:
        """Whether it is clearly larger than the paper's."""
        return self.measured.value - DECIDES * self.measured.error > self.paper + TOLERANCE

    @property
    def decided(self) -> bool:
        """Whether its standard error is small enough."""
        return self.measured.known and self.measured.error <= LOOSE


class Measured(NamedTuple):
    """The exponents of one row.

    Attributes:
        row: The row.
        horizon: The longest games.
        prices: For each algorithm the exponents of `"T"`, the size and `"1 / epsilon"`.
        free: The exponent of T without privacy, beside 1 / 2.
    """

    row: Row
    horizon: int
    prices: Mapping[Price, Mapping[str, Exponent]]
    free: Exponent

    @property
    def over(self) -> list[str]:
        """The quantities in which the paper's algorithm clearly exceeds the paper."""
        return [name for name, one in self._deciding.items() if one.over]

    @property
    def unclear(self) -> list[str]:
        """The quantities whose exponent is not known well enough."""
        return [name for name, one in self._deciding.items() if not one.decided]

    @property
    def _deciding(self) -> Mapping[str, Exponent]:
        return next(iter(self.prices.values()))


def measured(results: Results, levels: Results, row: Row) -> tuple[Measured, Verdict]:
    """Judge whether regret grows at most like a row of the paper's tables, apart from logarithms.

    Args:
        results: The games for exponents.
        levels: The games over epsilon.
        row: The row.
    """
    game = row.game
    horizons = lengths(min(longest(results), EXPONENT_HORIZON), EXPONENT_LENGTHS)
    found = {price: _exponents(results, levels, row, price, horizons) for price in MEASURED[game]}
    free = MEASURED[game][0].free
    alone = _columns(results, [(game.key(length, kind="length"), free) for length in horizons])
    made = Measured(row, horizons[-1], found, Exponent(exponent(horizons, alone), 0.5))
    if made.over:
        return made, Verdict.NO
    return made, Verdict.UNDECIDED if made.unclear else Verdict.YES


def _exponents(
    results: Results, levels: Results, row: Row, price: Price, horizons: Sequence[int]
) -> dict[str, Exponent]:
    game, term = row.game, row.term
    sizes = FULL_SIZES if game in FULL else BANDIT_SIZES
    middle = min(longest(results), SWEEP_HORIZON)
    over_t = [game.key(length, kind="length") for length in horizons]
    over_size = [game.key(middle, size, "size") for size in sizes]
    return {
        "T": Exponent(
            exponent(horizons, _cost(results, price, over_t)),
            slope_of(horizons, [term(t, game.dimension, EPSILON) for t in horizons]),
        ),
        game.size: Exponent(
            exponent(sizes, _cost(results, price, over_size)),
            slope_of(sizes, [term(middle, size, EPSILON) for size in sizes]),
        ),
        "1 / epsilon": Exponent(exponent([1 / level for level in SMALL], _over_epsilon(results, levels, price)), 1.0),
    }


def _cost(results: Results, price: Price, panels: Sequence[str]) -> FloatArray:
    """Return extra regret for full information, regret for bandits, shape `(trials, panels)`."""
    private = _columns(results, [(panel, price.private) for panel in panels])
    if price.game not in FULL:
        return private
    return private - _columns(results, [(panel, price.free) for panel in panels])


def _over_epsilon(results: Results, levels: Results, price: Price) -> FloatArray:
    """Return the same at each small epsilon, shape `(trials, levels)`."""
    game = price.game
    names = [label_at(price.private, level) for level in SMALL]
    if game not in FULL:
        panel = game.key(min(longest(results), SWEEP_HORIZON), kind="epsilon")
        return _columns(results, [(panel, name) for name in names])
    panel = game.key(longest(levels))
    private = _columns(levels, [(panel, name) for name in names])
    return private - last(levels, panel, price.free)[:, None]


def _columns(results: Results, places: Sequence[tuple[str, str]]) -> FloatArray:
    return np.stack([last(results, panel, name) for panel, name in places], axis=1)
