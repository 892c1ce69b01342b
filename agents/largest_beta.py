r"""Finds the arm with the largest of many independent Beta draws, without making the draws that cannot win.

The distribution of the result is exact. Thompson sampling does this in every round. The arm played last gets an
ordinary draw, the floor. For each other arm, we bound its chance to exceed the floor from above and toss a coin with
that probability; only arms whose coin shows heads are drawn. One uniform number u decides the coins up to the first
head, that of the first arm with (1 - c_1) (1 - c_2) ... (1 - c_i) <= u.

**Bounds.** For alpha, beta of at least 1 the density f is log-concave, so right of its mode it lies below its tangent g
at c:

.. math:: f(\theta) \le g(\theta) = f(c) e^{-s (\theta - c)}, \quad s = \frac{n c - k}{c (1 - c)}, \quad
          \int_c^\infty g = \frac{f(c)}{s} \le e^{-x - 0.9}, \quad x = \frac{(n c - k)^2}{2 n v} \ge 1.5

with k = alpha - 1, n = alpha + beta - 2 and v the largest t (1 - t) between the mode k / n and the floor c. Either
bound can be the coin's probability.

Source: rejection from exponential tangents of a log-concave density, Devroye (1986), Non-Uniform Random Variate
Generation, chapter VII. The second bound: ln f falls from the mode to c by n kl(k / n, c), which is at least x, and
faster than x grows. So x = 1.5 is the worst case, where the tests find a factor below exp(-0.93).

**Many arms** (`among_many`). Here the coins' probabilities are chances to exceed a *line* below the floor. The line
stays for several rounds, so a chance is recomputed only when the arm's posterior changes. One number decides the coins
of `SPAN` arms at once, by the probability that all show tails.

The line is the largest value of an arm's mean less `BELOW` standard deviations, and that arm is the leader. Both are
chosen again after `ROUNDS_OF_A_LINE` rounds, or when a floor was below the line. While too many arms are likely to
exceed such a line, the floor of each round is used instead.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.draws import exp, log, log1p

LAZY_FROM: Final = 1.5
"""The smallest x of the second bound."""

TANGENT_MARGIN: Final = 0.9
"""At x of LAZY_FROM or more, the mass under the tangent is at most exp(-x - TANGENT_MARGIN)."""

LAZY_BELOW: Final = 0.25
"""An arm with a larger chance gets an ordinary draw, which is cheaper there; chosen by timing."""

UNKNOWN: Final = math.inf
"""Takes the place of a `log_scale` that was not computed."""

MANY: Final = 32
"""From so many arms on `among_many` is faster; this and the next three numbers were chosen by timing."""

SPAN: Final = 16
"""Arms whose coins are decided at once."""

BELOW: Final = 2.5
"""Standard deviations of the leader's posterior from its mean down to the line."""

ROUNDS_OF_A_LINE: Final = 64
"""Rounds between choices of the line."""

CROWD: Final = 0.1
"""The mean chance to exceed the line above which the floor replaces the line."""

STALE: Final = -1.0
"""Takes the place of a chance that was not computed."""

LEADER: Final = 0
ROUNDS_LEFT: Final = 1
AT_FLOOR: Final = 2


def one_by_one(alphas: Sequence[float], betas: Sequence[float], first: int, rng: np.random.Generator) -> int:
    """Return the arm with the largest of K independent draws from Beta(alphas[i], betas[i]).

    Args:
        alphas: First parameters, shape `(n_arms,)`, each at least 1.
        betas: Second parameters, shape `(n_arms,)`, each at least 1.
        first: The arm drawn first, preferably a likely winner such as the arm played last. It affects the running time,
            not the distribution.
        rng: Source of randomness.
    """
    best = first
    floor = 0.0
    u = rng.random()
    tails = 1.0
    for position in range(-1, len(alphas)):
        arm = first if position < 0 else position
        if position == first:
            continue
        alpha, beta = alphas[arm], betas[arm]
        # 1 for a floor of 0, so that the first arm is drawn.
        bound = rough_chance(alpha, beta, floor)
        tails *= 1.0 - bound
        if u < tails:
            continue
        draw = rng.beta(alpha, beta) if bound == 1.0 else above(alpha, beta, floor, bound, rng)
        if draw > floor:
            best = arm
            floor = draw
        u = rng.random()
        tails = 1.0
    return best


