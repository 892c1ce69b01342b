"""The arithmetic of guarantees: composition of noise laws, Renyi curves, zCDP, and the delta of fast draws.

Every returned number is a valid bound: numerical errors only make it less tight. Proofs: docs/notes/accounting.md.
"""

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.gaussian import smallest_delta
from dp_bandit_envs.protocols import FloatArray

RenyiCurve = tuple[tuple[float, float], ...]
"""Pairs (order, divergence) with orders greater than 1, ascending; both directions."""

ORDERS: Final[tuple[float, ...]] = tuple(1 + 0.01 * 409_500.0 ** (k / 59) for k in range(60))
"""The orders for adding up curves: minus 1 they range from .01 to 4,095, within .7 % of the best order."""
FINE_ORDERS: Final[tuple[float, ...]] = tuple(sorted({*ORDERS, *(1 + 2 ** (k / 16) for k in range(-160, 321))}))
"""The orders for a theorem's own curve."""
ROUNDING: Final = 1e-12
"""A relative allowance, far above what some operations on doubles round away."""
FAR: Final = 700.0
"""No double holds the exponential of much more."""


# Laws --------------------------------------------------------------------------------------------------------------

RATIO: Final = 1 + 1 / 2000
"""Terms of a law are taken at the largest one if their distances differ by less."""
SMOOTHING: Final = 0.01
"""Distance of a Gaussian draw that is added to a law, in standard deviations of the loss."""
CHUNK: Final = 2**19
"""Most entries of an array of grid points times terms."""


class DominatingNoise(NamedTuple):
    """Independent draws that dominate a whole game: observing the game reveals no more than observing these draws.

    Attributes:
        laplace: Pairs (distance, number): that many Laplace draws, each moved by so many of its scales.
        gaussian: Sum of the squared distances of Gaussian draws, in standard deviations.
        responses: Pairs (epsilon, number): that many randomised responses; one dominates any epsilon-DP mechanism.
    """

    laplace: tuple[tuple[float, int], ...] = ()
    gaussian: float = 0.0
    responses: tuple[tuple[float, int], ...] = ()

    @property
    def pure(self) -> float:
        """The epsilon of pure differential privacy; inf with a Gaussian draw."""
        if self.gaussian > 0:
            return math.inf
        return math.fsum(number * each for each, number in (*self.laplace, *self.responses))

    @property
    def draws(self) -> int:
        """The number of draws; all Gaussian draws count as one."""
        return sum(number for _, number in (*self.laplace, *self.responses)) + (self.gaussian > 0)

    def times(self, games: int) -> "DominatingNoise":
        """Return the law of n games (composition)."""
        return DominatingNoise(_often(self.laplace, games), games * self.gaussian, _often(self.responses, games))

    def of_group(self, rounds: int) -> "DominatingNoise":
        """Return the law if up to that many rounds change (group privacy; conditions in docs/notes/accounting.md)."""
        return DominatingNoise(
            _for_group(self.laplace, rounds), rounds * rounds * self.gaussian, _for_group(self.responses, rounds)
        )

    def epsilon(self, delta: float) -> float:
        """Return an epsilon such that (epsilon, delta)-DP holds, nearly always within .1 % of the smallest.

        Args:
            delta: In (0, 1).
        """
        return _law_epsilon(self, delta)

    def delta(self, epsilon: float) -> float:
        """Return a delta such that (epsilon, delta)-DP holds, in [0, 1]; the inverse of `epsilon`.

        Args:
            epsilon: In [0, inf].
        """
        return _law_delta(self, epsilon)

    def renyi(self) -> RenyiCurve:
        """Return the Renyi divergences at `ORDERS`."""
        return _law_curve(self)


def laplace_law(distances: ArrayLike) -> DominatingNoise:
    """Return the law of Laplace draws at these distances in scales; nearly equal distances share the largest."""
    falling = np.sort(np.asarray(distances, dtype=float).ravel())[::-1]
    if not np.all((falling >= 0) & (falling < math.inf)):
        raise ValueError(f"distances must be finite numbers of at least 0; received {distances!r}.")
    falling = falling[falling > 0]
    if not len(falling):
        return DominatingNoise()
    bins = np.floor(np.log(falling) / -math.log(RATIO))
    _, first, counts = np.unique(bins, return_index=True, return_counts=True)
    return DominatingNoise(tuple(zip(falling[first].tolist(), counts.tolist(), strict=True)))


