"""Adversaries choose the gains of all arms. One adversary a file."""

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.alternating import Alternating
from dp_bandit_envs.adversaries.bernoulli_prior import BernoulliPrior
from dp_bandit_envs.adversaries.deterministic import Deterministic
from dp_bandit_envs.adversaries.fully_oblivious import FullyOblivious
from dp_bandit_envs.adversaries.leaning import Leaning
from dp_bandit_envs.adversaries.linear_gains import LinearGains
from dp_bandit_envs.adversaries.memory_bounded import MemoryBounded
from dp_bandit_envs.adversaries.oblivious import Oblivious
from dp_bandit_envs.adversaries.one_axis import OneAxis
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.adversaries.payoff import overfished, stay
from dp_bandit_envs.adversaries.replay import GainTable, Replay
from dp_bandit_envs.adversaries.stochastic import Stochastic
from dp_bandit_envs.adversaries.switching import SwitchingCost
from dp_bandit_envs.adversaries.trial import Trial
from dp_bandit_envs.adversaries.vector_table import VectorTable

__all__ = [
    "Adversary",
    "Alternating",
    "BernoulliPrior",
    "Deterministic",
    "FullyOblivious",
    "GainTable",
    "Leaning",
    "LinearGains",
    "MemoryBounded",
    "Oblivious",
    "OneAxis",
    "OutcomePools",
    "Replay",
    "Stochastic",
    "SwitchingCost",
    "Trial",
    "VectorTable",
    "overfished",
    "stay",
]
