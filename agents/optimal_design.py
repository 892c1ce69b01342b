"""G-optimal designs: how often to play each arm so that the features of every arm are estimated equally well."""

import math
from typing import Final, NamedTuple

import numpy as np

from dp_bandit_envs.protocols import FloatArray

SLACK: Final = 1.01
"""How much larger than d, the smallest possible, the largest leverage may be."""


class Design(NamedTuple):
    """A design mu over K arms, and the features in the basis that makes its second moment the identity.

    Attributes:
        weights: mu, the probability of each arm, `(n_arms,)`.
        points: The features in that basis, `(n_arms, rank)`: sum_k mu_k points_k points_k' = I.
        leverage: The largest squared length of a point: max_k |A_k|^2 in the inverse second moment.
    """

    weights: FloatArray
    points: FloatArray
    leverage: float


def rank_of(features: FloatArray) -> int:
    """Return the dimension of the span of the features, `(n_arms, dimension)`."""
    return int(np.linalg.matrix_rank(features))


def basis_of(features: FloatArray) -> FloatArray:
    """Return the features in the basis of their span that makes their second moment I / K, `(n_arms, rank)`."""
    basis: FloatArray = np.linalg.svd(features, full_matrices=False)[0][:, : rank_of(features)]
    return basis


def optimal_design(features: FloatArray) -> Design:
    """Return a design whose largest leverage is at most 1.01 d, with d the rank of `features`, `(n_arms, dimension)`.

    Each step moves weight to the arm of the largest leverage, by the amount that maximises the determinant. It takes
    about 100 d steps of n_arms * d multiplications each.

    Source: Kiefer and Wolfowitz (1960); Fedorov (1972), with the exact step.
    """
    basis = basis_of(features)
    n_arms, rank = basis.shape
    weights = np.full(n_arms, 1 / n_arms)
    if rank == 1:
        weights = np.eye(n_arms)[int(np.argmax(np.abs(basis[:, 0])))]
    inverse = np.linalg.inv(basis.T @ (weights[:, np.newaxis] * basis))
    leverages = np.einsum("ki,ij,kj->k", basis, inverse, basis)
    steps = 0
    while leverages.max() > SLACK * rank:
        arm = int(np.argmax(leverages))
        largest = leverages[arm]
        step = (largest / rank - 1) / (largest - 1)
        weights *= 1 - step
        weights[arm] += step
        steps += 1
        if steps % 100 == 0:
            inverse = np.linalg.inv(basis.T @ (weights[:, np.newaxis] * basis))
            leverages = np.einsum("ki,ij,kj->k", basis, inverse, basis)
            continue
        # Sherman and Morrison's formula for the second moment (1 - step) V + step * b b'.
        along = inverse @ basis[arm]
        share = step / (1 - step + step * largest)
        inverse = (inverse - share * np.outer(along, along)) / (1 - step)
        leverages = (leverages - share * (basis @ along) ** 2) / (1 - step)
    weights /= weights.sum()
    half = np.linalg.cholesky(basis.T @ (weights[:, np.newaxis] * basis))
    points = np.linalg.solve(half, basis.T).T
    return Design(weights, points, float(np.max(np.sum(points * points, axis=1))))


def factorise(table: FloatArray, rank: int, least: float) -> None:
    """Replace the lower half of a symmetric matrix, flat, row after row, by its Cholesky factor; pivots >= `least`."""
    for row in range(rank):
        for column in range(row + 1):
            total = table[row * rank + column]
            for inner in range(column):
                total -= table[row * rank + inner] * table[column * rank + inner]
            if column < row:
                table[row * rank + column] = total / table[column * rank + column]
            else:
                table[row * rank + row] = math.sqrt(max(total, least))


def solve(table: FloatArray, solution: FloatArray, rank: int) -> None:
    """Multiply `solution` in place by the inverse of the matrix whose Cholesky factor is in `table`."""
    for row in range(rank):
        total = solution[row]
        for column in range(row):
            total -= table[row * rank + column] * solution[column]
        solution[row] = total / table[row * rank + row]
    for up in range(rank):
        row = rank - 1 - up
        total = solution[row]
        for column in range(row + 1, rank):
            total -= table[column * rank + row] * solution[column]
        solution[row] = total / table[row * rank + row]
