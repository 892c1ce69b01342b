"""The construction of DP-Lambda-Lap and Batched-Lap: any base algorithm on averages with Laplace noise."""

import functools
import math
from collections.abc import Callable
from typing import SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.agents.tsallis_inf import Htinf
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.auer_2003 import exp3
from dp_bandit_envs.algorithms.baseline import uniform
from dp_bandit_envs.algorithms.huang_2022 import htinf
from dp_bandit_envs.algorithms.zimmert_2021 import tsallis_inf
from dp_bandit_envs.privacy.mechanisms.laplace_gains import OUTSIDE
from dp_bandit_envs.protocols import AgentFactory, Environment
from dp_bandit_envs.theory.adversarial_bounds import (
    exp3_regret_bound,
    htinf_regret_bound,
    rejection_bias,
    rescaled_regret_bound,
    tsallis_regret_bound,
    without_memory,
)
from dp_bandit_envs.theory.batch_sizes import capped_batch_size
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage

BASES: dict[str, Callable[..., Algorithm]] = {
    "EXP3": exp3,
    "Tsallis-INF": tsallis_inf,
    "HTINF": htinf,
    "Uniform": uniform,
}
"""The base algorithms that are known by name."""
BASE_BOUNDS = {"EXP3": exp3_regret_bound, "Tsallis-INF": tsallis_regret_bound}
"""Regret bounds of the bases that see rescaled gains as if they were exact; HTINF undoes the rescaling."""


def laplace_on_averages(
    *,
    epsilon: SupportsFloat,
    base: str | AgentFactory,
    batch_size: int,
    bound: SupportsFloat | None,
    outside: str,
    sigma: SupportsFloat | None,
    name: str,
    reference: str,
) -> Algorithm:
    """Return the base on batch averages to which Laplace noise is added, rescaled to [0, 1].

    Args:
        epsilon: Privacy parameter, in (0, inf].
        base: A key of `BASES`, or a function that makes an agent.
        batch_size: Rounds in a batch, at least 1; in shorter games, the horizon.
        bound: How far outside [0, 1] a noisy average still counts; by default the paper's ln(n) times the noise's
            scale, for n averages.
        outside: How averages beyond that are treated: `"reject"` or `"clip"`.
        sigma: For HTINF, the root of the second moment of a noisy loss; by default, that of a loss of 1 plus its noise.
        name: The name of its results.
        reference: Author (year) and theorem.
    """
    epsilon = checks.epsilon(epsilon)
    checks.one_of("outside", outside, OUTSIDE)
    bound = None if bound is None else checks.at_least("bound", bound, 0)
    if not (isinstance(base, str) or callable(base)):
        raise TypeError(f"base must be a known name or make an agent when called; received {base!r}.")
    scale = 1 / (epsilon * batch_size)
    second_moment = math.sqrt(1 + 2 * scale * scale) if sigma is None else checks.greater_than("sigma", sigma, 0)
    base_name = checks.known_name("base", base, BASES) if isinstance(base, str) else None

    def wrapping(env: Environment) -> Environment:
        tau = capped_batch_size(batch_size, env.get_wrapper_attr("horizon"))
        if tau > 1:
            env = MiniBatchAverage(env, batch_size=tau)
        return LaplaceClipRescale(env, epsilon=epsilon, bound=bound, outside=outside)

    def regret_bound(n_arms: int, horizon: int) -> float:
        tau = capped_batch_size(batch_size, horizon)
        steps = horizon // tau
        noise = 1 / (epsilon * tau)
        if base_name == "HTINF":
            # The agent undoes the rescaling; the bound needs a sigma that covers the noise.
            covered = second_moment**2 >= (1 + 2 * noise**2) * (1 - 1e-12)
            of_steps = htinf_regret_bound(n_arms, steps, second_moment) if covered else math.inf
        elif base_name in BASE_BOUNDS:
            of_steps = rescaled_regret_bound(BASE_BOUNDS[base_name], n_arms, steps, noise)
        else:
            return math.inf
        return tau * (of_steps + rejection_bias(steps, noise)) + (horizon - steps * tau)

    make_agent: AgentFactory
    if base_name == "HTINF":
        make_agent = functools.partial(Htinf, sigma=sigma)
    else:
        make_agent = BASES[base_name]().make_agent if base_name is not None else base  # type: ignore[assignment]
    return Algorithm(
        name=name,
        make_agent=make_agent,
        wrapping=wrapping,
        bound=without_memory(regret_bound) if bound is None and outside == "reject" else None,
        parameters={
            "epsilon": epsilon,
            "base": base_name or getattr(base, "__name__", str(base)),
            "batch_size": batch_size,
            "bound": bound,
            "outside": outside,
        },
        reference=reference,
    )
