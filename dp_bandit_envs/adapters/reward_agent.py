"""The common part of agents whose algorithm is another package's: it chooses an arm and is given one reward for it."""

import abc
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.errors import StepOutsideGameError, WrongObservationError


class RewardAgent(abc.ABC):
    """An agent that learns from the released gain of the arm that it played, and from nothing else.

    A step in which that gain is withheld teaches it nothing. Above batches, it is given the mean of each batch. On a
    feedback graph, the gains of the other arms are ignored. Running sums are refused: a sum with noise in it says
    little about the last gain.
    """

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Begin a game of `horizon` steps; everything from the last one is forgotten."""
        self._n_arms = checks.integer("n_arms", n_arms, at_least=1, at_most=checks.MOST_ARMS)
        checks.integer("horizon", horizon, at_least=1, at_most=checks.MOST_ROUNDS)
        self._rng = checks.generator("rng", rng)
        self._start(n_arms, int(rng.integers(2**31)))

    def select_arm(self) -> int:
        """Choose the next arm."""
        self._check_begun()
        return int(self._choose())

    def update(self, arm: int, observation: Mapping[str, NDArray[Any]]) -> None:
        """Learn the gain of `arm`, if it was released."""
        self._check_begun()
        arm = checks.arm(arm, self._n_arms)
        try:
            observed, gains = observation["observed"], observation["gain"]
        except (KeyError, IndexError, TypeError):
            raise WrongObservationError(self._complaint(observation)) from None
        if observed[arm]:
            self._learn(arm, float(gains[arm]))

    @abc.abstractmethod
    def _start(self, n_arms: int, seed: int) -> None:
        """Make the other package's object for a game; `seed` in [0, 2^31) determines its randomness."""

    @abc.abstractmethod
    def _choose(self) -> int:
        """Return its next arm."""

    @abc.abstractmethod
    def _learn(self, arm: int, gain: float) -> None:
        """Give it the gain of the arm played, in [0, 1]."""

    def _check_begun(self) -> None:
        if not hasattr(self, "_n_arms"):
            raise StepOutsideGameError(
                f"{type(self).__name__} has no game yet; call begin(n_arms=, horizon=, rng=) first."
            )

    def _complaint(self, observation: Any) -> str:
        name = type(self).__name__
        if isinstance(observation, Mapping) and "sum" in observation:
            return (
                f"{name} learns from the gain of the arm played, but this wrapper releases running sums; use"
                " LaplaceClipRescale or RandomizedResponse, or from_function, whose functions are given sums."
            )
        shown = list(observation) if isinstance(observation, Mapping) else f"a {type(observation).__name__}"
        return f"{name} learns from observations with 'gain' and 'observed'; received {shown}. Pass env.step's own."
