"""Widths of noise: every kind by hand, and tables of counters against the counters themselves."""

import functools
import math

import pytest

from dp_bandit_envs.agents.noise_width import counter_width, log_log_width, log_width, no_width, weight
from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.privacy.counters.counter import laplace_width
from tests.tools.refusals import refused

HORIZON = 1000
LAPLACE = [name for name in COUNTERS if name != "square-root"]
# The noise of these is the same for all numbers with so many bits and so many ones; of the others, at most that of one.
BY_BITS = [name for name in LAPLACE if name not in ("k-ary", "honaker")]
UP_TO = 300


def at(width, t, n):
    """Return (slope ln t + offset) w(n) after t rounds."""
    return (width.slope * math.log(t) + width.offset) * weight(width, n, step_of(width, t))


def step_of(width, t):
    """Return the first step of t that ends at t or later."""
    return next(step for step, until in enumerate(width.until) if t <= until)


@functools.cache
def exact(name, epsilon, n, minus_log):
    """Return the counter's own width for a sum of n items and failure probability e^-minus_log."""
    counter = make_counter(name, epsilon=epsilon, horizon=HORIZON)
    return laplace_width(counter.scales(n), math.exp(-minus_log))


def test_no_width_is_nothing():
    width = no_width(4, HORIZON, 1.0)
    assert [at(width, t, n) for t in (1, 7, 10**6) for n in (1, 5, 1000)] == [0.0] * 9


def test_powers_by_hand():
    """(2 ln t + 3) n^-1 and (2 ln t) n^-0.45 at t = e^2: 7 / n and 4 n^-0.45."""
    t = math.exp(2)
    assert at(log_width(2, offset=3)(4, HORIZON, 1.0), t, 8) == pytest.approx(7 / 8, rel=1e-14)
    for n in (1, 2, 100):
        assert at(log_width(2, power=0.45)(4, HORIZON, 1.0), t, n) == pytest.approx(4 * n**-0.45, rel=1e-13)
    assert at(log_width(2)(4, HORIZON, 1.0), 1, 5) == 0


def test_logarithms_by_hand():
    """2 ln t ln(n + 1) / n at t = e^3 and n = e^2 - 1, or nearly: 6 ln(8) / 7 for n = 7."""
    assert at(log_log_width(2)(4, HORIZON, 1.0), math.exp(3), 7) == pytest.approx(6 * math.log(8) / 7, rel=1e-14)


def test_the_table_of_the_hybrid_counter_by_hand():
    """One item has one draw of scale 2 / epsilon, P(|Lap(b)| > w) = e^(-w / b), so w = b ln t^4 for b = 2 / epsilon.

    At epsilon = 1/2 and t = 16 that is 4 * 4 * ln 16; the grid adds at most three parts in a thousand.
    """
    width = counter_width("hybrid", epsilon=0.5)(4, HORIZON, 1.0)
    assert exact("hybrid", 0.5, 1, 4 * math.log(16)) == pytest.approx(16 * math.log(16), rel=2e-9)
    assert 16 * math.log(16) <= at(width, 16, 1) * (1 + 1e-12) <= 16 * math.log(16) * 1.004


@pytest.mark.thorough
def test_tables_cover_every_number_of_items():
    """The width at t is no smaller than the counter's own for failure probability t^-4; an arm has n <= t gains."""
    for t in [16, HORIZON]:
        for name in LAPLACE:
            width = counter_width(name, epsilon=0.7)(4, HORIZON, 1.0)
            for n in range(1, min(t, UP_TO) + 1):
                assert n * at(width, t, n) >= exact(name, 0.7, n, 4 * math.log(t)) * (1 - 1e-12), n


def test_a_table_is_what_a_counter_says_at_the_end_of_a_step():
    """Up to where t is rounded to, 2^(j / 4) for whole j; a third of a percent is the grid's."""
    for name in BY_BITS:
        width = counter_width(name, epsilon=2.0)(4, HORIZON, 1.0)
        # Irrational ends are rounded, so just before them.
        for t in (1.5, 2, 2**1.25 * (1 - 1e-14), 5, 16, 2**5.5 * (1 - 1e-14), 256, 600, HORIZON):
            end = math.ceil(4 * math.log2(t) - 1e-12) / 4 * math.log(2)
            assert width.until[step_of(width, t)] == pytest.approx(math.exp(end), rel=1e-12) or t == HORIZON
            for n in (1, 2, 3, 7, 64, 65, 100, 127, 300):
                expected = exact(name, 2.0, n, 4 * end)
                assert expected * (1 - 1e-12) <= n * at(width, t, n) <= expected * 1.0035, (name, t, n)


@pytest.mark.parametrize(("budget", "share"), [("split", 2), ("paper", 1)])
def test_the_printed_formula_by_hand(budget, share):
    """sqrt(8) ln(4 t^4) / epsilon, times levels: 1 at a power of two, floor(lg n) + 1 else; twice with half epsilons.

    At t = 16 no rounding: ln(4 * 16^4) = 18 ln 2.
    """
    width = counter_width("hybrid", epsilon=0.5, formula="printed", budget=budget)(4, HORIZON, 1.0)
    one = share * math.sqrt(8) * 18 * math.log(2) / 0.5
    for n, levels in ((1, 1), (2, 1), (3, 2), (4, 1), (5, 3), (7, 3), (512, 1), (513, 10), (1000, 10)):
        assert n * at(width, 16, n) == pytest.approx(levels * one, rel=1e-12), n


