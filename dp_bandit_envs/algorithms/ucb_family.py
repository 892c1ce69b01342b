"""Confidence bounds: UCB and its private forms, on counters, intervals, blocks and locally noisy gains; DP-SE.

An index is an arm's released mean plus a bonus for chance and a bonus for noise. DP-SE drops arms by the same two
widths. UCB-N and UCB-MaxN are for feedback graphs. For privacy there, use the private algorithms of games without a
graph: their wrappers multiply the noise by the largest number of gains that a round reveals, and their agents widen
their bonuses to match.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Deterministic
from dp_bandit_envs.agents.gaussian_ucb import GaussianUcb
from dp_bandit_envs.agents.max_n import UcbMaxN
from dp_bandit_envs.agents.noise_width import NoiseWidth, WidthFor, counter_width, log_width, no_width
from dp_bandit_envs.agents.random_labels import RandomLabels
from dp_bandit_envs.agents.successive_elimination import SuccessiveElimination, epoch_lengths
from dp_bandit_envs.agents.ucb import CONSTANTS, LocalUcb, Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.gaussian import epsilon_of_rho
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.interval_ends import checked_v
from dp_bandit_envs.privacy.mechanisms.interval_sums import INTERVALS, PAPER_DELTA
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.noisy_index_bounds import noisy_int_bound
from dp_bandit_envs.theory.padded_bounds import padded_ucb_bound
from dp_bandit_envs.theory.stochastic_bounds import (
    adac_ucb_bound,
    adap_ucb_bound,
    dp_se_bound,
    dp_ucb_int_bound,
    ldp_ucb_b_bound,
    ldp_ucb_l_bound,
    ldp_ucb_l_paper_bound,
    named_counter_bound,
    private_ucb_default_bound,
    private_ucb_gamma,
    private_ucb_paper_bound,
    ucb_bound,
    ucb_max_n_bound,
)
from dp_bandit_envs.wrappers import BlockSums, CounterSums, ExactSums, IntervalSums, RandomizedResponse

PAPER_ALPHA = 3.1
"""AdaP-UCB's alpha in its paper, whose theorems require more than 3."""
MODES = ("once", "bonus", "redraw")
BONUS = 3.5
"""With 3.5 ln t, the noise of a release exceeds its bonus with probability t^-3.5, as theorem 3.5 requires."""


def ucb() -> Algorithm:
    r"""UCB (Auer, Cesa-Bianchi and Fischer 2002): mean + sqrt(2 ln t / n); not private.

    Rule: plays the arm with the largest :math:`\hat\mu_i + \sqrt{2 \ln t / n_i}`, where :math:`\hat\mu_i` is the mean
    of its :math:`n_i` gains and t the number of rounds played.

    Not private because the arms are a deterministic function of exact sums: one changed gain can change every later
    arm.

    Differs from the source in: no known respect.
    """
    return Algorithm(
        name="UCB",
        make_agent=Ucb,
        wrapping=ExactSums,
        stochastic_bound=ucb_bound,
        graph_bound=ucb_bound,
        reference="Auer, Cesa-Bianchi and Fischer (2002), theorem 1",
    )


def ucb_n() -> Algorithm:
    r"""UCB-N (Caron, Kveton, Lelarge and Bhagat 2012): UCB that learns from every gain revealed.

    Rule: plays the arm with the largest :math:`\hat\mu_i + \sqrt{2 \ln t / n_i}`, where :math:`n_i` counts all revealed
    gains of the arm, also from rounds with other arms.

    Not private because the arms are a deterministic function of exact sums: one changed gain can change every later
    arm.

    Differs from the source in: no known respect.
    """
    return dataclasses.replace(ucb(), name="UCB-N", reference="Caron, Kveton, Lelarge and Bhagat (2012), UCB-N")


def ucb_max_n() -> Algorithm:
    """UCB-MaxN (Caron, Kveton, Lelarge and Bhagat 2012): plays the best arm that reveals UCB's choice.

    Rule: chooses an arm as UCB-N does, and plays the arm with the largest mean among the arms that reveal it.

    Not private because the arms are a deterministic function of exact sums: one changed gain can change every later
    arm.

    Differs from the source in: an arm never seen counts as mean 1/2; and on directed graphs it plays an arm that
        reveals the one chosen.
    """
    return Algorithm(
        name="UCB-MaxN",
        make_agent=UcbMaxN,
        wrapping=ExactSums,
        stochastic_bound=ucb_bound,
        graph_bound=lambda means, horizon: ucb_max_n_bound(means, horizon, len(means)),
        reference="Caron, Kveton, Lelarge and Bhagat (2012), UCB-MaxN",
    )


