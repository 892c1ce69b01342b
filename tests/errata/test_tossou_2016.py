"""Counterexamples to Tossou and Dimitrakakis (2016) that have no place elsewhere: see docs/errata.md."""

import math
from itertools import product

import gymnasium as gym
import numpy as np
import pytest
from scipy import integrate

import dp_bandit_envs  # noqa: F401 registers the environments
from dp_bandit_envs import make_algorithm
from dp_bandit_envs.privacy.counters import HybridCounter


def beyond(scales, width):
    """Return P(|sum of Laplace variables of these scales| > width), by inversion of the characteristic function."""
    b = np.array(scales, dtype=float)

    def integrand(u):
        return np.sinc(u * width / math.pi) * width * math.exp(-np.log1p((b * u) ** 2).sum())

    inside, error = integrate.quad(integrand, 0, 40 / b.max(), limit=2000)
    assert error < 1e-6
    return 1 - 2 / math.pi * inside


def test_the_tail_of_one_draw_is_that_of_laplace():
    assert beyond([2.0] * 2, 3.0) == pytest.approx(math.exp(-1.5) * (1 + 0.75), abs=1e-6)


def draws(counter, n):
    """Return the scale of each draw in the release after n items."""
    return [scale for scale, number in counter.scales(n) for _ in range(number)]


def width_of_lemma_b_2(levels, gamma):
    """Return equation (2.2) at epsilon = 1 with the logarithm of n in base 2, about the number of levels."""
    return math.sqrt(8) * math.log(4 / gamma) * (levels + 1)


def test_the_error_bound_of_lemma_b_2_fails():
    """The hybrid's release at n = 2^(k+1) - 1 items: k + 1 draws of its sparse part, k nodes with k times the noise."""
    n = 2**17 - 1
    scales = draws(HybridCounter(epsilon=1.0, budget="paper"), n)
    assert sorted(scales) == pytest.approx([1] * 17 + [16] * 16, rel=2e-9)
    # The natural logarithm, all of epsilon in both parts: gamma = n^-0.39.
    assert beyond(scales, math.sqrt(8) * math.log(400) * (math.log(n) + 1)) > 1.8 * 0.01
    # Base 2 and half of epsilon in each part, as privacy asks: gamma = n^-0.2.
    assert beyond(2 * np.array(scales), width_of_lemma_b_2(17, 0.1)) > 2.8 * 0.1
    # Base 2 and all of epsilon: true here, false at length 2^61, as the noise is of order k^1.5, the bound of order k.
    assert beyond(scales, width_of_lemma_b_2(17, 0.1)) < 0.05
    assert beyond([1] * 61 + [60] * 60, width_of_lemma_b_2(61, 0.5)) > 0.57


def test_the_count_of_theorem_3_2_is_too_small():
    """T = 1e5, gap 0.3, lambda = 1/2, epsilon = 1. Even in the paper's own terms, 2 h_n <= gap / 2 is not reached."""
    log = math.log(4e20)

    def noise(n, budget=1.0):
        return math.sqrt(8) * log * (math.log(n) + 1) / n / budget

    b = math.sqrt(8) * log / (0.5 * 0.3)
    n = b * (math.log(b) + 7)
    assert noise(n) <= 0.15 < 0.22 < 2 * noise(n)
    # The statement drops 1 / gap inside the logarithm: gap times the count is larger than B (ln B + 7).
    stated = 0.3 * b * (math.log(0.3 * b) + 7)
    assert 0.3 * n > 1.09 * stated
    # Twice B for the factor 2, twice for half of epsilon, base 2 for the levels.
    right = 4 / math.log(2) * b
    assert 2 * noise(right * (math.log(right) + 7), budget=0.5 * math.log(2)) <= 0.15


def test_theorem_3_3_counts_too_few_plays():
    """Zeros make each counter t items long: its noise goes with lg t, not lg n. Counts at epsilon = 1, half each."""
    some = HybridCounter(epsilon=1.0)
    assert sum(b**2 for b in draws(some, 2**17 - 1)) > 50 * sum(b**2 for b in draws(some, 2**4 - 1))
    share = 1 - math.sqrt(3.5) / 2
    for log in (11.5, 20, 100):
        c = 56 * (2 + math.sqrt(3.5)) * math.sqrt(log)
        printed = (c * (math.log(c) + 7)) ** 2
        needed = (4 * (math.log(4) + 3.5 * log) * (log / math.log(2) + 1) / (share * math.sqrt(log))) ** 2
        assert needed > 1.7 * printed
        if log == 100:
            assert needed > 90 * printed


def test_theorem_3_5_asks_for_a_count_below_one():
    """h_n <= lambda_4 c is 3.5 ln t n^(v/2-1) <= lambda_4 sqrt(2 ln t / n): an upper bound on n, not a lower one."""
    log, v, share = math.log(1e5), 1.1, 1 - math.sqrt(3.5) / 2
    most = (share * math.sqrt(2 * log) / (3.5 * log)) ** (2 / (v - 1))
    assert most < 1e-40

    def holds(n):
        return 3.5 * log * n ** (v / 2 - 1) <= share * math.sqrt(2 * log / n)

    assert holds(most * 0.99) and not any(holds(n) for n in (most * 1.01, 1, 100, 1e5, 1e50))


def test_theorem_3_4_sums_over_the_wrong_index():
    """At v = 1.1, every mean released: the composition theorem has n^(v/2) under the sum, the statement t^(v/2)."""
    n = np.arange(1, 10_001.0)
    each = n**-0.55
    composed = (each * np.expm1(each)).sum()
    printed = (np.expm1(each) / n[-1] ** 0.55).sum()
    assert composed > 7 > 3 > printed
    assert composed <= 2 * (each**2).sum()  # corollary 3.1, which goes on from the right one


def test_the_first_gains_are_in_the_first_mean():
    """Algorithm 3 adds gains in its second branch only, which would leave the first means at 0."""
    env = gym.make("DPBandit-Stochastic-v0", means=[1.0, 1.0], horizon=50)
    env = make_algorithm("DP-UCB-INT", epsilon=math.inf).wrap(env)
    env.reset(seed=0)
    released = [env.step(0)[0] for _ in range(10)]
    assert max(one["count"][0] for one in released) > 0
    assert all(one["sum"][0] == one["count"][0] for one in released)


def answers(bit, rounds, epsilon):
    """Return the law of `rounds` randomised answers about one bit, drawn anew in each round."""
    right = 1 / (1 + math.exp(-epsilon))
    return {
        told: math.prod(right if one == bit else 1 - right for one in told) for told in product((0, 1), repeat=rounds)
    }


def test_a_loss_of_epsilon_a_round_adds_up():
    """Definition 2.1 of 2016 bounds each round given the arms before; the sequence loses as many epsilons as rounds."""
    one, other = answers(0, 8, 0.5), answers(1, 8, 0.5)
    single, single_other = answers(0, 1, 0.5), answers(1, 1, 0.5)
    assert max(math.log(single[told] / single_other[told]) for told in single) == pytest.approx(0.5)
    assert max(math.log(one[told] / other[told]) for told in one) == pytest.approx(8 * 0.5)
