"""DP-EXP3-Lap, DP-Lambda-Lap and EXP3-tau, of Tossou and Dimitrakakis (2017)."""

import dataclasses
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.agents.exp3 import Exp3
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.laplace_on_averages import laplace_on_averages
from dp_bandit_envs.algorithms.private_batches import batches_guarantee, private_batch_size
from dp_bandit_envs.privacy.exp3_privacy import EXP3_ONLY
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, at_delta
from dp_bandit_envs.privacy.mechanisms.batch_average import batch_size_within
from dp_bandit_envs.protocols import AgentFactory, Environment
from dp_bandit_envs.theory.adversarial_bounds import exp3_tau_regret_bound
from dp_bandit_envs.theory.batch_sizes import capped_batch_size, switching_batch_size
from dp_bandit_envs.theory.printed_epsilons import exp3_tau_printed_epsilon
from dp_bandit_envs.wrappers import MiniBatchAverage


def dp_exp3_lap(
    *,
    epsilon: SupportsFloat = 1.0,
    bound: SupportsFloat | None = None,
    outside: str = "reject",
) -> Algorithm:
    """DP-EXP3-Lap (Tossou and Dimitrakakis 2017, algorithm 1): EXP3 on gains with Laplace noise, each on its own.

    Rule: the gain g of the arm played gets Laplace noise N of scale 1 / epsilon. Outside of [-b, 1 + b], with b = ln T
    / epsilon, g + N is withheld; otherwise `Exp3` takes (g + N + b) / (2 b + 1) for the gain.

    Private because a changed round changes one noisy value, whose law moves by a factor of at most e^epsilon, and
    `Exp3` sees nothing else. Nobody has to store the true gain, so this is local privacy.

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

    Private because a changed round changes one noisy value, whose law moves by a factor of at most e^epsilon; what the
    base makes of it is post-processing. Nobody has to store the true gain, so this is local privacy.

    Differs from the source in: the noisy gain is rescaled, where theorem 3.1 prints the true one; released values are
        rounded to a grid.
    """
    return laplace_on_averages(
        epsilon=epsilon,
        base=base,
        batch_size=1,
        bound=bound,
        outside=outside,
        sigma=None,
        name="DP-Lambda-Lap",
        reference="Tossou and Dimitrakakis (2017), theorems 3.1 and 3.2",
    )


def exp3_tau(
    *,
    batch_size: SupportsIndex | None = None,
    epsilon: SupportsFloat | None = None,
    delta: SupportsFloat | None = None,
) -> Algorithm:
    """EXP3-tau (Tossou and Dimitrakakis 2017, section 3.2): EXP3 on batch averages; T^(2/3) with switching costs.

    Rule: each arm drawn is played for tau rounds, and `Exp3` takes the average of its gains for one gain, in a game of
    floor(T / tau) steps. By default tau is ceil((T / (7 K ln K))^(1/3)), the best against switching costs.

    Private because a round moves one average by at most 1 / tau, which moves the laws of later draws by little: the
    randomness of `Exp3` hides it, without any noise (proof in docs/own-draws.md).

    Differs from the source in: batch sizes are rounded up to whole rounds; for a given (epsilon, delta) the batch is
        the smallest that the guarantee proved here allows (`private_batch_size`), not that of corollary 3.3.
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
        own = batches_guarantee(n_arms, horizon, batch_size_within(tau(n_arms, horizon), horizon))
        # For a requested (epsilon, delta), state the guarantee at that delta.
        return own if target is None else at_delta(own, target[1])

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
