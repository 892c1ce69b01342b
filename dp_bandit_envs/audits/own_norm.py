r"""The exact loss of own-norm noise: vectors with density proportional to :math:`e^{-\lVert z \rVert / b}` on nodes.

Every coordinate has the same map L from nodes to releases. A change of round t by a vector v is hidden by a change of
node n by :math:`R_n v` with L R = the step of that round, at the cost :math:`\sum_n |R_n| \lVert v \rVert` in units of
the scale. No other change is cheaper: let u be a vector with :math:`\langle u, v \rangle = \lVert v \rVert` that no
vector's product with exceeds its norm; then its products with the nodes' changes solve the same problem for numbers.
"""

from typing import Any

import numpy as np

from dp_bandit_envs.audits.held_game import HeldGame, Released
from dp_bandit_envs.audits.linear_noise import SAME, TABLES, LinearNoise, cheapest_change, same
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.protocols import FloatArray

HEIGHT = 2.0**20
"""How far out the one vector is that is not 0."""


class FakeNodes:
    """A random generator for own-norm noise in which some nodes lie on an axis, and all others are 0.

    A node of the sup norm is one Gamma(d + 1) draw times d numbers of [-1, 1]; of L2, a Gamma(d) draw times a normal
    vector of length 1.

    Args:
        n_values: The dimension d.
        hot: The height and the axis of each node that is not 0, by its number.
    """

    def __init__(self, n_values: int, hot: dict[int, tuple[float, int]]) -> None:
        self._d, self._hot = n_values, hot
        self.asked: list[tuple[str, float]] = []
        self._axis = self._left = 0

    def standard_normal(self) -> float:
        """Return a coordinate of the next node's direction."""
        if self._left == 0:
            self._left, self._axis = self._d, self._hot.get(len(self.asked), (0.0, 0))[1]
        self._left -= 1
        return float(self._d - 1 - self._left == self._axis)

    def standard_gamma(self, shape: float) -> float:
        """Return the next node's norm."""
        number = len(self.asked)
        height, axis = self._hot.get(number, (0.0, 0))
        if shape == self._d + 1.0 and self._left == 0:
            self._left, self._axis = self._d, axis
            self.asked.append(("sup", shape))
        elif shape == float(self._d) and self._left == 0:
            self.asked.append(("l2", shape))
        else:
            raise NotAuditedError(
                f"its noise draws Gamma({shape:g}), which is no own-norm noise in dimension {self._d}"
            )
        return height

    def signed_uniform(self) -> float:
        """Return a coordinate of the node's direction, 1 or 0."""
        if self._left == 0:
            raise NotAuditedError("it draws uniform numbers besides own-norm noise")
        self._left -= 1
        return 1.0 if self._d - 1 - self._left == self._axis else 0.0

    def __getattr__(self, name: str) -> Any:
        raise NotAuditedError(f"it draws own-norm noise and another kind ({name}) together")


def own_norm_losses(game: HeldGame) -> FloatArray:
    """Return the exact loss of each round, `(rounds,)`, of a game whose lowest mechanism adds own-norm noise.

    Raises:
        NotAuditedError: If the noise is of another norm than the values' differences, or not as above.
    """
    below = game.layers[0][1]
    d, values = below.n_values, below.values
    middle = (values.low + values.high) / 2
    base_gains = np.full((len(game.revealed), d), middle)
    base = game.play(base_gains, FakeNodes(d, {}))
    norms = {norm for norm, _ in base.asked}
    if norms != {values.norm}:
        raise NotAuditedError(f"its noise has the shape of {norms}, and the values' differences that of {values.norm}")

    def moved(gains: FloatArray, hot: dict[int, tuple[float, int]]) -> FloatArray:
        return _table(base, game.play(gains, FakeNodes(d, hot)), d)

    columns = [_of_one(moved(base_gains, {node: (HEIGHT, 0)}), 0) / HEIGHT for node in range(len(base.asked))]
    noise = np.array(columns).T.reshape(-1, len(base.asked))
    some = {node: (HEIGHT * (1 + node % 3), node % d) for node in range(len(base.asked))}
    expected = np.zeros((len(noise), d))
    for node, (height, axis) in some.items():
        expected[:, axis] += noise[:, node] * height
    # A second route to the same numbers, with all coordinates and nodes at once.
    if not same(moved(base_gains, some), expected):
        raise NotAuditedError("what it releases is not linear in its nodes, or differs from coordinate to coordinate")
    losses, moves = np.zeros(len(game.revealed)), np.zeros((len(noise), len(game.revealed)))
    for t in range(len(losses)):
        steps = [_step(moved, base_gains, t, axis, values.width) for axis in range(d)]
        if any(np.abs(step - steps[0]).max(initial=0.0) > SAME for step in steps):
            raise NotAuditedError("a round moves its coordinates by different maps")
        change = cheapest_change(LinearNoise(noise, np.zeros(0), "laplace", []), steps[0])
        losses[t] = np.inf if change is None else float(np.abs(change).sum()) * values.own
        moves[:, t] = steps[0]
    rng, near = np.random.default_rng(0), {node: (height / HEIGHT, axis) for node, (height, axis) in some.items()}
    for table in range(2 * TABLES):
        step = rng.uniform(-values.width / 2, values.width / 2, base_gains.shape)
        step = np.copysign(values.width / 2, step) if table % 2 else step
        if not same(moved(base_gains + step, near), expected / HEIGHT + moves @ step):
            raise NotAuditedError("what it releases is not linear in the gains")
    return losses


def _step(moved: Any, base_gains: FloatArray, t: int, axis: int, width: float) -> FloatArray:
    """Return how a change of one gain by 1 moves the releases of its coordinate."""
    gains = base_gains.copy()
    gains[t, axis] += width / 4
    return _of_one(moved(gains, {}), axis) / (width / 4)


def _of_one(table: FloatArray, axis: int) -> FloatArray:
    """Return a column of a table whose other columns are 0, or raise."""
    if np.abs(np.delete(table, axis, axis=1)).max(initial=0.0) > SAME * np.abs(table).max(initial=0.0):
        raise NotAuditedError("a coordinate's noise or gain moves the releases of another one")
    column: FloatArray = table[:, axis]
    return column


def _table(base: Released, other: Released, d: int) -> FloatArray:
    """Return the changes of the releases, `(releases of a coordinate, d)`."""
    if base.places != other.places or base.asked != other.asked:
        raise NotAuditedError("the number of its draws or its counts depend on gains or noise")
    changes = other.values - base.values
    by_value = [[change for change, place in zip(changes, base.places, strict=True) if place[1] == i] for i in range(d)]
    if len({len(column) for column in by_value}) > 1:
        raise NotAuditedError("its coordinates have different numbers of releases")
    return np.array(by_value).T.reshape(-1, d)
