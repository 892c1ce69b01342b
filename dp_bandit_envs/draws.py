"""Exponentials, logarithms and random draws with the same bits in Python, in machine code and on every processor.

C libraries differ in the last bits of `exp` and `log`, vector registers lack them, and one such bit can eventually
change which arm an agent plays. So rules and noise use the functions here: additions, multiplications, divisions and
powers of two only, each rounded as IEEE 754 says, without fused multiply-adds. Relative errors are below 4e-16.
Compiled code replaces `power_of_two` and `parted`, the two functions that read or write the bits of a double.

NumPy's own draws depend on the C library, and vector registers cannot follow their tables and rejections. Here every
draw except a gamma draw is a formula of exactly one word of the stream: all 64 bits for noise (`signed_uniform`), the
upper 53 for a uniform number. `dp_bandit_envs.privacy.accounting` bounds the distance from exact noise.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

LOG2_E: Final = 1.4426950408889634
LN2_HIGH: Final = 0.6931471803691238
"""The first 32 bits of ln 2, so that multiples up to 2^21 are exact."""
LN2_LOW: Final = 1.9082149292705877e-10
ROUNDER: Final = 1.5 * 2.0**52
"""Adding and subtracting it rounds a double to an integer."""
LARGEST: Final = 709.0
"""Exponentials of larger numbers are inf."""
SMALLEST: Final = -707.0
"""Exponentials of smaller numbers are 0."""
TINY: Final = 2.0**-1022
"""Smaller numbers have the logarithm of 0."""
ROOT_HALF: Final = 0.7071067811865476
HALF_STEP: Final = 2.0**-54
"""Takes the place of the uniform number 0, which has no logarithm."""
SIGN_BIT: Final = 1 << 63
ALL_BITS: Final = (1 << 64) - 1
NUMBERS: Final = (int, float, np.number)
AHEAD: Final = 256
"""The draws that `LaplacesAhead` computes at once."""


def signed_uniform(rng: np.random.Generator) -> float:
    """Return v or -v: the first bit of a word is the sign, the others choose v, a midpoint of 2^63 cells of [0, 1].

    A word w and its complement have the same v, (2 m + 1) 2^-64, with m the smaller of the two. It is rounded once, to
    a double; so v has the relative precision of doubles next to 0, is never 0, and is 1 for the last 512 cells. Noise
    is a decreasing function of v, inf at v = 0, and 1 - v would lose these digits.
    """
    word = next_word(rng)
    return -float(2 * word + 1) * 2.0**-64 if word < SIGN_BIT else float(2 * (ALL_BITS - word) + 1) * 2.0**-64


def next_word(rng: np.random.Generator) -> int:
    """Return the next 64 bits of a stream."""
    source = rng.bit_generator
    if isinstance(source, np.random.SFC64):
        word: int = source.random_raw()
        return word
    return int(np.random.Generator.integers(rng, ALL_BITS, dtype=np.uint64, endpoint=True))


def laplace(rng: np.random.Generator, loc: float = 0.0, scale: float = 1.0) -> float:
    """Return a Laplace draw, up to 44.4 scales from loc."""
    v = rng.signed_uniform()  # type: ignore[attr-defined]
    wait = scale * log(abs(v))
    return loc + (wait if v < 0.0 else -wait)


def laplaces(rng: np.random.Generator, numbers: NDArray[np.float64], scale: float) -> None:
    """Fill an array with the numbers of `laplace`, in two loops; the second fits into vector registers."""
    for i in range(len(numbers)):
        numbers[i] = rng.signed_uniform()  # type: ignore[attr-defined]
    for i in range(len(numbers)):
        v = numbers[i]
        wait = scale * log(abs(v))
        numbers[i] = wait if v < 0.0 else -wait


def laplace_array(rng: np.random.Generator, number: int, scale: float) -> NDArray[np.float64]:
    """Return the numbers of `laplace`, shape `(number,)`, by NumPy's arithmetic on arrays; the stream is an SFC64."""
    words = rng.bit_generator.random_raw(number)
    below = words < SIGN_BIT
    waits = scale * log_array((2 * np.where(below, words, ~words) + 1) * 2.0**-64)
    return np.where(below, waits, -waits)


