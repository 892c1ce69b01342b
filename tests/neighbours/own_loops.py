"""What the tests of adapters share: a table of gains, and the seed that an adapter gives to another package."""

import numpy as np

from dp_bandit_envs import Algorithm, BanditEnv, LaplaceClipRescale, play
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.seeding import AGENT, stream

ROUNDS, ARMS, SEED = 400, 3, 4
TABLE = (np.random.default_rng(0).random((ROUNDS, ARMS)) < [0.2, 0.8, 0.5]).astype(float)


def private(env):
    """Put a boundary of little noise around a game."""
    return LaplaceClipRescale(env, epsilon=10.0)


def game(table=TABLE):
    """Return a game with these gains."""
    return BanditEnv(GainTable(table))


def arms_here(make_agent, wrapping=None):
    """Return the arms of a game here, and the generator that the agent was given."""
    algorithm = Algorithm("adapted", make_agent, *([] if wrapping is None else [wrapping]))
    return play(game(), algorithm, seed=SEED).arms.tolist(), stream(SEED, role=AGENT, player=algorithm.player)


def released(arms, wrapping=private):
    """Return what the boundary releases of these arms' gains in the same game, or None where it is withheld."""
    env = wrapping(game())
    env.reset(seed=SEED, options={"trial": 0, "player": Algorithm("adapted", list).player})
    seen = []
    for arm in arms:
        observation = env.step(arm)[0]
        seen.append(float(observation["gain"][arm]) if observation["observed"][arm] else None)
    return seen
