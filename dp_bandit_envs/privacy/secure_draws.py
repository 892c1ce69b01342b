r"""Exact noise from a cryptographic source: `draws="secure"` of a mechanism.

Fast draws are repeatable and have 64 bits, which costs a delta (`privacy.accounting`). Secure draws come from OpenDP:
integers with exactly the discrete Laplace law :math:`P(z) \propto e^{-|z| / r}` or the discrete normal law
:math:`P(z) \propto e^{-z^2 / (2 r^2)}`, from a cryptographic generator (Canonne, Kamath and Steinke 2020). An integer
counts steps of a grid, which is a power of two.

Why releases are exact:

- A value is rounded to the grid, towards 0, before noise is added. Rounding may move neighbouring values apart by a
  step each, and the scale is that of the larger distance.
- Grid, values and sums are such that every sum in it is a double: below 2^50 steps for values, 2^31 for scales.
- Later steps (rejecting, clipping, rescaling, adding up blocks) are post-processing. Counters that weight their draws
  by fractions (Honaker's and the square-root counter) have no secure form.

So Laplace noise has delta 0. Normal noise keeps its rho exactly. The theorem's epsilon and delta hold for real normal
noise; the distance between the discrete law and rounded real noise is less than 1 / (20 r^2), about 1e-20.

A secure stream has its own methods, so that a function not written for it fails before it draws.
"""

import copy
import functools
import math
import secrets
from collections.abc import Callable
from typing import Any, Final, Self

from dp_bandit_envs import checks
from dp_bandit_envs.checks import require
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.accounting import distance_of_draws
from dp_bandit_envs.privacy.facts import STEP, InputFacts
from dp_bandit_envs.privacy.laplace import DEVIATION, grid_of, noise_scale
from dp_bandit_envs.privacy.mechanism import Mechanism, Release
from dp_bandit_envs.protocols import FloatArray

DRAWS: Final = ("fast", "secure")
SCALE_BITS: Final = 30
"""A scale has at least 2^30 steps, unless its grid is already the items' grid."""
VALUE_BITS: Final = 50
"""A value has at most 2^50 steps."""
MOST_EXACT: Final = 2**22
"""Sums of items, multiples of 2^-30, are exact up to here; counters choose coarser items for longer games."""
MOST_STEPS: Final = 2**45
"""A draw beyond it, which has probability below e^-16000, ends the game: its sums might not be exact."""


class SecureStream:
    """Draws whole numbers of grid steps, and 53 random bits, from the operating system; it has no seed and no state."""

    def laplace_steps(self, scale: float) -> float:
        """Return a discrete Laplace draw of that scale, in steps."""
        return _checked(_measurement("make_laplace", scale)(0))

    def normal_steps(self, scale: float) -> float:
        """Return a discrete normal draw of that standard deviation, in steps."""
        return _checked(_measurement("make_gaussian", scale)(0))

    def random(self) -> float:
        """Return a uniform multiple of 2^-53 in [0, 1), as NumPy's generators do."""
        return secrets.randbits(53) * 2.0**-53


@functools.lru_cache(maxsize=256)
def _measurement(name: str, scale: float) -> Callable[[int], int]:
    """Return OpenDP's measurement, which adds noise to a whole number."""
    opendp = require("opendp.prelude", extra="secure")
    opendp.enable_features("contrib")
    measurement: Callable[[int], int] = getattr(opendp.m, name)(
        opendp.atom_domain(T="i64"), opendp.absolute_distance(T="i64"), scale=scale
    )
    return measurement


def _checked(steps: int) -> float:
    if abs(steps) > MOST_STEPS:
        raise OverflowError("a draw is too large for exact sums")
    return float(steps)


def draw_steps(scale: float, rng: Any) -> float:
    """Return a Laplace draw in steps; for scale 0, return 0 without drawing. Replaces `laplace.draw`."""
    return float(rng.laplace_steps(scale)) if scale > 0.0 else 0.0


def draw_normal_steps(scale: float, rng: Any) -> float:
    """Return a normal draw in steps; for scale 0, return 0 without drawing. Replaces `gaussian.draw_normal`."""
    return float(rng.normal_steps(scale)) if scale > 0.0 else 0.0


def fill_steps(node: FloatArray, scale: float, norm: int, rng: Any) -> None:
    """Fill an array with discrete Laplace noise in grid steps; secure replacement of `node_noise.fill`."""
    for i in range(len(node)):
        node[i] = draw_steps(scale, rng)


def fill_normal_steps(node: FloatArray, scale: float, norm: int, rng: Any) -> None:
    """Fill an array with discrete normal noise in grid steps; secure replacement of `node_noise.fill_normal`."""
    for i in range(len(node)):
        node[i] = draw_normal_steps(scale, rng)


