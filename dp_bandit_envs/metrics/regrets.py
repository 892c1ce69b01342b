"""Regrets: how much better one could have done. All in units of gain, over rounds 1 to t; larger is worse."""

import numpy as np

from dp_bandit_envs.protocols import FloatArray, IntArray


def external_regret(cumulative_gains: FloatArray, collected: FloatArray) -> FloatArray:
    r"""Return :math:`\max_y \sum_t g_{y,t} - \sum_t g_{I_t,t}`: against the best fixed arm in hindsight.

    The fixed arm is never charged for switching, because it never switches. If a round pays a function f of the last
    m + 1 arms, the fixed arm's gains are :math:`f_t(I_{t-m}, \ldots, I_{t-1}, y)`: what arm y would have paid in each
    round after the arms really played. Exact for every K and m.

    Args:
        cumulative_gains: Each fixed arm's gains up to a round, shape `(..., n_arms)`.
        collected: What the agent collected up to it, charges included, shape `(...)`.
    """
    regret: FloatArray = np.max(cumulative_gains, axis=-1) - collected
    return regret


def pseudo_regret(pulls: IntArray, means: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_i n_i (\mu^* - \mu_i)`: the expected loss by the arms played, whatever gains they drew.

    Args:
        pulls: How often each arm was played up to a round, shape `(..., n_arms)`.
        means: The arms' expected gains, shape `(..., n_arms)`.
    """
    # Summed in the order of the arms, so that a result does not depend on how many rounds are looked at together.
    regret: FloatArray = np.cumsum(pulls * (means.max(axis=-1, keepdims=True) - means), axis=-1)[..., -1]
    return regret


def policy_regret(constant_play: FloatArray, collected: FloatArray) -> FloatArray:
    r"""Return :math:`\max_y \sum_t f_t(y, ..., y) - \sum_t f_t(I_{t-m}, ..., I_t)`: against the best constant play.

    An adversary with memory would have paid another play differently, so the comparison is with what it would have
    paid that play (Arora, Dekel and Tewari 2012). Adversaries without a payoff function pay a constant play its gains
    in full, so the result equals `external_regret`. Exact for every K and m: the comparison is with K constant plays.

    Args:
        constant_play: What playing each arm throughout would have collected, charges included, shape `(..., n_arms)`.
        collected: What the agent collected, charges included, shape `(...)`.
    """
    regret: FloatArray = np.max(constant_play, axis=-1) - collected
    return regret
