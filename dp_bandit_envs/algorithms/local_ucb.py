"""UCB under local privacy: every gain is noisy before anyone stores it.

Why a changed round moves what is released by no more than epsilon: its gain is answered once, with Laplace noise of
scale 1 / epsilon or by a coin whose chances change by a factor of at most e^epsilon, and never used again.
"""

from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.local_ucb import CONSTANTS, LocalUcb
from dp_bandit_envs.agents.ucb import Ucb
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.theory.local_bounds import (
    ldp_ucb_b_bound,
    ldp_ucb_l_bound,
    ldp_ucb_l_paper_bound,
)
from dp_bandit_envs.wrappers import BlockSums, ExactSums, RandomizedResponse


def ldp_ucb_l(*, epsilon: SupportsFloat = 1.0, constants: str = "paper", label: str = "LDP-UCB-L") -> Algorithm:
    r"""LDP-UCB-L (Ren et al. 2020): UCB on gains with Laplace noise each, with a bonus for the noise.

    Private because a changed gain is released once, with Laplace noise of scale 1 / epsilon of its own.

    Its indices, with `constants="paper"` and `"improved"`, are those of `dp_bandit_envs.agents.LocalUcb`.

    Differs from the source in: t is the number of rounds played so far. The paper was not at hand: its constants are
        those of its authors' code, and of a second program, and the proof of `ldp_ucb_l_paper_bound` asks for just
        these. Without noise no arm is forced.
    """
    size = checks.epsilon(epsilon)
    checks.one_of("constants", constants, CONSTANTS)
    LocalUcb(epsilon=size, constants=constants)

    bound = ldp_ucb_l_paper_bound if constants == "paper" else ldp_ucb_l_bound
    return Algorithm(
        name=label,
        make_agent=lambda: LocalUcb(epsilon=size, constants=constants),
        wrapping=lambda env: BlockSums(env, epsilon=size, ratio=1, keep=True),
        stochastic_bound=lambda means, horizon: bound(means, horizon, size),
        parameters={"epsilon": size, "constants": constants},
        reference="Ren, Zhou, Liu and Shroff (2020), LDP-UCB-L",
    )


def ldp_ucb_b(*, epsilon: SupportsFloat = 1.0, label: str = "LDP-UCB-B") -> Algorithm:
    """LDP-UCB-B (Ren et al. 2020): UCB on randomized responses, which only shrink the gaps between arms.

    Private because a changed gain changes the chances of its one answer by a factor of at most e^epsilon.

    Differs from the source in: nothing that is known.
    """
    size = checks.epsilon(epsilon)
    return Algorithm(
        name=label,
        make_agent=Ucb,
        wrapping=lambda env: ExactSums(RandomizedResponse(env, epsilon=size)),
        stochastic_bound=lambda means, horizon: ldp_ucb_b_bound(means, horizon, size),
        parameters={"epsilon": size},
        reference="Ren, Zhou, Liu and Shroff (2020), LDP-UCB-B",
    )
