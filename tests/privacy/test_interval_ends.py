"""Ends of intervals by lemma B.1 (x and y), the input parameter, the zeta function, and lengths of blocks."""

import math

import numpy as np
import pytest
from scipy.special import zeta as scipy_zeta

from dp_bandit_envs.privacy import InputFacts
from dp_bandit_envs.privacy.interval_ends import interval_ends, paper_input, zeta
from dp_bandit_envs.privacy.mechanisms import BlockSums, IntervalSums
from dp_bandit_envs.privacy.mechanisms.block_sums import geometric_blocks

DELTA = math.exp(-10)


def of_intervals(epsilon, delta=DELTA, intervals="lemma"):
    return IntervalSums(epsilon=epsilon, v=1.1, delta=delta, intervals=intervals)


def one_arm(horizon):
    """Return what is known below where a round reveals one gain."""
    return InputFacts(n_values=1, horizon=horizon)


def brute_force(share: float, v: float, horizon: int) -> list[int]:
    """Return the ends straight from the lemma: the first y with sum over (W, y] of i^-v >= y^-v / share, and so on."""
    ends, last = [], 0
    for y in range(1, horizon + 1):
        if math.fsum(i**-v for i in range(last + 1, y + 1)) >= y**-v / share:
            ends.append(y)
            last = y
    return ends


def test_ends_by_hand():
    """Input 0.4, v = 1.5; needed is 2.5 y^-1.5, and i^-1.5 is 1, 0.3536, 0.1925, 0.125, 0.0894, 0.0680, 0.0540.

    y = 1: 1 < 2.5. y = 2: 1.3536 >= 0.8839, so W_1 = 2. y = 3: 0.1925 < 0.4811; y = 4: 0.3175 >= 0.3125, W_2 = 4.
    y = 5: 0.0894 < 0.2236; y = 6: 0.1574 < 0.1701; y = 7: 0.2114 >= 0.1350, W_3 = 7.
    """
    assert interval_ends(0.4, 1.5, 7, "lemma").tolist() == [2, 4, 7]
    assert interval_ends(0.4, 1.5, 6, "lemma").tolist() == [2, 4]
    assert interval_ends(0.4, 1.5, 1, "lemma").tolist() == []


def test_ends_are_those_of_the_lemma():
    for share in [0.9, 0.55, 0.4, 0.21, 0.1, 0.043]:
        for v in [1.01, 1.1, 1.3, 1.5]:
            found = interval_ends(share, v, 250, "lemma").tolist()
            assert found == brute_force(share, v, 250)
            assert len(found) > 5


@pytest.mark.parametrize("v", [1.1, 1.5])
@pytest.mark.parametrize("share", [0.9, 0.4, 0.1, 0.01])
def test_releases_spend_no_more_than_their_share_of_the_sum(share, v):
    """What the lemma is for: sum over releases of W_j^-v <= share sum over i <= W_last of i^-v <= share zeta(v)."""
    ends = interval_ends(share, v, 20_000, "lemma").astype(float)
    spent = math.fsum(ends**-v)
    assert spent <= share * math.fsum(np.arange(1, ends[-1] + 1) ** -v) * (1 + 1e-12)
    # and one gain less in the first interval would not be paid for
    first = int(ends[0])
    if first > 1:
        assert math.fsum(i**-v for i in range(1, first)) < (first - 1) ** -v / share


@pytest.mark.parametrize("share", [0.4, 0.1, 0.021])
def test_intervals_do_not_shrink_and_stay_at_most_those_of_the_uniform_choice(share):
    """Erratum 10: lengths are nondecreasing up to ceil(1 / input), and the thesis says decreasing."""
    lengths = np.diff(interval_ends(share, 1.1, 50_000, "lemma"), prepend=0)
    assert (np.diff(lengths) >= 0).all()
    assert lengths[0] < lengths[-1] == math.ceil(1 / share)


@pytest.mark.parametrize(("share", "step"), [(0.3, 4), (0.5, 2), (1.0, 1), (0.07, 15)])
def test_uniform_ends_by_hand(share, step):
    """Every ceil(1 / input) gains, the last one at the horizon if it fits."""
    assert interval_ends(share, 1.1, 3 * step, "uniform").tolist() == [step, 2 * step, 3 * step]
    assert interval_ends(share, 1.1, 3 * step - 1, "uniform").tolist() == [step, 2 * step][: 3 if step > 1 else 2]


