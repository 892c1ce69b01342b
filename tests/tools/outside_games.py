"""Games whose rewards come from outside, of 200 rounds and three arms, and the same game here."""

import numpy as np

from dp_bandit_envs import BanditEnv, algorithm_names, make_algorithm
from dp_bandit_envs.adapters import OutsideGame
from dp_bandit_envs.adversaries import GainTable

ROUNDS = 200
TABLE = np.random.default_rng(0).random((ROUNDS, 3))
GAME = BanditEnv(GainTable(TABLE))
PLAYABLE = [name for name in algorithm_names() if make_algorithm(name).refusal(GAME) is None]


def game_of(algorithm="DP-EXP3-Lap", **options):
    """Return a game whose rewards come from outside."""
    return OutsideGame(algorithm, **{"n_arms": 3, "horizon": ROUNDS, **options})
