"""Solution of lab 3: the batch size at which the bound on regret is least."""

import math


def best_batch(horizon: int, n_arms: int) -> float:
    """Return where the derivative sqrt((e - 1) T K ln K / tau) - T / tau^2 of the bound is 0."""
    return (horizon / ((math.e - 1) * n_arms * math.log(n_arms))) ** (1 / 3)
