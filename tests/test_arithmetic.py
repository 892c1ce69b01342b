"""Exponentials and logarithms: their relative errors, their limits, and the same bits in machine code."""

import decimal
import math
import re
from decimal import Decimal

import numpy as np
import pytest

from dp_bandit_envs import draws
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.draws import exp, expm1, log, log1p, log_array, map_array, parted, power_of_two
from tests.tools.draw_counts import each_number

CLAIM = Decimal("4e-16")
FUNCTIONS = [exp, expm1, log, log1p]
ONE_STEP = [math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0)]
EDGES = [
    *(0.0, 5e-324, math.nextafter(2.0**-1022, 0.0), 2.0**-1022, 2.0**-54, 2.0**-53, 2.0**-52, 1e-9),
    *(0.25, 0.5, 1.0, 2.0),
    *(*ONE_STEP, draws.ROOT_HALF, math.nextafter(draws.ROOT_HALF, 1.0), math.log(2) / 2, math.log(2), math.e),
    *(each for whole in (40.0, 707.0, 709.0) for each in (whole, math.nextafter(whole, whole + 1))),
    745.2,
    *(2.0**52, 2.0**53, 2.0**53 + 2, 1e300, 1.7976931348623157e308, math.inf, math.nan),
]


def arguments(function) -> list[float]:
    """Return numbers all over the range in which a function is finite, with one seed, and more near 0 and 1."""
    rng = np.random.default_rng(11)
    sizes = 2.0 ** rng.uniform(-1022, 1, 1500)
    near_0 = np.concatenate([sizes, -sizes, 2.0 ** rng.uniform(-60, 0, 1500), -(2.0 ** rng.uniform(-60, -1e-9, 1500))])
    if function is exp:
        found = [*rng.uniform(-707, 709, 3000), *rng.uniform(-2, 2, 3000)]
    elif function is expm1:
        found = [*rng.uniform(-45, 709, 3000), *rng.uniform(-2, 2, 3000), *near_0]
    elif function is log:
        found = [*2.0 ** rng.uniform(-1022, 1023, 3000), *rng.uniform(0.3, 3, 3000), *(1 + near_0[3000:])]
    else:
        found = [*2.0 ** rng.uniform(-60, 1023, 3000), *rng.uniform(-1, 3, 3000), *near_0[near_0 > -1]]
    return [float(x) for x in found]


def exact(function, x: float) -> Decimal:
    """Return the value to 50 digits or more."""
    number = Decimal(x)
    if function is exp:
        return number.exp()
    if function is log:
        return number.ln()
    if abs(x) < 1e-30:
        return number * (1 + (number / 2 if function is expm1 else -number / 2))
    return number.exp() - 1 if function is expm1 else (1 + number).ln()


@pytest.mark.thorough
@pytest.mark.parametrize("function", FUNCTIONS)
def test_relative_errors_are_below_4e_16(function):
    """Measured here: 1.6e-16, 2.5e-16, 1.5e-16 and 2.4e-16."""
    with decimal.localcontext(prec=90, Emin=-5000):
        for x in arguments(function):
            true = exact(function, x)
            assert abs(Decimal(function(x)) - true) <= CLAIM * abs(true), x


def test_limits():
    tiny, below = 2.0**-1022, math.nextafter(2.0**-1022, 0.0)
    assert [exp(x) for x in (0.0, -0.0, 709.1, math.inf, -707.1, -math.inf)] == [1.0, 1.0, math.inf, math.inf, 0.0, 0.0]
    assert exp(709.0) == pytest.approx(math.exp(709), rel=1e-15) and exp(-707.0) > 0
    found = [expm1(x) for x in (0.0, 5e-324, 709.1, math.inf, -40.1, -math.inf)]
    assert found == [0, 5e-324, math.inf, math.inf, -1, -1]
    assert [log(x) for x in (1.0, 0.0, -0.0, below, math.inf)] == [0.0, -math.inf, -math.inf, -math.inf, math.inf]
    assert log(tiny) == pytest.approx(math.log(tiny), rel=1e-15)
    assert [log1p(x) for x in (0.0, 5e-324, -1.0, math.inf)] == [0.0, 5e-324, -math.inf, math.inf]
    outside = [log(-1.0), log(-math.inf), log1p(-1.5), log1p(-math.inf), *(each(math.nan) for each in FUNCTIONS)]
    assert all(map(math.isnan, outside))


