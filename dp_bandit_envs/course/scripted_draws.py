"""Draws that a check chooses: handed to a student's function as its `rng`, they show how it uses its noise."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dp_bandit_envs.protocols import FloatArray


class ScriptedDraws:
    """Stands for a NumPy generator of which only `laplace` is used, and keeps the scales that were asked for.

    Args:
        script: The draws in the order in which they are asked for, in units of their scales; 0 after the last one.
        after: What follows the script, in units of their scales.

    Attributes:
        scales: The scale of each draw so far.
    """

    def __init__(self, script: Sequence[float] | FloatArray = (), after: float = 0.0) -> None:
        self._script, self._after = np.asarray(script, float), after
        self.scales: list[float] = []

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return the next draws of the script as `numpy.random.Generator.laplace` would its own."""
        wide = np.asarray(scale, float)
        if not (wide >= 0).all():
            raise ValueError("scale < 0")
        shape = np.broadcast_shapes(np.shape(loc), wide.shape) if size is None else size
        wide = np.broadcast_to(wide, shape)
        first, number = len(self.scales), wide.size
        units = np.full(number, self._after)
        known = self._script[first : first + number]
        units[: len(known)] = known
        self.scales.extend(wide.ravel().tolist())
        drawn = np.asarray(loc) + units.reshape(wide.shape) * wide
        return drawn if drawn.ndim else float(drawn)

    def __deepcopy__(self, memo: Any) -> "ScriptedDraws":
        """Return the same draws: a check that hands out copies still sees what was asked for."""
        return self

    def __repr__(self) -> str:
        return "rng"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this task needs rng.laplace(scale=...) only, not rng.{name}")
