"""Adversaries: who writes the gains. One adversary a file."""

from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.bernoulli_prior import BernoulliPrior
from dp_bandit_envs.adversaries.deterministic import Deterministic
from dp_bandit_envs.adversaries.fully_oblivious import FullyOblivious
from dp_bandit_envs.adversaries.memory_bounded import MemoryBounded
from dp_bandit_envs.adversaries.oblivious import Oblivious
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.adversaries.replay import GainTable, Replay
from dp_bandit_envs.adversaries.stochastic import Stochastic
from dp_bandit_envs.adversaries.switching import SwitchingCost
from dp_bandit_envs.adversaries.trial import Trial

BY_NAME: dict[str, type[Adversary]] = {
    "Deterministic": Deterministic,
    "Stochastic": Stochastic,
    "FullyOblivious": FullyOblivious,
    "Oblivious": Oblivious,
    "Switching": SwitchingCost,
    "MemoryBounded": MemoryBounded,
}
"""The adversaries that need no more than a number of arms and of rounds, by the name of their environment."""

__all__ = [
    "BY_NAME",
    "Adversary",
    "BernoulliPrior",
    "Deterministic",
    "FullyOblivious",
    "GainTable",
    "MemoryBounded",
    "Oblivious",
    "OutcomePools",
    "Replay",
    "Stochastic",
    "SwitchingCost",
    "Trial",
]
