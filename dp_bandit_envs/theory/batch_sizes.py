"""How many rounds to average: batch sizes that the papers choose by a formula."""

import math


def capped_batch_size(batch_size: int, horizon: int) -> int:
    """Return the batch size, but not more than the whole game, so that defaults work for short games too."""
    return max(1, min(batch_size, horizon))


def laplace_batch_size(epsilon: float) -> int:
    """Return ceil(1 / epsilon), so that the noise on an average has a scale of at most 1.

    Source: Asi, Raman and Talwar (2025).

    Raises:
        ValueError: If 1 / epsilon does not fit a float.
    """
    if math.isinf(1 / epsilon):
        raise ValueError(f"epsilon must be large enough for a batch of 1 / epsilon rounds; received {epsilon!r}.")
    return max(1, math.ceil(1 / epsilon))


def switching_batch_size(n_arms: int, horizon: int) -> int:
    """Return ceil((T / (7 K ln K))^(1/3)), EXP3-tau's best batch size against switching costs.

    Source: Tossou and Dimitrakakis (2017), corollary 3.2.
    """
    return math.ceil(math.cbrt(horizon / (7 * n_arms * math.log(n_arms))))
