"""The scales of nodes, and the functions of counters with normal draws in place of Laplace draws."""

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dp_bandit_envs.privacy.gaussian import draw_normal
from dp_bandit_envs.privacy.node_noise import fill_normal
from dp_bandit_envs.privacy.rounding import divide_up
from dp_bandit_envs.specialise import specialise_within


def gaussian_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a counter's plain function with normal draws in place of Laplace draws."""
    return specialise_within(specialise_within(function, "draw", draw_normal), "fill", fill_normal)


@functools.lru_cache(maxsize=4096)
def node_scale(nodes: int, epsilon: float) -> float:
    """Return the scale of Laplace noise for `nodes` nodes that share epsilon; 0 for epsilon = inf."""
    return divide_up(nodes, epsilon)


def unit_scale(nodes: int, epsilon: float, most_levels: int) -> float:
    """Return the scale for `nodes` nodes, rounded up so that none of its multiples up to `most_levels` is too small."""
    unit = node_scale(nodes, epsilon)
    if math.isinf(epsilon):
        return unit
    if not math.isfinite(most_levels * unit):
        raise ValueError(f"noise for epsilon = {epsilon!r} is too large for a noise scale; use a larger epsilon.")
    exact = Fraction(nodes) / Fraction(epsilon)
    while any(Fraction(levels * unit) < levels * exact for levels in range(1, most_levels + 1)):
        unit = math.nextafter(unit, math.inf)
    return unit
