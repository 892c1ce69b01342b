"""A lower bound on the privacy loss from many games on two neighbouring tables: from arms alone, or from releases.

The search narrows down pairs of neighbouring tables, each with an event (see `events`); the strongest are tested in
fresh games.
"""

import dataclasses
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.specs import Player
from dp_bandit_envs.audits.events import (
    ArmEvent,
    ReleaseEvent,
    draft_events,
    least_epsilon,
    strongest_arm_event,
    strongest_draft,
)
from dp_bandit_envs.audits.fixed_play import algorithm_or_mechanism
from dp_bandit_envs.audits.transcripts import Transcripts, TranscriptSampler, steps_of, trials_of
from dp_bandit_envs.audits.true_losses import DELTAS, FIELDS, fields_below, refuted_in_words
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NotAuditedError, NothingReleasedError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.wrappers.layers import layers_of

Games = Callable[[FloatArray], BanditEnv]
Of = Literal["arms", "releases"]
TESTED = 2
"""How many events are tested in fresh games."""
DEFAULT_GAMES = 200_000
GAMES_IN_PYTHON = 1_000
"""The usual number of games where they cannot be compiled: each then takes some thousand times as long."""
QUIET = 3.0
"""Seconds before the first word on stderr; each further one comes after twice as long."""
RANDOM_TABLES = 12
GAINS = (0.0, 0.5, 1.0)
"""The gains of random rows."""


class TablePair(NamedTuple):
    """Two tables of gains that differ in one round.

    Attributes:
        one: `(rounds, n_arms)`, in [0, 1].
        other: The same with another row `changed`.
        changed: The number of that row, from 0.
    """

    one: FloatArray
    other: FloatArray
    changed: int


