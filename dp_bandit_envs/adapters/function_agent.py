"""A plain function as an agent: `choose(counts, sums, rng) -> arm`.

Counts and sums of each arm's gains are all that most bandit algorithms use of the past, and the only thing that both
kinds of privacy wrappers release, those of gains and those of running sums. So one function plays above every wrapper,
and needs the same memory in every round. The round is `counts.sum() + 1` wherever nothing is withheld.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.errors import StepOutsideGameError, WrongObservationError, WrongTypeError
from dp_bandit_envs.protocols import FloatArray, IntArray

Choose: TypeAlias = Callable[[IntArray, FloatArray, np.random.Generator], SupportsIndex]


class FunctionAgent:
    """Plays the arm that a function returns.

    Args:
        choose: See `from_function`.
    """

    def __init__(self, choose: Choose) -> None:
        self._function = choose

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Begin a game in which nothing is known."""
        n_arms = checks.integer("n_arms", n_arms, at_least=1, at_most=checks.MOST_ARMS)
        checks.integer("horizon", horizon, at_least=1, at_most=checks.MOST_ROUNDS)
        self._rng = checks.generator("rng", rng)
        self._counts, self._sums = np.zeros(n_arms, np.int64), np.zeros(n_arms)

    def select_arm(self) -> int:
        """Call the function, with copies that it may change."""
        self._check_begun()
        arm = self._function(self._counts.copy(), self._sums.copy(), self._rng)
        try:
            return checks.arm(arm, len(self._counts))
        except ValueError as error:
            raise type(error)(
                f"choose(counts, sums, rng) must return an arm, which is an integer in [0, {len(self._counts) - 1}] in"
                f" this game; received {arm!r}. len(counts) is the number of arms."
            ) from None

    def update(self, arm: int, observation: Mapping[str, NDArray[Any]]) -> None:
        """Add what was released, or take the sums that were."""
        self._check_begun()
        try:
            if "sum" in observation:
                self._counts = observation["count"].astype(np.int64)
                self._sums = observation["sum"].astype(np.float64)
                return
            observed, gains = observation["observed"], observation["gain"]
        except (KeyError, IndexError, TypeError, AttributeError):
            shown = list(observation) if isinstance(observation, Mapping) else f"a {type(observation).__name__}"
            raise WrongObservationError(
                "a function agent learns from observations with 'gain' and 'observed', or 'sum' and 'count'; received"
                f" {shown}. Pass env.step's own, without FlattenObservation."
            ) from None
        self._counts += observed
        self._sums += np.where(observed, gains, 0.0)

    def _check_begun(self) -> None:
        if not hasattr(self, "_counts"):
            raise StepOutsideGameError("FunctionAgent has no game yet; call begin(n_arms=, horizon=, rng=) first.")


def from_function(choose: Choose) -> Callable[[], FunctionAgent]:
    """Return a maker of agents that play the arms which a function returns.

    Args:
        choose: A function `choose(counts, sums, rng) -> arm`: the number of released gains of each arm, shape
            `(n_arms,)`, integers; their sum, shape `(n_arms,)`, which may leave [0, count] where it has noise in it;
            and the agent's own `numpy.random.Generator`. It returns an integer in [0, n_arms). It must keep nothing
            from one call to the next, so that every game begins from nothing.

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_function(choose), wrapping)`,
        `simulate` and `play(env, from_function(choose)())`.

    Raises:
        WrongTypeError: If it is no function.
    """
    if not callable(choose) or isinstance(choose, type):
        kind = f"the class {choose.__name__}" if isinstance(choose, type) else f"a {type(choose).__name__}"
        raise WrongTypeError(f"choose must be a function choose(counts, sums, rng) of an arm; received {kind}.")
    return functools.partial(FunctionAgent, choose)
