"""Reads the public facts of many games, and refuses games that are not alike in them."""

from typing import Any, NamedTuple

import gymnasium as gym

from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.privacy.mechanism import Below, Noise
from dp_bandit_envs.privacy.values import Values
from dp_bandit_envs.protocols import VectorEnvironment
from dp_bandit_envs.wrappers.below import (
    PASS_VECTOR_OBSERVATIONS_THROUGH,
    boundaries_below,
    checked_sensitivity,
    facts_of_game,
    games_below,
    layers_of,
    needed_below,
    needed_of_all,
    refuse_sums,
)
from dp_bandit_envs.wrappers.declared_values import check_distances


class GamesBelow(NamedTuple):
    """Public facts about the games below a vector boundary.

    Attributes:
        plays: Their number of arms, or their decision set.
        facts: What their rounds reveal; the sensitivity is the largest of all games.
        rounds: Number of rounds of the innermost games.
        boundaries: Number of boundaries below.
        space: The space of one game's observation, not flattened.
        take_seeds: Whether all boundaries below take seeds.
    """

    plays: int | DecisionSet
    facts: Below
    rounds: int
    boundaries: int
    space: gym.Space[Any]
    take_seeds: bool


def games_alike(env: VectorEnvironment, name: str) -> GamesBelow:
    """Return the public facts of many games.

    Args:
        env: The games, with any wrappers.
        name: The name of the boundary above, for messages.

    Raises:
        TypeError: If a wrapper below may change observations, or a boundary below releases sums.
        ValueError: If the games differ in a public fact, or do not start again at the next step.
    """
    below = boundaries_below(env, name, PASS_VECTOR_OBSERVATIONS_THROUGH)
    refuse_sums(below, name)
    games = games_below(env)
    singles = [boundaries_below(game, name) for game in games]
    mode = env.metadata.get("autoreset_mode")
    if mode is not gym.vector.AutoresetMode.NEXT_STEP:
        raise ValueError(f"{name} needs games with autoreset_mode NEXT_STEP; received {mode}.")
    plays = "decision_set" if isinstance(env.single_action_space, gym.spaces.Box) else "n_arms"
    bottoms = [[*layers_of(game)][-1] for game in games]
    # All games have the same noise scale, so it is that of the game with the largest sensitivity.
    declared = needed_of_all(env, "sensitivity", name)
    sensitivity = max(checked_sensitivity(each, name) for each in declared)
    if below:
        alike_below = [found[0].above for found in singles if found] or [below[0].above]
        gains = max(one.gains_in_a_round for one in alike_below)
        values = farthest([one.values for one in alike_below])
        facts = below[0].above._replace(sensitivity=sensitivity, gains_in_a_round=gains, values=values)
    else:
        of_games = [facts_of_game(game, name) for game in bottoms]
        facts = max(of_games, key=lambda one: one.sensitivity)._replace(
            horizon=needed_below(env, "horizon", name),
            sensitivity=sensitivity,
            noise=Noise(sensitivity),
            values=farthest([one.values for one in of_games]),
        )
        check_distances(facts, name)
    alike: dict[str, set[Any]] = {
        "guarantee": {found[0].guarantee if found else None for found in singles},
        "noise": {found[0].noise if found else None for found in singles},
        "horizon": set(needed_of_all(env, "horizon", name)),
        "number of arms" if plays == "n_arms" else "decision set": set(needed_of_all(env, plays, name)),
        "number of values": {facts_of_game(game, name).n_values for game in bottoms},
        "range of values": {facts_of_game(game, name).values[:2] for game in bottoms},
        "norm of values": {facts_of_game(game, name).values.norm for game in bottoms} - {""},
    }
    for what, different in alike.items():
        if len(different) > 1:
            raise ValueError(f"{name} needs games with the same {what}; those below have {len(different)} different.")
    space = env.single_observation_space
    if isinstance(space, gym.spaces.Box):
        space = getattr(bottoms[0], "single_observation_space", bottoms[0].observation_space)
    return GamesBelow(
        plays=needed_below(env, plays, name),
        facts=facts,
        rounds=needed_below(bottoms[0], "horizon", name),
        boundaries=len(below),
        space=space,
        take_seeds=all(one.takes_seed for found in (below, *singles) for one in found),
    )


def farthest(values: list[Values]) -> Values:
    """Return facts that hold for all of these values: those of the largest distances in each norm."""
    farther = max(values, key=lambda one: one.l2)
    return farther._replace(own=max(one.own for one in values if one.norm or not farther.norm))