class Candidate(NamedTuple):
    """A pair of neighbouring tables, with the arm of each step if arms are fixed."""

    pair: TablePair
    held: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class SampledLoss:
    """A lower bound on the privacy loss, and the event that shows it.

    Attributes:
        name: The algorithm's or mechanism's name.
        declared: The declared guarantee.
        epsilon: With the confidence, (epsilon', declared delta)-DP is false for all epsilon' below this; at least 0.
        confidence: The probability of that statement, in (0, 1).
        games: Games on each of two tables, for each event that was tested.
        pair: The two tables of gains, each `(rounds, n_arms)`, and the round that differs.
        event: The event that is more frequent on one of the tables; None if the bound is 0.
        held: The fixed arms, one per step; empty for events of the arms.
        note: Why games were played in ordinary Python; "" if they were compiled.
        too_low: The fields of `noise_law`, `curve`, `rho` and `pure` in the guarantee that the event refutes at another
            delta.
    """

    name: str
    declared: PrivacyGuarantee
    epsilon: float
    confidence: float
    games: int
    pair: TablePair
    event: ArmEvent | ReleaseEvent | None
    held: tuple[int, ...] = ()
    note: str = ""
    too_low: tuple[str, ...] = ()

    def __str__(self) -> str:
        claim, sure = f"declared epsilon = {self.declared.epsilon:.6g}", f"with confidence {self.confidence:.4g}"
        return f"{self.name}: {claim}, at least {self.epsilon:.6g} {sure}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """The conclusion, in words."""
        if self.declared.model == "none":
            return "nothing is declared"
        return "not refuted" if self.holds else refuted_in_words(self.too_low)

    @property
    def holds(self) -> bool:
        """Whether the claim survives: no bound exceeds the declared loss. A low bound is not a proof of privacy."""
        return self.epsilon <= self.declared.epsilon and not self.too_low


@checks.answers_wrong_calls
def sampled_loss(
    algorithm: Player | Mechanism,
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

    The search covers neighbouring tables of constant, alternating and random gains with one changed round, and small
    variations of the best pairs. An event of the arms is a set of sequences. An event of releases is a set of released
    numbers while fixed arms are played. This is allowed: the agent sees releases only, so given the arms their density
    changes by the same factor as the joint density. All choices use separate samples. On fresh games, each of the last
    two events gets a Clopper-Pearson lower bound on its probability on one table and an upper bound on the other. All
    of them hold jointly with the confidence (Bonferroni). They also test the guarantee at deltas from 0.1 to 1e-6.

    Args:
        algorithm: An algorithm that plays arms, or its name, as for `play`; or a mechanism, attacked through its
            releases.
        of: `"arms"` or `"releases"`, that is, what the attacker sees.
        games: Fresh games on each table for each event, at least 100; the search takes about 40 times as many in all.
            By default 200,000, and 1,000 without compilation.
        confidence: In (0, 1).
        horizon: Number of rounds T, at least 2. For arms, long enough for several releases of each arm.
        n_arms: Number of arms, at least 2.
        game: Makes a game of a table of gains, `(rounds, n_arms)`; by default a game that reveals the arm played, or
            all arms if the algorithm needs them.
        seed: The seed of tables and games, independent of the number of cores.
        last: Use only releases of this many last steps, for long games; 0 for all.
        progress: Whether to print the progress of slow, uncompiled games on stderr.

    Raises:
        NotAuditedError: If the algorithm does not play arms, or its guarantee does not cover releases.
        NothingReleasedError: If this number of rounds has no release.
        ImportError: If SciPy is missing (extra `audits`).

    Source: Ding, Wang, Wang, Zhang and Kifer (2018) for the search for events; Bichsel, Steffen, Bogunovic and Vechev
    (2021) for sets of most likely outcomes; Clopper and Pearson (1934).
    """
    checks.one_of("of", of, ("arms", "releases"))
    algorithm = _algorithm_of(algorithm, of)
    if algorithm.make_agent is None:
        raise NotAuditedError(f"{algorithm.name} plays points; only games with arms are sampled here.")
    number = checks.integer("games", DEFAULT_GAMES if games is None else games, at_least=100)
    steps = checks.integer("last", last, at_least=0)
    k, t = checks.integer("n_arms", n_arms, at_least=2), checks.integer("horizon", horizon, at_least=2)
    sure = checks.probability("confidence", confidence)
    progress_line = PlayedInPython(algorithm.name)
    make = game or (_experts_game if algorithm.feedback == "full" else _bandit_game)
    told = progress_line if progress else lambda games, candidate: None
    sampler = Sampler(algorithm, make, of == "releases", seed, last=steps, told=told)
    candidates = first_candidates(sampler, t, k)
    note = sampler.note(candidates[0])
    if note and games is None:
        number = GAMES_IN_PYTHON
    if note:
        progress_line.begins(
            note, number, games_in_all(len(candidates), number, releases=sampler.releases, tested=TESTED)
        )
    declared = algorithm.guarantee_in(sampler.game(candidates[0].pair.one))
    if of == "releases" and "releases" not in declared.covers:
        raise NotAuditedError(
            f"{algorithm.name} declares nothing for releases: its guarantee covers {declared.covers}."
        )
    # A mechanism of somebody else's may withhold the ends of the range, or all but them.
    halves = [
        each._replace(pair=TablePair(each.pair.one / 2, each.pair.other / 2, each.pair.changed)) for each in candidates
    ]
    layers = layers_of(algorithm.wrap(sampler.game(candidates[0].pair.one)))
    mechanisms = [layer.mechanism for layer in layers if isinstance(layer, PrivacyBoundary)]
    # Whether those of this package release depends on counts alone.
    if sampler.releases and not all(is_builtin(type(mechanism)) for mechanism in mechanisms):
        candidates = [*candidates, *halves]
    chosen = best_attacks(sampler, candidates, number, delta=declared.delta)[:TESTED]
    if sampler.releases and not chosen:
        chosen = best_attacks(sampler, halves, number, delta=declared.delta)[:TESTED]
    if sampler.releases and not chosen:
        raise NothingReleasedError(
            f"{algorithm.name}: nothing was released in {t:,} rounds, so nothing is judged. Use a longer game."
        )
    tested: list[tuple[float, ArmEvent | ReleaseEvent | None, Candidate]] = [(0.0, None, candidates[0])]
    low: set[str] = set()
    for event, candidate in chosen:
        hits = sampler.hits((event, candidate), number)
        more, less = hits if event.first else hits[::-1]
        bound = least_epsilon(more, less, number, declared.delta, (1 - sure) / len(chosen))
        tested.append((bound, event, candidate))
        for delta in DELTAS:
            # The two bounds on probabilities hold for every delta at once.
            bound = least_epsilon(more, less, number, delta, (1 - sure) / len(chosen))
            if bound > declared.epsilon_at(delta):
                low.update(fields_below(declared, bound, delta))
    epsilon, refuting_event, candidate = max(tested, key=lambda attack: attack[0])
    return SampledLoss(
        algorithm.name,
        declared,
        epsilon,
        sure,
        number,
        candidate.pair,
        refuting_event,
        candidate.held,
        sampler.note(candidate),
        tuple(field for field in FIELDS if field in low),
    )