def standard_exponential(rng: np.random.Generator) -> float:
    """Return an exponential draw with mean 1, up to 45.1: minus the logarithm of a midpoint of 2^64 cells."""
    half = 0.5 * rng.signed_uniform()  # type: ignore[attr-defined]
    # Shares below 1/2 keep all their digits.
    return 0.0 - log(half if half > 0.0 else 1.0 + half)


def exponential(rng: np.random.Generator, scale: float = 1.0) -> float:
    """Return an exponential draw with this mean."""
    return scale * standard_exponential(rng)


def standard_normal(rng: np.random.Generator) -> float:
    """Return a normal draw, up to 9.2 in size."""
    return normal_quantile(rng.signed_uniform())  # type: ignore[attr-defined]


def normal(rng: np.random.Generator, loc: float = 0.0, scale: float = 1.0) -> float:
    """Return a normal draw with this mean and standard deviation."""
    return loc + scale * standard_normal(rng)


def uniform(rng: np.random.Generator, low: float = 0.0, high: float = 1.0) -> float:
    """Return a uniform draw in [low, high)."""
    return low + (high - low) * rng.random()


def standard_gamma(rng: np.random.Generator, shape: float) -> float:
    """Return a gamma draw with scale 1; 0 for shapes below 0, too.

    Source: Marsaglia and Tsang (2000), A Simple Method for Generating Gamma Variables, with their early acceptance and
    their step for shapes below 1.
    """
    if not shape > 0.0:
        # For nan, the loop below would not end.
        return 0.0 if shape <= 0.0 else shape
    if shape == 1.0:
        return standard_exponential(rng)
    large = shape if shape >= 1.0 else shape + 1.0
    d = large - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = standard_normal(rng)
        root = 1.0 + c * x
        if root > 0.0:
            v = root * root * root
            u = rng.random()
            if u < 1.0 - 0.0331 * (x * x) * (x * x) or log(max(u, HALF_STEP)) < 0.5 * x * x + d * (1.0 - v + log(v)):
                break
    if shape >= 1.0:
        return d * v
    return d * v * exp(log(max(rng.random(), HALF_STEP)) / shape)


def gamma(rng: np.random.Generator, shape: float, scale: float = 1.0) -> float:
    """Return a gamma draw."""
    return scale * standard_gamma(rng, shape)


def beta(rng: np.random.Generator, a: float, b: float) -> float:
    """Return a beta draw: the first gamma draw's share of two; if both are 0, as for tiny parameters, a coin flip."""
    x, y, shape = 0.0, 0.0, a
    # A loop, so that machine code has one copy of the long function: two took a third of the compiling.
    for _ in range(2):
        x, y, shape = y, standard_gamma(rng, shape), b
    if x + y > 0.0:
        return x / (x + y)
    return 1.0 if rng.random() * (a + b) < a else 0.0


def integers(rng: np.random.Generator, low: int, high: int | None = None) -> int:
    """Return an integer in [low, high), or in [0, low); each chance is off by at most 2^-53."""
    if high is None:
        return int(rng.random() * low)
    return low + int(rng.random() * (high - low))


