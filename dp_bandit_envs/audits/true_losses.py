"""The true loss of a changed round, and the fields of a guarantee (law, curve, rho, pure) that state less."""

import bisect
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.accounting import ORDERS, DominatingNoise, RenyiCurve, log_moments
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray

FIELDS: Final = ("noise_law", "curve", "rho", "pure")
DELTAS: Final = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Where audits by sampling hold a guarantee to what follows from it."""
TOLERANCE: Final = 1e-9
"""The relative difference that is put down to arithmetic; for delta besides it, `FLOOR`."""
FLOOR: Final = 1e-12
OF_SUM: Final = 0.01
"""By how much the epsilon of several draws together may be overestimated, relative to it."""
SHARES: Final = np.concatenate([[0.0], np.geomspace(1e-3, 0.999, 35)])
"""The epsilons for comparing deltas, as shares of the pure loss."""
DEVIATIONS: Final = np.linspace(-2.0, 6.0, 36)
"""For normal draws, in standard deviations of the loss from its mean."""
NOWHERE: Final = np.zeros(0)


class TrueLoss(NamedTuple):
    """The true loss of one changed round.

    Attributes:
        pure: The largest log ratio, in nats.
        epsilons: The epsilons at which deltas are compared, `(places,)`.
        delta: The least delta at one of these.
        divergence: The Renyi divergence of an order greater than 1; None if unknown.
        noise_law: Independent draws with this loss, if known.
    """

    pure: float
    epsilons: FloatArray = NOWHERE
    delta: Callable[[float], float] = lambda epsilon: 0.0
    divergence: Callable[[float], float] | None = None
    noise_law: DominatingNoise | None = None


def loss_of(noise_law: DominatingNoise) -> TrueLoss:
    """Return the loss of independent draws."""
    mean = noise_law.gaussian / 2
    places = SHARES * noise_law.pure if noise_law.gaussian == 0 else mean + DEVIATIONS * math.sqrt(noise_law.gaussian)
    shift = 1 + OF_SUM if noise_law.draws > 1 else 1.0

    def divergence(order: float) -> float:
        return float(log_moments(noise_law, order - 1).real[0]) / (order - 1)

    return TrueLoss(
        noise_law.pure, np.maximum(places, 0.0), lambda epsilon: noise_law.delta(shift * epsilon), divergence, noise_law
    )


def loss_of_pure(pure: float) -> TrueLoss:
    """Return a loss with only a known largest log ratio."""
    return TrueLoss(pure, divergence=(lambda order: math.inf) if math.isinf(pure) else None)


def loss_of_outcomes(first: FloatArray, second: FloatArray) -> TrueLoss:
    """Return the largest loss over pairs of laws, given as rows `(pairs, outcomes)`, in both directions."""
    pairs = np.unique(np.hstack([np.vstack([first, second]), np.vstack([second, first])]), axis=0)
    p, q = np.hsplit(pairs[(pairs[:, : first.shape[1]] != pairs[:, first.shape[1] :]).any(axis=1)], 2)
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(q)
    ratios = np.where(p > 0, log_p - np.where(p > 0, log_q, 0.0), -math.inf)
    pure = float(ratios.max(initial=0.0))

    def delta(epsilon: float) -> float:
        return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum(axis=1).max(initial=0.0))

    def divergence(order: float) -> float:
        terms = np.where(p > 0, log_q + order * np.where(p > 0, ratios, 0.0), -math.inf)
        top = terms.max(axis=1, keepdims=True)
        sums = top[:, 0] + np.log(np.exp(terms - top).sum(axis=1))
        return math.inf if math.isinf(pure) else float(sums.max(initial=0.0)) / (order - 1)

    return TrueLoss(pure, SHARES * min(pure, 100.0), delta, divergence)


def too_low(declared: PrivacyGuarantee, losses: Sequence[TrueLoss]) -> tuple[str, ...]:
    """Return the fields of a guarantee that state less than the loss.

    Each field is tested separately: by the delta at some dozens of epsilons, the curve and rho also at every order, and
    the law and pure epsilons also by the largest log ratio. All of them hold for exact noise, so `draw_distance` is
    left out.
    """
    said = {field: dataclasses.replace(_with_one_field(declared, field), draw_distance=0.0) for field in FIELDS}
    stated = [field for field in FIELDS if getattr(declared, field) is not None and declared.model != "none"]
    return tuple(field for field in stated if any(_loses_more(lost, said[field]) for lost in losses))


def fields_below(declared: PrivacyGuarantee, epsilon: float, delta: float) -> tuple[str, ...]:
    """Return the fields that alone imply a smaller epsilon at a delta in (0, 1)."""
    return tuple(field for field in FIELDS if _with_one_field(declared, field).epsilon_at(delta) < epsilon)


def refuted_in_words(fields: tuple[str, ...]) -> str:
    """Return the verdict on a refuted claim, with the fields of `too_low`."""
    return "refuted" + (f": {' and '.join(fields)} of the guarantee too low" if fields else "")


def _with_one_field(declared: PrivacyGuarantee, field: str) -> PrivacyGuarantee:
    """Return the guarantee of one field, for exact noise except for `draw_distance`."""
    kept: dict[str, Any] = dict.fromkeys(FIELDS) | {field: getattr(declared, field)}
    return dataclasses.replace(declared, epsilon=math.inf, delta=0.0, **kept)


def _loses_more(lost: TrueLoss, said: PrivacyGuarantee) -> bool:
    """Whether a loss exceeds a guarantee of one field."""
    pure = said.pure_epsilon if said.noise_law is None else said.noise_law.pure
    if lost.pure > pure * (1 + TOLERANCE) + FLOOR:
        return True
    if lost.noise_law is not None and said.noise_law is not None and _covers(said.noise_law, lost.noise_law):
        return False  # as most do; to compare deltas takes longer
    if any(lost.delta(e) > said.delta_at(e) * (1 + TOLERANCE) + FLOOR for e in lost.epsilons.tolist()):
        return True
    stated: RenyiCurve = said.curve or (() if said.rho is None else tuple((a, a * said.rho) for a in ORDERS))
    if lost.divergence is None:
        return False
    return any(lost.divergence(order) > most * (1 + TOLERANCE) + FLOOR for order, most in stated)


def _covers(said: DominatingNoise, noise_law: DominatingNoise) -> bool:
    """Whether the stated draws dominate the draws of a law: one draw loses at least as much as its parts together."""
    for kind in ("laplace", "responses"):
        rooms = sorted(radius for radius, number in getattr(said, kind) for _ in range(number))
        slack = TOLERANCE * math.fsum(rooms)
        for radius in sorted(
            (radius for radius, number in getattr(noise_law, kind) for _ in range(number)), reverse=True
        ):
            if not rooms or radius > rooms[-1] + slack:
                return False
            bisect.insort(rooms, rooms.pop() - radius)
    return noise_law.gaussian <= said.gaussian * (1 + TOLERANCE)
