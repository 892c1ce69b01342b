"""Counters release a running sum repeatedly (continual release); one epsilon covers all releases."""

from dp_bandit_envs.privacy.counters.counter import Counter
from dp_bandit_envs.privacy.counters.k_ary import KAryCounter
from dp_bandit_envs.privacy.counters.square_root import SquareRootCounter
from dp_bandit_envs.privacy.counters.table import COUNTERS, make_counter
from dp_bandit_envs.privacy.counters.trees import (
    BinaryCounter,
    HonakerCounter,
    HybridCounter,
    LogarithmicCounter,
    PaddedBinaryCounter,
    SegmentTreesCounter,
    SmoothBinaryCounter,
)

__all__ = [
    "COUNTERS",
    "BinaryCounter",
    "Counter",
    "HonakerCounter",
    "HybridCounter",
    "KAryCounter",
    "LogarithmicCounter",
    "PaddedBinaryCounter",
    "SegmentTreesCounter",
    "SmoothBinaryCounter",
    "SquareRootCounter",
    "make_counter",
]
