"""Private linear bandits of Agarwal and Singh (2017), algorithm 4: a bandit learner on noisy payoffs."""

import functools
from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.ball_osmd import BallOsmd
from dp_bandit_envs.agents.scrible import SELECT, Scrible
from dp_bandit_envs.agents.scrible_on_vectors import ScribleOnVectors
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.bubeck_2012 import exp2_on_gains, osmd_on_ball
from dp_bandit_envs.algorithms.leaders import set_of
from dp_bandit_envs.algorithms.noisy_payoffs import learner_on_points
from dp_bandit_envs.privacy.laplace import noise_scale
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.linear_bounds import clip_bound, failure_cost, noise_of_payoffs, scrible_regret_bound
from dp_bandit_envs.wrappers import LaplaceClipRescale

PAPER = "Agarwal and Singh (2017), algorithm 4"


def as_scrible(
    *, epsilon: SupportsFloat = 1.0, learning_rate: SupportsFloat | None = None, paper_noise: bool = False
) -> Algorithm:
    r"""AS-SCRiBLe (Agarwal and Singh 2017, algorithm 4): SCRiBLe on payoffs with Laplace noise; local privacy.

    Rule: a payoff in [-1, 1] gets Laplace noise of scale 2 / epsilon, is clipped where 1 / T of all games have such a
    payoff, and is all that `Scrible` ever sees of its round.

    Private because two payoffs differ by at most 2, to which the noise is scaled, and each is released once. Nobody has
    to store the true payoff, so this is local privacy.

    With `paper_noise` the noise is the paper's, :math:`\langle Z, x \rangle` with d Laplace draws of scale D1 / epsilon
    (D1 = 2 sqrt(d) on the ball, 2 on the cube, after correcting its sensitivity): the same guarantee with the variance
    :math:`8 d |x|^2 / \epsilon^2` on the ball and :math:`8 |x|^2 / \epsilon^2`, up to 8 d, on the cube, instead of
    :math:`8 / \epsilon^2`. It is put on the gain vector, so it needs games with `feedback="full"`, of which the agent
    uses no more than the payoff. For sets, and the cost of a round, see `Scrible`.

    Differs from the source in: the noise is on the payoff, by default. The rate's d^2 where theorem 4.5 prints d.
    """
    epsilon = checks.epsilon(epsilon)
    paper_noise = checks.boolean("paper_noise", paper_noise)
    kind = ScribleOnVectors if paper_noise else Scrible
    agent = functools.partial(kind, learning_rate=learning_rate)
    agent()
    known = learning_rate is None
    parameters = {"epsilon": epsilon, "learning_rate": learning_rate} | ({"paper_noise": True} if paper_noise else {})
    shared = {"name": "AS-SCRiBLe", "parameters": parameters, "reference": f"{PAPER} and theorem 4.5"}
    if paper_noise:
        return Algorithm(
            make_agent=None,
            make_point_agent=agent,
            wrapping=functools.partial(_with_noise_on_vectors, epsilon),
            feedback="full",
            decision_sets=tuple(SELECT),
            bound_in=functools.partial(_bound_on_vectors, epsilon) if known else None,
            **shared,  # type: ignore[arg-type]
        )
    return learner_on_points(
        agent=agent,
        sets=tuple(SELECT),
        bound=scrible_regret_bound if known else None,
        epsilon=epsilon,
        **shared,  # type: ignore[arg-type]
    )


def _with_noise_on_vectors(epsilon: float, env: Environment) -> Environment:
    """Return the environment with Laplace noise on every coordinate; 1 / T of all games have a clipped one."""
    scale = noise_scale(env.get_wrapper_attr("sensitivity"), epsilon)
    bound = clip_bound(scale, env.get_wrapper_attr("horizon") * env.get_wrapper_attr("n_values"))
    return LaplaceClipRescale(env, epsilon=epsilon, bound=bound, outside="clip")


