"""The vector forms of the privacy wrappers, named like the scalar ones, as in `gymnasium.wrappers.vector`."""

from typing import TYPE_CHECKING, Any

from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers.named_wrappers import named, wrapper_of
from dp_bandit_envs.wrappers.vector.vector_boundary import (
    LaplaceClipRescale,
    MiniBatchAverage,
    ProjectToSet,
    VectorPrivacyBoundary,
)

# Two have drivers of their own, over arrays of all games.
__all__ = ["LaplaceClipRescale", "MiniBatchAverage", "ProjectToSet", "VectorPrivacyBoundary"]
__all__ += [name for name in MECHANISMS if name not in __all__]

if TYPE_CHECKING:
    from dp_bandit_envs.privacy import mechanisms

    # What `__getattr__` makes, for editors and type checkers.
    BatchSums = wrapper_of(VectorPrivacyBoundary, mechanisms.BatchSums)
    BlockSums = wrapper_of(VectorPrivacyBoundary, mechanisms.BlockSums)
    CounterSums = wrapper_of(VectorPrivacyBoundary, mechanisms.CounterSums)
    ExactSums = wrapper_of(VectorPrivacyBoundary, mechanisms.ExactSums)
    HybridSums = wrapper_of(VectorPrivacyBoundary, mechanisms.HybridSums)
    IntervalSums = wrapper_of(VectorPrivacyBoundary, mechanisms.IntervalSums)
    RandomizedResponse = wrapper_of(VectorPrivacyBoundary, mechanisms.RandomizedResponse)


def __getattr__(name: str) -> Any:
    return named(__name__, VectorPrivacyBoundary, name)
