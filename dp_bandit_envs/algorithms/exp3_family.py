"""EXP3, Tsallis-INF and similar, without privacy, with Laplace noise, or private by their own randomness.

`BASES` are the learners for noisy gains or noisy averages; EXP3-tau needs no noise, because one gain changes averages,
and so its draws, only a little (docs/notes/exp3-privacy.md).
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.exp3 import Exp3, default_exploration_rate
from dp_bandit_envs.agents.exp3_set import Exp3Set
from dp_bandit_envs.agents.tsallis_inf import PAPER_SIGMA, Htinf, TsallisInf
from dp_bandit_envs.agents.uniform import Uniform
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.privacy.accounting import zcdp_within
from dp_bandit_envs.privacy.exp3_privacy import EXP3_ONLY, exp3_guarantee
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, at_delta
from dp_bandit_envs.privacy.mechanisms.batch_average import batch_size_within
from dp_bandit_envs.privacy.mechanisms.laplace_gains import OUTSIDE
from dp_bandit_envs.protocols import AgentFactory, Environment
from dp_bandit_envs.theory.adversarial_bounds import (
    capped_batch_size,
    exp3_printed_epsilon,
    exp3_regret_bound,
    exp3_set_regret_bound,
    exp3_tau_printed_epsilon,
    exp3_tau_regret_bound,
    htinf_regret_bound,
    laplace_batch_size,
    rejection_bias,
    rescaled_regret_bound,
    switching_batch_size,
    tsallis_regret_bound,
    uniform_regret_bound,
    without_memory,
)
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage


def uniform() -> Algorithm:
    """Uniform play: the baseline, which ignores all gains.

    Rule: each round plays an arm drawn uniformly at random, whatever was seen.

    Private because the arms do not depend on the gains at all: epsilon is 0.

    Differs from the source in: no respect; it has no source.
    """
    return Algorithm(
        name="Uniform",
        make_agent=Uniform,
        own_guarantee=lambda n_arms, horizon: PrivacyGuarantee(
            epsilon=0.0, theorem="the arms played do not depend on the gains", agents="Uniform"
        ),
        bound=without_memory(uniform_regret_bound),
        reference="none: the baseline",
    )


def exp3(*, exploration_rate: SupportsFloat | None = None) -> Algorithm:
    """EXP3 (Auer et al. 2003): regret at most 2 sqrt((e - 1) T K ln K); by itself barely private.

    Rule: `Exp3` learns from the gains themselves. It draws each arm with a probability that grows with the arm's
    estimated gain, mixed with uniform play.

    Hardly private because there are T draws. A changed gain moves the scores by at most 1 and the difference never
    grows, so every later draw loses at most 1; all T draws together give a vacuous guarantee.

    Differs from the source in: no known respect.
    """
    rate = Exp3(exploration_rate=exploration_rate).rate

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return exp3_guarantee(n_arms=n_arms, draws=horizon, exploration_rate=rate(n_arms, horizon))

    def paper_guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return PrivacyGuarantee(
            epsilon=exp3_printed_epsilon(n_arms, horizon, rate(n_arms, horizon)),
            theorem="Tossou and Dimitrakakis (2017), theorem 3.3, as printed",
            agents=EXP3_ONLY,
        )

    return Algorithm(
        name="EXP3",
        make_agent=lambda: Exp3(exploration_rate=exploration_rate),
        own_guarantee=guarantee,
        paper_guarantee_of=paper_guarantee,
        bound=without_memory(exp3_regret_bound) if exploration_rate is None else None,
        parameters={"exploration_rate": exploration_rate},
        reference="Auer, Cesa-Bianchi, Freund and Schapire (2003); Tossou and Dimitrakakis (2017), equation 2.1",
    )


def tsallis_inf() -> Algorithm:
    """Tsallis-INF (Zimmert and Seldin 2021): regret at most 4 sqrt(K T) + 1; not private.

    Rule: `TsallisInf` learns from the gains themselves. It draws from the distribution that minimises its estimated
    loss minus a multiple of the sum of the square roots of its entries.

    Not private because it learns from exact gains, and no guarantee is known for its own randomness.

    Differs from the source in: no known respect.
    """
    return Algorithm(
        name="Tsallis-INF",
        make_agent=TsallisInf,
        bound=without_memory(tsallis_regret_bound),
        reference="Zimmert and Seldin (2021), theorem 1",
    )


def htinf(*, sigma: SupportsFloat = 1.0) -> Algorithm:
    """HTINF (Huang, Dai and Huang 2022): Tsallis-INF for losses with heavy tails; not private by itself.

    Rule: `Htinf` learns from the gains themselves, as Tsallis-INF does, but skips a loss that is too large for the
    probability of its arm.

    Not private because it learns from exact gains, and no guarantee is known for its own randomness.

    Differs from the source in: no known respect.
    """
    sigma = checks.greater_than("sigma", sigma, 0)
    return Algorithm(
        name="HTINF",
        make_agent=lambda: Htinf(sigma=sigma),
        bound=without_memory(lambda n_arms, horizon: htinf_regret_bound(n_arms, horizon, sigma)),
        parameters={"sigma": sigma},
        reference="Huang, Dai and Huang (2022), HTINF with tail index 2",
    )


def exp3_set() -> Algorithm:
    """EXP3-SET (Alon, Cesa-Bianchi, Gentile and Mansour 2013): exponential weights with every loss revealed.

    Rule: draws each arm with a probability that decreases with its estimated loss. Each loss that a round reveals is
    divided by the probability that it is revealed, and added to its arm's estimate.

    Not private because it learns from exact gains, and no guarantee is known for its own randomness.

    Differs from the source in: no known respect.
    """
    return Algorithm(
        name="EXP3-SET",
        make_agent=Exp3Set,
        bound=without_memory(lambda n_arms, horizon: exp3_set_regret_bound(n_arms, horizon, n_arms, n_arms)),
        bound_in=_exp3_set_bound,
        reference="Alon, Cesa-Bianchi, Gentile and Mansour (2013), EXP3-SET",
    )


def _exp3_set_bound(env: Environment) -> float:
    """Return the bound on a game's graph, which must be undirected, with self-loops, and the same in all games."""
    game: Any = env.unwrapped
    source = getattr(game, "source", None)
    if source is None:
        return exp3_set_regret_bound(game.n_arms, game.horizon, game.n_arms, game.n_arms)
    graph = source.graph
    if not source.is_fixed or graph.directed or not graph.reveals_itself:
        return math.inf
    return exp3_set_regret_bound(game.n_arms, game.horizon, graph.independent_arms, len(graph.clique_cover))


