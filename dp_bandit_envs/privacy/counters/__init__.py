"""Counters release a running sum again and again, all releases together under one epsilon. One counter a file."""

import inspect
from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.errors import UnknownArgumentError
from dp_bandit_envs.privacy.counters.binary import BinaryCounter
from dp_bandit_envs.privacy.counters.counter import Counter
from dp_bandit_envs.privacy.counters.honaker import HonakerCounter
from dp_bandit_envs.privacy.counters.hybrid import HybridCounter
from dp_bandit_envs.privacy.counters.k_ary import KAryCounter
from dp_bandit_envs.privacy.counters.logarithmic import LogarithmicCounter
from dp_bandit_envs.privacy.counters.padded_binary import PaddedBinaryCounter
from dp_bandit_envs.privacy.counters.segment_trees import SegmentTreesCounter
from dp_bandit_envs.privacy.counters.smooth_binary import SmoothBinaryCounter
from dp_bandit_envs.privacy.counters.square_root import SquareRootCounter

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

COUNTERS: dict[str, type[Counter]] = {
    "logarithmic": LogarithmicCounter,
    "binary": BinaryCounter,
    "hybrid": HybridCounter,
    "segment-trees": SegmentTreesCounter,
    "honaker": HonakerCounter,
    "padded-binary": PaddedBinaryCounter,
    "smooth-binary": SmoothBinaryCounter,
    "k-ary": KAryCounter,
    "square-root": SquareRootCounter,
}
"""The one table of counters."""


def make_counter(name: str, **arguments: Any) -> Counter:
    """Make a counter by name.

    Args:
        name: A key of `COUNTERS`.
        arguments: What it takes: `epsilon`, `horizon`, `rng`, and `delta`, `base` or `budget` where it has one.
    """
    known = checks.known_name("counter", name, COUNTERS)
    # Some counters take the common arguments as **arguments and pass them to the base class.
    both = {**inspect.signature(Counter).parameters, **inspect.signature(COUNTERS[known]).parameters}
    takes = [name for name, parameter in both.items() if parameter.kind is not parameter.VAR_KEYWORD]
    for argument in arguments:
        if argument not in takes:
            raise UnknownArgumentError(f"the {known} counter", argument, f"Known: {', '.join(takes)}.")
    return COUNTERS[known](**arguments)
