"""The privacy boundary around many games at once."""

import copy
import functools
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.envs.rendering import PointBoard, Scoreboard
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.privacy.facts import Noise, ValueRange, check_distances
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import (
    FloatArray,
    IntArray,
    Observation,
    VectorEnvironment,
    VectorStep,
    VectorWrapper,
    every_game,
)
from dp_bandit_envs.seeding import FIRST_WRAPPER, Seeds, checked_options, spread_seeds
from dp_bandit_envs.wrappers.boundary import (
    ENDS_BY_ITSELF,
    OUTSIDE,
    TOO_MANY,
    BoundaryBase,
    MechanismRun,
    PublicError,
    rewards_of_points,
    seed_for_inputs,
    streams_of,
    unflattened,
)
from dp_bandit_envs.wrappers.layers import (
    PASS_VECTOR_OBSERVATIONS_THROUGH,
    boundaries_below,
    checked_env,
    checked_sensitivity,
    facts_of_game,
    layers_of,
    public_attribute,
    public_attributes,
    refuse_sums,
    single_games,
    time_limit,
)


class VectorPrivacyBoundary(BoundaryBase, VectorWrapper):  # type: ignore[override]
    """Applies a privacy mechanism to many games; game i behaves like the scalar boundary with the seed of game i.

    See `PrivacyBoundary` for the rules. The games below must run in lockstep and reset at the next step
    (`AutoresetMode.NEXT_STEP`), as `gym.make_vec` does.
    """

    def __init__(self, env: VectorEnvironment, mechanism: Mechanism) -> None:
        name = type(self).__name__
        super().__init__(checked_env(env, name, gym.vector.VectorEnv))
        plays, boundaries, space = self._look_below(env, name)
        self._use(plays, mechanism)
        self._rounds_a_step = self.batch_size
        self._boundary_is_next = isinstance(env, VectorPrivacyBoundary)
        self._counts_rounds = boundaries == 0
        self._limits: IntArray = np.array([time_limit(game) for game in single_games(env)])
        self.single_observation_space = self._released_space(space)
        self.single_action_space = copy.deepcopy(env.single_action_space)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = copy.deepcopy(env.metadata)
        role = FIRST_WRAPPER + boundaries
        self._streams = [streams_of(self._mechanism, role, self._noise_key) for _ in range(self.num_envs)]
        self._started = self._ended = False
        self._round: IntArray = np.zeros(self.num_envs, np.int64)
        self._round_below: IntArray = np.zeros(self.num_envs, np.int64)
        self._scoreboards: list[Any] = []
        self._graphs: list[tuple[FeedbackGraph, FeedbackGraph]] = []

    def _look_below(self, env: VectorEnvironment, name: str) -> tuple[Any, int, gym.Space[Any]]:
        """Store the public facts about the games below, or raise if these differ or do not reset together.

        Returns the action set, the number of boundaries below, and the observation space of one game.
        """
        boundaries = boundaries_below(env, name, PASS_VECTOR_OBSERVATIONS_THROUGH)
        refuse_sums(boundaries, name)
        games = single_games(env)
        boundaries_of_games = [boundaries_below(game, name) for game in games]
        self._is_above_others = any((boundaries, *boundaries_of_games))
        mode = env.metadata.get("autoreset_mode")
        if mode is not gym.vector.AutoresetMode.NEXT_STEP:
            raise ValueError(f"{name} needs games with autoreset_mode NEXT_STEP; received {mode}.")
        plays = "decision_set" if isinstance(env.single_action_space, gym.spaces.Box) else "n_arms"
        bottoms = [[*layers_of(game)][-1] for game in games]
        # All games have the same noise scale, so it is that of the game with the largest sensitivity.
        declared = public_attributes(env, "sensitivity", name)
        sensitivity = max(checked_sensitivity(number, name) for number in declared)
        if boundaries:
            outputs = [layers[0].outputs for layers in boundaries_of_games if layers] or [boundaries[0].outputs]
            gains = max(facts.gains_in_a_round for facts in outputs)
            values = widest_range([facts.values for facts in outputs])
            inputs = boundaries[0].outputs._replace(sensitivity=sensitivity, gains_in_a_round=gains, values=values)
        else:
            outputs = [facts_of_game(game, name) for game in bottoms]
            inputs = max(outputs, key=lambda facts: facts.sensitivity)._replace(
                horizon=public_attribute(env, "horizon", name),
                sensitivity=sensitivity,
                noise=Noise(sensitivity),
                values=widest_range([facts.values for facts in outputs]),
            )
            check_distances(inputs, name)
        alike: dict[str, set[Any]] = {
            "guarantee": {layers[0].guarantee if layers else None for layers in boundaries_of_games},
            "noise": {layers[0].noise if layers else None for layers in boundaries_of_games},
            "horizon": set(public_attributes(env, "horizon", name)),
            "number of arms" if plays == "n_arms" else "decision set": set(public_attributes(env, plays, name)),
            "number of values": {facts_of_game(game, name).n_values for game in bottoms},
            "range of values": {facts_of_game(game, name).values[:2] for game in bottoms},
            "norm of values": {facts_of_game(game, name).values.norm for game in bottoms} - {""},
        }
        for what, different in alike.items():
            if len(different) > 1:
                raise ValueError(
                    f"{name} needs games with the same {what}; those below have {len(different)} different."
                )
        space = env.single_observation_space
        if isinstance(space, gym.spaces.Box):
            space = getattr(bottoms[0], "single_observation_space", bottoms[0].observation_space)
        self._inputs, self._rounds = inputs, public_attribute(bottoms[0], "horizon", name)
        self._inputs_take_seed = all(
            layer.takes_seed for layers in (boundaries, *boundaries_of_games) for layer in layers
        )
        return public_attribute(env, plays, name), len(boundaries), space

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start new games below with fresh noise streams; return the observations before the first release."""
        seeds, options = spread_seeds(seed, self.num_envs), checked_options(options)
        for game_seed in seeds:
            self._checked_seed(game_seed)
        # If the reset below fails half-way, no game is in progress.
        self._started = False
        inner_seed: Any = seed
        if takes_no_seed(self._mechanism):
            inner_seed = [seed_for_inputs(game_seed, self._mechanism, self._inputs_take_seed) for game_seed in seeds]
        seeded = any(game_seed is not None for game_seed in seeds)
        self._begin_below(functools.partial(self.env.reset, seed=inner_seed, options=options), seeded=seeded)
        return self._restart(seeds, options)

    def step(self, actions: Any) -> VectorStep:
        """Play one arm or point in every game and return released values only."""
        arms = self._checked(actions)
        self._check_started()
        self._refuse_games_of_others()
        if self._ended:
            self._started = False
            self._begin_below(functools.partial(self.env.step, arms), seeded=False)
            never = np.zeros(self.num_envs, np.bool_)
            observation, info = self._restart([None] * self.num_envs, None)
            return observation, np.zeros(self.num_envs), never, never.copy(), info
        # Until the step is done there are no games to continue: a failed or interrupted step may be half done.
        self._started = False
        released, terminated, truncated = self._guarded(self._advance, arms)
        self._started = True
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
        """Return one picture of the released values for each game."""
        self._check_started()
        self._refuse_games_of_above()
        if not self._scoreboards:
            return None
        if self.releases_sums:
            for board, run in zip(self._scoreboards, self._runs, strict=True):
                board.show_totals(run.values.copy())
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
                old: list[Any] = self._graphs or [None] * self.num_envs
                self._graphs = [
                    pair if pair is not None and pair[0] is graph else (graph, graph.copy())
                    for graph, pair in zip(graphs, old, strict=True)
                ]
                return [copied for _, copied in self._graphs]
        raise AttributeError(f"{type(self).__name__} has no attribute 'graphs': the games below have no graph.")

    def close(self, **kwargs: Any) -> None:
        """Close the environments below."""
        self._guarded(functools.partial(self.env.close, **kwargs))

    def close_extras(self, **kwargs: Any) -> None:
        """Close resources of the environments below."""
        self._guarded(functools.partial(self.env.close_extras, **kwargs))

    def __repr__(self) -> str:
        names = [type(layer).__name__ for layer in layers_of(self)]
        return "".join(f"<{name}" for name in names) + f", num_envs={self.num_envs}" + ">" * len(names)

    def _restart(self, seeds: list[int | None], options: dict[str, Any] | None) -> tuple[Observation, dict[str, Any]]:
        self._noise_streams = [streams.next(seed, options) for streams, seed in zip(self._streams, seeds, strict=True)]
        self._observation = self._nothing_yet(self.num_envs)
        self._runs = [
            MechanismRun(
                self.mechanism, self._inputs, rng, {key: rows[game] for key, rows in self._observation.items()}
            )
            for game, rng in enumerate(self._noise_streams)
        ]
        self._started, self._ended = True, False
        self._round, self._round_below = (np.zeros(self.num_envs, np.int64) for _ in range(2))
        boards = self.num_envs if self.render_mode else 0
        self._played = None
        self._scoreboards = [self._new_scoreboard(game) for game in range(boards)]
        return self._nothing_yet(self.num_envs), every_game("round", self._round.copy())

    def _checked(self, actions: Any) -> Any:
        if self._set is None:
            return checks.arms(actions, self.num_envs, self._n_plays)
        return self._set.checked_rows(actions, self.num_envs)

    def _new_scoreboard(self, game: int) -> Any:
        if self._set is None:
            return Scoreboard(self._n_plays, self._rounds)
        return PointBoard(self._set, self._rounds, lambda: None if self._played is None else self._played[game])

    def _rewards(self, released: Observation, arms: Any) -> FloatArray:
        """Return the rewards, computed from released values only."""
        if self._set is not None:
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
            for game, run in enumerate(self._runs):
                run.feed(gains[game], observed[game])
            if (terminated | truncated).any():
                break
        observation = {key: rows.copy() for key, rows in self._observation.items()}
        for run in self._runs:
            run.end_step()
        if not self.releases_sums:
            for rows in self._observation.values():
                rows[:] = 0
        return observation, terminated, truncated

    def _step_below(self, arms: Any) -> tuple[Observation, NDArray[Any], NDArray[Any]]:
        """Play one step below and check its gains; count rounds here, or take the count of a boundary below."""
        observation, _, terminated, truncated, info = self.env.step(arms)
        revealed = unflattened(observation, self.n_values)
        low, high = self._inputs.values.low, self._inputs.values.high
        if not np.all((revealed["gain"] >= low) & (revealed["gain"] <= high)):
            raise PublicError(OUTSIDE.format(type(self).__name__, low, high))
        if np.any(np.count_nonzero(revealed["observed"], axis=-1) > self._inputs.gains_in_a_round):
            raise PublicError(TOO_MANY.format(type(self).__name__, self._inputs.gains_in_a_round))
        counted = self._round_below + 1 if self._counts_rounds else np.asarray(info["round"], np.int64)
        self._round_below = counted
        if self._counts_rounds:
            # In place of arrays that are still those of the games below.
            flags, (terminated, truncated) = (terminated, truncated), (counted == self._rounds, counted == self._limits)
            if not all(map(np.array_equal, flags, (terminated, truncated))):
                raise PublicError(ENDS_BY_ITSELF.format(type(self).__name__))
        return revealed, terminated, truncated

    def _has_begun(self) -> bool:
        return any(streams.begun for streams in self._streams)

    def _check_started(self) -> None:
        if not self._started:
            raise StepOutsideGameError("the games have not begun; call reset() first.")


def widest_range(values: list[ValueRange]) -> ValueRange:
    """Return facts that hold for all of these values: the largest distance in each norm."""
    widest = max(values, key=lambda facts: facts.l2)
    distances = [facts.norm_distance for facts in values if facts.norm or not widest.norm]
    return widest._replace(norm_distance=max(distances))
