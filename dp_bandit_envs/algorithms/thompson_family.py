"""Thompson sampling, on exact sums, on feedback graphs, and on the noisy sums of blocks and counters.

A changed gain enters one block, or one counter, of the arm played, whose releases are epsilon-DP. The posteriors, and
the draws from them, depend on releases only.
"""

import dataclasses
import math
from typing import Final, NamedTuple, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.gaussian_thompson import GaussianThompsonSampling
from dp_bandit_envs.agents.max_n import TsMaxN
from dp_bandit_envs.agents.noise_width import log_log_width, log_width
from dp_bandit_envs.agents.thompson_sampling import ThompsonSampling
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.draws import square
from dp_bandit_envs.privacy.accounting import gaussian_law
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanisms.block_sums import geometric_blocks
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.stochastic_bounds import gaussian_ts_bound
from dp_bandit_envs.theory.thompson_bounds import dp_ts_bound, lazy_dp_ts_bound, ts_bound
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums

TUNED_ONLY: Final = "GaussianThompsonSampling with these settings, publishing the arms played only"


def ts() -> Algorithm:
    r"""TS, Thompson sampling with Beta posteriors (Thompson 1933): optimal for Bernoulli arms; not private.

    Rule: draws :math:`\theta_i` from :math:`\mathrm{Beta}(1 + s_i, 1 + n_i - s_i)` for each arm, with :math:`s_i` the
    sum of its :math:`n_i` gains, and plays the arm with the largest draw.

    Not private because it learns from exact sums. Its own randomness loses up to ln T! in two-armed games, and no more
    (docs/notes/thompson-privacy.md), which is a vacuous guarantee.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins with that mean.
    """
    return Algorithm(
        name="TS",
        make_agent=ThompsonSampling,
        wrapping=ExactSums,
        stochastic_bound=ts_bound,
        graph_bound=ts_bound,
        reference="Thompson (1933); Agrawal and Goyal (2012); Kaufmann, Korda and Munos (2012)",
    )


def gaussian_ts() -> Algorithm:
    r"""Gaussian-TS, Thompson sampling with Gaussian posteriors (Agrawal and Goyal 2013): for any gains in [0, 1].

    Rule: draws :math:`\theta_i` from :math:`N(s_i / (n_i + 1), 1 / (n_i + 1))` for each arm, with :math:`s_i` the sum
    of its :math:`n_i` gains, and plays the arm with the largest draw.

    Not private because it learns from exact sums. At delta = 1e-6 its own draws lose an epsilon of 35 or more with two
    arms, from 2^10 rounds on, of order (ln T)^2 (docs/notes/thompson-privacy.md), so no guarantee is declared.

    Differs from the source in: no known respect; the constants of its regret bound are this project's.
    """
    return Algorithm(
        name="Gaussian-TS",
        make_agent=GaussianThompsonSampling,
        wrapping=ExactSums,
        stochastic_bound=gaussian_ts_bound,
        reference="Agrawal and Goyal (2013), algorithm 2",
    )