def dp_exp3_lap(
    *,
    epsilon: SupportsFloat = 1.0,
    bound: SupportsFloat | None = None,
    outside: str = "reject",
) -> Algorithm:
    """DP-EXP3-Lap (Tossou and Dimitrakakis 2017, algorithm 1): EXP3 on single gains with Laplace noise.

    Rule: the gain g of the arm played gets Laplace noise N of scale 1 / epsilon. Outside of [-b, 1 + b], with b = ln T
    / epsilon, g + N is withheld; otherwise `Exp3` takes (g + N + b) / (2 b + 1) for the gain.

    Private because a changed round changes one noisy value, whose law moves by a factor of at most e^epsilon, and
    `Exp3` sees only this value. The true gain need not be stored, so this is local privacy.

    Differs from the source in: the noisy gain is rescaled, where theorem 3.1 prints the true one; released values are
        rounded to a grid.
    """
    around_exp3 = dp_lambda_lap(epsilon=epsilon, base="EXP3", bound=bound, outside=outside)
    return dataclasses.replace(around_exp3, name="DP-EXP3-Lap")


def dp_lambda_lap(
    *,
    epsilon: SupportsFloat = 1.0,
    base: str | AgentFactory = "EXP3",
    bound: SupportsFloat | None = None,
    outside: str = "reject",
) -> Algorithm:
    """DP-Lambda-Lap (Tossou and Dimitrakakis 2017, section 3.1): any base algorithm on gains with Laplace noise.

    Rule: the gain g of the arm played gets Laplace noise N of scale 1 / epsilon. Outside of [-b, 1 + b], with b = ln T
    / epsilon, g + N is withheld; otherwise the base takes (g + N + b) / (2 b + 1) for the gain.

    Private because a changed round changes one noisy value, whose law moves by a factor of at most e^epsilon; the base
    is post-processing. The true gain need not be stored, so this is local privacy.

    Differs from the source in: the noisy gain is rescaled, where theorem 3.1 prints the true one; released values are
        rounded to a grid.
    """
    return _laplace_on_averages(
        "DP-Lambda-Lap",
        "Tossou and Dimitrakakis (2017), theorems 3.1 and 3.2",
        base,
        epsilon=epsilon,
        batch_size=1,
        bound=bound,
        outside=outside,
    )


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
    options = {"epsilon": epsilon, "batch_size": batch_size, "outside": outside}
    return _laplace_on_averages("Batched-Lap-EXP3", "Asi, Raman and Talwar (2025)", "EXP3", **options)


