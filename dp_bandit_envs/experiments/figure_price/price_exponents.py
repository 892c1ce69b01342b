"""The exponents of T, dimension and 1 / epsilon in measured regret, beside those of the paper's tables 1 and 2."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.experiments.figure_price.price_games import ARMS, BALL, CUBE, EXPERTS, FULL, PAYOFFS, Game
from dp_bandit_envs.experiments.figure_price.price_numbers import Estimate, exponent, slope_of
from dp_bandit_envs.experiments.figure_price.price_setup import (
    EPSILON,
    EXPONENT_HORIZON,
    EXPONENT_LENGTHS,
    LEVELS,
    MEASURED,
    SWEEP_HORIZON,
    Price,
    label_at,
    last,
    lengths,
    longest,
    sizes_of,
)
from dp_bandit_envs.experiments.verdicts import DECIDES
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Verdict

TOLERANCE = 0.1
"""By how much a measured exponent may exceed the paper's: logarithms and lower orders count at a finite T."""
LOOSE = 0.1
"""The largest standard error of an exponent that decides."""
SMALL = tuple(level for level in LEVELS if level <= EPSILON)
"""The values of epsilon from which the exponent is taken: at larger ones little is left of the price."""


Term = Callable[[float, float, float], float]
"""A term of a bound, as a function of (T, size, epsilon)."""


class Row(NamedTuple):
    """A row of the paper's tables: its bound in words, and its terms.

    Attributes:
        game: The game.
        says: The bound.
        before: The previous best by the same table, logarithms left out.
        terms: The terms of the bound; with full information the second is the price of privacy.
        sized: Whether the paper states how it depends on the size.
    """

    game: Game
    says: str
    before: str
    terms: tuple[Term, ...]
    sized: bool = True


ROWS = (
    Row(
        EXPERTS,
        "sqrt(T ln N) + N ln N ln^2 T / epsilon",
        "sqrt(T ln N) / epsilon",
        (
            lambda t, d, e: math.sqrt(t * math.log(d)),
            lambda t, d, e: d * math.log(d) * math.log(t) ** 2 / e,
        ),
    ),
    Row(
        BALL,
        "sqrt(T) + N ln^2 T / epsilon",
        "sqrt(N T) / epsilon",
        (lambda t, d, e: math.sqrt(t), lambda t, d, e: d * math.log(t) ** 2 / e),
    ),
    Row(
        CUBE,
        "sqrt(N T) + N ln^2 T / epsilon",
        "sqrt(N T) / epsilon",
        (lambda t, d, e: math.sqrt(d * t), lambda t, d, e: d * math.log(t) ** 2 / e),
    ),
    Row(
        PAYOFFS,
        "sqrt(T) / epsilon, logarithms and N left out",
        "T^(2/3) / epsilon",
        (lambda t, d, e: d * math.sqrt(t * math.log(t)) / e,),
        sized=False,
    ),
    Row(
        ARMS,
        "sqrt(T N ln N) / epsilon, logarithms left out",
        "N T^(2/3) / epsilon",
        (lambda t, d, e: math.sqrt(t * d * math.log(d)) / e,),
    ),
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


Exponents = Mapping[Price, Mapping[str, Exponent]]
"""The exponents of `"T"`, the size and `"1 / epsilon"` for each algorithm."""


class Measured(NamedTuple):
    """The exponents of one row.

    Attributes:
        row: The row.
        horizon: The longest games.
        regret: Those of regret, beside the largest of a term of the bound.
        extra: Those of regret beyond that without privacy, beside the second term's; with full information only.
        free: The exponent of T without privacy, beside 1 / 2.
    """

    row: Row
    horizon: int
    regret: Exponents
    extra: Exponents
    free: Exponent

    @property
    def over(self) -> list[str]:
        """The quantities in which the regret of the paper's algorithm clearly exceeds the paper."""
        return [name for name, one in self._deciding.items() if one.over]

    @property
    def unclear(self) -> list[str]:
        """The quantities whose exponent is not known well enough."""
        return [name for name, one in self._deciding.items() if not one.decided]

    @property
    def _deciding(self) -> Mapping[str, Exponent]:
        return next(iter(self.regret.values()))


class Sweep(NamedTuple):
    """Games in which one quantity varies: its values, the (panel, epsilon) of each, and the arguments of terms."""

    values: Sequence[float]
    places: Sequence[tuple[str, float | None]]
    arguments: Sequence[tuple[float, float, float]]


def measured(results: Results, levels: Results, row: Row) -> tuple[Measured, Verdict]:
    """Judge whether regret grows at most like a row of the paper's tables, apart from logarithms.

    Args:
        results: The games for exponents.
        levels: The games over epsilon, for games with full information.
        row: The row.
    """
    game, prices = row.game, MEASURED[row.game]
    sweeps = _sweeps(longest(results), game)
    regret, extra = {}, {}
    for price in prices:
        private = {name: _columns(results, levels, price.private, one) for name, one in sweeps.items()}
        regret[price] = {
            name: _beside(one, private[name], row.terms if name != "1 / epsilon" else row.terms[-1:])
            for name, one in sweeps.items()
        }
        if game in FULL:
            free = {name: _columns(results, levels, price.free, one, free=True) for name, one in sweeps.items()}
            extra[price] = {
                name: _beside(one, private[name] - free[name], row.terms[-1:]) for name, one in sweeps.items()
            }
    over_t = sweeps["T"]
    alone = exponent(over_t.values, _columns(results, levels, prices[0].free, over_t, free=True))
    found = Measured(row, int(over_t.values[-1]), regret, extra, Exponent(alone, 0.5))
    if found.over:
        return found, Verdict.NO
    return found, Verdict.UNDECIDED if found.unclear else Verdict.YES


def _sweeps(horizon: int, game: Game) -> dict[str, Sweep]:
    d, middle = game.dimension, min(horizon, SWEEP_HORIZON)
    horizons = lengths(min(horizon, EXPONENT_HORIZON), EXPONENT_LENGTHS)
    sizes = sizes_of(game)
    level = game.key(middle) if game in FULL else game.key(middle, kind="epsilon")
    return {
        "T": Sweep(
            horizons,
            [(game.key(length, kind="length"), None) for length in horizons],
            [(length, d, EPSILON) for length in horizons],
        ),
        game.size: Sweep(
            sizes,
            [(game.key(middle, size, "size"), None) for size in sizes],
            [(middle, size, EPSILON) for size in sizes],
        ),
        "1 / epsilon": Sweep(
            [1 / each for each in SMALL],
            [(level, each) for each in SMALL],
            [(middle, d, each) for each in SMALL],
        ),
    }


def _beside(sweep: Sweep, regrets: FloatArray, terms: Sequence[Term]) -> Exponent:
    """Return the exponent of regret `(trials, values)` beside the largest of the terms'."""
    paper = max(slope_of(sweep.values, [term(*each) for each in sweep.arguments]) for term in terms)
    return Exponent(exponent(sweep.values, regrets), paper)


def _columns(results: Results, levels: Results, name: str, sweep: Sweep, *, free: bool = False) -> FloatArray:
    """Return an algorithm's regret in each game, shape `(trials, values)`; without privacy epsilon does not matter."""
    columns = []
    for panel, epsilon in sweep.places:
        source = results if f"{panel}/checkpoints" in results.arrays else levels
        label = name if epsilon is None or free else label_at(name, epsilon)
        columns.append(last(source, panel, label))
    return np.stack(columns, axis=1)
