"""The accounting of Hedge's and Thompson sampling's own draws against exact laws, and the constants of the pages."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import beta

from dp_bandit_envs import Ledger
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import ORDERS, RADIUS, RATIO, SECOND_ROUNDING, SMOOTHING, zcdp_within
from dp_bandit_envs.privacy.composition_filters import SHARE
from dp_bandit_envs.privacy.exp3_privacy import draw_loss
from dp_bandit_envs.privacy.hedge_privacy import LazySettings, hedge_guarantee, lazy_hedge_guarantee, lazy_settings
from dp_bandit_envs.privacy.laplace import MARGIN
from tests.tools.exact_laws import hedge_law, hedge_marginals, lazy_law, marginals, renyi
from tests.tools.pages import blocks

RENYI_ORDERS = (1, 1.5, 2, 4, 8, 32, 128)


def neighbours(rounds, n_arms, number):
    """Yield pairs of tables that differ in one round: of equal gains, of coins, or of any gains."""
    rng = np.random.default_rng([rounds, n_arms])
    shape = rounds, n_arms
    for trial in range(number):
        one = [np.zeros(shape), np.ones(shape), rng.integers(0, 2, shape).astype(float), rng.random(shape)][trial % 4]
        other = one.copy()
        changed = 0 if trial % 3 else rng.integers(rounds - 1)
        one[changed] = rng.integers(0, 2, n_arms)
        other[changed] = 1 - one[changed] if trial % 5 else rng.random(n_arms)
        yield one, other


def largest_rho(pairs, law):
    """Return the largest Renyi divergence divided by its order, both ways."""
    found = 0.0
    for one, other in pairs:
        laws = law(one), law(other)
        for first, second in (laws, laws[::-1]):
            found = max(found, *(renyi(first, second, order) / order for order in RENYI_ORDERS))
    return found


@pytest.mark.parametrize(("rate", "reached"), [(0.1, 0.999), (0.5, 0.98), (1.0, 0.93), (2.0, 0.8)])
def test_hedge_never_exceeds_its_rho_and_nearly_reaches_it(rate, reached):
    rho = hedge_guarantee(draws=6, learning_rate=rate).rho
    found = largest_rho(neighbours(6, 2, 80), lambda table: hedge_law(table, rate))
    assert reached * rho < found <= rho


def test_a_draw_does_not_forget_a_changed_round():
    """With all other gains equal the KL divergence of five later draws is 5 a tanh(a / 2): no contraction."""
    one = np.tile([0.5, 0.5], (6, 1))
    other = one.copy()
    one[0], other[0] = (1, 0), (0, 1)
    # Scores (a, 0) and (0, a): the arm ahead has s = 1 / (1 + e^-a), and the divergence is (2 s - 1) a.
    for rate in (0.1, 1.0):
        base, far = hedge_law(one, rate), hedge_law(other, rate)
        expected = 5 * rate * math.tanh(rate / 2)
        assert renyi(base, far, 1) == pytest.approx(expected, rel=1e-9)
        assert expected < hedge_guarantee(draws=6, learning_rate=rate).rho
    # So that the test above means something.
    table = np.tile([1.0, 0.0], (6, 1))
    apart = marginals(lazy_law(table, 0.5, 0.2, 1), 2) - hedge_marginals(table, 0.5)
    assert np.abs(apart).max() > 0.05


@pytest.mark.parametrize("rate", [0.1, 0.7])
def test_the_divergence_from_equal_scores_is_ln_cosh(rate):
    """Where (1, 0) made up for (0, 1) before, and (0, 1) comes instead: scores 0, 0 against -a, a."""
    one = np.array([[0, 1], [1, 0], [0.0, 0], [0, 0]])
    other = np.array([[0, 1], [0, 1], [0.0, 0], [0, 0]])
    assert renyi(hedge_law(one, rate), hedge_law(other, rate), 1) == pytest.approx(2 * math.log(math.cosh(rate)))


LAZY = [
    (7, 2, 1.0, 0.1, 6),
    (7, 2, 0.5, 0.05, 2),
    (7, 2, 0.05, 0.02, 6),
    (4, 5, 0.05, 0.02, 3),
    (3, 6, 0.5, 0.01, 2),
    (2, 40, 0.1, 0.001, 1),
    (2, 3, 1.0, 0.9, 1),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("rounds", "n_arms", "rate", "fresh", "most"), LAZY)
def test_lazy_hedge_never_exceeds_its_rho(rounds, n_arms, rate, fresh, most):
    """And comes within a factor of 4 of it, so that a smaller one would be noticed."""
    rho = LazySettings(rate, fresh, most).rho
    found = largest_rho(neighbours(rounds, n_arms, 40), lambda table: lazy_law(table, rate, fresh, most))
    assert rho / 4 < found <= rho


def test_lazy_hedge_comes_close_to_its_rho_where_it_draws_in_most_rounds():
    rho = LazySettings(1.0, 0.9, 1).rho
    found = largest_rho(neighbours(2, 3, 60), lambda table: lazy_law(table, 1.0, 0.9, 1))
    assert 0.7 * rho < found <= rho


@pytest.mark.parametrize(("rate", "fresh"), [(0.5, 0.2), (0.004, 0.018), (2.0, 0.9), (1.0, 1.0)])
def test_the_range_of_keeping_is_that_of_the_largest_change(rate, fresh):
    """The two log ratios, kept and drawn, for all pairs of gains; the largest range is from 0 to 1."""

    def logs(gain):
        keep = (1 - fresh) * math.exp(-rate * (1 - gain))
        return (math.log(keep) if keep else 0.0), math.log(1 - keep)

    grid = np.linspace(0, 1, 21)
    ranges = []
    for one, other in itertools.product(grid, grid):
        (kept, drawn), (kept_too, drawn_too) = logs(one), logs(other)
        ranges.append(abs((kept - kept_too) - (drawn - drawn_too)))
    assert max(ranges) == pytest.approx(LazySettings(rate, fresh, 5).kept_range, rel=1e-9)


@pytest.mark.parametrize(("rate", "fresh"), [(0.5, 0.2), (0.1, 0.01), (1.0, 0.0), (0.3, 1.0)])
def test_every_round_of_lazy_hedge_has_the_law_of_hedge(rate, fresh):
    rng = np.random.default_rng(4)
    for table in (rng.random((6, 3)), rng.integers(0, 2, (6, 3)).astype(float)):
        law = lazy_law(table, rate, fresh, 6)
        assert sum(law.values()) == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(marginals(law, 3), hedge_marginals(table, rate), rtol=0, atol=1e-12)


def test_guarantees_by_hand():
    """Two draws after the first: rho = 2 * .5^2 / 2, and 2 * 2 * .5 for pure privacy."""
    hedge = hedge_guarantee(draws=3, learning_rate=0.5)
    assert (hedge.rho, hedge.epsilon) == (0.25, 2.0)
    # a + ln(1 + .5 (1 - 1/2) / .5) = ln 2 + ln 1.5 = ln 3.
    lazy = LazySettings(math.log(2), 0.5, 4)
    assert lazy.kept_range == pytest.approx(math.log(3))
    assert lazy.redraw_probability == pytest.approx(0.75)
    stated = lazy_hedge_guarantee(lazy)
    assert stated.rho == pytest.approx(math.log(3) ** 2 / 8 + 4 * math.log(2) ** 2 / 2)
    # Kept with probability 1/4 or 1/2: log ratios ln 2 and ln 1.5.
    assert stated.epsilon == pytest.approx(math.log(2) + 8 * math.log(2))
    assert hedge_guarantee(draws=1, learning_rate=0.5).epsilon == 0.0


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.01, 1e-10), (50.0, 0.1)])
def test_a_budget_is_spent_and_never_exceeded(epsilon, delta):
    rho = zcdp_within(epsilon, delta)
    one_draw = hedge_guarantee(draws=2, learning_rate=math.sqrt(2 * rho))
    assert epsilon * (1 - 1e-6) < PrivacyGuarantee(math.inf, rho=one_draw.rho).epsilon_at(delta) <= epsilon
    assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) > epsilon  # the conversion of Bun and Steinke (2016)
    assert zcdp_within(math.inf, delta) == math.inf
    # Without an epsilon the total variation counts, at most sqrt(rho / 2) by Pinsker: rho = 2 delta^2 would be enough.
    assert delta**2 < zcdp_within(1e-320, delta) <= zcdp_within(1e-150, delta) < 2 * delta**2


@pytest.mark.thorough
def test_lazy_settings_spend_the_budget_or_need_no_more():
    for rho in [1e-4, 0.0175, 0.5]:
        for horizon in [2, 3, 50, 2**12, 2**18]:
            best = math.sqrt(8 * math.log(10) / horizon)
            settings = lazy_settings(horizon, rho, best)
            assert settings.rho <= rho
            assert settings.learning_rate == best or settings.rho > (1 - 1e-9) * rho
            # M + 4 sqrt(M) draws, M being the largest expected number, or all.
            expected = (horizon - 1) * settings.redraw_probability
            allowed = (expected + 4 * math.sqrt(expected)) * (1 - 1e-9)
            assert horizon - 1 >= settings.most_draws >= min(horizon - 1, allowed)
            of_hedge = min(best, math.sqrt(2 * rho / (horizon - 1)))
            assert settings.learning_rate >= of_hedge * (1 - 1e-9)
    # Without privacy they are those of Hedge, and a game of one round needs no draw.
    assert lazy_settings(1000, math.inf, 0.25) == LazySettings(0.25, 1.0, 999)
    assert LazySettings(0.25, 1.0, 999).rho == hedge_guarantee(draws=1000, learning_rate=0.25).rho
    assert lazy_settings(1, 0.01, 2.0).most_draws == 0


# ---- Thompson sampling


ONE_DRAW = {2: 1.5642, 3: 1.8114}
"""c_K."""


def chances(counts, means):
    """Return the chance of each arm to have the largest normal draw."""
    if len(counts) == 2:
        z = (means[0] - means[1]) / math.sqrt((1 / (counts + 1)).sum())
        return np.array([ndtr(z), ndtr(-z)])
    z = np.linspace(-9, 9, 1201)
    weight = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    deviations = 1 / np.sqrt(counts + 1)
    found = []
    for i in range(len(counts)):
        draw = means[i] + deviations[i] * z
        others = [ndtr((draw - means[j]) / deviations[j]) for j in range(len(counts)) if j != i]
        found.append((weight * np.prod(others, axis=0)).sum())
    return np.array(found)


def exact_laws(table, changed):
    """Return the chances of all sequences of arms in the game of this table, and in that with row `changed` changed."""
    horizon, n_arms = table.shape
    other = table.copy()
    other[changed] = 1 - table[changed]
    laws = []
    for gains in (table, other):
        memory: dict[tuple[int, ...], np.ndarray] = {}
        law = []
        for arms in itertools.product(range(n_arms), repeat=horizon):
            chance = 1.0
            for t, arm in enumerate(arms):
                if arms[:t] not in memory:
                    counts, sums = np.zeros(n_arms), np.zeros(n_arms)
                    for each, played in enumerate(arms[:t]):
                        counts[played] += 1
                        sums[played] += gains[each, played]
                    memory[arms[:t]] = chances(counts, sums / (counts + 1))
                chance *= memory[arms[:t]][arm]
            law.append(chance)
        laws.append(np.array(law))
    return laws


def whole_game(n_arms, horizon, s):
    """Return theorem 2's bound on the divergence of order 1 + s."""
    b = ONE_DRAW[n_arms]
    first = s * (s + 1) / 2 * math.exp(1.5 * b) * 2 * (math.expm1(s * b) - s * b) / (s * b) ** 2
    kappa = math.exp(s * b) * first * (2 * math.log(horizon) + 2 / math.pi)
    assert kappa < 2
    return (first / math.e - np.log1p(-kappa / np.arange(2, horizon + 1)).sum()) / s