def one_laplace(epsilon: float) -> DominatingNoise:
    """Return the law of values released once each with Laplace noise, whose changes sum to `epsilon` scales."""
    return DominatingNoise(laplace=((epsilon, 1),))


def gaussian_law(sigma: float) -> DominatingNoise:
    """Return the law of a Gaussian draw at L2 distance 1; `sigma` is its standard deviation."""
    return DominatingNoise(gaussian=(1 + ROUNDING) / sigma**2 if sigma > 1e-150 else math.inf)


def _often(terms: tuple[tuple[float, int], ...], games: int) -> tuple[tuple[float, int], ...]:
    return tuple((each, games * number) for each, number in terms)


def _for_group(terms: tuple[tuple[float, int], ...], rounds: int) -> tuple[tuple[float, int], ...]:
    return tuple((rounds * each, number) for each, number in terms)


def log_moments(noise: DominatingNoise, s: ArrayLike) -> NDArray[Any]:
    """Return ln E e^(s L) of the privacy loss L, for real or complex s of real part above 0; shape of s."""
    s = np.atleast_1d(s)
    logs: NDArray[Any] = noise.gaussian / 2 * s * (s + 1)
    step = max(1, CHUNK // len(s))
    for start in range(0, len(noise.laplace), step):
        e, counts = np.array(noise.laplace[start : start + step]).T
        # (s + 1) e^(s e) + s e^(-(s + 1) e), over 2 s + 1; the first exponential is taken out.
        terms = (s + 1)[:, None] + s[:, None] * np.exp(-np.multiply.outer(2 * s + 1, e))
        logs = logs + np.log(terms / (2 * s + 1)[:, None]) @ counts + s * float(e @ counts)
    for e, number in noise.responses:
        # (e^((s + 1) e) + e^(-s e)) / (1 + e^e)
        of_one = s * e + np.log1p(np.exp(-(2 * s + 1) * e)) - math.log1p(math.exp(-e))
        logs = logs + number * of_one
    return logs


@functools.lru_cache(maxsize=1024)
def _law_curve(noise: DominatingNoise) -> RenyiCurve:
    s = np.array(ORDERS) - 1
    if math.isinf(noise.gaussian):
        return ()
    pure = noise.pure
    if _is_extreme(noise):
        return tuple((order, pure) for order in ORDERS)
    # A logarithm of each draw's moment is off by a few times 2^-53.
    divergences = (np.maximum(log_moments(noise, s), 0.0) * (1 + ROUNDING) + 1e-15 * noise.draws) / s
    return tuple((order, min(value, pure)) for order, value in zip(ORDERS, divergences.tolist(), strict=True))


def _is_extreme(noise: DominatingNoise) -> bool:
    """Whether the moments would overflow doubles; the pure epsilon is then nearly tight."""
    largest = max((each for each, _ in (*noise.laplace, *noise.responses)), default=0.0)
    return largest > 1e5 or noise.pure < 1e-9


@functools.lru_cache(maxsize=4096)
def _law_epsilon(noise: DominatingNoise, delta: float) -> float:
    if noise.draws == 0:
        return 0.0
    if noise.draws == 1:
        return (
            gaussian_curve_epsilon(1 / math.sqrt(noise.gaussian), delta)
            if noise.gaussian > 0
            else _of_one(noise, delta)
        )
    if math.isinf(noise.gaussian) or _is_extreme(noise):
        return noise.pure
    theta, start = _best_renyi_order(
        noise, lambda s, moments: (moments - math.log(delta) - np.log1p(s)) / s - np.log1p(1 / s)
    )
    if not start > 0:
        return 0.0
    at = _bound(noise, theta, delta)
    low, high = 0.0, min(start * (1 + 1e-9), noise.pure)
    if not at(high) <= delta:
        return high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if at(middle) <= delta else (middle, high)
    return high


@functools.lru_cache(maxsize=4096)
def _law_delta(noise: DominatingNoise, epsilon: float) -> float:
    if epsilon >= noise.pure or math.isinf(epsilon):
        return 0.0
    if noise.draws == 1:
        if noise.gaussian > 0:
            return gaussian_curve_delta(1 / math.sqrt(noise.gaussian), epsilon)
        # At epsilon, of a Laplace draw and of a response.
        exact = (
            -math.expm1((epsilon - noise.pure) / 2)
            if noise.laplace
            else -math.expm1(epsilon - noise.pure) * _truth(noise)
        )
        return min(1.0, exact * (1 + ROUNDING))
    if math.isinf(noise.gaussian) or _is_extreme(noise):
        return 1.0
    theta, log = _best_renyi_order(noise, lambda s, moments: moments - s * (epsilon + np.log1p(1 / s)) - np.log1p(s))
    least = math.exp(min(0.0, log)) * (1 + 1e-9)
    if least < 1e-300:
        return least
    return min(least, max(0.0, _bound(noise, theta, min(least, 0.5))(epsilon)))


def _truth(noise: DominatingNoise) -> float:
    """Return the probability that a randomised response is truthful."""
    return 1 / (1 + math.exp(-noise.pure))


def _of_one(noise: DominatingNoise, delta: float) -> float:
    """Return the epsilon of one Laplace draw or response; the pure epsilon if delta saves at most a thousandth."""
    saved = -2 * math.log1p(-delta) if noise.laplace else -math.log1p(-min(1 - 1e-16, delta / _truth(noise)))
    return noise.pure if saved <= 1e-3 * noise.pure else max(0.0, noise.pure - saved * (1 - ROUNDING))


def _best_renyi_order(
    noise: DominatingNoise, paid: Callable[[FloatArray, FloatArray], FloatArray]
) -> tuple[float, float]:
    """Return the order minus 1 of the Renyi divergence that gives the smallest bound, and that bound."""
    largest = max((each for each, _ in (*noise.laplace, *noise.responses)), default=1.0)
    low, high = math.log(1e-6), math.log(600 / min(largest, 600 / 4096))
    theta = least = math.inf
    for _ in range(4):
        s = np.exp(np.linspace(low, high, 41))
        costs = paid(s, log_moments(noise, s).real)
        best = int(np.argmin(costs))
        if costs[best] < least:
            theta, least = float(s[best]), float(costs[best])
        low, high = (math.log(s[max(best - 1, 0)]), math.log(s[min(best + 1, 40)]))
    return theta, least


def _bound(noise: DominatingNoise, theta: float, delta: float) -> Callable[[float], float]:
    """Return the upper bound on delta at epsilon, for one tilt, with a step size that fits the size of delta."""
    square = noise.gaussian + math.fsum(number * each**2 for each, number in (*noise.laplace, *noise.responses))
    smoothing = SMOOTHING**2 * square
    c = math.sqrt(smoothing)
    # A delta near 1 asks for a tilt near 0, and so for a grid without end.
    theta = max(theta, SMOOTHING / (3 * c))
    # One period away, the bounded function has fallen by e^-16 at least where the loss is nearly normal.
    eta = 2 * math.pi * theta / (1.25 * (16 - math.log(delta)))
    last = math.ceil(6 / (c * eta))
    u = eta * np.arange(last + 1)
    s = theta + 1j * u
    logs = log_moments(noise, s) + smoothing / 2 * s * (s + 1)
    peak = float(logs[0].real)
    terms = np.exp(logs - peak) / (s * (s + 1))
    terms[1:] *= 2
    left_out = 2 * math.exp(-smoothing / 2 * u[-1] ** 2) / (eta**2 * last)
    # A term is off by a few times 2^-53 for each draw, and the largest is the first.
    rounding = (1e-9 + 1e-15 * noise.draws) * float(np.abs(terms).sum())

    def at(epsilon: float) -> float:
        total = float((terms * np.exp(-1j * epsilon * u)).real.sum()) + left_out + rounding
        return math.exp(min(peak - theta * epsilon, FAR)) * eta / (2 * math.pi) * total

    return at


# Curves ------------------------------------------------------------------------------------------------------------


def epsilon_from_renyi(curve: Sequence[tuple[float, float]], delta: float) -> float:
    r"""Return the smallest epsilon such that (epsilon, delta)-DP follows from one of the divergences.

    For order :math:`\alpha` and divergence D, in both directions,

    .. math:: \epsilon = D + \ln(1 - 1 / \alpha) + \frac{\ln(1 / \delta) - \ln \alpha}{\alpha - 1},

    but not less than 0. An empty curve gives inf.

    Args:
        curve: Pairs (order, divergence), orders in (1, inf), divergences in [0, inf].
        delta: In (0, 1).

    Source: Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy, proposition 12.
    """
    log = -math.log(delta)
    least = math.inf
    for order, divergence in curve:
        paid = divergence + log / (order - 1)
        gained = math.log(order) / (order - 1) - math.log1p(-1 / order)
        least = min(least, paid - gained + ROUNDING * (paid + gained))
    return max(0.0, least)


def delta_from_renyi(curve: Sequence[tuple[float, float]], epsilon: float) -> float:
    r"""Return the smallest delta such that (epsilon, delta)-DP follows from one of the divergences; at most 1.

    The inverse of `epsilon_from_renyi`,

    .. math:: \delta = e^{(\alpha - 1)(D - \epsilon)} \, \frac1\alpha \Big(1 - \frac1\alpha\Big)^{\alpha - 1}.

    An empty curve gives 1.

    Args:
        curve: Pairs (order, divergence), orders in (1, inf), divergences in [0, inf].
        epsilon: In [0, inf].
    """
    if math.isinf(epsilon):
        return 0.0
    least = 0.0
    for order, divergence in curve:
        if divergence < math.inf:
            lost, gained = (order - 1) * divergence, (order - 1) * (epsilon - math.log1p(-1 / order)) + math.log(order)
            least = min(least, lost - gained + ROUNDING * (lost + gained))
    return min(1.0, math.exp(least) * (1 + ROUNDING))


def at_orders(curve: Sequence[tuple[float, float]]) -> RenyiCurve:
    """Return a curve at `ORDERS`; a divergence is bounded by the divergence at the next stated order."""
    stated = np.array([order for order, _ in curve])
    divergences = np.append([divergence for _, divergence in curve], math.inf)
    places = np.searchsorted(stated, np.array(ORDERS), side="left")
    return tuple(zip(ORDERS, divergences[places].tolist(), strict=True))


def curve_of_group(curve: RenyiCurve, rounds: int) -> RenyiCurve | None:
    """Return the curve of games that differ in up to `rounds` rounds (group privacy), or None if no bound follows.

    Args:
        curve: The curve of neighbouring games.
        rounds: At least 1.
    """
    group_curve: RenyiCurve | None = None
    power = curve
    while rounds:
        if rounds % 2:
            group_curve = power if group_curve is None else _chained(group_curve, power)
        rounds //= 2
        if rounds:
            power = _chained(power, power)
    return group_curve or None


def _chained(first: RenyiCurve, second: RenyiCurve) -> RenyiCurve:
    r"""Return a curve for (P, R), given the curve `first` for (P, Q) and the curve `second` for (Q, R).

    Apply Hölder's inequality, 1 / p + 1 / q = 1, to :math:`P^\alpha R^{1 - \alpha}`, the product of
    :math:`P^\alpha Q^{1 / p - \alpha}` and :math:`Q^{\alpha - 1 / p} R^{1 - \alpha}`,

    .. math:: D_\alpha(P, R) \le \frac{\alpha - 1 / p}{\alpha - 1} D_{p \alpha}(P, Q) + D_\beta(Q, R), \quad
              \beta = q (\alpha - 1 / p) = \frac{p \alpha - 1}{p - 1}

    (Mironov 2017, proposition 11). Here :math:`p \alpha` runs over the orders of `first`, and :math:`\beta` is rounded
    up to an order of `second`, which is safe because divergences grow with the order.
    """
    if not first or not second:
        return ()
    orders, lost = np.array(first).T
    others, also = np.array(second).T
    also = np.append(also, math.inf)
    result = []
    for order in orders.tolist():
        larger = orders > order * (1 + ROUNDING)
        p = orders[larger] / order
        beta = (p * order - 1) / (p - 1) * (1 + ROUNDING)
        sums = (order - 1 / p) / (order - 1) * lost[larger] + also[np.searchsorted(others, beta)]
        least = float(sums.min(initial=math.inf))
        if math.isfinite(least):
            result.append((order, least * (1 + ROUNDING)))
    return tuple(result)


def rho_from_renyi(curve: Sequence[tuple[float, float]], pure: float) -> float:
    """Return a rho that is at least (divergence at an order) / order for every order greater than 1.

    Divergences grow with the order: between two orders of the curve, the divergence is at most its value at the upper
    order, and beyond the last order at most `pure`.

    Args:
        curve: Pairs (order, divergence), ascending, at least one.
        pure: An epsilon of pure differential privacy that holds.
    """
    below, largest = 1.0, 0.0
    for order, divergence in curve:
        largest = max(largest, divergence / below)
        below = order
    return max(largest, pure / below) * (1 + ROUNDING)


# Zero-concentrated and Gaussian privacy ----------------------------------------------------------------------------

SAFETY: Final = 1 - 2.0**-40
"""Shrinks a budget, so that rounding errors never exceed it."""
OF_SUM: Final = 1e-15
"""Rounding error of a sum of a few terms, relative to the sum of their absolute values."""


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the smallest epsilon such that rho-zCDP is known to imply (epsilon, delta)-DP.

    Args:
        rho: In [0, inf].
        delta: In (0, 1).
    """
    if rho in (0.0, math.inf):
        return rho
    log = -math.log(delta)
    beta = _root(lambda beta: beta * beta * rho + math.log1p(beta) - log)
    terms = (rho, beta * rho, log / beta, -math.log1p(beta) / beta, -math.log1p(1 / beta))
    return max(0.0, math.fsum(terms) + OF_SUM * math.fsum(map(abs, terms)))


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return the smallest delta such that rho-zCDP is known to imply (epsilon, delta)-DP, at most 1.

    Args:
        rho: In [0, inf].
        epsilon: In [0, inf].
    """
    if rho == 0.0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(rho):
        return 1.0
    # Beyond this delta is below all doubles, and it falls with epsilon.
    epsilon = min(epsilon, 2 * rho + 1e4 * math.sqrt(rho))
    beta = _root(lambda beta: (1 + 2 * beta) * rho - math.log1p(1 / beta) - epsilon)
    terms = (beta * rho, beta * (beta * rho), -beta * epsilon, -beta * math.log1p(1 / beta), -math.log1p(beta))
    log = math.fsum(terms) + OF_SUM * math.fsum(map(abs, terms))
    return math.exp(log) * (1 + OF_SUM) if log < 0 else 1.0


def zcdp_within(epsilon: float, delta: float) -> float:
    """Return nearly the largest rho such that rho-zCDP implies (epsilon, delta)-DP by the optimal conversion.

    The inverse of `zcdp_epsilon` in rho: the guaranteed epsilon at delta is below the target by at most a millionth of
    it. A tiny epsilon gets the rho of epsilon = 0, which is about 1.36 delta^2.

    Args:
        epsilon: Greater than 0; inf gives inf.
        delta: In (0, 1).
    """
    if math.isinf(epsilon):
        return math.inf
    # The conversion of Bun and Steinke (2016), rho + 2 sqrt(rho ln(1 / delta)) = epsilon, gives less.
    log = -math.log(delta)
    low = (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2
    high = max(2 * low, 1e-300)
    while zcdp_epsilon(high, delta) <= epsilon:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if zcdp_epsilon(middle, delta) <= epsilon else (low, middle)
    return low * SAFETY


def gaussian_curve_epsilon(sigma: float, delta: float) -> float:
    """Return the smallest epsilon such that a Gaussian mechanism is (epsilon, delta)-DP.

    Args:
        sigma: Standard deviation at L2 sensitivity 1, in [0, inf].
        delta: In (0, 1).
    """
    if sigma < 1e-100:
        return math.inf
    if math.isinf(sigma) or smallest_delta(sigma, 0.0) <= delta:
        return 0.0
    # zCDP gives a bound, which also holds where rounding hides that of the curve.
    low, high = 0.0, zcdp_epsilon(1 / (2 * sigma**2) * (1 + OF_SUM), delta)
    if smallest_delta(sigma, high) > delta:
        return high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if smallest_delta(sigma, middle) > delta else (low, middle)
    return high


def gaussian_curve_delta(sigma: float, epsilon: float) -> float:
    """Return the smallest delta such that a Gaussian mechanism is (epsilon, delta)-DP.

    Args:
        sigma: Standard deviation at L2 sensitivity 1, in [0, inf].
        epsilon: In [0, inf].
    """
    if math.isinf(epsilon) or math.isinf(sigma):
        return 0.0
    return 1.0 if sigma < 1e-100 else min(1.0, max(0.0, smallest_delta(sigma, epsilon)))


def _root(rising: Callable[[float], float]) -> float:
    """Return the root of an increasing function of a positive number, or an end of the range."""
    low, high = -FAR, FAR
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(math.exp(middle)) > 0 else (middle, high)
    return math.exp(high)


# Fast draws --------------------------------------------------------------------------------------------------------


class Distance(NamedTuple):
    """Declared distance of one fast draw, by the number of grid steps in its scale or deviation; from 8 steps on.

    Attributes:
        whole: Total variation distance.
        tail: Total variation distance of the cells beyond a probability of 1e-7 (t).
        bulk: Root of the chi-square divergence of the other cells (X).
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
"""The distance added per level for a draw that is rounded twice."""
RADIUS: Final = 1e-15
"""The distance added per coordinate by the radius of own-norm noise."""


def distance_of_draws(scale: float, grid: float, draws: int = 1, *, normal: bool = False) -> float:
    """Return the joint distance of independent fast draws from exact noise, in [0, 1]; 0 without noise.

    Args:
        scale: The scale of each draw, or its standard deviation, in the units of the releases.
        grid: The step between released numbers; 0 if they are not rounded, for which no bound is known.
        draws: The number of draws that one round influences.
        normal: Whether the draws are normal; otherwise Laplace or exponential.
    """
    return distance_of_all([(scale, draws)], grid, normal=normal)


def distance_of_all(
    draws: Iterable[tuple[float, int]], grid: float, *, normal: bool = False, used_twice: bool = False
) -> float:
    """Return the distance of all draws together.

    Args:
        draws: Pairs of a scale and the number of draws that have it.
        grid: As in `distance_of_draws`.
        normal: As in `distance_of_draws`.
        used_twice: Whether a draw can be rounded in two releases.
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
    """Return the part of delta that remains for exact noise, nearly all of it.

    Raises:
        WrongGameError: If fast draws need half of delta or more.
    """
    room = added_delta(epsilon, distance)
    if not room < delta / 2:
        larger = f" a delta of at least {2.1 * room:.2g}," if 2.1 * room < 1 else ""
        raise WrongGameError(
            f"delta = {delta:g} cannot be kept with fast draws here, which need {room:.2g}; use a smaller epsilon,"
            f"{larger} draws='secure', or where a counter has the noise, a tree such as counter='k-ary'."
        )
    return delta - room


def added_delta(epsilon: float, distance: float) -> float:
    """Return (1 + e^epsilon) times the distance, rounded up; at most 1."""
    if not distance > 0:
        return 0.0
    return 1.0 if epsilon > 700 else min(1.0, (1 + math.exp(epsilon)) * distance * (1 + 1e-12))


def epsilon_with_draws(exact: Callable[[float], float], delta: float, distance: float) -> float:
    """Return the smallest epsilon whose delta for exact noise plus the delta of the draws is `delta`, or inf.

    Args:
        exact: For each delta, an epsilon that holds for exact noise, decreasing in delta.
        delta: In (0, 1).
        distance: Distance of the draws from exact noise.
    """
    epsilon = 0.0
    for _ in range(100):
        left = delta - added_delta(epsilon, distance)
        least = exact(left) if left > 0 else math.inf
        if least <= epsilon or math.isinf(least):
            return least
        # It grows from below; a little more ends the search on the safe side.
        epsilon = least * (1 + 1e-12)
    return math.inf


def delta_with_draws(exact: Callable[[float], float], epsilon: float, distance: float) -> float:
    """Return the smallest sum of the two deltas over all epsilons up to this one; it is valid here too.

    Args:
        exact: For each epsilon, a delta that holds for exact noise.
        epsilon: In [0, inf).
        distance: Distance of the draws from exact noise.
    """
    if not distance > 0:
        return exact(epsilon)
    least, low, high = 1.0, 0.0, epsilon
    # One delta falls and the other one grows, so the least sum is near the best of a few; any of them holds.
    for _ in range(4):
        step = (high - low) / 16
        sums = {each: exact(each) + added_delta(each, distance) for each in (low + step * part for part in range(17))}
        best = min(sums, key=lambda at: sums[at])
        least, low, high = min(least, sums[best]), max(low, best - step), min(high, best + step)
    return least