def test_the_printed_formula_is_wider_between_powers_of_two():
    """Which is why it is not the default: at n = 2^k - 1 with all nodes of the tree in the sum."""
    printed, chernoff = (counter_width("hybrid", epsilon=1, formula=f)(4, 2**17, 1.0) for f in ("printed", "chernoff"))
    n = 2**17 - 1
    assert n * at(printed, n, n) == pytest.approx(2 * 2333, rel=0.02)
    # 2565 by Chernoff's bound alone; what is known of the overshoot saves some percent, rounding t up costs one.
    assert 0.95 * 2565 < n * at(chernoff, n, n) < 2565


def test_other_exponents_fail_more_often():
    """P(|Lap(2)| > w) = t^-1 gives w = 2 ln t for a single item, a quarter of that for t^-4."""
    width = counter_width("hybrid", epsilon=1, exponent=1)(4, HORIZON, 1.0)
    assert at(width, 64, 1) == pytest.approx(2 * math.log(64), rel=4e-3)
    assert at(counter_width("hybrid", epsilon=1)(4, HORIZON, 1.0), 64, 1) == pytest.approx(8 * math.log(64), rel=4e-3)


def test_widths_go_with_the_sensitivity():
    """Noise for a round that moves its values by 5 is five times as large: so are all widths, and none stays none."""
    for width in (log_width(2, power=0.45, offset=3), log_log_width(0.7), counter_width("hybrid", epsilon=1.5)):
        one, five = width(4, HORIZON, 1.0), width(4, HORIZON, 5.0)
        for t, n in ((2, 1), (50, 7), (900, 300)):
            assert at(five, t, n) == pytest.approx(5 * at(one, t, n), rel=1e-14)
            assert at(one, t, n) > 0
    assert at(counter_width("hybrid", epsilon=5)(4, HORIZON, 5.0), 90, 3) == pytest.approx(
        at(counter_width("hybrid", epsilon=1)(4, HORIZON, 1.0), 90, 3), rel=1e-14
    )
    assert at(no_width(4, HORIZON, 5.0), 100, 3) == 0.0


@pytest.mark.thorough
def test_options_of_a_counter_reach_its_table():
    split, paper = (counter_width("hybrid", epsilon=1, budget=budget)(4, HORIZON, 1.0) for budget in ("split", "paper"))
    assert split.table == pytest.approx(2 * paper.table, rel=1e-12)
    wide, narrow = (counter_width("k-ary", epsilon=1, base=base)(4, HORIZON, 1.0) for base in (3, 19))
    assert at(wide, 100, 50) != at(narrow, 100, 50)


def test_limits():
    """Without noise there is no width, and the shortest games have a finite one."""
    assert all(counter_width(name, epsilon=math.inf) is no_width for name in LAPLACE)
    for horizon in (1, 2, 3):
        width = counter_width("hybrid", epsilon=1)(2, horizon, 1.0)
        assert all(0 < at(width, t, n) < math.inf for t in range(1, horizon + 1) for n in range(1, horizon + 1))


def test_a_counter_with_other_noise_is_refused():
    """Gaussian noise is not covered by a bound for Laplace noise: this must not silently become a width of 0."""
    with refused(ValueError, "SquareRootCounter", "Laplace", "'hybrid'"):
        counter_width("square-root", epsilon=1.0, delta=1e-6)(4, HORIZON, 1.0)
    with refused(ValueError, "BinaryCounter", "Gaussian", "delta", "'hybrid'"):
        counter_width("binary", epsilon=1.0, delta=1e-6)(4, HORIZON, 1.0)


def test_wrong_parameters_are_refused():
    hybrid = functools.partial(counter_width, "hybrid")
    for make, words in (
        (lambda: counter_width("hybrids", epsilon=1), ("counter", "'hybrids'", "hybrid")),
        (lambda: counter_width("k-ary", epsilon=1, formula="printed"), ("printed", "hybrid", "'k-ary'", "'chernoff'")),
        (lambda: hybrid(epsilon=0), ("epsilon", "greater", 0)),
        (lambda: hybrid(epsilon=math.nan), ("epsilon", 0, math.nan)),
        (lambda: hybrid(epsilon=1, formula="hoeffding"), ("formula", "'chernoff'", "'printed'", "'hoeffding'")),
        (lambda: hybrid(epsilon=1, exponent=0), ("exponent", "greater", 0)),
        (lambda: hybrid(epsilon=1, budget="half"), ("budget", "'split'", "'paper'", "'half'")),
        (lambda: log_width(-1), ("slope", 0, -1)),
        (lambda: log_width(1, offset=math.nan), ("offset", 0, math.nan)),
        (lambda: log_width(1, power=0), ("power", "greater", 0)),
        (lambda: log_log_width(math.inf), ("slope", 0, math.inf)),
    ):
        with refused(ValueError, *words):
            make()
