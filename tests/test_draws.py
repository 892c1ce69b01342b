"""Draws: their laws, fixed bits, and the same numbers in Python, in machine code and in arrays."""

import copy
import decimal
import functools
import math
import pickle
from decimal import Decimal

import numpy as np
import pytest
from scipy import stats

from dp_bandit_envs import draws
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.compiling.functions import stream_address
from dp_bandit_envs.compiling.intrinsics import put_back, stream_at
from dp_bandit_envs.draws import (
    AHEAD,
    FORMULAS,
    LaplacesAhead,
    Stream,
    laplace_array,
    log,
    normal_quantile,
    with_formulas,
)

UNIFORMS = 2**53
"""A stream's uniform numbers are k / 2^53 with k = 0, ..., 2^53 - 1, all with the same chance."""


def lead(words, word):
    """Write the words of an SFC64 whose next word is this one, the sum of the first, second and last of them."""
    words[0] = word
    words[1] = 0
    words[2] = 0
    words[3] = 0


def led(k: int) -> Stream:
    """Return a stream whose next uniform number is k / 2^53, the upper bits of its next word."""
    return led_word(k << 11)


def led_word(word: int) -> Stream:
    """Return a stream whose next word is this one."""
    rng, words = Stream(np.random.SFC64(0)), np.empty(4, np.uint64)
    lead(words, word)
    rng.bit_generator.state = {**rng.bit_generator.state, "state": {"state": words}}
    return rng


def sample(rng, scale):
    """Stand for a draw."""


def with_stream(addresses, numbers, scale):
    """Write draws of the stream at an address into an array."""
    rng = stream_at(addresses[0])
    for i in range(len(numbers)):
        numbers[i] = sample(rng, scale)
    put_back(addresses[0], rng)


def drawn(function, rng: Stream, scale: float, number: int) -> np.ndarray:
    """Return draws in Python."""
    return np.array([function(rng, scale) for _ in range(number)])


def drawn_compiled(function, rng: Stream, scale: float, number: int) -> np.ndarray:
    """Return draws in machine code, from the same stream, which goes on behind them."""
    numbers = np.empty(number)
    compiled_draws(function)((stream_address(rng),), numbers, scale)
    return numbers


@functools.cache
def compiled_draws(function) -> CompiledFunction:
    """Return `with_stream` for a draw, compiled."""
    return CompiledFunction(with_stream, {"sample": function})


def filled_compiled(rng: Stream, numbers: np.ndarray, scale: float) -> None:
    """Fill an array with Laplace draws in machine code."""
    CompiledFunction(fill_with_stream, {})((stream_address(rng),), numbers, scale)


def fill_with_stream(addresses, numbers, scale):
    """Fill an array from the stream at an address."""
    rng = stream_at(addresses[0])
    rng.laplaces(numbers, scale)
    put_back(addresses[0], rng)


