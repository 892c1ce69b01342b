"""The games in which audits look at an algorithm or a mechanism, with arms held; refuses games without a release."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits.driver_releases import Held
from dp_bandit_envs.audits.held_game import HeldGame, layers_of_game
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NothingReleasedError
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import Environment, plays_points
from dp_bandit_envs.simulation import play
from dp_bandit_envs.wrappers import PrivacyBoundary

LONGEST = 2**17
"""The longest game in which a first release is looked for."""


def usual_game(part: Algorithm | Mechanism, n_arms: int, horizon: int, seed: int) -> Environment:
    """Return random gains in [0, 1], all revealed if the algorithm needs them all; or the ball in two dimensions."""
    if isinstance(part, Algorithm) and part.make_agent is None:
        seen = "bandit" if part.feedback == "payoff" else "full"
        game: Environment = gym.make("DPBandit-Ball-v0", dimension=2, horizon=horizon, feedback=seen)
        return game
    gains = GainTable(np.random.default_rng(seed).random((horizon, n_arms)))
    return ExpertsEnv(gains=gains) if isinstance(part, Algorithm) and part.feedback == "full" else BanditEnv(gains)


def held_in(part: Algorithm | Mechanism, env: Environment, seed: int) -> list[Held]:
    """Return a game with the arms that the algorithm plays in it; for a mechanism, one arm only, and arms in turn."""
    if isinstance(part, Algorithm):
        arms = tuple(play(env, part, seed=seed).arms.tolist())
        return [Held(part.wrapping, part.player, env, layers_of_game(part.wrap(env)), arms)]
    layers = layers_of_game(PrivacyBoundary(env, part))
    rounds = int(env.get_wrapper_attr("horizon"))
    n_arms = 1 if plays_points(env) else int(env.get_wrapper_attr("n_arms"))
    tries = [tuple([0] * rounds), tuple((t // part.batch_size) % n_arms for t in range(rounds))]
    return [Held(lambda game: PrivacyBoundary(game, part), "", env, layers, arms) for arms in tries]


def game_of(held: Held, seed: int) -> HeldGame:
    """Return what each round of a held game reveals, by playing its arms again."""
    if plays_points(held.env):
        return HeldGame(held.layers, [list(range(held.layers[0][1].n_values))] * len(held.arms))
    options: dict[str, Any] = {"trial": 0, "player": held.player} if held.player else {"trial": 0}
    held.env.reset(seed=seed, options=options)
    seen = [np.flatnonzero(held.env.step(arm)[0]["observed"]).tolist() for arm in held.arms]
    return HeldGame(held.layers, seen)


def first_release(
    part: Algorithm | Mechanism, held: list[Held], seed: int, make: Callable[[int], Environment] | None
) -> Held | None:
    """Return the first of some held games in which anything is released; or a longer one, or None if there is none.

    Args:
        part: What is audited.
        held: The games.
        seed: The seed of all of them.
        make: Makes a game of another length; None if games cannot be longer.
    """
    longer = len(held[0].arms)
    while True:
        found = next((each for each in held if _releases(game_of(each, seed))), None)
        longer *= 2
        if found is not None or make is None or longer > LONGEST:
            return found
        held = held_in(part, make(longer), seed)


def check_something_released(
    name: str, part: Algorithm | Mechanism, held: list[Held], seed: int, make: Callable[[int], Environment] | None
) -> None:
    """Refuse games in which nothing is released; the arguments are those of `first_release`, with a name.

    Raises:
        NothingReleasedError: With the horizon at which something is.
    """
    rounds, found = len(held[0].arms), first_release(part, held, seed, make)
    if found is None or len(found.arms) > rounds:
        longer = 0 if found is None else len(found.arms)
        way_out = f"In {longer:,} rounds something is; use horizon = {longer}." if longer else "Use a longer game."
        raise NothingReleasedError(
            f"{name}: nothing was released in {rounds:,} rounds, so nothing is judged. {way_out}"
        )


def horizon_with_release(make: Callable[[int], Algorithm | Mechanism], horizon: int, seed: int) -> int:
    """Return the first horizon, doubled from one, at which an algorithm made for it releases something; 0 for none."""
    while (horizon := 2 * horizon) <= LONGEST:
        part = make(horizon)
        if first_release(part, held_in(part, usual_game(part, 2, horizon, seed), seed), seed, None) is not None:
            return horizon
    return 0


def _releases(game: HeldGame) -> bool:
    """Whether anything is released in a game."""
    gains = np.zeros((len(game.revealed), game.layers[0][1].n_values))
    try:
        return bool(game.play(gains, Stream(np.random.SFC64(0))).places)
    except AttributeError:
        # A draw that no fast stream has; the audits say so themselves.
        return True