def noisy_exact(value: float, scale: float, grid: float, rng: Any) -> float:
    """Return the value on the grid plus exact Laplace noise (none for scale 0); secure replacement of `noisy`."""
    return on_grid(value, grid) + grid * draw_steps(scale / grid, rng) if scale > 0.0 else value


def on_grid(value: float, grid: float) -> float:
    """Return the multiple of a power of two next to a value, towards 0."""
    return math.trunc(value / grid) * grid


def secure_grid(scale: float, most: float) -> float:
    """Return the grid for noise of this scale and values up to `most`: a power of two; 0 without noise."""
    if not scale > 0:
        return 0.0
    exponent = math.frexp(scale)[1] - 1 - SCALE_BITS
    return max(STEP, math.ldexp(1.0, exponent), math.ldexp(1.0, math.frexp(most)[1] - VALUE_BITS))


def distance_on_grid(distance: float, grid: float, inputs: InputFacts, *, l2: bool = False) -> float:
    """Return the L1 or L2 distance of neighbouring values after rounding to a grid.

    Rounding moves each changed number by less than a step. If the step divides the width of their range, two numbers at
    most this width apart stay so.

    Args:
        distance: The distance before.
        grid: The step; 0 without noise.
        inputs: Public facts about the values.
        l2: Whether the distance is in L2.
    """
    numbers, width = inputs.gains_in_a_round, inputs.values.width
    root = math.sqrt(numbers) if l2 else float(numbers)
    moved = distance + root * grid
    if grid > 0 and math.fmod(width, grid) == 0:
        moved = min(moved, root * width)
    return max(distance, moved)


def normal_distance(scale: float, draws: int) -> float:
    """Return the distance between discrete normal draws and rounded real normal draws, in [0, 1].

    In a cell of width 1 around z the real mass is the density times 1 + (z^2 / r^2 - 1) / (24 r^2) and smaller terms,
    and the mean of |z^2 / r^2 - 1| is .97; the distance is half of that.

    Args:
        scale: The standard deviation r in steps.
        draws: The number of draws.
    """
    return min(1.0, draws / (20 * scale * scale)) if scale > 1 else 1.0


class ChoosesDraws(Mechanism):
    """A mechanism with the argument `draws`: `"fast"` (`dp_bandit_envs.draws`) or `"secure"` (this module)."""

    # A default of the class: fast draws keep the streams that the other parameters determine.
    draws: str = "fast"

    def _use_draws(self, draws: str) -> None:
        """Store the choice, or raise if OpenDP is missing."""
        if checks.one_of("draws", draws, DRAWS) == "secure":
            require("opendp.prelude", extra="secure")
            self.draws = draws

    def secured(self) -> Self:
        """Return the same mechanism with secure draws, or raise if it has no secure form."""
        other = copy.deepcopy(self)
        other._use_draws("secure")
        other._check_draws()
        return other

    def _check_draws(self) -> None:
        """Raise if the other parameters do not allow secure draws; called at the end of constructors."""

    @property
    def _secure(self) -> bool:
        return self.draws == "secure"

    def release_for(self, inputs: InputFacts) -> Release:
        """Return `release`, with exact noise for secure draws."""
        release: Release = self.release
        return bind(release, {"noisy": noisy_exact}) if self._secure else release

    def _scale(self, distance: float, most: float, inputs: InputFacts) -> float:
        """Return the Laplace scale for this distance, measured before values up to `most` are rounded to a grid."""
        epsilon = getattr(self, "epsilon", math.inf)
        scale = noise_scale(distance, epsilon)
        if not self._secure:
            return scale
        # Twice the grid, as a larger scale may have the next one.
        return noise_scale(distance_on_grid(distance, 2 * self._grid(scale, most), inputs), epsilon)

    def _grid(self, scale: float, most: float) -> float:
        """Return the grid of Laplace noise of this scale on values up to `most`."""
        if self._secure and most > MOST_EXACT:
            raise WrongGameError(
                f"draws='secure' of {type(self).__name__} needs a horizon of at most {MOST_EXACT:,}, up to which sums"
                f" of gains are exact; received {most:,.0f}. Use CounterSums or draws='fast'."
            )
        return secure_grid(scale, most) if self._secure else grid_of(DEVIATION * scale)

    def _distance(self, scale: float, grid: float, draws: int) -> float:
        """Return the distance between this many Laplace draws and exact noise."""
        return 0.0 if self._secure else distance_of_draws(scale, grid, draws)


def takes_no_seed(mechanism: Mechanism) -> bool:
    """Whether a mechanism's noise comes from the operating system alone."""
    return getattr(mechanism, "draws", "fast") == "secure"
