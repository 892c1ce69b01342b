"""Coins with a fresh bias in every round (fully oblivious), or with outcomes repeated for 200 rounds (oblivious)."""

from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.protocols import FloatArray


class Biases(NamedTuple):
    """Each arm's smallest bias, shape `(n_arms,)`, and the width of its interval."""

    lowest: FloatArray
    width: float


def draw(state: Biases, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Draw a bias and toss a coin for each arm, from two uniform numbers."""
    for arm in range(len(row)):
        bias = state.lowest[arm] + state.width * rng.random()
        row[arm] = 1.0 if rng.random() < bias else 0.0


class FullyOblivious(RoundByRound):
    """Coins with a fresh random bias in every round.

    In every round each arm draws a bias p, uniform around its centre, and then a gain from Bernoulli(p). The best arm
    has p in [0.5, 0.5 + 2 gap]; the others have p in [0.5 - gap, 0.5 + gap]. Averaged over p the gains are
    Bernoulli(0.5 + gap) and Bernoulli(0.5), independent from round to round: the same law as `Stochastic` with those
    means. The best arm is drawn for each game; if the order of arms is given, it is arm 0.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        gap: Half the width of the intervals, and the gap between the means (the paper's varepsilon), in [0, 0.25].

    Source: Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4;
    Audibert and Bubeck (2010), Regret bounds and minimax policies under partial monitoring, JMLR 11.
    """

    next_round = staticmethod(draw)
    _arm_order = "random"

    def __init__(self, n_arms: SupportsIndex = 4, horizon: SupportsIndex = 2**18, *, gap: SupportsFloat = 0.05) -> None:
        super().__init__(n_arms, horizon)
        self.gap = checks.in_range("gap", gap, 0, 0.25)
        self._lowest = np.full(self.n_arms, 0.5 - self.gap)
        self._lowest[0] = 0.5
        self.means = self._lowest + self.gap

    def first_round_state(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the intervals of the biases."""
        return Biases(self._lowest[self.draw_order(rng)], 2 * self.gap)

    def means_of(self, state: Any) -> FloatArray:
        """Return the means of a game."""
        means: FloatArray = state.lowest + self.gap
        return means


class RepeatedBiases(NamedTuple):
    """The coins, the number of rounds from one draw to the next, and the last draw, shape `(n_arms,)`."""

    biases: Biases
    period: int
    gains: FloatArray


def draw_or_repeat(state: RepeatedBiases, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of the last draw; round 1 and every multiple of the period draw again."""
    if t == 1 or t % state.period == 0:
        draw(state.biases, t, state.gains, rng)
    for arm in range(len(row)):
        row[arm] = state.gains[arm]


class Oblivious(FullyOblivious):
    """Coins as in the fully oblivious game, but each outcome is repeated for 200 rounds.

    Gains are drawn as by `FullyOblivious` in round 1 and in every round that is a multiple of `period`, and repeated in
    between. The paper does not define the gains before the first multiple of 200.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        gap: Half the width of the intervals, and the gap between the means (the paper's varepsilon), in [0, 0.25].
        period: Number of rounds from one draw to the next, at least 1.

    Source: Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    next_round = staticmethod(draw_or_repeat)  # type: ignore[assignment]

    def __init__(
        self,
        n_arms: SupportsIndex = 4,
        horizon: SupportsIndex = 2**18,
        *,
        gap: SupportsFloat = 0.05,
        period: SupportsIndex = 200,
    ) -> None:
        super().__init__(n_arms, horizon, gap=gap)
        self.period = checks.integer("period", period, at_least=1, at_most=checks.MOST_ROUNDS)

    def first_round_state(self, rng: np.random.Generator) -> RepeatedBiases:
        """Return the coins, before the first draw."""
        biases = Biases(self._lowest[self.draw_order(rng)], 2 * self.gap)
        return RepeatedBiases(biases, self.period, np.zeros(self.n_arms))

    def means_of(self, state: RepeatedBiases) -> FloatArray:
        """Return the means of a game."""
        return super().means_of(state.biases)