def dp_ucb_bound(
    *,
    epsilon: SupportsFloat = 1.0,
    counter: str = "hybrid",
    budget: str = "split",
    formula: str = "chernoff",
) -> Algorithm:
    r"""DP-UCB-BOUND (Tossou and Dimitrakakis 2016, algorithm 1): UCB with a bonus for the counter's noise.

    Rule: each arm has a counter, which releases a noisy sum :math:`s_i` of its :math:`n_i` gains after each of them. It
    plays the arm with the largest

    .. math:: \frac{s_i}{n_i} + \sqrt{\frac{2 \ln t}{n_i}} + \frac{w(n_i, t^{-4})}{n_i}

    with w(n, p) the width that the counter's noise exceeds with probability at most p.

    Private because a changed gain enters one arm's counter, all of whose releases together are epsilon-DP.

    The square-root counter is refused, because the bonus is for Laplace noise. The logarithmic counter is refused,
    because its sums are up to half a game old, which no bonus covers.

    Differs from the source in: each part of the hybrid counter has half of epsilon, as both are released
        (budget="paper" gives each part all of it); levels are counted in base 2; and the bonus for noise is Chernoff's,
        about half of the printed one (formula="printed").
    """
    options = _counter_options(counter, budget)
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

    Private because a changed gain enters one arm's counter; the padding zeros do not depend on data.

    With `counter="square-root"` it is (epsilon, 1e-6)-DP.

    Differs from the source in: each part of the hybrid counter has half of epsilon, as both are released
        (budget="paper" gives each all of it); and levels are counted in base 2.
    """
    options = _counter_options(counter, budget)
    epsilon = checks.epsilon(epsilon)
    return Algorithm(
        name="DP-UCB",
        make_agent=Ucb,
        wrapping=lambda env: CounterSums(env, epsilon=epsilon, counter=counter, pad_unplayed=True, **options),
        paper_guarantee_of=_claim(epsilon, 0.0, "theorem 3.1"),
        stochastic_bound=(lambda means, horizon: padded_ucb_bound(means, horizon, epsilon, **options))
        if counter == "hybrid"
        else None,
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
    :math:`n^{v/2 - 1}`. It plays the arm with the largest :math:`\hat\mu_i + \sqrt{2 \ln t / n_i}`, with
    :math:`\hat\mu_i` its last release and :math:`n_i` the gains in it.

    Private because release j of an arm's mean is W_j^(-v/2)-DP, drawn once, and the squares of these epsilons add up to
    twice rho.

    Differs from the source in: noise is drawn once for each release, where the source redraws it in every round
        (mode="redraw"), which gives no privacy; intervals from lemma B.1, not from the algorithm (intervals): its y, or
        for pure epsilon its x (intervals="pure"); new arms are tried in an order drawn at random (`RandomLabels`). The
        order depends on no gain, so the guarantee is unchanged.
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
        if with_bonus or math.isinf(epsilon):
            return dp_ucb_int_bound(means, horizon, ends, v, BONUS if with_bonus else 0.0)
        return noisy_int_bound(means, horizon, ends, v, redraws=mode == "redraw")

    return Algorithm(
        name="DP-UCB-INT",
        make_agent=lambda: RandomLabels(Ucb(width=width)),
        wrapping=lambda env: IntervalSums(env, epsilon=epsilon, v=v, delta=delta, release=release, intervals=intervals),
        paper_guarantee_of=_claim(epsilon, 0.0, "theorem 3.4 and corollary 3.1")
        if intervals == "pure"
        else _claim(epsilon, delta, "theorem 3.4 and corollary 3.2"),
        stochastic_bound=bound,
        parameters={"epsilon": epsilon, "delta": delta, "v": v, "mode": mode, "intervals": intervals},
        reference="Tossou and Dimitrakakis (2016), algorithm 3, theorems 3.4 and 3.5",
    )


def _claim(epsilon: float, delta: float, theorem: str) -> Callable[[int, int], PrivacyGuarantee]:
    claim = PrivacyGuarantee(epsilon=epsilon, delta=delta, theorem=f"Tossou and Dimitrakakis (2016), {theorem}")
    return lambda n_arms, horizon: claim


def _counter_options(counter: str, budget: str) -> dict[str, Any]:
    """Return a counter's arguments besides epsilon and horizon, or raise; budget "paper" is for the hybrid counter."""
    checks.known_name("counter", counter, COUNTERS)
    checks.one_of("budget", budget, ("split", "paper"))
    if counter == "hybrid":
        return {"budget": budget}
    if budget != "split":
        raise ValueError(f"budget='paper' belongs to the hybrid counter; received counter={counter!r}.")
    return {}


