"""The exact loss of a mechanism that replaces each gain by one of a few values, drawn with one uniform number."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.audits.held_game import HeldGame
from dp_bandit_envs.audits.step_functions import steps_of
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.protocols import FloatArray

Outcome = tuple[float, int]
GAMES = 8
"""Random games, half of them with gains at the ends of the range only."""


class _Uniform:
    """A random generator that returns one given uniform number, once."""

    def __init__(self, u: float) -> None:
        self._left = [u]

    def random(self) -> float:
        """Return the number."""
        if not self._left:
            raise NotAuditedError("it draws more than one uniform number for a gain")
        return self._left.pop()

    def __getattr__(self, name: str) -> Any:
        raise NotAuditedError(f"its draws ({name}) are not of one known kind")


def law_losses(game: HeldGame, draw: str) -> FloatArray:
    """Return the exact loss of each round, `(rounds,)`: the number of gains it reveals times the loss of one.

    What is done above the lowest mechanism is post-processing, so its loss is an upper bound on that of all.

    Args:
        game: A game whose lowest mechanism draws one uniform number for each gain and keeps nothing between gains.
        draw: The method of the generator that it called.
    """
    mechanism, below = game.layers[0]
    if draw != "random":
        raise NotAuditedError(f"no exact audit covers draws of the kind {draw}. Use sampled_loss.")
    state = mechanism.new_state(below)
    low, high = (
        _law(lambda u, gain=gain: mechanism.release(state, 0, gain, _Uniform(u)))  # type: ignore[misc]
        for gain in (below.values.low, below.values.high)
    )
    _check_forgets(game)
    loss = 0.0
    for outcome in {*low, *high}:
        one, other = low.get(outcome, 0.0), high.get(outcome, 0.0)
        loss = math.inf if one == 0 or other == 0 else max(loss, abs(math.log(one / other)))
        if math.isinf(loss):
            break
    return np.array([loss * len(seen) for seen in game.revealed])


def _check_forgets(game: HeldGame) -> None:
    """Check on random games that what is released for a gain and a draw is the same after other gains."""
    mechanism, below = game.layers[0]
    rng = np.random.default_rng(0)
    for table in range(GAMES):
        state = mechanism.new_state(below)
        for seen in game.revealed:
            for value in seen:
                gain, u = rng.uniform(below.values.low, below.values.high), rng.random()
                if table % 2:
                    gain = rng.choice([below.values.low, below.values.high])
                first = mechanism.release(mechanism.new_state(below), value, float(gain), _Uniform(u))
                if mechanism.release(state, value, float(gain), _Uniform(u)) != first:
                    raise NotAuditedError("what it releases of a gain depends on other gains")


def _law(result: Callable[[float], Outcome]) -> dict[Outcome, float]:
    """Return the probability of each result for u uniform in [0, 1), if it is a step function of u with few steps."""
    law: dict[Outcome, float] = {}
    for low, high, value in steps_of(result, places=257):
        law[value] = law.get(value, 0.0) + high - low
    return law
