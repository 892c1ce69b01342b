"""The public names of this package, each with its module; `__init__.py` reads them here."""

from dp_bandit_envs.wrappers.boundary import PrivacyBoundary as PrivacyBoundary
from dp_bandit_envs.wrappers.privacy_wrappers import (
    BatchSums as BatchSums,
    BlockSums as BlockSums,
    CounterSums as CounterSums,
    ExactSums as ExactSums,
    HybridSums as HybridSums,
    IntervalSums as IntervalSums,
    LaplaceClipRescale as LaplaceClipRescale,
    MiniBatchAverage as MiniBatchAverage,
    RandomizedResponse as RandomizedResponse,
)
from dp_bandit_envs.wrappers.project_to_set import ProjectToSet as ProjectToSet
