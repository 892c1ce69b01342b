r"""The noise of one node of a counter on vectors: one number per coordinate, from three distributions.

`"laplace"`: independent Laplace draws, for values that differ by at most 1 in L1. `"gaussian"`: independent normal
draws, for values that differ by at most 1 in L2. `"own-norm"`: the K-norm mechanism. Its density is proportional to
:math:`e^{-\lVert z \rVert / b}`, in the norm whose unit ball has the shape of the values' differences; for values that
differ by at most 1 in that norm. If a node's vector moves by z, its log-density changes by at most
:math:`\lVert z \rVert / b`, as with Laplace noise.

Source: Hardt and Talwar (2010), On the Geometry of Differential Privacy, section 4.
"""

import math
from typing import Final

import numpy as np

from dp_bandit_envs.privacy.gaussian import draw_normal
from dp_bandit_envs.privacy.laplace import DEVIATION
from dp_bandit_envs.protocols import FloatArray

NOISES: Final = ("laplace", "own-norm", "gaussian")
NORM_CODES: Final = {"l1": 0, "sup": 1, "l2": 2}
"""Numbers for norms in states, which hold no text."""


def deviation(noise: str, norm: str, d: int) -> float:
    """Return the standard deviation of a coordinate, in scales, of vectors of dimension d."""
    if noise == "gaussian":
        return 1.0
    if noise == "own-norm" and norm != "l1":
        return math.sqrt((d + 1) * (d + 2) / 3 if norm == "sup" else d + 1)
    return DEVIATION


def equivalent_laplace_scale(noise: str, norm: str, d: int) -> float:
    """Return the Laplace scale that stands for a coordinate in `privacy.accounting`, in scales."""
    if noise != "own-norm" or norm == "l1":
        return 1.0
    return (d + 2) / 2 if norm == "sup" else (d + 1) * (1 + math.sqrt(d))


def fill(node: FloatArray, scale: float, norm: int, rng: np.random.Generator) -> None:
    """Fill a node with independent Laplace draws; for scale 0 with zeros, without drawing. The norm is not used.

    Counters call this name, which is replaced by one of the two functions below for other noise. The stream must be
    from `dp_bandit_envs.draws`, as NumPy's generators cannot fill an array.
    """
    if scale > 0.0:
        rng.laplaces(node, scale)  # type: ignore[attr-defined]
    else:
        node[:] = 0.0


def fill_normal(node: FloatArray, scale: float, norm: int, rng: np.random.Generator) -> None:
    """Fill a node with independent normal draws."""
    for i in range(len(node)):
        node[i] = draw_normal(scale, rng)


def fill_own_norm(node: FloatArray, scale: float, norm: int, rng: np.random.Generator) -> None:
    """Fill a node with one draw of K-norm noise.

    The sup norm: r u with u uniform in the cube [-1, 1]^d and r from Gamma(d + 1). L2: r v with v uniform on the sphere
    and r from Gamma(d), one less because v has length 1. L1: independent Laplace draws.
    """
    d = len(node)
    if scale <= 0.0:
        node[:] = 0.0
    elif norm == 1:
        r = scale * rng.standard_gamma(d + 1.0)
        for i in range(d):
            node[i] = r * rng.signed_uniform()  # type: ignore[attr-defined]
    elif norm == 2:
        squares = 0.0
        while squares == 0.0:
            for i in range(d):
                node[i] = rng.standard_normal()
                squares += node[i] * node[i]
        r = scale * rng.standard_gamma(float(d)) / math.sqrt(squares)
        for i in range(d):
            node[i] *= r
    else:
        rng.laplaces(node, scale)  # type: ignore[attr-defined]


def add(to: FloatArray, first: FloatArray, second: FloatArray) -> None:
    """Write the sum of two vectors into a third vector, which may be one of them."""
    for i in range(len(to)):
        to[i] = first[i] + second[i]


def add_twice(to: FloatArray, first: FloatArray, second: FloatArray) -> None:
    """Add one vector to another, and write the sum into a third vector too."""
    for i in range(len(to)):
        first[i] += second[i]
        to[i] = first[i]


def copy(to: FloatArray, vector: FloatArray) -> None:
    """Write one vector into another."""
    for i in range(len(to)):
        to[i] = vector[i]
