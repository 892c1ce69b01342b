"""Which private algorithm to take, by simulating those that give a person the guarantee that is asked for."""

from dp_bandit_envs.advice.advice import Advice, Pick
from dp_bandit_envs.advice.advising import advise
from dp_bandit_envs.advice.situations import FadingArms, Standing

__all__ = ["Advice", "FadingArms", "Pick", "Standing", "advise"]
