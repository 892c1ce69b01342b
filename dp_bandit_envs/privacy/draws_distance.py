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

**The distance of one draw on a grid.** A fast draw (`dp_bandit_envs.draws`) is a function of a word, and a release is
round(value + draw) on a grid: a function of the draw, so it is enough to compare how many of the :math:`2^{64}` words
lead to each number on the grid with the exact mass of its cell. That is counted, with the package's own logarithm and
quantile and with all roundings, for 64 places of the value between two numbers on the grid and 16 scales in an octave
(`tests/tools/draw_counts.py`). With r, the scale (or standard deviation) in grid steps, the distance grows with r, as
there are 2 r edges of cells a unit, each of which is off by up to :math:`2^{-54}`, since v is rounded to a double.

**Many draws.** Split the distance of one draw into t, that of the cells beyond a probability of 1e-7, and what is left,
with the chi-square divergence :math:`X = \sum (p - q)^2 / q` of the other cells. Kullback and Leibler's divergence is
at most X, it adds up over draws, also where a draw's place depends on those before it, and Pinsker's inequality makes a
distance of it. So n draws are within :math:`n t + \sqrt{n X / 2}`, or n times the distance of one if that is smaller.

**Own-norm noise** of dimension d. In the sup norm, given the radius, coordinates are independent uniform numbers, whose
cells are off by less than half of what those of a Laplace draw are, at a scale of the radius, and X is less than a
quarter; the radius squared is :math:`(d + 1)(d + 2)` scales squared on average, so a coordinate counts as a Laplace
draw of (d + 2) / 2 scales. In L2, a normal draw moves its own coordinate and, by the length, all others: they have
:math:`1 + \sqrt d` times as many edges in it as it has alone, so a coordinate counts as a Laplace draw of
:math:`(d + 1) (1 + \sqrt d)` scales. A relative error of 1e-15 in the radius (that of its gamma draw) changes a
vector's law by at most d times that. In L1 the noise is that of Laplace draws.

**Counters.** A node's draw stays in many releases. So that it is rounded in one of them only, the counter keeps each
release's noise as it is after rounding (`Counter.settled`). Then a release is the rounded sum of its new draws and of a
number that is known from earlier releases and the items: what is released is a function of, for each release, a
rounded sum of new draws, and the distances above are those of its terms. With exact draws it is post-processing of the
noisy nodes: if R' is the earlier release on which a release builds, the latter is R' + round(items of the node + its
draw), as R' is on the grid; for the square-root counter, R = L y with entries of y that are rounded one after the
other. New nodes without items (padding, the smooth counter's lower ones) only move the place of the value. Nodes of
the k-ary counter that are subtracted before their items are in (`ahead_of_items`) are rounded in a second release,
with a draw of the level above. Replace the draws of one item's nodes by exact ones from the highest level down: then
that release is smooth in them, and to move a draw by x costs at most x / (2 b) a level. Fast draws are next to exact
ones by :math:`10^{-15}` scales on average (errors of quantiles, products and of v), which adds 5e-16 a level.

Not counted: an agent's own draws, by which EXP3 or Hedge choose arms. Each is one uniform number of 53 bits, so a draw
among K arms is off by at most about :math:`K 2^{-53}`, and T of them by T times that.
"""

import math
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from dp_bandit_envs.errors import WrongGameError


class Distance(NamedTuple):
    """What is declared for one draw, for each grid step in its scale, or standard deviation; from 8 steps on.

    Attributes:
        whole: Total variation distance.
        tail: That of the cells beyond a probability of 1e-7 (t).
        bulk: Root of the chi-square divergence of the others (X).
    """

    whole: float
    tail: float
    bulk: float


LAPLACE: Final = Distance(1.5e-16, 8.5e-19, 4.0e-16)
"""Counted: at most 1.1e-16, 5.6e-19 and 3.3e-16; exponential draws are no farther off."""
NORMAL: Final = Distance(1.5e-16, 1.2e-19, 4.0e-16)
"""Counted: at most 1.1e-16, 8.2e-20 and 3.2e-16."""
LEAST_STEPS: Final = 8.0
SECOND_ROUNDING: Final = 5e-16
"""What a level adds for a draw that is rounded twice."""
RADIUS: Final = 1e-15
"""What the radius of own-norm noise adds for each coordinate."""


def distance_of_draws(scale: float, grid: float, draws: int = 1, *, normal: bool = False) -> float:
    """Return the distance of independent fast draws together, in [0, 1]; 0 without noise.

    Args:
        scale: The scale of each draw, or its standard deviation, in the units of what is released.
        grid: The step between released numbers; 0 if they are not rounded, where nothing can be said.
        draws: The number of draws that one round influences.
        normal: Whether they are normal; otherwise Laplace or exponential.
    """
    return distance_of_all([(scale, draws)], grid, normal=normal)


def distance_of_all(
    draws: Iterable[tuple[float, int]], grid: float, *, normal: bool = False, used_twice: bool = False
) -> float:
    """Return the distance of all draws together.

    Args:
        draws: Pairs of a scale and the number of draws that have it.
        grid: As in `distance_of_draws`.
        normal: As there.
        used_twice: Whether draws can be rounded in two releases.
    """
    pairs = [(scale, number) for scale, number in draws if scale > 0 and number > 0]
    if not grid > 0:
        return 1.0 if pairs else 0.0
    of_one = NORMAL if normal else LAPLACE
    steps = [(max(scale / grid, LEAST_STEPS), number) for scale, number in pairs]
    one_by_one = of_one.whole * math.fsum(number * r for r, number in steps)
    together = math.sqrt(math.fsum(number * r * r for r, number in steps) / 2)
    together = of_one.tail * math.fsum(number * r for r, number in steps) + of_one.bulk * together
    levels, number = len(steps), sum(number for _, number in steps)
    again = SECOND_ROUNDING * levels * number if used_twice else 0.0
    return min(1.0, min(one_by_one, together) + again)


def delta_for_exact_draws(epsilon: float, delta: float, distance: float) -> float:
    """Return what is left of a delta for exact noise; it is nearly all of it.

    Raises:
        WrongGameError: If fast draws need half of delta or more.
    """
    room = added_delta(epsilon, distance)
    if not room < delta / 2:
        raise WrongGameError(
            f"delta = {delta:g} cannot be kept with fast draws here, which need {room:.2g} of it; use a delta of at"
            f" least {min(2.1 * room, 1.0):.2g}, draws='secure', or noise from a tree, such as counter='k-ary'."
        )
    return delta - room


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
