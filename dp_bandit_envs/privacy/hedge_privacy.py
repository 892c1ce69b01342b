"""The privacy of Hedge's own randomness: only the arms drawn are published, and each draw reveals little.

After the changed round the scores differ by at most the learning rate a, so each later draw has a bounded range of 2 a.
Lazy Hedge also reveals one bit per round, whether its arm is kept, and rarely draws. The proofs are in
docs/notes/own-draws.md.
"""

import functools
import math
from typing import NamedTuple

from dp_bandit_envs.draws import square
from dp_bandit_envs.privacy.accounting import ORDERS, ROUNDING
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

HEDGE_ONLY = "Hedge on exact sums, publishing the arms drawn only"
LAZY_ONLY = "LazyHedge with these settings, publishing the arms played only"


def hedge_guarantee(*, draws: int, learning_rate: float) -> PrivacyGuarantee:
    """Return the guarantee for all arms drawn by Hedge on gains without noise.

    Args:
        draws: Number of draws, at least 1.
        learning_rate: a, in 1 / gain.
    """
    later = draws - 1
    return PrivacyGuarantee(
        epsilon=later * 2 * learning_rate,
        rho=later * square(learning_rate) / 2,
        theorem=(
            f"exponential mechanism: {later} draws after the first, each from scores that one round moves by"
            f" {learning_rate:.3g} either way, so of bounded range {2 * learning_rate:.3g} (proof in"
            " docs/notes/own-draws.md)"
        ),
        agents=HEDGE_ONLY,
    )


class LazySettings(NamedTuple):
    """The settings of lazy Hedge.

    Attributes:
        learning_rate: a, in 1 / gain.
        fresh_probability: p, in [0, 1].
        most_draws: Number of draws after the first round.
    """

    learning_rate: float
    fresh_probability: float
    most_draws: int

    @property
    def kept_range(self) -> float:
        """The bounded range of the outcome "kept or not"."""
        a, p = self.learning_rate, self.fresh_probability
        if p == 1:
            return 0.0
        return a + math.log1p((1 - p) * -math.expm1(-a) / p) if p > 0 else math.inf

    @property
    def kept_chances(self) -> tuple[float, float]:
        """The smallest and the largest probability that the arm is kept, after a gain of 0 and of 1."""
        return (1 - self.fresh_probability) * math.exp(-self.learning_rate), 1 - self.fresh_probability

    @property
    def kept_loss(self) -> float:
        """The largest log ratio of either outcome: the pure epsilon of the bit "kept or not"."""
        low, high = self.kept_chances
        if low == high:
            return 0.0
        return max(math.log(high / low), math.log((1 - low) / (1 - high)) if high < 1 else math.inf)

    def kept_divergence(self, order: float) -> float:
        """Return the Renyi divergence of the bit "kept or not", for an order greater than 1, in both directions."""
        low, high = self.kept_chances
        if low == high or high == 1:
            return 0.0 if low == high else math.inf
        pairs = (((low, high), (1 - low, 1 - high)), ((high, low), (1 - high, 1 - low)))
        logs = [[order * math.log(p) - (order - 1) * math.log(q) for p, q in pair] for pair in pairs]
        most = max(max(pair) + math.log1p(math.exp(min(pair) - max(pair))) for pair in logs)
        return max(0.0, most) / (order - 1) * (1 + ROUNDING) + ROUNDING

    @property
    def rho(self) -> float:
        """The zCDP parameter of all arms of a game."""
        return self.kept_range**2 / 8 + self.most_draws * self.learning_rate**2 / 2

    @property
    def redraw_probability(self) -> float:
        """The largest probability of a fresh draw in a round, reached after a gain of 0."""
        return 1 - (1 - self.fresh_probability) * math.exp(-self.learning_rate)


def lazy_hedge_guarantee(settings: LazySettings) -> PrivacyGuarantee:
    """Return the guarantee for all arms played by lazy Hedge on gains without noise."""
    a, p, draws = settings
    return PrivacyGuarantee(
        epsilon=settings.kept_loss + draws * 2 * a,
        rho=settings.rho,
        curve=tuple((order, settings.kept_divergence(order) + draws * a * min(order * a / 2, 2)) for order in ORDERS),
        theorem=(
            f"one round changes once whether the arm is kept (Renyi curve of that bit), and at most"
            f" {draws} fresh draws, each of bounded range {2 * a:.3g} (proof in docs/notes/own-draws.md;"
            f" learning rate {a:.3g}, fresh probability {p:.3g})"
        ),
        agents=LAZY_ONLY,
    )


@functools.lru_cache(maxsize=256)
def lazy_settings(horizon: int, rho: float, best_rate: float) -> LazySettings:
    """Return the settings with the largest learning rate that rho allows, but not above `best_rate`.

    `most_draws` is the largest expected number M plus four standard deviations, M + 4 sqrt(M), but at most T - 1. At p
    = 1 these are the settings of Hedge, so the rate is at least Hedge's rate at the same rho.

    Args:
        horizon: Number of rounds T, at least 1.
        rho: The zCDP parameter, greater than 0; inf for Hedge itself.
        best_rate: The learning rate without privacy.
    """
    if math.isinf(rho):
        return LazySettings(best_rate, 1.0, horizon - 1)
    low, high = 0.0, best_rate
    cheapest = _cheapest(horizon, high)
    if cheapest.rho <= rho:
        return cheapest
    cheapest = _cheapest(horizon, low)
    for _ in range(60):
        middle = (low + high) / 2
        settings = _cheapest(horizon, middle)
        if settings.rho <= rho:
            low, cheapest = middle, settings
        else:
            high = middle
    return _spending_all(horizon, rho, cheapest)


def _spending_all(horizon: int, rho: float, settings: LazySettings) -> LazySettings:
    """Return settings with the same number of draws and a rate that uses up rho, if possible.

    A larger rate needs more draws, and their number is an integer. So p is lowered instead, to 1 - p = (1 - M / (T -
    1)) e^a. The expected number of fresh draws then stays the largest M with M + 4 sqrt(M) <= n.
    """
    low, fresh, draws = settings
    if not 0 < draws < horizon - 1 or fresh == 1:
        return settings
    redrawn = (math.sqrt(4 + draws) - 2) ** 2 / (horizon - 1)

    def at(rate: float) -> LazySettings:
        return LazySettings(rate, 1 - (1 - redrawn) * math.exp(rate), draws)

    high = -math.log1p(-redrawn)  # where p is 0
    best = settings
    for _ in range(60):
        middle = (low + high) / 2
        if at(middle).fresh_probability > 0 and at(middle).rho <= rho:
            low, best = middle, at(middle)
        else:
            high = middle
    return best


def _cheapest(horizon: int, learning_rate: float) -> LazySettings:
    """Return the settings with the smallest rho at this learning rate, with p on a grid from 1 / T to 1."""
    steps = 256
    grid = (float(horizon) ** (step / steps - 1) for step in range(steps + 1))
    return min((_with_draws(horizon, learning_rate, p) for p in grid), key=lambda settings: settings.rho)


def _with_draws(horizon: int, learning_rate: float, fresh_probability: float) -> LazySettings:
    expected = (horizon - 1) * LazySettings(learning_rate, fresh_probability, 0).redraw_probability
    most = min(horizon - 1, math.ceil(expected + 4 * math.sqrt(expected)))
    return LazySettings(learning_rate, fresh_probability, most)
