r"""Regret bounds of linear bandits with explicit constants, and the learning rates that minimise them.

T is the number of payoffs that the algorithm sees, d the dimension, and lam the scale of the Laplace noise in each
payoff. Noisy payoffs are clipped at c outside their range. All bounds are in units of gain, for oblivious adversaries,
and share one idea. With probability at least 1 - T exp(-c / lam), no payoff is clipped. Then the noise is independent,
symmetric and at most c; its mean is 0 and its variance at most 2 lam^2. Otherwise the regret is at most T times the
width of the range.

EXP2 has K arms with features of rank d, and an exploration whose largest leverage is L (at best d). Payoffs are at most
M in absolute value, in a range of width 1: losses in [0, 1] with M = 1, or gains minus 1 / 2 with M = 1 / 2. As long as
a L (M + c) <= gamma, no exponent of a round exceeds 1, and :math:`e^x \le 1 + x + x^2`. The estimates' squares are at
most :math:`d (M^2 + 2 \lambda^2)` in expectation over the arm played and the noise. So the regret is at most
:math:`\ln K / a + a d T (M^2 + 2 \lambda^2) + \gamma T`, plus `failure_cost`.
"""

import math
from collections.abc import Sequence
from typing import Final

from dp_bandit_envs.theory.argument_ranges import BALL_OR_CUBE, RULES, checked, or_none

DESIGN_SLACK: Final = 1.5
"""How much larger than the rank the leverages of the designs of `LinearElimination` may be."""
LAPLACE_SPREAD: Final = 2 * math.log(2)
"""-ln(1 - u) is at most so many times u, for u up to 1 / 2."""


@checked(set_name=BALL_OR_CUBE)
def barrier_parameter(set_name: str, dimension: int) -> int:
    """Return nu of SCRiBLe's barrier: 1 for -ln(1 - |x|^2) on the ball, d for -sum ln(1 - x_i^2) on the cube."""
    return {"ball": 1, "cube": dimension}[set_name]


@checked()
def clip_bound(scale: float, releases: int) -> float:
    """Return c = 2 lam ln T: with probability at least 1 - 1 / T, no payoff of a game is clipped."""
    return 2 * scale * math.log(releases) if releases > 1 else 0.0


@checked()
def failure_cost(horizon: int, width: float, scale: float, clip: float) -> float:
    """Return T width min(1, T exp(-c / lam)), the regret from games in which a noisy payoff is clipped."""
    return 0.0 if scale == 0 else horizon * width * min(1.0, horizon * math.exp(-clip / scale))


@checked(set_name=BALL_OR_CUBE)
def noise_of_payoffs(set_name: str, dimension: int, scale: float, horizon: int) -> tuple[float, float]:
    r"""Return lam and c for payoffs <g + Z, x> of vectors with Laplace noise on each coordinate.

    The largest :math:`|x|^2` is n = 1 on the ball and n = d on the cube, so the variance is at most
    :math:`2 n \lambda^2`. With :math:`s = 1 / (\sqrt 2 \lambda)`,

    .. math:: E e^{s \langle Z, x \rangle} = \prod_i (1 - s^2 \lambda^2 x_i^2)^{-1} \le 2^n;

    hence with probability at least 1 - 1 / T all noise in a game is at most
    :math:`c = \sqrt 2 \lambda (n \ln 2 + \ln(2 T^2))`. Conditioned on this, the noise is still symmetric.

    Args:
        set_name: `"ball"` or `"cube"`.
        dimension: d, at least 1.
        scale: Scale lambda of the noise in each coordinate.
        horizon: Number of payoffs T, at least 1.
    """
    n = {"ball": 1, "cube": dimension}[set_name]
    return math.sqrt(n) * scale, math.sqrt(2) * scale * (n * math.log(2) + math.log(2 * horizon**2))


@checked(set_name=BALL_OR_CUBE)
def scrible_rate(set_name: str, dimension: int, horizon: int, scale: float, clip: float) -> float:
    """Return the learning rate with the smallest `scrible_regret_bound`, at most 1 / (4 d (1 + c))."""
    spread = 2 * dimension**2 * horizon * (1 + 2 * scale**2)
    best = math.sqrt(barrier_parameter(set_name, dimension) * math.log(max(horizon, 2)) / spread)
    return min(best, 1 / (4 * dimension * (1 + clip)))


