"""Exponentials and logarithms in plain IEEE operations: the same bits in Python, in machine code, on any processor.

C libraries differ in the last bits of `exp` and `log`, vector registers have none, and one such bit decides in time
which arm an agent plays. So rules and noise use the functions here: additions, multiplications, divisions and powers of
two only, each rounded as IEEE 754 says, without fused multiply-adds. Relative errors are below 4e-16.

Compiled code replaces `power_of_two` and `parted`, the two functions that read or write the bits of a double.
"""

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
"""Logarithms of smaller numbers are that of 0."""
ROOT_HALF: Final = 0.7071067811865476


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


def of_array(function: Callable[[float], float], numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return a function of this module of each number of an array; NumPy's own differ from processor to processor."""
    return np.array([function(float(number)) for number in numbers.ravel()]).reshape(numbers.shape)


def log_of_array(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
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
