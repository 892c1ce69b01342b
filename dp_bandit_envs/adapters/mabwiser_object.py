"""An algorithm of ours with MABWiser's methods: `predict()`, then `partial_fit(decisions, rewards)`."""

import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, SupportsIndex, Unpack

from dp_bandit_envs import checks
from dp_bandit_envs.adapters.outside_game import GameOptions, OutsideGame
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

LOG = (
    "rewards must be those of arms that predict() returned, one for each; received {}. Arms that others chose may"
    " depend on their gains, which would break the guarantee: leave out logs, and call fit() with nothing."
)


class MabWiserObject:
    """One game of an algorithm with MABWiser's methods; made by `as_mabwiser`.

    Args:
        make_game: Makes the game of a given number.
        arms: The names of the arms.

    Attributes:
        arms: The names of the arms.
    """

    def __init__(self, make_game: Callable[[int], OutsideGame], arms: Sequence[Hashable]) -> None:
        self.arms = list(arms)
        self._make_game, self._trials = make_game, itertools.count()
        self._game = make_game(next(self._trials))

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for the arms of one game; every further `fit` comes on top of it."""
        return self._game.guarantee

    def fit(self, decisions: Sequence[Any] = (), rewards: Sequence[Any] = (), contexts: None = None) -> None:
        """Forget everything and prepare another game; unlike MABWiser's, it takes no log.

        Raises:
            ValueError: If there are decisions, rewards or contexts.
        """
        _refuse_contexts(contexts)
        if len(decisions) or len(rewards):
            raise ValueError(LOG.format(f"{len(decisions)} decisions before any"))
        if self._game.rounds:
            self._game = self._make_game(next(self._trials))

    def partial_fit(self, decisions: Sequence[Any], rewards: Sequence[Any], contexts: None = None) -> None:
        """Take the reward of the arm that `predict` returned; it goes below the algorithm's privacy wrappers.

        With batches, the rewards of the rounds left of one may come together.

        Raises:
            ValueError: If these are not the arms that were predicted, there are more, or a reward is outside its
                range. Rewards before the wrong one count; the message shows none.
            StepOutsideGameError: If nothing was predicted.
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
        """Return the arm of this round; the same one until its reward has come.

        Raises:
            ValueError: If there are contexts.
            StepOutsideGameError: If all rounds have been played.
        """
        _refuse_contexts(contexts)
        return self.arms[self._game.next_arm()]

    def __repr__(self) -> str:
        return f"MabWiserObject({self._game!r})"


def _refuse_contexts(contexts: Any) -> None:
    if contexts is not None:
        raise ValueError(
            f"contexts must be None, because algorithms here choose without; received a {type(contexts).__name__}."
        )


def as_mabwiser(
    algorithm: Algorithm | str,
    arms: Sequence[Hashable] | SupportsIndex,
    *,
    horizon: SupportsIndex,
    **options: Unpack[GameOptions],
) -> MabWiserObject:
    """Return an algorithm of ours with MABWiser's `predict`, `partial_fit`, `fit` and `arms`.

    It needs nothing of MABWiser. True rewards come in at `partial_fit`, and what leaves it are arms: `OutsideGame` says
    what is guaranteed and why. `predict_expectations` is left out.

    Args:
        algorithm: An `Algorithm`, or the name of one.
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
