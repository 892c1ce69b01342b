"""Batched-Lap-EXP3, Batched-Lap-HTINF and Batched-Lap-SCRiBLe, of Asi, Raman and Talwar (2025)."""

from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.scrible import SELECT, Scrible
from dp_bandit_envs.agents.tsallis_inf import PAPER_SIGMA
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.laplace_on_averages import laplace_on_averages
from dp_bandit_envs.algorithms.noisy_payoffs import learner_on_points
from dp_bandit_envs.theory.batch_sizes import laplace_batch_size
from dp_bandit_envs.theory.linear_bounds import scrible_regret_bound


def batched_lap_exp3(
    *,
    epsilon: SupportsFloat = 1.0,
    batch_size: SupportsIndex | None = None,
    outside: str = "reject",
) -> Algorithm:
    """Batched-Lap-EXP3 (Asi, Raman and Talwar 2025): EXP3 on averages of 1 / epsilon gains with Laplace noise.

    Rule: each arm drawn is played for tau = ceil(1 / epsilon) rounds, or `batch_size`. The average of its gains gets
    Laplace noise of scale 1 / (epsilon tau), is withheld or rescaled as in DP-EXP3-Lap, and is one gain for `Exp3`.

    Private because a round is in one average, which it moves by at most 1 / tau, and each average is released once.

    Differs from the source in: 1 / epsilon is rounded up to whole rounds; noisy averages are rescaled to [0, 1] and
        rejected beyond, as in DP-EXP3-Lap; released values are rounded to a grid.
    """
    return _batched_lap("EXP3", epsilon, batch_size, outside, None, "Batched-Lap-EXP3")


def batched_lap_htinf(
    *,
    epsilon: SupportsFloat = 1.0,
    batch_size: SupportsIndex | None = None,
    sigma: SupportsFloat = PAPER_SIGMA,
    outside: str = "reject",
) -> Algorithm:
    """Batched-Lap-HTINF (Asi, Raman and Talwar 2025): HTINF on averages with Laplace noise; sqrt(K T / epsilon).

    Rule: each arm drawn is played for tau = ceil(1 / epsilon) rounds, or `batch_size`. The average of its gains gets
    Laplace noise of scale 1 / (epsilon tau), is withheld or rescaled as in DP-EXP3-Lap, and is one gain for `Htinf`,
    which undoes the rescaling and skips losses that are too large for their arm.

    Private because a round is in one average, which it moves by at most 1 / tau, and each average is released once.

    Differs from the source in: 1 / epsilon is rounded up to whole rounds; noisy averages are rescaled to [0, 1], which
        the agent undoes, and rejected beyond; released values are rounded to a grid.
    """
    return _batched_lap("HTINF", epsilon, batch_size, outside, sigma, "Batched-Lap-HTINF")


def batched_lap_scrible(*, epsilon: SupportsFloat = 1.0, batch_size: SupportsIndex | None = None) -> Algorithm:
    """Batched-Lap-SCRiBLe (Asi, Raman and Talwar 2025): SCRiBLe on averages of 1 / epsilon payoffs with Laplace noise.

    Rule: each point is played for tau = ceil(1 / epsilon) rounds, or `batch_size`. Its average payoff, in [-1, 1], gets
    Laplace noise of scale 2 / (epsilon tau), is clipped where 1 / T of all games have such a payoff, and is one payoff
    for `Scrible`.

    Private because a round is in one average, which it moves by at most 2 / tau, and each average is released once.

    It helps where epsilon is small. Batches of one round are AS-SCRiBLe.

    Differs from the source in: it is for arms; a point's average payoff is that of the average gain vector, so nothing
        else changes. 1 / epsilon is rounded up to whole rounds; released values are rounded to a grid.
    """
    epsilon = checks.epsilon(epsilon)
    tau = laplace_batch_size(epsilon) if batch_size is None else checks.integer("batch_size", batch_size, at_least=1)
    return learner_on_points(
        name="Batched-Lap-SCRiBLe",
        agent=Scrible,
        sets=tuple(SELECT),
        bound=scrible_regret_bound,
        epsilon=epsilon,
        batch_size=tau,
        parameters={"epsilon": epsilon, "batch_size": tau},
        reference="Asi, Raman and Talwar (2025); Abernethy, Hazan and Rakhlin (2008)",
    )


def _batched_lap(
    base: str,
    epsilon: SupportsFloat,
    batch_size: SupportsIndex | None,
    outside: str,
    sigma: SupportsFloat | None,
    name: str,
) -> Algorithm:
    if batch_size is None:
        batch_size = laplace_batch_size(checks.epsilon(epsilon))
    return laplace_on_averages(
        epsilon=epsilon,
        base=base,
        batch_size=checks.integer("batch_size", batch_size, at_least=1),
        bound=None,
        outside=outside,
        sigma=sigma,
        name=name,
        reference="Asi, Raman and Talwar (2025)",
    )
