r"""The arithmetic of a ledger: what games cost, how costs add up, and whether the sum is within a budget.

Every game enters as numbers that hold whatever was played before, so an analyst may choose each game, its algorithm and
its parameters after seeing what the earlier ones showed; only the budget is fixed. Two privacy filters (Rogers, Roth,
Ullman and Vadhan 2016) decide whether one more game may begin:

- **sums** (the basic composition filter of the same paper): the epsilons add up to at most the budget's;
- **zCDP** (Feldman and Zrnic 2021; Whitehouse, Ramdas, Rogers and Wu 2023): the rhos add up to at most a rho for which
  rho-zCDP is (epsilon, c)-DP, where c is the part of the budget's delta that is kept for this. An epsilon-DP game is
  (epsilon^2 / 2)-zCDP (Bun and Steinke 2016, proposition 1.4).

In both, the games' own deltas add up to at most delta - c. A game may begin if either filter allows it. Both together
are (epsilon, delta)-DP, too. An (epsilon_i, delta_i)-DP game is, but for an event of probability delta_i in both of two
neighbouring cases, an epsilon_i-DP one (Kairouz, Oh and Viswanath 2015: it is post-processing of a randomised response
that says the truth with probability delta_i), so all such events together have probability at most delta - c. Without
them, let B be the outcomes at whose end the sums are within the budget. The sums never fall, so on B all was as with
the first filter alone,
:math:`P(S \cap B) \le e^\epsilon P'(S \cap B)`; outside of B all was as with the second alone,
:math:`P(S \setminus B) \le e^\epsilon P'(S \setminus B) + c`. The sum of the two is at most e^epsilon P'(S) + c.

Fast draws are no exact noise (`dp_bandit_envs.privacy.accounting`). The distances of the games' draws add up to
some tau, whatever was played before, which adds :math:`(1 + e^\epsilon) \tau` to delta, for the budget's epsilon; this
must be at most the budget's `draws_delta`. So everything together is (epsilon, delta + draws_delta)-DP.

Numbers are added exactly, as decimals, as they are written: ten games of 0.1 are 1.
"""

import dataclasses
import decimal
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from dp_bandit_envs.privacy.accounting import zcdp_epsilon
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, Unit

FAR = 700.0
"""No double holds the exponential of much more."""
ARITHMETIC = decimal.Context(prec=60, rounding=decimal.ROUND_CEILING, Emin=-99999, Emax=99999, traps=[])


class Cost(NamedTuple):
    """What one game costs, or several together: it is (epsilon, delta)-DP, and but for the same delta rho-zCDP.

    Attributes:
        epsilon: In [0, inf].
        delta: In [0, inf).
        rho: In [0, inf].
        distance: That of the draws from exact noise, in [0, inf).
    """

    epsilon: Decimal
    delta: Decimal
    rho: Decimal
    distance: Decimal = Decimal(0)


