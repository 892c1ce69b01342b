"""Privacy wrappers: what an agent may see. One wrapper a file; their vector forms are in `wrappers.vector`."""

from dp_bandit_envs.wrappers.block_means import BlockMeans
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary
from dp_bandit_envs.wrappers.hybrid_sums import HybridSums
from dp_bandit_envs.wrappers.interval_means import IntervalMeans
from dp_bandit_envs.wrappers.laplace_clip_rescale import LaplaceClipRescale
from dp_bandit_envs.wrappers.mini_batch_average import MiniBatchAverage
from dp_bandit_envs.wrappers.randomised_response import RandomisedResponse
from dp_bandit_envs.wrappers.running_sums import RunningSums
from dp_bandit_envs.wrappers.sums_boundary import SumsBoundary

__all__ = [
    "BlockMeans",
    "HybridSums",
    "IntervalMeans",
    "LaplaceClipRescale",
    "MiniBatchAverage",
    "PrivacyBoundary",
    "RandomisedResponse",
    "RunningSums",
    "SumsBoundary",
]
