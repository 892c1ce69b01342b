"""Agents choose arms or points from released observations, and see no environment or adversary. One agent a file."""

from dp_bandit_envs.agents.ball_osmd import BallOsmd
from dp_bandit_envs.agents.drifting import DiscountedUcb, RestartedUcb, SlidingWindow
from dp_bandit_envs.agents.epoch_leader import EpochLeader
from dp_bandit_envs.agents.exp2 import Exp2
from dp_bandit_envs.agents.exp3 import Exp3
from dp_bandit_envs.agents.exp3_set import Exp3Set
from dp_bandit_envs.agents.functional import FunctionalAgent, FunctionalPointAgent, StoppingAgent
from dp_bandit_envs.agents.gaussian_thompson import GaussianThompsonSampling
from dp_bandit_envs.agents.gaussian_ucb import GaussianUcb
from dp_bandit_envs.agents.hedge import Hedge
from dp_bandit_envs.agents.imed import Imed
from dp_bandit_envs.agents.kl_ucb import KlUcb
from dp_bandit_envs.agents.lazy_hedge import LazyHedge
from dp_bandit_envs.agents.linear_elimination import LinearElimination
from dp_bandit_envs.agents.max_n import TsMaxN, UcbMaxN
from dp_bandit_envs.agents.perturbed_leader import PerturbedLeader, PerturbedLeaderOfArms
from dp_bandit_envs.agents.random_labels import RandomLabels
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.agents.scrible import Scrible, ScribleOnVectors
from dp_bandit_envs.agents.successive_elimination import SuccessiveElimination
from dp_bandit_envs.agents.thompson_sampling import ThompsonSampling
from dp_bandit_envs.agents.top_two import TopTwo
from dp_bandit_envs.agents.tsallis_inf import Htinf, TsallisInf
from dp_bandit_envs.agents.ucb import LocalUcb, Ucb
from dp_bandit_envs.agents.uniform import Uniform

__all__ = [
    "BallOsmd",
    "DiscountedUcb",
    "EpochLeader",
    "Exp2",
    "Exp3",
    "Exp3Set",
    "FunctionalAgent",
    "FunctionalPointAgent",
    "GaussianThompsonSampling",
    "GaussianUcb",
    "Hedge",
    "Htinf",
    "Imed",
    "KlUcb",
    "LazyHedge",
    "LinearElimination",
    "LocalUcb",
    "PerturbedLeader",
    "PerturbedLeaderOfArms",
    "RandomLabels",
    "RegularizedLeader",
    "RestartedUcb",
    "Scrible",
    "ScribleOnVectors",
    "SlidingWindow",
    "StoppingAgent",
    "SuccessiveElimination",
    "ThompsonSampling",
    "TopTwo",
    "TsMaxN",
    "TsallisInf",
    "Ucb",
    "UcbMaxN",
    "Uniform",
]