@pytest.mark.parametrize(("n_arms", "horizon", "games"), [(2, 2, 4), (2, 8, 12), (3, 5, 4)])
def test_exact_laws_of_short_games_keep_both_theorems(n_arms, horizon, games):
    rng = np.random.default_rng(5)
    largest = 0.0
    for game in range(games):
        table = rng.integers(2, size=(horizon, n_arms)).astype(float)
        if game == 0:
            # the worst history: an arm once, then a rival that pays nothing
            table[:] = 0
        one, other = exact_laws(table, game % 2 if horizon > 2 else 0)
        assert one.sum() == pytest.approx(1, abs=1e-9)
        ratios = np.abs(np.log(one / other))
        largest = max(largest, ratios.max() / (horizon - 1))
        for p, q in ((one, other), (other, one)):
            for s in (1e-3, 1e-2):
                divergence = math.log((p ** (1 + s) * q**-s).sum()) / s
                assert 0 <= divergence <= whole_game(n_arms, horizon, s)
    # Phi(0) / Phi(-1 / (2 sqrt(3/2))) = .5 / .342 after one gain; more later
    assert 0.35 < largest <= ONE_DRAW[n_arms]


def test_what_the_page_says_delta_is_at_least_is_a_little_below_the_exact_one():
    """All sequences of 10 rounds that begin with arm 0: sum of (P - e^epsilon Q)+. With cells of .5 it is no larger."""
    code = next(block for block in blocks("docs/notes/thompson-privacy.md", "python") if "def least_delta" in block)
    page: dict[str, Any] = {"math": math, "np": np, "log_ndtr": log_ndtr}
    exec(code.partition("\n\n\nfor ")[0], page)
    low = np.column_stack([np.full(10, 0.5), np.ones(10)])
    low[0, 0] = 0
    one, other = exact_laws(low, 0)
    # The whole row is changed there; what begins with arm 0 does not see arm 1's gain of it.
    first = len(one) // 2
    for epsilon in (0.1, 1.0, 1.5):
        exact = np.maximum(one[:first] - math.exp(epsilon) * other[:first], 0).sum()
        assert 0.9 * exact < page["least_delta"](10, epsilon, step=0.002) <= exact
        assert page["least_delta"](10, epsilon, most=3, step=0.5) <= exact * (1 + 1e-12)