def tuned_ts(
    *,
    epsilon: SupportsFloat = 1.0,
    delta: SupportsFloat = 1e-6,
    pulls: SupportsIndex | None = None,
    variance: SupportsFloat | None = None,
) -> Algorithm:
    r"""Tuned-TS (Ou, Avella Medina and Cummings 2024): Gaussian-TS with wider draws, after many pulls of each arm.

    Rule: each arm is first played b times, in order. Then :math:`\theta_i` is drawn from :math:`N(s_i / (n_i + 1), c /
    (n_i + 1))` for each arm, with :math:`s_i` the sum of its :math:`n_i` gains, and the arm with the largest draw is
    played. c is the smallest for (epsilon, delta), or `variance`; b is `pulls`, by default 8 sigma sqrt(T) rounded up,
    at most T / (2 K), with sigma the deviation of Gaussian noise for (epsilon, delta).

    Private because a changed gain moves the mean of one arm's draw by 1 / (n + 1) at most, which is
    :math:`1 / \sqrt{c (n + 1)}` standard deviations, with :math:`n \ge b`. So the T - K b rounds with draws compose to
    one Gaussian mechanism at a distance of :math:`\sqrt{(T - K b) / (c (b + 1))}`. The arms are post-processing of the
    draws.

    Differs from the source in: the guarantee, its composition and the default of b, which are this project's. Only the
        abstract and a summary of the source were available; pulls and variance are from it.
    """
    delta = checks.delta(delta)
    epsilon = checks.epsilon(epsilon)
    fixed = None if variance is None else checks.greater_than("variance", variance, 0)
    if fixed is not None and epsilon != 1:
        raise ValueError("epsilon and variance both fix the draws; give one or the other.")
    given_pulls = None if pulls is None else checks.integer("pulls", pulls, at_least=0)
    settings = WideDraws(gaussian_sigma(epsilon, delta), given_pulls, fixed)

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        rounds, c = settings.rounds(n_arms, horizon), settings.variance(n_arms, horizon)
        if rounds == 0:
            return PrivacyGuarantee(0.0, theorem="each arm is only pulled, whatever it pays", agents=TUNED_ONLY)
        if c == 0:
            return PrivacyGuarantee.none("epsilon is inf, so draws do not vary")
        least = settings.least_gains(n_arms, horizon)
        noise_law = gaussian_law(math.sqrt(c * (least + 1) / rounds))
        return PrivacyGuarantee(
            epsilon if fixed is None else noise_law.epsilon(delta),
            delta=delta,
            rho=noise_law.gaussian / 2,
            noise_law=noise_law,
            theorem=(
                f"Gaussian mechanism: {rounds} rounds with draws of variance {c:.3g} / (n + 1), whose mean one round"
                f" moves by 1 / (n + 1) at most, with n at least {least} (proof in docs/notes/thompson-privacy.md)"
            ),
            agents=TUNED_ONLY,
        )

    return Algorithm(
        name="Tuned-TS",
        make_agent=lambda: GaussianThompsonSampling(pulls=settings.pulls, variance=settings.variance),
        wrapping=ExactSums,
        stochastic_bound=lambda means, horizon: gaussian_ts_bound(
            means, horizon, settings.variance(len(means), horizon), settings.pulls(len(means), horizon)
        ),
        own_guarantee=guarantee,
        parameters={"epsilon": epsilon, "delta": delta, "pulls": given_pulls, "variance": fixed},
        reference="Ou, Avella Medina and Cummings (2024), the modified algorithm",
    )


