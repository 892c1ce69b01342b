"""Which algorithms of the table can play which games."""

import functools

import gymnasium as gym

from dp_bandit_envs import agents, algorithm_names, make_algorithm
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.wrappers import CounterSums, ExactSums, LaplaceClipRescale, MiniBatchAverage
from tests.tools.plays import POINT_IDS

EXPERTS = "DPBandit-Experts-v0"
STOCHASTIC = "DPBandit-Stochastic-v0"


@functools.cache
def names_for(id_, **arguments):
    """Return the names of the algorithms that can play the games of an id with these arguments."""
    env = gym.make(id_, horizon=20, **(arguments if id_ in POINT_IDS else {}))
    return [name for name in algorithm_names() if make_algorithm(name).refusal(env) is None]


def private_leader(env):
    """Return noisy sums of noisy averages of gain vectors."""
    noisy = LaplaceClipRescale(MiniBatchAverage(env, batch_size=3), epsilon=2.0)
    return CounterSums(noisy, counter="binary", epsilon=1.0)


LEADERS = [
    Algorithm("leader", None, ExactSums, make_point_agent=RegularizedLeader),
    Algorithm("private leader", None, private_leader, make_point_agent=RegularizedLeader),
]
"""Algorithms for gain vectors, in no table."""


def players_for(id_, **arguments):
    """Return algorithms that can play the games of an id with these arguments, at least one."""
    vectors = id_ in POINT_IDS and arguments.get("feedback", "full") == "full"
    return [make_algorithm(name) for name in names_for(id_, **arguments)] + (LEADERS if vectors else [])


def home_of(name):
    """Return the id of games that an algorithm can play; some need the arguments of `arguments_of`."""
    return next(id_ for id_ in (STOCHASTIC, EXPERTS, *POINT_IDS) if name in names_for(id_, **arguments_of(name)))


def arguments_of(name):
    """Return what a game of `home_of` needs besides its size: the feedback, where points are played."""
    return {"feedback": "bandit"} if make_algorithm(name).feedback == "payoff" else {}


BANDITS = names_for(STOCHASTIC)
"""The names of the algorithms for bandit games."""
FULL_INFORMATION = [name for name in names_for(EXPERTS) if name not in BANDITS]
"""The names of the algorithms that need the gains of all arms."""


def agents_for(*, points: bool) -> list[str]:
    """Return the names of this package's agents that play points, or those that play arms."""
    bases = ("FunctionalAgent", "FunctionalPointAgent", "StoppingAgent", "RandomLabels")  # the last one plays another
    found = {name: getattr(agents, name) for name in agents.__all__ if name not in bases}
    return [name for name, kind in found.items() if issubclass(kind, agents.FunctionalPointAgent) == points]