@checked(set_name=BALL_OR_CUBE)
def scrible_regret_bound(set_name: str, dimension: int, horizon: int, scale: float, clip: float) -> float:
    r"""Return :math:`2 a d^2 T (1 + 2 \lambda^2) + \nu \ln T / a + 1` for payoffs in [-1, 1], plus `failure_cost`.

    The best point, moved towards the centre by 1 / T of the way, loses at most 1, and the barrier there is at most
    :math:`\nu \ln T`. The estimate's norm in the barrier's metric is d times the noisy payoff, so each step is short
    enough for the factor 2 if a <= 1 / (4 d (1 + c)).

    Source: Abernethy, Hazan and Rakhlin (2008), theorem 1; Agarwal and Singh (2017), theorems D.1 and 4.5.
    Differs from the source in: noise on the payoff instead of the gain vector; D.1 prints d instead of d^2.
    """
    rate = scrible_rate(set_name, dimension, horizon, scale, clip)
    spread = 2 * rate * dimension**2 * horizon * (1 + 2 * scale**2)
    start = barrier_parameter(set_name, dimension) * math.log(max(horizon, 2)) / rate
    return spread + start + 1 + failure_cost(horizon, 2.0, scale, clip)


@checked()
def osmd_rate(dimension: int, horizon: int, scale: float, clip: float) -> float:
    """Return the learning rate with the smallest `osmd_regret_bound`, at most 1 / (2 d (1 + c))."""
    best = math.sqrt(math.log(max(horizon, 2)) / (2 * horizon * _osmd_spread(dimension, scale)))
    return min(best, 1 / (2 * dimension * (1 + clip)))


@checked()
def osmd_regret_bound(dimension: int, horizon: int, scale: float, clip: float) -> float:
    r"""Return :math:`a T (d + 2 \lambda^2 d^2) + \ln T / (2 a) + \sqrt T` for the ball, plus `failure_cost`.

    With probability 1 - r, one of d directions is played. So the estimate d z / (1 - r) e_i has the expected square
    :math:`(d |g|^2 + 2 \lambda^2 d^2) / (1 - r)`: over the axes, the squared gains add up to at most 1, and the noise
    to d. The divergence of a step is at most 1 - r times the estimate's square times a^2, as long as a d (1 + c) <= 1 /
    2.

    Source: Bubeck, Cesa-Bianchi and Kakade (2012), theorem 6, without noise; with noise, derived here.
    """
    rate = osmd_rate(dimension, horizon, scale, clip)
    spread = rate * horizon * _osmd_spread(dimension, scale)
    start = math.log(max(horizon, 2)) / (2 * rate)
    return spread + start + math.sqrt(horizon) + failure_cost(horizon, 2.0, scale, clip)


def _osmd_spread(dimension: int, scale: float) -> float:
    return dimension + 2 * scale**2 * dimension**2


@checked()
def exp2_rates(
    rates: str, n_arms: int, rank: int, leverage: float, largest: float, horizon: int, scale: float, clip: float
) -> tuple[float, float]:
    r"""Return the learning rate a and the exploration rate gamma = a L (M + c), at most 1.

    `"smallest-bound"` has :math:`a = \sqrt{\ln K / (T (d (M^2 + 2 \lambda^2) + L (M + c)))}`, the smallest of the bound
    above; `"paper"` has :math:`a = \sqrt{\ln K / (d T (M^2 + 2 \lambda^2))}`, which ignores the cost of exploration.

    Args:
        rates: `"smallest-bound"` or `"paper"`.
        n_arms: K, at least 1.
        rank: d.
        leverage: L.
        largest: M.
        horizon: Number of payoffs T, at least 1.
        scale: lam.
        clip: c.
    """
    exploring = leverage * (largest + clip)
    cost = rank * (largest**2 + 2 * scale**2) + (exploring if rates == "smallest-bound" else 0.0)
    rate = math.sqrt(math.log(max(n_arms, 2)) / (horizon * cost))
    if rates == "smallest-bound":
        rate = min(rate, 1 / exploring)
    return rate, min(1.0, rate * exploring)