def batched_lap_htinf(
    *,
    epsilon: SupportsFloat = 1.0,
    batch_size: SupportsIndex | None = None,
    sigma: SupportsFloat = PAPER_SIGMA,
    outside: str = "reject",
) -> Algorithm:
    """Batched-Lap-HTINF (Asi, Raman and Talwar 2025): HTINF on averages with Laplace noise; sqrt(K T / epsilon).

    Rule: each arm drawn is played for tau = ceil(1 / epsilon) rounds, or `batch_size`. The average of its gains gets
    Laplace noise of scale 1 / (epsilon tau), is withheld or rescaled as in DP-EXP3-Lap, and is one gain for `Htinf`.
    This agent undoes the rescaling and skips losses that are too large for their arm.

    Private because a round is in one average, which it moves by at most 1 / tau, and each average is released once.

    Differs from the source in: 1 / epsilon is rounded up to whole rounds; noisy averages are rescaled to [0, 1], which
        the agent undoes, and rejected beyond; released values are rounded to a grid.
    """
    options = {"epsilon": epsilon, "batch_size": batch_size, "outside": outside, "sigma": sigma}
    return _laplace_on_averages("Batched-Lap-HTINF", "Asi, Raman and Talwar (2025)", "HTINF", **options)


BASES: dict[str, Callable[..., Algorithm]] = {
    "EXP3": exp3,
    "Tsallis-INF": tsallis_inf,
    "HTINF": htinf,
    "Uniform": uniform,
}
"""The base algorithms that are known by name."""
BASE_BOUNDS = {"EXP3": exp3_regret_bound, "Tsallis-INF": tsallis_regret_bound}
"""Regret bounds of the bases that see rescaled gains as if they were exact; HTINF undoes the rescaling."""


def named_base(base: Any, bases: Mapping[str, Callable[..., Algorithm]]) -> tuple[str, Any]:
    """Return the name and the agent factory of a base algorithm: a name in a table, or an agent factory itself."""
    if isinstance(base, str):
        name = checks.known_name("base", base, bases)
        return name, bases[name]().make_agent
    if not callable(base):
        raise TypeError(f"base must be a known name or make an agent when called; received {base!r}.")
    return getattr(base, "__name__", str(base)), checks.function("base", base)