class WideDraws(NamedTuple):
    """The settings of Tuned-TS in a game of any size.

    Attributes:
        sigma: Standard deviation of Gaussian noise for the requested guarantee.
        fixed_pulls: Pulls of each arm, or None for the default.
        fixed_variance: c, or None for the smallest c with that guarantee.
    """

    sigma: float
    fixed_pulls: int | None
    fixed_variance: float | None

    def pulls(self, n_arms: int, horizon: int) -> int:
        """Return b, the number of pulls of each arm before the first draw."""
        if self.fixed_pulls is not None:
            return self.fixed_pulls
        return min(horizon // (2 * n_arms), math.ceil(8 * self.sigma * math.sqrt(horizon)))

    def rounds(self, n_arms: int, horizon: int) -> int:
        """Return the largest number of rounds with draws, and one more for an unfinished batch."""
        return max(0, horizon + 1 - n_arms * self.pulls(n_arms, horizon))

    def least_gains(self, n_arms: int, horizon: int) -> int:
        """Return the least number of gains of the changed arm in a round with draws after its change."""
        return max(self.pulls(n_arms, horizon), 1)

    def variance(self, n_arms: int, horizon: int) -> float:
        """Return c."""
        if self.fixed_variance is not None:
            return self.fixed_variance
        return self.rounds(n_arms, horizon) / (self.least_gains(n_arms, horizon) + 1) * square(self.sigma)


def ts_n() -> Algorithm:
    """TS-N (Tossou, Dimitrakakis and Dubhashi 2017): Thompson sampling that learns from every gain revealed.

    Rule: draws a mean for each arm from its posterior, as TS does, and plays the arm with the largest draw. Every gain
    that the round reveals enters the posterior of its arm.

    Not private because it learns from exact sums, and no guarantee is known for its own randomness.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins with that mean.
    """
    return dataclasses.replace(ts(), name="TS-N", reference="Tossou, Dimitrakakis and Dubhashi (2017), TS-N")


def ts_max_n() -> Algorithm:
    """TS-MaxN (Tossou, Dimitrakakis and Dubhashi 2017): plays the best arm that reveals the drawn arm.

    Rule: chooses an arm as TS-N does, and plays the arm with the largest mean among the arms that reveal it.

    Not private because it learns from exact sums, and no guarantee is known for its own randomness.

    Differs from the source in: an arm never seen counts as mean 1/2; and on directed graphs it plays an arm that
        reveals the one chosen.
    """
    return Algorithm(
        name="TS-MaxN",
        make_agent=TsMaxN,
        wrapping=ExactSums,
        stochastic_bound=ts_bound,
        graph_bound=lambda means, horizon: ts_bound(means, horizon, len(means)),
        reference="Tossou, Dimitrakakis and Dubhashi (2017), TS-MaxN",
    )


def lazy_dp_ts(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    r"""Lazy-DP-TS (Hu and Hegde 2022): Thompson sampling on the last full block of 1, 2, 4, ... gains of each arm.

    Rule: each arm's gains are summed in blocks of 1, 2, 4, ... gains; a full block's mean :math:`\hat\mu_i` of
    :math:`n_i` gains is released with noise and replaces the previous mean. It plays the arm with the largest draw

    .. math:: \theta_i \sim \mathrm{Beta}(1 + n_i \tilde{\mu}_i, 1 + n_i (1 - \tilde{\mu}_i)), \quad
              \tilde{\mu}_i = \text{clip}\Big(\hat\mu_i + \frac{3 \ln t}{\epsilon n_i}\Big)

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins. The paper was not available.
    """
    epsilon = checks.epsilon(epsilon)

    def wrapping(env: Environment) -> Environment:
        lengths = geometric_blocks(2, env.get_wrapper_attr("horizon"), totals=False)
        return BlockSums(env, epsilon=epsilon, lengths=lengths)

    return Algorithm(
        name="Lazy-DP-TS",
        make_agent=lambda: ThompsonSampling(width=log_width(3 / epsilon), each_first=True),
        wrapping=wrapping,
        stochastic_bound=lambda means, horizon: lazy_dp_ts_bound(means, horizon, epsilon),
        parameters={"epsilon": epsilon},
        reference="Hu and Hegde (2022), Lazy-DP-TS",
    )


def dp_ts(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    r"""DP-TS (Hu and Hegde 2022): Thompson sampling on sums of the hybrid counter, with a width for its noise.

    Rule: a hybrid counter releases a noisy mean :math:`\hat\mu_i` of each arm's :math:`n_i` gains after each of them.
    It plays the arm with the largest draw

    .. math:: \theta_i \sim \mathrm{Beta}(1 + n_i \tilde{\mu}_i, 1 + n_i (1 - \tilde{\mu}_i)), \quad
              \tilde{\mu}_i = \text{clip}\Big(\hat\mu_i + \frac{6 \sqrt 8 \ln(n_i + 1) \ln t}{\epsilon n_i}\Big)

    Private because a changed gain enters one arm's counter, all of whose releases together are epsilon-DP.

    The width is taken to be a bound on the hybrid counter's noise after n items. We did not have the paper, and our
    notes on it do not show where the square root ends.

    Differs from the source in: each part of the hybrid counter has half of epsilon, as both are released. The paper was
        not available: the width is taken to be as above, and gains between 0 and 1 count as fractions.
    """
    epsilon = checks.epsilon(epsilon)
    slope = 6 * math.sqrt(8) / epsilon
    return Algorithm(
        name="DP-TS",
        make_agent=lambda: ThompsonSampling(width=log_log_width(slope), each_first=True),
        wrapping=lambda env: HybridSums(env, epsilon=epsilon),
        stochastic_bound=lambda means, horizon: dp_ts_bound(means, horizon, epsilon, slope),
        parameters={"epsilon": epsilon},
        reference="Hu and Hegde (2022), DP-TS",
    )
