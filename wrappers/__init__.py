"""Privacy wrappers: what an agent may see. One wrapper a file; their vector forms are in `wrappers.vector`."""

from dp_bandit_envs.wrappers.block_sums import BlockSums
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary
from dp_bandit_envs.wrappers.counter_sums import CounterSums
from dp_bandit_envs.wrappers.exact_sums import ExactSums
from dp_bandit_envs.wrappers.hybrid_sums import HybridSums
from dp_bandit_envs.wrappers.interval_sums import IntervalSums
from dp_bandit_envs.wrappers.laplace_clip_rescale import LaplaceClipRescale
from dp_bandit_envs.wrappers.mini_batch_average import MiniBatchAverage
from dp_bandit_envs.wrappers.randomized_response import RandomizedResponse
from dp_bandit_envs.wrappers.sums_boundary import SumsBoundary

__all__ = [
    "BlockSums",
    "CounterSums",
    "ExactSums",
    "HybridSums",
    "IntervalSums",
    "LaplaceClipRescale",
    "MiniBatchAverage",
    "PrivacyBoundary",
    "RandomizedResponse",
    "SumsBoundary",
]
