"""DP-UCB-BOUND, DP-UCB and DP-UCB-INT, of Tossou and Dimitrakakis (2016): UCB on noisy running sums.

For DP-UCB-BOUND and DP-UCB, a changed round changes one item of one arm's counter. All releases of that counter
together are epsilon-DP for one changed item, and the arms played depend on releases only.
"""

import math
from collections.abc import Callable, Sequence
from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.noise_width import counter_width, log_width, no_width
from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.counter_options import counter_options
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.interval_ends import checked_v
from dp_bandit_envs.privacy.mechanisms.interval_sums import INTERVALS, PAPER_DELTA
from dp_bandit_envs.theory.counter_bounds import named_counter_bound
from dp_bandit_envs.theory.stochastic_bounds import dp_ucb_int_bound
from dp_bandit_envs.wrappers import CounterSums, IntervalSums

MODES = ("once", "bonus", "redraw")
BONUS = 3.5
"""With 3.5 ln t, the noise of a release exceeds its bonus with probability t^-3.5, as theorem 3.5 requires."""


def dp_ucb_bound(
    *,
    epsilon: SupportsFloat = 1.0,
    counter: str = "hybrid",
    budget: str = "split",
    formula: str = "chernoff",
) -> Algorithm:
    r"""DP-UCB-BOUND (Tossou and Dimitrakakis 2016, algorithm 1): UCB with a bonus for the counter's noise.

    Rule: each arm has a counter, which releases a noisy sum :math:`s_i` of its :math:`n_i` gains after each of them.
    Played is the arm with the largest

    .. math:: \frac{s_i}{n_i} + \sqrt{\frac{2 \ln t}{n_i}} + \frac{w(n_i, t^{-4})}{n_i}

    with w(n, p) the width that the counter's noise exceeds with probability at most p.

    Private because a changed gain enters one arm's counter, all releases of which are epsilon-DP together.

    The square-root counter is refused, because the bonus is for Laplace noise, and the logarithmic one, because its
    sums are up to half a game old, which no bonus covers.

    Differs from the source in: each part of the hybrid counter has half of epsilon, as both are released
        (budget="paper" gives each all of it); levels are counted in base 2; and the bonus for noise is Chernoff's,
        about half of the printed one (formula="printed").
    """
    options = counter_options(counter, budget)
    if counter == "logarithmic":
        raise ValueError(
            "counter must be one that releases after every gain; received 'logarithmic', which does so at powers of two"
            " only. Use hybrid, segment-trees or k-ary."
        )
    epsilon = checks.epsilon(epsilon)
    width = counter_width(counter, epsilon=epsilon, formula=formula, **options)
    follows_bits = counter in ("hybrid", "segment-trees", "binary") and formula == "chernoff"

    def bound(means: Sequence[float], horizon: int) -> float:
        return named_counter_bound(means, horizon, counter, epsilon, **options)

    return Algorithm(
        name="DP-UCB-BOUND",
        make_agent=lambda: Ucb(width=width),
        wrapping=lambda env: CounterSums(env, epsilon=epsilon, counter=counter, **options),
        paper_guarantee_of=_claim(epsilon, 0.0, "theorem 3.1"),
        stochastic_bound=bound if follows_bits else None,
        parameters={"epsilon": epsilon, "counter": counter, "budget": budget, "formula": formula},
        reference="Tossou and Dimitrakakis (2016), algorithm 1, theorems 3.1 and 3.2",
    )