def test_numbers_of_the_specification():
    """Erratum 7: f = 21,591 and 253; with lemma B.1 (y) f0 = 1751, then 9063 more; and 46. delta = e^-10, v = 1.1."""
    tenth, one = paper_input(0.1, DELTA, 1.1), paper_input(1.0, DELTA, 1.1)
    assert math.ceil(1 / tenth) == 21_591
    assert math.ceil(1 / one) == 253
    assert interval_ends(tenth, 1.1, 11_000, "lemma").tolist() == [1751, 1751 + 9063]
    assert interval_ends(one, 1.1, 100, "lemma").tolist() == [46]
    assert of_intervals(0.1).ends(11_000).tolist() == [1751, 10_814]
    assert of_intervals(1.0).ends(100).tolist() == [46]
    assert of_intervals(1.0, intervals="uniform").ends(600).tolist() == [253, 506]


def test_what_the_papers_setting_spends():
    """Erratum 9: at T = 1e5 and a target of 0.1, S = sum of W_j^-1.1 spends 2 S + sqrt(2 S L) = 0.084.

    Uniform: four releases, S = 21591^-1.1 (1 + 2^-1.1 + 3^-1.1 + 4^-1.1) = 1.7073e-5 * 1.9828 = 3.385e-5, so 0.0261.
    Declared is less: the exact composition, which lies below what rho = S / 2 gives and below the sum of W_j^-0.55.
    """
    for intervals, stated in (("lemma", 0.084), ("uniform", 0.0261)):
        mechanism = of_intervals(0.1, intervals=intervals)
        ends, guarantee = mechanism.ends(100_000), mechanism.guarantee(one_arm(100_000))
        spent = math.fsum(float(end) ** -1.1 for end in ends)
        assert 2 * spent + math.sqrt(20 * spent) == pytest.approx(stated, abs=5e-4)
        assert guarantee.rho == pytest.approx(spent / 2, rel=1e-10)
        pure = math.fsum(float(end) ** -0.55 for end in ends)
        assert guarantee.pure == pytest.approx(pure, rel=1e-10)
        assert 0.8 * pure < guarantee.epsilon < min(spent / 2 + math.sqrt(20 * spent), pure, stated)


def test_the_input_inverts_corollary_3_2():
    """2 zeta x + sqrt(2 zeta x ln(1 / delta)) = target, unless x would exceed 1; zeta is known to 7e-11."""
    for target in [1e-6, 0.1, 1.0, 5.0]:
        for delta in [DELTA, 1e-3, 0.5]:
            for v in [1.05, 1.1, 1.5]:
                found = paper_input(target, delta, v)
                spent = scipy_zeta(v) * found
                log = math.log(1 / delta)
                if found < 1:
                    assert 2 * spent + math.sqrt(2 * spent * log) == pytest.approx(target, rel=1e-10)
                else:
                    assert 2 * spent + math.sqrt(2 * spent * log) <= target
    assert paper_input(1000.0, DELTA, 1.1) == paper_input(math.inf, DELTA, 1.1) == 1.0  # a release for every gain


def test_ends_of_the_pure_form_by_hand():
    """Input 0.4, v = 1: x with sums of i^-.5 from 2.5 x^-.5 on. i^-.5 is 1, .7071, .5774, .5, .4472, .4082, .3780.

    x = 1: 1 < 2.5; x = 2: 1.7071 < 1.7678; x = 3: 2.2845 >= 1.4434, W_1 = 3. x = 4: .5 < 1.25; x = 5: .9472 < 1.118;
    x = 6: 1.3554 >= 1.0206, W_2 = 6. x = 7: .3780 < .9449.
    """
    assert interval_ends(0.4, 1.0, 7, "pure").tolist() == [3, 6]
    assert interval_ends(0.13, 1.4, 250, "pure").tolist() == brute_force(0.13, 0.7, 250)


