"""Guarantees in the forms of dp-accounting: an event for its accountants, and a privacy loss distribution."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.accounting import FAR, FINE_ORDERS, ROUNDING, DominatingNoise, RenyiCurve
from dp_bandit_envs.protocols import FloatArray

EXTRA: Final = "accounting"
POINTS: Final = 4000
"""Epsilons at which a profile is connected."""
LAST_DELTA: Final = 1e-15
"""The delta at the largest of them, or less; it becomes the mass of an infinite loss."""


def event_of_noise(noise: DominatingNoise) -> Any:
    """Return the `DpEvent` of Laplace and Gaussian draws; responses are not supported."""
    events = checks.require("dp_accounting.dp_event", extra=EXTRA)
    parts = [
        events.SelfComposedDpEvent(events.LaplaceDpEvent(1 / distance), number) for distance, number in noise.laplace
    ]
    if noise.gaussian > 0:
        parts.append(events.GaussianDpEvent(1 / math.sqrt(noise.gaussian)))
    return parts[0] if len(parts) == 1 else events.ComposedDpEvent(parts)


def event_of_rho(rho: float) -> Any:
    """Return the `DpEvent` of rho-zCDP: none at 0, and without a guarantee at inf."""
    events = checks.require("dp_accounting.dp_event", extra=EXTRA)
    if math.isinf(rho):
        return events.NonPrivateDpEvent()
    return events.ZCDpEvent(rho) if rho > 0 else events.NoOpDpEvent()


def loss_of_noise(noise: DominatingNoise, interval: float) -> Any:
    """Return the privacy loss distribution of independent draws, on a grid of this interval."""
    module = checks.require("dp_accounting.pld.privacy_loss_distribution", extra=EXTRA)
    common = checks.require("dp_accounting.pld.common", extra=EXTRA)
    total = module.identity(value_discretization_interval=interval)
    for distance, number in noise.laplace:
        one_draw = module.from_laplace_mechanism(1 / distance, value_discretization_interval=interval)
        total = total.compose(one_draw.self_compose(number))
    for epsilon, number in noise.responses:
        pair = common.DifferentialPrivacyParameters(epsilon, 0.0)
        response = module.from_privacy_parameters(pair, value_discretization_interval=interval)
        total = total.compose(response.self_compose(number))
    if noise.gaussian > 0:
        sigma = 1 / math.sqrt(noise.gaussian)
        total = total.compose(module.from_gaussian_mechanism(sigma, value_discretization_interval=interval))
    return total


def loss_of_profile(
    curve: RenyiCurve | None, rho: float | None, pairs: Sequence[tuple[float, float]], interval: float
) -> Any:
    r"""Return a privacy loss distribution that dominates every mechanism with these bounds, in both directions.

    The deltas that follow at some epsilons are connected by straight lines in :math:`e^\epsilon` (Doroshenko et al.
    2022). A true profile is convex there, so it is also below the convex hull of the points.

    Args:
        curve: Renyi divergences, or None.
        rho: A zCDP parameter, or None.
        pairs: (epsilon, delta).
        interval: The distribution is on the multiples of this epsilon.
    """
    module = checks.require("dp_accounting.pld.privacy_loss_distribution", extra=EXTRA)
    forms = checks.require("dp_accounting.pld.pld_pmf", extra=EXTRA)
    points = [*(curve or ()), *(() if rho is None else ((order, order * rho) for order in FINE_ORDERS))]
    finite = np.array([point for point in points if math.isfinite(point[1])]).reshape(-1, 2)
    enough = [epsilon for epsilon, delta in pairs if delta <= LAST_DELTA]
    if len(finite):
        enough.append(float((finite[:, 1] - math.log(LAST_DELTA) / (finite[:, 0] - 1)).min()))
    largest = min(enough) if enough else max(epsilon for epsilon, _ in pairs)
    if not largest <= FAR:
        raise ValueError(
            f"only guarantees below epsilon = {FAR:g} have a privacy loss distribution in doubles; here epsilon ="
            f" {largest:.3g} is needed for delta = {LAST_DELTA:g}. Add up epsilons with for_games()."
        )
    last = math.ceil(largest / interval)
    stated = [math.ceil(epsilon / interval) for epsilon, _ in pairs if epsilon <= largest]
    half = np.unique([*np.linspace(0, last, POINTS).astype(int), *stated])
    deltas = _deltas(half * interval, finite, pairs)
    # Of the other direction's delta d at epsilon follows 1 - (1 - d) / e^epsilon at -epsilon.
    negative = -np.expm1(-half * interval) + np.exp(-half * interval) * deltas
    epsilons = np.concatenate([-half[:0:-1], half])
    profile = np.concatenate([negative[:0:-1], deltas])
    kept = _lower_hull(np.exp(epsilons * interval), profile)
    return module.PrivacyLossDistribution(
        forms.create_pmf_pessimistic_connect_dots(interval, epsilons[kept], profile[kept])
    )


def _deltas(epsilons: FloatArray, points: FloatArray, pairs: Sequence[tuple[float, float]]) -> FloatArray:
    """Return the least delta at each epsilon: from divergences as `accounting.delta_from_renyi`, and from pairs."""
    deltas = np.ones(len(epsilons))
    for order, divergence in points:
        lost = (order - 1) * divergence
        gained = (order - 1) * (epsilons - math.log1p(-1 / order)) + math.log(order)
        deltas = np.minimum(deltas, np.exp(np.minimum(0.0, lost - gained + ROUNDING * (lost + gained))))
    for epsilon, delta in pairs:
        deltas = np.where(epsilons >= epsilon, np.minimum(deltas, delta), deltas)
    return np.minimum.accumulate(deltas)


def _lower_hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the indices of the corners of the lower convex hull of points with ascending x."""
    corners: list[int] = []
    for index in range(len(x)):
        while len(corners) > 1:
            last, before = corners[-1], corners[-2]
            # The last corner is above the line from the one before it to this point.
            if (y[last] - y[before]) * (x[index] - x[before]) >= (y[index] - y[before]) * (x[last] - x[before]):
                corners.pop()
            else:
                break
        corners.append(index)
    return corners
