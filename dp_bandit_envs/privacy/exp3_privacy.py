"""The privacy of EXP3's own randomness: arms are drawn at random, and one gain changes probabilities only a little.

The privacy loss of each draw after the changed round is at most s, the sensitivity of the changed gain. If the
exploration rate is not too large, it is little more than .341 s. Over a whole game the loss is far smaller, because
arms with such a loss are rarely drawn. The guarantee uses the smallest of these bounds at each order. The proofs are in
docs/notes/exp3-privacy.md.
"""

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.privacy.accounting import FINE_ORDERS, ROUNDING, rho_from_renyi
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray

EXP3_ONLY = "Exp3 in gain form, learning rate exploration_rate / n_arms"
FINE, COARSE = 1.02, 1.1
"""Ratio of the ends of a cell of h, above and below 1/2."""


@functools.lru_cache(maxsize=256, typed=True)  # in float32 the same rate gives other last digits
def exp3_guarantee(*, n_arms: int, draws: int, exploration_rate: float, sensitivity: float = 1.0) -> PrivacyGuarantee:
    """Return the guarantee of EXP3's own randomness when it sees gains without noise.

    If the condition of `draw_loss` holds, it has a Renyi curve, and `epsilon_at` is far smaller than from `rho` alone.

    Args:
        n_arms: Number of arms K, at least 2.
        draws: Number of times that the agent draws an arm.
        exploration_rate: The gamma of equation 2.1, in (0, 1].
        sensitivity: Largest difference of one observed gain between neighbouring games, in [0, 1].
    """
    ratio = math.log((n_arms * (1 - exploration_rate) + exploration_rate) / exploration_rate)
    per_draw = min(sensitivity, ratio)
    rho = per_draw**2 / 8
    curve = None
    loss = draw_loss(n_arms, exploration_rate, sensitivity)
    if loss is not None:
        together = [draws * min(loss.renyi(order), order * rho, per_draw) for order in FINE_ORDERS]
        if sensitivity > 0 and draws > 0:
            of_game = WholeGame(n_arms, exploration_rate, sensitivity).renyi(FINE_ORDERS, draws).tolist()
            together = [min(pair) for pair in zip(together, of_game, strict=True)]
        curve = tuple(zip(FINE_ORDERS, together, strict=True))
        per_draw = min(per_draw, loss.log_ratio)
    rho *= draws
    return PrivacyGuarantee(
        epsilon=draws * per_draw,
        rho=rho if curve is None else min(rho, rho_from_renyi(curve, draws * per_draw)),
        theorem=(
            f"{draws} draws, each with a privacy loss of at most {per_draw:.3g} (in place of theorems 3.3 and 3.5 of"
            f" Tossou and Dimitrakakis 2017; proof in docs/notes/exp3-privacy.md)"
        ),
        agents=EXP3_ONLY,
        curve=curve,
    )


class DrawLoss(NamedTuple):
    """Bounds on the privacy loss of one draw.

    Attributes:
        log_ratio: b, the largest log ratio of probabilities, in nats.
        log_range: The length of the interval that holds the log ratios, in nats.
        fisher: f, the Fisher information of the path between the two worlds.
    """

    log_ratio: float
    log_range: float
    fisher: float

    def renyi(self, order: float) -> float:
        """Return a bound on the Renyi divergence of an order greater than 1, in both directions."""
        b = self.log_ratio
        moment = order * (order - 1) / 2 * self.fisher * math.exp(b / 2) * phi((order - 1) * b)
        best = min(math.log1p(moment) / (order - 1), order * self.log_range**2 / 8, b)
        return best * (1 + ROUNDING)


def draw_loss(n_arms: int, exploration_rate: float, sensitivity: float) -> DrawLoss | None:
    """Return bounds on the loss of one draw of EXP3; None if the theorem's condition fails or floats overflow.

    The bounds are rounded up.

    Args:
        n_arms: Number of arms K, at least 2.
        exploration_rate: gamma, in (0, 1].
        sensitivity: s, the largest difference of an observed gain, in [0, 1].
    """
    gamma = exploration_rate
    if gamma >= 1 or gamma < 1e-300:  # so small a rate divided by K may be 0
        return None
    kappa = (n_arms - 2) * gamma / (n_arms * (1 - gamma))
    slack = 1 - (math.e - 1) * kappa
    # At a condition that all but fails, the constants are too large to be of use, and rounding could decide.
    if not slack > 1e-6:
        return None
    eta = gamma / n_arms
    c = (math.e - 2) / slack
    q = 1 + c
    start = largest_start(c, kappa)
    up = start / (1 + math.sqrt(q)) ** 2
    down = start * eta / (1 - (3 - math.e) * gamma)
    t = (q + math.sqrt(q**2 + 8 * q)) / 2
    fisher = eta * start**2 * (t**2 / ((1 + t) * (t + q) ** 2) + eta)
    # Rounding enters c divided by `slack`.
    up_round = 1 + ROUNDING / slack
    return DrawLoss(
        log_ratio=sensitivity * max(up, down) * up_round,
        log_range=sensitivity * (up + down) * up_round,
        fisher=sensitivity**2 * fisher * up_round,
    )


