"""Which private algorithm to take, by simulating those that give a person the guarantee that is asked for."""

from dp_bandit_envs.advice.advice import Advice
from dp_bandit_envs.advice.advising import advise
from dp_bandit_envs.advice.fading_arms import FadingArms
from dp_bandit_envs.advice.picks import Pick
from dp_bandit_envs.advice.standings import Standing

__all__ = ["Advice", "FadingArms", "Pick", "Standing", "advise"]
