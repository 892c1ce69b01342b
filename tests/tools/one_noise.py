"""Lets algorithms draw the same random numbers, so that two forms of one algorithm play the same game."""

import dataclasses

from dp_bandit_envs.algorithms import Algorithm


def as_one_player(algorithm: Algorithm, player: str = "one") -> Algorithm:
    """Return a copy that draws the random numbers of `player`."""
    return dataclasses.replace(algorithm, player=player)


def with_one_noise(*algorithms: Algorithm) -> dict[str, Algorithm]:
    """Return copies that draw the same random numbers, under names of their own: `"0"`, `"1"`, ..."""
    return {str(number): as_one_player(each) for number, each in enumerate(algorithms)}
