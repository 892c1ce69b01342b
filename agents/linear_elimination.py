"""G-optimal elimination: plays the live arms by an optimal design of their features and drops worse arms."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.optimal_design import basis_of, factorise, solve
from dp_bandit_envs.agents.random_labels import shuffle
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums
from dp_bandit_envs.theory.linear_bounds import DESIGN_SLACK, LAPLACE_SPREAD, batch_lengths, elimination_nats

PLACE: Final = 0
PLAYS_LEFT: Final = 1
ROUNDS_LEFT: Final = 2
BATCH: Final = 3
ARMS_LEFT: Final = 4
RANK: Final = 5
FLAT: Final = 1e-18
"""Live arms whose squared distance from the span of the others is below this share of their largest are in it."""


class State(NamedTuple):
    """The state of G-optimal elimination; tables are flat, row after row.

    Attributes:
        alive: 1 for an arm that may still be best, else 0, `(n_arms,)`.
        order: All arms, in the order of this batch, `(n_arms,)`.
        planned: How often each arm is played in this batch, `(n_arms,)`.
        status: `PLACE` of the arm in the order; its `PLAYS_LEFT`; `ROUNDS_LEFT` in the batch; `BATCH`, from 0;
            `ARMS_LEFT` alive; `RANK` of their features. One array, because compiled code can write to arrays only.
        points: The features in a basis of their span, `(n_arms * rank,)`; empty without features.
        room: The live arms' features minus their projections, `(n_arms * rank,)`.
        coordinates: The live arms' features in the basis of the pivots, `(n_arms * rank,)`.
        weights: The design: the share of each arm, `(n_arms,)`.
        leverages: The design's leverage at each arm; later each arm's estimate, `(n_arms,)`.
        table: Buffer for a matrix, `(rank * rank,)`.
        pivots: The arms whose features are the basis, `(rank,)`.
        solution, estimate: Buffers, `(rank,)`.
        lengths: The lengths of the batches, in rounds.
        nats: ln(2 K m T), with m the number of batches.
        scale: Laplace scale, or standard deviation, of the noise in a sum.
        normal: Whether the noise is Gaussian.
    """

    alive: IntArray
    order: IntArray
    planned: IntArray
    status: IntArray
    points: FloatArray
    room: FloatArray
    coordinates: FloatArray
    weights: FloatArray
    leverages: FloatArray
    table: FloatArray
    pivots: IntArray
    solution: FloatArray
    estimate: FloatArray
    lengths: IntArray
    nats: float
    scale: float
    normal: bool


def select(state: State, rng: np.random.Generator) -> int:
    """Return the arm whose turn it is; plan a batch in its first round."""
    if state.status[ROUNDS_LEFT] == 0:
        begin_batch(state, rng)
    return int(state.order[state.status[PLACE]])


def update(state: State, arm: int, seen: Sums) -> State:
    """Count the round; at the end of a batch drop arms."""
    status = state.status
    status[PLAYS_LEFT] -= 1
    status[ROUNDS_LEFT] -= 1
    if status[ROUNDS_LEFT] == 0:
        if status[ARMS_LEFT] > 1:
            eliminate(state, seen)
        status[BATCH] += 1
    elif status[PLAYS_LEFT] == 0:
        status[PLACE] += 1
        while state.planned[state.order[status[PLACE]]] == 0:
            status[PLACE] += 1
        status[PLAYS_LEFT] = state.planned[state.order[status[PLACE]]]
    return state


def begin_batch(state: State, rng: np.random.Generator) -> None:
    """Divide the rounds of the next batch among the live arms, by their design, and draw the order of arms."""
    status, weights, planned, order = state.status, state.weights, state.planned, state.order
    shuffle(order, len(order), rng)
    has_design = len(state.solution) > 0 and status[ARMS_LEFT] > 1
    if has_design:
        find_basis(state)
        # Live arms without any features have the mean 1 / 2, all of them, and no design.
        has_design = status[RANK] > 0
    if has_design:
        find_design(state)
    else:
        for arm in range(len(weights)):
            weights[arm] = state.alive[arm] / status[ARMS_LEFT]
    rounds = state.lengths[min(status[BATCH], len(state.lengths) - 1)]
    support = 0
    for arm in range(len(weights)):
        support += 1 if weights[arm] > 0.0 else 0
    left, first = rounds, -1
    for position in range(len(order)):
        arm = order[position]
        planned[arm] = 0
        if weights[arm] > 0.0:
            planned[arm] = min(left, max(1, math.ceil(weights[arm] * (rounds - support))))
            left -= planned[arm]
            if first < 0:
                first = position
    # No more are left than there are arms in the design.
    for arm in order:
        if weights[arm] > 0.0 and left > 0:
            planned[arm] += 1
            left -= 1
    status[PLACE] = first
    status[PLAYS_LEFT] = planned[order[first]]
    status[ROUNDS_LEFT] = rounds


def find_basis(state: State) -> None:
    """Choose live arms as a basis, each the farthest from the span of the previous ones; express all arms in it."""
    alive, room, coordinates, pivots = state.alive, state.room, state.coordinates, state.pivots
    width, n_arms, rank, largest = len(state.solution), len(alive), 0, 0.0
    for index in range(n_arms * width):
        room[index] = state.points[index]
        coordinates[index] = 0.0
    while rank < width:
        pivot, farthest = -1, 0.0
        for arm in range(n_arms):
            if alive[arm] == 1:
                length = 0.0
                for column in range(width):
                    length += room[arm * width + column] * room[arm * width + column]
                if length > farthest:
                    pivot, farthest = arm, length
        largest = max(largest, farthest)
        if pivot < 0 or farthest <= FLAT * largest:
            break
        pivots[rank] = pivot
        norm = math.sqrt(farthest)
        for column in range(width):
            state.solution[column] = room[pivot * width + column] / norm
        for arm in range(n_arms):
            if alive[arm] == 1:
                along = 0.0
                for column in range(width):
                    along += room[arm * width + column] * state.solution[column]
                for column in range(width):
                    room[arm * width + column] -= along * state.solution[column]
                coordinates[arm * width + rank] = along
        rank += 1
    state.status[RANK] = rank
    # The pivots' rows are triangular: row i is table[i * rank], with entries up to its diagonal.
    for row in range(rank):
        for column in range(row + 1):
            state.table[row * rank + column] = coordinates[pivots[row] * width + column]
    for arm in range(n_arms):
        if alive[arm] == 1:
            for up in range(rank):
                row = rank - 1 - up
                share = coordinates[arm * width + row] / state.table[row * rank + row]
                for column in range(row):
                    coordinates[arm * width + column] -= share * state.table[row * rank + column]
                coordinates[arm * width + row] = share


def find_design(state: State) -> None:
    """Move weight to the arm of the largest leverage, until that is at most `DESIGN_SLACK` times the rank."""
    alive, coordinates, weights, leverages = state.alive, state.coordinates, state.weights, state.leverages
    inverse, along, width, rank = state.table, state.solution, len(state.solution), state.status[RANK]
    for arm in range(len(alive)):
        weights[arm] = 0.0
        leverages[arm] = 0.0
        for column in range(rank):
            leverages[arm] += rank * coordinates[arm * width + column] * coordinates[arm * width + column]
    for row in range(rank):
        weights[state.pivots[row]] = 1.0 / rank
        for column in range(rank):
            inverse[row * rank + column] = float(rank) if row == column else 0.0
    while True:
        top = state.pivots[0]
        for arm in range(len(alive)):
            if alive[arm] == 1 and leverages[arm] > leverages[top]:
                top = arm
        largest = leverages[top]
        if largest <= DESIGN_SLACK * rank:
            break
        step = (largest / rank - 1.0) / (largest - 1.0)
        share = step / (1.0 - step + step * largest)
        # Sherman and Morrison's formula for the second moment (1 - step) V + step * b b'.
        for row in range(rank):
            along[row] = 0.0
            for column in range(rank):
                along[row] += inverse[row * rank + column] * coordinates[top * width + column]
        for row in range(rank):
            for column in range(rank):
                moved = inverse[row * rank + column] - share * along[row] * along[column]
                inverse[row * rank + column] = moved / (1.0 - step)
        for arm in range(len(alive)):
            if alive[arm] == 1:
                weights[arm] *= 1.0 - step
                product = 0.0
                for column in range(rank):
                    product += coordinates[arm * width + column] * along[column]
                leverages[arm] = (leverages[arm] - share * product * product) / (1.0 - step)
        weights[top] += step


def eliminate(state: State, seen: Sums) -> None:
    """Drop the live arms whose estimate is below the largest by more than the width of the difference."""
    alive, estimates = state.alive, state.leverages
    for arm in range(len(alive)):
        if state.weights[arm] > 0.0 and (state.planned[arm] == 0 or seen.counts[arm] == 0):
            return
    if len(state.solution) > 0:
        fit(state, seen)
    else:
        for arm in range(len(alive)):
            estimates[arm] = seen.sums[arm] / seen.counts[arm] if alive[arm] == 1 else 0.0
    best = -1
    for arm in range(len(alive)):
        if alive[arm] == 1 and (best < 0 or estimates[arm] > estimates[best]):
            best = arm
    for arm in range(len(alive)):
        if alive[arm] == 1 and estimates[best] - estimates[arm] > width_between(state, best, arm, seen):
            alive[arm] = 0
            state.status[ARMS_LEFT] -= 1


def fit(state: State, seen: Sums) -> None:
    """Write the least-squares estimate of each live arm's mean minus 1 / 2, and the Cholesky factor of V."""
    alive, planned, coordinates, table = state.alive, state.planned, state.coordinates, state.table
    width, rank = len(state.solution), state.status[RANK]
    for row in range(rank):
        state.solution[row] = 0.0
        for column in range(rank):
            table[row * rank + column] = 0.0
    for arm in range(len(alive)):
        if planned[arm] > 0:
            excess = seen.sums[arm] - 0.5 * seen.counts[arm]
            for row in range(rank):
                coordinate = coordinates[arm * width + row]
                state.solution[row] += excess * coordinate
                for column in range(row + 1):
                    table[row * rank + column] += seen.counts[arm] * coordinate * coordinates[arm * width + column]
    factorise(table, rank, 0.0)
    solve(table, state.solution, rank)
    for column in range(rank):
        state.estimate[column] = state.solution[column]
    for arm in range(len(alive)):
        state.leverages[arm] = 0.0
        for column in range(rank):
            state.leverages[arm] += coordinates[arm * width + column] * state.estimate[column]


