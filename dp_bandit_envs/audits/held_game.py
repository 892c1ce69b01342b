"""What the mechanisms of one game release when the arms are held, the gains are given and the noise is a fake's."""

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.facts import Below
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import Environment, FloatArray
from dp_bandit_envs.wrappers import PrivacyBoundary

Layer = tuple[Mechanism, Below]
REACH: Final = {
    "laplace": (-45.0, 45.0),
    "normal": (-45.0, 45.0),
    "standard_normal": (-45.0, 45.0),
    "standard_exponential": (0.0, 45.0),
    "exponential": (0.0, 45.0),
    "standard_gamma": (0.0, 1000.0),
    "random": (0.0, 1.0 - 2.0**-53),
}
"""Between which numbers draws of scale 1 lie, by the generator's method; wider does no harm."""


class FakeDraws:
    """A random generator whose draw number i is `heights[i]` times its scale, and 0 beyond them; it keeps the scales.

    Attributes:
        asked: The kind (`"laplace"` or `"normal"`) and the scale of each draw so far.
    """

    def __init__(self, heights: Sequence[float] = ()) -> None:
        self._heights = heights
        self.asked: list[tuple[str, float]] = []

    def laplace(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return the location plus the draw's height times its scale."""
        return self._draw("laplace", loc, scale)

    def laplaces(self, numbers: FloatArray, scale: float) -> None:
        """Write draws."""
        for place in range(len(numbers)):
            numbers[place] = self.laplace(0.0, scale)

    def normal(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return the location plus the draw's height times its scale."""
        return self._draw("normal", loc, scale)

    def _draw(self, kind: str, loc: float, scale: float) -> float:
        number = len(self.asked)
        self.asked.append((kind, float(scale)))
        return loc + (self._heights[number] * scale if number < len(self._heights) else 0.0)

    def __getattr__(self, name: str) -> Any:
        raise UnknownDrawError(name)


class Draw(NamedTuple):
    """One draw, and between which numbers it lies."""

    value: float
    low: float
    high: float


class Draws:
    """A random generator that returns given draws, as they are, and then true ones; it keeps them all.

    Args:
        given: The first draws.
        rng: Draws the others; without it there are none.
    """

    def __init__(self, given: Sequence[float] = (), rng: Any = None) -> None:
        self._given, self._rng = given, rng
        self.made: list[Draw] = []
        self.asked: list[tuple[str, float]] = []

    def laplace(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return a draw."""
        return self._draw("laplace", loc, scale, loc, scale)

    def laplaces(self, numbers: FloatArray, scale: float) -> None:
        """Write draws."""
        for place in range(len(numbers)):
            numbers[place] = self.laplace(0.0, scale)

    def normal(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return a draw."""
        return self._draw("normal", loc, scale, loc, scale)

    def exponential(self, scale: float = 1.0) -> float:
        """Return a draw."""
        return self._draw("exponential", 0.0, scale, scale)

    def standard_gamma(self, shape: float) -> float:
        """Return a draw."""
        return self._draw("standard_gamma", 0.0, 1.0 + shape, shape)

    def __getattr__(self, kind: str) -> Callable[[], float]:
        """Return a method that draws one number and has no parameters."""
        if kind not in REACH:
            raise NotAuditedError(f"its first release has draws of the kind {kind}")
        return functools.partial(self._draw, kind, 0.0, 1.0)

    def _draw(self, kind: str, loc: float, scale: float, *parameters: float) -> float:
        number = len(self.made)
        if number < len(self._given):
            value = self._given[number]
        elif self._rng is None:
            raise NotAuditedError("how many draws its first release has depends on gains or noise")
        else:
            value = float(getattr(self._rng, kind)(*parameters))
        low, high = REACH[kind]
        self.made.append(Draw(value, loc + low * scale, loc + high * scale))
        return value


class UnknownDrawError(Exception):
    """A mechanism asked for a draw that is neither Laplace nor normal; the only argument is the method's name."""


class Released(NamedTuple):
    """Everything that one game released.

    Attributes:
        values: The released numbers in their order, `(releases,)`.
        places: Step, value and count of each; public, so it must not depend on gains or noise.
        asked: Kind and scale of each draw.
    """

    values: FloatArray
    places: list[tuple[int, int, int]]
    asked: list[tuple[str, float]]


class HeldGame:
    """One game whose arms are held: what each round reveals is fixed, whatever the gains and the noise are.

    Args:
        layers: Each mechanism with the facts about its input, from the innermost.
        revealed: The numbers of the values that each round reveals.
        on_grid: Whether released numbers are rounded to the grid, as in a real game.
    """

    def __init__(self, layers: Sequence[Layer], revealed: Sequence[Sequence[int]], *, on_grid: bool = False) -> None:
        self.layers, self.revealed = list(layers), [list(each) for each in revealed]
        self.on_grid = on_grid

    def play(self, gains: FloatArray, rng: Any) -> Released:
        """Return what is released for these gains, shape `(rounds, n_values)`.

        Args:
            gains: The gains.
            rng: The generator of all mechanisms, or a list of one for each.
        """
        run = _Run(self, gains, rng)
        found: list[float] = []
        places: list[tuple[int, int, int]] = []
        step = 0
        while run.round < len(self.revealed):
            for value, (number, count) in sorted(run.step(len(self.layers) - 1).items()):
                found.append(number)
                places.append((step, value, count))
            step += 1
        return Released(np.array(found), places, list(getattr(rng, "asked", ())))


class _Run:
    """One pass through a held game, driven as `PrivacyBoundary` drives it."""

    def __init__(self, game: HeldGame, gains: FloatArray, rng: Any) -> None:
        self._game, self._gains = game, gains.tolist()
        self._rngs = rng if isinstance(rng, list) else [rng] * len(game.layers)
        self._mechanisms = [copy.deepcopy(mechanism) for mechanism, _ in game.layers]
        states = [each.new_state(below) for each, (_, below) in zip(self._mechanisms, game.layers, strict=True)]
        self._states = states if game.on_grid else [without_grid(state) for state in states]
        self.round = 0

    def step(self, depth: int) -> dict[int, tuple[float, int]]:
        """Play one step of a layer; return each value that it released, with its count."""
        if depth < 0:
            row, seen = self._gains[self.round], self._game.revealed[self.round]
            self.round += 1
            return {value: (row[value], 1) for value in seen}
        mechanism, state, below = self._mechanisms[depth], self._states[depth], self._game.layers[depth][1]
        rng = self._rngs[depth]
        released: dict[int, tuple[float, int]] = {}
        for _ in range(mechanism.batch_size):
            given = self.step(depth - 1)
            for value in range(below.n_values):
                if value in given:
                    number, count = mechanism.release(state, value, given[value][0], rng)
                elif mechanism.idle is not None and given:
                    number, count = mechanism.idle(state, value, rng)
                else:
                    continue
                if count >= 1:
                    released[value] = (float(number), int(count))
            if self.round == len(self._game.revealed):
                break
        if mechanism.forget is not None:
            mechanism.forget(state)
        return released


def without_grid(state: Any) -> Any:
    """Return a state whose fields `grid` and `grids`, if it has any, are 0: releases are then not rounded.

    Rounding a noisy number is post-processing, so the loss of what is rounded is an upper bound on that of the result.
    """
    fields = getattr(state, "_fields", ())
    zeros = {name: np.zeros_like(getattr(state, name)) for name in ("grids",) if name in fields}
    if "grid" in fields:
        zeros["grid"] = 0.0
    return state._replace(**zeros) if zeros else state


def layers_of_game(env: Environment) -> list[Layer]:
    """Return the mechanisms of an environment's privacy wrappers with the facts about their input, innermost first."""
    layers: list[Layer] = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, PrivacyBoundary):
            layers.insert(0, (layer.mechanism, layer.below))
        layer = layer.env
    return layers
