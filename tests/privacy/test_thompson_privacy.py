"""The claims of docs/notes/thompson-privacy.md against exact laws of short games, and sharpness of its constants."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import beta

from tests.tools.pages import blocks

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


def test_the_second_draw_by_hand():
    """After one gain of arm 0, 0 or 1, its draw is N(0 or 1/2, 1/2), the rival's N(0, 1): .5 and .658."""
    one, other = exact_laws(np.zeros((2, 2)), 0)
    high = 0.5 * math.erfc(-0.5 / math.sqrt(1.5) / math.sqrt(2))
    assert one == pytest.approx([0.25, 0.25, 0.25, 0.25])
    assert high == pytest.approx(0.6585, abs=1e-4)
    assert other == pytest.approx([high / 2, (1 - high) / 2, (1 - high) / 2, high / 2])


def test_what_the_page_says_delta_is_at_least_is_a_little_below_the_exact_one():
    """All sequences of 10 rounds that begin with arm 0: sum of (P - e^epsilon Q)+. With cells of .5 it is smaller."""
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
        assert page["least_delta"](10, epsilon, most=3, step=0.5) < exact


def test_the_loss_of_a_history_is_linear():
    """Arm 0 once, then arm 1 for ever, which pays 0: ln(Phi(0) / Phi(-sqrt(1/2))) = .735 a round in the end."""
    rounds = np.arange(20_000)
    root = np.sqrt(0.5 + 1 / (rounds + 1))
    loss = np.log(0.5 / ndtr(-0.5 / root))
    assert loss[-1] == pytest.approx(0.735, abs=1e-3)
    assert 0.73 * len(rounds) < loss.sum() < ONE_DRAW[2] * len(rounds)


def test_fishers_information_is_nearly_the_bound_at_two_even_arms():
    """K = 2: J = sigma^2 (sigma^2 / tau^2) I(p)^2 / (p (1 - p)) is 2 / pi sigma^2 at p = 1/2 and a known rival."""
    assert 1 / (2 * math.pi) / 0.25 == pytest.approx(2 / math.pi)
    kept = np.linspace(1e-6, 1 - 1e-6, 201)
    z = ndtri(kept)
    square = np.exp(-(z**2)) / (2 * math.pi)
    assert (square <= 2 / math.pi * kept * (1 - kept) * (1 + 1e-9)).all()
    # with a constant 2 % smaller it fails
    assert (square > 0.98 * 2 / math.pi * kept * (1 - kept)).any()


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
