"""Vowpal Wabbit's exploration without context, `--cb_explore K`, as an agent."""

import bisect
import functools
import itertools
from collections.abc import Callable
from typing import Any

from dp_bandit_envs.adapters.reward_agent import RewardAgent
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.optional import require

OURS = ("--cb_explore", "--cb_explore_adf", "--random_seed")


class VowpalWabbitAgent(RewardAgent):
    """Draws arms from the probabilities that Vowpal Wabbit predicts, and teaches it 1 - gain as the cost.

    A copy that is pickled or deep-copied begins its next game anew, because a workspace cannot be copied.

    Args:
        arguments: Options of Vowpal Wabbit.
    """

    def __init__(self, arguments: str) -> None:
        self._arguments = arguments

    def _start(self, n_arms: int, seed: int) -> None:
        package = require("vowpalwabbit", extra="neighbours")
        self._vw = package.Workspace(f"--cb_explore {n_arms} {self._arguments} --quiet --random_seed {seed}")

    def _choose(self) -> int:
        # Of an example without features, to which Vowpal Wabbit adds its constant.
        self._chances = self._vw.predict("|")
        steps = list(itertools.accumulate(self._chances))
        # Their sum is 1 but for rounding to float32.
        return bisect.bisect_right(steps, self._rng.random() * steps[-1], hi=len(steps) - 1)

    def _learn(self, arm: int, gain: float) -> None:
        self._vw.learn(f"{arm + 1}:{1 - gain}:{self._chances[arm]} |")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the game in progress."""
        return {"_arguments": self._arguments}


def from_vowpalwabbit(arguments: str = "") -> Callable[[], VowpalWabbitAgent]:
    """Return a maker of agents that play Vowpal Wabbit's `--cb_explore K`, without context.

    The arm is drawn from the agent's own random stream, which also gives Vowpal Wabbit its seed.

    Args:
        arguments: More options of Vowpal Wabbit, such as `"--epsilon 0.1"` (which is the exploration rate there),
            `"--bag 5"`, `"--cover 3"` or `"--first 10"`.

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_vowpalwabbit(...), wrapping)`,
        `simulate` and `play(env, from_vowpalwabbit(...)())`.

    Raises:
        ImportError: If vowpalwabbit is not installed.
        WrongTypeError: If the arguments are no text.
        ValueError: If Vowpal Wabbit refuses them, or they are set here.
    """
    if not isinstance(arguments, str):
        raise WrongTypeError(f"arguments must be text, such as '--epsilon 0.1'; received a {type(arguments).__name__}.")
    for word in arguments.split():
        if word.partition("=")[0] in OURS:
            raise ValueError(
                f"arguments must leave out {', '.join(OURS)}, which the game sets; received {arguments!r}."
            )
    package = require("vowpalwabbit", extra="neighbours")
    try:
        package.Workspace(f"--cb_explore 2 {arguments} --quiet").finish()
    except RuntimeError as error:
        raise ValueError(
            f"arguments must be options of Vowpal Wabbit; received {arguments!r}, of which it says: {error}"
        ) from None
    return functools.partial(VowpalWabbitAgent, arguments)
