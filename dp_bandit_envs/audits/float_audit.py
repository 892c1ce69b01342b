"""Releases that reveal a gain because of how floating-point numbers are spaced, whatever epsilon is."""

import dataclasses
import math
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.optional import require
from dp_bandit_envs.privacy.mechanism import Below, Mechanism
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.wrappers import PrivacyBoundary

FARTHEST = 37.0
"""Fast Laplace draws end before this many scales, at 53 ln 2 = 36.8."""


@dataclasses.dataclass(frozen=True)
class FloatLoss:
    """How often a release rules the other gain out with certainty.

    Attributes:
        name: The mechanism's name.
        impossible: Releases of the smallest gain that no draw can produce from the largest one.
        games: Releases that were looked at.
        delta: With the confidence, no finite epsilon holds with a delta below this; at least 0.
        declared_delta: The delta that is declared, with what the draws add.
    """

    name: str
    impossible: int
    games: int
    delta: float
    declared_delta: float

    @property
    def holds(self) -> bool:
        """Whether the lower bound on delta is within the declared delta."""
        return self.delta <= self.declared_delta


def float_loss(
    mechanism: Mechanism,
    *,
    games: SupportsIndex = 1000,
    confidence: SupportsFloat = 0.99,
    horizon: SupportsIndex = 4,
    seed: int = 0,
) -> FloatLoss:
    """Release the smallest gain many times, and look for a draw that gives the same number from the largest gain.

    The first release of a mechanism is a function of one Laplace draw that never decreases, so a draw that gives a
    number, if there is one, is found by bisection over all doubles. Fast draws are 2^53 of them, so more releases may
    be impossible than are counted.

    Args:
        mechanism: A mechanism whose first gain is released with one Laplace draw.
        games: Number of releases, at least 1.
        confidence: In (0, 1).
        horizon: Number of rounds that the mechanism is told.
        seed: The seed of the draws.

    Raises:
        NotAuditedError: If the first gain is not released, or not with one Laplace draw.
        ImportError: If SciPy is missing (extra `audits`).

    Source: Mironov (2012), On Significance of the Least Significant Bits For Differential Privacy.
    """
    if takes_no_seed(mechanism):
        raise NotAuditedError(f"{type(mechanism).__name__} has secure draws, which are exact: nothing is impossible.")
    number, rounds = checks.integer("games", games, at_least=1), checks.integer("horizon", horizon, at_least=1)
    sure = float(checks.greater_than("confidence", confidence, 0))
    if not sure < 1:
        raise ValueError(f"confidence must be in (0, 1); received {confidence!r}.")
    wrapped = PrivacyBoundary(BanditEnv(GainTable(np.zeros((rounds, 2)))), mechanism)
    below, rng = wrapped.below, Stream(np.random.SFC64(seed))
    impossible = 0
    for _ in range(number):
        draw = _OneDraw(rng=rng)
        released = _first(mechanism, below, below.values.low, draw)
        if draw.scale <= 0:
            raise NotAuditedError(f"{type(mechanism).__name__} does not draw Laplace noise for the first gain.")
        if math.isfinite(released):
            impossible += not _can_be(released, mechanism, below, draw.scale)
    least = require("scipy.stats", extra="audits").beta.ppf(1 - sure, impossible, number - impossible + 1)
    delta = float(least) if impossible else 0.0
    return FloatLoss(type(mechanism).__name__, impossible, number, delta, wrapped.guarantee.delta_with_draws)


class _OneDraw:
    """A random generator with one Laplace draw: a given one, or a true one."""

    def __init__(self, value: float = 0.0, rng: np.random.Generator | None = None) -> None:
        self._value, self._rng, self.scale = value, rng, 0.0

    def laplace(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return the draw."""
        if self.scale > 0:
            raise NotAuditedError("the first gain is released with more than one draw.")
        self.scale = scale
        return self._value if self._rng is None else self._rng.laplace(loc, scale)

    def __getattr__(self, name: str) -> Any:
        raise NotAuditedError(f"the first gain is released with a draw of the kind {name}, not Laplace.")


def _first(mechanism: Mechanism, below: Below, gain: float, draw: _OneDraw) -> float:
    """Return the first release of a gain, or nan if it is withheld."""
    value, count = mechanism.release(mechanism.new_state(below), 0, gain, draw)
    return float(value) if count else math.nan


def _can_be(released: float, mechanism: Mechanism, below: Below, scale: float) -> bool:
    """Whether some draw releases this number for the largest gain."""
    reach = FARTHEST * scale + below.values.width
    low, high = -reach, reach
    while low < (middle := (low + high) / 2) < high:
        value = _first(mechanism, below, below.values.high, _OneDraw(middle))
        if value == released:
            return True
        # Where a number is withheld for being outside, it is above the range for positive draws.
        too_small = middle < 0 if math.isnan(value) else value < released
        low, high = (middle, high) if too_small else (low, middle)
    ends = (_first(mechanism, below, below.values.high, _OneDraw(end)) for end in (low, high))
    return released in ends
