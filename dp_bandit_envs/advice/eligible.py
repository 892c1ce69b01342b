"""Which algorithms can be advised: those that play arms and give one person the guarantee that was asked for."""

from collections.abc import Sequence
from typing import Final

from dp_bandit_envs.algorithms import Algorithm, calibrate_in
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnreachableGuaranteeError

USUAL: Final = (
    "DP-KLUCB",
    "DP-IMED",
    "DP-UCB-INT",
    "Batched-Lap-HTINF",
    "EXP3-tau",
    "DP-EXP3-Lap",
    "LDP-UCB-B",
)
"""Those that are compared by default: in 24 settings none of ten others was the one to take (see docs/advice.md)."""
BEST_WHEN_LONG: Final = ("DP-IMED", "DP-KLUCB")
"""Those that lose least in long stable games, whatever comes first in short ones."""
NOT_PRIVATE: Final = ("TS", "Tsallis-INF")
"""Those that show what privacy costs: for stable arms, and for any."""


def for_person(name: str, target: tuple[float, float], rounds: int, game: BanditEnv) -> Algorithm:
    """Make an algorithm whose guarantee for a person with so many rounds meets a target as closely as possible.

    By group privacy: it is `guarantee.for_group(rounds)` that meets it, and each round is protected more.

    Args:
        name: Its name in the table of algorithms.
        target: (epsilon, delta); delta 0 for pure differential privacy.
        rounds: The most rounds of a person, at least 1.
        game: The game, without wrappers.

    Raises:
        UnknownNameError: If there is no such algorithm.
        WrongGameError: If it does not play arms.
        UnreachableGuaranteeError: If no parameter meets the target.
    """
    return calibrate_in(name, target, game, rounds_per_person=rounds)


def eligible(
    names: Sequence[str], target: tuple[float, float], rounds: int, game: BanditEnv
) -> tuple[list[Algorithm], dict[str, str]]:
    """Return the algorithms that meet a target for a person, and why the others do not.

    Raises:
        UnknownNameError: If there is no algorithm of a name.
        UnreachableGuaranteeError: If none meets the target.
    """
    found, refused = [], {}
    for name in dict.fromkeys(names):
        try:
            found.append(for_person(name, target, rounds, game))
        except ValueError as reason:
            if isinstance(reason, KeyError):
                raise
            refused[name] = str(reason)
    if not found:
        raise UnreachableGuaranteeError(
            f"at least one algorithm must guarantee epsilon = {target[0]:g} at delta = {target[1]:g} for a person with"
            f" {rounds} rounds; none of {', '.join(refused)} does. Use a larger epsilon, fewer rounds a person, or"
            " other algorithms."
        )
    return found, refused
