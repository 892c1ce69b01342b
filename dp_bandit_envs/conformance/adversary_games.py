"""Checks that all environments of a registered adversary play its games."""

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.conformance.rules import must_not_fail, require
from dp_bandit_envs.conformance.same_games import check_played_equals_simulated
from dp_bandit_envs.conformance.trial_games import made
from dp_bandit_envs.protocols import plays_points
from dp_bandit_envs.wrappers import ExactSums


def check_environment(id_: str, horizon: int) -> None:
    """Require that every way to play a registered id gives the same games, and that Gymnasium's checker passes."""
    env: Any = made(id_)
    arguments: Any = {} if env.unwrapped.horizon <= horizon else {"horizon": horizon}
    with must_not_fail(f"{id_} with {arguments}", "An adversary takes horizon, or has at most as many rounds."):
        env = made(id_, **arguments)
    with warnings.catch_warnings(), must_not_fail("Gymnasium's check_env", "Its message is the cause of this error."):
        warnings.simplefilter("error", UserWarning)
        check_env(made(id_, **arguments).unwrapped, skip_render_check=True)
    rounds = env.unwrapped.horizon
    plays = _plays(env.unwrapped, min(rounds, 150))
    with must_not_fail(f"gym.make_vec({id_!r})", "It makes one adversary a game, as gym.make does."):
        many = gym.make_vec(id_, num_envs=3, **arguments)
        many.reset(seed=8)
        together = np.array([many.step(np.array([play] * 3))[1] for play in plays])
    for game in range(3):
        env.reset(seed=8 + game)
        alone = np.array([env.step(play)[1] for play in plays])
        rule = "game i of gym.make_vec must be the game of gym.make with seed + i, to the last bit"
        way_out = "copy.copy(adversary) makes the adversary of each game; look at __copy__."
        require(np.array_equal(together[:, game], alone), rule, "other gains", way_out)
    players = [Algorithm("follow the leader", None, ExactSums, make_point_agent=RegularizedLeader)]
    if not plays_points(env):
        players = [make_algorithm(name) for name in ("EXP3", "UCB")]
    for player in players:
        check_played_equals_simulated(player, id_, what=player.name, horizon=arguments.get("horizon"))


def _plays(game: Any, number: int) -> list[Any]:
    """Return arms, or points of the game's set."""
    if not plays_points(game):
        return [t // 5 % game.n_arms for t in range(number)]
    drawn = np.random.default_rng(0).standard_normal((number, game.dimension))
    return [game.decision_set.project(one) for one in drawn]