@pytest.mark.parametrize("target", [0.1, 1.0, 10.0])
def test_the_pure_form_spends_a_pure_target(target):
    """Losses W_j^(-v/2) add up to at most the target, and to nearly all of it in a game of 1e5 rounds."""
    mechanism = of_intervals(target, intervals="pure")
    guarantee, ends = mechanism.guarantee(one_arm(100_000)), mechanism.ends(100_000)
    spent = math.fsum(float(end) ** -0.55 for end in ends)
    assert guarantee.epsilon == guarantee.pure == pytest.approx(spent, rel=1e-10)
    assert 0.9 * target < spent <= target or ends.tolist() == list(range(1, 100_001))
    # All of delta is for draws of finite precision.
    assert guarantee.delta < 1e-10
    assert mechanism.guarantee(one_arm(1000)).epsilon <= target


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "delta", "intervals"),
    [
        (0.1, 0.1, "uniform"),
        (0.5, DELTA, "uniform"),
        (2.0, 0.1, "lemma"),
        *(
            pytest.param(target, delta, kind, marks=pytest.mark.slow)
            for target in (10.0, 100.0)
            for delta in (DELTA, 0.1)
            for kind in ("lemma", "uniform")
        ),
    ],
)
def test_what_is_spent_is_at_most_the_target_at_every_horizon(target, delta, intervals):
    last = 0.0
    for horizon in (1, 10, 100, 1000, 30_000):
        guarantee = of_intervals(target, delta, intervals).guarantee(one_arm(horizon))
        assert guarantee.epsilon <= target
        if guarantee.delta > 0:  # one release states what is pure
            assert last <= guarantee.epsilon
            last = guarantee.epsilon


def test_zeta_is_scipys():
    """Up to the first term of the Euler-Maclaurin series left out, v ... (v + 4) 20^(-v - 5) / 30240 < 7e-11."""
    for v in [*np.linspace(1.001, 1.5, 60).tolist(), 2.0]:
        left_out = v * (v + 1) * (v + 2) * (v + 3) * (v + 4) * 20 ** (-v - 5) / 30240
        assert zeta(v) == pytest.approx(scipy_zeta(v), rel=1e-14, abs=left_out)
        assert left_out < 7e-11
    assert zeta(2.0) == pytest.approx(math.pi**2 / 6, abs=2e-11)


# ---- blocks


@pytest.mark.parametrize(
    ("ratio", "horizon", "totals", "lengths"),
    [
        (2.0, 16, True, (1, 1, 2, 4, 8)),  # totals 1, 2, 4, 8, 16
        (2.0, 17, True, (1, 1, 2, 4, 8, 16)),
        (2.0, 16, False, (1, 2, 4, 8, 16)),  # totals 1, 3, 7, 15, 31
        (1.5, 14, True, (1, 1, 1, 2, 3, 4, 6)),  # totals 1, 2, 3, ceil 4.5 = 5, ceil 7.5 = 8, 12, 18
        (1.5, 8, False, (1, 2, 3, 5)),  # lengths ceil 1.5, 3, 4.5
        (1.0, 100, True, (1,)),
        (2.0, 1, True, (1,)),
        (1.001, 5, True, (1, 1, 1, 1, 1)),  # always at least one gain more
    ],
)
def test_geometric_blocks_by_hand(ratio, horizon, totals, lengths):
    assert geometric_blocks(ratio, horizon, totals=totals) == lengths


def test_the_last_length_is_that_of_all_blocks_that_follow():
    """Nothing is released, which is a count of 0, but in the rounds that fill a block."""
    mechanism = BlockSums(epsilon=math.inf, lengths=(2, 3), keep=True)
    state, rng = mechanism.new_state(one_arm(12)), np.random.default_rng(0)
    released = [mechanism.release(state, 0, 1.0, rng) for _ in range(12)]
    assert [count for _, count in released] == [0, 2, 0, 0, 5, 0, 0, 8, 0, 0, 11, 0]
    assert [value for value, count in released if count] == [2.0, 5.0, 8.0, 11.0]


def test_at_input_one_every_gain_is_an_end():
    """y^-v >= y^-v holds with equality, and rounding must not lose it."""
    assert interval_ends(1.0, 1.1, 2000, "lemma").tolist() == list(range(1, 2001))


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-170, 1e-3), (1e-320, 0.5), (1.0, 1e-320)])
@pytest.mark.parametrize("intervals", ["lemma", "uniform"])
def test_extreme_targets_are_worked_out_too(epsilon, delta, intervals):
    mechanism = of_intervals(epsilon, delta, intervals)
    assert mechanism.guarantee(one_arm(1000)).epsilon <= epsilon
    assert len(mechanism.ends(1000)) == 0
