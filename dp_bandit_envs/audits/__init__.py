"""Audits compare what a guarantee declares with the privacy that is really lost.

`exact_loss` works out the loss of the noise, or of an agent's own draws, in one game; `sampled_loss` attacks an
algorithm from its arms alone; `float_loss` looks for releases that doubles make impossible for another gain. A
mechanism of your own is audited in the same way. `gallery` holds parts that are broken on purpose.
"""

from dp_bandit_envs.audits.exact import ExactLoss, exact_loss
from dp_bandit_envs.audits.floats import FloatLoss, float_loss
from dp_bandit_envs.audits.sampled import SampledLoss, sampled_loss

__all__ = ["ExactLoss", "FloatLoss", "SampledLoss", "exact_loss", "float_loss", "sampled_loss"]
