"""Agents: who plays. One agent a file. They know observations only, never an environment or an adversary."""

from dp_bandit_envs.agents.exp3 import Exp3
from dp_bandit_envs.agents.functional import FunctionalAgent
from dp_bandit_envs.agents.tsallis_inf import Htinf, TsallisInf
from dp_bandit_envs.agents.uniform import Uniform

__all__ = ["Exp3", "FunctionalAgent", "Htinf", "TsallisInf", "Uniform"]
