"""What one round reveals, as public facts: the range of its values and how far neighbouring rounds can be apart."""

import math
from typing import NamedTuple

OWN_NORMS = ("sup", "l1", "l2")


class Values(NamedTuple):
    """Public facts about the values that a round reveals: gains of arms, coordinates of a gain vector, or a payoff.

    Their number is `Below.n_values`, and their distance in L1 is `Below.sensitivity`.

    Attributes:
        low: The smallest possible value.
        high: The largest possible value.
        l2: L2 distance between the values of neighbouring rounds.
        norm: The norm whose unit ball has the shape of all differences of two rounds' values (`"sup"`, `"l1"` or
            `"l2"`), for noise of that shape; `""` if none is known, as where rounds reveal different values.
        own: Distance between the values of neighbouring rounds in that norm; inf if none is known.
        complete: Whether every round reveals every value.
    """

    low: float = 0.0
    high: float = 1.0
    l2: float = 1.0
    norm: str = ""
    own: float = math.inf
    complete: bool = False

    @property
    def width(self) -> float:
        """The width of the range."""
        return self.high - self.low


def gains_of_arms(sensitivity: float) -> Values:
    """Return the facts for gains in [0, 1], of which some are revealed, with this L1 distance between neighbours.

    No gain changes by more than 1, so the squared L2 distance is at most the L1 distance.
    """
    l2 = sensitivity if sensitivity <= 1 else math.nextafter(math.sqrt(sensitivity), math.inf)
    return Values(l2=l2)


def all_gains_of_arms(n_arms: int) -> Values:
    """Return the facts for the gains of all arms, each in [0, 1]."""
    return gains_of_arms(float(n_arms))._replace(norm="sup", own=1.0, complete=True)
