r"""Upper bounds on regret with full information, non-asymptotic, with explicit constants.

K or d is the number of arms or coordinates, T the horizon, a the learning rate; all bounds are in units of gain. Gains
are fixed in advance (an oblivious adversary); in `epoch_leader_bound` they are independent across rounds.

The second half is for leaders on noisy sums: regularised (FTRL) and perturbed (FTPL). The released sums are
:math:`G_t + Z_t`, and the mean of a leader's payoff depends only on the law of each Z_t.
"""

import math
from collections.abc import Callable, Sequence

from dp_bandit_envs.theory.argument_ranges import BALL_OR_CUBE, checked


@checked()
def hedge_regret_bound(n_arms: int, horizon: int, learning_rate: float) -> float:
    """Return ln K / a + a T / 8; inf for a = 0 (Cesa-Bianchi and Lugosi 2006, theorem 2.2)."""
    if learning_rate == 0:
        return math.inf
    return math.log(n_arms) / learning_rate + learning_rate * horizon / 8


@checked()
def lazy_hedge_regret_bound(
    n_arms: int, horizon: int, learning_rate: float, redraw_probability: float, most_draws: int
) -> float:
    """Return Hedge's bound, plus T times the probability that lazy Hedge runs out of draws.

    Until then its arms have Hedge's law. A round needs a fresh draw with a probability of at most `redraw_probability`,
    given any past, so the number of draws is dominated by a binomial.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        learning_rate: a, in 1 / gain.
        redraw_probability: The probability of a fresh draw after a gain of 0.
        most_draws: Number of draws after the first round.
    """
    short = binomial_tail(horizon - 1, redraw_probability, most_draws)
    return hedge_regret_bound(n_arms, horizon, learning_rate) + horizon * short


@checked()
def binomial_tail(trials: int, probability: float, most: int) -> float:
    """Return the probability of more than `most` successes, for `most` of at least the mean."""
    if most >= trials or probability == 0:
        return 0.0
    if probability >= 1:
        return 1.0
    odds = math.log(probability) - math.log1p(-probability)
    first = most + 1
    log = math.lgamma(trials + 1) - math.lgamma(first + 1) - math.lgamma(trials - first + 1)
    term = math.exp(log + first * odds + trials * math.log1p(-probability))
    total = 0.0
    successes = first
    while successes <= trials and term > total * 1e-17:
        total += term
        term *= (trials - successes) / (successes + 1) * math.exp(odds)
        successes += 1
    return min(1.0, total)


@checked()
def noisy_hedge_rate(n_arms: int, horizon: int, noise_scale: float) -> float:
    """Return sqrt(ln K / (T (1/8 + b^2))), at most 1 / (2 b), for Laplace noise of scale b on every gain."""
    rate = math.sqrt(math.log(n_arms) / (horizon * (0.125 + noise_scale**2)))
    return min(rate, 0.5 / noise_scale) if noise_scale > 0 else rate


@checked()
def noisy_hedge_regret_bound(n_arms: int, horizon: int, learning_rate: float, noise_scale: float) -> float:
    r"""Return the bound of Hedge on gains with Laplace noise of scale b, clipped to [-B, 1 + B] with B = b ln T.

    .. math:: \frac{\ln K}{a} + T \Big( \frac a 8 - \frac{\ln(1 - a^2 b^2)}{a} \Big) + \frac{b + 1}{2} [b > 0]

    Derived here. Let w be Hedge's probabilities and Y the clipped noisy gains of a round, independent of w. The
    potential :math:`\ln \sum_i e^{a \sum Y_i} / a` grows by :math:`\ln E_w e^{a Y} / a`, on average over the noise by
    at most :math:`\ln E_w E e^{a Y} / a` (Jensen). Without clipping :math:`E e^{a Y} = e^{a g} / (1 - a^2 b^2)`, and
    Hoeffding's lemma gives :math:`\ln E_w e^{a g} / a \le E_w g + a / 8`. Clipping increases the former by at most
    :math:`a e^{a g} b e^{-B / b} / 2` and decreases the comparator's mean by at most :math:`e^{-B / b} / 2`. As
    :math:`e^{-B / b} = 1 / T`, these are b / 2 and 1 / 2 over all rounds.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        learning_rate: a, in 1 / gain, with a b < 1; otherwise the bound is inf.
        noise_scale: b, in units of gain, at least 0.
    """
    product = learning_rate * noise_scale
    if product >= 1:
        return math.inf
    noise = -math.log1p(-product * product) / learning_rate
    clipped = (noise_scale + 1) / 2 if noise_scale > 0 else 0.0
    return hedge_regret_bound(n_arms, horizon, learning_rate) + horizon * noise + clipped


