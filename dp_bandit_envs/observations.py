"""The two kinds of observation, as agents' plain functions get them.

`Gains` tells what one step revealed of each arm; `Sums` what has been released of each arm so far. The parts are
sequences of `n_arms` numbers: lists in ordinary Python, arrays in compiled code.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple


class Gains(NamedTuple):
    """What one step released.

    Attributes:
        gains: The released gain of each arm, in [0, 1]; 0 where nothing was released.
        observed: 1 for each arm of which a gain was released, otherwise 0.
    """

    gains: Sequence[float]
    observed: Sequence[int]


class Sums(NamedTuple):
    """What has been released so far.

    Attributes:
        sums: The released sum of each arm; noise may carry it outside [0, count].
        counts: The number of gains in it; 0 before an arm's first release.
        releases: How many releases each arm has had; it grows by one with each, whatever the sum and the count are.
    """

    sums: Sequence[float]
    counts: Sequence[int]
    releases: Sequence[int]


KEYS: Final[dict[type, tuple[str, ...]]] = {Gains: ("gain", "observed"), Sums: ("sum", "count", "release")}
"""Under which keys an environment's observation holds the parts of each kind."""
