r"""The privacy loss of a whole game of EXP3: the arm of the changed round is itself drawn, and costly ones are rare.

`exp3_loss` bounds every draw after the changed round :math:`t_0` for the worst arm of that round. How far the change
reaches depends on :math:`h = \eta / p_0`, where :math:`p_0 \ge \eta` is the probability with which that arm was drawn:
h is near 1 only for arms that are drawn with probability near :math:`\eta = \gamma / K`.

**One draw, for a given h.** The proof of `exp3_loss` holds with two changes. Step 3 gives :math:`V \le H(h) \eta s`
with :math:`H(h) = (1 + c \kappa) (1 - h) e^h + q h` in place of its maximum. And :math:`0 \le d \le h s` at all times:
it starts so, because :math:`D \le \eta s / p_0 = h s`, and in step 1 :math:`d_j` moves towards X, which lies between
the smallest and the largest :math:`d_i`. So :math:`e_j \le h s` on P and :math:`X \le h s`, and step 4 becomes

.. math:: b_+ = \max_t \frac{t}{1 + t} m(t), \quad b_- = \min\Big(\frac{H \eta}{A}, h\Big), \quad
          f = s^2 \eta H \max_t \frac{t^2 m(t)}{(1 + t)(t + q)} + s^2 \min(H \eta, h)^2, \quad
          m(t) = \min\Big(h, \frac{H}{t + q}\Big),

where the first part of f comes from :math:`\sum_P y^2 e^2 / p`, one factor :math:`e (y + q \eta)` of which adds up to
at most :math:`H \eta s`. Both maxima are at the place without the limit h, or at :math:`t = H / h - q` if that is
larger, since the functions that m(t) multiplies grow with t. All of it grows with h and with H.

**The whole game.** Let :math:`M_h(\alpha) \ge 1` bound :math:`E\, (P / Q)^\alpha` over n later draws, by composition.
Up to :math:`t_0` nothing differs, so for the whole game it is the mean over the arm drawn there,

.. math:: \sum_a p_a M_{\eta / p_a} = 1 + \sum_a p_a (M_{\eta / p_a} - 1)
          \le 1 + \max_{h \le \gamma} (M_h - 1) + (K - 1) \max_h \frac{\eta}{h} (M_h - 1),

because some arm has :math:`p_a \ge 1 / K`, so :math:`h \le \gamma`, and for every other one :math:`p_a = \eta / h`.
The maxima are taken over cells of h, with the larger end in M, the smaller one below :math:`\eta`, and the largest H.

`tests/privacy/test_exp3_changed_round.py` compares it with exact laws of whole games.
"""

import math
from collections.abc import Sequence

import numpy as np

from dp_bandit_envs.privacy.accounting import ROUNDING
from dp_bandit_envs.privacy.exp3_loss import largest_start
from dp_bandit_envs.protocols import FloatArray

FINE, COARSE = 1.02, 1.1
"""Ratio of the ends of a cell of h, above and below 1/2."""


class WholeGame:
    """Bounds on the Renyi divergences of all arms of a game of EXP3, in both directions.

    Args:
        n_arms: Number of arms K, at least 2.
        exploration_rate: gamma, for which `draw_loss` finds its condition met.
        sensitivity: By how much a gain that the agent sees may differ, s, in [0, 1].
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
        one = np.minimum(moment, np.minimum((alpha - 1) * alpha * self.log_range**2 / 8, x))
        together = draws * one * (1 + ROUNDING)
        excess = together + np.log(-np.expm1(-together))
        rare = (excess + self._log_weight).max(axis=1)
        likely = excess[:, self._likely].max(axis=1)
        whole = np.logaddexp(0, np.logaddexp(rare, likely))
        result: FloatArray = whole / (alpha[:, 0] - 1) * (1 + ROUNDING)
        return result


def cell_edges(eta: float, gamma: float) -> FloatArray:
    """Return ascending ends of cells that cover [eta, 1], among them gamma."""
    split = max(eta, 0.5)
    coarse = np.geomspace(eta, split, max(2, math.ceil(math.log(split / eta) / math.log(COARSE)) + 1))
    fine = np.geomspace(split, 1.0, max(2, math.ceil(math.log(1 / split) / math.log(FINE)) + 1))
    edges: FloatArray = np.unique(np.concatenate([coarse, fine, [eta, gamma, 1.0]]))
    return edges
