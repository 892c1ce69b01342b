"""EXP2 with optimal exploration, and OSMD on the ball, of Bubeck, Cesa-Bianchi and Kakade (2012)."""

import functools
import math
from collections.abc import Callable
from typing import Any, SupportsFloat

from dp_bandit_envs.adversaries import LinearGains
from dp_bandit_envs.agents.ball_osmd import BallOsmd
from dp_bandit_envs.agents.exp2 import Exp2
from dp_bandit_envs.agents.optimal_design import SLACK, rank_of
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.noisy_payoffs import learner_on_points, with_noise
from dp_bandit_envs.privacy.laplace import noise_scale
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.adversarial_bounds import without_memory
from dp_bandit_envs.theory.exp2_bounds import coins_excess, exp2_clip, exp2_regret_bound
from dp_bandit_envs.theory.linear_bounds import osmd_regret_bound


def osmd_on_ball(_: str, dimension: int, horizon: int, scale: float, clip: float) -> float:
    """Return `osmd_regret_bound`; there is one set only."""
    return osmd_regret_bound(dimension, horizon, scale, clip)


def osmd(*, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """OSMD (Bubeck, Cesa-Bianchi and Kakade 2012): linear bandits on the ball; regret sqrt(d T ln T).

    Rule: `BallOsmd` plays the direction of its estimates on the surface of the ball, or a random axis, from whose
    payoff it estimates the gain vector.

    Not private because it learns from exact payoffs, and nothing is known of what its own draws hide.

    Differs from the source in: gains instead of losses; the rate is capped at 1 / (2 d), which the paper asks of T.
    """
    agent = functools.partial(BallOsmd, learning_rate=learning_rate)
    agent()
    return learner_on_points(
        name="OSMD",
        agent=agent,
        sets=("ball",),
        bound=osmd_on_ball if learning_rate is None else None,
        parameters={"learning_rate": learning_rate},
        reference="Bubeck, Cesa-Bianchi and Kakade (2012), section 5",
    )


def exp2(*, learning_rate: SupportsFloat | None = None, exploration_rate: SupportsFloat | None = None) -> Algorithm:
    """EXP2 (Bubeck, Cesa-Bianchi and Kakade 2012): arms with features of rank d; regret sqrt(d T ln K).

    Rule: draws each arm with a probability that grows with its estimated gain, mixed with an optimal design of the
    public features of `DPBandit-Linear-v0`. The payoff of the arm played estimates the hidden vector of the round, and
    so the gains of all arms.

    Not private because it learns from exact payoffs, and nothing is known of what its own draws hide.

    In games without features, every arm is a dimension of its own, and it is EXP3 on losses.

    Differs from the source in: a G-optimal design instead of John's exploration; the rates are those with the smallest
        bound for gains in [0, 1].
    """
    return exp2_on_gains(
        name="EXP2",
        rates="smallest-bound",
        epsilon=None,
        chosen={"learning_rate": learning_rate, "exploration_rate": exploration_rate},
        reference="Bubeck, Cesa-Bianchi and Kakade (2012), section 3",
    )


def exp2_on_gains(*, name: str, rates: str, epsilon: float | None, chosen: dict[str, Any], reference: str) -> Algorithm:
    """Return EXP2 on gains, which get Laplace noise if `epsilon` is given; `chosen` may replace its rates."""
    agent = functools.partial(Exp2, rates=rates, **chosen)
    agent()
    noise = math.inf if epsilon is None else epsilon

    def wrapping(env: Environment) -> Environment:
        if epsilon is None:
            return env
        return with_noise(
            env, epsilon, clip=lambda scale, steps: exp2_clip(rates, env.get_wrapper_attr("n_arms"), scale, steps)
        )

    def on_arms(n_arms: int, horizon: int) -> float:
        return of_size(n_arms, n_arms, float(n_arms), 1.0, horizon)

    def of_size(n_arms: int, rank: int, leverage: float, largest: float, horizon: int) -> float:
        scale = noise_scale(1.0, noise)
        clip = exp2_clip(rates, n_arms, scale, horizon)
        return exp2_regret_bound(rates, n_arms, rank, leverage, largest, horizon, scale, clip)

    def in_game(env: Environment) -> float:
        game: Any = env.unwrapped
        adversary, k, t = game.adversary, game.n_arms, game.horizon
        if game.sensitivity > 1:
            return math.inf
        if adversary.features is None:
            return on_arms(k, t)
        if not isinstance(adversary, LinearGains):
            return math.inf
        rank = rank_of(adversary.features)
        excess = coins_excess(k, t) if adversary.coins else 0.0
        return of_size(k, rank, SLACK * rank, 0.5, t) + excess

    own_rates = any(rate is not None for rate in chosen.values())
    bound: Callable[[int, int], float] | None = None if own_rates else on_arms
    return Algorithm(
        name=name,
        make_agent=agent,
        wrapping=wrapping,
        bound=None if bound is None else without_memory(bound),
        bound_in=None if own_rates else in_game,
        parameters={**({} if epsilon is None else {"epsilon": epsilon, "rates": rates}), **chosen},
        reference=reference,
    )
