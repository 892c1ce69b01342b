"""The vector forms of the privacy wrappers, named like the scalar ones, as in `gymnasium.wrappers.vector`."""

from dp_bandit_envs.wrappers.vector.block_means import BlockMeans
from dp_bandit_envs.wrappers.vector.boundary import VectorPrivacyBoundary
from dp_bandit_envs.wrappers.vector.hybrid_sums import HybridSums
from dp_bandit_envs.wrappers.vector.interval_means import IntervalMeans
from dp_bandit_envs.wrappers.vector.laplace_clip_rescale import LaplaceClipRescale
from dp_bandit_envs.wrappers.vector.mini_batch_average import MiniBatchAverage
from dp_bandit_envs.wrappers.vector.randomised_response import RandomisedResponse
from dp_bandit_envs.wrappers.vector.running_sums import RunningSums
from dp_bandit_envs.wrappers.vector.sums_boundary import VectorSumsBoundary

__all__ = [
    "BlockMeans",
    "HybridSums",
    "IntervalMeans",
    "LaplaceClipRescale",
    "MiniBatchAverage",
    "RandomisedResponse",
    "RunningSums",
    "VectorPrivacyBoundary",
    "VectorSumsBoundary",
]
