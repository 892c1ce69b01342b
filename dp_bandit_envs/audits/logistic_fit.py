"""Logistic regression by Newton's method, which drops numbers that do not clearly tell two samples apart."""

import numpy as np

from dp_bandit_envs.protocols import FloatArray

ITERATIONS = 25
DROPPED = 3.0
"""A weight of fewer standard errors is set to 0: hundreds of small ones would drown a few that matter."""
RIDGE = 1e-6


def log_odds(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the weights w for which `w @ numbers`, but for a constant, is the log odds that a row is from `one`.

    Args:
        one: Rows of numbers of about unit size, `(rows, numbers)`.
        other: Others, of as many numbers.

    Returns:
        The weights, `(numbers,)`; 0 for each number that says nothing beyond the others, or too little to be seen.
    """
    rows = np.vstack([one, other])
    target = np.repeat([1.0, 0.0], [len(one), len(other)])
    weights = np.zeros(rows.shape[1])
    kept = np.flatnonzero(rows.std(axis=0) > 0)
    while len(kept):
        fitted, errors = _fit(np.column_stack([rows[:, kept], np.ones(len(rows))]), target)
        clear = np.abs(fitted) > DROPPED * errors
        if clear.all():
            weights[kept] = fitted
            break
        # The least clear half of those in doubt: of two numbers that say the same, one must stay.
        doubt = np.flatnonzero(~clear)
        order = doubt[np.argsort(np.abs(fitted[doubt]) / errors[doubt])]
        kept = np.delete(kept, order[: -(-len(order) // 2)])
    return weights


def _fit(rows: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weights of all columns but the last, which is 1, and their standard errors."""
    weights = np.zeros(rows.shape[1])
    ridge = RIDGE * len(rows) * np.eye(len(weights))
    for _ in range(ITERATIONS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        curvature = (rows * (chance * (1 - chance))[:, np.newaxis]).T @ rows + ridge
        step = np.linalg.solve(curvature, rows.T @ (target - chance) - ridge @ weights)
        weights += step
        if np.abs(step).max() < 1e-4:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return weights[:-1], errors[:-1]