def dp_ucb(*, epsilon: SupportsFloat = 1.0, counter: str = "hybrid", budget: str = "split") -> Algorithm:
    r"""DP-UCB (Tossou and Dimitrakakis 2016, algorithm 2): plain UCB; all counters advance together, padded with 0.

    Rule: plays the arm with the largest :math:`s_i / n_i + \sqrt{2 \ln t / n_i}`, with :math:`s_i` a counter's noisy
    sum of its :math:`n_i` gains. In every round the counters of the arms that were not played are fed a 0, so that all
    have the same noise.

    Private because a changed gain enters one arm's counter; the zeros that pad the others are no data.

    With `counter="square-root"` it is (epsilon, 1e-6)-DP.

    Differs from the source in: each part of the hybrid counter has half of epsilon, as both are released
        (budget="paper" gives each all of it); and levels are counted in base 2.
    """
    options = counter_options(counter, budget)
    epsilon = checks.epsilon(epsilon)
    return Algorithm(
        name="DP-UCB",
        make_agent=Ucb,
        wrapping=lambda env: CounterSums(env, epsilon=epsilon, counter=counter, pad_unplayed=True, **options),
        paper_guarantee_of=_claim(epsilon, 0.0, "theorem 3.1"),
        parameters={"epsilon": epsilon, "counter": counter, "budget": budget},
        reference="Tossou and Dimitrakakis (2016), algorithm 2, theorems 3.1 and 3.3",
    )


def dp_ucb_int(
    *,
    epsilon: SupportsFloat = 1.0,
    delta: SupportsFloat = PAPER_DELTA,
    v: SupportsFloat = 1.1,
    mode: str = "once",
    intervals: str = "lemma",
) -> Algorithm:
    r"""DP-UCB-INT (Tossou and Dimitrakakis 2016, algorithm 3): UCB on means released at the ends of intervals.

    Rule: when an arm has :math:`n = W_1, W_2, \ldots` gains, their mean is released with Laplace noise of scale
    :math:`n^{v/2 - 1}`. Played is the arm with the largest :math:`\hat\mu_i + \sqrt{2 \ln t / n_i}`, with
    :math:`\hat\mu_i` its last release and :math:`n_i` the gains in it.

    Private because release j of an arm's mean is W_j^(-v/2)-DP, drawn once, and their squares add up to twice rho.

    Differs from the source in: noise is drawn once for each release, where the source draws it anew in every round
        (mode="redraw"), which protects nothing; and intervals are those of lemma B.1, not of the algorithm (intervals).
    """
    checks.one_of("mode", mode, MODES)
    checks.one_of("intervals", intervals, INTERVALS)
    epsilon, delta, v = checks.epsilon(epsilon), checks.delta(delta), checked_v(v)
    release = "redraw" if mode == "redraw" else "once"
    with_bonus = mode == "bonus" and math.isfinite(epsilon)
    # The mean's noise has scale n^(v / 2 - 1).
    width = log_width(BONUS, power=1 - v / 2) if with_bonus else no_width

    def bound(means: Sequence[float], horizon: int) -> float:
        ends = mechanisms.IntervalSums(epsilon=epsilon, delta=delta, v=v, intervals=intervals).ends(horizon)
        return dp_ucb_int_bound(means, horizon, ends.tolist(), v, BONUS if with_bonus else 0.0)

    return Algorithm(
        name="DP-UCB-INT",
        make_agent=lambda: Ucb(width=width),
        wrapping=lambda env: IntervalSums(env, epsilon=epsilon, v=v, delta=delta, release=release, intervals=intervals),
        paper_guarantee_of=_claim(epsilon, delta, "theorem 3.4 and corollary 3.2"),
        stochastic_bound=bound if with_bonus or math.isinf(epsilon) else None,
        parameters={"epsilon": epsilon, "delta": delta, "v": v, "mode": mode, "intervals": intervals},
        reference="Tossou and Dimitrakakis (2016), algorithm 3, theorems 3.4 and 3.5",
    )


def _claim(epsilon: float, delta: float, theorem: str) -> Callable[[int, int], PrivacyGuarantee]:
    """Return what the paper claims for every number of arms and rounds."""
    claim = PrivacyGuarantee(epsilon=epsilon, delta=delta, theorem=f"Tossou and Dimitrakakis (2016), {theorem}")
    return lambda n_arms, horizon: claim
