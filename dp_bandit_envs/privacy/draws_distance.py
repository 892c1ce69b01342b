r"""How far fast draws are from exact noise, and what that adds to a guarantee's delta.

**From a distance to delta.** Let P be the law of everything published, and Q the same law if the draws that the changed
round influences were exact; P' and Q' in a neighbouring game. If both pairs are within a total variation distance
:math:`\tau`, and the theorem gives :math:`Q(S) \le e^\epsilon Q'(S) + \delta`, then

.. math:: P(S) \le Q(S) + \tau \le e^\epsilon Q'(S) + \delta + \tau
          \le e^\epsilon P'(S) + \delta + (1 + e^\epsilon) \tau.

Draws that the round does not influence are the same in both games, whatever their law. Distances of independent draws
add up: the couplings of the draws fail one after the other. So :math:`\tau` is the sum over the draws that one round
influences: s draws where s gains are released, one for a block's sum, one node a level for a counter, times the
coordinates of vectors.

**The distance of one draw on a grid.** A fast draw (`dp_bandit_envs.draws`) is b times the quantile of the middle of
one of :math:`2^{53}` equal parts of [0, 1], all with the same chance; the middles are exact in doubles. Rounding (value
+ draw) to doubles and then to the grid is a function of the sum as a real number, so it is enough to compare the draw
with a real one, cell by cell, for cells of the width g of the grid. With r = b / g, the density f for b = 1 and its
mean absolute value m, in units of :math:`2^{-53}`:

- The number of middles below an edge differs from the exact mass below it by at most 1/2, so a cell's mass is off by at
  most 1. From :math:`\pm b x` on, where a cell has less than one middle, the two masses together are at most twice the
  exact one, and 1/2, a side. Up to there, there are 2 r x cells.
- Quantile and product together have a relative error of at most :math:`\eta`, which moves an edge at y b by at most
  :math:`2^{53} \eta |y| f(y)` of those units; over all cells, twice, that is :math:`2^{54} \eta m r`.

The distance is half the sum and a few units more.

- Laplace: x is :math:`\ln(2^{52} / r)`, a side's exact mass beyond it r, m = 1, and :math:`\eta` = 5.2e-16, as
  logarithms have a relative error below 4e-16 and a product has 1.2e-16. So it is
  :math:`2^{-54} r (2 \ln(2^{52} / r) + 4 + 9.4)`, for r of at least 1024, as on the grids of Laplace noise, at most
  4e-15 r. (Counted exactly, for gains, it is 1.2e-15 r: `tests/privacy/test_draws_distance.py`.)
- Normal: x is at most 8.5 for r of at least 1, a side's exact mass beyond it r / x, m = .80, :math:`\eta` = 1.1e-15, as
  the quantile has a relative error below 1e-15. So it is :math:`2^{-54} r (2 x + 4 / x + 16.1)`, at most 1.9e-15 r.
  (Counted: 3.4e-16 r.)
- An exponential draw has one side only, and is nearer than a Laplace draw. (Counted: 6.5e-16 r.)

The relative errors are measured, on some 10,000 arguments each, with a margin of 2.6 and 1.5; no proof bounds them.

**Own-norm noise** of dimension d counts as a Laplace draw of d + 1 scales for each coordinate, much more than it needs:
given the radius, of d + 1 scales on average, a coordinate is a uniform number, whose cells are all off by at most 1
unit, which adds up to 1.1e-16 a grid step in the radius; or one of a direction of normal draws, divided by its length.
An error of the radius of 1e-15 (that of its gamma draw) changes a vector's law by at most d times that.

**Counters.** A node's draw stays in many releases, so that other nodes' draws are added before the sum is rounded. The
distance above is that of a node if the draws that come later in the game are exact: then only the release that first
contains the node has edges, as later releases are smooth in it. Fast draws do not fulfil this to the last bit: who
wants a bound without it replaces the nodes that one round influences by all draws of the game. Secure draws need
neither (`dp_bandit_envs.privacy.secure_draws`).

Not counted: an agent's own draws, by which EXP3 or Hedge choose arms. Each is one uniform number of 53 bits, so a draw
among K arms is off by at most about :math:`K 2^{-53}`, and T of them by T times that.
"""

import math
from collections.abc import Callable, Iterable
from typing import Final

PER_STEP: Final = 4e-15
"""Total variation distance of one Laplace draw, for each grid step in its scale, from 1024 steps on."""
NORMAL: Final = (2e-15, 1e-15)
"""The same for one normal draw, for each grid step in its standard deviation, from 1 step on, and besides."""


def distance_of_draws(scale: float, grid: float, draws: int = 1, *, normal: bool = False) -> float:
    """Return the distance of independent fast draws together, in [0, 1]; 0 without noise.

    Args:
        scale: The scale of each draw, or its standard deviation, in the units of what is released.
        grid: The step between released numbers; 0 if they are not rounded, where nothing can be said.
        draws: The number of draws that one round influences.
        normal: Whether they are normal; otherwise Laplace or exponential.
    """
    if not scale > 0 or draws == 0:
        return 0.0
    if not grid > 0:
        return 1.0
    steps = scale / grid
    of_one = NORMAL[0] * max(steps, 1.0) + NORMAL[1] if normal else PER_STEP * max(steps, 1024.0)
    return min(1.0, draws * of_one)


def distance_of_all(draws: Iterable[tuple[float, int]], grid: float, *, normal: bool = False) -> float:
    """Return the distance of all draws together: pairs of a scale and the number of draws that have it."""
    return min(1.0, math.fsum(distance_of_draws(scale, grid, number, normal=normal) for scale, number in draws))


def added_delta(epsilon: float, distance: float) -> float:
    """Return (1 + e^epsilon) times the distance, rounded up; at most 1."""
    if not distance > 0:
        return 0.0
    return 1.0 if epsilon > 700 else min(1.0, (1 + math.exp(epsilon)) * distance * (1 + 1e-12))


def epsilon_with_draws(exact: Callable[[float], float], delta: float, distance: float) -> float:
    """Return the smallest epsilon at which the delta of exact noise and that of the draws together are `delta`, or inf.

    Args:
        exact: For each delta, an epsilon that holds for exact noise; it falls with delta.
        delta: In (0, 1).
        distance: That of the draws.
    """
    epsilon = 0.0
    for _ in range(100):
        left = delta - added_delta(epsilon, distance)
        found = exact(left) if left > 0 else math.inf
        if found <= epsilon or math.isinf(found):
            return found
        # It grows from below; a little more ends the search on the safe side.
        epsilon = found * (1 + 1e-12)
    return math.inf


def delta_with_draws(exact: Callable[[float], float], epsilon: float, distance: float) -> float:
    """Return the smallest sum of the two deltas at an epsilon up to this one, which then holds here too.

    Args:
        exact: For each epsilon, a delta that holds for exact noise.
        epsilon: In [0, inf).
        distance: That of the draws.
    """
    if not distance > 0:
        return exact(epsilon)
    least, low, high = 1.0, 0.0, epsilon
    # One delta falls and the other one grows, so the least sum is near the best of a few; any of them holds.
    for _ in range(4):
        step = (high - low) / 16
        sums = {each: exact(each) + added_delta(each, distance) for each in (low + step * part for part in range(17))}
        best = min(sums, key=lambda each: sums[each])
        least, low, high = min(least, sums[best]), max(low, best - step), min(high, best + step)
    return least