class Budget(NamedTuple):
    """What may be spent.

    Attributes:
        epsilon: In (0, inf).
        delta: In [0, 1).
        zcdp_delta: The part c of delta for converting zCDP, in [0, delta]; with 0 only sums count.
        unit: What is protected: `"record"` or `"person"`.
        draws_delta: What the draws may add to delta, in [0, 1).
    """

    epsilon: float
    delta: float
    zcdp_delta: float
    unit: Unit
    draws_delta: float = 0.0

    def epsilon_of(self, cost: Cost) -> float:
        """Return the epsilon of a cost, by the filter that gives less; inf if there is none, or a delta does not do."""
        if cost.delta > ARITHMETIC.subtract(written(self.delta), written(self.zcdp_delta)):
            return math.inf
        if self.added_by_draws(cost) > self.draws_delta:
            return math.inf
        by_rho = zcdp_epsilon(upper(cost.rho), self.zcdp_delta) if self.zcdp_delta > 0 else math.inf
        return min(upper(cost.epsilon), by_rho)

    def added_by_draws(self, cost: Cost) -> float:
        """Return what the draws of these games add to delta, rounded up; inf where that is far above 1."""
        if not cost.distance > 0:
            return 0.0
        if self.epsilon > FAR:
            return math.inf
        factor = written((1 + math.exp(self.epsilon)) * (1 + 1e-12))
        return upper(ARITHMETIC.multiply(factor, cost.distance))

    def allows(self, cost: Cost) -> bool:
        """Return whether a cost is within the budget."""
        return self.epsilon_of(cost) <= self.epsilon

    def refusal(self, before: Mapping[Cost, int], after: Mapping[Cost, int]) -> str:
        """Return why games cannot begin, in public numbers.

        Args:
            before: The number of games of each cost that have begun.
            after: The same with those that cannot begin.
        """
        cost, spent, begun = total(after), total(before), sum(before.values())
        added = self.added_by_draws(cost)
        if added > self.draws_delta:
            return (
                f"the budget of this ledger is {self}; the fast draws of all games would add {added:.3g} to delta."
                " Nothing was played. Use draws='secure', or a ledger with a smaller epsilon or a larger draws_delta."
            )
        return (
            f"the budget of this ledger is {self}; {begun:,} games have spent epsilon = {self.epsilon_of(spent):.6g},"
            f" delta = {float(spent.delta):.3g}, and with {sum(after.values()) - begun:,} more it would be epsilon ="
            f" {self.epsilon_of(cost):.6g}, delta = {float(cost.delta):.3g}. Nothing was played. Play fewer games, or"
            " games of a smaller epsilon."
        )

    def __str__(self) -> str:
        kept = f", of which {self.zcdp_delta:.3g} for zCDP" if self.zcdp_delta else ""
        draws = f", and {self.draws_delta:.3g} for fast draws" if self.draws_delta else ""
        return f"epsilon = {self.epsilon:g}, delta = {self.delta:.3g}{kept}{draws}, for a {self.unit}"


class Spent(NamedTuple):
    """What the games on a ledger cost together.

    Attributes:
        games: Number of games that have begun.
        epsilon: What they spend of the budget's epsilon: the smaller one of the two filters.
        delta: What they spend of delta: their own deltas together, and the part for zCDP where that filter is needed.
        draws_delta: What their draws add to delta.
    """

    games: int
    epsilon: float
    delta: float
    draws_delta: float


@dataclasses.dataclass(frozen=True)
class Account:
    """What a ledger knows.

    Attributes:
        id: Distinguishes ledgers with the same budget.
        budget: What may be spent.
        games: The number of games of each cost.
    """

    id: str
    budget: Budget
    games: Mapping[Cost, int]


def costs_of(guarantee: PrivacyGuarantee) -> list[Cost]:
    """Return the ways in which a game with this guarantee may be counted; none without a guarantee."""
    costs = []
    distance = written(guarantee.tau)
    rho = None if guarantee.rho is None else written(guarantee.rho)
    if rho is None and guarantee.law is not None and math.isfinite(guarantee.law.gaussian):
        # Gaussian draws, and pure ones (Bun and Steinke 2016, propositions 1.4 and 1.6).
        pure = math.fsum(number * each**2 for each, number in (*guarantee.law.laplace, *guarantee.law.responses))
        rho = written((guarantee.law.gaussian + pure) / 2 * (1 + 1e-12))
    if math.isfinite(guarantee.epsilon) and guarantee.model != "none":
        epsilon, delta = written(guarantee.epsilon), written(guarantee.delta)
        own = ARITHMETIC.divide(ARITHMETIC.multiply(epsilon, epsilon), Decimal(2))
        costs.append(Cost(epsilon, delta, own if delta or rho is None else min(own, rho), distance))
    if rho is not None and guarantee.model != "none":
        costs.append(Cost(Decimal("Infinity"), Decimal(0), rho, distance))
    return costs


def total(counts: Mapping[Cost, int] | Iterable[tuple[Cost, int]]) -> Cost:
    """Return what all games together cost, of which there are so many of each cost."""
    pairs = counts.items() if isinstance(counts, Mapping) else counts
    sums = [Decimal(0)] * 4
    for cost, games in pairs:
        more = (ARITHMETIC.multiply(Decimal(games), each) for each in cost)
        sums = list(map(ARITHMETIC.add, sums, more))
    return Cost(*sums)


def written(number: float) -> Decimal:
    """Return a number as it is written, 0.1 as one tenth."""
    return Decimal(repr(float(number)))


def upper(number: Decimal) -> float:
    """Return a double that is at least a decimal, and the same one if that is how the double is written."""
    near = float(number)
    return near if written(near) >= number else math.nextafter(near, math.inf)