def _laplace_on_averages(
    name: str,
    reference: str,
    base: str | AgentFactory,
    *,
    epsilon: Any,
    outside: Any,
    batch_size: Any = None,
    bound: Any = None,
    sigma: Any = None,
) -> Algorithm:
    """Return the base on averages of `batch_size` rounds with Laplace noise, accepted up to `bound` outside [0, 1].

    Batches are by default of ceil(1 / epsilon) rounds. `sigma` is HTINF's; by default the root of the second moment of
    a loss of 1 plus its noise.
    """
    epsilon = checks.epsilon(epsilon)
    if batch_size is None:
        batch_size = laplace_batch_size(epsilon)
    batch_size = checks.integer("batch_size", batch_size, at_least=1)
    checks.one_of("outside", outside, OUTSIDE)
    bound = None if bound is None else checks.at_least("bound", bound, 0)
    base_name, make_agent = named_base(base, BASES)
    # An agent's class that happens to have such a name has no bound.
    known_name = base_name if isinstance(base, str) else ""
    scale = 1 / (epsilon * batch_size)
    second_moment = math.sqrt(1 + 2 * scale * scale) if sigma is None else checks.greater_than("sigma", sigma, 0)

    def wrapping(env: Environment) -> Environment:
        tau = capped_batch_size(batch_size, env.get_wrapper_attr("horizon"))
        if tau > 1:
            env = MiniBatchAverage(env, batch_size=tau)
        return LaplaceClipRescale(env, epsilon=epsilon, bound=bound, outside=outside)

    def regret_bound(n_arms: int, horizon: int) -> float:
        tau = capped_batch_size(batch_size, horizon)
        steps = horizon // tau
        noise = 1 / (epsilon * tau)
        if known_name == "HTINF":
            # The agent undoes the rescaling; the bound needs a sigma that covers the noise.
            covered = second_moment**2 >= (1 + 2 * noise**2) * (1 - 1e-12)
            of_steps = htinf_regret_bound(n_arms, steps, second_moment) if covered else math.inf
        elif known_name in BASE_BOUNDS:
            of_steps = rescaled_regret_bound(BASE_BOUNDS[known_name], n_arms, steps, noise)
        else:
            return math.inf
        return tau * (of_steps + rejection_bias(steps, noise)) + (horizon - steps * tau)

    return Algorithm(
        name=name,
        make_agent=functools.partial(Htinf, sigma=sigma) if known_name == "HTINF" else make_agent,
        wrapping=wrapping,
        bound=without_memory(regret_bound) if bound is None and outside == "reject" else None,
        parameters={
            "epsilon": epsilon,
            "base": base_name,
            "batch_size": batch_size,
            "bound": bound,
            "outside": outside,
        },
        reference=reference,
    )


def exp3_tau(
    *,
    batch_size: SupportsIndex | None = None,
    epsilon: SupportsFloat | None = None,
    delta: SupportsFloat | None = None,
) -> Algorithm:
    """EXP3-tau (Tossou and Dimitrakakis 2017, section 3.2): EXP3 on batch averages; T^(2/3) with switching costs.

    Rule: each arm drawn is played for tau rounds, and `Exp3` treats the average of its gains as one gain, in a game of
    floor(T / tau) steps. By default tau is ceil((T / (7 K ln K))^(1/3)), the best against switching costs.

    Private because a round moves one average by at most 1 / tau, which changes the laws of later draws only a little:
    the randomness of `Exp3` protects it, without noise (proof in docs/notes/exp3-privacy.md).

    Differs from the source in: batch sizes are rounded up to whole rounds; for a given (epsilon, delta) the batch is
        the smallest that the guarantee proved here allows (`private_batch_size`), not corollary 3.3's.
    """
    if batch_size is not None and (epsilon is not None or delta is not None):
        raise ValueError("batch_size and (epsilon, delta) both fix the batches; give one or the other.")
    if (epsilon is None) != (delta is None):
        raise ValueError("epsilon and delta belong together: EXP3-tau's useful guarantee is (epsilon, delta)-DP.")
    fixed = None if batch_size is None else checks.integer("batch_size", batch_size, at_least=1)
    target = None if epsilon is None or delta is None else (checks.epsilon(epsilon), checks.delta(delta))

    def tau(n_arms: int, horizon: int) -> int:
        if fixed is not None:
            return fixed
        if target is not None:
            return private_batch_size(n_arms, horizon, *target)
        return capped_batch_size(switching_batch_size(n_arms, horizon), horizon)

    def wrapping(env: Environment) -> Environment:
        n_arms, horizon = env.get_wrapper_attr("n_arms"), env.get_wrapper_attr("horizon")
        return MiniBatchAverage(env, batch_size=tau(n_arms, horizon))

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        guarantee = batches_guarantee(n_arms, horizon, batch_size_within(tau(n_arms, horizon), horizon))
        # For a requested (epsilon, delta), state the guarantee at that delta.
        return guarantee if target is None else at_delta(guarantee, target[1])

    def paper_guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return PrivacyGuarantee(
            epsilon=exp3_tau_printed_epsilon(horizon, tau(n_arms, horizon)),
            delta=horizon**-2,
            theorem="Tossou and Dimitrakakis (2017), theorem 3.5 with delta = T^-2 and the root over T / tau^3 too",
            agents=EXP3_ONLY,
        )

    return Algorithm(
        name="EXP3-tau",
        make_agent=Exp3,
        wrapping=wrapping,
        own_guarantee=guarantee,
        paper_guarantee_of=paper_guarantee,
        bound=lambda n_arms, horizon, memory: exp3_tau_regret_bound(n_arms, horizon, memory, tau(n_arms, horizon)),
        parameters={"batch_size": fixed, "epsilon": epsilon, "delta": delta},
        reference="Dekel, Tewari and Arora (2012); Tossou and Dimitrakakis (2017), theorems 3.4 and 3.5",
    )


