"""A lower bound on the privacy loss from many games on two neighbouring tables: from arms alone, or from releases."""

import dataclasses
import sys
import time
from collections.abc import Callable
from typing import Any, Literal, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.audits.arm_events import ArmEvent
from dp_bandit_envs.audits.attack_search import Candidate, Sampler, best_attacks, first_candidates, games_in_all
from dp_bandit_envs.audits.event_bounds import least_epsilon
from dp_bandit_envs.audits.neighbours import Pair
from dp_bandit_envs.audits.release_events import ReleaseEvent
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NotAuditedError, NothingReleasedError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.wrappers import PrivacyBoundary

Games = Callable[[FloatArray], BanditEnv]
Of = Literal["arms", "releases"]
TESTED = 2
"""How many events are tested in fresh games."""
USUAL_GAMES = 200_000
GAMES_IN_PYTHON = 1_000
"""The usual number of games where they cannot be compiled: each then takes some thousand times as long."""
QUIET = 3.0
"""Seconds before the first word on stderr; each further one comes after twice as long."""


@dataclasses.dataclass(frozen=True)
class SampledLoss:
    """A lower bound on the privacy loss, and the event that shows it.

    Attributes:
        name: The algorithm's or mechanism's name.
        declared: The guarantee that is declared.
        epsilon: With the confidence, no (epsilon', declared delta)-DP with epsilon' below this holds; at least 0.
        confidence: The probability of that statement, in (0, 1).
        games: Games on each of two tables, for each event that was tested.
        pair: The two tables of gains, each `(rounds, n_arms)`, and the round that differs.
        event: What is more frequent on one of the tables; None if the bound is 0.
        held: The arms that were held, one for each step; empty for events of the arms.
        note: Why games were played in ordinary Python; "" if they were compiled.
    """

    name: str
    declared: PrivacyGuarantee
    epsilon: float
    confidence: float
    games: int
    pair: Pair
    event: ArmEvent | ReleaseEvent | None
    held: tuple[int, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        what = "nothing is declared" if self.declared.model == "none" else "not refuted" if self.holds else "refuted"
        claim, sure = f"declared epsilon = {self.declared.epsilon:.6g}", f"with confidence {self.confidence:.4g}"
        return f"{self.name}: {claim}, at least {self.epsilon:.6g} {sure}: {what}"

    @property
    def holds(self) -> bool:
        """Whether the claim survives: the bound is not above the declared epsilon. A low bound proves nothing."""
        return self.epsilon <= self.declared.epsilon


def sampled_loss(
    algorithm: Algorithm | Mechanism | str,
    *,
    of: Of = "arms",
    games: SupportsIndex | None = None,
    confidence: SupportsFloat = 0.99,
    horizon: SupportsIndex = 12,
    n_arms: SupportsIndex = 2,
    game: Games | None = None,
    seed: int = 0,
    last: SupportsIndex = 0,
    progress: bool = True,
) -> SampledLoss:
    """Attack an algorithm: find neighbouring tables and an event that tells them apart.

    Neighbours are searched for among tables of constant, alternating and random gains with one changed round, and
    among small variations of the best of them. An event of the arms is a set of sequences. An event of what is released
    is a set of released numbers while given arms are played, which is allowed: the agent sees releases only, so given
    the arms their density changes by the same factor as the joint one. All this is chosen on samples of its own. On
    fresh games, each of the last two events gets a Clopper-Pearson lower bound on its probability on one table and an
    upper bound on the other; all of them hold together with the confidence (Bonferroni).

    Args:
        algorithm: An algorithm that plays arms, or the name of one; or a mechanism, of which releases are attacked.
        of: `"arms"` or `"releases"`, that is, what the attacker sees.
        games: Fresh games on each table for each event, at least 100; the search takes about 40 times as many in all.
            By default 200,000, and 1,000 for what cannot be compiled.
        confidence: In (0, 1).
        horizon: Number of rounds T, at least 2. From arms, long enough for several releases of each arm.
        n_arms: Number of arms, at least 2.
        game: Makes a game of a table of gains, `(rounds, n_arms)`; by default one that reveals the arm played, or all
            arms if the algorithm needs them.
        seed: The seed of tables and games, which are the same whatever the number of cores.
        last: Of releases, only those of so many steps at the end are looked at, as in long games; 0 for all.
        progress: Whether to say on stderr how far games are that cannot be compiled, and take long.

    Raises:
        NotAuditedError: If the algorithm plays no arms, or releases are asked for that its guarantee does not cover.
        NothingReleasedError: If nothing is released in so few rounds.
        ImportError: If SciPy is missing (extra `audits`).

    Source: Ding, Wang, Wang, Zhang and Kifer (2018) for the search for events; Bichsel, Steffen, Bogunovic and Vechev
    (2021) for sets of most likely outcomes; Clopper and Pearson (1934).
    """
    checks.one_of("of", of, ("arms", "releases"))
    algorithm = _as_algorithm(algorithm, of)
    if algorithm.make_agent is None:
        raise NotAuditedError(f"{algorithm.name} plays points; only games with arms are sampled here.")
    number = checks.integer("games", USUAL_GAMES if games is None else games, at_least=100)
    steps = checks.integer("last", last, at_least=0)
    k, t = checks.integer("n_arms", n_arms, at_least=2), checks.integer("horizon", horizon, at_least=2)
    sure = checks.greater_than("confidence", confidence, 0)
    if not sure < 1:
        raise ValueError(f"confidence must be in (0, 1); received {confidence!r}.")
    shown = PlayedInPython(algorithm.name)
    make = game or (_experts if algorithm.feedback == "full" else _bandit)
    told = shown if progress else lambda games, candidate: None
    sampler = Sampler(algorithm, make, of == "releases", seed, last=steps, told=told)
    candidates = first_candidates(sampler, t, k)
    note = sampler.note(candidates[0])
    if note and games is None:
        number = GAMES_IN_PYTHON
    if note:
        shown.begins(note, number, games_in_all(len(candidates), number, releases=sampler.releases, tested=TESTED))
    declared = algorithm.guarantee_in(sampler.game(candidates[0].pair.one))
    if of == "releases" and "releases" not in declared.covers:
        raise NotAuditedError(
            f"{algorithm.name} declares nothing for releases: its guarantee covers {declared.covers}."
        )
    chosen = best_attacks(sampler, candidates, number, delta=declared.delta)[:TESTED]
    if sampler.releases and not chosen:
        raise NothingReleasedError(
            f"{algorithm.name}: nothing was released in {t:,} rounds, so nothing is judged. Use a longer game."
        )
    tested: list[tuple[float, ArmEvent | ReleaseEvent | None, Candidate]] = [(0.0, None, candidates[0])]
    for event, candidate in chosen:
        hits = sampler.hits((event, candidate), number)
        more, less = hits if event.first else hits[::-1]
        bound = least_epsilon(more, less, number, declared.delta, (1 - sure) / len(chosen))
        tested.append((bound, event, candidate))
    epsilon, event_shown, candidate = max(tested, key=lambda each: each[0])
    return SampledLoss(
        algorithm.name,
        declared,
        epsilon,
        sure,
        number,
        candidate.pair,
        event_shown,
        candidate.held,
        sampler.note(candidate),
    )


class PlayedInPython:
    """Says on stderr that games are played in ordinary Python, how long that will take, and how far it is.

    Args:
        name: What is audited.
        clock: Returns seconds.
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._clock, self._began = name, clock, clock()
        self._next, self._done, self._total, self._why = QUIET, 0, 0, ""

    def begins(self, why: str, games: int, total: int) -> None:
        """Take why nothing is compiled, the games of each test, and about how many games there are in all."""
        self._why, self._total = f"sampled_loss: {self._name} is played in ordinary Python: {why}", total
        self._games = games

    def __call__(self, games: int, candidate: Candidate) -> None:
        """Take some more games."""
        self._done += games
        seconds = self._clock() - self._began
        if not self._total or seconds < self._next or sys.stderr is None:
            return
        left = seconds * max(self._total / self._done - 1, 0)
        if self._next == QUIET:
            print(f"{self._why}. Of about {self._total:,} games; games={self._games:,} sets it.", file=sys.stderr)
        self._next = 2 * seconds
        share = min(100 * self._done // self._total, 99)
        print(f"{share}% played in {seconds:,.0f} s, about {left:,.0f} s left", file=sys.stderr, flush=True)


def _as_algorithm(given: Algorithm | Mechanism | str, of: Of) -> Algorithm:
    if isinstance(given, str):
        return make_algorithm(given)
    if not isinstance(given, Mechanism):
        return given
    if of == "arms":
        raise NotAuditedError(f"{type(given).__name__} plays no arms. Use of='releases'.")
    return Algorithm(type(given).__name__, Uniform, wrapping=lambda env: PrivacyBoundary(env, given))


def _bandit(table: FloatArray) -> BanditEnv:
    return BanditEnv(GainTable(table))


def _experts(table: FloatArray) -> BanditEnv:
    made: Any = ExpertsEnv(gains=GainTable(table))
    env: BanditEnv = made
    return env
