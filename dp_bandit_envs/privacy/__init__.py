"""Mechanisms and guarantees."""

from dp_bandit_envs.privacy.exp3 import exp3_guarantee
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import LaplaceMechanism, noise_scale

__all__ = ["LaplaceMechanism", "PrivacyGuarantee", "exp3_guarantee", "noise_scale"]
