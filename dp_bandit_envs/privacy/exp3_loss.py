r"""The privacy loss of one draw of EXP3: of order :math:`s^2 \gamma / K`, because a changed gain is forgotten.

EXP3 in gain form has :math:`K \ge 2` arms, :math:`\eta = \gamma / K`, probabilities
:math:`p_i = (1 - \gamma) w_i + \eta` with :math:`w = \mathrm{softmax}(S)`, and adds :math:`\eta g / p_a` to the score
:math:`S_a` of the arm played. Two games differ in one round :math:`t_0`, where the gain that the agent sees moves by
at most s; gains of other rounds may depend on the arms played before them. Everything below holds for every sequence
of arms; a gain that is withheld changes nothing.

**Statement.** Let :math:`\kappa = (K - 2) \gamma / (K (1 - \gamma))` with :math:`(e - 1) \kappa < 1`, and

.. math:: c = \frac{e - 2}{1 - (e - 1) \kappa}, \quad q = 1 + c, \quad A = 1 - (3 - e) \gamma, \quad
          H = \max_{0 \le h \le 1} (1 + c \kappa) (1 - h) e^h + q h,

.. math:: b_+ = \frac{H}{(1 + \sqrt q)^2}, \quad b_- = \frac{H \eta}{A}, \quad b = s \max(b_+, b_-), \quad
          f = s^2 \eta H^2 \Big(\max_t \frac{t^2}{(1 + t) (t + q)^2} + \eta\Big).

Then each draw after :math:`t_0` has log ratios of at most b within a range of :math:`s (b_+ + b_-)`, and with
:math:`\varphi(x) = 2 (e^x - 1 - x) / x^2` its Renyi divergence of order :math:`\alpha > 1` is at most

.. math:: \frac{1}{\alpha - 1} \ln\Big(1 + \frac{\alpha (\alpha - 1)}{2} f e^{b / 2} \varphi((\alpha - 1) b)\Big), \quad
          \frac{\alpha s^2 (b_+ + b_-)^2}{8}, \quad \text{and} \quad b.

Draws up to :math:`t_0` have the same law in both games; divergences of later ones add up (adaptive composition). For
small :math:`\gamma`, b is .341 s and the first bound about :math:`.168 \alpha s^2 \gamma / K`, at small orders only:
at large ones it is not, so no rho of that order holds.

**Proof.** Hold the arms. Join the two worlds by :math:`g_\lambda = g + \lambda (g' - g)`, :math:`g' > g`, and write
:math:`d = dS / d\lambda`, :math:`X = \sum_i w_i d_i`, :math:`e_i = d_i - X`, :math:`y_i = (1 - \gamma) w_i`. Then
:math:`dp_i / d\lambda = y_i e_i`, and :math:`l_i = y_i e_i / p_i` is the derivative of :math:`\ln p_i`.

*1. One later play*, of arm j with the same gain g in all worlds. Let :math:`h = \eta / p_j`, :math:`u = h g \le 1`,
:math:`\theta = u (1 - h) \le 1/4`, :math:`Z = 1 + w_j (e^u - 1)`. Differentiating :math:`S_j + \eta g / p_j` shows
that :math:`d_j` falls by :math:`\theta e_j` and no other :math:`d_i` moves; so :math:`d \ge 0` stays so, as it starts.
X moves towards :math:`d_j` by :math:`\xi = \beta \eta \delta / (1 - \gamma)`, where :math:`\delta = \theta |e_j|` and

.. math:: \beta = \frac{e^u - 1 - \theta e^u}{h u Z} = \frac{e^u - g r(u)}{Z}, \quad
          r(u) = \int_0^1 t e^{u t} dt = \frac{1 + (u - 1) e^u}{u^2}.

From :math:`Z \ge 1` and :math:`g \ge u`, :math:`\beta \le (e^u - 1) / u \le e - 1`; from :math:`Z \le e^u` and
:math:`g \le 1`, :math:`\beta \ge 1 - (u - 1 + e^{-u}) / u^2 \ge 1/2`. Last, :math:`e_j` becomes
:math:`e_j (1 - \theta (1 - w_j)) / Z`: its sign stays, and :math:`|e_j|` falls by :math:`\delta + \xi`.

*2. What never grows.* :math:`V = (1 - \gamma) X + \eta \sum_i d_i + c \eta \sum_i |e_i|`. Each of the other K - 1
:math:`|e_i|` grows by at most :math:`\xi`, so the last sum by at most
:math:`-\delta + (K - 2) \xi = -\delta (1 - \beta \kappa)`. The other two terms move by
:math:`\pm \eta \delta (\beta - 1)`, with + for :math:`e_j > 0`. So V does not grow if
:math:`c (1 - \beta \kappa) \ge |\beta - 1|` with the sign in question: for + the worst :math:`\beta` is e - 1, where c
has equality; for - it is 1/2, where :math:`(1/2) / (1 - \kappa / 2) < c`.

*3. What it starts from.* After :math:`t_0` only :math:`d_a = D \le \eta s / p_0` is not 0, with :math:`p_0` the
probability of arm a before the play, :math:`p_+` and :math:`w_+` those after it.
:math:`V = D (p_+ + c \eta (1 + (K - 2) w_+))`; with :math:`h = \eta / p_0` and
:math:`p_+ \le (p_0 - \eta) e^h + \eta`, V is at most :math:`\eta s ((1 + c \kappa) (1 - h) e^h + q h) \le H \eta s`.
(With :math:`p_0` in place of :math:`p_+` it is false.)

*4. What it allows.* :math:`V = X + q \eta \sum_P e_i - (1 - c) \eta \sum_N |e_i|`, with P the arms of :math:`e_i > 0`
and N the others, where :math:`|e_i| \le X` because :math:`d \ge 0`. So :math:`V \ge A X + q \eta \sum_P e_i`; and
:math:`A X \ge (1 - \gamma) \sum_N w_i |e_i| = \sum_P y_i e_i`. Hence :math:`\sum_P e_i (y_i + q \eta) \le H \eta s`
and :math:`X \le H \eta s / A`. With :math:`y_j = t \eta`, :math:`l_j \le H s t / ((1 + t) (t + q)) \le s b_+`; on N,
:math:`|l_i| \le X \le s b_-`. For the Fisher information :math:`\sum_i p_i l_i^2`, P gives at most
:math:`(H \eta s)^2 / \eta` times the maximum over t in f (at :math:`t^2 = q t + 2 q`), and N at most
:math:`X \sum_N y_i |e_i| \le (1 - \gamma) X^2 \le (H \eta s)^2`, as :math:`A^2 \ge 1 - \gamma`. Together at most f.

*5. From derivatives to divergences.* For :math:`M(\lambda) = \sum p_\lambda^\alpha p_0^{1 - \alpha}` and
:math:`r = \ln p_\lambda / p_0`, :math:`|r| \le b \lambda`: as :math:`\sum p_\lambda l = 0`,

.. math:: M' = \alpha \sum p_\lambda (e^{(\alpha - 1) r} - 1) l
          \le \alpha \frac{e^{(\alpha - 1) b \lambda} - 1}{b \lambda} \sum p_\lambda |r| |l|,

and the last sum is at most :math:`\int_0^\lambda \sum p_\lambda |l_\mu| |l_\lambda| d\mu \le f \lambda e^{b / 2}`, by
Cauchy and Schwarz and :math:`p_\lambda \le e^{b (\lambda - \mu)} p_\mu`. Integrating gives the first bound, and the
path backwards the other direction. The second bound is Hoeffding's lemma on the range, the third is trivial. QED

`exp3_changed_round` refines this for whole games.
`tests/privacy/test_exp3_loss.py` checks each step on random states, and that wrong constants fail.
"""

import math
from typing import NamedTuple

from dp_bandit_envs.privacy.accounting import ROUNDING


class DrawLoss(NamedTuple):
    """What bounds the privacy loss of one draw.

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
    """Return what bounds the loss of one draw of EXP3, or None where the theorem's condition fails.

    The bounds are rounded up.

    Args:
        n_arms: Number of arms K, at least 2.
        exploration_rate: gamma, in (0, 1].
        sensitivity: By how much a gain that the agent sees may differ, s, in [0, 1].
    """
    gamma = exploration_rate
    if gamma >= 1:
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
