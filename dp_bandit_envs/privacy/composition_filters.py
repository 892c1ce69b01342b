r"""The composition filters of a ledger: they admit a charge by the sums of all charges including it.

Games, algorithms and parameters may be chosen adaptively from earlier releases; only the budget is fixed. A charge is
one game, or all games of a `simulate`. It is admitted if one of these filters holds:

1. **pure**: the epsilons add up to at most the budget's, and the deltas (own ones, and (1 + e^epsilon) times the draw
   distance of fast draws) to at most d;
2. **Renyi**, at one order and one epsilon' up to the budget's, both fixed by the first charge. The divergences of that
  order give epsilon' at c, and (1 + e^epsilon') times the sum of all draw distances is at most d.

delta = d + c + d, so both together are (epsilon, delta)-DP. If neither filter admits the first charge, but its own
epsilon at delta is within the budget, it is admitted and closes the ledger. For the proof, and why the minimum over
several orders is not a valid filter, see docs/notes/accounting.md.
"""

import decimal
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, NamedTuple

from dp_bandit_envs.privacy.accounting import FAR, ORDERS, ROUNDING, added_delta
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, Unit

SHARE: Final = 100
"""d is this part of delta."""
EXACTLY: Final = decimal.Context(prec=60, rounding=decimal.ROUND_CEILING, Emin=-99999, Emax=99999, traps=[])


class Cost(NamedTuple):
    """The cost of one game, whatever was played before.

    Attributes:
        epsilon: In [0, inf].
        delta: The delta at `epsilon`, including the part of the draws, in [0, 1).
        draw_distance: Distance of the draws from exact noise, in [0, 1].
        curve: Its Renyi divergences with exact noise, at `ORDERS`.
    """

    epsilon: float
    delta: float
    draw_distance: float
    curve: tuple[float, ...]

    def covers(self, other: "Cost") -> bool:
        """Return whether this cost covers another: no number of the other is larger."""
        pairs = zip((*self[:3], *self.curve), (*other[:3], *other.curve), strict=True)
        return all(ours >= theirs for ours, theirs in pairs)


class Total(NamedTuple):
    """The total cost of games: sums of their numbers, added as the decimals they are written as."""

    games: int
    epsilon: Decimal
    delta: Decimal
    draw_distance: Decimal
    curve: tuple[float, ...]


class CompositionFilters(NamedTuple):
    """Choices fixed by the first charge.

    Attributes:
        order: The index in `ORDERS` of the divergences to add up; None if no order admits a game.
        epsilon: The largest epsilon that they may give.
        closed: Whether that charge was admitted by its own epsilon, so that no other may follow.
    """

    order: int | None
    epsilon: float
    closed: bool = False


class Budget(NamedTuple):
    """A privacy budget.

    Attributes:
        epsilon: In (0, inf).
        delta: In [0, 1).
        unit: Unit of privacy: `"record"` or `"person"`.
        own_delta: The part of delta that is kept for games with a delta of their own.
    """

    epsilon: float
    delta: float
    unit: Unit = "record"
    own_delta: float = 0.0

    @property
    def for_sums(self) -> float:
        """The delta of the pure filter."""
        return self.own_delta + self.delta / SHARE

    @property
    def for_draws(self) -> float:
        """The most that draws may add to delta in the Renyi filter."""
        return self.delta / SHARE

    @property
    def for_curve(self) -> float:
        """The delta used by the Renyi filter to convert a divergence to an epsilon."""
        return self.delta - self.for_sums - self.for_draws

    def __str__(self) -> str:
        for_pairs = f", of which {self.own_delta:.3g} for deltas of games" if self.own_delta else ""
        return f"epsilon = {self.epsilon:g}, delta = {self.delta:.3g}{for_pairs}, for a {self.unit}"


def pure_filter(budget: Budget, total: Total) -> float:
    """Return the epsilon of games by the pure filter; inf if their deltas are too large."""
    return upper_float(total.epsilon) if total.delta <= written(budget.for_sums) else math.inf


def renyi_filter(budget: Budget, total: Total, filters: CompositionFilters | None) -> float:
    """Return the epsilon of games by the Renyi filter; inf if it is too large or the draws add too much delta."""
    if filters is None or filters.order is None:
        return math.inf
    if delta_of_draws(total, filters.epsilon) > budget.for_draws:
        return math.inf
    epsilon = max(0.0, total.curve[filters.order] + conversion_cost(budget, filters.order))
    return epsilon if epsilon <= filters.epsilon else math.inf


