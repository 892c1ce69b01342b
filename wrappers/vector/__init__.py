"""The vector forms of the privacy wrappers, named like the scalar ones, as in `gymnasium.wrappers.vector`."""

from dp_bandit_envs.wrappers.vector.boundary import VectorPrivacyBoundary
from dp_bandit_envs.wrappers.vector.laplace_clip_rescale import LaplaceClipRescale
from dp_bandit_envs.wrappers.vector.mini_batch_average import MiniBatchAverage

__all__ = ["LaplaceClipRescale", "MiniBatchAverage", "VectorPrivacyBoundary"]
