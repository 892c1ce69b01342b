"""Many bandit games at once, as arrays instead of a loop over environments."""

import copy
import functools
from typing import Any, ClassVar, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.memory_bounded import gain_counts
from dp_bandit_envs.adversaries.payoff import payments_of
from dp_bandit_envs.envs.bandit_env import (
    ArmFacts,
    BanditEnv,
    checked_beginning,
    make_adversary,
    next_length,
    observation_space,
    refuse_vectors,
)
from dp_bandit_envs.envs.rendering import Scoreboard
from dp_bandit_envs.errors import StepOutsideGameError
from dp_bandit_envs.privacy.admission import Admission, admission_to
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation, VectorStep, every_game
from dp_bandit_envs.seeding import ADVERSARY, EpisodeStreams, Seeds, checked_options, spread_seeds

BLOCK_BYTES = 2**25


class BanditVectorEnv(ArmFacts, gym.vector.VectorEnv[Observation, IntArray, NDArray[Any]]):
    """`num_envs` independent games against the same kind of adversary, in lockstep.

    Game i with seed s plays exactly as `BanditEnv` does with that seed. `reset(seed=s)` gives game i the seed s + i, as
    everywhere in Gymnasium, and `reset(seed=[...])` gives each game its own. So take seeds at least `num_envs` apart:
    two games with one seed have the same noise behind a privacy wrapper, and it cancels in a difference. All games end
    after round `horizon`; the next `step` ignores its actions and starts new games (autoreset mode NEXT_STEP).
    Observations, rewards and flags are as in `BanditEnv`, with a first axis of length `num_envs`.

    Args:
        num_envs: Number of games.
        adversary: The adversary that chooses the gains; each game gets a copy. Registered ids make it from the other
            arguments.
        arm_order: As in `BanditEnv`; each game numbers its own arms.
        observe_charge: As in `BanditEnv`.
        render_mode: None, `"rgb_array"` or `"ansi"`.
        arguments: Arguments of the registered id's adversary, such as `n_arms` and `horizon`.

    Example:
        >>> import gymnasium as gym
        >>> envs = gym.make_vec("DPBandit-Deterministic-v0", num_envs=3, n_arms=2, horizon=10)
        >>> observations, infos = envs.reset(seed=0)
        >>> observations, rewards, terminated, truncated, infos = envs.step([0, 0, 1])
        >>> observations["observed"]
        array([[1, 0],
               [1, 0],
               [0, 1]], dtype=int8)
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        **BanditEnv.metadata,
        "autoreset_mode": gym.vector.AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: SupportsIndex = 1,
        adversary: Adversary | None = None,
        *,
        arm_order: str | None = None,
        observe_charge: bool = True,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        self.num_envs = checks.integer("num_envs", num_envs, at_least=1)
        first = make_adversary(type(self), adversary, arguments, arm_order)
        if render_mode is not None:
            checks.one_of("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.adversaries = [first, *(copy.copy(first) for _ in range(self.num_envs - 1))]
        self._width, self.horizon, self._memory = first.n_arms, first.horizon, first.memory
        self.data_use, self.is_real = first.data_use, first.is_real
        self._set_spaces(self._width)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._payments = payments_of(first, self.num_envs)
        self._observe_charge = checks.boolean("observe_charge", observe_charge)
        rows = BLOCK_BYTES // (8 * self.num_envs * self._width)
        self._block_length = min(max(rows, 1), 4096, self.horizon)
        self._first_of_game = np.arange(self.num_envs) * self._width
        self._streams = [EpisodeStreams(ADVERSARY) for _ in range(self.num_envs)]
        self._round = -1
        self._admission: Admission | None = None

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start new games."""
        seeds, options = spread_seeds(seed, self.num_envs), checked_options(options)
        super().reset(seed=seeds[0] if isinstance(seed, int) else None)
        self._round = -1  # if an adversary refuses to begin, no games are in progress
        self._admission = admission_to(*self.adversaries, previous=self._admission)
        with checked_beginning(self.adversaries[0]):
            for adversary, streams, game_seed in zip(self.adversaries, self._streams, seeds, strict=True):
                adversary.begin(streams.next(game_seed, options))
        self._begin(seeds, options)
        self._round = 0
        shape = (self.num_envs, self._width)
        self._collected = np.zeros(self.num_envs)
        self._totals = np.zeros(shape)
        self._block = np.empty((0, *shape))
        self._position = 0  # rounds of the block that were played
        self._added = 0  # rounds of the block that are in the totals
        self._arms = np.full(self.num_envs, -1)
        self._runs = np.zeros(self.num_envs, np.int64)
        for payments in self._payments:
            payments.begin()
        self._scoreboards = [self._new_scoreboard(game) for game in range(self.num_envs if self.render_mode else 0)]
        return self._nothing(), every_game("round", np.zeros(self.num_envs, np.int64))

    def step(self, actions: Any) -> VectorStep:
        """Play one round of every game, or start new games after the last round."""
        self._check_started()
        arms = self._take(actions)
        never = np.zeros(self.num_envs, np.bool_)
        if self._round == self.horizon:
            observation, info = self.reset()
            return observation, np.zeros(self.num_envs), never, never.copy(), info
        if self._position == len(self._block):
            self._next_block()
        row = self._block[self._position]
        gains = self._gains(row, arms)
        if self._payments:
            earned, options = self._pay(row, arms)
            row = options if self._observe_charge else row
        self._position += 1
        self._round += 1
        if not self._payments:
            earned = gains if self._memory == 0 else self._charge(arms, gains)
        self._collected += earned
        observation = self._reveal(arms, row, earned if self._observe_charge else gains)
        if self._scoreboards:
            games = zip(self._scoreboards, arms.tolist(), earned.tolist(), self.external_regret(), strict=True)
            for board, arm, gain, regret in games:
                board.add(self._round, arm, gain, regret.item)
        terminated = never.copy() if self._round < self.horizon else ~never
        return observation, earned, terminated, never, every_game("round", np.full(self.num_envs, self._round))

    def _set_spaces(self, width: int) -> None:
        """Set action and observation spaces of one game, for gains with this many columns."""
        refuse_vectors(self.adversaries[0])
        self.n_arms = width
        self.single_action_space = gym.spaces.Discrete(width)
        self.single_observation_space = observation_space(width)

    def _take(self, actions: Any) -> IntArray:
        return checks.arms(actions, self.num_envs, self.n_arms)

    def _gains(self, row: FloatArray, arms: IntArray) -> FloatArray:
        """Return the gain of each game's play, shape `(num_envs,)`, from the gains `(num_envs, columns)` of a round."""
        gains: FloatArray = row.ravel()[self._first_of_game + arms]
        return gains

    def _check_gains(self, adversary: Adversary, gains: FloatArray) -> None:
        """Raise if a game's block of gains breaks a rule beyond their range."""

    def _new_scoreboard(self, game: int) -> Any:
        return Scoreboard(self.n_arms, self.horizon, functools.partial(self._best_fixed_arm, game))

    def _best_fixed_arm(self, game: int) -> int:
        return int(np.argmax(self._totals_of_fixed_arms()[game]))

    @property
    def cumulative_gains(self) -> FloatArray:
        """Each arm's total gain before any charge or payoff, shape `(num_envs, n_arms)`. For the evaluator."""
        self._check_started()
        self._add_up()
        return self._totals.copy()

    @property
    def collected(self) -> FloatArray:
        """The agents' total rewards, shape `(num_envs,)`. For the evaluator."""
        self._check_started()
        return self._collected.copy()

    def external_regret(self) -> FloatArray:
        """Return the external regret of every game, shape `(num_envs,)`. For the evaluator."""
        return self.best(self._totals_of_fixed_arms()) - self._collected

    def policy_regret(self) -> FloatArray:
        """Return the policy regret of every game, shape `(num_envs,)`. For the evaluator."""
        totals = [payments.constant_totals for payments in self._payments]
        return self.best(self._or_gains(totals)) - self._collected

    def _totals_of_fixed_arms(self) -> FloatArray:
        return self._or_gains([payments.option_totals for payments in self._payments])

    def _or_gains(self, totals: list[FloatArray]) -> FloatArray:
        gains = self.cumulative_gains  # raises before the first reset
        return np.array(totals) if totals else gains

    def _add_up(self) -> None:
        # Added row by row from the first, as in `BanditEnv`, so that sums agree to the last bit; and without temporary
        # arrays as long as a block, which would cost more time than the game itself.
        for row in self._block[self._added : self._position]:
            self._totals += row
        self._added = self._position

    def render(self) -> tuple[Any, ...] | None:
        """Return one picture for each game."""
        if not self._scoreboards:
            gym.logger.warn("render() shows nothing: make the environments with render_mode='rgb_array' or 'ansi'.")
            return None
        name = type(self.adversaries[0]).__name__
        return tuple(
            board.render(self.render_mode, title=f"{name} adversary, game {game}", total="gain")
            for game, board in enumerate(self._scoreboards)
        )

    def _begin(self, seeds: list[int | None], options: dict[str, Any] | None) -> None:
        """Start a subclass's additions to the games, such as graphs."""

    def _reveal(self, arms: IntArray, row: FloatArray, to_show: FloatArray) -> Observation:
        """Return the observations of a round with gains `row`: the arms played and their gains `to_show`."""
        chosen = self._first_of_game + arms
        observation = self._nothing()
        observation["gain"].ravel()[chosen] = to_show
        observation["observed"].ravel()[chosen] = 1
        return observation

    def _check_started(self) -> None:
        if self._round < 0:
            raise StepOutsideGameError("the games have not begun; call reset() first.")

    def _charge(self, arms: IntArray, gains: FloatArray) -> FloatArray:
        self._runs *= arms == self._arms
        self._runs += 1
        self._arms = arms.copy()
        return gains * gain_counts(self._runs, self._round, self._memory)  # type: ignore[no-any-return]

    def _pay(self, row: FloatArray, arms: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the rewards of the plays, `(num_envs,)`, and the values of all arms, `(num_envs, n_arms)`."""
        earned = np.zeros(self.num_envs)
        for game, payments in enumerate(self._payments):
            earned[game] = payments.play(row[game], int(arms[game]), self._round + 1)
            payments.clear()
        return earned, np.array([payments.options for payments in self._payments])

    def _next_block(self) -> None:
        self._add_up()
        rounds = next_length(self._round, self.horizon, self._block_length)
        if len(self._block) != rounds:
            self._block = np.empty((rounds, self.num_envs, self._width))
        t, self._round = self._round, -1  # unpaid, or without valid gains, there is no game to continue
        if t == 0 and self._admission is not None:
            self._admission.pay()
        for game, adversary in enumerate(self.adversaries):
            adversary.fill(self._block[:, game])
            self._check_gains(adversary, self._block[:, game])
        # Once for all games, because a call costs as much as a hundred gains.
        self.adversaries[0].check_range(self._block)
        self._round = t
        self._position = self._added = 0

    def _nothing(self) -> Observation:
        shape = (self.num_envs, self.n_values)
        return {"gain": np.zeros(shape), "observed": np.zeros(shape, np.int8)}