def width_between(state: State, best: int, arm: int, seen: Sums) -> float:
    """Return the width of the confidence interval of the difference of two arms' means; see `elimination_width`."""
    squares, variance, widest = 0.0, 0.0, 0.0
    if len(state.solution) > 0:
        coordinates, width, rank = state.coordinates, len(state.solution), state.status[RANK]
        for column in range(rank):
            state.solution[column] = coordinates[best * width + column] - coordinates[arm * width + column]
        solve(state.table, state.solution, rank)
        for each_arm in range(len(state.alive)):
            if state.planned[each_arm] > 0:
                share = 0.0
                for column in range(rank):
                    share += state.solution[column] * coordinates[each_arm * width + column]
                squares += share * share
                variance += seen.counts[each_arm] * share * share
                widest = max(widest, abs(share))
    elif best != arm:
        first, second = 1.0 / seen.counts[best], 1.0 / seen.counts[arm]
        squares, variance, widest = first * first + second * second, first + second, max(first, second)
    if variance == 0.0:
        return 0.0
    spread = (0.5 if state.normal else LAPLACE_SPREAD) * state.scale * state.scale
    growth = variance / 8.0 + spread * squares
    rate = math.sqrt(state.nats / growth)
    if state.scale > 0.0 and not state.normal:
        rate = min(rate, 1.0 / (math.sqrt(2.0) * state.scale * widest))
    return state.nats / rate + growth * rate