@checked()
def epoch_leader_bound(means: Sequence[float], horizon: int, epsilon: float) -> float:
    r"""Return a bound on the pseudo-regret of `EpochLeader` for gains that are independent over the rounds.

    After an epoch of n rounds an arm at a gap :math:`\Delta` is drawn with a probability of at most
    :math:`E \min(1, e^{-\epsilon D / 2})`, with D its distance to the best arm. D is a sum of n independent numbers in
    [-1, 1] of mean :math:`\Delta`. For every c of at most :math:`\epsilon / 2` that is at most
    :math:`E e^{-c D} \le e^{-n (c \Delta - c^2 / 2)}` (Hoeffding's lemma); c = min(:math:`\Delta`,
    :math:`\epsilon / 2`) is the best. An epoch costs its length times the sum of :math:`\Delta` times that over the
    arms, or the largest gap; the first, before anything is seen, the mean gap. Derived here; the arms may depend on
    each other.

    Args:
        means: The arms' means, at least 2.
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf].
    """
    gaps = [max(means) - mean for mean in means]
    total = math.fsum(gaps) / len(gaps)
    played, seen = 1, 1
    while played < horizon:
        length = min(played, horizon - played)
        cost = 0.0
        for gap in gaps:
            c = min(gap, epsilon / 2)
            cost += gap * math.exp(-seen * (c * gap - c * c / 2))
        total += length * min(cost, max(gaps))
        seen = length
        played += length
    return total


A_AND_B: dict[str, Callable[[int], tuple[float, float]]] = {
    "simplex": lambda dimension: (math.log(dimension), 1 / 8),
    "ball": lambda dimension: (1 / 2, 1 / 2),
    "cube": lambda dimension: (dimension / 2, 1 / 2),
}
"""Without noise, the regret of the regularised leader is at most A / a + B a T. On the simplex this is Hedge's."""


@checked()
def equal_noise_bound(
    set_name: str, dimension: int, horizon: int, rate: float, kind: str, scale: float, nodes: int
) -> float:
    r"""Return :math:`A / a + B a T + E[(R / a)^*(Z)]`, for releases whose noise Z always has the same law.

    This is Agarwal and Singh's theorem 3.4 with half of its last term: because the comparator is fixed, E<Z, u> = 0.
    The conjugate is bounded in closed form. On the ball :math:`(R / a)^*(Z)` is a concave function of |Z|^2, so its
    mean is at most its value at E |Z|^2. On the cube the same holds for each coordinate. On the simplex it is
    :math:`\frac 1 a \ln \frac 1 d \sum_i e^{a Z_i}`, a power mean that grows with a and is at most :math:`\max_i Z_i`.

    Args:
        set_name: `"simplex"` (also for experts), `"ball"` or `"cube"`.
        dimension: K or d.
        horizon: T.
        rate: a, greater than 0.
        kind: `"laplace"` or `"own-norm"`: the law of a node's noise.
        scale: Its scale; 0 for no noise.
        nodes: Number of nodes in every release.
    """
    first, second = A_AND_B[set_name](dimension)
    return first / rate + second * rate * horizon + _conjugate(set_name, dimension, rate, kind, scale, nodes)


@checked()
def growing_noise_bound(set_name: str, dimension: int, horizon: int, rate: float, deviation: float) -> float:
    r"""Return :math:`A / a + B a T + \frac a 2 E|Z_T|^2` (simplex: :math:`a s_T^2 / 2`), for growing Gaussian noise.

    Holds if the standard deviations s_t of the noise in each coordinate do not decrease. Then Z_t has the law of a sum
    of independent increments, and each increment is independent of the point whose stability it affects.

    Args:
        set_name: `"simplex"` (also for experts), `"ball"` or `"cube"`.
        dimension: K or d.
        horizon: T.
        rate: a, greater than 0.
        deviation: s_T.
    """
    first, second = A_AND_B[set_name](dimension)
    squares = deviation**2 * (1 if set_name == "simplex" else dimension)
    return first / rate + second * rate * horizon + rate / 2 * squares


@checked()
def fresh_noise_rate(set_name: str, dimension: int, horizon: int, noise_scale: float) -> float:
    """Return the rate with the smallest `fresh_noise_bound` up to clipping: sqrt(2 A / (T (1 + 2 d b^2)))."""
    first, _ = A_AND_B[set_name](dimension)
    return math.sqrt(2 * first / (horizon * (1 + 2 * dimension * noise_scale**2)))


