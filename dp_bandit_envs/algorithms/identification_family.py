r"""Algorithms that look for the best arm and stop: Top-Two, and its private forms in the central and the local model.

They publish the arms played, the stopping round, and the recommended arm. All three are functions of the noisy sums, or
of the answers, and of the agent's own draws; so the wrapper's guarantee covers them (post-processing). The lengths of
blocks do not depend on gains.
"""

import math
from collections.abc import Callable
from typing import Any, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.top_two import TopTwo
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.identification_bounds import identification_lower_bound
from dp_bandit_envs.wrappers import BlockSums, ExactSums, RandomizedResponse

FAILURE = 0.01
"""The default failure probability."""


def top_two(*, failure_probability: SupportsFloat = FAILURE) -> Algorithm:
    r"""Top-Two (Russo 2016): plays the leader or its closest rival, and stops when one is the best; not private.

    Rule: the leader has the largest :math:`\hat\mu_i + \sqrt{\ln t / (2 n_i)}`, its rival the smallest cost
    :math:`W = \inf_u n \, \mathrm{kl}(\hat\mu, u) + n' \, \mathrm{kl}(\hat\mu', u)` against it; a coin decides. It
    stops when the arm with the largest mean has :math:`W > \ln \frac{K - 1}{\beta} + \frac{1}{2} \ln(n n') + \ln 4`
    against every other arm, and recommends it; that is wrong with probability at most beta, `failure_probability`.

    Not private because arms, stop and recommendation follow from exact sums.

    Differs from the source in: the threshold, derived in docs/notes/identification.md; and the leader of Jourdan and
        Degenne (2023).
    """
    failure = checks.probability("failure_probability", failure_probability)
    return Algorithm(
        name="Top-Two",
        make_agent=lambda: TopTwo(failure_probability=failure),
        wrapping=ExactSums,
        sample_bound=lambda means: identification_lower_bound(means, failure),
        parameters={"failure_probability": failure},
        reference="Russo (2016), Top-Two; Jourdan and Degenne (2023), leader",
    )


def adap_tt(*, epsilon: SupportsFloat = 1.0, failure_probability: SupportsFloat = FAILURE) -> Algorithm:
    r"""AdaP-TT (Azize, Jourdan, Al Marjani and Basu 2023): Top-Two on arms' episodes, which double and are forgotten.

    Rule: an arm's episode ends when its number of gains has doubled; then the noisy mean :math:`\hat\mu_i` of the
    episode's :math:`n_i` gains is released. The leader has the largest
    :math:`\hat\mu_i + \sqrt{\ln t / (2 n_i)} + \ln t / (\epsilon n_i)`, its rival the smallest
    :math:`W = 2 (\hat\mu - \hat\mu')^2 / (1 / n + 1 / n')` against it. It stops when the arm with the largest mean has
    :math:`W > (\sqrt{c} + \sqrt{c'})^2` against every other arm, with

    .. math:: c = \ln \frac{2 (K - 1) j (j + 1) i (i + 1)}{\beta}, \quad
              c' = 2 \Big(\frac{1}{n} + \frac{1}{n'}\Big) \frac{c^2}{\epsilon^2}

    for episodes j and i of the two arms. It is wrong with probability at most beta, `failure_probability`.

    Private because a changed gain is in one episode of one arm, whose sum is released once, with noise 1 / epsilon;
    arms, stop and recommendation follow from these sums.

    Differs from the source in: the threshold, derived in docs/notes/identification.md, because only the paper's
        abstract and its authors' code were available, which has the episodes, the leader, and a threshold of this form.
        Leader and rival change with a release only, and costs count the gains of the last episodes. With epsilon = inf
        it has no episodes and is Top-Two.
    """
    epsilon = checks.epsilon(epsilon)
    return _on_blocks(
        "AdaP-TT",
        lambda env, log_odds: BlockSums(env, epsilon=epsilon),
        {"epsilon": epsilon, "failure_probability": failure_probability},
        rule="episodes",
        reference="Azize, Jourdan, Al Marjani and Basu (2023), AdaP-TT",
    )


