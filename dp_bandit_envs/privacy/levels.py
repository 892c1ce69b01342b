"""The privacy level of an algorithm as tables and legends show it, such as "eps 1, delta 1e-10"."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

NO_PRIVACY = "(no privacy)"
FEW = 3
"""The largest number of epsilons to list; more are shown as a range."""


class Level(NamedTuple):
    """A guaranteed (epsilon, delta); epsilon is inf if there is no guarantee."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return in_words([self])


def level_of(guarantee: PrivacyGuarantee, horizon: int) -> Level:
    """Return the level at which a guarantee is reported.

    This is its own epsilon and delta, or if zCDP gives a smaller epsilon at delta = T^-2, that pair. Both are those of
    exact noise; the report's table of guarantees also shows what fast draws add.
    """
    if guarantee.model == "none":
        return Level(math.inf, 0.0)
    if guarantee.rho is not None and guarantee.delta == 0 and horizon > 1:
        usual = float(horizon) ** -2
        if guarantee.epsilon_at(usual) < guarantee.epsilon:
            return Level(guarantee.epsilon_at(usual), usual)
    return Level(guarantee.epsilon, guarantee.delta)


def label_of(name: str, levels: Iterable[Level]) -> str:
    """Return an algorithm's label in a legend: its name and its levels, as in "DP-KLUCB (eps 1)"."""
    words = in_words(levels)
    # "(no privacy)" already has brackets.
    return f"{name} {words}" if words == NO_PRIVACY else f"{name} ({words})"


def in_words(levels: Iterable[Level]) -> str:
    """Return levels as `eps 1`, `eps 1, delta 1e-10`, `eps 1 or 0.1`, `eps 0.05 to 2` or `(no privacy)`."""
    levels = list(levels)
    deltas = dict.fromkeys(level.delta for level in levels)
    if all(math.isinf(level.epsilon) for level in levels):
        return NO_PRIVACY
    if len(deltas) > 1 or any(math.isinf(level.epsilon) for level in levels):
        return " or ".join(dict.fromkeys(in_words([level]) for level in levels))
    shown = list(dict.fromkeys(_short(level.epsilon) for level in levels))
    if len(shown) > FEW:
        ends = [end(level.epsilon for level in levels) for end in (min, max)]
        shown = [" to ".join(map(_short, ends))]
    delta = next(iter(deltas))
    return f"eps {' or '.join(shown)}" + (f", delta {delta:.3g}" if delta else "")


def _short(epsilon: float) -> str:
    return f"{epsilon:,.0f}" if epsilon >= 1000 else f"{epsilon:.4g}"
