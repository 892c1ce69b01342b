"""How many rounds EXP3-tau must average for a given (epsilon, delta)."""

import functools
import math
from collections.abc import Callable

from dp_bandit_envs.agents.exp3 import default_exploration_rate
from dp_bandit_envs.privacy.accounting import zcdp_within
from dp_bandit_envs.privacy.exp3_privacy import exp3_guarantee
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

FINENESS = 32
"""The search first tries batches that grow by 1 / 32, and then those between the last two."""


def batches_guarantee(n_arms: int, horizon: int, batch_size: int) -> PrivacyGuarantee:
    """Return the guarantee of EXP3 with its default exploration rate on averages of whole batches.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T.
        batch_size: Rounds in a batch, tau, in [1, T].
    """
    steps = horizon // batch_size
    return exp3_guarantee(
        n_arms=n_arms,
        draws=steps,
        exploration_rate=default_exploration_rate(n_arms, steps),
        sensitivity=1 / batch_size,
    )


@functools.lru_cache(maxsize=1024)
def private_batch_size(n_arms: int, horizon: int, epsilon: float, delta: float) -> int:
    """Return the smallest batch size found for which EXP3-tau is (epsilon, delta)-DP.

    The guarantee's epsilon falls with the batch size, except near the end of the condition of `exp3_privacy`, at
    large batches, where the constants grow and the older bound takes over. So the search does not halve the whole
    range: it tries growing batches in turn and halves only the last step, where a smaller batch could be missed
    only if its guarantee were met in between and lost again. Batches so large that the agent plays uniformly
    (exploration rate 1) are private but useless; they count only if the older bound alone is content with them.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        epsilon: Greater than 0; inf gives 1.
        delta: In (0, 1).

    Raises:
        ValueError: If no batch within the horizon is large enough.
    """
    if math.isinf(epsilon):
        return 1

    def met(batch_size: int) -> bool:
        return batches_guarantee(n_arms, horizon, batch_size).epsilon_at(delta) <= epsilon

    failed, tried = 0, 1
    while tried <= horizon and default_exploration_rate(n_arms, horizon // tried) < 1:
        if met(tried):
            return _between(failed, tried, met)
        failed, tried = tried, tried + max(1, tried // FINENESS)
    by_zcdp = _batch_size_by_zcdp(horizon, epsilon, delta)
    if by_zcdp > horizon:
        raise ValueError(
            f"EXP3-tau has no batch size for epsilon = {epsilon:g}, delta = {delta:g} within the horizon; received"
            f" {horizon}. Use a longer horizon, a larger epsilon, or DP-EXP3-Lap."
        )
    return int(by_zcdp)


def _between(failed: int, met_at: int, met: Callable[[int], bool]) -> int:
    """Return the smallest batch size that meets the target, if all below it fail."""
    while met_at - failed > 1:
        middle = (failed + met_at) // 2
        if met(middle):
            met_at = middle
        else:
            failed = middle
    return met_at


def _batch_size_by_zcdp(horizon: int, epsilon: float, delta: float) -> float:
    r"""Return the least batch size for which :math:`T / (8 \tau^3)`-zCDP gives (epsilon, delta)-DP; inf if none."""
    rho = zcdp_within(epsilon, delta)
    least = math.cbrt(horizon / (8 * rho)) if rho > 0 else math.inf
    return max(1, math.ceil(least)) if math.isfinite(least) else least
