"""The releases of a game as a linear map of gains and noise, and the cheapest change of the noise that hides a row.

Additive noise that does not depend on gains makes what is released o = D g + L z, with gains g and draws z of scale 1.
A change v of one round's gains is hidden by a change r of the draws with L r = D v. For Laplace draws it costs the sum
of |r_i| in log-density, attained far out in the direction of r; for normal draws, half the sum of r_i^2 is the
Renyi divergence of order 1 (rho). The cheapest r gives the exact loss. Nothing here reads what a mechanism declares.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.audits.held_game import FakeDraws, HeldGame, Released
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.optional import require
from dp_bandit_envs.privacy.facts import Values
from dp_bandit_envs.protocols import FloatArray

IMPULSE = 0.25
"""The largest change of a released number in the search for the map: mechanisms that clip are linear so far inside."""
SMALLEST = 1e-6
"""The smallest impulse, in scales."""
SAME = 1e-7
"""Two numbers are the same below this share of the largest one."""
TABLES = 3
"""How many random tables of gains at the ends of the range, and as many inside it, are held to the map."""
MOST_SIGNS = 10
"""The most values that a round may reveal: all signs of their changes are tried."""


class LinearNoise(NamedTuple):
    """The map of one game.

    Attributes:
        noise: L, `(releases, draws)`, for draws of scale 1.
        moves: D, `(releases, rounds, n_values)`: how a change of one gain by 1 moves what is released.
        kind: `"laplace"` or `"normal"`; `""` if nothing is drawn.
        of_value: The number of the value that each release is of.
    """

    noise: FloatArray
    moves: FloatArray
    kind: str
    of_value: list[int]


def linear_noise(game: HeldGame) -> LinearNoise:
    """Return the map of a game.

    Raises:
        NotAuditedError: If its noise is not additive, depends on gains, or is of two kinds.
    """
    values = game.layers[0][1].values
    middle, half = (values.low + values.high) / 2, values.width / 2
    base_gains = np.full((len(game.revealed), game.layers[0][1].n_values), middle)
    base = game.play(base_gains, FakeDraws())
    kinds = {kind for kind, scale in base.asked if scale > 0}
    if len(kinds) > 1:
        raise NotAuditedError("its draws are Laplace and normal ones together, for which no exact loss is known here")

    def moved(gains: FloatArray, heights: FloatArray) -> FloatArray:
        return _difference(base, game.play(gains, FakeDraws(heights.tolist())))

    height = np.array([IMPULSE * half / max(scale, half) for _, scale in base.asked])
    columns = []
    for number in range(len(height)):
        row = np.zeros(len(height))
        row[number] = height[number]
        column = moved(base_gains, row)
        # A mechanism may multiply a draw of scale 1 itself, and clip what so large an impulse becomes.
        while np.abs(column).max(initial=0.0) > 1.01 * IMPULSE * half and height[number] > SMALLEST:
            row[number] = height[number] = height[number] / 8
            column = moved(base_gains, row)
        columns.append(column / height[number])
    noise = np.array(columns).T if columns else np.zeros((len(base.values), 0))
    moves = np.zeros((len(base.values), *base_gains.shape))
    for t, seen in enumerate(game.revealed):
        for value in seen:
            gains = base_gains.copy()
            gains[t, value] += half
            moves[:, t, value] = moved(gains, np.zeros(0)) / half
    # A second route to the same numbers: all draws at once, a little, with signs; and all gains at once.
    some = height * np.cos(np.arange(len(height)))
    if not same(moved(base_gains, some), noise @ some):
        raise NotAuditedError("what it releases is not linear in its draws")
    rng = np.random.default_rng(0)
    for table in range(2 * TABLES):
        # Multiples that sums of gains do not round.
        step = half * (rng.integers(-(2**20), 2**20, base_gains.shape) / 2**20)
        step = np.copysign(half, step) if table % 2 else step
        if not same(moved(base_gains + step, np.zeros(0)), np.tensordot(moves, step)):
            raise NotAuditedError("what it releases is not linear in the gains")
    return LinearNoise(noise, moves, kinds.pop() if kinds else "", [value for _, value, _ in base.places])


def same(found: FloatArray, expected: FloatArray) -> bool:
    """Whether two arrays are equal but for rounding."""
    return bool(np.abs(found - expected).max(initial=0.0) <= SAME * (1 + np.abs(expected).max(initial=0.0)))


def _difference(base: Released, other: Released) -> FloatArray:
    if base.asked != other.asked or base.places != other.places:
        raise NotAuditedError("the number of its draws, their scales or its counts depend on gains or noise")
    return other.values - base.values


class RowLoss(NamedTuple):
    """What one round loses.

    Attributes:
        loss: For the worst change of its values; rho for normal draws, inf if nothing hides it.
        change: That change, `(n_values,)`.
        draws: The change of the draws that hides it, `(draws,)`, in units of their scales; None if nothing does.
    """

    loss: float
    change: FloatArray
    draws: FloatArray | None


def row_loss(found: LinearNoise, t: int, seen: list[int], values: Values) -> RowLoss:
    """Return the loss of round t for the worst change of its values.

    Args:
        found: The map.
        t: The round.
        seen: The numbers of the values that it reveals.
        values: Public facts about them.
    """
    moves = found.moves[:, t]
    if values.norm == "l2":
        return _ball_loss(found, moves, seen, values.own)
    losses = [_loss_of(found, moves, change) for change in row_changes(seen, moves.shape[1], values)]
    return max(losses, key=lambda each: each.loss)


def _loss_of(found: LinearNoise, moves: FloatArray, change: FloatArray) -> RowLoss:
    """Return the loss for one change, and what hides it."""
    draws = cheapest_change(found, moves @ change)
    if draws is None:
        return RowLoss(math.inf, change, None)
    cost = (draws**2).sum() / 2 if found.kind == "normal" else np.abs(draws).sum()
    return RowLoss(float(cost), change, draws)


def _ball_loss(found: LinearNoise, moves: FloatArray, seen: list[int], diameter: float) -> RowLoss:
    """Return the loss for two rows in an L2 ball, where every value has draws of its own.

    Then the costs c_i of a change of value i by 1 add up: for Laplace draws to sum c_i |v_i|, which on |v| = D is at
    most D |c|; for normal draws to sum c_i v_i^2, at most D^2 max c_i. Both are attained.
    """
    owners = np.array(found.of_value)
    own = [np.abs(found.noise[owners == value]).max(axis=0, initial=0.0) > 0 for value in seen]
    if (np.sum(own, axis=0) > 1).any():
        raise NotAuditedError("its vectors are in an L2 ball, and their coordinates share draws")
    for value in seen:
        if np.abs(moves[owners != value, value]).max(initial=0.0) > 0:
            raise NotAuditedError("its vectors are in an L2 ball, and a coordinate moves another one's releases")
    units = np.eye(moves.shape[1])
    costs = np.array([_loss_of(found, moves, units[value]).loss for value in seen])
    if not np.isfinite(costs).all() or not costs.any():
        return RowLoss(float(costs.max()), units[seen[0]], None if costs.any() else np.zeros(found.noise.shape[1]))
    worst = units[seen[int(costs.argmax())]] if found.kind == "normal" else units[seen].T @ (costs / norm(costs))
    return _loss_of(found, moves, diameter * worst)


def norm(numbers: FloatArray) -> float:
    """Return the L2 norm."""
    return float(np.sqrt((numbers * numbers).sum()))


def row_changes(seen: list[int], n_values: int, values: Values) -> list[FloatArray]:
    """Return the changes of one round's values that can lose most, each `(n_values,)`.

    The loss is convex in the change, so the extreme points of all differences of two rows suffice: all signs where
    every value has a range of its own, single values in the L1 norm. A change and its negative lose the same.
    """
    changes = []
    if values.norm == "l1":
        for value in seen:
            changes.append(np.eye(n_values)[value] * values.own)
        return changes
    if len(seen) > MOST_SIGNS:
        raise NotAuditedError(f"a round reveals {len(seen)} values, and all signs are tried for {MOST_SIGNS} at most")
    for signs in itertools.product((1.0, -1.0), repeat=max(len(seen) - 1, 0)):
        change = np.zeros(n_values)
        change[seen] = np.array([1.0, *signs])[: len(seen)] * values.width
        changes.append(change)
    return changes


def cheapest_change(found: LinearNoise, move: FloatArray) -> FloatArray | None:
    """Return the cheapest change of the draws that moves what is released by `move`, or None if there is none.

    Args:
        found: The map.
        move: `(releases,)`.

    Returns:
        In units of the draws' scales, `(draws,)`: least sum of absolute values for Laplace draws, least squares for
        normal ones.
    """
    if not move.any():
        return np.zeros(found.noise.shape[1])
    if not found.noise.size:
        return None
    # Equal rows say the same; rows of unit size make one tolerance fit all.
    both = np.column_stack([found.noise, move])
    both = both[np.abs(both).max(axis=1) > 0]
    both = both / np.abs(both[:, :-1]).max(axis=1, keepdims=True, initial=1e-300)
    noise, target = both[:, :-1], both[:, -1]
    if not np.isfinite(target).all() or np.abs(target).max() > 1e200:
        return None
    change, _, rank, _ = np.linalg.lstsq(noise, target, rcond=1e-10)
    if np.abs(noise @ change - target).max() > SAME * (1 + np.abs(target).max()):
        return None
    if found.kind == "normal" or rank == noise.shape[1]:
        return np.asarray(change)
    return _linear_programme(noise, target)


def _linear_programme(noise: FloatArray, target: FloatArray) -> FloatArray:
    """Return the r with noise r = target and the least sum of |r_i|."""
    optimize = require("scipy.optimize", extra="audits")
    draws = noise.shape[1]
    answer = optimize.linprog(
        np.ones(2 * draws), A_eq=np.hstack([noise, -noise]), b_eq=target, bounds=(0, None), method="highs-ds"
    )
    if answer.status != 0:
        raise NotAuditedError(f"the linear programme was not solved ({answer.message})")
    change: FloatArray = answer.x[:draws] - answer.x[draws:]
    return change
