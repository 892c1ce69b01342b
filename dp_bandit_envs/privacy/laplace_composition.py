r"""What many Laplace draws of different epsilons lose together, composed numerically and rounded up.

Release j adds Laplace noise to a value that a changed round moves by at most :math:`e_j` scales. Its privacy loss
:math:`l_j` at that distance, under either of the two games, has the moment generating function

.. math:: M_j(s) = E\, e^{s l_j} = \frac{(s + 1) e^{s e_j} + s e^{-(s + 1) e_j}}{2 s + 1},

and all releases have the loss :math:`L = \sum_j l_j` of independent terms, whose smallest delta at epsilon is
:math:`\delta(\epsilon) = E \max(0, 1 - e^{\epsilon - L})`. A smaller distance loses less, also together with others
(Zhu, Dong and Wang 2022, theorem 10).

**Whatever the arms.** Take all numbers :math:`Y_j = \theta D_j + Z_j` with the noise Z, the change D and the game
:math:`\theta` = 0 or 1. What else goes into a release follows from earlier releases alone, in both games alike, so that
the whole game can be played from the Y. It is post-processing of them, in whatever order they are used.

**From the moments to delta.** The two-sided Laplace transform of :math:`\max(0, 1 - e^{-x})` is
:math:`1 / (s (s + 1))`. So for every tilt :math:`\theta > 0` the function :math:`f(x) = e^{\theta x} \delta(x)` has the
Fourier transform :math:`F(u) = M(s) / (s (s + 1))` at :math:`s = \theta + i u`, with :math:`M = \prod_j M_j`. By
Poisson's summation formula, for every step :math:`\eta`,

.. math:: \frac{\eta}{2 \pi} \sum_{n = -\infty}^\infty F(n \eta) e^{-i n \eta x}
          = \sum_{k = -\infty}^\infty f(x + 2 \pi k / \eta) \ge f(x),

because f is nowhere negative. **The sum over a grid is therefore an upper bound**, not an approximation; step and tilt
only decide how tight it is. To end the sum at n = N, one Gaussian draw with distance c = :math:`\sigma / 100` is
composed as well, where :math:`\sigma^2 = \sum_j e_j^2`. It only adds to the loss, multiplies M by
:math:`e^{c^2 s (s + 1) / 2}`, and so bounds what is left out, with :math:`|M_j(\theta + i u)| \le M_j(\theta)`, by
:math:`M(\theta) e^{-c^2 (N \eta)^2 / 2} / (\pi \eta N)`, where M includes it. It costs about 1/20,000 of epsilon.

**Few different epsilons.** Releases whose epsilons differ by less than one in 2,000 are taken at the largest of them.

**Sums of several arms.** Where a round moves the sums of several arms, by shares :math:`w_a` of the distance with
:math:`\sum_a w_a \le 1`, the bound holds as well, because two draws at distances a and b, :math:`b \le a`, lose no more
than one at a + b. The smallest delta of one draw is :math:`\max(0, 1 - e^{(\epsilon - a) / 2}, 1 - e^\epsilon)`. Its
mean over the loss of the other draw (1/2 at b, :math:`e^{-b} / 2` at -b, density :math:`e^{(l - b) / 2} / 4` between)
is, for :math:`0 \le \epsilon \le a + b`,

.. math:: 1 - e^{(\epsilon - a - b) / 2} \Big(1 + \frac{b}{2} - \frac14 \max(0, \epsilon - a + b)\Big)
          \le 1 - e^{(\epsilon - a - b) / 2},

since :math:`\epsilon - a \le b`; for negative epsilon it follows from the symmetry of the two games. QED
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dp_bandit_envs.protocols import FloatArray

RATIO = 1 + 1 / 2000
"""Releases are merged if their epsilons differ by less."""
SMOOTHING = 0.01
"""Distance of the Gaussian draw that is added, in standard deviations of the loss."""
CHUNK = 2**19
"""Most entries of an array of grid points times releases."""


class LaplaceComposition:
    """Laplace draws of given epsilons, and what they guarantee together.

    Args:
        epsilons: The distance of neighbours in each release, in noise scales; shape (releases,), each in [0, 30].
    """

    def __init__(self, epsilons: ArrayLike) -> None:
        all_ = np.asarray(epsilons, dtype=float).ravel()
        if not np.all((all_ >= 0) & (all_ <= 30)):
            raise ValueError(f"epsilons must be in [0, 30]; received {all_.max()!r} as the largest.")
        falling = np.sort(all_[all_ > 0])[::-1]
        self.pure = math.fsum(falling) * (1 + 1e-12)
        """The epsilon of pure differential privacy."""
        _, first, self.counts = np.unique(
            np.floor(np.log(falling) / -math.log(RATIO)), return_index=True, return_counts=True
        )
        self.epsilons: FloatArray = falling[first]
        self.releases = len(falling)
        self.smoothing = SMOOTHING**2 * float(self.counts @ self.epsilons**2)
        """c squared."""

    def log_moments(self, s: ArrayLike) -> NDArray[Any]:
        """Return ln M(s), the Gaussian draw included, for real or complex s of real part above 0; shape of s."""
        s = np.atleast_1d(s)
        found: NDArray[Any] = self.smoothing / 2 * s * (s + 1)
        step = max(1, CHUNK // len(s))
        for start in range(0, len(self.epsilons), step):
            e, counts = self.epsilons[start : start + step], self.counts[start : start + step]
            up = np.exp(np.multiply.outer(s, e))
            moments = ((s + 1)[:, None] * up + s[:, None] * np.exp(-e) / up) / (2 * s + 1)[:, None]
            found = found + np.log(moments) @ counts
        return found

    def epsilon(self, delta: float) -> float:
        """Return an epsilon for which (epsilon, delta)-DP holds, above the smallest by 0.1 % at most, nearly always.

        Args:
            delta: In (0, 1).
        """
        if self.releases == 0:
            return 0.0
        theta, start = self._tilt(delta)
        at = self._bound(theta, delta)
        low, high = 0.0, min(start, self.pure)
        if not at(high) <= delta:
            return high
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if at(middle) <= delta else (middle, high)
        return high

    def _tilt(self, delta: float) -> tuple[float, float]:
        """Return the order less 1 of the Renyi divergence that gives the least epsilon, and that epsilon."""
        log = -math.log(delta)

        def by_renyi(theta: float) -> float:
            paid = float(self.log_moments(theta)[0]) + log
            return (paid - math.log1p(theta)) / theta - math.log1p(1 / theta)

        low, high = math.log(1e-6), math.log(600 / self.epsilons[0])
        golden = (math.sqrt(5) - 1) / 2
        for _ in range(45):
            one, other = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, other) if by_renyi(math.exp(one)) < by_renyi(math.exp(other)) else (one, high)
        theta = math.exp(low)
        return theta, max(0.0, by_renyi(theta)) * (1 + 1e-9)

    def _bound(self, theta: float, delta: float) -> Callable[[float], float]:
        """Return the upper bound on delta at epsilon, for a tilt, with the step that suits deltas of this size."""
        c = math.sqrt(self.smoothing)
        # A delta near 1 asks for a tilt near 0, and so for a grid without end.
        theta = max(theta, SMOOTHING / (3 * c))
        # One period away, f has fallen by e^-16 at least where L is nearly normal.
        eta = 2 * math.pi * theta / (1.25 * (16 - math.log(delta)))
        last = math.ceil(6 / (c * eta))
        u = eta * np.arange(last + 1)
        s = theta + 1j * u
        logs = self.log_moments(s)
        peak = float(logs[0].real)
        terms = np.exp(logs - peak) / (s * (s + 1))
        terms[1:] *= 2
        left_out = 2 * math.exp(-self.smoothing / 2 * u[-1] ** 2) / (eta**2 * last)
        # A term is off by a few times 2^-53 for each release, and the largest is the first.
        rounding = (1e-9 + 1e-15 * self.releases) * float(np.abs(terms).sum())

        def at(epsilon: float) -> float:
            total = float((terms * np.exp(-1j * epsilon * u)).real.sum()) + left_out + rounding
            return math.exp(min(peak - theta * epsilon, 700.0)) * eta / (2 * math.pi) * total

        return at
