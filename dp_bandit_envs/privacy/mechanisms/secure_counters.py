"""Counters with secure draws: which can have them, their scales in grid steps, and their functions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.privacy.counters import Counter, SquareRootCounter
from dp_bandit_envs.privacy.items import STEP
from dp_bandit_envs.privacy.mechanism import Below
from dp_bandit_envs.privacy.mechanisms.weighed_counters import factor_of_entries, hidden_numbers
from dp_bandit_envs.privacy.rounding import multiply_up
from dp_bandit_envs.privacy.secure_draws import (
    distance_on_grid,
    draw_normal_steps,
    draw_steps,
    fill_normal_steps,
    fill_steps,
    normal_distance,
    secure_grid,
)


def check_secure(counter: str, noise: str, plain: bool) -> None:
    """Raise if a counter and a kind of noise cannot have secure draws.

    Args:
        counter: A key of `COUNTERS`.
        noise: `"laplace"`, `"own-norm"` or `"gaussian"`.
        plain: Whether the counter's noise is a plain function, in which draws can be replaced.
    """
    if noise == "own-norm":
        raise ValueError(
            "draws='secure' is for noise='laplace' and noise='gaussian'; received noise='own-norm', whose draws are"
            " real vectors, of which no exact discrete form is known here."
        )
    if not plain:
        raise ValueError(
            f"draws='secure' needs a counter whose noise is a plain function; received counter={counter!r}."
        )


def exact_form(function: Callable[..., Any], noise: str) -> Callable[..., Any]:
    """Return a counter's plain function, of either form and kind, with draws in steps."""
    normal = noise == "gaussian"
    draw, fill = (draw_normal_steps, fill_normal_steps) if normal else (draw_steps, fill_steps)
    normals = {"draw_normal": draw_normal_steps, "fill_normal": fill_normal_steps}
    return bind(function, {"draw": draw, "fill": fill, **normals})


def grid_and_factor(counter: Counter, distance: float, below: Below, *, l2: bool) -> tuple[float, float]:
    """Return the grid of the sums, and the distance of neighbouring rounds' values after rounding them to it.

    Args:
        counter: The counter.
        distance: The distance before, in L1 or L2.
        below: Public facts about the values.
        l2: Whether it is in L2.
    """
    largest = max((scale for scale, _ in counter.item_draws()), default=0.0)
    most = below.horizon * max(-below.values.low, below.values.high)
    # Values are rounded to the grid itself, by less than a step, whatever the scale; so it is chosen first.
    grid = secure_grid(2 * largest * max(distance, STEP), most)
    apart = distance_on_grid(distance, grid, below, l2=l2)
    if isinstance(counter, SquareRootCounter):
        apart = factor_of_entries(counter, apart, grid, below)
    return grid, apart


def in_steps(state: Any, factor: float, grid: float) -> Any:
    """Return a counter's state with its scale, or scales, multiplied by a factor and counted in grid steps."""
    if not grid > 0 or state is None:
        return state
    if hasattr(state, "scales"):
        return state._replace(scales=np.array([multiply_up(float(scale), factor) / grid for scale in state.scales]))
    return state._replace(scale=multiply_up(float(state.scale), factor) / grid)


def first_states(
    counter: Counter, state: Any, together: Any, factor: float, grid: float, n_values: int, weighed: bool
) -> tuple[Any, Any]:
    """Return a counter's states for secure draws: in grid steps, or beside the numbers that draws hide.

    Args:
        counter: The counter.
        state: That of independent arms.
        together: The joint state.
        factor: Multiplier of the counter's scales.
        grid: The step.
        n_values: Number of arms.
        weighed: Whether it is one of `WEIGHED`.
    """
    if not weighed:
        return in_steps(state, factor, grid), in_steps(together, factor, grid)
    return (in_steps(state, factor, 1.0), hidden_numbers(counter, n_values, grid) if grid > 0 else None), together


def secure_distance(counter: Counter, noise: str, factor: float, grid: float, values: int) -> float:
    """Return how far the law of discrete draws is from the one that the guarantee is for: 0 for Laplace noise.

    Args:
        counter: The counter.
        noise: `"laplace"` or `"gaussian"`.
        factor: Multiplier of the counter's scales.
        grid: The step.
        values: Number of values that one round influences.
    """
    if noise == "laplace" or not grid > 0:
        return 0.0
    return min(
        1.0, math.fsum(normal_distance(b * factor / grid, number * values) for b, number in counter.item_draws())
    )
