"""The statistics for figure-modern's claims on which algorithm has less regret, and their verdicts."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from dp_bandit_envs.experiments.figure_modern.modern_numbers import averaged, end, last
from dp_bandit_envs.experiments.figure_modern.modern_setup import EPSILON, GAMES, SWEEP, Means, key
from dp_bandit_envs.experiments.verdicts import DECIDES, all_ahead, over_error, paired, ratio
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Verdict


class Order(NamedTuple):
    """The claim that each of `better` has less regret than each of `worse`."""

    better: tuple[str, ...]
    worse: tuple[str, ...]


ORDERS = (
    Order(("DP-KLUCB", "DP-IMED"), ("AdaP-KLUCB",)),
    Order(("AdaP-KLUCB",), ("AdaP-UCB",)),
    Order(("AdaP-UCB",), ("DP-SE", "DP-UCB")),
)


class Pair(NamedTuple):
    """Two algorithms in a game."""

    better: str
    worse: str
    game: str


class Comparison(NamedTuple):
    """Two algorithms in a game at one epsilon.

    We compare averages over ln t, because doubling episodes make regret step-like.

    Attributes:
        ratio: Of mean regrets, averaged over ln t in the last two powers of ten.
        ratio_at_end: Of mean regrets at T.
        errors: By how many standard errors the first has less regret, averaged like `ratio`.
        errors_at_end: The same at T.
    """

    ratio: float
    ratio_at_end: float
    errors: float
    errors_at_end: float


class OrderAtOneEpsilon(NamedTuple):
    """All pairs of an order at one epsilon."""

    order: Order
    epsilon: float
    horizon: int
    pairs: Mapping[Pair, Comparison]


class OrderOverEpsilon(NamedTuple):
    """All pairs of an order at each epsilon."""

    order: Order
    horizon: int
    pairs: Mapping[Pair, Mapping[float, Comparison]]

    @property
    def behind(self) -> dict[Pair, list[float]]:
        """The pairs whose order is reversed, with the values of epsilon at which it is."""
        return self._where(lambda one: one.errors <= -DECIDES)

    @property
    def unclear(self) -> dict[Pair, list[float]]:
        """The pairs of which neither has clearly less regret, with the values of epsilon."""
        return self._where(lambda one: abs(one.errors) <= DECIDES)

    @property
    def behind_at_end(self) -> dict[Pair, list[float]]:
        """The pairs whose order is reversed at T, which the figure shows, with the values of epsilon."""
        return self._where(lambda one: one.errors_at_end < -DECIDES)

    def _where(self, holds: Callable[[Comparison], bool]) -> dict[Pair, list[float]]:
        found = {
            pair: [epsilon for epsilon, one in levels.items() if holds(one)] for pair, levels in self.pairs.items()
        }
        return {pair: levels for pair, levels in found.items() if levels}


def at_one_epsilon(results: Results, order: Order) -> tuple[OrderAtOneEpsilon, Verdict]:
    """Judge an order at the epsilon of the first experiment."""
    pairs = {pair: _compare(results, key(game, EPSILON), pair) for game, pair in _pairs(order)}
    return OrderAtOneEpsilon(order, EPSILON, end(results), pairs), all_ahead(one.errors for one in pairs.values())


def over_epsilon(results: Results, order: Order) -> tuple[OrderOverEpsilon, Verdict]:
    """Judge an order at every epsilon of the second experiment."""
    pairs = {
        pair: {epsilon: _compare(results, key(game, epsilon), pair) for epsilon in SWEEP}
        for game, pair in _pairs(order)
    }
    found = OrderOverEpsilon(order, end(results), pairs)
    # The figure shows regret at T, so a reversed order there also refutes the claim.
    if found.behind or found.behind_at_end:
        return found, Verdict.NO
    return found, all_ahead(one.errors for levels in pairs.values() for one in levels.values())


def _pairs(order: Order) -> Iterator[tuple[Means, Pair]]:
    for game in GAMES:
        for better in order.better:
            for worse in order.worse:
                yield game, Pair(better, worse, game.name)


def _compare(results: Results, panel: str, pair: Pair) -> Comparison:
    one, other = (averaged(results, panel, name) for name in (pair.better, pair.worse))
    one_at_end, other_at_end = (last(results, panel, name) for name in (pair.better, pair.worse))
    return Comparison(
        ratio=ratio(one.mean(), other.mean()),
        ratio_at_end=ratio(one_at_end.mean(), other_at_end.mean()),
        errors=over_error(paired(other, one)),
        errors_at_end=over_error(paired(other_at_end, one_at_end)),
    )
