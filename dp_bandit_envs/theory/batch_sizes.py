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


def private_batch_size(horizon: int, epsilon: float, delta: float) -> int:
    r"""Return a batch size for which EXP3-tau is (epsilon, delta)-DP by its zCDP guarantee.

    It is the smallest by the conversion of Bun and Steinke (2016), proposition 1.3; `PrivacyGuarantee.epsilon_at`
    converts more tightly, so less than epsilon is guaranteed. From :math:`\rho + 2 \sqrt{\rho L} = \epsilon` with
    L = ln(1 / delta) follows :math:`\rho = (\sqrt{L + \epsilon} - \sqrt L)^2`; and :math:`T / (8 \tau^3) \le \rho`.

    Raises:
        ValueError: If even one batch of the whole game is too short.
    """
    log = math.log(1 / delta)
    # epsilon / (sqrt(L + epsilon) + sqrt(L)) is the same root without the loss of digits.
    rho = (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2 if math.isfinite(epsilon) else math.inf
    least = math.cbrt(horizon / (8 * rho)) if rho > 0 else math.inf
    batch_size = max(1, math.ceil(least)) if math.isfinite(least) else least
    if batch_size > horizon:
        raise ValueError(
            f"EXP3-tau needs a horizon of at least its batch size {batch_size} for epsilon = {epsilon:g}, delta ="
            f" {delta:g}; received {horizon}. Use a larger epsilon, or DP-EXP3-Lap."
        )
    return int(batch_size)
