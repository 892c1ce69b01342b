"""An algorithm of ours as a bandit policy in river's loops: `pull(arm_ids)`, then `update(arm_id, reward)`."""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, SupportsIndex, Unpack

from dp_bandit_envs.adapters.outside_game import GameOptions, OutsideGame
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee


class RiverPolicy:
    """One game of an algorithm with the methods of a river policy; made by `as_river_policy`.

    Args:
        make_game: Makes the game of a given number.
        trials: The numbers of the games, shared by all clones, so that no two have the same noise.
    """

    def __init__(self, make_game: Callable[[int], OutsideGame], trials: Iterator[int]) -> None:
        self._make_game, self._trials = make_game, trials
        self._game = make_game(next(trials))
        self._arm_ids: list[Hashable] = []

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for the arms of one game; every clone's game comes on top of it."""
        return self._game.guarantee

    @property
    def _n(self) -> int:
        """Number of rewards so far; river's `evaluate_offline` returns it."""
        return self._game.rounds

    def pull(self, arm_ids: Iterable[Hashable]) -> Any:
        """Return the arm of this round, one of `arm_ids`; the same one until its reward has come.

        Args:
            arm_ids: All arms, the same in every round.

        Raises:
            ValueError: If they are not as many as the game has arms, or others than before.
            StepOutsideGameError: If all rounds have been played.
        """
        ids = list(arm_ids)
        if len(set(ids)) != len(ids) or len(ids) != self._game.n_arms:
            raise ValueError(f"arm_ids must be {self._game.n_arms} different arms, as n_arms says; received {ids!r}.")
        if self._arm_ids and ids != self._arm_ids:
            raise ValueError(f"arm_ids must be the same in every round, {self._arm_ids!r}; received {ids!r}.")
        self._arm_ids = ids
        return ids[self._game.next_arm()]

    def update(self, arm_id: Hashable, reward: Any) -> None:
        """Take the reward of the arm that `pull` returned; it goes below the algorithm's privacy wrappers.

        Raises:
            ValueError: If it is another arm's, or outside its range; the message does not show the reward.
            StepOutsideGameError: If there was no `pull` for it.
        """
        if self._arm_ids and arm_id not in self._arm_ids:
            raise ValueError(f"arm_id must be one of {self._arm_ids!r}; received {arm_id!r}.")
        self._game.learn(self._arm_ids.index(arm_id) if self._arm_ids else 0, reward)

    def clone(self, new_params: Any = None, include_attributes: bool = False) -> "RiverPolicy":
        """Return a policy for another game, which has learnt nothing; river calls this before each episode."""
        if new_params or include_attributes:
            raise ValueError("clone() takes no parameters or attributes here; use as_river_policy again.")
        return type(self)(self._make_game, self._trials)

    def __repr__(self) -> str:
        return f"RiverPolicy({self._game!r})"


def as_river_policy(
    algorithm: Algorithm | str, *, n_arms: SupportsIndex, horizon: SupportsIndex, **options: Unpack[GameOptions]
) -> RiverPolicy:
    """Return an algorithm of ours for river's loops, such as `river.bandit.evaluate`.

    It has `pull`, `update` and `clone`, which these loops call, and needs nothing of river. True rewards come in at
    `update`, and what leaves it are arms: `OutsideGame` says what is guaranteed and why. Each clone plays a game of its
    own, with noise of its own.

    Args:
        algorithm: An `Algorithm`, or the name of one.
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T of a game, at least 1.
        options: `low`, `high`, `clip`, `seed`, `persons` and `ledger`, as in `OutsideGame`.
    """

    def make_game(trial: int) -> OutsideGame:
        return OutsideGame(algorithm, n_arms=n_arms, horizon=horizon, trial=trial, **options)

    return RiverPolicy(make_game, itertools.count())
