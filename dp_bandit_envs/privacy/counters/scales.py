"""The scales of nodes, and the functions of counters with normal draws in place of Laplace draws."""

import functools
from collections.abc import Callable
from typing import Any

from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.privacy.gaussian import draw_normal
from dp_bandit_envs.privacy.laplace import noise_scale
from dp_bandit_envs.privacy.node_noise import fill_normal


def gaussian_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a counter's plain function with normal draws in place of Laplace draws."""
    return bind(function, {"draw": draw_normal, "fill": fill_normal})


@functools.lru_cache(maxsize=4096)
def node_scale(nodes: int, epsilon: float) -> float:
    """Return the scale of Laplace noise for `nodes` nodes that share epsilon; 0 for epsilon = inf."""
    return noise_scale(float(nodes), epsilon)
