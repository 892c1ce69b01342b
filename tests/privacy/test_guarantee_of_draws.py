"""How a guarantee shows, converts and composes what its draws add to delta."""

import math

import pytest

from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import added_delta, gaussian_law

PURE = PrivacyGuarantee(1.0, theorem="pure", tau=1e-12)
PAIR = PrivacyGuarantee(1.0, delta=1e-6, theorem="pair", tau=1e-7)
NOISY = PrivacyGuarantee(math.inf, rho=0.02, law=gaussian_law(5.0), theorem="Gaussian", tau=1e-12)


def test_pure_privacy_by_hand():
    """(1 + e) 1e-12 = 3.718e-12."""
    assert PURE.delta == 0.0 and PURE.delta_at(PURE.epsilon) == pytest.approx((1 + math.e) * 1e-12)
    assert PURE.epsilon_at(3.72e-12) == 1.0 and PURE.epsilon_at(3.71e-12) == math.inf
    assert PURE.delta_at(1.0) == PURE.delta_at(PURE.epsilon) == PURE.delta_at(20.0)
    assert PURE.delta_at(0.9) == 1.0
    assert "epsilon = 1, delta = 3.72e-12 from fast draws (" in str(PURE)


def test_a_pair_by_hand():
    """A delta greater than 0 has in it what draws add."""
    assert PAIR.delta_at(PAIR.epsilon) == PAIR.delta == 1e-6 == PAIR.delta_at(1.0)
    assert PAIR.epsilon_at(1e-6) == 1.0 and PAIR.epsilon_at(0.99e-6) == math.inf
    assert "delta = 1e-06" in str(PAIR) and "fast draws" not in str(PAIR)


def test_epsilon_and_delta_of_concentrated_privacy_stay_inverse():
    exact = PrivacyGuarantee(math.inf, rho=0.02, law=gaussian_law(5.0))
    for delta in (1e-3, 1e-6, 1e-9):
        found = NOISY.epsilon_at(delta)
        assert exact.epsilon_at(delta) < found < exact.epsilon_at(delta) * 1.01
        # What is left for exact noise at this epsilon.
        left = delta - added_delta(found, 1e-12)
        assert exact.delta_at(found) <= left * (1 + 1e-9)
        assert NOISY.delta_at(found) <= delta * (1 + 1e-9)
    assert NOISY.epsilon_at(1.9e-12) == math.inf  # less than the two distances
    smallest = min(NOISY.delta_at(each / 16) for each in range(1, 33))
    assert NOISY.delta_at(30.0) <= smallest * (1 + 1e-3) and smallest < 1e-10


def test_games_multiply_the_distance_and_pure_privacy_is_still_concentrated():
    many = PURE.for_games(100)
    assert (many.epsilon, many.delta, many.rho) == (100.0, 0.0, None)
    assert many.tau == pytest.approx(1e-10) and many.delta_at(many.epsilon) > 0.99
    small = PrivacyGuarantee(0.01, tau=1e-12).for_games(10_000)
    # Below 6 at 1e-6, where 1e-8 (1 + e^5) = 1.5e-6 is too much; below 5 at 1e-5.
    assert PrivacyGuarantee(0.01).for_games(10_000).epsilon_at(1e-6) < 6.0 and small.epsilon_at(1e-6) == math.inf
    assert small.epsilon_at(1e-5) < 5.0


def test_groups_multiply_the_distance_once_not_along_the_chain():
    """(1 + e^3) 3e-12, where nothing else is added; a pair's chain is one of what is drawn, (1 + e + e^2) delta."""
    three = PURE.for_group(3)
    assert three.epsilon == 3.0 and three.tau == pytest.approx(3e-12)
    assert three.delta_at(three.epsilon) == pytest.approx((1 + math.e**3) * 3e-12)
    both = PAIR.for_group(3)
    assert both.delta == pytest.approx((1 + math.e + math.e**2) * 1e-6)
    assert both.delta_at(both.epsilon) == both.delta


def test_a_delta_of_one_is_said_in_words():
    lost = PrivacyGuarantee(40.0, tau=1e-12, theorem="pure")
    assert lost.delta_at(lost.epsilon) == 1.0 == lost.delta_at(40.0) and lost.epsilon_at(0.999) == math.inf
    assert lost.numbers() == "epsilon = 40 for exact noise; nothing with fast draws, whose delta reaches 1"


def test_exact_noise_adds_nothing():
    exact = PrivacyGuarantee(1.0, theorem="pure")
    assert exact.delta_at(exact.epsilon) == 0.0 and exact.epsilon_at(1e-300) == 1.0 and exact.delta_at(1.0) == 0.0
    assert exact.numbers() == "epsilon = 1"
