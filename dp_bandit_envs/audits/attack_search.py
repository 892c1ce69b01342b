"""The search for attacks: pairs of neighbouring tables, with an event chosen for each, from many looks to few."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits.arm_events import ArmEvent, strongest_arm_event
from dp_bandit_envs.audits.neighbours import Pair, candidate_pairs, varied
from dp_bandit_envs.audits.release_events import ReleaseEvent, drafts, strongest_draft
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation.many_games import Shown, ShownGames, steps_of, trials_of


class Effort(NamedTuple):
    """How long the search takes.

    Attributes:
        looks: For each look over all candidates, by what the number of games of the test is divided, and how many
            candidates remain.
        most: The most games of such a look.
        generations: How often the candidates that remain are varied.
        children: How many variations of each are looked at.
    """

    looks: tuple[tuple[int, int], ...]
    most: int
    generations: int
    children: int = 4


FROM_ARMS = Effort(((200, 24), (50, 8)), most=2**16, generations=4)
FROM_RELEASES = Effort(((20, 12), (10, 6)), most=2**15, generations=1, children=2)
LAST = 4
"""How many candidates are looked at with as many games as the test has."""
AT_ONCE = 2**16
"""The most games that are kept in memory for a test, and in which an event of releases is chosen."""
SHORT = 16
"""Games of so many rounds and fewer are kept in such numbers."""
FEWEST = 100
"""The fewest games of a look."""


class Candidate(NamedTuple):
    """A pair of neighbouring tables, with the arm of each step where arms are held."""

    pair: Pair
    held: tuple[int, ...] = ()


def at_once(candidate: Candidate) -> int:
    """Return the most games of a candidate's length that are kept in memory: fewer of long ones."""
    return max(2**10, AT_ONCE * SHORT // max(SHORT, len(candidate.pair.one)))


Attack = tuple[ArmEvent | ReleaseEvent, Candidate]


class Sampler:
    """Plays games of which no two have the same random numbers.

    Args:
        algorithm: What is attacked.
        game: Makes a game of a table of gains.
        releases: Whether arms are held and releases looked at; otherwise the arms are.
        seed: The seed of everything.
        last: If above 0, how many steps at the end are looked at; otherwise all are.
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
        told: Callable[[int, "Candidate"], None] = lambda games, candidate: None,
    ) -> None:
        self.algorithm, self.game, self.releases = algorithm, game, releases
        self.last, self._told = last, told
        self.rng = np.random.default_rng(seed)
        self._seed, self._next = seed, 0
        self._games: dict[tuple[int, ...], ShownGames] = {}

    def hits(self, attack: Attack, games: int) -> tuple[int, int]:
        """Return in how many fresh games on each table an event happens."""
        event, candidate = attack
        first = self._reserve(candidate, games)
        looks = self._pieces(candidate, games, first, threads=0)
        one, other = np.sum([[event.hits(shown) for shown in look] for look in looks], axis=0)
        return int(one), int(other)

    def events(self, candidates: Sequence[Candidate], games: int, delta: float, *, last: bool = False) -> list[Attack]:
        """Return the strongest event for each candidate that has one, the strongest first.

        Args:
            candidates: The candidates.
            games: Games on each table for each of two looks.
            delta: What the guarantee allows besides epsilon.
            last: Whether the events are chosen for the test, which takes longer.
        """
        if not candidates:
            return []
        first_games = games if last and not self.releases else min(games, at_once(candidates[0]))
        firsts = [(self._reserve(each, first_games), self._reserve(each, games)) for each in candidates]

        def found(place: int) -> ArmEvent | ReleaseEvent | None:
            candidate, (first, second) = candidates[place], firsts[place]
            look = self._both(candidate, first_games, first, 1)
            if self.releases:
                options = drafts(look, delta=delta, thorough=last)
                return strongest_draft(options, self._pieces(candidate, games, second), delta=delta)
            n_arms = candidate.pair.one.shape[1]
            return strongest_arm_event(look, self._both(candidate, games, second, 1), n_arms=n_arms, delta=delta)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            events = list(pool.map(found, range(len(candidates))))
        attacks = [(event, each) for event, each in zip(events, candidates, strict=True) if event is not None]
        return sorted(attacks, key=lambda attack: -attack[0].score)

    def note(self, candidate: Candidate) -> str:
        """Return why games are played in ordinary Python, or ""."""
        return self._plays(candidate).note

    def _plays(self, candidate: Candidate) -> ShownGames:
        if candidate.held not in self._games:
            held = candidate.held if self.releases else None
            self._games[candidate.held] = ShownGames(self.game(candidate.pair.one), self.algorithm, held=held)
        return self._games[candidate.held]

    def _pieces(
        self, candidate: Candidate, games: int, first: int, *, threads: int = 1
    ) -> Iterator[tuple[Shown, Shown]]:
        """Yield games on both tables, some at a time."""
        most = at_once(candidate)
        for start in range(0, games, most):
            number = min(most, games - start)
            yield self._both(candidate, number, first, threads)
            first += self._trials(candidate, number)

    def _reserve(self, candidate: Candidate, games: int) -> int:
        """Return the first of the trials whose streams the games on both tables use."""
        first = self._next
        whole, rest = divmod(games, at_once(candidate))
        self._next += whole * self._trials(candidate, at_once(candidate)) + self._trials(candidate, rest)
        return first

    def _trials(self, candidate: Candidate, games: int) -> int:
        return 2 * (games if self._plays(candidate).note else trials_of(games))

    def _both(self, candidate: Candidate, games: int, first: int, threads: int) -> tuple[Shown, Shown]:
        plays, pair = self._plays(candidate), candidate.pair
        one, other = self.game(pair.one), self.game(pair.other)
        second = first + self._trials(candidate, games) // 2
        shown = []
        for env, trial in ((one, first), (other, second)):
            found = plays.play(env, games, seed=self._seed, first_trial=trial, threads=threads)
            if self.last:
                end = slice(-self.last, None)
                found = found._replace(values=found.values[:, end].copy(), counts=found.counts[:, end].copy())
            shown.append(found)
            self._told(games, candidate)
        return shown[0], shown[1]


def first_candidates(sampler: Sampler, rounds: int, n_arms: int) -> list[Candidate]:
    """Return the candidates that the search begins with."""
    if not sampler.releases:
        return [Candidate(pair) for pair in candidate_pairs(rounds, n_arms, sampler.rng)]
    # What noise loses hardly depends on the gains of other rounds, but it does on the arms.
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
    """Return about how many games `best_attacks` and the test of some attacks play, on both tables.

    Args:
        candidates: Their number at the beginning.
        games: The number of games of the test.
        releases: Whether releases are looked at.
        tested: The number of attacks that are tested.
    """
    effort = FROM_RELEASES if releases else FROM_ARMS
    total, tries = 0, FEWEST
    for share, keep in effort.looks:
        tries = min(max(FEWEST, games // share), effort.most)
        total, candidates = total + 4 * tries * candidates, min(keep, candidates)
    total += effort.generations * effort.children * candidates * 4 * tries
    total += 4 * min(max(FEWEST, games // 5), AT_ONCE) * candidates
    return total + 4 * games * min(LAST, candidates) + 2 * games * tested


def best_attacks(sampler: Sampler, candidates: Sequence[Candidate], games: int, *, delta: float) -> list[Attack]:
    """Return attacks, the most promising first, each with its event chosen in as many games as the test has.

    Args:
        sampler: Plays the games.
        candidates: Where the search begins.
        games: The number of games of the test.
        delta: What the guarantee allows besides epsilon.
    """
    effort = FROM_RELEASES if sampler.releases else FROM_ARMS
    attacks: list[Attack] = []
    tries = FEWEST
    for share, keep in effort.looks:
        tries = min(max(FEWEST, games // share), effort.most)
        attacks = sampler.events(candidates, tries, delta)[:keep]
        candidates = [candidate for _, candidate in attacks]
    for _ in range(effort.generations):
        parents = [each for each in candidates for _ in range(effort.children)]
        children = [each._replace(pair=varied(each.pair, sampler.rng)) for each in parents]
        attacks = sorted([*attacks, *sampler.events(children, tries, delta)], key=lambda attack: -attack[0].score)
        attacks = attacks[: effort.looks[-1][1]]
        candidates = [candidate for _, candidate in attacks]
    last = sampler.events(candidates, min(max(FEWEST, games // 5), AT_ONCE), delta)[:LAST]
    return sampler.events([candidate for _, candidate in last], games, delta, last=True)
