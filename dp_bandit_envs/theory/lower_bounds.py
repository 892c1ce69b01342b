"""Asymptotic lower bounds on the pseudo-regret of any consistent algorithm, for Bernoulli arms."""

import math
from collections.abc import Sequence
from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.theory.divergences import bernoulli_kl, private_divergence


def lai_robbins(means: Sequence[SupportsFloat], horizon: SupportsIndex) -> float:
    r"""Return :math:`\sum_{a: \mu_a < \mu^*} \frac{\Delta_a}{\mathrm{kl}(\mu_a, \mu^*)} \ln T`, in units of gain.

    Asymptotic: a policy that is consistent (its pseudo-regret on every set of Bernoulli arms grows slower than any
    power of T) has a pseudo-regret whose ratio to this is at least 1 in the limit. At a given horizon a policy may be
    below it, such as one that always plays the arm that happens to be best.

    Args:
        means: The arms' means, at least 2, each in [0, 1]. With a best mean of 1 the bound is 0.
        horizon: Number of rounds T, at least 1.

    Raises:
        ValueError: If an argument leaves its range.

    Source: Lai and Robbins (1985), theorem 1.
    """
    return private_lower_bound(means, horizon, math.inf)


def private_lower_bound(means: Sequence[SupportsFloat], horizon: SupportsIndex, epsilon: SupportsFloat) -> float:
    r"""Return :math:`\sum_{a: \mu_a < \mu^*} \frac{\Delta_a}{d_\epsilon(\mu_a, \mu^*)} \ln T`, in units of gain.

    Asymptotic, like `lai_robbins`, for consistent policies whose arms played are epsilon-differentially private
    (central model, neighbours differ in the gains of one round). The divergence is `private_divergence`.

    Args:
        means: The arms' means, at least 2, each in [0, 1].
        horizon: Number of rounds T, at least 1.
        epsilon: Privacy parameter, in (0, inf]; inf gives `lai_robbins`.

    Raises:
        ValueError: If an argument leaves its range.

    Source: Azize, Wu, Honda, Orabona, Ito and Basu (2025), lower bound; read in notes on the paper only.
    """
    numbers = arm_means(means)
    horizon = checks.integer("horizon", horizon, at_least=1)
    epsilon = checks.epsilon(epsilon)
    best = max(numbers)

    def hardness(mean: float) -> float:
        nats = bernoulli_kl(mean, best) if math.isinf(epsilon) else private_divergence(mean, best, epsilon)
        # Only for means closer than floats can tell apart do the nats vanish.
        return (best - mean) / nats if nats > 0 else math.inf

    return math.log(horizon) * sum(hardness(mean) for mean in numbers if mean < best) if horizon > 1 else 0.0


def arm_means(means: Sequence[SupportsFloat]) -> list[float]:
    """Return the arms' means as floats, or raise if there are fewer than 2 or one is not in [0, 1]."""
    try:
        each = list(means)
    except TypeError:
        raise WrongTypeError(f"means must be several numbers, one for each arm; received {means!r}.") from None
    numbers = [checks.in_range(f"means[{arm}]", mean, 0, 1) for arm, mean in enumerate(each)]
    if not len(numbers) >= 2:
        raise ValueError(f"means must hold at least 2 arms; received {len(numbers)}.")
    return numbers
