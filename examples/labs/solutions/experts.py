"""Solutions of lab 7: the noise on each gain of a round, and a step of Hedge."""

import numpy as np


def noise_scale(n_experts: int, epsilon: float) -> float:
    """Return the scale: all gains of a round may move by 1 each, by K in L1."""
    return n_experts / epsilon


def probabilities(sums: np.ndarray, learning_rate: float) -> np.ndarray:
    """Return the softmax; the largest sum is taken from all, so that no exponential overflows."""
    weights = np.exp(learning_rate * (sums - sums.max()))
    return np.asarray(weights / weights.sum())