def largest_start(c: float, kappa: float) -> float:
    """Return H, the maximum over h in [0, 1] of (1 + c kappa) (1 - h) e^h + (1 + c) h.

    The function is concave; its maximum is where h e^h = (1 + c) / (1 + c kappa), which is in (0, e] for kappa <= 1.
    """
    target = (1 + c) / (1 + c * kappa)
    h = 1.0
    for _ in range(50):  # Newton's method from the right of a root of a convex function falls to it
        h -= (h * math.exp(h) - target) / ((1 + h) * math.exp(h))
    return (1 + c * kappa) * (1 - h) * math.exp(h) + (1 + c) * h


def phi(x: float) -> float:
    """Return 2 (e^x - 1 - x) / x^2 for x >= 0, which is 1 at 0; inf where it overflows."""
    if x < 1e-2:
        return 1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6 * (1 + x / 7))))
    return 2 * (math.expm1(x) - x) / x**2 if x < 700 else math.inf


class WholeGame:
    """Bounds on the Renyi divergences of all arms of a game of EXP3, in both directions.

    Args:
        n_arms: Number of arms K, at least 2.
        exploration_rate: gamma, which must meet the condition of `draw_loss`.
        sensitivity: s, the largest difference of an observed gain, in [0, 1].
    """

    def __init__(self, n_arms: int, exploration_rate: float, sensitivity: float) -> None:
        gamma, s = exploration_rate, sensitivity
        eta = gamma / n_arms
        kappa = (n_arms - 2) * gamma / (n_arms * (1 - gamma))
        slack = 1 - (math.e - 1) * kappa
        c = (math.e - 2) / slack
        q = 1 + c
        edges = cell_edges(eta, gamma)
        low, h = edges[:-1], edges[1:]

        def start(x: FloatArray) -> FloatArray:
            return (1 + c * kappa) * (1 - x) * np.exp(x) + q * x

        # H is concave: its largest value in a cell is at an end, or the maximum itself, which no cell exceeds.
        most = largest_start(c, kappa)
        falls = start(edges[1:]) < start(edges[:-1])
        inside = falls & ~np.append(False, falls[:-1])
        inside |= np.append(inside[1:], not falls.any())
        largest = np.where(inside, most, np.maximum(start(low), start(h)))
        limit = largest / h - q
        t = np.maximum(limit, math.sqrt(q))
        up = t / (1 + t) * np.minimum(h, largest / (t + q))
        down = np.minimum(largest * eta / (1 - (3 - math.e) * gamma), h)
        t = np.maximum(limit, (q + math.sqrt(q**2 + 8 * q)) / 2)
        fisher = eta * largest * np.minimum(h, largest / (t + q)) * t**2 / ((1 + t) * (t + q))
        rounded = 1 + ROUNDING / slack
        self.log_ratio: FloatArray = s * np.maximum(up, down) * rounded
        self.log_range: FloatArray = s * (up + down) * rounded
        self.fisher: FloatArray = s**2 * (fisher + np.minimum(largest * eta, h) ** 2) * rounded
        self._log_weight = np.log((n_arms - 1) * eta / low)
        self._likely = h <= gamma * (1 + ROUNDING)

    def renyi(self, orders: Sequence[float], draws: int) -> FloatArray:
        """Return the divergence of each order greater than 1 after this many later draws."""
        alpha = np.array(orders)[:, np.newaxis]
        b = self.log_ratio
        x = (alpha - 1) * b
        # ln(2 (e^x - 1 - x) / x^2), or a bound where that would overflow or lose its digits.
        middle = np.clip(x, 1e-2, 700.0)
        exact = np.log(2 * (np.expm1(middle) - middle)) - 2 * np.log(middle)
        log_phi = np.where(x < 1e-2, x / 3 * (1 + x), np.where(x < 700, exact, x))
        moment = np.logaddexp(0, np.log(alpha * (alpha - 1) / 2 * self.fisher) + b / 2 + log_phi)
        per_draw = np.minimum(moment, np.minimum((alpha - 1) * alpha * self.log_range**2 / 8, x))
        together = draws * per_draw * (1 + ROUNDING)
        excess = together + np.log(-np.expm1(-together))
        rare = (excess + self._log_weight).max(axis=1)
        likely = excess[:, self._likely].max(axis=1)
        total = np.logaddexp(0, np.logaddexp(rare, likely))
        result: FloatArray = total / (alpha[:, 0] - 1) * (1 + ROUNDING)
        return result


def cell_edges(eta: float, gamma: float) -> FloatArray:
    """Return ascending ends of cells that cover [eta, 1], among them gamma."""
    split = max(eta, 0.5)
    coarse = np.geomspace(eta, split, max(2, math.ceil(math.log(split / eta) / math.log(COARSE)) + 1))
    fine = np.geomspace(split, 1.0, max(2, math.ceil(math.log(1 / split) / math.log(FINE)) + 1))
    edges: FloatArray = np.unique(np.concatenate([coarse, fine, [eta, gamma, 1.0]]))
    return edges
