"""The two kinds of observation, as the plain functions of agents receive them.

`Gains` contains what one step released for each arm, `Sums` what has been released for each arm so far. The fields are
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
        sums: The released sum of each arm, which can be outside [0, count] because of noise.
        counts: The number of gains in it; 0 before an arm's first release.
        releases: Number of releases of each arm; it grows by one with each, even if sum and count stay equal.
    """

    sums: Sequence[float]
    counts: Sequence[int]
    releases: Sequence[int]


KEYS: Final[dict[type, tuple[str, ...]]] = {Gains: ("gain", "observed"), Sums: ("sum", "count", "release")}
"""The keys in an environment's observation for the fields of each kind."""
