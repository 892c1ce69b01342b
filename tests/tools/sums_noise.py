"""The exact privacy loss of a short game through a wrapper that releases sums, found from outside.

All noise here is additive and does not depend on gains, so what comes out of a game is o = D g + L z: linear in the
draws z. One draw at a time is set to a large number and all others to 0, which shows L; one gain at a time is set to 1,
which shows D. A change of gain j by 1 is hidden by a change of the draws R_j with L R_j = D_j, which costs
sum_i |R_ij| / scale_i in log-density; the cheapest R_j is the privacy loss, attained far out where all draws have the
signs of R_j. Nothing here looks at what a mechanism says of itself.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from tests.tools.boundary_games import game

SIZE = 2.0**38
"""What the one draw is: so large that rounding to a grid of a thousandth is lost in it."""


class Impulse:
    """A random generator whose draw number `hot` is `SIZE` and all others 0; it writes down the scales asked for."""

    def __init__(self, hot: int = -1) -> None:
        """Take the number of the draw, from 0; -1 for none."""
        self.hot = hot
        self.asked: list[float] = []

    def laplace(self, location: float, scale: float) -> float:
        """Return `SIZE` or 0."""
        assert location == 0.0
        self.asked.append(scale)
        return SIZE * (len(self.asked) - 1 == self.hot)

    def normal(self, location: float, scale: float, size: int) -> np.ndarray:
        """Return an array of zeros, with `SIZE` in one place or none."""
        assert location == 0
        numbers = np.arange(len(self.asked), len(self.asked) + size)
        self.asked += [scale] * size
        return SIZE * (numbers == self.hot)


class Counting:
    """A random generator that counts its draws."""

    def __init__(self, seed: int = 0) -> None:
        """Take the seed of the true draws."""
        self._rng = np.random.default_rng(seed)
        self.draws = 0

    def laplace(self, location: float, scale: float) -> float:
        """Return a draw."""
        self.draws += 1
        return self._rng.laplace(location, scale)

    def normal(self, location: float, scale: float, size: int) -> np.ndarray:
        """Return draws."""
        self.draws += size
        return self._rng.normal(location, scale, size)


def play(env: Any, arms: Sequence[int], rng: Any) -> tuple[np.ndarray, np.ndarray]:
    """Play these arms with the noise of `rng`; return all released sums and counts, each `(steps, n_arms)`."""
    env.reset(seed=0)
    env._released._rng = rng
    results = [env.step(arm) for arm in arms]
    assert results[-1][2]
    return np.array([result[0]["sum"] for result in results]), np.array([result[0]["count"] for result in results])


class Map(NamedTuple):
    """What comes out of a game as a linear map.

    Attributes:
        noise: L, `(releases, draws)`.
        scales: The scale of each draw, `(draws,)`.
        moves: D, `(releases, rounds)`: how a change of one round's gains from 0 to 1 moves what comes out.
    """

    noise: np.ndarray
    scales: np.ndarray
    moves: np.ndarray


def linear_map(wrap: Callable[[Any], Any], arms: Sequence[int], rounds: int, make: Callable[..., Any] = game) -> Map:
    """Return the map of a game of `rounds` rounds in which the agent plays `arms`."""
    zeros = np.zeros((rounds, 2))
    silent = Impulse()
    base, counts = play(wrap(make(zeros)), arms, silent)
    assert not base.any()
    columns = []
    for hot in range(len(silent.asked)):
        impulse = Impulse(hot)
        columns.append(play(wrap(make(zeros)), arms, impulse)[0].ravel() / SIZE)
        assert impulse.asked == silent.asked
    moves = []
    for changed in range(rounds):
        table = zeros.copy()
        table[changed] = 1.0
        rng = Impulse()
        sums, again = play(wrap(make(table)), arms, rng)
        # Neither how much is drawn nor what is counted depends on gains.
        assert rng.asked == silent.asked
        np.testing.assert_array_equal(counts, again)
        moves.append(sums.ravel())
    noise = np.array(columns).T if columns else np.zeros((base.size, 0))
    return Map(noise, np.array(silent.asked), np.array(moves).T)


def laplace_loss(found: Map, rounds: Sequence[int] | None = None) -> np.ndarray:
    """Return the privacy loss of each round, `(rounds,)`; inf where no change of the draws hides it."""
    noise, scales, moves = found
    rounds = range(moves.shape[1]) if rounds is None else rounds
    # Sums that were held since the step before say nothing new.
    rows = np.unique(np.hstack([noise, moves]).round(9), axis=0, return_index=True)[1]
    noise, moves = noise[rows], moves[rows]
    losses = []
    for changed in rounds:
        if not moves[:, changed].any():
            losses.append(0.0)
        elif not len(scales):
            losses.append(np.inf)
        else:
            cost = np.concatenate([1 / scales, 1 / scales])
            answer = linprog(
                cost, A_eq=np.hstack([noise, -noise]), b_eq=moves[:, changed], bounds=(0, None), method="highs-ds"
            )
            assert answer.status in (0, 2)  # solved, or nothing solves it
            losses.append(answer.fun if answer.status == 0 else np.inf)
    return np.array(losses)
