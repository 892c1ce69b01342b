"""The vector forms of the privacy wrappers, named like the scalar ones, as in `gymnasium.wrappers.vector`."""

from dp_bandit_envs.wrappers.vector.block_sums import BlockSums
from dp_bandit_envs.wrappers.vector.boundary import VectorPrivacyBoundary
from dp_bandit_envs.wrappers.vector.counter_sums import CounterSums
from dp_bandit_envs.wrappers.vector.exact_sums import ExactSums
from dp_bandit_envs.wrappers.vector.hybrid_sums import HybridSums
from dp_bandit_envs.wrappers.vector.interval_sums import IntervalSums
from dp_bandit_envs.wrappers.vector.laplace_clip_rescale import LaplaceClipRescale
from dp_bandit_envs.wrappers.vector.mini_batch_average import MiniBatchAverage
from dp_bandit_envs.wrappers.vector.randomized_response import RandomizedResponse
from dp_bandit_envs.wrappers.vector.sums_boundary import VectorSumsBoundary

__all__ = [
    "BlockSums",
    "CounterSums",
    "ExactSums",
    "HybridSums",
    "IntervalSums",
    "LaplaceClipRescale",
    "MiniBatchAverage",
    "RandomizedResponse",
    "VectorPrivacyBoundary",
    "VectorSumsBoundary",
]
