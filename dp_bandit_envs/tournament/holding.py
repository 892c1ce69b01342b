"""Holds a tournament: all submissions of a folder in the same hidden games, and who won."""

import ast
import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.comparison.entries import Entry
from dp_bandit_envs.comparison.ranking import LEAST_TRIALS, interval, ranking
from dp_bandit_envs.optional import require
from dp_bandit_envs.privacy.guarantee import Level
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.seeding import checked_seed, drawn_seed
from dp_bandit_envs.submitted_code import Limits, checked_limits, in_threads, submissions_in
from dp_bandit_envs.tournament.hidden_games import KINDS, SAME_ARM, UNIFORM, HiddenGames, reference_regrets, references
from dp_bandit_envs.tournament.refereeing import Match, referee

LEAST_HORIZON: Final = 50
"""In shorter games even uniform play may lose nothing."""
MOST_ARMS, MOST_GAMES = 1_000, 1_000
"""A message has the gains of all arms in all games; there are five times as many games as there are of each kind."""
CONFIDENCE: Final = 0.95
MEASURE: Final = "external_regret"
BLIND: Final = (UNIFORM, SAME_ARM)
"""Players who look at nothing."""


class Mean(NamedTuple):
    """A mean over games and its 95 % confidence interval, by BCa bootstrap."""

    value: float
    low: float
    high: float


class Place(NamedTuple):
    """One player in the table: regret as a share of what the better blind player loses, and in each kind of game.

    A submission has its rank by mean share, and those from `first` to `last` are possible: others that differ from it
    significantly are before or behind it. The test is that of `comparison.ranking`: of symmetric differences, not of
    equal means. A reference has none: these are 0.
    """

    name: str
    is_reference: bool
    rank: int
    first: int
    last: int
    share: Mean
    regret: tuple[Mean, ...]


@dataclasses.dataclass(frozen=True)
class Tournament:
    """The result of a tournament.

    Attributes:
        games: The games that were played, with their seed.
        limits: What each agent could use.
        places: Players that played to the end, the best first.
        matches: All submissions, by name.
    """

    games: HiddenGames
    limits: Limits
    places: tuple[Place, ...]
    matches: tuple[Match, ...]

    @property
    def failures(self) -> list[Match]:
        """The submissions that did not play to the end."""
        return [match for match in self.matches if match.regret is None]

    @property
    def equal(self) -> list[list[str]]:
        """The names of submissions whose code is the same, but for comments and spaces."""
        groups = defaultdict[str, list[str]](list)
        for match in self.matches:
            if not match.submission.problem:  # without one, it was read
                groups[_code(match.submission.source)].append(match.submission.name)
        return [names for names in groups.values() if len(names) > 1]

    @property
    def unlimited(self) -> list[str]:
        """What this system could not limit, in words."""
        return sorted({what for match in self.matches for what in match.unlimited})


def _code(source: bytes) -> str:
    try:
        return ast.unparse(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return repr(source)


def hold(
    folder: str | Path,
    *,
    horizon: int = 2_000,
    games: int = 20,
    n_arms: int = 5,
    epsilon: float | None = None,
    seed: int | None = None,
    seconds: float = 60.0,
    memory: int = 1_024,
    jobs: int = 1,
    progress: Callable[[Match], None] | None = None,
) -> Tournament:
    """Play every agent of a folder in the same hidden games, each in a process of its own.

    This is no sandbox: a process with the rights of this one can read and change what this one can. The limits stop
    mistakes, not attacks.

    Args:
        folder: Has one file NAME.py for each agent.
        horizon: Number of rounds T of each game, at least 50.
        games: Number of games of each of five kinds, in [6, 1000].
        n_arms: Number of arms K, in [2, 1000].
        epsilon: Every agent is behind `LaplaceClipRescale` of this epsilon, in (0, inf]; None for true gains.
        seed: The seed of all games, in [0, 2^128); by default drawn from the operating system.
        seconds: Processor time of an agent for all its games, greater than 0; by the clock it may take three times as
            long.
        memory: Megabytes that an agent may use, at least 64.
        jobs: How many agents play at a time, at least 1.
        progress: Called with each match that ends, from the calling thread.

    Raises:
        ImportError: If the extra `audits` (SciPy), which makes the intervals, is not installed.
        ValueError: If an argument leaves its range, there is no agent in the folder, or a blind player loses
            nothing in some kind of game; nobody has played then.
    """
    horizon = checks.integer("horizon", horizon, at_least=LEAST_HORIZON, at_most=checks.MOST_ROUNDS)
    games = checks.integer("games", games, at_least=LEAST_TRIALS, at_most=MOST_GAMES)
    n_arms = checks.integer("n_arms", n_arms, at_least=2, at_most=MOST_ARMS)
    epsilon = None if epsilon is None else checks.epsilon(epsilon)
    given = checked_seed(seed)
    limits, jobs = checked_limits(seconds, memory, jobs)
    require("scipy.stats", extra="audits")
    names = list(references(epsilon))
    submissions = submissions_in(Path(folder), names)
    hidden = HiddenGames(horizon, n_arms, games, epsilon, drawn_seed() if given is None else given)
    # First, so that games which cannot be scored are refused before anybody has played them.
    regrets = reference_regrets(hidden)
    losses_of_blind(regrets)
    matches = in_threads(lambda one, stopped: referee(one, hidden, limits, stopped), submissions, jobs, progress)
    for match in matches:
        if match.regret is not None:
            regrets[match.submission.name] = match.regret
    return Tournament(hidden, limits, tuple(places(regrets, names, [kind.weight for kind in KINDS])), tuple(matches))


def places(
    regrets: Mapping[str, FloatArray], references: Sequence[str], weights: Sequence[float] | None = None
) -> list[Place]:
    """Return all players, the best first, by their external regrets, `(kinds, games)`; references get no rank."""
    blind = losses_of_blind(regrets)
    shares = {
        name: np.average(regret / blind[:, np.newaxis], axis=0, weights=weights) for name, regret in regrets.items()
    }
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


def losses_of_blind(regrets: Mapping[str, FloatArray]) -> FloatArray:
    """Return the mean regret in each kind of game of the better player who looks at nothing, `(kinds,)`.

    One plays arms at random, one always the same arm: so neither can score less than 100 %. A `ValueError` is raised if
    it is not greater than 0 in some kind of game, so that nothing can be compared with it.
    """
    losses: FloatArray = np.min([regrets[name].mean(axis=1) for name in BLIND if name in regrets], axis=0)
    if not np.all(losses > 0):
        raise ValueError(
            "horizon and games must be large enough that uniform play and always the same arm lose on average; here one"
            " of them does not in every kind of game. Use a larger --horizon, more --games or another seed."
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