class LinearElimination(FunctionalAgent):
    r"""Plays batches of doubling length, each divided among the live arms by a G-optimal design, and then drops arms.

    Suppose arm i was played :math:`n_i` times in a batch, with noisy sum :math:`s_i`. The gains' slope is estimated by
    least squares: :math:`\hat\theta = V^{-1} \sum_i A_i (s_i - n_i / 2)` and :math:`V = \sum_i n_i A_i A_i^T`. With b
    the arm of the largest :math:`\langle A_b, \hat\theta \rangle`, arm k is dropped if its estimate is lower by more
    than

    .. math:: \frac{L}{r} + r \Big( \frac{|x|^2_{V^{-1}}}{8} + c \lambda^2 \sum_i \langle x, V^{-1} A_i \rangle^2 \Big),
              \quad x = A_b - A_k, \quad L = \ln(2 K m T)

    for m batches and noise of scale lam in a sum; for c and r see `theory.linear_bounds.elimination_width`. Each batch
    uses its own gains only. Without features, each arm is its own axis, and this is successive elimination.

    Learns from sums of batches: wrap the environment in `BatchSums(env, epsilon=..., lengths=batch_lengths(...))`.

    Args:
        normal: Whether the noise in the sums is Gaussian.

    Source: Lattimore and Szepesvari (2020), Bandit Algorithms, section 22.1; Hanna, Girgis, Fragouli and Diggavi
    (2022), in the central model; Azize and Basu (2023), AdaC-GOPE, for Gaussian noise.
    Differs from the source in: the arms of a batch are played in a fresh random order, each in one run. The order
    depends on no gain and leaves the number of plays, the noise and the releases unchanged, so the guarantee is the
    same.
    """

    functions = Functions(select, update)
    learns_from = Sums
    waits = True
    features: FloatArray | None = None

    def __init__(self, *, normal: bool = False) -> None:
        self.normal = checks.boolean("normal", normal)

    def see_features(self, features: ArrayLike | None) -> None:
        """Receive the arms' features, shape `(n_arms, dimension)`, or None; called before `begin`."""
        self.features = None if features is None else np.array(features, np.float64)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        points = np.zeros((n_arms, 0))
        if self.features is not None:
            if len(self.features) != n_arms:
                raise ValueError(f"features must have {n_arms} rows, one for each arm; received {len(self.features)}.")
            points = basis_of(self.features)
        lengths = batch_lengths(points.shape[1] or n_arms, horizon)
        nats = elimination_nats(n_arms, len(lengths), horizon)
        k, rank = points.shape
        room, coordinates, weights, leverages, table = (np.zeros(n) for n in (k * rank, k * rank, k, k, rank * rank))
        alive, order = np.ones(k, np.int64), np.arange(k)
        planned, pivots = np.zeros(k, np.int64), np.zeros(rank, np.int64)
        status, of_batches = np.array([0, 0, 0, 0, k, 0]), (np.array(lengths), nats, self.noise.scale, self.normal)
        design = (points.ravel(), room, coordinates, weights, leverages, table, pivots)
        return State(alive, order, planned, status, *design, np.zeros(rank), np.zeros(rank), *of_batches)