def test_the_loss_of_a_history_is_linear():
    """Arm 0 once, then arm 1 for ever, which pays 0: ln(Phi(0) / Phi(-sqrt(1/2))) = .735 a round in the end."""
    rounds = np.arange(20_000)
    root = np.sqrt(0.5 + 1 / (rounds + 1))
    loss = np.log(0.5 / ndtr(-0.5 / root))
    assert loss[-1] == pytest.approx(0.735, abs=1e-3)
    assert 0.73 * len(rounds) < loss.sum() < ONE_DRAW[2] * len(rounds)
    # After one gain of arm 0, 0 or 1, its draw is N(0 or 1/2, 1/2), the rival's N(0, 1): .5 and .658.
    one, other = exact_laws(np.zeros((2, 2)), 0)
    high = 0.5 * math.erfc(-0.5 / math.sqrt(1.5) / math.sqrt(2))
    assert one == pytest.approx([0.25, 0.25, 0.25, 0.25])
    assert high == pytest.approx(0.6585, abs=1e-4)
    assert other == pytest.approx([high / 2, (1 - high) / 2, (1 - high) / 2, high / 2])


def test_fishers_information_is_nearly_the_bound_at_two_even_arms():
    """K = 2: J = sigma^2 (sigma^2 / tau^2) I(p)^2 / (p (1 - p)) is 2 / pi sigma^2 at p = 1/2 and a known rival."""
    assert 1 / (2 * math.pi) / 0.25 == pytest.approx(2 / math.pi)
    kept = np.linspace(1e-6, 1 - 1e-6, 201)
    z = ndtri(kept)
    square = np.exp(-(z**2)) / (2 * math.pi)
    assert (square <= 2 / math.pi * kept * (1 - kept) * (1 + 1e-9)).all()
    # with a constant 2 % smaller it fails
    assert (square > 0.98 * 2 / math.pi * kept * (1 - kept)).any()


