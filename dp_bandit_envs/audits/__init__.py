"""Audits compare a declared guarantee with the actual privacy loss.

`exact_loss` computes the loss of the noise, or of an agent's own draws, in one game. `sampled_loss` attacks an
algorithm through its arms or releases. `float_loss` looks for releases that floating-point numbers make impossible for
another gain. Your own mechanism is audited in the same way. `gallery` contains intentionally broken parts.
"""

from dp_bandit_envs.audits.exact import ExactLoss, exact_loss
from dp_bandit_envs.audits.floats import FloatLoss, float_loss
from dp_bandit_envs.audits.sampled import SampledLoss, sampled_loss

__all__ = ["ExactLoss", "FloatLoss", "SampledLoss", "exact_loss", "float_loss", "sampled_loss"]
