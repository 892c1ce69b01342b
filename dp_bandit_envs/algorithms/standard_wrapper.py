"""The standard wrapper: averages of batches with clipped Laplace noise, for any agent at any epsilon."""

import functools
import math
from collections.abc import Callable
from typing import Any, Final, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.exp3_family import exp3, htinf, named_base, tsallis_inf, uniform
from dp_bandit_envs.algorithms.kl_ucb_family import kl_ucb
from dp_bandit_envs.algorithms.thompson_family import gaussian_ts, ts
from dp_bandit_envs.algorithms.ucb_family import ucb
from dp_bandit_envs.protocols import AgentFactory, Environment, Sums
from dp_bandit_envs.theory.adversarial_bounds import capped_batch_size
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale, MiniBatchAverage

NOISE_SCALE: Final = 0.25
"""The scale of the noise on an average, in units of gain, where the game is long enough."""
LEAST_BATCHES: Final = 64
"""A batch is short enough for this many of them in a game."""
BASES: Final[dict[str, Callable[..., Algorithm]]] = {
    "EXP3": exp3,
    "Tsallis-INF": tsallis_inf,
    "HTINF": htinf,
    "UCB": ucb,
    "KL-UCB": kl_ucb,
    "TS": ts,
    "Gaussian-TS": gaussian_ts,
    "Uniform": uniform,
}
"""The algorithms that are known by name behind the wrapper."""


def clipped_lap(
    *,
    epsilon: SupportsFloat = 1.0,
    base: str | AgentFactory = "EXP3",
    batch_size: SupportsIndex | None = None,
) -> Algorithm:
    """Clipped-Lap, the standard wrapper of the suite: any agent on averages with Laplace noise, clipped to [0, 1].

    Rule: each arm chosen is played for tau = ceil(4 s / epsilon) rounds, at most T / 64, or for `batch_size`. Here s is
    the sensitivity of the game, 1 unless rounds reveal gains of several arms. The average of its gains gets Laplace
    noise of scale s / (epsilon tau), mostly 1/4, is clipped to [0, 1], and is one gain for the base. A base that learns
    from sums gets the sums of these gains.

    Private because a round is in one average, which it moves by at most s / tau, and each average is released once;
    clipping, sums and the base are post-processing. Batches depend on epsilon, T and the game's sensitivity alone.

    Differs from the source in: batches are four times as long; noisy averages are clipped to [0, 1] instead of rejected
        outside a wider interval and rescaled, which shrinks every gap. Any agent may learn from the noisy gains. Each
        of the sources' choices, used instead, lowered the scores on held-out games.
    """
    epsilon = checks.epsilon(epsilon)
    batch_size = None if batch_size is None else checks.integer("batch_size", batch_size, at_least=1)
    base_name, make_agent = named_base(base, BASES)
    return Algorithm(
        name="Clipped-Lap",
        make_agent=make_agent,
        wrapping=standard_wrapper(make_agent, epsilon=epsilon, batch_size=batch_size),
        parameters={"epsilon": epsilon, "base": base_name, "batch_size": batch_size},
        reference="Tossou and Dimitrakakis (2017), theorem 3.2; Asi, Raman and Talwar (2025), for averages",
    )


def standard_wrapper(
    make_agent: Any, *, epsilon: float, batch_size: int | None = None
) -> Callable[[Environment], Environment]:
    """Return a picklable function that puts the standard wrapper around an environment for these agents."""
    return functools.partial(
        wrap_in_clipped_averages, epsilon=epsilon, batch_size=batch_size, with_sums=learns_from_sums(make_agent)
    )


def wrap_in_clipped_averages(
    env: Environment, *, epsilon: float, batch_size: int | None = None, with_sums: bool = False
) -> Environment:
    """Return the environment with averages of batches, clipped Laplace noise, and sums of these if `with_sums`.

    Args:
        env: The game.
        epsilon: In (0, inf].
        batch_size: Rounds in a batch, at least 1, capped at the horizon; by default `standard_batch_size`.
        with_sums: Whether the agent learns from sums.
    """
    horizon = int(env.get_wrapper_attr("horizon"))
    if batch_size is None:
        tau = standard_batch_size(epsilon, horizon, float(env.get_wrapper_attr("sensitivity")))
    else:
        tau = capped_batch_size(batch_size, horizon)
    if tau > 1:
        env = MiniBatchAverage(env, batch_size=tau)
    env = LaplaceClipRescale(env, epsilon=epsilon, outside="clip", bound=0)
    return ExactSums(env) if with_sums else env


def standard_batch_size(epsilon: float, horizon: int, sensitivity: float = 1.0) -> int:
    """Return min(ceil(4 s / epsilon), T // 64), at least 1; it depends on public facts only."""
    wanted = sensitivity / (NOISE_SCALE * epsilon)
    most = max(1, horizon // LEAST_BATCHES)
    return most if wanted >= most else max(1, math.ceil(wanted))


def learns_from_sums(make_agent: Any) -> bool:
    """Return whether the agents of a factory learn from running sums."""
    factory = getattr(make_agent, "func", make_agent)  # of a functools.partial
    if not isinstance(factory, type):
        factory = make_agent()
    return getattr(factory, "learns_from", None) is Sums
