"""The games in which parts are tested: tables of gains, and the observations that agents learn from."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import gymnasium as gym
import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.protocols import Agent, Environment, FloatArray, Observation
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, LaplaceClipRescale

World = Callable[[Environment], Environment]
Touch = Callable[[Observation], Any]


def bare(env: Environment) -> Environment:
    """Return the environment: the gain of the arm played is observed."""
    return env


def noisy_gains(env: Environment) -> Environment:
    """Return noisy gains, about a third of which are withheld."""
    return LaplaceClipRescale(env, epsilon=1.0, bound=0.5)


def noisy_sums(env: Environment) -> Environment:
    """Return sums with so much noise that they are far outside [0, count]."""
    return HybridSums(env, epsilon=0.05)


def rare_sums(env: Environment) -> Environment:
    """Return sums of the last block: few releases, each of fewer gains than the arm's pulls."""
    return BlockSums(env, epsilon=1.0)


WORLDS: Final[dict[str, dict[str, World]]] = {
    "gains": {"gains": bare, "noisy gains": noisy_gains},
    "sums": {"exact sums": ExactSums, "noisy sums": noisy_sums, "sums of blocks": rare_sums},
}
"""The observations of each kind that an agent must support."""
OWN_IDS: Final = tuple(id_ for id_, game in GAMES.items() if not isinstance(game.adversary, type))
"""The ids of this project's games, without those registered by others."""


EXPERTS: Final = "DPBandit-Experts-v0"
"""The id of the games for agents that need the gains of all arms."""


def revealing_all(world: World) -> World:
    """Return a world of the same observations in which every round reveals the gains of all arms."""

    def around(env: Environment) -> Environment:
        game = env.unwrapped
        return world(ExpertsEnv(gains=game.adversary) if type(game) is BanditEnv else env)

    return around


def table_of(rounds: int, n_arms: int, *, key: int = 0) -> FloatArray:
    """Return gains in which the first arms have the largest means, shape `(rounds, n_arms)`; half are 0 or 1."""
    rng = np.random.default_rng([key, rounds, n_arms])
    gains = np.clip(rng.random((rounds, n_arms)) * 0.4 + np.linspace(0.6, 0.0, n_arms), 0, 1)
    coins = (rng.random((rounds, n_arms)) < gains).astype(float)
    return np.where(rng.random((rounds, n_arms)) < 0.5, coins, gains)


def games_of(table: FloatArray) -> BanditEnv:
    """Return a game with exactly these gains."""
    return BanditEnv(GainTable(table))


def steps_of(
    agent: Agent,
    world: World,
    table: FloatArray,
    *,
    seed: int = 0,
    observed: Callable[[Observation], Observation] = lambda seen: seen,
    before: Callable[[], Any] = lambda: None,
    after: Touch = lambda seen: None,
) -> Iterator[Any]:
    """Play one game and yield each arm as the agent returned it.

    Environments have at least two arms; if the table has one, the agent sees only the first of two.

    Args:
        agent: The agent.
        world: Wraps the game so that it releases the observations.
        table: Gains, shape `(rounds, n_arms)`.
        seed: Seed of the noise and of the agent.
        observed: Changes the observation that the agent sees.
        before: Called before each choice of an arm.
        after: Called with each observation after the agent has learned from it.
    """
    rounds, n_arms = table.shape
    env = world(games_of(table if n_arms > 1 else np.repeat(table, 2, axis=1)))
    env.reset(seed=seed)
    horizon = int(env.get_wrapper_attr("horizon"))
    agent.begin(n_arms=n_arms, horizon=horizon, rng=np.random.default_rng([seed, 7]))
    for _ in range(rounds):
        before()
        arm = agent.select_arm()
        yield arm
        whole = env.step(int(arm))[0]
        seen = observed({name: _first(part, n_arms) for name, part in whole.items()})
        agent.update(arm, seen)
        after(seen)


def _first(part: Any, n_arms: int) -> Any:
    return part[:n_arms].copy() if np.ndim(part) else part


def made(id_: str, **arguments: Any) -> Environment:
    """Make a registered environment, without the checkers that Gymnasium puts around it."""
    return gym.make(id_, disable_env_checker=True, **arguments)
