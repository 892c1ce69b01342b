"""The public names of the package, each with its module; `__init__.py` reads them here."""

from dp_bandit_envs.adapters import OutsideGame as OutsideGame
from dp_bandit_envs.adversaries import Adversary as Adversary
from dp_bandit_envs.agents import Exp3 as Exp3
from dp_bandit_envs.algorithms import (
    Algorithm as Algorithm,
    algorithm_names as algorithm_names,
    calibrate as calibrate,
    make_algorithm as make_algorithm,
    register_algorithm as register_algorithm,
)
from dp_bandit_envs.envs.bandit_env import BanditEnv as BanditEnv
from dp_bandit_envs.envs.registration import (
    environment_names as environment_names,
    register_adversary as register_adversary,
)
from dp_bandit_envs.experiments import Comparison as Comparison, compare as compare, load as load
from dp_bandit_envs.figures import reproduce as reproduce
from dp_bandit_envs.privacy import Ledger as Ledger, PrivacyGuarantee as PrivacyGuarantee
from dp_bandit_envs.protocols import Agent as Agent
from dp_bandit_envs.simulation import play as play, simulate as simulate
from dp_bandit_envs.suite import evaluate as evaluate
from dp_bandit_envs.wrappers import LaplaceClipRescale as LaplaceClipRescale
from dp_bandit_envs.wrappers.private_ids import register_private as register_private

__version__: str
