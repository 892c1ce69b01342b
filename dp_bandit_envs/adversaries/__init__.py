"""Adversaries choose the gains of all arms."""

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.constrained import ConstrainedCoins
from dp_bandit_envs.adversaries.deterministic import Deterministic
from dp_bandit_envs.adversaries.leader_blocks import LeaderBlocks
from dp_bandit_envs.adversaries.linear_gains import LinearGains
from dp_bandit_envs.adversaries.memory_bounded import MemoryBounded
from dp_bandit_envs.adversaries.oblivious import FullyOblivious, Oblivious
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.adversaries.payoff import overfished, stay
from dp_bandit_envs.adversaries.replay import GainTable, Replay, VectorTable
from dp_bandit_envs.adversaries.shifting import Shifting
from dp_bandit_envs.adversaries.stochastic import BernoulliPrior, Stochastic
from dp_bandit_envs.adversaries.switching import SwitchingCost
from dp_bandit_envs.adversaries.trial import Trial
from dp_bandit_envs.adversaries.vectors import Alternating, Leaning, OneAxis

__all__ = [
    "Adversary",
    "Alternating",
    "BernoulliPrior",
    "ConstrainedCoins",
    "Deterministic",
    "FullyOblivious",
    "GainTable",
    "LeaderBlocks",
    "Leaning",
    "LinearGains",
    "MemoryBounded",
    "Oblivious",
    "OneAxis",
    "OutcomePools",
    "Replay",
    "Shifting",
    "Stochastic",
    "SwitchingCost",
    "Trial",
    "VectorTable",
    "overfished",
    "stay",
]
