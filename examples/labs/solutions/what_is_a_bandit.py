"""Solutions of lab 1: the regret of one game, by hand and as a function."""

import numpy as np

my_answer = 1  # arm 0 would have paid 5, and the player got 4


def regret(gains: np.ndarray, arms: np.ndarray) -> float:
    """Return what the best single arm would have paid, less what the arms played paid."""
    return float(gains.sum(axis=0).max() - gains[np.arange(len(arms)), arms].sum())
