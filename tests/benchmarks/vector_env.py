"""Benchmarks 720 games stepped at once in `gym.make_vec`, including the drawing of gains."""

from collections.abc import Callable

import gymnasium as gym
import numpy as np

from tests.benchmarks.measuring import Line, median_rates, written

NUM_ENVS, STEPS = 720, 5000
PAPER = ("Deterministic", "Stochastic", "FullyOblivious", "Oblivious", "Switching")


def lines() -> list[Line]:
    """Return a line for each adversary of the paper: at least 10 M games x steps a second."""
    arms = list(np.random.default_rng(0).integers(4, size=(STEPS, NUM_ENVS)))
    programs = {game: (walk(f"DPBandit-{game}-v0", arms), STEPS * NUM_ENVS) for game in PAPER}
    rates = median_rates(programs, repetitions=5)
    return [
        Line(f"make_vec, {NUM_ENVS} games, {game}", written(rate), "", rate / 1e6, 10, unit=" M/s")
        for game, rate in rates.items()
    ]


def walk(id_: str, arms: list[np.ndarray[tuple[int], np.dtype[np.int64]]]) -> Callable[[], None]:
    """Return a function that starts new games and plays these arms, each of shape `(NUM_ENVS,)`."""
    envs = gym.make_vec(id_, num_envs=NUM_ENVS)

    def play_arms() -> None:
        envs.reset(seed=0)
        for actions in arms:
            envs.step(actions)

    return play_arms