def private_ucb(
    *,
    epsilon: SupportsFloat = 1.0,
    constants: str = "paper",
    failure_probability: SupportsFloat | None = None,
) -> Algorithm:
    r"""Private-UCB (Mishra and Thakurta 2015): binary trees and a wide bonus; with the paper's constants or better.

    Rule: each arm has a binary tree, with noise for epsilon / K, that releases a noisy sum :math:`s_i` of its
    :math:`n_i` gains. It plays the arm with the largest

    .. math:: \frac{s_i}{n_i} + \sqrt{\frac{2 \ln t}{n_i}} + \frac{\Gamma_t}{n_i}, \quad
              \Gamma_t = \frac{K \ln^2 T \ln(K T t^4 \ln T)}{\epsilon}

    With `constants="improved"` each tree has all of epsilon, and the width of DP-UCB-BOUND replaces :math:`\Gamma_t`.

    Private because a changed gain enters one arm's binary tree: epsilon / K as printed, epsilon as improved.

    Differs from the source in: the failure probability is t^-4, as in the experiments of Tossou and Dimitrakakis
        (2016), where the source fixes one probability for the whole game (failure_probability).
    """
    epsilon = checks.epsilon(epsilon)
    checks.one_of("constants", constants, ("paper", "improved"))
    failure = None if failure_probability is None else checks.in_range("failure_probability", failure_probability, 0, 1)
    if failure == 0:
        raise ValueError("failure_probability must be greater than 0; received 0. Use None for t^-4.")
    if constants == "improved" and failure is not None:
        raise ValueError("failure_probability needs constants='paper'; the improved width is for t^-4.")

    def wrapping(env: Environment) -> Environment:
        # The paper composes over arms one after another; in parallel, this is epsilon / K-DP.
        trees = env.get_wrapper_attr("n_arms") if constants == "paper" else 1
        return CounterSums(env, epsilon=epsilon / trees, counter="binary")

    def bound(means: Sequence[float], horizon: int) -> float:
        if constants == "improved":
            return named_counter_bound(means, horizon, "binary", epsilon)
        if failure is None:
            return private_ucb_default_bound(means, horizon, epsilon)
        return private_ucb_paper_bound(means, horizon, epsilon, failure)

    width: WidthFor
    if constants == "improved":
        width = counter_width("binary", epsilon=epsilon)
    else:
        width = no_width if math.isinf(epsilon) else functools.partial(_paper_width, epsilon, failure)

    return Algorithm(
        name="Private-UCB",
        make_agent=lambda: Ucb(width=width),
        wrapping=wrapping,
        paper_guarantee_of=lambda n_arms, horizon: PrivacyGuarantee(
            epsilon=epsilon, theorem="Mishra and Thakurta (2015), theorem 3: epsilon / K for each of K arms"
        ),
        stochastic_bound=bound,
        parameters={"epsilon": epsilon, "constants": constants, "failure_probability": failure},
        reference="Mishra and Thakurta (2015), algorithm 1, theorem 4",
    )


def _paper_width(epsilon: float, failure: float | None, n_arms: int, horizon: int, sensitivity: float) -> NoiseWidth:
    """Return the paper's width, `private_ucb_gamma` over n; its failure probability is t^-4 if None is given."""
    epsilon = epsilon / sensitivity
    fixed = private_ucb_gamma(n_arms, horizon, epsilon, 1.0 if failure is None else failure)
    slope = 4.0 * n_arms * max(math.log(horizon), 1.0) ** 2 / epsilon if failure is None else 0.0
    return log_width(slope, offset=fixed)(n_arms, horizon, 1.0)


