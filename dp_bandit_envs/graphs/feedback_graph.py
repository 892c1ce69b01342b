"""Which gains a round reveals: for each arm, the arms whose gains are seen when it is played."""

import dataclasses
import functools
from collections.abc import Hashable, Iterable

import numpy as np

from dp_bandit_envs.protocols import IntArray


@dataclasses.dataclass(frozen=True, eq=False)
class FeedbackGraph:
    """A feedback graph stored as rows of arm numbers; memory is linear in arms and edges.

    Playing arm i reveals the gains of `revealed_by(i)`: its closed neighbourhood. In a directed graph these are the
    arms that an edge leads to.

    Attributes:
        starts: Where each arm's row begins in `revealed`, shape `(n_arms + 1,)`.
        revealed: The arms that each arm reveals, ascending within a row, shape `(entries,)`.
        revealer_starts, revealers: The transpose: the arms that reveal each arm. In an undirected graph, the same two
            arrays.
        names: The nodes' original names, in the order of the arms; None if they were arm numbers.
    """

    starts: IntArray
    revealed: IntArray
    revealer_starts: IntArray
    revealers: IntArray
    names: tuple[Hashable, ...] | None = None

    @classmethod
    def from_edges(
        cls,
        n_arms: int,
        sources: Iterable[int],
        targets: Iterable[int],
        *,
        directed: bool,
        self_loops: bool = True,
        names: tuple[Hashable, ...] | None = None,
    ) -> "FeedbackGraph":
        """Make a graph from its edges; duplicate edges count once.

        Args:
            n_arms: Number of arms K.
            sources: Where each edge begins, in [0, K).
            targets: Where each edge leads.
            directed: Whether playing a source reveals its target, but not the other way round.
            self_loops: Whether every arm reveals itself; otherwise only those with an edge to themselves.
            names: As in the attribute.
        """
        first, second = (
            np.asarray(ends if isinstance(ends, np.ndarray) else list(ends), np.int64) for ends in (sources, targets)
        )
        for ends in (first, second):
            if ends.size and not (ends.min() >= 0 and ends.max() < n_arms):
                raise ValueError(f"edges must join arms in [0, {n_arms - 1}]; one of them does not.")
        if not directed:
            first, second = np.concatenate([first, second]), np.concatenate([second, first])
        if self_loops:
            every = np.arange(n_arms)
            first, second = np.concatenate([first, every]), np.concatenate([second, every])
        keys = np.unique(first * n_arms + second)
        first, second = keys // n_arms, keys % n_arms
        starts = np.searchsorted(first, np.arange(n_arms + 1))
        if not directed:
            return cls(starts, second, starts, second, names)
        order = np.lexsort((first, second))
        return cls(starts, second, np.searchsorted(second[order], np.arange(n_arms + 1)), first[order], names)

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.starts) - 1

    @property
    def directed(self) -> bool:
        """Whether an arm may reveal one that does not reveal it."""
        return self.revealers is not self.revealed

    @property
    def most_revealed(self) -> int:
        """The most gains that one round reveals: the L1 sensitivity of observations."""
        return int(np.diff(self.starts).max())

    @property
    def edges(self) -> int:
        """Number of edges without self-loops; an undirected edge counts twice."""
        rows = np.repeat(np.arange(self.n_arms), np.diff(self.starts))
        return int(np.count_nonzero(rows != self.revealed))

    @functools.cached_property
    def reveals_itself(self) -> bool:
        """Whether every arm reveals its own gain."""
        rows = np.repeat(np.arange(self.n_arms), np.diff(self.starts))
        return int(np.count_nonzero(rows == self.revealed)) == self.n_arms

    @functools.cached_property
    def independent_arms(self) -> int:
        """The size of an independent set, in which no arm reveals another, found greedily by degree: at most alpha."""
        taken = np.zeros(self.n_arms, np.bool_)
        found = 0
        for arm in np.argsort(np.diff(self.starts), kind="stable"):
            if not taken[arm]:
                found += 1
                taken[self.revealed_by(arm)] = True
                taken[self.revealers[self.revealer_starts[arm] : self.revealer_starts[arm + 1]]] = True
                taken[arm] = True
        return found

    @functools.cached_property
    def clique_cover(self) -> list[list[int]]:
        """Cliques that together contain all arms, found greedily by degree.

        In a clique every arm reveals every other. The number of these cliques is an upper bound on the clique cover
        number, the chromatic number of the complement.
        """
        rows = [set(self.revealed_by(arm).tolist()) for arm in range(self.n_arms)]
        left = set(range(self.n_arms))
        cover = []
        for arm in np.argsort(np.diff(self.starts), kind="stable").tolist():
            if arm not in left:
                continue
            clique = [arm]
            # Neighbours of low degree first, so that fewer of them remain as cliques of one arm.
            for other in sorted(rows[arm] & left - {arm}, key=lambda one: len(rows[one])):
                if all(other in rows[member] and member in rows[other] for member in clique):
                    clique.append(other)
            left -= set(clique)
            cover.append(sorted(clique))
        return cover

    def revealed_by(self, arm: int) -> IntArray:
        """Return the arms whose gains are seen when `arm` is played, ascending."""
        return self.revealed[self.starts[arm] : self.starts[arm + 1]]

    def copy(self) -> "FeedbackGraph":
        """Return a graph with its own arrays; changing them changes no game."""
        starts, revealed = self.starts.copy(), self.revealed.copy()
        if not self.directed:
            return FeedbackGraph(starts, revealed, starts, revealed, self.names)
        return FeedbackGraph(starts, revealed, self.revealer_starts.copy(), self.revealers.copy(), self.names)

    def capped(self, most: int, rng: np.random.Generator) -> "FeedbackGraph":
        """Return a graph in which an arm reveals at most `most` arms: itself, if it did before, and others at random.

        The draw depends on the graph only, never on gains, so the result is public.
        """
        rows, kept = [], []
        for arm in range(self.n_arms):
            row = self.revealed_by(arm)
            if len(row) > most:
                others = row[row != arm]
                room = most - (len(others) < len(row))
                row = np.append(rng.choice(others, room, replace=False), [arm] * (len(others) < len(row)))
            rows.append(np.full(len(row), arm))
            kept.append(row)
        return FeedbackGraph.from_edges(
            self.n_arms,
            np.concatenate(rows),
            np.concatenate(kept),
            directed=True,
            self_loops=False,
            names=self.names,
        )