FINENESS = 32
"""The search first tries batches that grow by 1 / 32, and then those between the last two."""


def batches_guarantee(n_arms: int, horizon: int, batch_size: int) -> PrivacyGuarantee:
    """Return the guarantee of EXP3 with its default exploration rate on averages of whole batches.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T.
        batch_size: Rounds in a batch, tau, in [1, T].
    """
    steps = horizon // batch_size
    return exp3_guarantee(
        n_arms=n_arms,
        draws=steps,
        exploration_rate=default_exploration_rate(n_arms, steps),
        sensitivity=1 / batch_size,
    )


@functools.lru_cache(maxsize=1024)
def private_batch_size(n_arms: int, horizon: int, epsilon: float, delta: float) -> int:
    """Return the smallest batch size found such that EXP3-tau is (epsilon, delta)-DP.

    The guarantee's epsilon decreases with the batch size, except near the limit of the condition of `exp3_privacy`, at
    large batches, where the constants grow and the older bound takes over. So the search does not bisect the whole
    range: it tries growing batches and bisects only the last step. There, a smaller batch could be missed only if its
    guarantee were met in between and lost again. Batches so large that the agent plays uniformly (exploration rate 1)
    are private but useless; they are accepted only if the older bound alone suffices.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        epsilon: Greater than 0; inf gives 1.
        delta: In (0, 1).

    Raises:
        ValueError: If no batch within the horizon is large enough.
    """
    if math.isinf(epsilon):
        return 1

    def met(batch_size: int) -> bool:
        return batches_guarantee(n_arms, horizon, batch_size).epsilon_at(delta) <= epsilon

    failed, tried = 0, 1
    while tried <= horizon and default_exploration_rate(n_arms, horizon // tried) < 1:
        if met(tried):
            return smallest_between(failed, tried, met)
        failed, tried = tried, tried + max(1, tried // FINENESS)
    by_zcdp = _batch_size_by_zcdp(horizon, epsilon, delta)
    if by_zcdp > horizon:
        raise ValueError(
            f"EXP3-tau has no batch size for epsilon = {epsilon:g}, delta = {delta:g} within the horizon; received"
            f" {horizon}. Use a longer horizon, a larger epsilon, or DP-EXP3-Lap."
        )
    return int(by_zcdp)


def smallest_between(failed: int, met_at: int, met: Callable[[int], bool]) -> int:
    """Return the smallest batch size that meets the target, or `met_at`, if all below it fail."""
    while met_at - failed > 1:
        middle = (failed + met_at) // 2
        failed, met_at = (failed, middle) if met(middle) else (middle, met_at)
    return met_at


def _batch_size_by_zcdp(horizon: int, epsilon: float, delta: float) -> float:
    r"""Return the least batch size such that :math:`T / (8 \tau^3)`-zCDP implies (epsilon, delta)-DP; inf if none."""
    rho = zcdp_within(epsilon, delta)
    least = math.cbrt(horizon / (8 * rho)) if rho > 0 else math.inf
    return max(1, math.ceil(least)) if math.isfinite(least) else least
