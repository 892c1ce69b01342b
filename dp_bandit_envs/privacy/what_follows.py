"""The smallest epsilon, or delta, that follows from everything that a guarantee states, with what its draws add."""

from typing import Any

from dp_bandit_envs.privacy.conversions import (
    gaussian_curve_delta,
    gaussian_curve_epsilon,
    zcdp_delta,
    zcdp_epsilon,
)
from dp_bandit_envs.privacy.draws_distance import added_delta, delta_with_draws, epsilon_with_draws
from dp_bandit_envs.privacy.renyi import delta_from_renyi, epsilon_from_renyi


def least_epsilon(guarantee: Any, delta: float) -> float:
    """Return the smallest epsilon at a delta; inf where nothing is known.

    Args:
        guarantee: A `PrivacyGuarantee`.
        delta: In (0, 1).
    """

    def exact(delta: float) -> float:
        known: list[float] = [guarantee.pure_epsilon]
        if guarantee.rho is not None:
            known.append(zcdp_epsilon(guarantee.rho, delta))
        if guarantee.renyi is not None:
            known.append(epsilon_from_renyi(guarantee.renyi, delta))
        if guarantee.sigma is not None:
            known.append(gaussian_curve_epsilon(guarantee.sigma, delta))
        return min(known)

    distance = guarantee.draws_distance
    found = epsilon_with_draws(exact, delta, distance) if distance > 0 else exact(delta)
    return min(found, guarantee.epsilon) if 0 < guarantee.delta <= delta else found


def least_delta(guarantee: Any, epsilon: float) -> float:
    """Return the smallest delta at an epsilon; 1 where nothing is known.

    Args:
        guarantee: A `PrivacyGuarantee`.
        epsilon: In [0, inf).
    """
    rho, renyi, sigma, distance = guarantee.rho, guarantee.renyi, guarantee.sigma, guarantee.draws_distance
    known = [guarantee.delta_with_draws if guarantee.epsilon <= epsilon else 1.0]
    if guarantee.pure_epsilon <= epsilon:
        known.append(added_delta(guarantee.pure_epsilon, distance))
    if rho is not None:
        known.append(delta_with_draws(lambda each: zcdp_delta(rho, each), epsilon, distance))
    if renyi is not None:
        known.append(delta_with_draws(lambda each: delta_from_renyi(renyi, each), epsilon, distance))
    if sigma is not None:
        known.append(delta_with_draws(lambda each: gaussian_curve_delta(sigma, each), epsilon, distance))
    return min(known)