N = 400_000
LAWS = {
    "standard_exponential": (lambda rng, scale: rng.standard_exponential(), stats.expon()),
    "exponential": (lambda rng, scale: rng.exponential(2.5), stats.expon(scale=2.5)),
    "laplace": (lambda rng, scale: rng.laplace(-1.0, 0.3), stats.laplace(-1.0, 0.3)),
    "standard_normal": (lambda rng, scale: rng.standard_normal(), stats.norm()),
    "normal": (lambda rng, scale: rng.normal(1.0, 40.0), stats.norm(1.0, 40.0)),
    "uniform": (lambda rng, scale: rng.uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    "signed_uniform": (lambda rng, scale: rng.signed_uniform(), stats.uniform(-1.0, 2.0)),
    "standard_gamma below 1": (lambda rng, scale: rng.standard_gamma(0.3), stats.gamma(0.3)),
    "standard_gamma of 1": (lambda rng, scale: rng.standard_gamma(1.0), stats.gamma(1.0)),
    "gamma": (lambda rng, scale: rng.gamma(11.0, 2.0), stats.gamma(11.0, scale=2.0)),
    "beta": (lambda rng, scale: rng.beta(2.0, 5.0), stats.beta(2.0, 5.0)),
    "beta below 1": (lambda rng, scale: rng.beta(0.5, 0.2), stats.beta(0.5, 0.2)),
}
"""A draw and its law, by a name that begins with the formula's."""


def stream(seed: int = 0) -> Stream:
    """Return a stream."""
    return Stream(np.random.SFC64(seed))


# ---- laws ----------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("name", LAWS)
def test_each_draw_has_its_law(name):
    """Its distribution function is sqrt(ln(2 / 1e-6) / (2 N)) off somewhere with probability 1e-6 at most (DKW).

    Mean and variance are within five standard errors.

    False alarm: 2.2e-6 for each law (1e-6, and twice five standard errors on two sides).
    """
    draw, law = LAWS[name]
    found = drawn_compiled(draw, stream(3), 1.0, N)
    below = law.cdf(np.sort(found))
    places = np.arange(N + 1) / N
    off = max(np.abs(below - places[1:]).max(), np.abs(below - places[:-1]).max())
    assert off <= math.sqrt(math.log(2 / 1e-6) / (2 * N))
    mean, variance, fourth = law.mean(), law.var(), law.var() ** 2 * (law.stats("k") + 3)
    assert abs(found.mean() - mean) <= 5 * math.sqrt(variance / N)
    assert abs(((found - mean) ** 2).mean() - variance) <= 5 * math.sqrt((fourth - variance**2) / N)


def test_laws_are_of_all_formulas():
    assert {name.split()[0] for name in LAWS} | {"integers", "laplaces"} == set(FORMULAS)


@pytest.mark.thorough
def test_far_tails_have_their_mass():
    """Of 10^7 draws each: beyond 12 scales 31 a side on average, beyond 4.5 standard deviations 34; five roots off.

    False alarm: below 3e-5 (Poisson's tails at these means, four of them).
    """
    number = 10**7
    for draw, far, mass in (
        (lambda rng, scale: rng.laplace(0.0, 1.0), 12.0, math.exp(-12)),
        (lambda rng, scale: rng.standard_normal(), 4.5, math.erfc(4.5 / math.sqrt(2))),
    ):
        found = drawn_compiled(draw, stream(5), 1.0, number)
        for side in (found > far, found < -far):
            assert abs(side.sum() - number * mass / 2) <= 5 * math.sqrt(number * mass / 2)


@pytest.mark.parametrize(("low", "high"), [(0, 7), (-3, 2), (5, 6)])
def test_integers_are_equally_likely(low, high):
    """Each count is within five standard errors.

    False alarm: 8e-6 (five standard errors, two sides, thirteen counts).
    """
    rng = stream(4)
    found = np.array([rng.integers(low, high) for _ in range(20_000)])
    share = 1 / (high - low)
    for one in range(low, high):
        assert abs((found == one).mean() - share) <= 5 * math.sqrt(share * (1 - share) / len(found))
    assert found.min() >= low and found.max() < high and all(rng.integers(3) in (0, 1, 2) for _ in range(100))


@pytest.mark.parametrize("number", [1, 2, 3, 1000, 2**31 - 1, 2**52 + 1, 2**53])
def test_the_largest_uniform_number_gives_the_largest_integer(number):
    assert led(UNIFORMS - 1).integers(number) == min(number - 1, math.floor(number * (1 - 2.0**-53)))
    assert led(0).integers(number) == 0


# ---- single numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", [0, 1, 12345, 2**60 + 1, 2**63 - 2**52, 2**63 - 513, 2**63 - 512, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]
)
def test_laplace_and_normal_draws_are_quantiles_of_the_middle_of_a_cell(word):
    """By hand: of 2^64 cells the word's has the middle (2 w + 1) / 2^65; a draw is ln of twice the nearer end's share.

    Python divides whole numbers with one rounding; the last 512 cells of either side have the middle 1, and no noise.
    """
    nearer = min(2 * word + 1, 2**65 - 2 * word - 1) / 2**64
    side = -1.0 if word < 2**63 else 1.0
    assert led_word(word).signed_uniform() == side * nearer
    assert (nearer == 1.0) == (2**63 - 512 <= word < 2**63 + 512)
    size = -2.5 * log(nearer)
    assert led_word(word).laplace(0.0, 2.5) == side * size and led_word(word).laplace(1.0, 2.5) == 1.0 + side * size
    mirrored = led_word(2**64 - 1 - word)
    assert led_word(word).standard_normal() == -mirrored.standard_normal()
    assert led_word(word).standard_normal() == pytest.approx(side * stats.norm.isf(nearer / 2), rel=1e-13, abs=2e-16)


