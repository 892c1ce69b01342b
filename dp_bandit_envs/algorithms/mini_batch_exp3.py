"""EXP3-tau: EXP3 on batch averages without noise; its privacy is that of its own coin flips."""

import dataclasses
import math
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.exp3 import Exp3, default_exploration_rate
from dp_bandit_envs.algorithms.algorithm import Algorithm, capped_batch_size
from dp_bandit_envs.privacy.exp3 import EXP3_ONLY, exp3_guarantee
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanisms.batch_average import batch_size_within
from dp_bandit_envs.privacy.rounding import divide_up
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers import MiniBatchAverage


def exp3_tau(
    *,
    batch_size: SupportsIndex | None = None,
    epsilon: SupportsFloat | None = None,
    delta: SupportsFloat | None = None,
    label: str = "EXP3-tau",
) -> Algorithm:
    """EXP3-tau (Tossou and Dimitrakakis 2017, section 3.2): EXP3 on batch averages; T^(2/3) with switching costs.

    Differs from the source in: batch sizes are rounded up to whole rounds; for a given (epsilon, delta) the batch is
        the smallest that the corrected guarantee allows, not that of corollary 3.3.
    """
    if batch_size is not None and (epsilon is not None or delta is not None):
        raise ValueError("batch_size and (epsilon, delta) both fix the batches; give one or the other.")
    if (epsilon is None) != (delta is None):
        raise ValueError("epsilon and delta belong together: EXP3-tau's useful guarantee is (epsilon, delta)-DP.")
    fixed = None if batch_size is None else checks.integer("batch_size", batch_size, at_least=1)
    target = None if epsilon is None or delta is None else (checks.epsilon(epsilon), checks.delta(delta))

    def size(n_arms: int, horizon: int) -> int:
        if fixed is not None:
            return fixed
        if target is not None:
            return private_batch_size(horizon, *target)
        return capped_batch_size(default_batch_size(n_arms, horizon), horizon)

    def wrapping(env: Environment) -> Environment:
        n_arms, horizon = env.get_wrapper_attr("n_arms"), env.get_wrapper_attr("horizon")
        return MiniBatchAverage(env, batch_size=size(n_arms, horizon))

    def guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        batch = batch_size_within(size(n_arms, horizon), horizon)
        steps = horizon // batch
        own = exp3_guarantee(
            n_arms=n_arms,
            draws=steps,
            exploration_rate=default_exploration_rate(n_arms, steps),
            sensitivity=divide_up(1, batch),
        )
        # Asked for an (epsilon, delta), it answers in those terms.
        return own if target is None else dataclasses.replace(own, epsilon=own.epsilon_at(target[1]), delta=target[1])

    def paper_guarantee(n_arms: int, horizon: int) -> PrivacyGuarantee:
        share = horizon / size(n_arms, horizon) ** 3
        return PrivacyGuarantee(
            epsilon=4 * share + math.sqrt(16 * math.log(horizon) * share),
            delta=horizon**-2,
            theorem="Tossou and Dimitrakakis (2017), theorem 3.5 with delta = T^-2 and the root over T / tau^3 too",
            agents=EXP3_ONLY,
        )

    def bound(n_arms: int, horizon: int, memory: int) -> float:
        batch = size(n_arms, horizon)
        if memory >= batch and memory > 0:
            return math.inf
        return math.sqrt(7 * horizon * batch * n_arms * math.log(n_arms)) + horizon * memory / batch + batch

    return Algorithm(
        name=label,
        make_agent=Exp3,
        wrapping=wrapping,
        own_guarantee=guarantee,
        paper_guarantee_of=paper_guarantee,
        bound=bound,
        parameters={"batch_size": fixed, "epsilon": epsilon, "delta": delta},
        reference="Dekel, Tewari and Arora (2012); Tossou and Dimitrakakis (2017), theorems 3.4 and 3.5",
    )


def default_batch_size(n_arms: int, horizon: int) -> int:
    """Return ceil((T / (7 K ln K))^(1/3)), the best batch size against switching costs (corollary 3.2)."""
    return math.ceil(math.cbrt(horizon / (7 * n_arms * math.log(n_arms))))


def private_batch_size(horizon: int, epsilon: float, delta: float) -> int:
    r"""Return the smallest batch size for which EXP3-tau is (epsilon, delta)-DP by its zCDP guarantee.

    From :math:`\rho + 2 \sqrt{\rho L} = \epsilon` with L = ln(1 / delta) follows
    :math:`\rho = (\sqrt{L + \epsilon} - \sqrt L)^2`; and :math:`T / (8 \tau^3) \le \rho`.

    Raises:
        ValueError: If even one batch of the whole game is too short.
    """
    log = math.log(1 / delta)
    # epsilon / (sqrt(L + epsilon) + sqrt(L)) is the same root without the loss of digits.
    rho = (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2 if math.isfinite(epsilon) else math.inf
    least = math.cbrt(horizon / (8 * rho)) if rho > 0 else math.inf
    size = max(1, math.ceil(least)) if math.isfinite(least) else least
    if size > horizon:
        raise ValueError(
            f"EXP3-tau needs a horizon of at least its batch size {size} for epsilon = {epsilon:g}, delta = {delta:g};"
            f" received {horizon}. Use a larger epsilon, or DP-EXP3-Lap."
        )
    return int(size)


def paper_epsilon(n_arms: int, horizon: int) -> float:
    """Return 28 K ln K + sqrt(112 K ln K ln T): the epsilon of corollary 3.2, used throughout the paper's figure 1."""
    share = n_arms * math.log(n_arms)
    return 28 * share + math.sqrt(112 * share * math.log(horizon))
