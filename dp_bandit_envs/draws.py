"""Random draws by formulas of uniform numbers: the same bits in Python, in machine code and on every processor.

NumPy's own draws depend on the C library, and vector registers cannot follow their tables and rejections. Here every
draw but a gamma draw takes exactly one word of the stream: all 64 bits where it is noise (`signed_uniform`), the upper
53 where it is a uniform number. How far that is from exact noise is in `dp_bandit_envs.privacy.accounting`.
"""

import functools
import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.arithmetic import exp, log, log_of_array

HALF_STEP: Final = 2.0**-54
"""Takes the place of the uniform number 0, which has no logarithm."""
SIGN_BIT: Final = 1 << 63
ALL_BITS: Final = (1 << 64) - 1
NUMBERS: Final = (int, float, np.number)
AHEAD: Final = 256
"""The draws that `LaplacesAhead` computes at once."""


def signed_uniform(rng: np.random.Generator) -> float:
    """Return v or -v: by the first bit of a word its sign, by the other 63 the middle v of one of 2^63 cells of [0, 1].

    A word w and its complement have the same v, (2 m + 1) 2^-64, in which m is whichever of them is below 2^63. It is
    rounded once, to a double; so v has the relative precision of doubles next to 0, is never 0, and is 1 for the last
    512 cells. Noise is a function that falls from inf at v = 0, and 1 - v would lose these digits.
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
    """Fill an array with the numbers of `laplace`; in two loops, of which the second fits into vector registers."""
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
    waits = scale * log_of_array((2 * np.where(below, words, ~words) + 1) * 2.0**-64)
    return np.where(below, waits, -waits)


def standard_exponential(rng: np.random.Generator) -> float:
    """Return an exponential draw with mean 1, up to 45.1: minus the logarithm of one of 2^64 middles of cells."""
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
    """Return a beta draw: the first share of two gamma draws; where both are 0, as for tiny parameters, a coin's."""
    x = standard_gamma(rng, a)
    y = standard_gamma(rng, b)
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
"""The formulas by the names of the generator's methods that they replace; `laplaces` is one that NumPy has not."""


class Stream(np.random.Generator):
    """A NumPy generator whose single draws are the formulas of this module; arrays of draws are NumPy's own.

    Single draws do not check their arguments, as machine code cannot raise NumPy's errors.
    """

    def __reduce__(self) -> Any:
        """Return how to make it again, with the state of its bit generator."""
        return Stream, (self.bit_generator,)


class LaplacesAhead:
    """Takes the place of a stream of which only Laplace draws are taken: the same numbers, computed many at once."""

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
    """Return a stream that goes on with a NumPy generator's numbers; anything else as it is."""
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
