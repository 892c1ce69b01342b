"""The privacy level of an algorithm as all tables and legends show it, such as "eps 1" or "eps 0.85, delta 1e-06"."""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

NO_PRIVACY = "(no privacy)"
FEW = 3
"""The largest number of epsilons to list; more are shown as a range."""
PURE: Final = 30.0
"""The largest epsilon of pure differential privacy that is shown where a smaller one holds at `DELTA`."""
DELTA: Final = 1e-6
EXACT: Final = 10.0
"""The epsilon above which what fast draws add to delta is no longer small."""
CONVENTION: Final = "epsilon is pure up to 30, or else the least at delta = 1e-6"
"""What headings say of the epsilons below them."""
WITH_EXACT_NOISE: Final = "with exact noise"


class Level(NamedTuple):
    """A guaranteed (epsilon, delta); epsilon is inf if there is no guarantee. `exact`: fast draws are not counted."""

    epsilon: float
    delta: float
    exact: bool = False

    def __str__(self) -> str:
        return in_words([self])


def level_of(guarantee: PrivacyGuarantee) -> Level:
    """Return the level at which a guarantee is shown, in every table and legend.

    That is pure differential privacy up to `PURE`, and above it where nothing less holds at `DELTA`, as where it was
    asked for; else the least epsilon at `DELTA`, with what draws add; else the guarantee's own pair. A pure epsilon
    above `EXACT` is that of exact noise: fast draws add a delta to it.
    """
    if guarantee.model == "none":
        return Level(math.inf, 0.0)
    pure = guarantee.pure_epsilon
    least = guarantee.epsilon_at(DELTA) if pure > PURE else pure
    if least < pure:
        return Level(least, DELTA)
    if math.isinf(pure):
        return Level(guarantee.epsilon, guarantee.delta)
    return Level(pure, 0.0, exact=pure > EXACT and guarantee.delta_at(pure) > 0)


def label_of(name: str, levels: Iterable[Level]) -> str:
    """Return an algorithm's label in a legend: its name and its levels, as in "DP-KLUCB (eps 1)"."""
    words = in_words(levels)
    # "(no privacy)" already has brackets.
    return f"{name} {words}" if words == NO_PRIVACY else f"{name} ({words})"


def in_words(levels: Iterable[Level]) -> str:
    """Return levels as `eps 1`, `eps 1, delta 1e-06`, `eps 1 or 0.1`, `eps 0.05 to 2` or `(no privacy)`."""
    levels = list(levels)
    kinds = dict.fromkeys((level.delta, level.exact) for level in levels)
    if all(math.isinf(level.epsilon) for level in levels):
        return NO_PRIVACY
    if len(kinds) > 1 or any(math.isinf(level.epsilon) for level in levels):
        return " or ".join(dict.fromkeys(in_words([level]) for level in levels))
    shown = list(dict.fromkeys(_short(level.epsilon) for level in levels))
    if len(shown) > FEW:
        ends = [end(level.epsilon for level in levels) for end in (min, max)]
        shown = [" to ".join(map(_short, ends))]
    delta, exact = next(iter(kinds))
    more = (f", delta {delta:.3g}" if delta else "") + (f" {WITH_EXACT_NOISE}" if exact else "")
    return f"eps {' or '.join(shown)}{more}"


def _short(epsilon: float) -> str:
    return f"{epsilon:,.0f}" if epsilon >= 1000 else f"{epsilon:.4g}"
