"""Batched-Lap-EXP3 and Batched-Lap-HTINF, of Asi, Raman and Talwar (2025)."""

from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.tsallis_inf import PAPER_SIGMA
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.laplace_on_averages import laplace_on_averages
from dp_bandit_envs.theory.batch_sizes import laplace_batch_size


def batched_lap_exp3(
    *,
    epsilon: SupportsFloat = 1.0,
    batch_size: SupportsIndex | None = None,
    outside: str = "reject",
) -> Algorithm:
    """Batched-Lap-EXP3 (Asi, Raman and Talwar 2025): EXP3 on averages of 1 / epsilon gains with Laplace noise.

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

    Differs from the source in: 1 / epsilon is rounded up to whole rounds; noisy averages are rescaled to [0, 1], which
        the agent undoes, and rejected beyond; released values are rounded to a grid.
    """
    return _batched_lap("HTINF", epsilon, batch_size, outside, sigma, "Batched-Lap-HTINF")


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
