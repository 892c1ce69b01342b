"""The mechanisms behind the privacy wrappers, each under its wrapper's name. One mechanism a file."""

from dp_bandit_envs.privacy.mechanisms.batch_average import MiniBatchAverage
from dp_bandit_envs.privacy.mechanisms.block_sums import BlockSums
from dp_bandit_envs.privacy.mechanisms.counter_sums import CounterSums
from dp_bandit_envs.privacy.mechanisms.exact_sums import ExactSums
from dp_bandit_envs.privacy.mechanisms.interval_sums import IntervalSums
from dp_bandit_envs.privacy.mechanisms.laplace_gains import LaplaceClipRescale
from dp_bandit_envs.privacy.mechanisms.randomized_response import RandomizedResponse

__all__ = [
    "BlockSums",
    "CounterSums",
    "ExactSums",
    "IntervalSums",
    "LaplaceClipRescale",
    "MiniBatchAverage",
    "RandomizedResponse",
]
