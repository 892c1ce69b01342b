"""Which private algorithm to take, by simulating those that give a person the guarantee that is asked for."""

from dp_bandit_envs.advice.advice import Advice, Pick
from dp_bandit_envs.advice.advising import advise
from dp_bandit_envs.advice.situations import Standing

__all__ = ["Advice", "Pick", "Standing", "advise"]
