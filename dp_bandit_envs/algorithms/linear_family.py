"""Linear bandits: SCRiBLe and OSMD on points, EXP2 on arms with features; private by noise on the payoff of a round.

For independent rounds there is G-optimal elimination on arms with features, private by noise on the sums of batches.
The other private forms are algorithm 4 of Agarwal and Singh (2017): any learner on payoffs with Laplace noise. The
noisy payoffs are clipped so far outside their range that a fraction 1 / T of all games is affected.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Deterministic, LinearGains
from dp_bandit_envs.agents.ball_osmd import BallOsmd
from dp_bandit_envs.agents.exp2 import Exp2
from dp_bandit_envs.agents.linear_elimination import LinearElimination
from dp_bandit_envs.agents.optimal_design import SLACK, rank_of
from dp_bandit_envs.agents.scrible import SELECT, Scrible, ScribleOnVectors
from dp_bandit_envs.algorithms.algorithm import Algorithm, set_of
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.privacy.gaussian import epsilon_of_rho
from dp_bandit_envs.privacy.laplace import noise_scale
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.theory.adversarial_bounds import capped_batch_size, laplace_batch_size, without_memory
from dp_bandit_envs.theory.linear_bounds import (
    batch_lengths,
    clip_bound,
    coins_excess,
    exp2_clip,
    exp2_regret_bound,
    failure_cost,
    linear_elimination_bound,
    noise_of_payoffs,
    osmd_regret_bound,
    scrible_regret_bound,
)
from dp_bandit_envs.wrappers import BatchSums, LaplaceClipRescale, MiniBatchAverage

PAPER = "Agarwal and Singh (2017), algorithm 4"
BoundOnPoints = Callable[[str, int, int, float, float], float]
"""A regret bound for (set, dimension, payoffs seen, noise scale, clip bound)."""


def scrible(*, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """SCRiBLe (Abernethy, Hazan and Rakhlin 2008): linear bandits on a convex set; regret d sqrt(nu T ln T).

    Rule: `Scrible` plays points of the ball and the cube around the leader of its estimates, regularised by a barrier,
    and estimates the gain vector of a round from the payoff of the point played.

    Not private because it learns from exact payoffs, and no guarantee is known for its own randomness.

    Differs from the source in: gains instead of losses; a rate that minimises the bound (the paper's is sqrt(nu ln T) /
        (4 d sqrt(T)) for long games); no sets other than the ball and the cube.
    """
    return _learner_on_points(
        "SCRiBLe",
        Scrible,
        learning_rate,
        parameters={"learning_rate": learning_rate},
        reference="Abernethy, Hazan and Rakhlin (2008), theorem 1",
    )


def as_scrible(
    *, epsilon: SupportsFloat = 1.0, learning_rate: SupportsFloat | None = None, paper_noise: bool = False
) -> Algorithm:
    r"""AS-SCRiBLe (Agarwal and Singh 2017, algorithm 4): SCRiBLe on payoffs with Laplace noise; local privacy.

    Rule: a payoff in [-1, 1] gets Laplace noise of scale 2 / epsilon and is clipped, which affects 1 / T of all games.
    The result is all that `Scrible` ever sees of its round.

    Private because two payoffs differ by at most 2, the noise is scaled to this distance, and each is released once.
    The true payoff need not be stored, so this is local privacy.

    With `paper_noise` the noise is the paper's, :math:`\langle Z, x \rangle` with d Laplace draws of scale D1 / epsilon
    (D1 = 2 sqrt(d) on the ball, 2 on the cube, after correcting its sensitivity): the same guarantee with the variance
    :math:`8 d |x|^2 / \epsilon^2` on the ball and :math:`8 |x|^2 / \epsilon^2`, up to 8 d, on the cube, instead of
    :math:`8 / \epsilon^2`. It is added to the gain vector, so it needs games with `feedback="full"`, although the agent
    uses only the payoff. For sets, and the cost of a round, see `Scrible`.

    Differs from the source in: the noise is on the payoff, by default; the rate has d^2 where theorem 4.5 prints d.
    """
    epsilon = checks.epsilon(epsilon)
    paper_noise = checks.boolean("paper_noise", paper_noise)
    parameters = {"epsilon": epsilon, "learning_rate": learning_rate}
    on_payoffs = _learner_on_points(
        "AS-SCRiBLe",
        Scrible,
        learning_rate,
        epsilon=epsilon,
        parameters=parameters,
        reference=f"{PAPER} and theorem 4.5",
    )
    if not paper_noise:
        return on_payoffs
    return dataclasses.replace(
        on_payoffs,
        make_point_agent=functools.partial(ScribleOnVectors, learning_rate=learning_rate),
        wrapping=functools.partial(_with_noise_on_vectors, epsilon),
        feedback="full",
        bound_in=functools.partial(_bound_on_vectors, epsilon) if learning_rate is None else None,
        parameters={**parameters, "paper_noise": True},
        player="",
    )


def _with_noise_on_vectors(epsilon: float, env: Environment) -> Environment:
    """Return the environment with Laplace noise on every coordinate; clipping affects 1 / T of all games."""
    return _with_noise(env, epsilon, lambda scale, rounds: clip_bound(scale, rounds * env.get_wrapper_attr("n_values")))


def _bound_on_vectors(epsilon: float, env: Environment) -> float:
    name, dimension = set_of(env)
    horizon, noise = env.get_wrapper_attr("horizon"), _with_noise_on_vectors(epsilon, env).get_wrapper_attr("noise")
    # A payoff has more noise than is counted in 1 / T of the games, and some coordinate is clipped in fewer.
    unlikely = 2.0 if noise.scale else 0.0
    clipped = failure_cost(horizon, 2.0 * dimension, noise.scale, noise.bound)
    of_payoffs = noise_of_payoffs(name, dimension, noise.scale, horizon)
    return scrible_regret_bound(name, dimension, horizon, *of_payoffs) + unlikely + clipped


def batched_lap_scrible(*, epsilon: SupportsFloat = 1.0, batch_size: SupportsIndex | None = None) -> Algorithm:
    """Batched-Lap-SCRiBLe (Asi, Raman and Talwar 2025): SCRiBLe on averages of 1 / epsilon payoffs with Laplace noise.

    Rule: each point is played for tau = ceil(1 / epsilon) rounds, or `batch_size`. Its average payoff, in [-1, 1], gets
    Laplace noise of scale 2 / (epsilon tau), is clipped so that this affects 1 / T of all games, and is one payoff for
    `Scrible`.

    Private because a round is in one average, which it moves by at most 2 / tau, and each average is released once.

    It helps for small epsilon. Batches of one round are AS-SCRiBLe.

    Differs from the source in: the source is for arms; a point's average payoff is its payoff for the average gain
        vector, so the rest is unchanged. 1 / epsilon is rounded up to whole rounds; released values are rounded to a
        grid.
    """
    epsilon = checks.epsilon(epsilon)
    tau = laplace_batch_size(epsilon) if batch_size is None else checks.integer("batch_size", batch_size, at_least=1)
    return _learner_on_points(
        "Batched-Lap-SCRiBLe",
        Scrible,
        epsilon=epsilon,
        batch_size=tau,
        parameters={"epsilon": epsilon, "batch_size": tau},
        reference="Asi, Raman and Talwar (2025); Abernethy, Hazan and Rakhlin (2008)",
    )


def osmd(*, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """OSMD (Bubeck, Cesa-Bianchi and Kakade 2012): linear bandits on the ball; regret sqrt(d T ln T).

    Rule: `BallOsmd` plays the direction of its estimates on the surface of the ball, or a random axis, from whose
    payoff it estimates the gain vector.

    Not private because it learns from exact payoffs, and no guarantee is known for its own randomness.

    Differs from the source in: gains instead of losses; the rate is capped at 1 / (2 d), where the paper assumes a
        large T.
    """
    return _learner_on_points(
        "OSMD",
        BallOsmd,
        learning_rate,
        parameters={"learning_rate": learning_rate},
        reference="Bubeck, Cesa-Bianchi and Kakade (2012), section 5",
    )


def as_osmd(*, epsilon: SupportsFloat = 1.0, learning_rate: SupportsFloat | None = None) -> Algorithm:
    """AS-OSMD (Agarwal and Singh 2017, algorithm 4, around OSMD): payoffs on the ball with noise; local privacy.

    Rule: a payoff in [-1, 1] gets Laplace noise of scale 2 / epsilon and is clipped, which affects 1 / T of all games.
    The result is all that `BallOsmd` ever sees of its round.

    Private because two payoffs differ by at most 2, the noise is scaled to this distance, and each is released once.
    The true payoff need not be stored, so this is local privacy.

    Without noise its regret is half of SCRiBLe's. With noise both are of order d sqrt(T ln T) / epsilon, because the
    noise in an estimate has weight d^2, and a payoff of gain vectors of length 1 only d.

    Differs from the source in: its algorithm 4 takes any learner and names SCRiBLe; this is OSMD of Bubeck,
        Cesa-Bianchi and Kakade (2012). Its rate, and the noise on the payoff, are this project's.
    """
    epsilon = checks.epsilon(epsilon)
    return _learner_on_points(
        "AS-OSMD",
        BallOsmd,
        learning_rate,
        epsilon=epsilon,
        parameters={"epsilon": epsilon, "learning_rate": learning_rate},
        reference=f"{PAPER}; Bubeck, Cesa-Bianchi and Kakade (2012), section 5",
    )


def _osmd_on_ball(set_name: str, *sizes: Any) -> float:
    return osmd_regret_bound(*sizes)


LEARNERS: dict[Any, tuple[tuple[str, ...], BoundOnPoints]] = {
    Scrible: (tuple(SELECT), scrible_regret_bound),
    BallOsmd: (("ball",), _osmd_on_ball),
}
"""The sets that a learner plays on, and its regret bound at its own learning rate."""


def _learner_on_points(
    name: str,
    kind: Callable[..., Any],
    learning_rate: SupportsFloat | None = None,
    *,
    epsilon: float | None = None,
    batch_size: int = 1,
    parameters: dict[str, Any],
    reference: str,
) -> Algorithm:
    """Return a learner from payoffs, with Laplace noise on their averages over batches if `epsilon` is given."""
    agent = functools.partial(kind, learning_rate=learning_rate)
    # A wrong rate is refused now, not when the first game begins.
    agent()
    sets, bound = LEARNERS[kind]

    def wrapping(env: Environment) -> Environment:
        if epsilon is None:
            return env
        tau = capped_batch_size(batch_size, env.get_wrapper_attr("horizon"))
        return _with_noise(env if tau == 1 else MiniBatchAverage(env, batch_size=tau), epsilon, clip_bound)

    def bound_in(env: Environment) -> float:
        # A batch plays one point on the average gain vector, so its regret is tau times that of the average; the
        # rounds of the last, unfinished batch cost the width of the range at most.
        game = env.unwrapped
        assert isinstance(game, PointEnv)
        low, high = game.decision_set.payoffs
        tau = capped_batch_size(batch_size, game.horizon)
        steps = game.horizon // tau
        scale = noise_scale(game.sensitivity / tau, math.inf if epsilon is None else epsilon)
        of_steps = bound(game.decision_set.name, game.dimension, steps, scale, clip_bound(scale, steps))
        return tau * of_steps + (game.horizon - steps * tau) * (high - low)

    return Algorithm(
        name=name,
        make_agent=None,
        make_point_agent=agent,
        feedback="payoff",
        decision_sets=sets,
        wrapping=wrapping,
        bound_in=bound_in if learning_rate is None else None,
        parameters=parameters,
        reference=reference,
    )


def _with_noise(env: Environment, epsilon: float, clip: Callable[[float, int], float]) -> Environment:
    """Return the environment with Laplace noise on its payoffs, clipped `clip(scale, horizon)` outside their range."""
    scale = noise_scale(env.get_wrapper_attr("sensitivity"), epsilon)
    return LaplaceClipRescale(env, epsilon=epsilon, bound=clip(scale, env.get_wrapper_attr("horizon")), outside="clip")


def exp2(*, learning_rate: SupportsFloat | None = None, exploration_rate: SupportsFloat | None = None) -> Algorithm:
    """EXP2 (Bubeck, Cesa-Bianchi and Kakade 2012): arms with features of rank d; regret sqrt(d T ln K).

    Rule: draws each arm with a probability that grows with its estimated gain, mixed with an optimal design of the
    public features of `DPBandit-Linear-v0`. The payoff of the arm played gives an estimate of the round's hidden
    vector, and so of the gains of all arms.

    Not private because it learns from exact payoffs, and no guarantee is known for its own randomness.

    Without features, every arm is its own dimension, and it is EXP3 on losses.

    Differs from the source in: a G-optimal design instead of John's exploration; the rates minimise the bound for gains
        in [0, 1].
    """
    return _exp2_on_gains(
        name="EXP2",
        rates="smallest-bound",
        epsilon=None,
        chosen={"learning_rate": learning_rate, "exploration_rate": exploration_rate},
        reference="Bubeck, Cesa-Bianchi and Kakade (2012), section 3",
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
    `Exp2` treats it as the gain, with enough exploration for noisy losses. With features it is EXP2; otherwise EXP3 on
    losses.

    Private because a changed round changes one noisy value, whose law moves by a factor of at most e^epsilon, and
    `Exp2` sees only this value: local privacy.

    `rates="smallest-bound"` also accounts for the cost of exploration: with 10 arms, 2^16 rounds and epsilon = 1 it
    explores a fifth as often as with the paper's rates, and its bound is about a third. See `exp2_rates`.

    Differs from the source in: gains in [0, 1] have sensitivity 1, which the printed noise of 1 / epsilon fits, but not
        the printed losses in [-1, 1]. The printed exploration rate is about 10 times smaller than its proof needs: here
        it is a d (1 + c) with noisy losses clipped to [-c, 1 + c] and c = sqrt(10) ln(d T) / epsilon; and features.
    """
    return _exp2_on_gains(
        name="AS-EXP2",
        rates=rates,
        epsilon=checks.epsilon(epsilon),
        chosen={"learning_rate": learning_rate, "exploration_rate": exploration_rate},
        reference=f"{PAPER} and theorem 4.1",
    )


