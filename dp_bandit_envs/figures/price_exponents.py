"""The exponents of T, dimension and 1 / epsilon in measured regret, beside those of the paper's tables 1 and 2."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.figures.judging import (
    DECIDES,
    NO,
    UNDECIDED,
    YES,
    Claims,
    Estimate,
    Found,
    exponent,
    joined,
    slope_of,
)
from dp_bandit_envs.figures.price_games import (
    ARMS,
    BALL,
    CUBE,
    EPSILON,
    EXPERTS,
    EXPONENT_HORIZON,
    EXPONENT_LENGTHS,
    FULL,
    LEVELS,
    MEASURED,
    PAYOFFS,
    SWEEP_HORIZON,
    Game,
    Price,
    in_powers,
    label_at,
    last,
    lengths,
    longest,
    sizes_of,
)
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import Results

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

    def __str__(self) -> str:
        return str(self.measured) if math.isnan(self.paper) else f"{self.measured} ({self.paper:.2f})"

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
        horizon: The longest games.
        regret: Those of regret, beside the largest of a term of the bound.
        extra: Those of regret beyond that without privacy, beside the second term's; with full information only.
        free: The exponent of T without privacy, beside 1 / 2.
    """

    horizon: int
    regret: Exponents
    extra: Exponents
    free: Exponent


class Place(NamedTuple):
    """A game of a sweep: the varying value, its panel, its epsilon if that varies, and the arguments of terms."""

    value: float
    panel: str
    epsilon: float | None
    arguments: tuple[float, float, float]


def _sweeps(horizon: int, game: Game) -> dict[str, list[Place]]:
    """Return the games in which T, the size and epsilon vary."""
    d, middle = game.dimension, min(horizon, SWEEP_HORIZON)
    horizons = lengths(min(horizon, EXPONENT_HORIZON), EXPONENT_LENGTHS)
    levels = game.key(middle) if game in FULL else game.key(middle, kind="epsilon")
    return {
        "T": [Place(length, game.key(length, kind="length"), None, (length, d, EPSILON)) for length in horizons],
        game.size: [
            Place(size, game.key(middle, size, "size"), None, (middle, size, EPSILON)) for size in sizes_of(game)
        ],
        "1 / epsilon": [Place(1 / each, levels, each, (middle, d, each)) for each in SMALL],
    }


def _columns(results: Results, levels: Results, name: str, sweep: Sequence[Place], *, free: bool = False) -> FloatArray:
    """Return an algorithm's regret in each game, shape `(trials, values)`; without privacy epsilon does not matter."""
    columns = []
    for place in sweep:
        source = results if f"{place.panel}/checkpoints" in results.arrays else levels
        label = name if place.epsilon is None or free else label_at(name, place.epsilon)
        columns.append(last(source, place.panel, label))
    return np.stack(columns, axis=1)


def _beside(sweep: Sequence[Place], regrets: FloatArray, terms: Sequence[Term]) -> Exponent:
    """Return the exponent of regret `(trials, values)` beside the largest of the terms'."""
    values = [place.value for place in sweep]
    paper = max(slope_of(values, [term(*place.arguments) for place in sweep]) for term in terms)
    return Exponent(exponent(values, regrets), paper)


def measured(results: Results, levels: Results, row: Row) -> Measured:
    """Return how regret grows in the games of a row of the paper's tables.

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
    horizons = [place.value for place in over_t]
    alone = exponent(horizons, _columns(results, levels, prices[0].free, over_t, free=True))
    return Measured(int(horizons[-1]), regret, extra, Exponent(alone, 0.5))


def _row(results: Results, levels: Results, row: Row) -> Found:
    """Judge whether regret grows at most like a row of the paper's tables, apart from logarithms."""
    found = measured(results, levels, row)
    deciding = next(iter(found.regret.values()))
    over = [name for name, one in deciding.items() if one.over]
    unclear = [name for name, one in deciding.items() if not one.decided]
    parts = [
        f"{price.private}{what}: {', '.join(f'{name} {one}' for name, one in each.items())}"
        for what, prices in (("", found.regret), (", extra regret", found.extra))
        for price, each in prices.items()
    ]
    theorem = "; for d, which table 2 hides, the paper's is that of theorem 4.5 with noise on the payoff"
    return Found(
        NO if over else UNDECIDED if unclear else YES,
        found,
        f"exponents, measured (the paper's): {'; '.join(parts)}; of T without privacy: {found.free}"
        + ("" if row.sized else theorem),
        yes=f"none is clearly larger than the paper's by more than {TOLERANCE:g}",
        no=f"larger in {joined(over)}, in games of up to {in_powers(found.horizon)} rounds",
        unknown=f": not known well enough in {joined(unclear)}",
    )


table_claims = Claims()
for _each in ROWS:
    table_claims(
        f"Table {'1' if _each.game in FULL else '2'}, {_each.game.name}: regret at most of order {_each.says}"
        f" (the previous best: {_each.before}).",
        of=(2, 1),
    )(functools.partial(_row, row=_each))
