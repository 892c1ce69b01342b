"""The privacy boundary around many games at once."""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from dp_bandit_envs.envs.point_board import PointBoard
from dp_bandit_envs.envs.scoreboard import Scoreboard
from dp_bandit_envs.envs.vector_calls import Seeds, VectorStep, check_arms, every_game, spread_seeds
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation, VectorEnvironment, VectorWrapper
from dp_bandit_envs.seeding import FIRST_WRAPPER, checked_options
from dp_bandit_envs.wrappers.below import (
    checked_env,
    layers_of,
    unflattened,
)
from dp_bandit_envs.wrappers.public_face import PublicFace, checked_mechanism
from dp_bandit_envs.wrappers.released import Released, nothing_yet, rewards_of_points, sums_space
from dp_bandit_envs.wrappers.secure_streams import seed_below, streams_of
from dp_bandit_envs.wrappers.vector.games_alike import games_alike
from dp_bandit_envs.wrappers.withheld import RefusedError, attempt, ends_by_itself, outside_the_range, too_many_gains


class VectorPrivacyBoundary(PublicFace, VectorWrapper):  # type: ignore[override]
    """Applies a privacy mechanism to many games; game i behaves like the scalar boundary with the seed of game i.

    The rules are those of `PrivacyBoundary`. The games below must be in lockstep and start again at the next step
    (`AutoresetMode.NEXT_STEP`), as those of `gym.make_vec` do.
    """

    _played: Any = None
    """The point or points played last, for pictures."""

    def __init__(self, env: VectorEnvironment, mechanism: Mechanism) -> None:
        name = type(self).__name__
        super().__init__(checked_env(env, name, gym.vector.VectorEnv))
        games = games_alike(env, name)
        self._use_plays(games.plays)
        self._below, self._rounds = games.facts, games.rounds
        self.n_values = self._below.n_values
        self._use(checked_mechanism(mechanism))
        self._rounds_a_step = self.batch_size
        self._boundary_is_next = isinstance(env, VectorPrivacyBoundary)
        self._counts_rounds = games.boundaries == 0
        # Copies: the environments below use their own spaces on private observations.
        self.single_observation_space = (
            sums_space(self.n_values, self._below.horizon) if self.releases_sums else copy.deepcopy(games.space)
        )
        self.single_action_space = copy.deepcopy(env.single_action_space)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = copy.deepcopy(env.metadata)
        role = FIRST_WRAPPER + games.boundaries
        self._streams = [streams_of(self._mechanism, role, self._noise_label) for _ in range(self.num_envs)]
        self._below_takes_seed = games.take_seeds
        self._started = self._ended = False
        self._round: IntArray = np.zeros(self.num_envs, np.int64)
        self._round_below: IntArray = np.zeros(self.num_envs, np.int64)
        self._scoreboards: list[Any] = []
        self._played: Any = None
        self._shown: list[tuple[FeedbackGraph, FeedbackGraph]] = []

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start new games below with fresh noise streams; nothing has been released yet."""
        seeds, options = spread_seeds(seed, self.num_envs), checked_options(options)
        for one in seeds:
            self._checked_seed(one)
        if options is not None and "reset_mask" in options:
            raise ValueError(f"{type(self).__name__} needs games in lockstep, so reset_mask cannot be used.")
        # If the reset below fails half-way, no game is in progress.
        self._started = False
        below: Any = seed
        if takes_no_seed(self._mechanism):
            below = [seed_below(one, self._mechanism, self._below_takes_seed) for one in seeds]
        with self._announced(given=any(each is not None for each in seeds)):
            _, failure = self._attempt(lambda: self.env.reset(seed=below, options=options))
        if failure is not None:
            raise failure
        return self._restart(seeds, options)

    def step(self, actions: Any) -> VectorStep:
        """Play one arm or point in every game and return released values only."""
        arms = self._checked(actions)
        self._check_started()
        if self._ended:
            self._started = False
            with self._announced(given=False):
                _, failure = self._attempt(lambda: self.env.step(arms))
            if failure is not None:
                raise failure
            never = np.zeros(self.num_envs, np.bool_)
            observation, info = self._restart([None] * self.num_envs, None)
            return observation, np.zeros(self.num_envs), never, never.copy(), info
        # Until the step is done there are no games to go on with: what fails or is interrupted may be half done.
        self._started = False
        result, failure = self._attempt(lambda: self._advance(arms))
        if failure is not None:
            raise failure
        self._started = True
        released, terminated, truncated = result
        ended = terminated | truncated
        if ended.any() != ended.all():
            self._started = False
            raise BoundaryError(f"{type(self).__name__} needs games in lockstep; some of those below ended early.")
        self._ended = bool(ended.all())
        rewards = self._rewards(released, arms)
        rounds = self._round_below.copy()
        self._played = arms
        for game, board in enumerate(self._scoreboards):
            passed, arm = int(rounds[game] - self._round[game]), int(arms[game]) if self._n_plays else 0
            board.add(int(rounds[game]), arm, float(rewards[game]), rounds=passed)
        self._round = rounds
        return released, rewards, terminated, truncated, every_game("round", rounds.copy())

    def render(self) -> tuple[Any, ...] | None:
        """Return one picture for each game of the values released so far."""
        self._check_started()
        if not self._scoreboards:
            return None
        if self.releases_sums:
            for board, released in zip(self._scoreboards, self._released, strict=True):
                board.show_totals(released.values.copy())
        title = "Seen through the privacy boundary, game {}"
        return tuple(
            board.render(self.render_mode, title=title.format(game), total=self._total_is)
            for game, board in enumerate(self._scoreboards)
        )

    @property
    def graphs(self) -> list[FeedbackGraph]:
        """The feedback graph of the next round of each game, if they have one; copies, as in `PrivacyBoundary`."""
        for layer in layers_of(self.env):
            graphs = getattr(layer, "graphs", None)
            if graphs is None and getattr(layer, "envs", None):
                graphs = [game.get_wrapper_attr("graph") for game in layer.envs]
            if graphs is not None:
                old: list[Any] = self._shown or [None] * self.num_envs
                self._shown = [
                    pair if pair is not None and pair[0] is graph else (graph, graph.copy())
                    for graph, pair in zip(graphs, old, strict=True)
                ]
                return [shown for _, shown in self._shown]
        raise AttributeError(f"{type(self).__name__} has no attribute 'graphs': the games below have no graph.")

    def close(self, **kwargs: Any) -> None:
        """Close the environments below."""
        _, failure = self._attempt(lambda: self.env.close(**kwargs))
        if failure is not None:
            raise failure

    def __repr__(self) -> str:
        names = [type(layer).__name__ for layer in layers_of(self)]
        return "".join(f"<{name}" for name in names) + f", num_envs={self.num_envs}" + ">" * len(names)

    def _restart(self, seeds: list[int | None], options: dict[str, Any] | None) -> tuple[Observation, dict[str, Any]]:
        self._noise_streams = [streams.next(seed, options) for streams, seed in zip(self._streams, seeds, strict=True)]
        self._observation = self._nothing()
        self._released = [
            Released(self.mechanism, self._below, rng, {key: part[game] for key, part in self._observation.items()})
            for game, rng in enumerate(self._noise_streams)
        ]
        self._started, self._ended = True, False
        self._round, self._round_below = (np.zeros(self.num_envs, np.int64) for _ in range(2))
        boards = self.num_envs if self.render_mode else 0
        self._played = None
        self._scoreboards = [self._new_scoreboard(game) for game in range(boards)]
        return self._nothing(), every_game("round", self._round.copy())

    def _checked(self, actions: Any) -> Any:
        """Return one action for each game as arms or points, or raise."""
        if self._n_plays:
            return check_arms(actions, self.num_envs, self._n_plays)
        return self._set.checked_rows(actions, self.num_envs)

    def _new_scoreboard(self, game: int) -> Any:
        if self._n_plays:
            return Scoreboard(self._n_plays, self._rounds)
        return PointBoard(self._set, self._rounds, lambda: None if self._played is None else self._played[game])

    def _nothing(self) -> Observation:
        """Return the observation before the first release."""
        return nothing_yet(self.n_values, of_sums=self.releases_sums, shape=(self.num_envs,))

    def _rewards(self, released: Observation, arms: Any) -> FloatArray:
        """Return the rewards, computed from released values only."""
        if self._n_plays == 0:
            return rewards_of_points(self._set, released, arms)
        games = np.arange(self.num_envs)
        rewards: FloatArray
        if self.releases_sums:
            counts = released["count"][games, arms]
            rewards = np.where(counts > 0, released["sum"][games, arms] / np.maximum(counts, 1), 0.0)
        else:
            rewards = released["gain"][games, arms]
        return rewards

    def _advance(self, arms: Any) -> tuple[Observation, NDArray[Any], NDArray[Any]]:
        """Play `arms` below for one batch of rounds; return the released observation and the two flags."""
        for _ in range(self._rounds_a_step):
            private, terminated, truncated = self._step_below(arms)
            gains, observed = private["gain"].tolist(), private["observed"].tolist()
            for game, released in enumerate(self._released):
                released.take(gains[game], observed[game])
            if (terminated | truncated).any():
                break
        shown = {key: part.copy() for key, part in self._observation.items()}
        for released in self._released:
            released.end_step()
        if not self.releases_sums:
            for part in self._observation.values():
                part[:] = 0
        return shown, terminated, truncated

    def _step_below(self, arms: Any) -> tuple[Observation, NDArray[Any], NDArray[Any]]:
        """Play one step below and check its gains; count rounds here, or take the count of a boundary below."""
        observation, _, terminated, truncated, info = self.env.step(arms)
        seen = unflattened(observation, self.n_values)
        low, high = self._below.values.low, self._below.values.high
        if not np.all((seen["gain"] >= low) & (seen["gain"] <= high)):
            raise RefusedError(outside_the_range(type(self).__name__, low, high))
        if np.any(np.count_nonzero(seen["observed"], axis=-1) > self._below.gains_in_a_round):
            raise RefusedError(too_many_gains(type(self).__name__, self._below.gains_in_a_round))
        counted = self._round_below + 1 if self._counts_rounds else np.asarray(info["round"], np.int64)
        self._round_below = counted
        if self._counts_rounds and not np.array_equal(terminated, counted == self._rounds):
            raise RefusedError(ends_by_itself(type(self).__name__))
        return seen, terminated, truncated

    def _has_begun(self) -> bool:
        return any(streams.begun for streams in self._streams)

    def _check_started(self) -> None:
        if not self._started:
            raise StepOutsideGameError("the games have not begun; call reset() first.")

    def _attempt(self, call: Any) -> Any:
        return attempt(call, type(self).__name__, trusted=self._boundary_is_next)
