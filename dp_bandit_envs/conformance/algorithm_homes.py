"""Which games an algorithm is checked in: of arms, of experts, or of points."""

import itertools
from typing import Any

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance.agent_games import STOCHASTIC
from dp_bandit_envs.conformance.trial_games import EXPERTS, made
from dp_bandit_envs.errors import ConformanceError

POINTS = tuple(f"DPBandit-{name}-v0" for name in ("Ball", "Cube", "Simplex"))


def home(algorithm: Algorithm) -> tuple[str, dict[str, Any]]:
    """Return the id and the arguments of the games in which most rules are checked.

    Raises:
        ConformanceError: If it plays points, but none of the registered sets with any feedback.
    """
    if algorithm.make_agent is not None:
        return (EXPERTS if algorithm.feedback == "full" else STOCHASTIC), {}
    for id_, feedback in itertools.product(POINTS, ("full", "bandit")):
        if algorithm.refusal(made(id_, horizon=2, feedback=feedback)) is None:
            return id_, {"feedback": feedback}
    raise ConformanceError(
        f"an algorithm for points must play those of a registered set; received {algorithm.name}, which refuses"
        f" {', '.join(POINTS)}. Its refusal(env) says why."
    )


def plays_no_arms(algorithm: Algorithm) -> bool:
    """Whether an algorithm plays points only."""
    return algorithm.make_agent is None
