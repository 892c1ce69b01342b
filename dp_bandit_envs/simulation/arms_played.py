"""Plays many short games on one table of gains and keeps nothing but the arms: what an attacker sees."""

import numpy as np

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.protocols import FloatArray, IntArray, plays_points
from dp_bandit_envs.simulation.chain import NotCompilableError
from dp_bandit_envs.simulation.game import play
from dp_bandit_envs.simulation.plan import make_plan
from dp_bandit_envs.simulation.trials import Seat


def arms_played(env: BanditEnv, algorithm: Algorithm, games: int, *, seed: int, first_trial: int = 0) -> IntArray:
    """Return the arms of independent games, shape `(games, rounds)`; game i is `play(env, algorithm, trial=i)`.

    Args:
        env: A game whose adversary draws nothing, such as one on a `GainTable`; without wrappers, payoffs or points.
        algorithm: The algorithm.
        games: Number of games.
        seed: The seed of all of them.
        first_trial: The number of the first game; other numbers give independent games.

    Raises:
        WrongGameError: If the game has points or a payoff function.
    """
    if plays_points(env) or env.adversary.payoff is not None:
        raise WrongGameError("arms_played is for games with arms and without a payoff function.")
    rounds, trials = env.adversary.horizon, range(first_trial, first_trial + games)
    try:
        plan = None if isinstance(env, GraphEnv) else make_plan(algorithm, env)
    except NotCompilableError:
        plan = None
    arms = np.empty((games, rounds), np.int64)
    if plan is None:
        for row, trial in enumerate(trials):
            arms[row] = play(env, algorithm, seed=seed, trial=trial).arms
        return arms
    gains: FloatArray = np.empty((rounds, env.adversary.n_arms))
    env.adversary.begin(np.random.default_rng(seed))
    env.adversary.fill(gains)
    every = np.arange(1, rounds + 1)
    for row, trial in enumerate(trials):
        seat = Seat(plan, seed, trial, every)
        seat.play(gains, None)
        pulls = seat.record.pulls
        arms[row, 0] = pulls[0].argmax()
        arms[row, 1:] = (pulls[1:] - pulls[:-1]).argmax(axis=1)
    return arms