class Search(NamedTuple):
    """State kept between rounds; arrays, because compiled code can write to arrays only.

    Attributes:
        scales: The `log_scale` of each arm's posterior where it was needed, or UNKNOWN.
        chances: A bound on each arm's chance to exceed the line, or STALE.
        spans: The probability that all coins of `SPAN` arms fall on tails, or STALE.
        line: The line c, ln c and ln(1 - c).
        status: `LEADER`, the arm whose draw is the floor; `ROUNDS_LEFT`, rounds until a line is chosen again;
            `AT_FLOOR`, 1 if until then each round's floor is the line, and the last winner leads.
    """

    scales: Any
    chances: Any
    spans: Any
    line: Any
    status: Any


def start(n_arms: int) -> Search:
    """Return the state before the first search."""
    spans = np.full((n_arms + SPAN - 1) // SPAN, STALE)
    status = np.array([0, 0, 0])
    return Search(np.full(n_arms, UNKNOWN), np.full(n_arms, STALE), spans, np.zeros(3), status)


def changed(search: Search, arm: int) -> None:
    """Mark the posterior of an arm as changed."""
    search.scales[arm] = UNKNOWN
    search.chances[arm] = STALE
    search.spans[arm // SPAN] = STALE


def among_many(alphas: Sequence[float], betas: Sequence[float], search: Search, rng: np.random.Generator) -> int:
    """Return the arm with the largest of K independent draws from Beta(alphas[i], betas[i]).

    Args:
        alphas: First parameters, shape `(n_arms,)`, each at least 1.
        betas: Second parameters, shape `(n_arms,)`, each at least 1.
        search: The state; changed in place. Call `changed` for each arm whose parameters have changed.
        rng: Source of randomness.
    """
    chances, spans, status = search.chances, search.spans, search.status
    leader = status[LEADER]
    best = leader
    floor = rng.beta(alphas[leader], betas[leader])
    log_floor, log_rest = log(floor), log(1.0 - floor)
    if status[ROUNDS_LEFT] == 0:
        choose_line(alphas, betas, search)
    status[ROUNDS_LEFT] -= 1
    if status[AT_FLOOR] == 1:
        draw_line(alphas, betas, search, floor, log_floor, log_rest)
    elif floor < search.line[0]:
        draw_line(alphas, betas, search, floor, log_floor, log_rest)
        status[ROUNDS_LEFT] = 0
    u = rng.random()
    tails = 1.0
    for span in range(len(spans)):
        if spans[span] == STALE:
            renew(alphas, betas, search, span)
        if u < tails * spans[span]:
            tails *= spans[span]
            continue
        for arm in range(span * SPAN, min((span + 1) * SPAN, len(alphas))):
            tails *= 1.0 - chances[arm]
            if u < tails:
                continue
            # The leader has its draw.
            draw = 0.0
            if arm != leader:
                draw = draw_above(alphas[arm], betas[arm], search, arm, floor, log_floor, log_rest, rng)
            if draw > floor:
                best = arm
                floor = draw
                log_floor, log_rest = log(floor), log(1.0 - floor)
            u = rng.random()
            tails = 1.0
    if status[AT_FLOOR] == 1:
        status[LEADER] = best
    return int(best)


def draw_above(
    alpha: float,
    beta: float,
    search: Search,
    arm: int,
    floor: float,
    log_floor: float,
    log_rest: float,
    rng: np.random.Generator,
) -> float:
    """Return a draw of an arm whose coin fell on heads, if it exceeds the floor; otherwise any value that does not."""
    bound = search.chances[arm]
    if bound == 1.0:
        if search.scales[arm] == UNKNOWN:
            search.scales[arm] = log_scale(alpha, beta)
        bound = chance(alpha, beta, search.scales[arm], floor, log_floor, log_rest)
        if bound == 1.0:
            return float(rng.beta(alpha, beta))
        if rng.random() >= bound:
            return 0.0
    return above(alpha, beta, floor, bound, rng)


def choose_line(alphas: Sequence[float], betas: Sequence[float], search: Search) -> None:
    """Choose the leader and a line for the next rounds."""
    chances, status = search.chances, search.status
    for arm in range(len(alphas)):
        total = alphas[arm] + betas[arm]
        mean = alphas[arm] / total
        chances[arm] = mean - BELOW * math.sqrt(mean * (1.0 - mean) / total)
    leader = status[LEADER]
    for arm in range(len(alphas)):
        if chances[arm] > chances[leader]:
            leader = arm
    status[LEADER] = leader
    status[ROUNDS_LEFT] = ROUNDS_OF_A_LINE
    # A line has to be above 0; no arm can be told from the others yet.
    if chances[leader] <= 0.0:
        status[AT_FLOOR] = 1
        return
    height = chances[leader]
    draw_line(alphas, betas, search, height, log(height), log(1.0 - height))
    heads = 0.0
    for arm in range(len(alphas)):
        heads += chances[arm]
    status[AT_FLOOR] = 1 if heads > CROWD * len(alphas) else 0


def draw_line(
    alphas: Sequence[float], betas: Sequence[float], search: Search, height: float, log_height: float, log_rest: float
) -> None:
    """Draw the line at this height, in (0, 1], and compute all chances to exceed it."""
    chances, line = search.chances, search.line
    line[0], line[1], line[2] = height, log_height, log_rest
    # A loop of its own, so that machine code takes several arms at once.
    for arm in range(len(alphas)):
        chances[arm] = chance(alphas[arm], betas[arm], search.scales[arm], height, log_height, log_rest)
    for span in range(len(search.spans)):
        search.spans[span] = STALE


def renew(alphas: Sequence[float], betas: Sequence[float], search: Search, span: int) -> None:
    """Recompute stale chances of a span, and the probability that all its coins show tails."""
    scales, chances, line = search.scales, search.chances, search.line
    tails = 1.0
    for arm in range(span * SPAN, min((span + 1) * SPAN, len(alphas))):
        if chances[arm] == STALE:
            chances[arm] = chance(alphas[arm], betas[arm], scales[arm], line[0], line[1], line[2])
        tails *= 1.0 - chances[arm]
    search.spans[span] = tails


def distance(alpha: float, beta: float, floor: float) -> float:
    """Return x for a floor in [0, 1]; 0 left of the mode."""
    k = alpha - 1.0
    n = k + (beta - 1.0)
    excess = n * floor - k
    if not excess > 0.0:
        return 0.0
    if floor < 0.5:
        twice_nv = 2.0 * n * floor * (1.0 - floor)
    elif 2.0 * k > n:
        twice_nv = 2.0 * k * (n - k) / n
    else:
        twice_nv = 0.5 * n
    return excess * excess / twice_nv


def rough_chance(alpha: float, beta: float, floor: float) -> float:
    """Return a step function of x that is at least exp(-x - 0.9), and 1 below LAZY_FROM: it needs no exponential."""
    x = distance(alpha, beta, floor)
    if x < 5.0:
        return 1.0 if x < LAZY_FROM else 0.091
    # Beyond 40 it is below e^-40.9, less than the resolution of a uniform double.
    return 0.0 if x > 40.0 else (0.00275 if x < 10.0 else 0.0000185)


def chance(alpha: float, beta: float, scale: float, floor: float, log_floor: float, log_rest: float) -> float:
    """Return the first bound, or the second bound where the first is unknown; 1 if that is not small.

    Args:
        alpha: First parameter, at least 1.
        beta: Second parameter, at least 1.
        scale: `log_scale(alpha, beta)`, or UNKNOWN.
        floor: c, in (0, 1].
        log_floor: ln c.
        log_rest: ln(1 - c).
    """
    k, j = alpha - 1.0, beta - 1.0
    excess = (k + j) * floor - k
    if not excess > 0.0:
        return 1.0
    if scale == UNKNOWN:
        x = distance(alpha, beta, floor)
        bound = exp(-x - TANGENT_MARGIN) if x >= LAZY_FROM else 1.0
    else:
        bound = exp(scale + k * log_floor + j * log_rest) * (floor * (1.0 - floor)) / excess
    return bound if bound < LAZY_BELOW else 1.0


def above(alpha: float, beta: float, floor: float, bound: float, rng: np.random.Generator) -> float:
    r"""Return a draw from Beta(alpha, beta) if it exceeds `floor`; otherwise return any value <= floor.

    For arms whose coin shows heads: the coin's probability times the probability of a draw above the floor here equals
    the probability that Beta(alpha, beta) exceeds the floor.

    A point of g is proposed if an exponential variable exceeds ln(s / f(c)); the coin says that it exceeds -ln(bound).
    The remainder is again exponential, and is s times the distance of that point from c. The point is accepted with
    probability f / g.

    Args:
        alpha: First parameter, at least 1.
        beta: Second parameter, at least 1.
        floor: c, in (0, 1], right of the mode.
        bound: The coin's probability, in (0, 1]: a bound for this or a smaller floor.
        rng: Source of randomness.
    """
    wait = rng.standard_exponential() - log(bound)
    x = distance(alpha, beta, floor)
    if floor >= 1.0 or (x >= LAZY_FROM and wait < x + TANGENT_MARGIN):
        return 0.0
    k = alpha - 1.0
    slope = ((k + (beta - 1.0)) * floor - k) / (floor * (1.0 - floor))
    wait += log_density(alpha, beta, floor) - log(slope)
    step = wait / slope
    # The tangent continues beyond 1; the density is 0 there.
    if wait < 0.0 or step >= 1.0 - floor:
        return 0.0
    gap = -wait - k * log1p(step / floor) - (beta - 1.0) * log1p(-step / (1.0 - floor))
    if rng.standard_exponential() < gap:
        return 0.0
    return floor + step


def log_scale(alpha: float, beta: float) -> float:
    """Return c such that the density at theta is e^c theta^(alpha - 1) (1 - theta)^(beta - 1), or slightly more."""
    mean = alpha / (alpha + beta)
    exact = log_density(alpha, beta, mean) - (alpha - 1.0) * log(mean) - (beta - 1.0) * log(1.0 - mean)
    # More than rounding here and in `chance`, which must not be too small.
    return exact + 1e-9 + 1e-14 * (alpha + beta)


def log_density(alpha: float, beta: float, theta: float) -> float:
    """Return the logarithm of the Beta density at theta in (0, 1), to about 1e-11 for parameters from 1 to 1e7.

    Stirling's formula cancels the large terms analytically instead of in floating point; they leave
    -(alpha + beta) kl(mean, theta).
    """
    total = alpha + beta
    # (theta - mean) * total, computed from the end of [0, 1] at which no digits are lost.
    ahead = beta - total * (1.0 - theta) if theta > 0.5 else total * theta - alpha
    rise = log1p(ahead / alpha) if ahead > -0.5 * alpha else log(total * theta / alpha)
    fall = log1p(-ahead / beta) if ahead < 0.5 * beta else log(total * (1.0 - theta) / beta)
    peak = 0.5 * log(alpha * (beta / total) / (2.0 * math.pi)) - log(theta * (1.0 - theta))
    return alpha * rise + beta * fall + peak + (stirling(total) - stirling(alpha) - stirling(beta))


def stirling(x: float) -> float:
    r"""Return :math:`\ln \Gamma(x) - (x - 1/2) \ln x + x - \ln(2 \pi) / 2` for x at least 1.

    Source: the series in DLMF 5.11.1, after the recurrence has raised x to at least 8.
    """
    shift = 0.0
    while x < 8.0:
        shift += (x + 0.5) * log1p(1.0 / x) - 1.0
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 1188.0 - y * (691.0 / 360360.0)
    series = 1.0 / 1260.0 - y * (1.0 / 1680.0 - y * series)
    return shift + (1.0 / 12.0 - y * (1.0 / 360.0 - y * series)) / x