def normal_quantile(v: float) -> float:
    """Return the number beyond which a standard normal draw has probability |v| / 2, with the sign of v in [-1, 1].

    Source: Wichura (1988), Algorithm AS 241: The Percentage Points of the Normal Distribution, routine PPND16, Applied
    Statistics 37.
    """
    share = 0.5 * abs(v)
    q = 0.5 - share
    if q <= 0.425:
        r = 0.180625 - q * q
        top = 2509.0809287301226727 * r + 33430.575583588128105
        top = ((top * r + 67265.770927008700853) * r + 45921.953931549871457) * r + 13731.693765509461125
        top = ((top * r + 1971.5909503065514427) * r + 133.14166789178437745) * r + 3.387132872796366608
        low = 5226.495278852545925 * r + 28729.085735721942674
        low = ((low * r + 39307.89580009271061) * r + 21213.794301586595867) * r + 5394.1960214247511077
        low = ((low * r + 687.1870074920579083) * r + 42.313330701600911252) * r + 1.0
        return -q * top / low if v < 0.0 else q * top / low
    r = math.sqrt(-log(share))
    if r <= 5.0:
        r -= 1.6
        top = 7.7454501427834140764e-4 * r + 0.0227238449892691845833
        top = ((top * r + 0.24178072517745061177) * r + 1.27045825245236838258) * r + 3.64784832476320460504
        top = ((top * r + 5.7694972214606914055) * r + 4.6303378461565452959) * r + 1.42343711074968357734
        low = 1.05075007164441684324e-9 * r + 5.475938084995344946e-4
        low = ((low * r + 0.0151986665636164571966) * r + 0.14810397642748007459) * r + 0.68976733498510000455
        low = ((low * r + 1.6763848301838038494) * r + 2.05319162663775882187) * r + 1.0
    else:
        r -= 5.0
        top = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
        top = ((top * r + 0.0012426609473880784386) * r + 0.026532189526576123093) * r + 0.29656057182850489123
        top = ((top * r + 1.7848265399172913358) * r + 5.4637849111641143699) * r + 6.6579046435011037772
        low = 2.04426310338993978564e-15 * r + 1.4215117583164458887e-7
        low = ((low * r + 1.8463183175100546818e-5) * r + 7.868691311456132591e-4) * r + 0.0148753612908506148525
        low = ((low * r + 0.13692988092273580531) * r + 0.59983220655588793769) * r + 1.0
    return -top / low if v < 0.0 else top / low


FORMULAS: Final = {
    formula.__name__: formula
    for formula in (
        beta,
        exponential,
        gamma,
        integers,
        laplace,
        laplaces,
        normal,
        signed_uniform,
        standard_exponential,
        standard_gamma,
        standard_normal,
        uniform,
    )
}
"""The formulas by the names of the generator's methods that they replace; NumPy has no `laplaces`."""


class Stream(np.random.Generator):
    """A NumPy generator whose single draws are the formulas of this module; arrays of draws are NumPy's own.

    Single draws do not check their arguments, as machine code cannot raise NumPy's errors.
    """

    def __reduce__(self) -> Any:
        """Pickle the class and the state of its bit generator."""
        return Stream, (self.bit_generator,)


class LaplacesAhead:
    """Replaces a stream that makes only Laplace draws: the same numbers, computed in blocks."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self._ahead = rng, list[float]()

    def laplace(self, loc: float, scale: float) -> float:
        """Return the next number of `laplace`."""
        return loc + scale * self._next()

    def laplaces(self, numbers: NDArray[np.float64], scale: float) -> None:
        """Fill an array with the next numbers of `laplace`."""
        for i in range(len(numbers)):
            numbers[i] = scale * self._next()

    def _next(self) -> float:
        if not self._ahead:
            self._ahead = laplace_array(self._rng, AHEAD, 1.0)[::-1].tolist()
        return self._ahead.pop()


def with_formulas(rng: np.random.Generator) -> np.random.Generator:
    """Return a stream that continues a NumPy generator's numbers; other objects unchanged."""
    return Stream(rng.bit_generator) if type(rng) is np.random.Generator else rng


def _method(formula: Any) -> Any:
    """Return a method that draws one number by the formula, and leaves calls with arrays or a size to NumPy."""
    numpys = getattr(np.random.Generator, formula.__name__)
    names = formula.__code__.co_varnames[1 : formula.__code__.co_argcount]

    @functools.wraps(numpys)
    def method(self: Stream, *arguments: Any, **named: Any) -> Any:
        for number in arguments:
            if type(number) is not float and not isinstance(number, NUMBERS):
                return numpys(self, *arguments, **named)
        if len(arguments) > len(names):
            return numpys(self, *arguments, **named)
        if not named:
            return formula(self, *arguments)
        for name, number in named.items():
            if name not in names or not isinstance(number, NUMBERS):
                return numpys(self, *arguments, **named)
        return formula(self, *arguments, **named)

    return method


