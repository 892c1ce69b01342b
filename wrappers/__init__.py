"""Privacy wrappers decide what an agent may see; their vector forms are in `wrappers.vector`."""

from dp_bandit_envs.wrappers.boundary import PrivacyBoundary
from dp_bandit_envs.wrappers.gain_wrappers import LaplaceClipRescale, MiniBatchAverage, RandomizedResponse
from dp_bandit_envs.wrappers.sum_wrappers import BlockSums, CounterSums, ExactSums, HybridSums, IntervalSums

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
]
