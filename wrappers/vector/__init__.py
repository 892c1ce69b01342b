"""The vector forms of the privacy wrappers, named like the scalar ones, as in `gymnasium.wrappers.vector`."""

from dp_bandit_envs.wrappers.vector.vector_boundary import VectorPrivacyBoundary
from dp_bandit_envs.wrappers.vector.vector_laplace import LaplaceClipRescale
from dp_bandit_envs.wrappers.vector.vector_wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    MiniBatchAverage,
    RandomizedResponse,
)

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
]