for _name, _formula in FORMULAS.items():
    setattr(Stream, _name, _method(_formula) if hasattr(np.random.Generator, _name) else _formula)


def power_of_two(k: float) -> float:
    """Return 2^k for an integer k in [-1022, 1023]."""
    return math.ldexp(1.0, int(k))


def parted(x: float) -> tuple[float, float]:
    """Return (m, k) with x = m 2^k and m in [1/2, 1), for a finite x of at least 2^-1022."""
    m, k = math.frexp(x)
    return m, float(k)


def square(number: float) -> float:
    """Return number ** 2, which is inf where Python raises an OverflowError."""
    return number**2 if abs(number) < 1e154 else math.inf


def exp(x: float) -> float:
    """Return e^x; 0 below `SMALLEST` and inf above `LARGEST`."""
    if not SMALLEST <= x <= LARGEST:
        return 0.0 if x < SMALLEST else x * math.inf
    k = x * LOG2_E + ROUNDER - ROUNDER
    return (1.0 + _rise((x - k * LN2_HIGH) - k * LN2_LOW)) * power_of_two(k)


def expm1(x: float) -> float:
    """Return e^x - 1, to all digits near 0."""
    if not -40.0 <= x <= LARGEST:
        return -1.0 if x < -40.0 else x * math.inf
    k = x * LOG2_E + ROUNDER - ROUNDER
    power = power_of_two(k)
    return (power - 1.0) + power * _rise((x - k * LN2_HIGH) - k * LN2_LOW)


def log(x: float) -> float:
    """Return ln x: -inf for 0, nan below."""
    if not TINY <= x < math.inf:
        return x if x > 1.0 or x != x else (-math.inf if x >= 0.0 else math.nan)
    m, k = parted(x)
    if m < ROOT_HALF:
        m += m
        k -= 1.0
    # m - 1 is exact, because m is in [1/2, 2].
    logarithm: float = _log_of_sum(m - 1.0, k)
    return logarithm


def log1p(x: float) -> float:
    """Return ln(1 + x), to all digits near 0: -inf for -1, nan below."""
    total = 1.0 + x
    if not TINY <= total < math.inf:
        return log(total)
    # What the sum lost, which is exact where it matters.
    lost = x - (total - 1.0) if total < 2.0**53 else 0.0
    return log(total) + lost / total


def map_array(function: Callable[[float], float], numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Apply a function of this module to each number of an array; NumPy's own functions differ between processors."""
    return np.array([function(float(number)) for number in numbers.ravel()]).reshape(numbers.shape)


def log_array(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `log` of each number, all finite and at least 2^-1022."""
    m, k = np.frexp(numbers)
    low = m < ROOT_HALF
    logs: NDArray[np.float64] = _log_of_sum(np.where(low, m + m, m) - 1.0, k - 1.0 * low)
    return logs


def _rise(r: float) -> float:
    """Return e^r - 1 for r up to ln(2) / 2 in size: r + r^2 times a polynomial found at Chebyshev's points."""
    s = r * r
    even = (
        ((2.7620088445409746e-07 * s + 2.4801521295954376e-05) * s + 0.0013888888917213717) * s
    ) + 0.04166666666662413
    odd = (
        ((2.510038549551032e-08 * s + 2.7557268459997064e-06) * s + 0.00019841269863053618) * s
    ) + 0.008333333333330062
    return r + s * ((0.5 + s * even) + r * (0.16666666666666669 + s * odd))


def _log_of_sum(f: Any, k: Any) -> Any:
    """Return ln(1 + f) + k ln 2, for 1 + f in [sqrt(1/2), sqrt(2)], by the series of the area tangent in f / (2 + f).

    f and k are numbers, or arrays of them.
    """
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = ((0.14616585424888623 * w + 0.18182889455674947) * w + 0.2857142862600327) * w + 0.666666666666667
    even = (0.15331710618210773 * w + 0.22222211130259878) * w + 0.39999999999899444
    rest = z * odd + w * even
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + rest) + k * LN2_LOW)) - f)
