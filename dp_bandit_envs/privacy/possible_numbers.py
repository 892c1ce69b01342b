"""The numbers that a guarantee can have: a ledger would add up any others, and a negative epsilon would pay it back."""

import math
from typing import Any, Final

LARGEST: Final = {
    "epsilon": math.inf,
    "delta": 1,
    "rho": math.inf,
    "sigma": math.inf,
    "pure": math.inf,
    "draws_distance": 1,
}
"""The largest that each number of a guarantee can be; the smallest is 0."""
MODELS: Final = ("local", "central", "none")
COVERS: Final = ("nothing", "arms", "releases", "arms and releases")


def refuse_others(guarantee: Any) -> None:
    """Raise if a number of a guarantee is none that it can have.

    Raises:
        ValueError: If one is negative, too large or NaN.
    """
    for name, known in (("model", MODELS), ("covers", COVERS)):
        if getattr(guarantee, name) not in known:
            raise ValueError(f"{name} of a guarantee must be one of {known}; received {getattr(guarantee, name)!r}.")
    for name, most in LARGEST.items():
        number = getattr(guarantee, name)
        if number is not None and not 0 <= number <= most:
            raise ValueError(f"{name} of a guarantee must be in [0, {most:g}]; received {number!r}.")