def _exp2_on_gains(
    *, name: str, rates: str, epsilon: float | None, chosen: dict[str, Any], reference: str
) -> Algorithm:
    """Return EXP2 on gains, which get Laplace noise if `epsilon` is given; `chosen` may replace its rates."""
    agent = functools.partial(Exp2, rates=rates, **chosen)
    agent()
    noise = math.inf if epsilon is None else epsilon

    def wrapping(env: Environment) -> Environment:
        if epsilon is None:
            return env
        return _with_noise(env, epsilon, functools.partial(exp2_clip, rates, env.get_wrapper_attr("n_arms")))

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
    return Algorithm(
        name=name,
        make_agent=agent,
        wrapping=wrapping,
        bound=None if own_rates else without_memory(on_arms),
        bound_in=None if own_rates else in_game,
        parameters={**({} if epsilon is None else {"epsilon": epsilon, "rates": rates}), **chosen},
        reference=reference,
    )


def gope() -> Algorithm:
    """GOPE (Lattimore and Szepesvari 2020): elimination of arms by G-optimal designs of their features.

    Rule: plays in batches of doubling length. A batch is divided among the live arms by an optimal design of their
    features, which estimates all their means equally well. At its end an arm is dropped if its estimate is below the
    largest by more than the width of the difference.

    Not private because it learns from exact sums.

    Without features, every arm is its own dimension, and it is successive elimination.

    Differs from the source in: fixed lengths of batches, which privacy needs (the source's depend on the design); arms
        compared by the width of their difference; a largest leverage of at most 1.5 d; a random order of the arms of a
        batch, each played in one run. The order does not depend on gains and does not affect plays or noise, so the
        guarantee is unchanged.
    """
    return _elimination("GOPE", {}, None, "Lattimore and Szepesvari (2020), algorithm 12 and theorem 22.1")


