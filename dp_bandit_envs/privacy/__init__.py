"""Privacy guarantees, mechanisms and their noise."""

from dp_bandit_envs.privacy.exp3_privacy import exp3_guarantee
from dp_bandit_envs.privacy.facts import InputFacts, Noise
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import noise_scale
from dp_bandit_envs.privacy.ledger import Ledger
from dp_bandit_envs.privacy.mechanism import Mechanism

__all__ = ["InputFacts", "Ledger", "Mechanism", "Noise", "PrivacyGuarantee", "exp3_guarantee", "noise_scale"]