@checked()
def exp2_regret_bound(
    rates: str, n_arms: int, rank: int, leverage: float, largest: float, horizon: int, scale: float, clip: float
) -> float:
    """Return the module's bound for EXP2 with the rates of `exp2_rates`, in units of gain; same arguments.

    Without noise and with L = d, smallest-bound rates give 2 sqrt(2 K T ln K) on arms and sqrt(3 d T ln K) with
    features. For payoffs in [-1, 1] the latter is 2 sqrt(3 d T ln K) (Lattimore and Szepesvari 2020, theorem 27.1).
    """
    rate, mixing = exp2_rates(rates, n_arms, rank, leverage, largest, horizon, scale, clip)
    spread = rate * rank * horizon * (largest**2 + 2 * scale**2)
    start = math.log(max(n_arms, 2)) / rate
    return start + spread + mixing * horizon + failure_cost(horizon, 1.0, scale, clip)


@checked()
def exp2_clip(rates: str, n_arms: int, scale: float, releases: int) -> float:
    """Return c for gains in [0, 1]: `clip_bound`, or sqrt(10) lam ln(K T) with paper rates."""
    return clip_bound(scale, releases) if rates != "paper" else math.sqrt(10) * scale * math.log(n_arms * releases)


@checked()
def coins_excess(n_arms: int, horizon: int) -> float:
    """Return sqrt(T ln K / 2), an upper bound on the expected excess of the largest of K sums over its mean."""
    return math.sqrt(horizon * math.log(n_arms) / 2)


@checked()
def batch_lengths(rank: int, horizon: int) -> list[int]:
    """Return the lengths of the batches of `LinearElimination`: 16 rank rounds, doubling each time.

    Args:
        rank: Rank of the features; K without features.
        horizon: T; the last batch may end after it, and is then never complete.
    """
    lengths = [16 * rank]
    while sum(lengths) < horizon:
        lengths.append(2 * lengths[-1])
    return lengths


@checked()
def elimination_nats(n_arms: int, batches: int, horizon: int) -> float:
    """Return L = ln(2 K m T): each of 2 K m estimates is outside its width with probability at most e^-L."""
    return math.log(2 * n_arms * batches * horizon)


@checked()
def elimination_width(
    nats: float, variance: float, squares: float, widest: float, scale: float, *, normal: bool = False
) -> float:
    r"""Return a width w that an estimate exceeds on either side with a probability of at most e^-L.

    The estimate is a sum of independent gains in [0, 1] with weights :math:`c_t`, and of noise draws with weights
    :math:`b_i`. For :math:`0 < r < 1 / (\lambda \max_i |b_i|)` the logarithm of :math:`E e^{r X}` of its error X is at
    most :math:`r^2 \sum_t c_t^2 / 8` by Hoeffding's lemma, plus :math:`-\sum_i \ln(1 - r^2 \lambda^2 b_i^2)`, or
    :math:`r^2 \lambda^2 \sum_i b_i^2 / 2` for normal noise. With :math:`-\ln(1 - u) \le 2 u \ln 2` for
    :math:`u \le 1 / 2`, Markov's inequality for :math:`e^{r X}` gives

    .. math:: w = \frac{L}{r} + r \Big( \frac{1}{8} \sum_t c_t^2 + c \lambda^2 \sum_i b_i^2 \Big)

    with c = 2 ln 2, or 1 / 2 for normal noise. We use the best r, at most :math:`1 / (\sqrt 2 \lambda \max_i |b_i|)`
    for Laplace noise.

    Args:
        nats: L.
        variance: The sum of all c_t^2, greater than 0.
        squares: The sum of all b_i^2.
        widest: The largest \|b_i\|.
        scale: Scale lam of the Laplace noise, or the standard deviation of the normal noise.
        normal: Whether the noise is normal.
    """
    growth = variance / 8 + (0.5 if normal else LAPLACE_SPREAD) * scale**2 * squares
    rate = math.sqrt(nats / growth)
    if scale > 0 and not normal:
        rate = min(rate, 1 / (math.sqrt(2) * scale * widest))
    return nats / rate + growth * rate