def least_epsilon(budget: Budget, total: Total, filters: CompositionFilters | None) -> float:
    """Return the smaller epsilon of the two filters; inf if both refuse."""
    return min(pure_filter(budget, total), renyi_filter(budget, total, filters))


def delta_of_draws(total: Total, epsilon: float) -> float:
    """Return the delta that the draws of these games add at an epsilon."""
    distance = upper_float(total.draw_distance)
    return (1 + math.exp(min(epsilon, FAR))) * distance * (1 + ROUNDING) if distance > 0 else 0.0


def conversion_cost(budget: Budget, order: int) -> float:
    """Return the difference between the epsilon at the Renyi filter's delta and the divergence of an order."""
    alpha = ORDERS[order]
    return -(math.log(budget.for_curve) + math.log(alpha)) / (alpha - 1) + math.log1p(-1 / alpha) + ROUNDING


def fixed_by(budget: Budget, first: Total) -> CompositionFilters:
    """Return the order and the epsilon (at most the budget's) that admit the most repetitions of a first charge."""
    most, filters = 0.0, CompositionFilters(None, budget.epsilon)
    if not budget.for_curve > 0:
        return filters
    for order, divergence in enumerate(first.curve):
        conversion = conversion_cost(budget, order)
        if not (conversion < budget.epsilon and divergence < math.inf):
            continue
        epsilon = _best_epsilon(budget, first, divergence, conversion)
        by_draws = _ratio(budget.for_draws, delta_of_draws(first, epsilon))
        times = min(_ratio(epsilon - conversion, divergence), by_draws)
        if times > most:
            most, filters = times, CompositionFilters(order, epsilon)
    return filters


def _best_epsilon(budget: Budget, first: Total, divergence: float, conversion: float) -> float:
    """Return the epsilon at which divergence and draws admit equally many such charges, or the budget's."""

    def draws_are_more(epsilon: float) -> bool:
        by_draws = _ratio(budget.for_draws, delta_of_draws(first, epsilon))
        return _ratio(epsilon - conversion, divergence) > by_draws

    if not draws_are_more(budget.epsilon):
        return budget.epsilon
    low, high = max(0.0, conversion), budget.epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if draws_are_more(middle) else (middle, high)
    return low


def cost_of(guarantee: PrivacyGuarantee, most_delta: float) -> Cost:
    """Return the cost of a game: pure, or the stated pair if that is less and its delta at most `most_delta`."""
    pure, distance = guarantee.pure_epsilon, guarantee.draw_distance
    pairs = [(pure, added_delta(pure, distance))] if math.isfinite(pure) else []
    if guarantee.delta > 0 and math.isfinite(guarantee.epsilon):
        pairs.append((guarantee.epsilon, guarantee.delta))
    least = min(pairs, default=(math.inf, 0.0))
    epsilon, delta = min((pair for pair in pairs if pair[1] <= most_delta), default=least)
    return Cost(epsilon, delta, distance, tuple(divergence for _, divergence in guarantee.renyi()))


def total_of(costs: Iterable[tuple[Cost, int]]) -> Total:
    """Return the total cost of games, given each cost and its number of games."""
    games, epsilon, delta, distance = 0, Decimal(0), Decimal(0), Decimal(0)
    curve = [0.0] * len(ORDERS)

    def more(before: Decimal, number: int, term: float) -> Decimal:
        return EXACTLY.add(before, EXACTLY.multiply(Decimal(number), written(term)))

    for cost, number in costs:
        games += number
        epsilon, delta = more(epsilon, number, cost.epsilon), more(delta, number, cost.delta)
        distance = more(distance, number, cost.draw_distance)
        curve = [before + number * term for before, term in zip(curve, cost.curve, strict=True)]
    return Total(games, epsilon, delta, distance, tuple(divergence * (1 + ROUNDING) for divergence in curve))


def written(number: float) -> Decimal:
    """Return a number as the decimal it is written as: 0.1 as one tenth."""
    return Decimal(repr(float(number)))


def upper_float(number: Decimal) -> float:
    """Return a double at least as large as a decimal; the same double if it is written as that decimal."""
    near = float(number)
    return near if written(near) >= number else math.nextafter(near, math.inf)


def _ratio(room: float, cost: float) -> float:
    return room / cost if cost > 0 else math.inf
