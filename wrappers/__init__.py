"""Privacy wrappers: what an agent may see. One wrapper a file; their vector forms are in `wrappers.vector`."""

from dp_bandit_envs.wrappers.boundary import PrivacyBoundary
from dp_bandit_envs.wrappers.laplace_clip_rescale import LaplaceClipRescale
from dp_bandit_envs.wrappers.mini_batch_average import MiniBatchAverage

__all__ = ["LaplaceClipRescale", "MiniBatchAverage", "PrivacyBoundary"]
