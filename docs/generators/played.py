"""One game as the pictures show it: what was played, what everything would have paid, and the regret."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.privacy.guarantee import label_of, shown_epsilon
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import play

SEED = 1


class PlayedGame(NamedTuple):
    """A game of T rounds.

    Attributes:
        label: The algorithm with its guarantee.
        actions: The arms, shape `(T,)`, or the points, shape `(T, dimension)`.
        totals: What every arm would have collected up to each round, or the summed gain vectors, `(T + 1, n_arms)`.
        regret: Regret after each round, shape `(T,)`; policy regret where gains depend on earlier arms.
        env: The environment at the end of the game.
    """

    label: str
    actions: Any
    totals: FloatArray
    regret: FloatArray
    env: Any


class Recorded(gym.ActionWrapper[Any, Any, Any]):
    """Keeps each action, and before it the totals of all arms."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.actions: list[Any] = []
        self.totals: list[FloatArray] = []

    def action(self, action: Any) -> Any:
        """Return the action as it is."""
        self.actions.append(np.array(action))
        self.totals.append(np.array(self.env.unwrapped.cumulative_gains))  # type: ignore[attr-defined]
        return action


def played(id_: str, arguments: dict[str, Any], algorithm: tuple[str, dict[str, Any]]) -> PlayedGame:
    """Play a game and return all of it."""
    name, parameters = algorithm
    env = Recorded(gym.make(id_, disable_env_checker=True, **arguments))
    player = make_algorithm(name, **parameters)
    label = label_of(name, [shown_epsilon(player.guarantee_in(env))])
    game = play(env, player, seed=SEED)
    totals = np.array([*env.totals, env.unwrapped.cumulative_gains])  # type: ignore[attr-defined]
    return PlayedGame(label, np.array(env.actions), totals, game.policy_regret, env.unwrapped)


def thinned(values: Sequence[float] | FloatArray, number: int) -> tuple[FloatArray, FloatArray]:
    """Return about so many places of a curve, from round 1 to the last, and its values there."""
    rounds = len(values)
    at = np.unique(np.linspace(1, rounds, min(number, rounds)).round().astype(int))
    return at.astype(float), np.asarray(values, dtype=float)[at - 1]
