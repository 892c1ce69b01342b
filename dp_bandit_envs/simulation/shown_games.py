"""What many games on one table of gains show an attacker: the arms played, or what is released for given arms."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.protocols import FloatArray, plays_points
from dp_bandit_envs.simulation.chain import NotCompilableError
from dp_bandit_envs.simulation.game import play
from dp_bandit_envs.simulation.many_games import ManyGames, Shown
from dp_bandit_envs.simulation.plan import make_plan
from dp_bandit_envs.simulation.taping import HeldGains, HeldSums, TapedAgent


class ShownGames:
    """Plays games of one size on any table of gains, and keeps what is shown.

    Compiled, they are played by `ManyGames`; what cannot be compiled is played in ordinary Python, with a note.

    Args:
        env: A game of that size whose adversary draws nothing, such as one on a `GainTable`; without wrappers, payoff
            function or points.
        algorithm: The algorithm.
        held: The arm of each step, `(steps,)`: one for each round, or for each batch of rounds. The agent then plays
            no part, and what the wrappers release is kept. By default the agent plays, and its arms are kept.

    Attributes:
        note: Why the games are played in ordinary Python; "" if they are compiled.

    Raises:
        WrongGameError: If the game has points or a payoff function.
    """

    def __init__(self, env: BanditEnv, algorithm: Algorithm, *, held: Sequence[int] | None = None) -> None:
        if plays_points(env) or env.adversary.payoff is not None:
            raise WrongGameError("games whose arms are kept have arms and no payoff function.")
        self.note = ""
        self._algorithm, self._held = algorithm, held
        self._batch = _batch(algorithm.wrap(env))
        try:
            self._loop: ManyGames | None = self._compiled(env)
        except NotCompilableError as reason:
            self._loop, self.note = None, str(reason)

    def play(self, env: BanditEnv, games: int, *, seed: int, first_trial: int = 0, threads: int = 0) -> Shown:
        """Play independent games.

        Args:
            env: A game of the same kind and size, with gains of its own.
            games: Number of games.
            seed: The seed of all of them.
            first_trial: The first trial whose streams are used; they take one for each game, or fewer.
            threads: How many threads play; 0 for as many as there are cores.

        Returns:
            The arms of each round, `(games, rounds)`, or what was released in each step.
        """
        if self._loop is None:
            trials = range(first_trial, first_trial + games)
            return self._played(env, seed, trials) if self._held is None else self._stepped(env, seed, trials)
        shown = self._loop.play(_gains(env), games, seed=seed, first_trial=first_trial, threads=threads)
        if self._held is None:
            return shown._replace(arms=np.repeat(shown.arms, self._batch, axis=1)[:, : env.adversary.horizon])
        return shown

    def _compiled(self, env: BanditEnv) -> ManyGames:
        if isinstance(env, GraphEnv):
            raise NotCompilableError("a game on a graph is not part of the loop over games")
        if self._held is not None:
            return ManyGames(make_plan(_holding(env, self._algorithm, self._held), env), beside=False)
        plan = make_plan(self._algorithm, env)
        steps = -(-env.adversary.horizon // self._batch)
        return ManyGames(dataclasses.replace(plan, agent=TapedAgent(plan.agent, steps)), beside=True)

    def _played(self, env: BanditEnv, seed: int, trials: range) -> Shown:
        arms = np.empty((len(trials), env.adversary.horizon), np.int16)
        for row, trial in enumerate(trials):
            arms[row] = play(env, self._algorithm, seed=seed, trial=trial).arms
        nothing = np.zeros((len(trials), 0, 0))
        return Shown(arms, nothing, nothing.astype(np.int64))

    def _stepped(self, env: BanditEnv, seed: int, trials: range) -> Shown:
        """Play the held arms by the environment's own `step`."""
        assert self._held is not None
        wrapped: Any = self._algorithm.wrap(env)
        releases = int(wrapped.get_wrapper_attr("horizon"))
        size = (len(trials), releases, int(wrapped.get_wrapper_attr("n_values")))
        values, counts = np.zeros(size), np.zeros(size, np.int64)
        for game, trial in enumerate(trials):
            wrapped.reset(seed=seed, options={"trial": trial, "player": self._algorithm.player})
            for step, arm in enumerate(self._held):
                seen = wrapped.step(arm)[0]
                if step < releases:
                    values[game, step], counts[game, step] = list(seen.values())[:2]
        return Shown(np.tile(np.array(self._held, np.int16), (len(trials), 1)), values, counts)


def steps_of(env: BanditEnv, algorithm: Algorithm) -> int:
    """Return the number of steps in which an algorithm's wrappers take an arm."""
    return -(-env.adversary.horizon // _batch(algorithm.wrap(env)))


def _holding(env: BanditEnv, algorithm: Algorithm, arms: Sequence[int]) -> Algorithm:
    """Return an algorithm with the same wrappers and random streams that plays these arms."""
    wrapped: Any = algorithm.wrap(env)
    sums = getattr(wrapped, "releases_sums", False)
    n_values = int(wrapped.get_wrapper_attr("n_values"))
    return Algorithm(
        algorithm.name,
        lambda: (HeldSums if sums else HeldGains)(arms, n_values),
        wrapping=algorithm.wrapping,
        player=algorithm.player,
    )


def _gains(env: BanditEnv) -> FloatArray:
    gains: FloatArray = np.empty((env.adversary.horizon, env.adversary.n_arms))
    env.adversary.begin(np.random.default_rng(0))
    env.adversary.fill(gains)
    return gains


def _batch(layer: Any) -> int:
    """Return the number of rounds in a step above all wrappers."""
    batch = 1
    while isinstance(layer, gym.Wrapper):
        batch *= int(getattr(layer, "batch_size", 1))
        layer = layer.env
    return batch
