"""KL-UCB and IMED, whose indices are divergences of coins, and their private forms on blocks of gains.

A changed gain changes one block of one arm, and moves its sum by at most 1; that sum is released once, with Laplace
noise of scale 1 / epsilon. The lengths of blocks are fixed in advance, and the arms played depend on releases only.
"""

import itertools
import math
from collections.abc import Sequence
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.imed import Imed
from dp_bandit_envs.agents.kl_ucb import KlUcb
from dp_bandit_envs.agents.noise_width import log_width
from dp_bandit_envs.agents.random_labels import RandomLabels
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.ucb_family import PAPER_ALPHA
from dp_bandit_envs.privacy.mechanisms.block_sums import geometric_blocks
from dp_bandit_envs.protocols import AgentFactory, Environment
from dp_bandit_envs.theory.noisy_index_bounds import private_divergence_bound
from dp_bandit_envs.theory.stochastic_bounds import adap_klucb_bound, kl_ucb_bound
from dp_bandit_envs.wrappers import BlockSums, ExactSums

RATIO = 2.0
"""Factor by which an arm's count grows between releases.

The divergence of these algorithms allows for one draw of noise, but a sum of many draws has a heavier tail. With many
early releases (a ratio near 1, first blocks of one gain) some games at small epsilon end in regret of order T. Doubling
blocks that begin with 4 / epsilon gains kept the mean within a factor of about two of the lower bound down to
epsilon = 0.05.
"""


def kl_ucb() -> Algorithm:
    r"""KL-UCB (Garivier and Cappé 2011): optimal for Bernoulli arms; not private.

    Rule: plays the arm with the largest q such that :math:`n_i \, \mathrm{kl}(\hat\mu_i, q) \le \ln t`, where
    :math:`\hat\mu_i` is the mean of its :math:`n_i` gains and kl the divergence of two coins.

    Not private because the arms are a deterministic function of exact sums: one changed gain can change every later
    arm.

    Differs from the source in: the level is ln t, without 3 ln ln t, as in its own experiments.
    """
    return Algorithm(
        name="KL-UCB",
        make_agent=KlUcb,
        wrapping=ExactSums,
        stochastic_bound=kl_ucb_bound,
        reference="Garivier and Cappé (2011)",
    )


def adap_klucb(*, epsilon: SupportsFloat = 1.0, alpha: SupportsFloat = PAPER_ALPHA) -> Algorithm:
    r"""AdaP-KLUCB (Azize and Basu 2022): KL-UCB in episodes that double an arm's count, on the last episode's mean.

    Rule: an arm once chosen is played until it has twice as many gains, and the noisy mean :math:`\hat\mu_i` of these
    last :math:`n_i` gains is released. The next arm is the arm with the largest q such that

    .. math:: n_i \, \mathrm{kl}\Big(\text{clip}\Big(\hat\mu_i + \frac{\alpha \ln t}{\epsilon n_i}\Big), q\Big)
              \le \alpha \ln t

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: ln t instead of ln(t + 1), with t the number of rounds played, which changes regret by
        about 2 % at most; new arms are tried in an order drawn at random (`RandomLabels`). The order depends on no
        gain, so the guarantee is unchanged.
    """
    epsilon, alpha = checks.epsilon(epsilon), checks.greater_than("alpha", alpha, 0)
    return Algorithm(
        name="AdaP-KLUCB",
        make_agent=lambda: RandomLabels(KlUcb(level=alpha, width=log_width(alpha / epsilon), lazy=True)),
        wrapping=lambda env: BlockSums(env, epsilon=epsilon),
        stochastic_bound=(lambda means, horizon: adap_klucb_bound(means, horizon, epsilon, alpha))
        if alpha > 2
        else None,
        parameters={"epsilon": epsilon, "alpha": alpha},
        reference="Azize and Basu (2022), AdaP-KLUCB",
    )


