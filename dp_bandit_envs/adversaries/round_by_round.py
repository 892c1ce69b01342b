"""Adversaries that draw their gains a round at a time, by one plain function for every way of playing."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.filling import filler
from dp_bandit_envs.protocols import FloatArray


class RoundByRound(Adversary):
    """An adversary with a plain function of one round, which `next_gains` and compiled games call.

    Attributes:
        next_round: A static method, `next_round(state, t, row, rng)`, that writes the gains of round t, from 1, into
            `row`, of shape `(n_arms,)`. It draws single numbers from `rng`, round by round, and changes arrays of the
            state only in place. So that many games can be played in vector registers, it has no early return and no
            loop but those over arms, and its conditions and indices depend on t, on arms and on constants of the state,
            not on gains or draws.
    """

    next_round: ClassVar[Callable[..., None]]
    _state: Any

    @abc.abstractmethod
    def first_round_state(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the state before round 1, a tuple or NamedTuple of arrays (float64 or int64) and of constants.

        Arrays are new ones if rounds change them; what differs between games is in arrays. It may draw from `rng`.
        """

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._rng = rng
        self._state = self.first_round_state(rng)
        self._round = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        gains = np.empty((rounds, self.n_arms))
        self._draw(type(self).next_round, gains)
        return gains

    def fill(self, gains: FloatArray, *, check: bool = False) -> None:
        """Write the gains of the next `len(gains)` rounds into `gains`, an array of shape `(rounds, n_arms)`."""
        if not self.has_methods_of(RoundByRound):
            super().fill(gains, check=check)
            return
        self._draw(type(self).next_round, gains)
        if check:
            self.check_range(gains)

    @property
    def by_rounds(self) -> Self | None:
        """Itself, if its gains are those of `next_round`: if no subclass has a `next_gains` of its own, for example."""
        return self if self.has_methods_of(RoundByRound) else None

    def _draw(self, function: Callable[..., None], rows: FloatArray) -> None:
        """Call a function like `next_round` for each of the next rounds, with the rows of an array."""
        filler(function).fill(self._state, self._round + 1, rows, self._rng)
        self._round += len(rows)