@pytest.mark.thorough
@pytest.mark.parametrize("function", FUNCTIONS)
def test_machine_code_gives_the_same_bits(function):
    numbers = np.array([*arguments(function), *EDGES, *(-x for x in EDGES)])
    found = np.empty(len(numbers))
    CompiledFunction(each_number, {"function": function})(numbers, found)
    assert [x.hex() for x in found.tolist()] == [function(x).hex() for x in numbers.tolist()]


@pytest.mark.thorough
def test_powers_and_parts_of_all_normal_doubles_are_those_of_the_bits():
    powers = [float(k) for k in range(-1022, 1024)]
    assert [power_of_two(k) for k in powers] == [2.0**k for k in powers]
    numbers = [share * 2.0**k for k in powers for share in (1.0, 1.5, 2.0 - 2.0**-52)]
    assert all(math.ldexp(m, int(k)) == x and 0.5 <= m < 1 for x in numbers for m, k in [parted(x)])
    found = np.empty((len(powers), 3)), np.empty((len(numbers), 2))
    CompiledFunction(write_parts, {})(np.array(powers), np.array(numbers), *found)
    assert found[0][:, 0].tolist() == [2.0**k for k in powers]
    assert found[1].tolist() == [list(parted(x)) for x in numbers]


def write_parts(powers, numbers, of_powers, parts):
    """Write 2^k for each power, and mantissa and exponent of each number."""
    for i in range(len(powers)):
        of_powers[i, 0] = power_of_two(powers[i])
    for i in range(len(numbers)):
        parts[i, 0], parts[i, 1] = parted(numbers[i])


def test_arrays_have_the_same_bits_as_numbers():
    numbers = np.array([x for x in [*arguments(log), *EDGES] if 2.0**-1022 <= x < math.inf])
    assert log_array(numbers).tolist() == [log(x) for x in numbers.tolist()] == map_array(log, numbers).tolist()


def test_machine_code_fuses_no_multiplication_and_addition():
    """A fused (1 + 2^-30)^2 - (1 + 2^-29) is 2^-60; rounded twice it is 0. And no such instruction is in the text."""
    compiled = CompiledFunction(multiply_add, {"exp": exp})
    assert (
        compiled(1 + 2.0**-30, 1 + 2.0**-30, -(1 + 2.0**-29))
        == 0.0
        == multiply_add(1 + 2.0**-30, 1 + 2.0**-30, -(1 + 2.0**-29))
    )
    (text,) = compiled._dispatcher.inspect_asm().values()
    assert re.search("mul", text) and not re.search(r"fn?m(add|sub|la|ls)", text)


def multiply_add(a, b, c):
    """Return what a fused instruction could give, times what the same instruction could give in `exp`."""
    return (a * b + c) * exp(a)


def test_fixed_bits():
    """The same on every processor: if they change, so do all games."""
    found = [one.hex() for one in (exp(0.3), exp(-20.0), expm1(-0.3), log(3.0), log(0.7), log1p(1e-5), log1p(-0.9))]
    assert found == [
        "0x1.599058c8c1a96p+0",
        "0x1.1b48655f37267p-29",
        "-0x1.0966f2c7907f6p-2",
        "0x1.193ea7aad030ap+0",
        "-0x1.6d3c324e13f50p-2",
        "0x1.4f8aea9ae7316p-17",
        "-0x1.26bb1bbb55516p+1",
    ]