def dp_gope(*, epsilon: SupportsFloat = 1.0) -> Algorithm:
    r"""DP-GOPE (Hanna, Girgis, Fragouli and Diggavi 2022): G-optimal elimination on batches with Laplace noise.

    Rule: GOPE, where at the end of a batch the sum of each arm's gains in it gets Laplace noise of scale 1 / epsilon,
    and widths include this noise.

    Private because a changed gain is in one sum of one batch, released once, with noise 1 / epsilon.

    The regret that privacy adds does not grow with sqrt(T): with features of rank d it is of order d^1.5 ln(K T) ln(T)
    / epsilon, up to a factor ln d. See `theory.linear_bounds.linear_elimination_bound`.

    Differs from the source in: lengths, the design, widths and constants, which are this project's, with a proof; a
        random order of the arms of a batch, each played in one run. The order does not depend on gains and does not
        affect plays or noise, so the guarantee is unchanged. Only the source's abstract was available; it has batches,
        a core set and noise on sums.
    """
    epsilon = checks.epsilon(epsilon)
    return _elimination(
        "DP-GOPE", {"epsilon": epsilon}, epsilon, "Hanna, Girgis, Fragouli and Diggavi (2022), the central model"
    )


def adac_gope(
    *, epsilon: SupportsFloat = 1.0, delta: SupportsFloat = 1e-6, rho: SupportsFloat | None = None
) -> Algorithm:
    r"""AdaC-GOPE (Azize and Basu 2023): G-optimal elimination on batches with Gaussian noise; zCDP.

    Rule: GOPE, where at the end of a batch the sum of each arm's gains in it gets Gaussian noise of the smallest
    standard deviation sigma for (epsilon, delta), and widths include this noise.

    Private because a changed gain is in one sum of one batch, which is released once, with Gaussian noise: all releases
    together are rho-zCDP with rho = 1 / (2 sigma^2), and (epsilon, delta)-DP.

    `rho` can replace epsilon: sigma is then 1 / sqrt(2 rho), and epsilon follows from it at delta. For epsilon = 1 and
    delta = 1e-6 rho is 0.028.

    Differs from the source in: noise on the arms' sums; lengths, widths and constants, which are this project's; a
        random order of the arms of a batch, each played in one run. The order does not depend on gains and does not
        affect plays or noise, so the guarantee is unchanged. Only the source's abstract was available; it has adaptive
        episodes and the Gaussian mechanism.
    """
    delta = checks.delta(delta)
    epsilon = epsilon_of_rho(rho, epsilon, delta)
    return _elimination(
        "AdaC-GOPE", {"epsilon": epsilon, "delta": delta}, epsilon, "Azize and Basu (2023), AdaC-GOPE", delta=delta
    )


