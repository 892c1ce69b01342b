"""Arithmetic behind guarantees: never rounded towards less noise, and the numbers of a PrivacyGuarantee by hand."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs.privacy import PrivacyGuarantee, noise_scale
from dp_bandit_envs.privacy.laplace import default_bound
from dp_bandit_envs.privacy.mechanisms.laplace_gains import State, release
from dp_bandit_envs.privacy.rounding import divide_up
from tests.tools.refusals import refused


def check(numerator: float, denominator: float) -> None:
    """Assert that the result is the smallest double that is at least the exact quotient."""
    quotient = divide_up(numerator, denominator)
    exact = Fraction(numerator) / Fraction(denominator)
    assert Fraction(quotient) >= exact
    assert numerator == 0 or Fraction(math.nextafter(quotient, 0.0)) < exact


@pytest.mark.parametrize("numerator", [1.0, 0.5, 0.1, 1 / 3, 3.0, 50.0, math.nextafter(1.0, 2.0), 5e-324, 2.0**-1022])
def test_quotients_are_rounded_up(numerator):
    """All batch sizes up to 600, the usual epsilons, and neighbours of powers of two."""
    powers = [2.0**k for k in range(-40, 41)]
    epsilons = [*map(float, range(1, 601)), 0.1, 0.01, 0.3, 0.7, 1e-5, 243.29, math.pi, *powers]
    for denominator in itertools.chain(
        epsilons, (math.nextafter(p, math.inf) for p in powers), (math.nextafter(p, 0.0) for p in powers)
    ):
        check(numerator, denominator)


def test_quotients_of_random_doubles_of_every_size_are_rounded_up():
    rng = np.random.default_rng(0)
    exponents = rng.integers(-1074, 1023, (3000, 2))
    mantissas = rng.random((3000, 2)) + 1
    checked = 0
    for (a, b), (m, n) in zip(exponents.tolist(), mantissas.tolist(), strict=True):
        numerator, denominator = math.ldexp(m, a), math.ldexp(n, b)
        if math.isfinite(numerator / denominator) and numerator / denominator < 1e308:
            check(numerator, denominator)
            checked += 1
    assert checked > 2000


def test_exact_quotients_are_left_alone():
    assert divide_up(1.0, 0.5) == 2.0
    assert divide_up(1.0, 4.0) == 0.25
    assert divide_up(0.0, 3.0) == 0.0
    assert divide_up(1.0, math.inf) == 0.0
    assert divide_up(1.0, 3.0) == math.nextafter(1 / 3, 1.0)  # 1 / 3 in floats is too small


def test_too_large_a_quotient_is_refused():
    with refused(ValueError, 1.0, 5e-324, "epsilon"):
        divide_up(1.0, 5e-324)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 1 / 3, 2.7, 243.29])
def test_noise_on_an_average_is_never_less_than_sensitivity_over_epsilon(epsilon):
    """Two divisions, each rounded up, as the wrappers do them: 1 / tau, then / epsilon."""
    for tau in range(1, 800):
        scale = noise_scale(divide_up(1.0, tau), epsilon)
        exact = 1 / (tau * Fraction(epsilon))
        assert exact * (1 + Fraction(1, 10**9)) <= Fraction(scale) * (1 + Fraction(2) ** -52)
        assert exact < Fraction(scale) <= exact * (1 + Fraction(2, 10**9))


def test_infinite_epsilon_is_no_noise():
    assert noise_scale(1.0, math.inf) == 0.0
    assert default_bound(0.0, 100) == 0.0
    assert release(State(0.0, 0.0, 0.0, True, 0.0, 1.0), 0, 0.3, np.random.default_rng(0)) == (0.3, 1)


def test_default_bound_is_scale_times_ln_of_releases():
    assert default_bound(2.0, 100) == pytest.approx(2 * math.log(100), rel=1e-15)
    assert default_bound(2.0, 1) == 0.0
    assert default_bound(2.0, 0) == 0.0


# ---- the guarantee object


def test_epsilon_at_a_delta_by_hand():
    """Rho = 0.5 at alpha = 5, where delta = e^-8 / 5: 4.5 + ln(4 / 5)."""
    delta = math.exp(-8) / 5
    assert PrivacyGuarantee(epsilon=10.0, rho=0.5).epsilon_at(delta) == pytest.approx(4.5 + math.log(0.8), rel=1e-13)
    assert PrivacyGuarantee(epsilon=3.0, rho=0.5).epsilon_at(delta) == 3.0  # the pure one is smaller
    assert PrivacyGuarantee(epsilon=3.0).epsilon_at(1e-9) == 3.0


def test_epsilon_at_a_delta_smaller_than_its_own_is_not_claimed():
    guarantee = PrivacyGuarantee(epsilon=1.0, delta=1e-6)
    assert guarantee.epsilon_at(1e-6) == 1.0
    assert guarantee.epsilon_at(1e-5) == 1.0
    assert guarantee.epsilon_at(1e-7) == math.inf


def test_epsilon_at_grows_as_delta_shrinks_and_holds_for_the_gaussian_mechanism():
    """rho-zCDP is exact for N(0, 1 / (2 rho)); its true delta at that epsilon must not exceed the one asked for."""
    from scipy.stats import norm

    guarantee = PrivacyGuarantee(epsilon=math.inf, rho=0.2)
    last = 0.0
    for delta in (1e-2, 1e-4, 1e-8, 1e-12):
        epsilon = guarantee.epsilon_at(delta)
        assert epsilon > last
        last = epsilon
        mu = math.sqrt(2 * 0.2)  # distance in standard deviations
        true = norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)
        assert true <= delta


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan, 2.0])
def test_delta_must_lie_between_zero_and_one(delta):
    with refused(ValueError, "delta", "(0, 1)", delta):
        PrivacyGuarantee(epsilon=1.0).epsilon_at(delta)


def test_text_of_a_guarantee_says_what_and_for_whom():
    text = str(PrivacyGuarantee(epsilon=2.0, delta=1e-6, rho=0.25, theorem="because"))
    assert text == (
        "epsilon = 2, delta = 1e-06, zCDP rho = 0.25"
        " (central; covers arms; replace the gains of all arms in one round; any agent): because"
    )
    assert str(PrivacyGuarantee.none("no noise")) == "none: no noise"


def test_a_guarantee_cannot_be_edited():
    with pytest.raises(AttributeError):
        PrivacyGuarantee(epsilon=1.0).epsilon = 0.1
