"""The mechanisms behind the privacy wrappers, each under its wrapper's name."""

from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms.batch_average import MiniBatchAverage
from dp_bandit_envs.privacy.mechanisms.batch_sums import BatchSums
from dp_bandit_envs.privacy.mechanisms.block_sums import BlockSums
from dp_bandit_envs.privacy.mechanisms.counter_sums import CounterSums, ExactSums, HybridSums
from dp_bandit_envs.privacy.mechanisms.interval_sums import IntervalSums
from dp_bandit_envs.privacy.mechanisms.laplace_gains import LaplaceClipRescale
from dp_bandit_envs.privacy.mechanisms.randomized_response import RandomizedResponse

MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.__name__: mechanism
    for mechanism in (
        LaplaceClipRescale,
        RandomizedResponse,
        MiniBatchAverage,
        ExactSums,
        BlockSums,
        BatchSums,
        IntervalSums,
        CounterSums,
        HybridSums,
    )
}
"""The one table of mechanisms; `wrappers` and `wrappers.vector` have a class for each, of the same name."""

__all__ = [
    "MECHANISMS",
    "BatchSums",
    "BlockSums",
    "CounterSums",
    "ExactSums",
    "HybridSums",
    "IntervalSums",
    "LaplaceClipRescale",
    "MiniBatchAverage",
    "RandomizedResponse",
]
