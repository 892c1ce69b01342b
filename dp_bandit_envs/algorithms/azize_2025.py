"""DP-KLUCB and DP-IMED, of Azize, Wu, Honda, Orabona, Ito and Basu (2025): an arm learns from blocks of its gains.

A changed gain changes one block of one arm, and moves its sum by at most 1; that sum is released once, with Laplace
noise of scale 1 / epsilon. The lengths of blocks are fixed beforehand, and the arms played depend on releases only.
"""

import math
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.imed import Imed
from dp_bandit_envs.agents.kl_ucb import KlUcb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.protocols import AgentFactory, Environment
from dp_bandit_envs.wrappers import BlockSums

RATIO = 2.0
"""Factor by which an arm's count grows between releases.

The divergence of these algorithms allows for one draw of noise, but a sum of many draws has a heavier tail. With many
early releases (a ratio near 1, first blocks of one gain) some games at small epsilon end in regret of order T. Doubling
blocks that begin with 4 / epsilon gains kept the mean within a factor of about two of the lower bound down to
epsilon = 0.05.
"""


def dp_klucb(
    *,
    epsilon: SupportsFloat = 1.0,
    ratio: SupportsFloat = RATIO,
    first: SupportsIndex | None = None,
) -> Algorithm:
    r"""DP-KLUCB (Azize et al. 2025): KL-UCB with the divergence that privacy leaves; optimal for Bernoulli arms.

    Rule: an arm once chosen is played for a block, ceil(4 / epsilon) gains at first and later as many as it has; then
    the noisy mean :math:`\hat\mu_i` of all its :math:`n_i` gains is released, with one draw of noise for each block.
    Then the arm with the largest q for which :math:`n_i \, d_\epsilon(\hat\mu_i, q) \le \ln t` is chosen, where

    .. math:: d_\epsilon(p, q) = \inf_z \, \epsilon |z - p| + \mathrm{kl}(z, q)

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: an arm's first block has ceil(4 / epsilon) gains and later ones double its count, which
        are choices of this project (first, ratio): with many early releases some games end in regret of order T.
    """
    epsilon = checks.epsilon(epsilon)
    return _on_blocks(lambda: KlUcb(epsilon=epsilon, lazy=True), epsilon, ratio, first, "DP-KLUCB")


def dp_imed(
    *,
    epsilon: SupportsFloat = 1.0,
    ratio: SupportsFloat = RATIO,
    first: SupportsIndex | None = None,
) -> Algorithm:
    r"""DP-IMED (Azize et al. 2025): IMED with the divergence that privacy leaves; optimal for Bernoulli arms.

    Rule: an arm once chosen is played for a block, ceil(4 / epsilon) gains at first and later as many as it has; then
    the noisy mean :math:`\hat\mu_i` of all its :math:`n_i` gains is released, with one draw of noise for each block.
    Then the arm with the smallest :math:`n_i \, d_\epsilon(\hat\mu_i, \max_j \hat\mu_j) + \ln n_i` is chosen, where

    .. math:: d_\epsilon(p, q) = \inf_z \, \epsilon |z - p| + \mathrm{kl}(z, q)

    Private because a changed gain is in one block of one arm, whose sum is released once, with noise 1 / epsilon.

    Differs from the source in: an arm's first block has ceil(4 / epsilon) gains and later ones double its count, which
        are choices of this project (first, ratio): with many early releases some games end in regret of order T. A few
        in a thousand games still do.
    """
    epsilon = checks.epsilon(epsilon)
    return _on_blocks(lambda: Imed(epsilon=epsilon, lazy=True), epsilon, ratio, first, "DP-IMED")


def _on_blocks(
    make_agent: AgentFactory,
    epsilon: float,
    ratio: SupportsFloat,
    first: SupportsIndex | None,
    name: str,
) -> Algorithm:
    """Return the agent on blocks that multiply an arm's count; the first has by default ceil(4 / epsilon) gains."""
    ratio = checks.greater_than("ratio", ratio, 1)
    if math.isinf(4 / epsilon):
        raise ValueError(f"epsilon must be large enough for a block of 4 / epsilon gains; received {epsilon!r}.")
    first = None if first is None else checks.integer("first", first, at_least=1)

    def wrapping(env: Environment) -> Environment:
        # Noise is multiplied by the sensitivity, so that a first block needs so many times the gains.
        block = max(1, math.ceil(4 * env.get_wrapper_attr("sensitivity") / epsilon)) if first is None else first
        return BlockSums(env, epsilon=epsilon, ratio=ratio, first=block, keep=True)

    return Algorithm(
        name=name,
        make_agent=make_agent,
        wrapping=wrapping,
        parameters={"epsilon": epsilon, "ratio": ratio, "first": first},
        reference=f"Azize, Wu, Honda, Orabona, Ito and Basu (2025), {name}",
    )
