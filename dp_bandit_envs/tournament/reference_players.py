"""Known algorithms in the hidden games, beside the submitted agents: chance, EXP3 and a private one."""

from typing import Final

import numpy as np

from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.tournament.hidden_games import KINDS, HiddenGames

MARK: Final = "reference: "
"""How their names begin in tables."""
UNIFORM: Final = f"{MARK}Uniform"
RECOMMENDED: Final = "Batched-Lap-HTINF"
"""The private algorithm to take where an adversary may choose the gains; see docs/algorithms.md."""
EPSILON: Final = 1.0
"""Its epsilon in a tournament that adds no noise."""


def references(epsilon: float | None) -> dict[str, Algorithm]:
    """Return the algorithms by the names under which tables show them.

    Args:
        epsilon: The privacy of the tournament, which is then theirs; None for true gains.
    """
    level = EPSILON if epsilon is None else epsilon
    exp3 = make_algorithm("EXP3") if epsilon is None else make_algorithm("DP-EXP3-Lap", epsilon=epsilon)
    private = make_algorithm(RECOMMENDED, epsilon=level)
    beside = "" if epsilon is not None else f", epsilon = {level:g}"
    return {UNIFORM: make_algorithm("Uniform"), MARK + exp3.name: exp3, f"{MARK}{private.name}{beside}": private}


def reference_regrets(games: HiddenGames) -> dict[str, FloatArray]:
    """Return the external regret of each reference in each game, shape `(kinds, games)`."""
    players = references(games.epsilon)
    shown_as = {one.name: name for name, one in players.items()}
    found = {name: np.empty((len(KINDS), games.games)) for name in players}
    for kind in range(len(KINDS)):
        simulation = simulate(
            lambda kind=kind: games.environment(kind, private=False),  # type: ignore[misc]
            list(players.values()),
            trials=games.games,
            first_trial=kind * games.games,
            seed=games.seed,
            checkpoints=1,
        )
        for name, outcome in simulation.items():
            found[shown_as[name]][kind] = outcome.external_regret[:, -1]
    return found