@checked(set_name=BALL_OR_CUBE)
def fresh_noise_bound(set_name: str, dimension: int, horizon: int, rate: float, noise_scale: float) -> float:
    r"""Return :math:`A / a + a T (1 + 2 d b^2) / 2 + c b`, c = sqrt(d) or d, for fresh Laplace noise in every round.

    On gain vectors Y_t that are independent of its point, the leader's regret is at most
    :math:`A / a + \frac a 2 \sum_t E |Y_t|^2`, and :math:`E |Y_t|^2 \le 1 + 2 d b^2` for noise of scale b. Clipping b
    ln T outside the range moves the mean of a coordinate by at most b / (2 T). Over all rounds this costs at most the
    distance of two points times the sum of these shifts: sqrt(d) b on the ball, d b on the cube.

    Args:
        set_name: `"ball"` or `"cube"`; for the simplex see `experts_bounds.noisy_hedge_regret_bound`.
        dimension: d.
        horizon: T.
        rate: a, greater than 0.
        noise_scale: b, at least 0.
    """
    first, _ = A_AND_B[set_name](dimension)
    clipped = {"ball": math.sqrt(dimension), "cube": float(dimension)}[set_name] * noise_scale
    return first / rate + rate / 2 * horizon * (1 + 2 * dimension * noise_scale**2) + clipped


@checked()
def perturbed_leader_bound(set_name: str, dimension: int, deviations: Sequence[float]) -> float:
    r"""Return the bound of the perturbed leader with Gaussian noise of growing standard deviations s_1, ..., s_T.

    The potential :math:`\Phi_s(G) = E \max_x \langle x, G + s Z \rangle` costs :math:`\Phi_{s_T}(0)` at the start, and
    in each round half its curvature at the noise of the previous release; round 1 costs the width of the range.

    * Ball: :math:`\Phi_s(0) \le s \sqrt d`, curvature at most :math:`1 / (s \sqrt d)`.
    * Cube: :math:`d s \sqrt{2 / \pi}`, and :math:`2 / (s \sqrt{2 \pi})` for each squared coordinate.
    * Simplex: :math:`s \sqrt{2 \ln d}` and :math:`2 \sqrt{2 \ln d} / s` (Abernethy, Lee and Tewari 2014, lemma on
      Gaussian smoothing).

    Args:
        set_name: `"simplex"` (also for experts), `"ball"` or `"cube"`.
        dimension: K or d.
        deviations: The standard deviation of a coordinate's noise in the release after each round, shape `(T,)`.
    """
    start, half_curvature, width = {
        "ball": (math.sqrt(dimension), 1 / (2 * math.sqrt(dimension)), 2.0),
        "cube": (dimension * math.sqrt(2 / math.pi), 1 / math.sqrt(2 * math.pi), 2.0),
        "simplex": (math.sqrt(2 * math.log(dimension)), math.sqrt(2 * math.log(dimension)), 1.0),
    }[set_name]
    if deviations[0] == 0:
        return math.inf
    return width + start * deviations[-1] + half_curvature * math.fsum(1 / each for each in deviations[:-1])


def _conjugate(set_name: str, dimension: int, rate: float, kind: str, scale: float, nodes: int) -> float:
    """Return a bound on the mean of (R / a)^*(Z), for Z the sum of this many nodes' noise."""
    if scale == 0:
        return 0.0
    if set_name == "ball":
        square = dimension * (dimension + 1) if kind == "own-norm" else 2 * dimension
        return _huber(nodes * square * scale**2, rate)
    if set_name == "cube":
        # The cube's own norm is L1, whose noise is the Laplace one.
        return dimension * _huber(nodes * 2 * scale**2, rate)

    def exponent(share: float) -> float:
        """Return the logarithm of E exp(share / scale * Z_i)."""
        return nodes * (_log_mean_of_own_norm(share, dimension) if kind == "own-norm" else -math.log1p(-share * share))

    shares = [number / 400 for number in range(1, 400)]
    of_maximum = min((math.log(dimension) + exponent(share)) / share for share in shares)
    of_mean = min((exponent(share) / share for share in shares if share >= rate * scale), default=math.inf)
    return scale * min(of_maximum, of_mean)


def _huber(square: float, rate: float) -> float:
    """Return a z^2 / 2 for a z of at most 1, and z - 1 / (2 a) beyond, given z^2."""
    root = math.sqrt(square)
    return rate * square / 2 if rate * root <= 1 else root - 1 / (2 * rate)


def _log_mean_of_own_norm(share: float, dimension: int) -> float:
    """Return ln E exp(share * r u), r from Gamma(d + 1) and u uniform in [-1, 1]: a coordinate of sup-norm noise."""
    high, low = -dimension * math.log1p(-share), -dimension * math.log1p(share)
    return high + math.log(-math.expm1(low - high)) - math.log(2 * dimension * share)
