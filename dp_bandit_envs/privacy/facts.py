"""Public facts about a round's values: their range, distances between neighbouring rounds, and noise."""

import math
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

ROUNDING = 1 + 1e-9
"""By how much a declared distance may fall short of another one, as both are rounded."""
NORMS = ("sup", "l1", "l2")


class ValueRange(NamedTuple):
    """Public facts about the values that a round reveals: gains of arms, coordinates of a gain vector, or a payoff.

    Their number is `InputFacts.n_values`, and their distance in L1 is `InputFacts.sensitivity`.

    Attributes:
        low: The smallest possible value.
        high: The largest possible value.
        l2: L2 distance between the values of neighbouring rounds.
        norm: The norm (`"sup"`, `"l1"` or `"l2"`) whose unit ball has the shape of all differences of two rounds'
            values, for K-norm noise; `""` if unknown, as when rounds reveal different values.
        norm_distance: Distance between the values of neighbouring rounds in that norm; inf if none is known.
        complete: Whether every round reveals every value.
    """

    low: float = 0.0
    high: float = 1.0
    l2: float = 1.0
    norm: str = ""
    norm_distance: float = math.inf
    complete: bool = False

    @property
    def width(self) -> float:
        """The width of the range."""
        return self.high - self.low


class Noise(NamedTuple):
    """Public facts about the noise in released values, for agents whose confidence terms depend on it.

    Attributes:
        sensitivity: L1 distance between the values before noise in neighbouring games: noise for epsilon is as large as
            noise for epsilon / sensitivity in a game that reveals one gain per round.
        scale: Scale of the Laplace noise in each released gain, in units of gain; 0 for none.
        bound: A released gain v corresponds to the noisy gain v (2 bound + 1) - bound, if gains are in [0, 1]. In
            general, [low - bound, high + bound] was rescaled to [low, high].
    """

    sensitivity: float = 1.0
    scale: float = 0.0
    bound: float = 0.0