def dp_klucb(
    *,
    epsilon: SupportsFloat = 1.0,
    ratio: SupportsFloat = RATIO,
    first: SupportsIndex | None = None,
) -> Algorithm:
    r"""DP-KLUCB (Azize et al. 2025): KL-UCB with the private divergence; optimal for Bernoulli arms.

    Rule: an arm once chosen is played for a block, ceil(4 / epsilon) gains at first and later as many as it already
    has; then the noisy mean :math:`\hat\mu_i` of all its :math:`n_i` gains is released, with one draw of noise for each
    block. Then the arm with the largest q such that :math:`n_i \, d_\epsilon(\hat\mu_i, q) \le \ln t` is chosen, where

    .. math:: d_\epsilon(p, q) = \inf_z \, \epsilon |z - p| + \mathrm{kl}(z, q)

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: a first block of ceil(4 / epsilon) gains for each arm, and later blocks that double its
        count, which are this project's choices (first, ratio): with many early releases some games end in regret of
        order T; new arms are tried in an order drawn at random (`RandomLabels`). The order depends on no gain, so the
        guarantee is unchanged.
    """
    epsilon = checks.epsilon(epsilon)
    return _on_blocks(lambda: RandomLabels(KlUcb(epsilon=epsilon, lazy=True)), epsilon, ratio, first, "DP-KLUCB")


def dp_imed(
    *,
    epsilon: SupportsFloat = 1.0,
    ratio: SupportsFloat = RATIO,
    first: SupportsIndex | None = None,
) -> Algorithm:
    r"""DP-IMED (Azize et al. 2025): IMED with the private divergence; optimal for Bernoulli arms.

    Rule: an arm once chosen is played for a block, ceil(4 / epsilon) gains at first and later as many as it already
    has; then the noisy mean :math:`\hat\mu_i` of all its :math:`n_i` gains is released, with one draw of noise for each
    block. Then the arm with the smallest :math:`n_i \, d_\epsilon(\hat\mu_i, \max_j \hat\mu_j) + \ln n_i` is chosen,
    where

    .. math:: d_\epsilon(p, q) = \inf_z \, \epsilon |z - p| + \mathrm{kl}(z, q)

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: a first block of ceil(4 / epsilon) gains for each arm, and later blocks that double its
        count, which are this project's choices (first, ratio): with many early releases some games end in regret of
        order T. A few in a thousand games still do; new arms are tried in an order drawn at random (`RandomLabels`).
        The order depends on no gain, so the guarantee is unchanged.
    """
    epsilon = checks.epsilon(epsilon)
    return _on_blocks(lambda: RandomLabels(Imed(epsilon=epsilon, lazy=True)), epsilon, ratio, first, "DP-IMED")


def _on_blocks(
    make_agent: AgentFactory,
    epsilon: float,
    ratio: SupportsFloat,
    first: SupportsIndex | None,
    name: str,
) -> Algorithm:
    """Return the agent on blocks that multiply an arm's count; the first has ceil(4 / epsilon) gains by default."""
    ratio = checks.greater_than("ratio", ratio, 1)
    if math.isinf(4 / epsilon):
        raise ValueError(f"epsilon must be large enough for a block of 4 / epsilon gains; received {epsilon!r}.")
    first = None if first is None else checks.integer("first", first, at_least=1)

    def first_block(sensitivity: float) -> int:
        # Noise is multiplied by the sensitivity, so that a first block needs so many times the gains.
        return max(1, math.ceil(4 * sensitivity / epsilon)) if first is None else first

    def wrapping(env: Environment) -> Environment:
        block = first_block(env.get_wrapper_attr("sensitivity"))
        return BlockSums(env, epsilon=epsilon, ratio=ratio, first=block, keep=True)

    def bound(means: Sequence[float], horizon: int) -> float:
        ends = itertools.accumulate(geometric_blocks(ratio, horizon, first=first_block(1.0)))
        return private_divergence_bound(means, horizon, epsilon, list(ends), by_count=name == "DP-IMED")

    return Algorithm(
        name=name,
        make_agent=make_agent,
        wrapping=wrapping,
        stochastic_bound=bound,
        parameters={"epsilon": epsilon, "ratio": ratio, "first": first},
        reference=f"Azize, Wu, Honda, Orabona, Ito and Basu (2025), {name}",
    )
