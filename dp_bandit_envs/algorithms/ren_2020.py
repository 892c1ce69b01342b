"""LDP-UCB-L and LDP-UCB-B, of Ren, Zhou, Liu and Shroff (2020): UCB where each gain is made noisy before it is stored.

A changed gain changes one release only: one gain with Laplace noise of scale 1 / epsilon, or one coin whose
probabilities change by a factor of at most e^epsilon.
"""

from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.local_ucb import CONSTANTS, LocalUcb
from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.local_bounds import ldp_ucb_b_bound, ldp_ucb_l_bound, ldp_ucb_l_paper_bound
from dp_bandit_envs.wrappers import BlockSums, ExactSums, RandomizedResponse


def ldp_ucb_l(*, epsilon: SupportsFloat = 1.0, constants: str = "paper") -> Algorithm:
    r"""LDP-UCB-L (Ren et al. 2020): UCB on gains with Laplace noise each, with a bonus for the noise.

    Rule: each gain gets Laplace noise of scale 1 / epsilon of its own. An arm with at most 4 ln(t + 1) gains is played
    first; otherwise the arm with the largest :math:`\hat\mu_i + \sqrt{2 \ln t / n_i} + \sqrt{32 \ln t / (\epsilon^2
    n_i)}`, with :math:`\hat\mu_i` the mean of its :math:`n_i` noisy gains.

    Private because a changed gain is released once, with Laplace noise of scale 1 / epsilon of its own.

    The index with `constants="improved"` is that of `dp_bandit_envs.agents.LocalUcb`.

    Differs from the source in: t is the number of rounds played so far. The paper was not at hand: its constants are
        those of its authors' code and of a second program, and the proof of `ldp_ucb_l_paper_bound` requires the same
        ones. Without noise no arm is forced.
    """
    epsilon = checks.epsilon(epsilon)
    checks.one_of("constants", constants, CONSTANTS)
    # A wrong epsilon is refused now, not when the first game begins.
    LocalUcb(epsilon=epsilon, constants=constants)
    bound = ldp_ucb_l_paper_bound if constants == "paper" else ldp_ucb_l_bound
    return Algorithm(
        name="LDP-UCB-L",
        make_agent=lambda: LocalUcb(epsilon=epsilon, constants=constants),
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

    Differs from the source in: nothing that is known.
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
