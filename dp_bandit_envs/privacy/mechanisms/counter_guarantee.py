"""The guarantee of `CounterSums`: a counter's guarantee for one item, restated for a round of values."""

import dataclasses

from dp_bandit_envs.privacy.guarantee import REPLACE_ONE_ROUND, PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Below, for_rounds


def guarantee_for(noise: str, factor: float, own: PrivacyGuarantee, below: Below) -> PrivacyGuarantee:
    """Turn a counter's guarantee for one item into one for a round of values, and state why it carries over."""
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