@pytest.mark.thorough
def test_machine_code_rounds_the_middle_of_a_cell_once():
    """Also where a tie between two doubles, or the largest words, could be rounded otherwise."""
    ties = [
        sum(bits) for place in range(53, 64) for bits in [(2**place, 2 ** (place - 53)), (2**place, 3 << place - 53)]
    ]
    near = {word + off for word in [*ties, 0, 2**63] for off in range(-3, 4)} | {2**64 - 1}
    words = sorted(word for word in near if 0 <= word < 2**64)
    python = [led_word(word).signed_uniform() for word in words]
    machine = [drawn_compiled(LAWS["signed_uniform"][0], led_word(word), 1.0, 1)[0] for word in words]
    assert machine == python and len(set(python)) > 40


def test_a_generator_with_words_of_32_bits_gives_64():
    rng, bits = Stream(np.random.MT19937(5)), np.random.MT19937(5)
    low, high = (int(word) for word in bits.random_raw(2))
    word = draws.next_word(rng)
    assert word in (low << 32 | high, high << 32 | low) and draws.next_word(led_word(7)) == 7


def test_normal_quantiles_have_relative_errors_below_1e_15():
    """Measured: 6.5e-16. Phi(x) = 1/2 + phi(x) (x + x^3 / 3 + x^5 / 15 + ...), to 60 digits; then one step of Newton.

    Looked at: all over the range, near 0, in the tails down to 2^-64, and at both seams, .15 and 2 e^-25.
    """
    rng, step = np.random.default_rng(1), 2.0**-53
    seams = [0.15 + j * step for j in range(-20, 21)] + [2 * math.exp(-25) * (1 + j * step) for j in range(-20, 21)]
    middle = 1 - 2.0 ** -rng.uniform(0.5, 53, 200)
    both = np.concatenate([rng.uniform(0, 1, 400), middle, 2.0 ** -rng.uniform(0, 64, 400), seams])
    with decimal.localcontext(prec=80):
        root = (2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494459")).sqrt()
        for v in both.clip(2.0**-64, 1 - step).tolist():
            q = (1 - Decimal(v)) / 2
            x = Decimal(normal_quantile(v))
            total, term, n = x, x, 1
            while abs(term) > Decimal("1e-50"):
                n += 2
                term *= x * x / n
                total += term
            density = (-x * x / 2).exp() / root
            assert abs(density * total - q) <= Decimal("1e-15") * density * abs(x), v
            assert normal_quantile(-v) == -float(x)
    assert normal_quantile(1.0) == 0.0


def test_exponential_draws_end_at_65_ln_2_and_gamma_and_beta_draws_of_extreme_parameters_end():
    assert led_word(0).standard_exponential() == 0.0 and math.copysign(1, led_word(0).exponential(2.0)) == 1.0
    assert led_word(2**64 - 1).exponential(2.0) == pytest.approx(130 * math.log(2), rel=1e-15)
    assert led_word(2**63 - 1).exponential(2.0) == led_word(2**63).exponential(2.0) == 2 * log(2.0)
    rng = stream(1)
    assert [rng.standard_gamma(shape) for shape in (0.0, -1.0, -math.inf, math.inf)] == [0.0, 0.0, 0.0, math.inf]
    assert math.isnan(rng.standard_gamma(math.nan)) and math.isnan(rng.gamma(1.0, math.nan))
    assert {rng.beta(1e-300, 1e-300) for _ in range(50)} == {0.0, 1.0}
    assert rng.beta(1.0, 0.0) == 1.0 and rng.beta(0.0, 1.0) == 0.0
    assert 0.0 <= rng.beta(math.nan, 1.0) <= 1.0
    assert rng.standard_gamma(1e-5) >= 0.0 and rng.standard_gamma(1e15) == pytest.approx(1e15, rel=1e-6)


# ---- the same numbers everywhere -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_machine_code_draws_the_same_bits_and_leaves_the_stream_where_python_does():
    for name in LAWS:
        draw, _ = LAWS[name]
        python, compiled = stream(7), stream(7)
        assert drawn_compiled(draw, compiled, 1.0, 5000).tolist() == drawn(draw, python, 1.0, 5000).tolist()
        assert compiled.random() == python.random()
        states = [rng.bit_generator.state for rng in (python, compiled)]
        assert states[0]["state"]["state"].tolist() == states[1]["state"]["state"].tolist()


def test_uniform_numbers_in_machine_code_are_numpys():
    numbers = drawn_compiled(lambda rng, scale: rng.random(), stream(8), 1.0, 1000)
    assert numbers.tolist() == np.random.Generator(np.random.SFC64(8)).random(1000).tolist()


@pytest.mark.thorough
def test_integers_in_machine_code_are_those_of_python():
    def some(rng, scale):
        return rng.integers(10) + 100.0 * rng.integers(-5, 5)

    assert drawn_compiled(some, stream(9), 1.0, 1000).tolist() == drawn(some, stream(9), 1.0, 1000).tolist()


@pytest.mark.thorough
def test_an_array_of_laplace_draws_has_the_same_bits_as_single_ones():
    """In an array of NumPy's arithmetic, and filled in Python and in machine code."""
    streams, number = [stream(10) for _ in range(4)], 20_003
    wanted = [streams[0].laplace(0.0, 0.7) for _ in range(number)]
    assert laplace_array(streams[1], number, 0.7).tolist() == wanted
    for rng, fills in ((streams[2], Stream.laplaces), (streams[3], filled_compiled)):
        numbers = np.empty(number)
        fills(rng, numbers, 0.7)
        assert numbers.tolist() == wanted
    assert len({rng.random() for rng in streams}) == 1


def test_laplace_draws_computed_ahead_are_those_of_the_stream():
    """Through the end of a block, in an array and one by one."""
    rng, ahead, some = stream(10), LaplacesAhead(stream(10)), np.empty(AHEAD - 3)
    ahead.laplaces(some, 0.7)
    assert some.tolist() == [rng.laplace(0.0, 0.7) for _ in some]
    assert [ahead.laplace(2.0, 0.3) for _ in range(7)] == [rng.laplace(2.0, 0.3) for _ in range(7)]


@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        ("laplace", (0.0, 2.0), {"size": 3}),
        ("laplace", (0.0, 2.0, (2, 3)), {}),
        ("normal", (np.zeros(3), 1.0), {}),
        ("normal", (), {"loc": np.arange(4), "scale": 2.0}),
        ("standard_normal", ((2, 2),), {}),
        ("standard_exponential", (), {"size": 5, "method": "inv"}),
        ("beta", ([1.0, 2.0], 3.0), {}),
        ("gamma", (2.0,), {"size": 4}),
        ("integers", (0, 10), {"size": 6, "endpoint": True}),
        ("uniform", (0.0, 1.0, 3), {}),
    ],
)
def test_arrays_of_draws_are_numpys_own(name, arguments, named):
    numpys = getattr(np.random.Generator(np.random.SFC64(2)), name)(*arguments, **named)
    ours = getattr(stream(2), name)(*arguments, **named)
    assert isinstance(ours, np.ndarray) and ours.tolist() == numpys.tolist()


