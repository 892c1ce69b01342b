"""The public names of this package, each with its module; `__init__.py` reads them here."""

from dp_bandit_envs.wrappers.vector.vector_boundary import VectorPrivacyBoundary as VectorPrivacyBoundary
from dp_bandit_envs.wrappers.vector.vector_wrappers import (
    BatchSums as BatchSums,
    BlockSums as BlockSums,
    CounterSums as CounterSums,
    ExactSums as ExactSums,
    HybridSums as HybridSums,
    IntervalSums as IntervalSums,
    LaplaceClipRescale as LaplaceClipRescale,
    MiniBatchAverage as MiniBatchAverage,
    ProjectToSet as ProjectToSet,
    RandomizedResponse as RandomizedResponse,
)
