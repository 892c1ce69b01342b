"""A lower bound on an algorithm's privacy loss, from nothing but the arms of many games on two neighbouring tables."""

import dataclasses
from collections.abc import Callable
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.audits.arm_events import ArmEvent, least_epsilon, strongest_arm_event
from dp_bandit_envs.audits.neighbours import Pair, candidate_pairs
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.arms_played import arms_played

Games = Callable[[FloatArray], BanditEnv]
KEPT = (6, 3)
"""How many pairs of tables remain after the first and the second look."""


@dataclasses.dataclass(frozen=True)
class SampledLoss:
    """A lower bound on the privacy loss, and the event that shows it.

    Attributes:
        name: The algorithm's name.
        declared: The guarantee that is declared.
        epsilon: With the confidence, no (epsilon', declared delta)-DP with epsilon' below this holds; at least 0.
        confidence: The probability of that statement, in (0, 1).
        games: Games on each of two tables, for each event that was tested.
        pair: The two tables of gains, each `(rounds, n_arms)`, and the round that differs.
        event: The sequences of arms that are more frequent on one of the tables.
    """

    name: str
    declared: PrivacyGuarantee
    epsilon: float
    confidence: float
    games: int
    pair: Pair
    event: ArmEvent

    @property
    def holds(self) -> bool:
        """Whether the claim survives: the bound is not above the declared epsilon. A low bound proves nothing."""
        return self.epsilon <= self.declared.epsilon


def sampled_loss(
    algorithm: Algorithm | str,
    *,
    games: SupportsIndex = 20_000,
    confidence: SupportsFloat = 0.99,
    horizon: SupportsIndex = 8,
    n_arms: SupportsIndex = 2,
    game: Games | None = None,
    seed: int = 0,
) -> SampledLoss:
    """Attack an algorithm: find neighbouring tables and an event of the arms that tell them apart.

    Neighbours are searched for among tables of constant, alternating and random gains with one changed round, events
    among sets of sequences of arms. Both are chosen on samples of their own. On fresh games, each of the last few
    events gets a Clopper-Pearson lower bound on its probability on one table and an upper bound on the other; all of
    them hold together with the confidence (Bonferroni).

    Args:
        algorithm: An algorithm that plays arms, or the name of one.
        games: Fresh games on each table for each event, at least 100; the search takes about six times as many in all.
        confidence: In (0, 1).
        horizon: Number of rounds T, at least 2. The search looks at 12 rounds or fewer of them, less for many arms.
        n_arms: Number of arms, at least 2.
        game: Makes a game of a table of gains, `(rounds, n_arms)`; by default one that reveals the arm played, or all
            arms if the algorithm needs them.
        seed: The seed of tables and games.

    Raises:
        NotAuditedError: If the algorithm plays no arms.
        ImportError: If SciPy is missing (extra `audits`).

    Source: Ding, Wang, Wang, Zhang and Kifer (2018) for the search for events; Bichsel, Steffen, Bogunovic and Vechev
    (2021) for sets of most likely outcomes; Clopper and Pearson (1934).
    """
    if isinstance(algorithm, str):
        algorithm = make_algorithm(algorithm)
    if algorithm.make_agent is None:
        raise NotAuditedError(f"{algorithm.name} plays points; events of arms are all that is sampled here.")
    number = checks.integer("games", games, at_least=100)
    k, t = checks.integer("n_arms", n_arms, at_least=2), checks.integer("horizon", horizon, at_least=2)
    sure = checks.greater_than("confidence", confidence, 0)
    if not sure < 1:
        raise ValueError(f"confidence must be in (0, 1); received {confidence!r}.")
    make = game or (_experts if algorithm.feedback == "full" else _bandit)
    pairs = candidate_pairs(t, k, np.random.default_rng(seed))
    declared = algorithm.guarantee_in(make(pairs[0].one))
    sampler = _Sampler(algorithm, make, seed)
    for keep, tries in zip(KEPT, (max(100, number // 20), max(100, number // 4)), strict=True):
        found = [(sampler.event(pair, tries, declared.delta), pair) for pair in pairs]
        pairs = [pair for _, pair in sorted(found, key=lambda each: -each[0].score)[:keep]]
    chosen = [(sampler.event(pair, number, declared.delta), pair) for pair in pairs]
    failure = (1 - sure) / len(chosen)
    tested = []
    for event, pair in chosen:
        hits = [event.hits(each) for each in sampler.both(pair, number)]
        more, less = hits if event.first else hits[::-1]
        tested.append((least_epsilon(more, less, number, declared.delta, failure), event, pair))
    epsilon, event, pair = max(tested, key=lambda each: each[0])
    return SampledLoss(algorithm.name, declared, max(0.0, epsilon), sure, number, pair, event)


class _Sampler:
    """Plays games of which no two have the same random numbers."""

    def __init__(self, algorithm: Algorithm, make: Games, seed: int) -> None:
        self._algorithm, self._make, self._seed, self._next = algorithm, make, seed, 0

    def both(self, pair: Pair, games: int) -> tuple[IntArray, IntArray]:
        """Return the arms of fresh games on both tables, each `(games, rounds)`."""
        one, other = (self._arms(table, games) for table in (pair.one, pair.other))
        return one, other

    def event(self, pair: Pair, games: int, delta: float) -> ArmEvent:
        """Return the strongest event in fresh games, with the tables of a pair in either order."""
        return strongest_arm_event(*self.both(pair, games), delta=delta)

    def _arms(self, table: FloatArray, games: int) -> IntArray:
        first, self._next = self._next, self._next + games
        return arms_played(self._make(table), self._algorithm, games, seed=self._seed, first_trial=first)


def _bandit(table: FloatArray) -> BanditEnv:
    return BanditEnv(GainTable(table))


def _experts(table: FloatArray) -> BanditEnv:
    made: Any = ExpertsEnv(gains=GainTable(table))
    env: BanditEnv = made
    return env
