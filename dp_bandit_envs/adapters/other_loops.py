"""Our algorithms in the loops of river and MABWiser, with the methods that these call; needs no other package."""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, Unpack

from dp_bandit_envs import checks
from dp_bandit_envs.adapters.outside_game import GameOptions, OutsideGame
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

LOG = (
    "rewards must be those of arms that predict() returned, one for each; received {}. Arms that others chose may"
    " depend on their gains, which would break the guarantee: leave out logs, and call fit() with nothing."
)


class ExternalLoopPolicy:
    """Games of an algorithm, one after the other, each with independent noise.

    Args:
        make_game: Makes the game of a given number.
        trials: The numbers of the games, shared by all copies, so that all games have different noise.
    """

    def __init__(self, make_game: Callable[[int], OutsideGame], trials: Iterator[int]) -> None:
        self._make_game, self._trials = make_game, trials
        self._game = make_game(next(trials))

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for the arms of one game; further games compose with it."""
        return self._game.guarantee

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._game!r})"


class RiverPolicy(ExternalLoopPolicy):
    """One game of an algorithm with a river policy's methods, as in `ExternalLoopPolicy`; see `as_river_policy`."""

    _arm_ids: Sequence[Hashable] = ()

    @property
    def _n(self) -> int:
        """Number of rewards received; river's `evaluate_offline` returns it."""
        return self._game.rounds

    def pull(self, arm_ids: Iterable[Hashable]) -> Any:
        """Return the arm of this round from `arm_ids`; repeated calls return the same arm until its reward arrives.

        Args:
            arm_ids: All arms, the same in every round.

        Raises:
            ValueError: If their number differs from the game's, or they have changed.
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
        """Receive the reward of the arm that `pull` returned; it goes below the algorithm's privacy wrappers.

        Raises:
            ValueError: If it belongs to another arm or is outside its range; the message does not show the reward.
            StepOutsideGameError: If there was no `pull` for it.
        """
        if self._arm_ids and arm_id not in self._arm_ids:
            raise ValueError(f"arm_id must be one of {self._arm_ids!r}; received {arm_id!r}.")
        self._game.learn(self._arm_ids.index(arm_id) if self._arm_ids else 0, reward)

    def clone(self, new_params: Any = None, include_attributes: bool = False) -> "RiverPolicy":
        """Return an untrained policy for another game; river calls this before each episode."""
        if new_params or include_attributes:
            raise ValueError("clone() takes no parameters or attributes here; use as_river_policy again.")
        return type(self)(self._make_game, self._trials)


@checks.answers_wrong_calls
def as_river_policy(
    algorithm: Algorithm | str, *, n_arms: SupportsIndex, horizon: SupportsIndex, **options: Unpack[GameOptions]
) -> RiverPolicy:
    """Return an algorithm of ours for river's loops, such as `river.bandit.evaluate`.

    It has `pull`, `update` and `clone`, which these loops call, and does not need river. True rewards enter at
    `update`; only arms are released: `OutsideGame` states the guarantee and its reason. Each clone plays its own game
    with independent noise.

    Args:
        algorithm: An `Algorithm` or its name.
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T of a game, at least 1.
        options: `low`, `high`, `clip`, `seed`, `persons` and `ledger`, as in `OutsideGame`.
    """

    def make_game(trial: int) -> OutsideGame:
        return OutsideGame(algorithm, n_arms=n_arms, horizon=horizon, trial=trial, **options)

    return RiverPolicy(make_game, itertools.count())


class MabWiserObject(ExternalLoopPolicy):
    """One game of an algorithm with MABWiser's methods; made by `as_mabwiser`.

    Args:
        make_game: Makes the game of a given number.
        arms: The names of the arms.

    Attributes:
        arms: The names of the arms.
    """

    def __init__(self, make_game: Callable[[int], OutsideGame], arms: Sequence[Hashable]) -> None:
        self.arms = list(arms)
        super().__init__(make_game, itertools.count())

    def fit(self, decisions: Sequence[Any] = (), rewards: Sequence[Any] = (), contexts: None = None) -> None:
        """Reset and prepare another game; unlike MABWiser's `fit`, it accepts no logged data.

        Raises:
            ValueError: If there are decisions, rewards or contexts.
        """
        _refuse_contexts(contexts)
        if len(decisions) or len(rewards):
            raise ValueError(LOG.format(f"{len(decisions)} decisions before any"))
        if self._game.rounds:
            self._game = self._make_game(next(self._trials))

    def partial_fit(self, decisions: Sequence[Any], rewards: Sequence[Any], contexts: None = None) -> None:
        """Receive the reward of the arm that `predict` returned; it goes below the algorithm's privacy wrappers.

        With batches, the remaining rewards of a batch may be passed together.

        Raises:
            ValueError: If these are not the arms that were predicted, there are more, or a reward is outside its range.
                Rewards before the wrong reward count; the message shows none.
            StepOutsideGameError: If no arm was predicted.
        """
        _refuse_contexts(contexts)
        if len(decisions) != len(rewards):
            raise ValueError(
                f"decisions and rewards must be equally many; received {len(decisions)} and {len(rewards)}."
            )
        for arm, reward in zip(decisions, rewards, strict=True):
            if arm not in self.arms:
                raise ValueError(f"decisions must be among {self.arms!r}; received {arm!r}.")
            self._game.learn(self.arms.index(arm), reward)

    def predict(self, contexts: None = None) -> Any:
        """Return the arm of this round; repeated calls return the same arm until its reward arrives.

        Raises:
            ValueError: If there are contexts.
            StepOutsideGameError: If all rounds have been played.
        """
        _refuse_contexts(contexts)
        return self.arms[self._game.next_arm()]


def _refuse_contexts(contexts: Any) -> None:
    if contexts is not None:
        raise ValueError(
            f"contexts must be None, because algorithms here choose without; received {checks.kind_of(contexts)}."
        )


@checks.answers_wrong_calls
def as_mabwiser(
    algorithm: Algorithm | str,
    arms: Sequence[Hashable] | SupportsIndex,
    *,
    horizon: SupportsIndex,
    **options: Unpack[GameOptions],
) -> MabWiserObject:
    """Return an algorithm of ours with MABWiser's `predict`, `partial_fit`, `fit` and `arms`.

    It does not need MABWiser. True rewards enter at `partial_fit`; only arms are released: `OutsideGame` states the
    guarantee and its reason. `predict_expectations` is left out.

    Args:
        algorithm: An `Algorithm` or its name.
        arms: The names of the arms, at least 2; or their number K, for the names 0 to K - 1.
        horizon: Number of rounds T of a game, at least 1.
        options: `low`, `high`, `clip`, `seed`, `persons` and `ledger`, as in `OutsideGame`.
    """
    names = list(range(checks.integer("arms", arms, at_least=2))) if hasattr(arms, "__index__") else list(arms)
    if len(set(names)) != len(names):
        raise ValueError(f"arms must have different names; received {names!r}.")

    def make_game(trial: int) -> OutsideGame:
        return OutsideGame(algorithm, n_arms=len(names), horizon=horizon, trial=trial, **options)

    return MabWiserObject(make_game, names)