def _elimination(
    name: str, parameters: dict[str, Any], epsilon: float | None, reference: str, *, delta: float | None = None
) -> Algorithm:
    """Return G-optimal elimination, with noise in the sums of its batches if `epsilon` is given."""
    normal = delta is not None

    def wrapping(env: Environment) -> Environment:
        features = env.get_wrapper_attr("features") if env.has_wrapper_attr("features") else None
        rank = env.get_wrapper_attr("n_arms") if features is None else rank_of(features)
        lengths = batch_lengths(rank, env.get_wrapper_attr("horizon"))
        return BatchSums(env, epsilon=math.inf if epsilon is None else epsilon, lengths=lengths, delta=delta)

    def on_arms(means: Sequence[float], horizon: int) -> float:
        scale = wrapping(BanditEnv(Deterministic(len(means), horizon))).get_wrapper_attr("noise").scale
        gaps = [max(means) - mean for mean in means]
        return linear_elimination_bound(len(means), None, horizon, scale, normal=normal, gaps=gaps)

    def in_game(env: Environment) -> float:
        game: Any = env.unwrapped
        if game.sensitivity > 1 or not isinstance(game.adversary, LinearGains):
            return math.inf
        rank, scale = rank_of(game.adversary.features), wrapping(env).get_wrapper_attr("noise").scale
        regret = linear_elimination_bound(game.n_arms, rank, game.horizon, scale, normal=normal)
        return regret + coins_excess(game.n_arms, game.horizon)

    return Algorithm(
        name=name,
        make_agent=functools.partial(LinearElimination, normal=normal),
        wrapping=wrapping,
        bound_in=in_game,
        stochastic_bound=on_arms,
        parameters=parameters,
        reference=reference,
    )
