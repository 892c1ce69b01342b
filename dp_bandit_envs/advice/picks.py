"""Which algorithm to take, by what each lost in simulated games, and why."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from dp_bandit_envs.advice.standings import Standing, interval_of, shares
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.protocols import FloatArray

CLEARLY: Final = 0.95
"""An algorithm is picked if the upper end of its share's interval is below this; otherwise uniform play is as good."""
NEAR: Final = 0.1
"""An algorithm is named beside the first one if its share is larger by no more than this, and bad games are better."""
MUCH: Final = 0.5
"""Bad games are better if the 99 % quantile of regret is below this part of the first one's."""


class Safer(NamedTuple):
    """An algorithm whose bad games are much better, and its mean regret over that of uniform play."""

    name: str
    algorithm: Algorithm
    share: float


@dataclasses.dataclass(frozen=True)
class Pick:
    """An algorithm to take.

    Attributes:
        name: Its name; `"Uniform"` if no private algorithm is better than arms at random.
        algorithm: The algorithm, calibrated to the guarantee; for uniform play too.
        share: Its mean regret over that of uniform play, averaged over the situations that count.
        interval: The 95 % interval of that share.
        safer: One with nearly the same mean whose bad games are much better; None if there is none.
    """

    name: str
    algorithm: Algorithm
    share: float
    interval: tuple[float, float]
    safer: Safer | None = None


def pick(
    found: Sequence[Standing], algorithms: Mapping[str, Algorithm], names: Sequence[str], uniform: Algorithm
) -> Pick | None:
    """Return which of some algorithms to take; uniform play if the best is not clearly better.

    Args:
        found: Standings of all algorithms in the situations that count.
        algorithms: Those that meet the guarantee, by name.
        names: Those that may be picked.
        uniform: Uniform play.

    Returns:
        None if no algorithm may be picked.
    """
    parts = {name: part for name, part in shares(found).items() if name in names}
    if not parts:
        return None
    best = min(parts, key=lambda name: _mean(parts[name]))
    low, high = interval_of(parts[best])
    if not high < CLEARLY:
        return Pick(uniform.name, uniform, 1.0, (1.0, 1.0))
    near = [name for name in parts if name != best and _mean(parts[name]) <= _mean(parts[best]) + NEAR]
    calm = next((name for name in sorted(near, key=lambda name: _mean(parts[name])) if _safer(found, name, best)), "")
    safer = Safer(calm, algorithms[calm], _mean(parts[calm])) if calm else None
    return Pick(best, algorithms[best], _mean(parts[best]), (low, high), safer)


def _safer(found: Sequence[Standing], name: str, best: str) -> bool:
    """Return whether an algorithm has much better bad games in some situation, and much worse ones in none."""
    tails = {(one.situation, one.algorithm): one.tail for one in found}
    pairs = [(tail, tails[situation, best]) for (situation, other), tail in tails.items() if other == name]
    return any(tail < MUCH * first for tail, first in pairs) and not any(first < MUCH * tail for tail, first in pairs)


def _mean(part: FloatArray) -> float:
    mean = float(part.mean())
    return math.inf if math.isnan(mean) else mean