def _bound_on_vectors(epsilon: float, env: Environment) -> float:
    name, dimension = set_of(env)
    horizon, noise = env.get_wrapper_attr("horizon"), _with_noise_on_vectors(epsilon, env).get_wrapper_attr("noise")
    # A payoff has more noise than is counted in 1 / T of the games, and some coordinate is clipped in fewer.
    unlikely = 2.0 if noise.scale else 0.0
    clipped = failure_cost(horizon, 2.0 * dimension, noise.scale, noise.bound)
    of_payoffs = noise_of_payoffs(name, dimension, noise.scale, horizon)
    return scrible_regret_bound(name, dimension, horizon, *of_payoffs) + unlikely + clipped


def as_osmd(*, epsilon: SupportsFloat = 1.0, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """AS-OSMD (Agarwal and Singh 2017, algorithm 4, around OSMD): payoffs on the ball with noise; local privacy.

    Rule: a payoff in [-1, 1] gets Laplace noise of scale 2 / epsilon, is clipped where 1 / T of all games have such a
    payoff, and is all that `BallOsmd` ever sees of its round.

    Private because two payoffs differ by at most 2, to which the noise is scaled, and each is released once. Nobody has
    to store the true payoff, so this is local privacy.

    Without noise its regret is half of SCRiBLe's. With noise both are of order d sqrt(T ln T) / epsilon, because the
    noise in an estimate counts d^2 times, where a payoff of gain vectors of length 1 counts d times.

    Differs from the source in: its algorithm 4 takes any learner and names SCRiBLe; this is OSMD of Bubeck,
        Cesa-Bianchi and Kakade (2012). Its rate, and the noise on the payoff, are those of this project.
    """
    epsilon = checks.epsilon(epsilon)
    agent = functools.partial(BallOsmd, learning_rate=learning_rate)
    agent()
    return learner_on_points(
        name="AS-OSMD",
        agent=agent,
        sets=("ball",),
        bound=osmd_on_ball if learning_rate is None else None,
        epsilon=epsilon,
        parameters={"epsilon": epsilon, "learning_rate": learning_rate},
        reference=f"{PAPER}; Bubeck, Cesa-Bianchi and Kakade (2012), section 5",
    )


def as_exp2(
    *,
    epsilon: SupportsFloat = 1.0,
    rates: str = "paper",
    learning_rate: SupportsFloat | None = None,
    exploration_rate: SupportsFloat | None = None,
) -> Algorithm:
    """AS-EXP2 (Agarwal and Singh 2017, algorithms 4 and 5): EXP2 on gains with Laplace noise; local privacy.

    Rule: the gain of the arm played gets Laplace noise of scale 1 / epsilon and is clipped far outside its range;
    `Exp2` takes it for the gain, with enough exploration for noisy losses. In games with features it is EXP2 on those;
    otherwise EXP3 on losses.

    Private because a changed round changes one noisy value, whose law moves by a factor of at most e^epsilon, and
    `Exp2` sees nothing else: local privacy.

    `rates="smallest-bound"` also counts what exploring costs: with 10 arms, 2^16 rounds and epsilon = 1 it explores a
    fifth as often as with the paper's rates, and its bound is about a third. See `exp2_rates`.

    Differs from the source in: gains in [0, 1] have sensitivity 1, which the printed noise of 1 / epsilon fits, but not
        the printed losses in [-1, 1]. The printed exploration rate is about 10 times smaller than its proof needs: here
        it is a d (1 + c) with noisy losses clipped to [-c, 1 + c] and c = sqrt(10) ln(d T) / epsilon. Features.
    """
    return exp2_on_gains(
        name="AS-EXP2",
        rates=rates,
        epsilon=checks.epsilon(epsilon),
        chosen={"learning_rate": learning_rate, "exploration_rate": exploration_rate},
        reference=f"{PAPER} and theorem 4.1",
    )
