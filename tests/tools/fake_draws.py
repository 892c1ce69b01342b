"""Random generators that find out from outside what noise is made of, and what hides a change in it."""

import numpy as np
from scipy.optimize import linprog


class Impulse:
    """A random generator whose draw number `hot` is `height` and all others 0; it writes down the scales asked for."""

    def __init__(self, hot: int = -1, *, height: float = 1.0) -> None:
        """Take the number of the draw, from 0; -1 for none."""
        self.hot, self.height = hot, height
        self.asked: list[float] = []

    def laplace(self, location: float, scale: float) -> float:
        assert location == 0.0
        self.asked.append(scale)
        return self.height * (len(self.asked) - 1 == self.hot)

    def laplaces(self, numbers: np.ndarray, scale: float) -> None:
        numbers[:] = [self.laplace(0.0, scale) for _ in numbers]

    def normal(self, location: float, scale: float) -> float:
        return self.laplace(location, scale)


class Numbers:
    """A random generator whose uniform numbers are given, one after another."""

    def __init__(self, *numbers: float) -> None:
        """Take the numbers."""
        self.numbers, self.asked = numbers, 0

    def random(self) -> float:
        self.asked += 1
        return float(self.numbers[self.asked - 1])


class InOrder(np.random.Generator):
    """A random generator of zeros, with which arms that are tried in an order drawn at random are in order."""

    def __init__(self) -> None:
        """Take nothing."""
        super().__init__(np.random.PCG64(0))

    def random(self) -> float:  # type: ignore[override]
        return 0.0


class Counting:
    """A random generator that counts its draws."""

    def __init__(self, seed: int = 0) -> None:
        """Take the seed of the true draws."""
        self._rng = np.random.default_rng(seed)
        self.draws = 0

    def laplace(self, location: float, scale: float) -> float:
        self.draws += 1
        return self._rng.laplace(location, scale)

    def laplaces(self, numbers: np.ndarray, scale: float) -> None:
        numbers[:] = [self.laplace(0.0, scale) for _ in numbers]

    def normal(self, location: float, scale: float) -> float:
        self.draws += 1
        return self._rng.normal(location, scale)


def cheapest_shift(noise: np.ndarray, scales: np.ndarray, move: np.ndarray) -> np.ndarray | None:
    """Return how the draws must change to move what is released by `move`, at the least cost in log-density.

    Args:
        noise: L, `(releases, draws)`: the releases are L times the draws.
        scales: The scale of each draw, `(draws,)`.
        move: `(releases,)`.

    Returns:
        R with L R = move and the least sum of |R_i| / scale_i, `(draws,)`; None if there is none.
    """
    cost = np.concatenate([1 / scales, 1 / scales])
    answer = linprog(cost, A_eq=np.hstack([noise, -noise]), b_eq=move, bounds=(0, None), method="highs-ds")
    assert answer.status in (0, 2)  # solved, or nothing solves it
    return answer.x[: len(scales)] - answer.x[len(scales) :] if answer.status == 0 else None
