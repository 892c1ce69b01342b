"""The DP-UCB family of Tossou and Dimitrakakis (2016), and Private-UCB before it: UCB on sums from counters.

Why a changed round moves what is released by no more than epsilon: its gain enters the counter of the arm played, and
no other; that counter's releases are epsilon-DP for one changed item, all together; and the arms played are worked
out from releases alone.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.noise_width import NoiseWidth, counter_width, log_width, no_width
from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.privacy.counters.width import laplace_width
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanisms.interval_sums import INTERVALS, PAPER_DELTA, checked_v
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.stochastic_bounds import dp_ucb_bound_bound, dp_ucb_int_bound, private_ucb_bound
from dp_bandit_envs.wrappers import CounterSums, IntervalSums

MODES = ("once", "bonus", "redraw")
BONUS = 3.5
"""With 3.5 ln t, the noise of a release exceeds its bonus with probability t^-3.5, as the paper's theorem 3.5 asks."""


def dp_ucb_bound(
    *,
    epsilon: SupportsFloat = 1.0,
    counter: str = "hybrid",
    budget: str = "split",
    formula: str = "chernoff",
    label: str = "DP-UCB-BOUND",
) -> Algorithm:
    """DP-UCB-BOUND (Tossou and Dimitrakakis 2016, algorithm 1): UCB with a bonus for the counter's noise.

    Private because a changed gain enters one arm's counter, whose releases together lose epsilon for one item.

    With `counter="square-root"` it is (epsilon, 1e-6)-DP, and played without compiling.

    Differs from the source in: each part of the hybrid counter has half of epsilon, as both are released
        (budget="paper" gives each all of it); levels are counted in base 2; and the bonus for noise is Chernoff's,
        about half of the printed one (formula="printed").
    """
    of_counter = _options(counter, budget)
    size = checks.epsilon(epsilon)

    width = counter_width(counter, epsilon=size, formula=formula, **of_counter)
    follows_bits = counter in ("hybrid", "segment-trees", "binary") and formula == "chernoff"
    return Algorithm(
        name=label,
        make_agent=lambda: Ucb(width=width),
        wrapping=lambda env: CounterSums(env, epsilon=size, counter=counter, **of_counter),
        paper_guarantee_of=_claims(size, "theorem 3.1"),
        stochastic_bound=_width_bound(counter, size, **of_counter) if follows_bits else None,
        parameters={"epsilon": size, "counter": counter, "budget": budget, "formula": formula},
        reference="Tossou and Dimitrakakis (2016), algorithm 1, theorems 3.1 and 3.2",
    )


def dp_ucb(
    *, epsilon: SupportsFloat = 1.0, counter: str = "hybrid", budget: str = "split", label: str = "DP-UCB"
) -> Algorithm:
    """DP-UCB (Tossou and Dimitrakakis 2016, algorithm 2): plain UCB; all counters advance together, padded with 0.

    Private because a changed gain enters one arm's counter; the zeros that pad the others are no data.

    With `counter="square-root"` it is (epsilon, 1e-6)-DP, and played without compiling.

    Differs from the source in: each part of the hybrid counter has half of epsilon, as both are released
        (budget="paper" gives each all of it); and levels are counted in base 2.
    """
    of_counter = _options(counter, budget)
    size = checks.epsilon(epsilon)
    return Algorithm(
        name=label,
        make_agent=Ucb,
        wrapping=lambda env: CounterSums(env, epsilon=size, counter=counter, pad_unplayed=True, **of_counter),
        paper_guarantee_of=_claims(size, "theorem 3.1"),
        parameters={"epsilon": size, "counter": counter, "budget": budget},
        reference="Tossou and Dimitrakakis (2016), algorithm 2, theorems 3.1 and 3.3",
    )


def dp_ucb_int(
    *,
    epsilon: SupportsFloat = 1.0,
    delta: SupportsFloat = PAPER_DELTA,
    v: SupportsFloat = 1.1,
    mode: str = "once",
    intervals: str = "lemma",
    label: str = "DP-UCB-INT",
) -> Algorithm:
    """DP-UCB-INT (Tossou and Dimitrakakis 2016, algorithm 3): UCB on means released at the ends of intervals.

    Private because release j of an arm's mean is W_j^(-v/2)-DP, drawn once, and their squares add up to twice rho.

    Differs from the source in: noise is drawn once for each release, where the source draws it anew in every round
        (mode="redraw"), which protects nothing; and intervals are those of lemma B.1, not of the algorithm (intervals).
    """
    checks.one_of("mode", mode, MODES)
    checks.one_of("intervals", intervals, INTERVALS)
    size, failure, power = checks.epsilon(epsilon), checks.delta(delta), checked_v(v)
    release = "redraw" if mode == "redraw" else "once"
    # The mean's noise has scale n^(v / 2 - 1).
    with_bonus = mode == "bonus" and math.isfinite(size)
    claim = PrivacyGuarantee(
        epsilon=size, delta=failure, theorem="Tossou and Dimitrakakis (2016), theorem 3.4 and corollary 3.2"
    )

    width = log_width(BONUS, power=1 - power / 2) if with_bonus else no_width

    def bound(means: Sequence[float], horizon: int) -> float:
        ends = mechanisms.IntervalSums(epsilon=size, delta=failure, v=power, intervals=intervals).ends(horizon)
        return dp_ucb_int_bound(means, horizon, ends.tolist(), power, BONUS if with_bonus else 0.0)

    return Algorithm(
        name=label,
        make_agent=lambda: Ucb(width=width),
        wrapping=lambda env: IntervalSums(
            env, epsilon=size, v=power, delta=failure, release=release, intervals=intervals
        ),
        paper_guarantee_of=lambda n_arms, horizon: claim,
        stochastic_bound=bound if with_bonus or math.isinf(size) else None,
        parameters={"epsilon": size, "delta": failure, "v": power, "mode": mode, "intervals": intervals},
        reference="Tossou and Dimitrakakis (2016), algorithm 3, theorems 3.4 and 3.5",
    )


