"""Who won: regret as a share of uniform play's, paired game by game, and the ranks that the games can tell apart."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from dp_bandit_envs.comparison.compared_games import Entry
from dp_bandit_envs.comparison.ranking import interval, ranking
from dp_bandit_envs.privacy.guarantee import Level
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.tournament.reference_players import UNIFORM

CONFIDENCE: Final = 0.95
MEASURE: Final = "external_regret"


class Mean(NamedTuple):
    """A mean over games and its 95 % confidence interval, by BCa bootstrap."""

    value: float
    low: float
    high: float


class Place(NamedTuple):
    """One player in the table.

    Attributes:
        name: The player.
        is_reference: Whether it is an algorithm of this package, which has no rank: `rank`, `first` and `last` are 0.
        rank: By mean share, 1 for the best submission; equal ones share a rank.
        first, last: The ranks that are possible: submissions that differ from it significantly are before or behind it.
            The test is that of `comparison.ranking`: of symmetric differences, not of equal means.
        share: Regret as a share of uniform play's mean regret in the same kind of game, averaged over kinds.
        regret: The mean regret in each kind of game.
    """

    name: str
    is_reference: bool
    rank: int
    first: int
    last: int
    share: Mean
    regret: tuple[Mean, ...]


def places(regrets: Mapping[str, FloatArray], references: Sequence[str]) -> list[Place]:
    """Return all players, the best first.

    Args:
        regrets: The external regret of each player, shape `(kinds, games)`; `Uniform` is among them.
        references: Those that get no rank.

    Raises:
        ValueError: If uniform play has no regret in some kind of game, so that nothing can be compared with it.
    """
    uniform = losses_of_chance(regrets)
    shares = {name: (regret / uniform[:, np.newaxis]).mean(axis=0) for name, regret in regrets.items()}
    found = ranking([_entry(name, share) for name, share in shares.items()], MEASURE, CONFIDENCE)
    ranked = {one.name: one.mean for one in found.standings if one.name not in references}
    before, behind = Counter[str](), Counter[str]()
    for pair in found.pairs:
        if pair.adjusted <= 1 - CONFIDENCE and pair.better in ranked and pair.worse in ranked:
            before[pair.worse] += 1
            behind[pair.better] += 1
    table = []
    for one in found.standings:
        name, share, ranks = one.name, Mean(one.mean, one.low, one.high), (0, 0, 0)
        if name in ranked:
            rank = 1 + sum(mean < one.mean for mean in ranked.values())
            ranks = (rank, 1 + before[name], len(ranked) - behind[name])
        means = tuple(mean_of(row) for row in regrets[name])
        table.append(Place(name, name in references, *ranks, share, means))
    return table


def losses_of_chance(regrets: Mapping[str, FloatArray]) -> FloatArray:
    """Return the mean regret of uniform play in each kind of game, shape `(kinds,)`.

    Args:
        regrets: As in `places`.

    Raises:
        ValueError: If it is not greater than 0 in some kind of game, so that nothing can be compared with it.
    """
    losses: FloatArray = regrets[UNIFORM].mean(axis=1)
    if not np.all(losses > 0):
        raise ValueError(
            "horizon and games must be large enough that uniform play loses on average; here it does not in every kind"
            " of game. Use a larger --horizon, more --games or another seed."
        )
    return losses


def can_tell_apart(players: int, games: int) -> bool:
    """Whether any difference between so many players can be significant after so few games of each kind."""
    return 2.0 ** (1 - games) * math.comb(players, 2) <= 1 - CONFIDENCE


def mean_of(samples: FloatArray) -> Mean:
    """Return a mean with its interval."""
    return Mean(float(samples.mean()), *interval(samples, CONFIDENCE))


def _entry(name: str, share: FloatArray) -> Entry:
    """Return a player's shares as `ranking` takes them."""
    return Entry(
        key="all",
        environment="all games",
        title="all games",
        n_arms=0,
        horizon=1,
        algorithm=name,
        name=name,
        asked=None,
        level=Level(float("inf"), 0.0),
        model="none",
        covers="nothing",
        guarantee="",
        units={},
        rounds=np.array([1]),
        measures={MEASURE: share[:, np.newaxis]},
    )
