"""Which algorithms of the table can play which games."""

import functools

import gymnasium as gym

from dp_bandit_envs import algorithm_names, make_algorithm

EXPERTS = "DPBandit-Experts-v0"
STOCHASTIC = "DPBandit-Stochastic-v0"


@functools.cache
def names_for(id_):
    """Return the names of the algorithms that can play the games of an id with its default arguments."""
    env = gym.make(id_, horizon=20)
    return [name for name in algorithm_names() if make_algorithm(name).refusal(env) is None]


def home_of(name):
    """Return the id of games that an algorithm can play."""
    return next(id_ for id_ in (STOCHASTIC, EXPERTS, *gym.registry) if name in names_for(id_))


BANDITS = names_for(STOCHASTIC)
"""The names of the algorithms for bandit games."""
FULL_INFORMATION = [name for name in names_for(EXPERTS) if name not in BANDITS]
"""The names of the algorithms that need the gains of all arms."""
