"""Makes the adversary of a game of points from the game's arguments."""

import inspect
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary, Alternating, Leaning, OneAxis, Stochastic, VectorTable
from dp_bandit_envs.envs.registration import sized_adversaries
from dp_bandit_envs.errors import UnknownArgumentError, WrongTypeError

FOR_SETS: dict[str, tuple[type[Adversary], ...]] = {
    "ball": (Leaning, OneAxis, Alternating),
    "cube": (OneAxis, Alternating),
    "simplex": (Stochastic,),
}
"""The adversaries with gain vectors for each set, the default first; the simplex takes those of arms, too."""


def point_adversary(
    set_name: str,
    gains: Any,
    dimension: SupportsIndex | None,
    horizon: SupportsIndex | None,
    gap: SupportsFloat | None,
    *,
    default_size: tuple[int, int],
) -> Adversary:
    """Return the adversary of a game on a decision set.

    Args:
        set_name: The set's name.
        gains: An adversary or an array of gain vectors, which have their own size; or a name; None for the default.
        dimension: Number of coordinates; None for the adversary's own, or the default.
        horizon: Number of rounds; None for the adversary's own, or the default.
        gap: How far the best point is ahead, in [0, 1], for adversaries that take it.
        default_size: Number of coordinates and rounds by default.
    """
    if gains is not None and not isinstance(gains, str):
        if gap is not None:
            raise ValueError("gap belongs to an adversary by name; this one is given. Omit it.")
        given = gains if isinstance(gains, Adversary) else _table(gains)
        for name, own, wanted in (("dimension", given.n_arms, dimension), ("horizon", given.horizon, horizon)):
            if wanted is not None and checks.integer(name, wanted, at_least=1) != own:
                raise ValueError(f"gains have their own {name} of {own}; received {name}={wanted}. Omit it.")
        return given
    known = {one.__name__: one for one in FOR_SETS[set_name]}
    if set_name == "simplex":
        known = {**known, **sized_adversaries()}
    kind = FOR_SETS[set_name][0] if gains is None else known[checks.known_name("gains", gains, known)]
    d = default_size[0] if dimension is None else checks.integer("dimension", dimension, at_least=2)
    size = (d, default_size[1] if horizon is None else horizon)
    if gap is None:
        return kind(*size)
    if kind is Stochastic:
        ahead = checks.in_range("gap", gap, 0, 1)
        means = np.full(d, (1 - ahead) / 2)
        means[0] = (1 + ahead) / 2
        return Stochastic(*size, means=means)
    if "gap" not in inspect.signature(kind).parameters:
        raise UnknownArgumentError(kind.__name__, "gap", "It has none.")
    return kind(*size, gap=gap)  # type: ignore[call-arg]


def _table(gains: Any) -> VectorTable:
    if not isinstance(gains, (np.ndarray, list, tuple)):
        raise WrongTypeError(
            "gains must be a name, an adversary, or an array of gain vectors, shape (horizon, dimension); received a"
            f" {type(gains).__name__}."
        )
    return VectorTable(gains)