@pytest.mark.thorough
def test_one_beta_draw_loses_at_most_one_plus_the_rivals_successes_over_its_own():
    """Theorem 3's lemma for gains of any size: p' / p <= 1 + gamma / alpha, with fractions."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        alpha, rest = 1 + rng.exponential(3, 2) * rng.integers(2, size=2)
        gamma, delta = 1 + rng.exponential(5, 2) * rng.integers(2, size=2)

        def wins(first, second, rival=(gamma, delta)):
            return quad(lambda x: beta.pdf(x, first, second) * beta.cdf(x, *rival), 0, 1, limit=200)[0]

        low, high = wins(alpha, rest + 1), wins(alpha + 1, rest)
        assert low < high <= low * (1 + gamma / alpha) * (1 + 1e-7)
        assert (1 - low) <= (1 - high) * (1 + delta / rest) * (1 + 1e-7)


def test_a_beta_draw_in_round_t_can_lose_the_logarithm_of_t():
    """Beta(1, 2) and Beta(2, 1) against Beta(n + 1, 1): 2 / ((n + 2) (n + 3)) and 2 / (n + 3), in round n + 2."""
    for n in (0, 1, 5, 50):
        low, high = (
            quad(lambda x, a=a, b=b, n=n: beta.pdf(x, a, b) * x ** (n + 1), 0, 1)[0] for a, b in ((1, 2), (2, 1))
        )
        assert low == pytest.approx(2 / ((n + 2) * (n + 3)))
        assert high / low == pytest.approx(n + 2)


# ---- the pages


DOCS = Path(__file__).parents[2] / "docs"


def page(name):
    if not DOCS.exists():
        pytest.skip("the pages are not beside this copy of the tests")
    return " ".join((DOCS / name).read_text(encoding="utf-8").split())


def test_accounting():
    text = page("notes/accounting.md")
    assert f"{len(ORDERS)} fixed orders, $\\alpha - 1$ geometric from .01 to 4,095" in text
    assert ORDERS[0] - 1 == pytest.approx(0.01) and ORDERS[-1] - 1 == pytest.approx(4095)
    assert f"c = \\sigma / {1 / SMOOTHING:.0f}$" in text and f"one in {1 / (RATIO - 1):,.0f}" in text
    assert f"1 + {MARGIN - 1:.0e}".replace("e-09", "e-9") in text
    assert f"adds {SECOND_ROUNDING:.0e} a level" in text and f"error of {RADIUS:.0e}" in text
    assert f"$d = \\delta / {SHARE}$" in text
    budget = Ledger(epsilon=1.0, delta=1e-6).budget
    assert (budget.for_sums, budget.for_draws) == (1e-8, 1e-8) and budget.for_curve == pytest.approx(0.98e-6)
    # Own draws.
    text, s = page("notes/exp3-privacy.md"), 1e-4
    small = draw_loss(4, 1e-6, s)
    assert f"b is {small.log_ratio / s:.3f} s".replace(" 0.", " .") in text
    assert "about $.168 \\alpha s^2 \\gamma / K$" in text
    assert small.renyi(1 + 1e-9) / (s**2 * 1e-6 / 4) == pytest.approx(0.168, abs=1e-3)