@checked()
def design_support(n_arms: int, rank: int) -> int:
    r"""Return the most arms that a design of `LinearElimination` plays: K, or rank (1 + ln rank / (ln 1.5 - 1 / 3)).

    The first design is uniform on the pivots. In the orthonormal basis of the pivots (in their order), each arm's i-th
    coordinate is at most the i-th coordinate of pivot i. So by Hadamard's inequality no design's determinant is more
    than :math:`d^d` times the determinant of the first. A step on a leverage of :math:`\lambda d`, with
    :math:`\lambda > 1.5`, adds
    :math:`\ln \lambda - (d - 1) \ln(1 + \frac{\lambda - 1}{\lambda (d - 1)}) \ge \ln 1.5 - 1 / 3` to its logarithm, and
    at most one arm to the d pivots.
    """
    gain = math.log(DESIGN_SLACK) - (DESIGN_SLACK - 1) / DESIGN_SLACK
    return min(n_arms, math.floor(rank * (1 + math.log(rank) / gain)))


@checked(rank=or_none(RULES["rank"]), gaps=or_none(RULES["gaps"]))
def linear_elimination_bound(
    n_arms: int,
    rank: int | None,
    horizon: int,
    scale: float,
    *,
    normal: bool = False,
    gaps: Sequence[float] | None = None,
) -> float:
    r"""Return a bound on the pseudo-regret of `LinearElimination`, for independent rounds.

    With a probability of at least 1 - 1 / T all differences to the best arm are inside their widths. Then the best arm
    is never dropped: an arm whose estimate is ahead of it by more than the width would have a larger mean. The estimate
    of an arm k that stays is behind the leader by at most the width, so its gap is :math:`\Delta_k \le 2 w` with w the
    largest width of the batch. So the next batch of n rounds costs at most 2 n w, or n times the largest gap up to 2 w.

    In a batch of N rounds with s arms in the design, arm i is played at least :math:`\pi_i (N - s)` times. So with
    :math:`g = 1.5 d / (N - s)` a difference x has :math:`|x|^2_{V^{-1}} \le 4 g` and
    :math:`|\langle x, V^{-1} A_i \rangle| \le 2 g`; their squares add up to at most :math:`\min(4 s g^2, 4 g)`. Without
    features, each of K live arms is played at least n = N / K - 1 times, and these are 2 / n, 1 / n and 2 / n^2. So the
    noise costs :math:`O(d \sqrt s \ln(K T) \lambda)` in each of about log2(T / d) batches, without a term of order
    sqrt(T). The failure event costs at most the largest gap.

    Args:
        n_arms: K, at least 2.
        rank: d, the rank of the features; None without features.
        horizon: T.
        scale: Scale lam of the Laplace noise in a sum, or the standard deviation of the normal noise.
        normal: Whether the noise is normal.
        gaps: The arms' gaps; by default unknown.
    """
    lengths = batch_lengths(rank or n_arms, horizon)
    nats = elimination_nats(n_arms, len(lengths), horizon)
    largest = 1.0 if gaps is None else max(gaps)
    live, played, total = math.inf, 0, largest
    for rounds in lengths:
        worst = min(1.0, live) if gaps is None else max(gap for gap in gaps if gap <= live)
        length = min(rounds, horizon - played)
        total += length * worst
        played += length
        live = 2 * _largest_width(n_arms, rank, rounds, nats, scale, normal)
    return min(total, horizon * largest)


def _largest_width(n_arms: int, rank: int | None, rounds: int, nats: float, scale: float, normal: bool) -> float:
    """Return the largest width after a batch of this many rounds; inf if it is unbounded."""
    if rank is None:
        plays = rounds / n_arms - 1
        return elimination_width(nats, 2 / plays, 2 / plays**2, 1 / plays, scale, normal=normal)
    support = design_support(n_arms, rank)
    if rounds <= support:
        return math.inf
    leverage = DESIGN_SLACK * rank / (rounds - support)
    squares = min(4 * support * leverage**2, 4 * leverage)
    return elimination_width(nats, 4 * leverage, squares, 2 * leverage, scale, normal=normal)