class PlayedInPython:
    """Prints on stderr that games are played in ordinary Python, the expected time, and the progress."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._clock, self._began = name, clock, clock()
        self._next, self._done, self._total, self._why = QUIET, 0, 0, ""

    def begins(self, why: str, games: int, total: int) -> None:
        """Start with the reason for ordinary Python, the games of each test, and roughly the total number of games."""
        self._why, self._total = f"{self._name} is played in ordinary Python: {why}", total
        self._games = games

    def __call__(self, games: int, candidate: Candidate) -> None:
        """Count more games."""
        self._done += games
        seconds = self._clock() - self._began
        if not self._total or seconds < self._next or sys.stderr is None:
            return
        left = seconds * max(self._total / self._done - 1, 0)
        if self._next == QUIET:
            sets = f"games={self._games} (--games {self._games})"
            print(f"{self._why}. These are about {self._total:,} games; {sets} sets their number.", file=sys.stderr)
        self._next = 2 * seconds
        share = min(100 * self._done // self._total, 99)
        print(f"{share}% played in {seconds:,.0f} s, about {left:,.0f} s left", file=sys.stderr, flush=True)


def _algorithm_of(asked: Player | Mechanism, of: Of) -> Algorithm:
    asked = algorithm_or_mechanism(asked)
    if isinstance(asked, Algorithm):
        return asked
    if of == "arms":
        raise NotAuditedError(f"{type(asked).__name__} plays no arms, so that only its releases can be looked at.")
    return Algorithm(type(asked).__name__, Uniform, wrapping=lambda env: PrivacyBoundary(env, asked))


def _bandit_game(table: FloatArray) -> BanditEnv:
    return BanditEnv(GainTable(table))


def _experts_game(table: FloatArray) -> BanditEnv:
    env: Any = ExpertsEnv(gains=GainTable(table))
    return env  # type: ignore[no-any-return]


def neighbours_of(table: FloatArray, changed: int) -> list[TablePair]:
    """Return a table with two changes of one round: all gains from 0 to 1; the first arm's back, all others' up.

    With one revealed gain, these are all changes from one end of the range to the other. The second is for agents that
    see all gains and ignore a gain common to all arms.
    """
    first = np.eye(table.shape[1])[0]
    pairs = []
    for low, high in ((0 * first, 0 * first + 1), (first, 1 - first)):
        first_table, second_table = table.copy(), table.copy()
        first_table[changed], second_table[changed] = low, high
        pairs.append(TablePair(first_table, second_table, changed))
    return pairs


def candidate_pairs(
    rounds: int,
    n_arms: int,
    rng: np.random.Generator,
    *,
    plain: int = 7,
    tables: int = RANDOM_TABLES,
    changed: list[int] | None = None,
) -> list[TablePair]:
    """Return promising pairs: tables of several kinds, with an early or a later round changed.

    Args:
        rounds: At least 2.
        n_arms: At least 2.
        rng: Draws the random tables, whose gains are 0, 1/2 or 1.
        plain: Number of constant or alternating tables, in order: zeros, ones, halves, and so on.
        tables: Number of random tables.
        changed: The rounds to change; by default early rounds, a middle round and the last.
    """
    lead = np.zeros(n_arms)
    lead[0] = 1.0
    rows = [np.zeros(n_arms), np.ones(n_arms), np.full(n_arms, 0.5), lead, 1 - lead]
    kinds = [np.tile(row, (rounds, 1)) for row in rows]
    kinds += [np.array([rows[3 + (t + start) % 2] for t in range(rounds)]) for start in (0, 1)]
    kinds = kinds[:plain] + [rng.choice(GAINS, (rounds, n_arms)) for _ in range(tables)]
    changed = changed or sorted({*range(min(rounds, 5)), rounds // 3, rounds // 2, rounds - 1})
    return [pair for table in kinds for at in changed for pair in neighbours_of(table, at)]


def vary_pair(pair: TablePair, rng: np.random.Generator) -> TablePair:
    """Return a pair with one or two other rows redrawn in both tables, or with another changed round."""
    first, second, changed = pair.one.copy(), pair.other.copy(), pair.changed
    rounds, n_arms = first.shape
    if rng.random() < 0.2:
        at = int(rng.integers(rounds))
        low, high = first[changed].copy(), second[changed].copy()
        first[changed] = second[changed] = first[at].copy()
        first[at], second[at] = low, high
        return TablePair(first, second, at)
    for at in rng.integers(rounds, size=int(rng.integers(1, 3))):
        if at != changed:
            first[at] = second[at] = rng.choice(GAINS, n_arms)
    return TablePair(first, second, changed)


class Effort(NamedTuple):
    """The effort of the search.

    Attributes:
        looks: For each look over all candidates, the divisor of the test's number of games, and the number of
            candidates that remain.
        most: The most games of such a look.
        generations: Number of times that the remaining candidates are varied.
        children: Number of variations of each.
    """

    looks: tuple[tuple[int, int], ...]
    most: int
    generations: int
    children: int = 4


FROM_ARMS = Effort(((200, 24), (50, 8)), most=2**16, generations=4)
FROM_RELEASES = Effort(((20, 12), (10, 6)), most=2**15, generations=1, children=2)
LAST = 4
"""Number of candidates examined with as many games as the test."""
AT_ONCE = 2**16
"""The most games to keep in memory for a test, and for choosing an event of releases."""
SHORT = 16
"""Games of so many rounds and fewer are kept in such numbers."""
FEWEST = 100
"""The fewest games of a look."""


def games_at_once(candidate: Candidate) -> int:
    """Return the most games of a candidate's length to keep in memory: fewer if they are long."""
    return max(2**10, AT_ONCE * SHORT // max(SHORT, len(candidate.pair.one)))


Attack = tuple[ArmEvent | ReleaseEvent, Candidate]


class Sampler:
    """Plays games that never share random numbers.

    Args:
        algorithm: The algorithm under attack.
        game: Makes a game of a table of gains.
        releases: Whether to fix the arms and observe releases; otherwise arms are observed.
        seed: The seed of all randomness.
        last: If above 0, the number of last steps to observe; otherwise all.
        told: Called after each piece of work with the number of games played and the candidate.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        game: Callable[[FloatArray], BanditEnv],
        releases: bool,
        seed: int,
        *,
        last: int = 0,
        told: Callable[[int, Candidate], None] = lambda games, candidate: None,
    ) -> None:
        self.algorithm, self.game, self.releases = algorithm, game, releases
        self.last, self._told = last, told
        self.rng = np.random.default_rng(seed)
        self._seed, self._next = seed, 0
        self._games: dict[tuple[int, ...], TranscriptSampler] = {}

    def hits(self, attack: Attack, games: int) -> tuple[int, int]:
        """Return the number of fresh games on each table in which an event occurs."""
        event, candidate = attack
        first = self._reserve(candidate, games)
        looks = self._chunks(candidate, games, first, threads=0)
        first_hits, second_hits = np.sum([[event.hits(shown) for shown in look] for look in looks], axis=0)
        return int(first_hits), int(second_hits)

    def events(self, candidates: Sequence[Candidate], games: int, delta: float, *, last: bool = False) -> list[Attack]:
        """Return the strongest event of each candidate, strongest first.

        Each of two looks plays this many games on each table; `last` events are for the test, and take longer.
        """
        if not candidates:
            return []
        first_games = games if last and not self.releases else min(games, games_at_once(candidates[0]))
        firsts = [(self._reserve(each, first_games), self._reserve(each, games)) for each in candidates]

        def strongest_event(number: int) -> ArmEvent | ReleaseEvent | None:
            candidate, (first, second) = candidates[number], firsts[number]
            look = self._play_both(candidate, first_games, first, 1)
            if self.releases:
                options = draft_events(look, delta=delta, thorough=last)
                return strongest_draft(options, self._chunks(candidate, games, second), delta=delta)
            n_arms = candidate.pair.one.shape[1]
            return strongest_arm_event(look, self._play_both(candidate, games, second, 1), n_arms=n_arms, delta=delta)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            events = list(pool.map(strongest_event, range(len(candidates))))
        attacks = [(event, each) for event, each in zip(events, candidates, strict=True) if event is not None]
        return sorted(attacks, key=lambda attack: -attack[0].score)

    def note(self, candidate: Candidate) -> str:
        """Return why games are played in ordinary Python, or ""."""
        return self._sampler_of(candidate).note

    def _sampler_of(self, candidate: Candidate) -> TranscriptSampler:
        if candidate.held not in self._games:
            held = candidate.held if self.releases else None
            self._games[candidate.held] = TranscriptSampler(
                self.game(candidate.pair.one), self.algorithm, fixed_arms=held
            )
        return self._games[candidate.held]

    def _chunks(
        self, candidate: Candidate, games: int, first: int, *, threads: int = 1
    ) -> Iterator[tuple[Transcripts, Transcripts]]:
        """Yield games on both tables, in chunks."""
        most = games_at_once(candidate)
        for start in range(0, games, most):
            number = min(most, games - start)
            yield self._play_both(candidate, number, first, threads)
            first += self._trials(candidate, number)

    def _reserve(self, candidate: Candidate, games: int) -> int:
        """Return the first of the trials whose streams the games on both tables use."""
        first = self._next
        whole, remainder = divmod(games, games_at_once(candidate))
        self._next += whole * self._trials(candidate, games_at_once(candidate)) + self._trials(candidate, remainder)
        return first

    def _trials(self, candidate: Candidate, games: int) -> int:
        return 2 * (games if self._sampler_of(candidate).note else trials_of(games))

    def _play_both(self, candidate: Candidate, games: int, first: int, threads: int) -> tuple[Transcripts, Transcripts]:
        plays, pair = self._sampler_of(candidate), candidate.pair
        first_env, second_env = self.game(pair.one), self.game(pair.other)
        second = first + self._trials(candidate, games) // 2
        transcripts = []
        for env, trial in ((first_env, first), (second_env, second)):
            games_shown = plays.play(env, games, seed=self._seed, first_trial=trial, threads=threads)
            if self.last:
                end = slice(-self.last, None)
                games_shown = games_shown._replace(
                    values=games_shown.values[:, end].copy(), counts=games_shown.counts[:, end].copy()
                )
            transcripts.append(games_shown)
            self._told(games, candidate)
        return transcripts[0], transcripts[1]


def first_candidates(sampler: Sampler, rounds: int, n_arms: int) -> list[Candidate]:
    """Return the candidates that the search begins with."""
    if not sampler.releases:
        return [Candidate(pair) for pair in candidate_pairs(rounds, n_arms, sampler.rng)]
    # The loss of noise depends little on the gains of other rounds, but much on the arms.
    late = [
        rounds - back for back in (1, 2, 3, max(1, min(sampler.last, rounds)), rounds // 6, rounds // 3, rounds // 2)
    ]
    changed = sorted({at for at in late if 0 <= at < rounds}) if sampler.last else None
    pairs = candidate_pairs(rounds, n_arms, sampler.rng, tables=0, plain=1, changed=changed)
    steps = steps_of(sampler.game(pairs[0].one), sampler.algorithm)
    turns = [
        tuple(step * n_arms // steps if once else step % n_arms for step in range(steps)) for once in (True, False)
    ]
    return [Candidate(pair, held) for held in ((0,) * steps, *turns) for pair in pairs]


def games_in_all(candidates: int, games: int, *, releases: bool, tested: int) -> int:
    """Return about how many games `best_attacks` and the test of `tested` attacks play, on both tables."""
    effort = FROM_RELEASES if releases else FROM_ARMS
    total, tries = 0, FEWEST
    for share, keep in effort.looks:
        tries = min(max(FEWEST, games // share), effort.most)
        total, candidates = total + 4 * tries * candidates, min(keep, candidates)
    total += effort.generations * effort.children * candidates * 4 * tries
    total += 4 * min(max(FEWEST, games // 5), AT_ONCE) * candidates
    return total + 4 * games * min(LAST, candidates) + 2 * games * tested


def best_attacks(sampler: Sampler, candidates: Sequence[Candidate], games: int, *, delta: float) -> list[Attack]:
    """Return attacks, the most promising first, each with its event chosen in as many games as the test has."""
    effort = FROM_RELEASES if sampler.releases else FROM_ARMS
    attacks: list[Attack] = []
    tries = FEWEST
    for share, keep in effort.looks:
        tries = min(max(FEWEST, games // share), effort.most)
        attacks = sampler.events(candidates, tries, delta)[:keep]
        candidates = [candidate for _, candidate in attacks]
    for _ in range(effort.generations):
        parents = [each for each in candidates for _ in range(effort.children)]
        children = [each._replace(pair=vary_pair(each.pair, sampler.rng)) for each in parents]
        attacks = sorted([*attacks, *sampler.events(children, tries, delta)], key=lambda attack: -attack[0].score)
        attacks = attacks[: effort.looks[-1][1]]
        candidates = [candidate for _, candidate in attacks]
    last = sampler.events(candidates, min(max(FEWEST, games // 5), AT_ONCE), delta)[:LAST]
    return sampler.events([candidate for _, candidate in last], games, delta, last=True)