class InputFacts(NamedTuple):
    """Public facts about the gains that a mechanism receives.

    Attributes:
        n_values: Number of values that a round can reveal: arms or coordinates; 1 if only a payoff is seen.
        horizon: Number of steps with gains.
        sensitivity: L1 distance between these gains in neighbouring games, with the noise below fixed.
        gains_in_a_round: The most gains that one round of the game reveals.
        guarantee: The guarantee of the mechanisms below; None without any.
        withheld: Whether a gain may be withheld because of its value, without a guarantee below that covers it; no
            noise above hides that.
        noise: Public facts about noise below.
        values: The range of the values and their distances in other norms.
        lower_noise_keys: A hash of each mechanism below, innermost first, which distinguishes it from others of the
            same sizes without revealing its contents.
    """

    n_values: int
    horizon: int
    sensitivity: float = 1.0
    gains_in_a_round: int = 1
    guarantee: PrivacyGuarantee | None = None
    withheld: bool = False
    noise: Noise = Noise()
    values: ValueRange = ValueRange()
    lower_noise_keys: tuple[str, ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether a mechanism below has a guarantee, so that noise above it is post-processing."""
        return self.guarantee is not None and self.guarantee.model != "none"


def gains_of_arms(sensitivity: float) -> ValueRange:
    """Return the facts for gains in [0, 1] that are partly revealed, with this L1 distance between neighbours.

    No gain changes by more than 1, so the squared L2 distance is at most the L1 distance.
    """
    l2 = sensitivity if sensitivity <= 1 else math.nextafter(math.sqrt(sensitivity), math.inf)
    return ValueRange(l2=l2)


def all_gains_of_arms(n_arms: int) -> ValueRange:
    """Return the facts for the gains of all arms, each in [0, 1]."""
    return gains_of_arms(float(n_arms))._replace(norm="sup", norm_distance=1.0, complete=True)


def check_values(facts: InputFacts, name: str) -> None:
    """Raise if the values that a game or a mechanism declares are not possible, or do not fit its sensitivity.

    Args:
        facts: The declared facts.
        name: Name of the game, mechanism or wrapper for the message.

    Raises:
        WrongTypeError: If the declared `values` are not a `ValueRange`.
        ValueError: If noise cannot be scaled to them, or some noise would be too small.
    """
    check_range(facts.values, name)
    check_distances(facts, name)


def check_range(values: Any, name: str) -> None:
    """Raise if the declared range, distances or norm are not possible."""
    if not isinstance(values, ValueRange):
        raise WrongTypeError(f"{name} needs `values` that are ValueRange; received {checks.kind_of(values)}.")
    rules = {
        "low": _is_number(values.low),
        "high": _is_number(values.high) and _is_number(values.low) and values.low < values.high,
        "l2": _is_number(values.l2) and values.l2 > 0,
        "norm": values.norm == "" or values.norm in NORMS,
        "norm_distance": not values.norm or (_is_number(values.norm_distance) and values.norm_distance > 0),
        "complete": isinstance(values.complete, bool),
    }
    for fact, holds in rules.items():
        if not holds:
            raise ValueError(
                f"{name} needs `values` with finite low < high, distances l2 and norm_distance greater than 0, a norm"
                f" among {', '.join(NORMS)} or none, and complete True or False; received {fact} ="
                f" {getattr(values, fact)!r}."
            )


def check_distances(facts: InputFacts, name: str) -> None:
    """Raise `ValueError` if the declared distances in L2 or in `norm` contradict the sensitivity, in L1.

    The L1 norm of n values is at least their L2 norm and their sup norm, and at most sqrt(n) times the former and n
    times the latter.
    """
    n, values = facts.gains_in_a_round, facts.values
    most = {"l2": math.sqrt(n), "sup": float(n), "l1": 1.0}
    distances = {"l2": values.l2 * most["l2"]}
    if values.norm:
        distances["norm_distance"] = values.norm_distance * most[values.norm]
    for fact, in_l1 in distances.items():
        if facts.sensitivity * ROUNDING < getattr(values, fact):
            raise ValueError(
                f"{name} needs a sensitivity, which is a distance in L1, of at least the {fact} of its `values`;"
                f" received {facts.sensitivity!r} and {getattr(values, fact)!r}. Laplace noise would be too small."
            )
        if in_l1 * ROUNDING < facts.sensitivity:
            raise ValueError(
                f"{name} needs `values` whose distances fit together: with {fact} = {getattr(values, fact)!r},"
                f" {n} values of neighbouring rounds differ by at most {in_l1:.6g} in L1, but the sensitivity is"
                f" {facts.sensitivity!r}. Noise would be too small; declare the largest distance in each norm."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


STEP = 2.0**-30
"""Gains are rounded to it as items of sums. Sums of arbitrary doubles are rounded, and one changed gain changes how all
later additions round: stored sums of neighbouring games could differ by more than the sensitivity that noise is scaled
to. Multiples of 2^-30 add up without rounding while the sum is below 2^22."""
STEPS = 2.0**30
TO_STEPS = 1.5 * 2.0**22
"""Adding and subtracting it rounds a double up to 2^20 to the nearest multiple of 2^-30, in vector registers, too."""


def to_item(gain: float) -> float:
    """Return the multiple of 2^-30 next to a gain in [-1, 1], towards 0."""
    return int(gain * STEPS) * STEP


def number_or_nan(value: SupportsFloat) -> float:
    """Return a user's item as a float, or nan if it is not a number."""
    try:
        # NumPy before 2.4 makes a number of an array with one entry.
        return math.nan if isinstance(value, np.ndarray) and value.ndim > 0 else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def distance_l1(inputs: InputFacts) -> float:
    """Return the L1 distance between the rounded values of neighbouring rounds.

    Rounding increases the distance of two values by less than 2^-30, and not at all if it is already the range's width.
    """
    gains = inputs.gains_in_a_round
    return _apart(inputs.sensitivity, gains, gains * inputs.values.width)


def distance_l2(inputs: InputFacts) -> float:
    """Return their L2 distance."""
    root = math.sqrt(inputs.gains_in_a_round)
    return _apart(inputs.values.l2, root, root * inputs.values.width)


def distance_in_norm(inputs: InputFacts) -> float:
    """Return their distance in `norm`, rounded up."""
    values = inputs.values
    if values.norm == "l1":
        return _apart(values.norm_distance, inputs.n_values, inputs.n_values * values.width)
    steps = 1.0 if values.norm == "sup" else math.sqrt(inputs.n_values)
    return _apart(values.norm_distance, steps, steps * values.width)


def _apart(distance: float, steps: float, most: float) -> float:
    return distance if distance >= most else min(distance + steps * STEP, most)