def adap_ucb(*, epsilon: SupportsFloat = 1.0, alpha: SupportsFloat = PAPER_ALPHA) -> Algorithm:
    r"""AdaP-UCB (Azize and Basu 2022): UCB in episodes that double an arm's count, on the last episode's mean.

    Rule: an arm once chosen is played until it has twice as many gains, and the noisy mean :math:`\hat\mu_i` of these
    last :math:`n_i` gains is released. The next arm is the arm with the largest

    .. math:: \hat\mu_i + \sqrt{\frac{\alpha \ln(2 t)}{2 n_i}} + \frac{\alpha \ln t}{\epsilon n_i}

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: ln t instead of ln(t + 1), with t the number of rounds played, which changes regret by
        about 2 % at most; new arms are tried in an order drawn at random (`RandomLabels`). The order depends on no
        gain, so the guarantee is unchanged.
    """
    epsilon, alpha = checks.epsilon(epsilon), checks.greater_than("alpha", alpha, 0)
    return Algorithm(
        name="AdaP-UCB",
        make_agent=lambda: RandomLabels(
            Ucb(exploration=alpha / 2, log_factor=2.0, width=log_width(alpha / epsilon), lazy=True)
        ),
        wrapping=lambda env: BlockSums(env, epsilon=epsilon),
        stochastic_bound=(lambda means, horizon: adap_ucb_bound(means, horizon, epsilon, alpha)) if alpha > 2 else None,
        parameters={"epsilon": epsilon, "alpha": alpha},
        reference="Azize and Basu (2022), AdaP-UCB",
    )


def adac_ucb(
    *,
    epsilon: SupportsFloat = 1.0,
    delta: SupportsFloat = 1e-6,
    rho: SupportsFloat | None = None,
    alpha: SupportsFloat = PAPER_ALPHA,
) -> Algorithm:
    r"""AdaC-UCB (Azize and Basu 2023): UCB in episodes that double an arm's count, with Gaussian noise; zCDP.

    Rule: an arm once chosen is played until it has twice as many gains, and the mean :math:`\hat\mu_i` of these last
    :math:`n_i` gains is released, with Gaussian noise of deviation :math:`\sigma` in its sum, the smallest for
    (epsilon, delta). Then the next arm is chosen: the arm with the largest

    .. math:: \hat\mu_i + \sqrt{\Big(\frac{1}{2 n_i} + \frac{2 \sigma^2}{n_i^2}\Big) \alpha \ln t}

    Private because a changed gain is in one block of one arm, whose sum is released once, with Gaussian noise: all
    releases together are rho-zCDP with rho = 1 / (2 sigma^2), and (epsilon, delta)-DP.

    `rho` takes the place of epsilon: sigma is then 1 / sqrt(2 rho), and epsilon what that is at delta. For epsilon = 1
    and delta = 1e-6 rho is 0.028.

    Differs from the source in: episodes of AdaP-UCB's lengths; the index, which is this project's, with a proof; t is
        the number of rounds played; new arms are tried in an order drawn at random (`RandomLabels`). The order depends
        on no gain, so the guarantee is unchanged. Only the source's abstract was available; it has the Gaussian
        mechanism and adaptive episodes.
    """
    delta, alpha = checks.delta(delta), checks.greater_than("alpha", alpha, 0)
    epsilon = epsilon_of_rho(rho, epsilon, delta)

    def wrapping(env: Environment) -> Environment:
        return BlockSums(env, epsilon=epsilon, delta=delta)

    def bound(means: Sequence[float], horizon: int) -> float:
        noise = wrapping(BanditEnv(Deterministic(len(means), horizon))).get_wrapper_attr("noise")
        return adac_ucb_bound(means, horizon, noise.scale, alpha)

    return Algorithm(
        name="AdaC-UCB",
        make_agent=lambda: RandomLabels(GaussianUcb(alpha=alpha)),
        wrapping=wrapping,
        stochastic_bound=bound if alpha > 2 else None,
        parameters={"epsilon": epsilon, "delta": delta, "alpha": alpha},
        reference="Azize and Basu (2023), AdaC-UCB",
    )


