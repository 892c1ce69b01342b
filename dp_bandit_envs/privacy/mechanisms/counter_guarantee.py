"""The guarantee of `CounterSums`: a counter's guarantee for one item, restated for a round of values."""

import dataclasses

from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.counters import Counter
from dp_bandit_envs.privacy.draws_distance import RADIUS, distance_of_all
from dp_bandit_envs.privacy.guarantee import REPLACE_ONE_ROUND, PrivacyGuarantee
from dp_bandit_envs.privacy.items import distance_l1, distance_l2, distance_own
from dp_bandit_envs.privacy.mechanism import Below, for_rounds
from dp_bandit_envs.privacy.mechanisms.secure_counters import secure_distance
from dp_bandit_envs.privacy.node_noise import counts_as


def guarantee_for(
    noise: str, counter: Counter, factor: float, grid: float, below: Below, *, secure: bool
) -> PrivacyGuarantee:
    """Turn a counter's guarantee for one item into one for a round of values, and state why it carries over.

    Args:
        noise: `"laplace"`, `"own-norm"` or `"gaussian"`.
        counter: The counter.
        factor: Multiplier of its noise.
        grid: The step between released sums.
        below: Public facts about the values.
        secure: Whether its draws are secure ones.
    """
    own = counter.guarantee
    if secure:
        off = secure_distance(counter, noise, factor, grid, below.gains_in_a_round)
    else:
        off = fast_distance(noise, counter, factor, grid, below)
    own = dataclasses.replace(own, draws_distance=off)
    if own.model == "none" or noise == "laplace":
        return for_rounds(own, below.sensitivity, own.theorem)
    if noise == "own-norm":
        reason = (
            "each node has one vector with density exp(-|z| / scale) in the norm of the values"
            f" ({below.values.norm}), in which a round changes them by at most {factor:.4g}, so the log-densities of an"
            " item's nodes change by at most epsilon together (Hardt and Talwar 2010)"
        )
    else:
        reason = (
            f"a round changes all values together by at most {factor:.4g} in L2, which multiplies the noise"
            if factor > 1
            else "a round influences the sum of one arm, so arms compose in parallel"
        )
    return dataclasses.replace(own, neighbours=REPLACE_ONE_ROUND, theorem=f"{own.theorem}; {reason}")


def fast_distance(noise: str, counter: Counter, factor: float, grid: float, below: Below) -> float:
    """Return the distance of the fast draws that one round influences from exact ones, in [0, 1]."""
    values, longer = below.gains_in_a_round, factor * counts_as(noise, below.values.norm, below.n_values)
    draws = [(scale * longer, number * values) for scale, number in counter.item_draws()]
    off = distance_of_all(draws, grid, normal=noise == "gaussian", used_twice=counter.ahead_of_items)
    if noise == "own-norm":
        off += RADIUS * sum(number for _, number in draws)
    return min(1.0, off)


def distance_for(noise: str, below: Below) -> float:
    """Return how far the values of neighbouring rounds differ, in the norm that the noise is for.

    Args:
        noise: `"laplace"`, `"own-norm"` or `"gaussian"`.
        below: Public facts about the values.

    Raises:
        WrongGameError: If the noise is own-norm noise, and the game has no norm of its own.
    """
    if noise == "gaussian":
        return distance_l2(below)
    if noise == "laplace":
        return distance_l1(below)
    if not (below.values.complete and below.values.norm):
        raise WrongGameError(
            "own-norm noise needs a game in which every round reveals every value, such as DPBandit-Experts-v0;"
            " here it does not. Use noise='laplace' or noise='gaussian'."
        )
    return distance_own(below)
