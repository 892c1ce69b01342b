"""Algorithms made private by Laplace noise on gains, one by one or averaged over batches, around any base."""

import functools
import math
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.tsallis_inf import PAPER_SIGMA, Htinf
from dp_bandit_envs.algorithms.algorithm import Algorithm, capped_batch_size, without_memory
from dp_bandit_envs.algorithms.bases import BASES, exp3_regret_bound, htinf_regret_bound, tsallis_regret_bound
from dp_bandit_envs.privacy.mechanisms.laplace_gains import OUTSIDE
from dp_bandit_envs.protocols import AgentFactory, Environment
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage


def dp_exp3_lap(
    *,
    epsilon: SupportsFloat = 1.0,
    bound: SupportsFloat | None = None,
    outside: str = "reject",
    label: str = "DP-EXP3-Lap",
) -> Algorithm:
    """DP-EXP3-Lap (Tossou and Dimitrakakis 2017, algorithm 1): EXP3 on gains with Laplace noise, each on its own.

    Differs from the source in: the noisy gain is rescaled, where theorem 3.1 prints the true one; released values are
        rounded to a grid.
    """
    return dp_lambda_lap(epsilon=epsilon, base="EXP3", bound=bound, outside=outside, label=label)


def dp_lambda_lap(
    *,
    epsilon: SupportsFloat = 1.0,
    base: str | AgentFactory = "EXP3",
    bound: SupportsFloat | None = None,
    outside: str = "reject",
    label: str = "DP-Lambda-Lap",
) -> Algorithm:
    """DP-Lambda-Lap (Tossou and Dimitrakakis 2017, section 3.1): any base algorithm on gains with Laplace noise.

    Differs from the source in: the noisy gain is rescaled, where theorem 3.1 prints the true one; released values are
        rounded to a grid.
    """
    return _laplace(
        epsilon, base, 1, bound, outside, None, label, "Tossou and Dimitrakakis (2017), theorems 3.1 and 3.2"
    )


def batched_lap_exp3(
    *,
    epsilon: SupportsFloat = 1.0,
    batch_size: SupportsIndex | None = None,
    outside: str = "reject",
    label: str = "Batched-Lap-EXP3",
) -> Algorithm:
    """Batched-Lap-EXP3 (Asi, Raman and Talwar 2025): EXP3 on averages of 1 / epsilon gains with Laplace noise.

    Differs from the source in: 1 / epsilon is rounded up to whole rounds; noisy averages are rescaled to [0, 1] and
        rejected beyond, as in DP-EXP3-Lap; released values are rounded to a grid.
    """
    return _batched(epsilon, "EXP3", batch_size, outside, None, label)


def batched_lap_htinf(
    *,
    epsilon: SupportsFloat = 1.0,
    batch_size: SupportsIndex | None = None,
    sigma: SupportsFloat = PAPER_SIGMA,
    outside: str = "reject",
    label: str = "Batched-Lap-HTINF",
) -> Algorithm:
    """Batched-Lap-HTINF (Asi, Raman and Talwar 2025): HTINF on averages with Laplace noise; sqrt(K T / epsilon).

    Differs from the source in: 1 / epsilon is rounded up to whole rounds; noisy averages are rescaled to [0, 1], which
        the agent undoes, and rejected beyond; released values are rounded to a grid.
    """
    return _batched(epsilon, "HTINF", batch_size, outside, sigma, label)


def default_batch_size(epsilon: float) -> int:
    """Return ceil(1 / epsilon), so that the noise on an average has a scale of at most 1."""
    if math.isinf(1 / epsilon):
        raise ValueError(f"epsilon must be large enough for a batch of 1 / epsilon rounds; received {epsilon!r}.")
    return max(1, math.ceil(1 / epsilon))


def _batched(
    epsilon: SupportsFloat,
    base: str,
    batch_size: SupportsIndex | None,
    outside: str,
    sigma: SupportsFloat | None,
    label: str,
) -> Algorithm:
    size = (
        default_batch_size(checks.epsilon(epsilon))
        if batch_size is None
        else checks.integer("batch_size", batch_size, at_least=1)
    )
    return _laplace(epsilon, base, size, None, outside, sigma, label, "Asi, Raman and Talwar (2025)")


def _laplace(
    epsilon: SupportsFloat,
    base: str | AgentFactory,
    batch_size: int,
    bound: SupportsFloat | None,
    outside: str,
    sigma: SupportsFloat | None,
    label: str,
    reference: str,
) -> Algorithm:
    """Make base o rescaling o Laplace o average: the one construction behind all algorithms of this file."""
    budget = checks.epsilon(epsilon)
    checks.one_of("outside", outside, OUTSIDE)
    bound = None if bound is None else checks.at_least("bound", bound, 0)
    if not (isinstance(base, str) or callable(base)):
        raise TypeError(f"base must be a known name or make an agent when called; received {base!r}.")
    scale = 1 / (budget * batch_size)
    second_moment = math.sqrt(1 + 2 * scale * scale) if sigma is None else checks.greater_than("sigma", sigma, 0)
    base_name = checks.known_name("base", base, BASES) if isinstance(base, str) else None

    def wrapping(env: Environment) -> Environment:
        size = capped_batch_size(batch_size, env.get_wrapper_attr("horizon"))
        if size > 1:
            env = MiniBatchAverage(env, batch_size=size)
        return LaplaceClipRescale(env, epsilon=budget, bound=bound, outside=outside)

    def regret_bound(n_arms: int, horizon: int) -> float:
        size = capped_batch_size(batch_size, horizon)
        steps = horizon // size
        noise = 1 / (budget * size)
        kept = noise * math.log(steps)
        if base_name == "HTINF":
            # The agent undoes the rescaling; the bound needs a sigma that covers the noise.
            covered = second_moment**2 >= (1 + 2 * noise**2) * (1 - 1e-12)
            inside = htinf_regret_bound(n_arms, steps, second_moment) if covered else math.inf
        elif base_name in ("EXP3", "Tsallis-INF"):
            of_base = exp3_regret_bound if base_name == "EXP3" else tsallis_regret_bound
            inside = (2 * kept + 1) * of_base(n_arms, steps)
        else:
            return math.inf
        # A rejected gain counts like an end of the interval (the lower for EXP3, the upper for learners from losses);
        # over the game the bias differs between arms by at most this (theorem 3.1 prints 2 K + sqrt(32 T) / epsilon
        # instead, which is larger).
        bias = (math.log(steps) + 1) * noise + 0.5 if noise > 0 else 0.0
        return size * (inside + bias) + (horizon - steps * size)

    make_agent: AgentFactory
    if base_name == "HTINF":
        make_agent = functools.partial(Htinf, sigma=sigma)
    else:
        make_agent = BASES[base_name]().make_agent if base_name is not None else base  # type: ignore[assignment]
    return Algorithm(
        name=label,
        make_agent=make_agent,
        wrapping=wrapping,
        bound=without_memory(regret_bound) if bound is None and outside == "reject" else None,
        parameters={
            "epsilon": budget,
            "base": base_name or getattr(base, "__name__", str(base)),
            "batch_size": batch_size,
            "bound": bound,
            "outside": outside,
        },
        reference=reference,
    )