def test_single_draws_take_names_integers_and_numbers_of_numpy():
    wanted = draws.laplace(stream(2), 1.0, 2.0)
    assert wanted == stream(2).laplace(1, 2) == stream(2).laplace(scale=2.0, loc=1.0)
    assert wanted == stream(2).laplace(np.float64(1), scale=np.int64(2)) != stream(2).laplace(1.0, 2.0, None)


def test_copies_and_children_of_a_stream_are_streams_and_a_generator_of_numpy_goes_on_as_one():
    rng = stream(6)
    rng.random()
    for other in (pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng)):
        assert type(other) is Stream and other.bit_generator is not rng.bit_generator
        assert other.standard_normal() == copy.deepcopy(rng).standard_normal()
    assert [type(child) for child in rng.spawn(2)] == [Stream, Stream]
    numpys, ours = np.random.default_rng(3), Stream(np.random.PCG64(3))
    assert with_formulas(numpys).laplace(0.0, 1.0) == ours.laplace(0.0, 1.0)
    assert numpys.random() == ours.random() and with_formulas(ours) is ours


def test_fixed_bits():
    """The same on every processor and with every C library: if they change, so do all games."""
    rng = stream(1)
    found = [draw(rng, 1.0).hex() for draw, _ in LAWS.values()]
    assert found == [
        "0x1.5b90e3171d187p+2",
        "0x1.29dc124131f04p+0",
        "-0x1.0bbab38e12151p+0",
        "0x1.713b64e5357f8p-1",
        "0x1.3d38c013b20cdp+5",
        "0x1.2840ab497ae8fp+1",
        "0x1.fa0f3294f86b4p-3",
        "0x1.e05b7929e3600p-3",
        "0x1.b0b90c28a3d29p-2",
        "0x1.238b394408f39p+4",
        "0x1.0f6acf184ff9bp-2",
        "0x1.ffc3c0ac495f8p-1",
    ]