def ldp_ucb_l(*, epsilon: SupportsFloat = 1.0, constants: str = "paper") -> Algorithm:
    r"""LDP-UCB-L (Ren et al. 2020): UCB on gains with Laplace noise, and a bonus for the noise.

    Rule: each gain gets independent Laplace noise of scale 1 / epsilon. An arm with at most 4 ln(t + 1) gains is played
    first; otherwise the arm with the largest
    :math:`\hat\mu_i + \sqrt{2 \ln t / n_i} + \sqrt{32 \ln t / (\epsilon^2 n_i)}`, with :math:`\hat\mu_i` the mean of
    its :math:`n_i` noisy gains.

    Private because a changed gain is released once, with independent Laplace noise of scale 1 / epsilon.

    For the index with `constants="improved"` see `dp_bandit_envs.agents.LocalUcb`.

    Differs from the source in: t is the number of rounds played. The paper was not available: its constants are from
        its authors' code and a second program, and the proof of `ldp_ucb_l_paper_bound` requires the same constants.
        Without noise no arm is forced; new arms are tried in an order drawn at random (`RandomLabels`). The order
        depends on no gain, so the guarantee is unchanged.
    """
    epsilon = checks.epsilon(epsilon)
    checks.one_of("constants", constants, CONSTANTS)
    # A wrong epsilon is refused now, not when the first game begins.
    LocalUcb(epsilon=epsilon, constants=constants)
    bound = ldp_ucb_l_paper_bound if constants == "paper" else ldp_ucb_l_bound
    return Algorithm(
        name="LDP-UCB-L",
        make_agent=lambda: RandomLabels(LocalUcb(epsilon=epsilon, constants=constants)),
        wrapping=lambda env: BlockSums(env, epsilon=epsilon, ratio=1, keep=True),
        stochastic_bound=lambda means, horizon: bound(means, horizon, epsilon),
        parameters={"epsilon": epsilon, "constants": constants},
        reference="Ren, Zhou, Liu and Shroff (2020), LDP-UCB-L",
    )


def ldp_ucb_b(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    r"""LDP-UCB-B (Ren et al. 2020): UCB on randomized responses, which only shrink the gaps between arms.

    Rule: a gain g becomes a coin that shows 1 with probability :math:`\frac{g (e^\epsilon - 1) + 1}{e^\epsilon + 1}`,
    and UCB plays the arm with the largest :math:`\hat\mu_i + \sqrt{2 \ln t / n_i}`, with :math:`\hat\mu_i` the mean of
    its :math:`n_i` coins.

    Private because a changed gain changes the probabilities of its one answer by a factor of at most e^epsilon.

    Differs from the source in: no known respect.
    """
    epsilon = checks.epsilon(epsilon)
    return Algorithm(
        name="LDP-UCB-B",
        make_agent=Ucb,
        wrapping=lambda env: ExactSums(RandomizedResponse(env, epsilon=epsilon)),
        stochastic_bound=lambda means, horizon: ldp_ucb_b_bound(means, horizon, epsilon),
        parameters={"epsilon": epsilon},
        reference="Ren, Zhou, Liu and Shroff (2020), LDP-UCB-B",
    )


def dp_se(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    """DP-SE (Sajed and Sheffet 2019): successive elimination with new noisy means in every epoch.

    Rule: in epoch e each remaining arm is played equally often, and the sum of these gains is released with noise;
    older gains are forgotten. An arm is dropped if its noisy mean is below the largest by more than twice the widths
    for chance and for noise; the epoch is long enough that each width is at most 2^-e / 8.

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: the logarithms use the number of all arms K, not the number of survivors |S|, so that
        the lengths of epochs are known in advance; that costs 2 to 3 % of regret; the arms of an epoch are played in an
        order drawn at random, each in one run. The order depends on no gain and does not affect blocks or noise, so the
        guarantee is unchanged.
    """
    epsilon = checks.epsilon(epsilon)

    def wrapping(env: Environment) -> Environment:
        n_arms, horizon = env.get_wrapper_attr("n_arms"), env.get_wrapper_attr("horizon")
        # Noise is multiplied by the sensitivity, as at a smaller epsilon.
        of_a_gain = epsilon / env.get_wrapper_attr("sensitivity")
        return BlockSums(env, epsilon=epsilon, lengths=epoch_lengths(n_arms, horizon, of_a_gain))

    return Algorithm(
        name="DP-SE",
        make_agent=lambda: SuccessiveElimination(epsilon=epsilon),
        wrapping=wrapping,
        stochastic_bound=lambda means, horizon: dp_se_bound(means, horizon, epsilon),
        parameters={"epsilon": epsilon},
        reference="Sajed and Sheffet (2019), algorithm 2",
    )
