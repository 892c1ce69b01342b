"""Mechanisms that release running sums and counts of each arm's gains. One mechanism a file."""

from dp_bandit_envs.privacy.sums.blocks import BlockSums, geometric_blocks
from dp_bandit_envs.privacy.sums.counted import CounterSums
from dp_bandit_envs.privacy.sums.intervals import IntervalSums
from dp_bandit_envs.privacy.sums.mechanism import SumMechanism
from dp_bandit_envs.privacy.sums.running import ExactSums

__all__ = ["BlockSums", "CounterSums", "ExactSums", "IntervalSums", "SumMechanism", "geometric_blocks"]
