"""Compares two ways to play the same games: step by step, and by `simulate`."""

from typing import Any

import numpy as np

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance.rules import must_not_fail, require
from dp_bandit_envs.conformance.trial_games import made
from dp_bandit_envs.simulation import play, simulate
from dp_bandit_envs.simulation.simulation import always_compiled

COMPILED = "a FunctionalAgent"
"""What is made of functions that Numba compiles, and must not fall back to `play`."""


def check_played_equals_simulated(
    algorithm: Algorithm, id_: str, *, what: str, horizon: int | None = 120, trials: int = 2, **arguments: Any
) -> None:
    """Require that `simulate` and `play` give the same pulls, switches, gains and regret, round by round.

    Args:
        algorithm: The algorithm to play.
        id_: The id of the game.
        what: What is being checked, for the message.
        horizon: Number of rounds T; None for the environment's.
        trials: Number of games.
        arguments: More arguments of the environment.
    """
    sized = arguments if horizon is None else {"horizon": horizon, **arguments}
    with must_not_fail(f"play with {what} in {id_}", "play(gym.make(id), algorithm) shows the error."):
        games = [play(made(id_, **sized), algorithm, seed=11, trial=trial) for trial in range(trials)]
    with must_not_fail(f"simulate with {what} in {id_}", "simulate(id, {'name': MyAgent}) shows the error."):
        rounds = range(1, len(games[0].arms) + 1)
        options: Any = {"trials": trials, "seed": 11, "checkpoints": rounds, "env_kwargs": sized}
        with always_compiled():
            outcome = simulate(id_, [algorithm], **options)[algorithm.name]
    if what == COMPILED:
        require(
            outcome.engine == "compiled", f"{what} must be compiled", outcome.reason, "Numba's documentation helps."
        )
    n_arms = outcome.pulls.shape[1]
    for trial, game in enumerate(games):
        pairs = {
            "pulls": (outcome.pulls[trial], np.bincount(game.arms, minlength=n_arms)),
            "switches": (outcome.switches[trial], game.switches),
            "collected gains": (outcome.collected[trial], game.collected),
            "external regret": (outcome.external_regret[trial], game.external_regret),
        }
        for name, (simulated, played) in pairs.items():
            require(
                np.array_equal(simulated, played),
                f"{what} must play the same games by play and by simulate ({outcome.engine}), to the last bit",
                f"other {name} in {id_}",
                "Use scalar arithmetic and math in select and update; numpy.sum and numpy.exp round otherwise.",
            )