def dp_tt(
    *, epsilon: SupportsFloat = 1.0, failure_probability: SupportsFloat = FAILURE, ratio: SupportsFloat = 2.0
) -> Algorithm:
    r"""DP-TT (Jourdan and Azize 2025): Top-Two on noisy sums of all gains, with the private divergence.

    Rule: an arm's first block has :math:`\ln((K - 1) / \beta) / \epsilon` gains, rounded up, and each further one
    multiplies its number of gains by `ratio`; then the noisy mean :math:`\hat\mu_i` of all its :math:`n_i` gains is
    released, with one draw of noise for each of :math:`k_i` blocks. The leader is AdaP-TT's; its rival has the smallest

    .. math:: W = \inf_u n \, d_\epsilon(\hat\mu, u) + n' \, d_\epsilon(\hat\mu', u), \quad
              d_\epsilon(p, q) = \inf_z \, \epsilon |z - p| + \mathrm{kl}(z, q)

    It stops when the arm with the largest mean has W > x against every other arm, with Chernoff's bound for n coins and
    k draws of noise instead of d, and :math:`x - \ln(1 + x) = \ln \frac{(K - 1) k (k + 1) k' (k' + 1)}{\beta}`. It is
    wrong with probability at most beta, `failure_probability`.

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon; arms,
    stop and recommendation follow from these sums.

    Differs from the source in: only the paper's abstract was available, which names divergence, blocks and costs;
        threshold, first block and ratio are of this project (docs/notes/identification.md). With fewer gains than in
        the first block, no arm can be identified as the best. With epsilon = inf it has no blocks and is Top-Two.
    """
    epsilon, ratio = checks.epsilon(epsilon), checks.greater_than("ratio", ratio, 1)

    def wrapping(env: Environment, log_odds: float) -> Environment:
        first = max(1, math.ceil(log_odds * env.get_wrapper_attr("sensitivity") / epsilon))
        return BlockSums(env, epsilon=epsilon, ratio=ratio, first=first, keep=True)

    return _on_blocks(
        "DP-TT",
        wrapping,
        {"epsilon": epsilon, "failure_probability": failure_probability, "ratio": ratio},
        rule="sums",
        reference="Jourdan and Azize (2025), DP-TT",
    )


def _on_blocks(
    name: str,
    wrapping: Callable[[Environment, float], Environment],
    parameters: dict[str, Any],
    *,
    rule: str,
    reference: str,
) -> Algorithm:
    """Return Top-Two on noisy sums of blocks; without noise, on exact sums.

    Args:
        name: The algorithm's name.
        wrapping: Puts the blocks around an environment, for ln((K - 1) / beta).
        parameters: Among them `epsilon` and `failure_probability`.
        rule: The agent's stopping rule.
        reference: Author (year).
    """
    epsilon, failure = (
        parameters["epsilon"],
        checks.probability("failure_probability", parameters["failure_probability"]),
    )
    is_private = math.isfinite(epsilon)
    if math.isinf(-math.log(failure) / epsilon):
        raise ValueError(
            f"epsilon must be large enough for a block of ln(1 / beta) / epsilon gains; received {epsilon}."
        )

    def wrap(env: Environment) -> Environment:
        rivals = max(1, env.get_wrapper_attr("n_arms") - 1)
        return wrapping(env, math.log(rivals / failure)) if is_private else ExactSums(env)

    return Algorithm(
        name=name,
        make_agent=lambda: TopTwo(
            failure_probability=failure, rule=rule if is_private else "sequential", epsilon=epsilon
        ),
        wrapping=wrap,
        sample_bound=lambda means: identification_lower_bound(means, failure, epsilon),
        parameters={**parameters, "failure_probability": failure},
        reference=reference,
    )


def ctb_tt(*, epsilon: SupportsFloat = 1.0, failure_probability: SupportsFloat = FAILURE) -> Algorithm:
    r"""CTB-TT (Azize, Jourdan, Al Marjani and Basu 2024): Top-Two on randomised responses, which shrink the gaps.

    Rule: a gain g becomes a coin that shows 1 with probability :math:`\frac{g (e^\epsilon - 1) + 1}{e^\epsilon + 1}`,
    and Top-Two plays on these coins, whose means have the order of the arms' own.

    Private because a changed gain changes the probabilities of its one answer by a factor of at most e^epsilon; arms,
    stop and recommendation follow from the answers.

    Differs from the source in: only the paper's abstract was at hand; the threshold is that of Top-Two here.
    """
    epsilon = checks.epsilon(epsilon)
    failure = checks.probability("failure_probability", failure_probability)
    return Algorithm(
        name="CTB-TT",
        make_agent=lambda: TopTwo(failure_probability=failure),
        wrapping=lambda env: ExactSums(RandomizedResponse(env, epsilon=epsilon)),
        sample_bound=lambda means: identification_lower_bound(means, failure, epsilon, model="local"),
        parameters={"epsilon": epsilon, "failure_probability": failure},
        reference="Azize, Jourdan, Al Marjani and Basu (2024), CTB-TT",
    )
