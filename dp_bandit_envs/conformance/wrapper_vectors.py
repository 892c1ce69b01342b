"""Checks that the vector form of a wrapper plays the games of the scalar form."""

from typing import Any, Final

import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.conformance.rules import must_not_fail, require
from dp_bandit_envs.conformance.trial_games import games_of
from dp_bandit_envs.conformance.wrapper_games import Wrap, arms_of, run, wrapped
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.protocols import FloatArray

NUM_ENVS: Final = 3
FACTS: Final = ("sensitivity", "guarantee", "horizon", "n_arms")


def check_vector(wrap: Wrap, vector: Wrap, table: FloatArray) -> None:
    """Require equal declarations, and that game i of the vector form is the scalar game with seed + i, bit by bit."""
    single = wrapped(wrap, games_of(table))
    with must_not_fail("vector(envs)", "It puts the vector form around a BanditVectorEnv."):
        many: Any = vector(BanditVectorEnv(NUM_ENVS, GainTable(table)))
    for fact in FACTS:
        one, other = single.get_wrapper_attr(fact), getattr(many, fact, None)
        require(one == other, f"{fact} of the vector form must be that of the scalar one", f"{other!r}", "Declare it.")
    arms = arms_of(len(table), table.shape[1])
    scalar = [run(wrapped(wrap, games_of(table)), arms, 5 + game) for game in range(NUM_ENVS)]
    with must_not_fail("games behind the vector form", "They are reset once and stepped to their end."):
        observation, info = many.reset(seed=5)
        never = np.zeros(NUM_ENVS)
        together = [(observation, never, never, never, info)]
        together += [many.step(np.full(NUM_ENVS, arm)) for arm in arms[: len(scalar[0]) - 1]]
    for game in range(NUM_ENVS):
        for alone, all_games in zip(scalar[game], together, strict=True):
            seen, *rest, info = all_games
            same = set(seen) == set(alone.observation)
            same = same and all(np.array_equal(seen[key][game], part) for key, part in alone.observation.items())
            same = same and [part[game] for part in rest] == list(alone[1:4])
            same = same and set(info) <= {"round", "_round"} and info["round"][game] == alone.info["round"]
            require(
                same,
                "game i of the vector form must be the scalar one with seed + i, to the last bit",
                f"another game {game}",
                "Use the same mechanism code and one stream for each game.",
            )
