"""Which algorithms can be advised: those that play arms and give one person the guarantee that was asked for."""

import functools
import inspect
import math
from collections.abc import Sequence
from typing import Any, Final

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.algorithms.calibration import calibrated_parameters
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
    known = checks.known_name("algorithm", name, ALGORITHMS)
    maker = ALGORITHMS[known]
    make = functools.partial(make_algorithm, known)
    make().check_game(game)
    epsilon, delta = target
    given: dict[str, Any] = {}
    takes = inspect.signature(maker).parameters
    if rounds > 1 and delta > 0 and "delta" in takes and takes["delta"].default is not None:
        # A group of r has r e^((r - 1) epsilon / r) times the delta of one; a little is left for fast draws.
        given["delta"] = 0.9 * delta / (rounds * math.exp((rounds - 1) * epsilon / rounds))

    def measure(one: Algorithm) -> Any:
        return one.guarantee_in(game).for_group(rounds)

    found = calibrated_parameters(make, maker, known, target, measure, game.horizon, given)
    return make(**found)


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