def private_ucb(
    *,
    epsilon: SupportsFloat = 1.0,
    constants: str = "paper",
    failure_probability: SupportsFloat | None = None,
    label: str = "Private-UCB",
) -> Algorithm:
    """Private-UCB (Mishra and Thakurta 2015): binary trees and a wide bonus; with the paper's constants or better.

    Private because a changed gain enters one arm's binary tree: epsilon / K as printed, epsilon as improved.

    Differs from the source in: the failure probability is t^-4, as in the experiments of Tossou and Dimitrakakis
        (2016), where the source fixes one for the whole game (failure_probability).
    """
    size = checks.epsilon(epsilon)
    checks.one_of("constants", constants, ("paper", "improved"))
    failure = None if failure_probability is None else checks.in_range("failure_probability", failure_probability, 0, 1)
    if failure == 0:
        raise ValueError("failure_probability must be greater than 0; received 0. None stands for t^-4.")

    def wrapping(env: Environment) -> Environment:
        # The paper composes over arms one after another; in parallel, this is epsilon / K-DP.
        share = env.get_wrapper_attr("n_arms") if constants == "paper" else 1
        return CounterSums(env, epsilon=size / share, counter="binary")

    bound = _width_bound("binary", size) if constants == "improved" else None
    if constants == "paper" and failure is not None:
        # With t^-4 the width changes with t, which the theorem's does not.
        bound = _gamma_bound(size, failure)
    if constants == "improved" and failure is not None:
        raise ValueError("failure_probability goes with constants='paper'; the improved width is for t^-4.")

    if constants == "improved":
        width = counter_width("binary", epsilon=size)
    else:
        width = no_width if math.isinf(size) else functools.partial(_gamma, size, failure)

    return Algorithm(
        name=label,
        make_agent=lambda: Ucb(width=width),
        wrapping=wrapping,
        paper_guarantee_of=lambda n_arms, horizon: PrivacyGuarantee(
            epsilon=size, theorem="Mishra and Thakurta (2015), theorem 3: epsilon / K for each of K arms"
        ),
        stochastic_bound=bound,
        parameters={"epsilon": size, "constants": constants, "failure_probability": failure},
        reference="Mishra and Thakurta (2015), algorithm 1, theorem 4",
    )


def _gamma(epsilon: float, failure: float | None, n_arms: int, horizon: int, sensitivity: float) -> NoiseWidth:
    r"""Return the paper's width :math:`\Gamma / n`, :math:`\Gamma = K \ln^2 T \ln(K T \ln T / \gamma) / \epsilon`.

    Without a failure probability, gamma is t^-4, as in the experiments of Tossou and Dimitrakakis (2016).
    """
    epsilon = epsilon / sensitivity
    fixed = _gamma_at(n_arms, horizon, epsilon, 1.0 if failure is None else failure)
    slope = 4.0 * n_arms * max(math.log(horizon), 1.0) ** 2 / epsilon if failure is None else 0.0
    return log_width(slope, offset=fixed)(n_arms, horizon, 1.0)


def _gamma_at(n_arms: int, horizon: int, epsilon: float, failure: float) -> float:
    log = max(math.log(horizon), 1.0)
    return n_arms * log**2 / epsilon * math.log(n_arms * horizon * log / failure)


def _gamma_bound(epsilon: float, failure: float) -> Callable[[Sequence[float], int], float]:
    """Return the bound of Private-UCB with the paper's constants, where its width is wide enough for its noise."""

    def bound(means: Sequence[float], horizon: int) -> float:
        n_arms = len(means)
        own = make_counter("binary", epsilon=epsilon / n_arms, horizon=horizon)
        # Of all counts up to T, the last 2^k - 1 needs the most nodes.
        noisiest = own.scales((1 << (horizon + 1).bit_length() - 1) - 1)
        gamma = _gamma_at(n_arms, horizon, epsilon, failure)
        enough = laplace_width(noisiest, failure / (n_arms * horizon)) <= gamma
        return private_ucb_bound(means, horizon, gamma, failure if gamma > 0 else 0.0) if enough else math.inf

    return bound


def _width_bound(counter: str, epsilon: float, **options: Any) -> Callable[[Sequence[float], int], float]:
    """Return the bound of UCB with `counter_width`, for counters whose noise follows the binary digits."""

    def bound(means: Sequence[float], horizon: int) -> float:
        own = make_counter(counter, epsilon=epsilon, horizon=horizon, **options)
        # The index looks its width up at the end of a step of t, where t^-4 is up to half as large.
        return dp_ucb_bound_bound(means, horizon, lambda n, failure: laplace_width(own.scales(n), failure / 2))

    return bound


def _claims(epsilon: float, theorem: str) -> Callable[[int, int], PrivacyGuarantee]:
    claim = PrivacyGuarantee(epsilon=epsilon, theorem=f"Tossou and Dimitrakakis (2016), {theorem}")
    return lambda n_arms, horizon: dataclasses.replace(claim)


def _options(counter: str, budget: str) -> dict[str, Any]:
    checks.known_name("counter", counter, COUNTERS)
    checks.one_of("budget", budget, ("split", "paper"))
    if counter == "hybrid":
        return {"budget": budget}
    if budget != "split":
        raise ValueError(f"budget='paper' belongs to the hybrid counter; received counter={counter!r}.")
    return {}
