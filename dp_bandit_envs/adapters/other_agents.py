"""Other algorithms as agents here: plain functions, and algorithms of river, MABWiser, Vowpal Wabbit and SB3.

Each package is imported when its function is called.
"""

import abc
import bisect
import functools
import inspect
import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.checks import require
from dp_bandit_envs.errors import StepOutsideGameError, WrongObservationError, WrongTypeError
from dp_bandit_envs.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent

Choose: TypeAlias = Callable[[IntArray, FloatArray, np.random.Generator], SupportsIndex]


class AdaptedAgent:
    """An agent around another package's algorithm; it checks its observations."""

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Begin a game of `horizon` steps; state of the previous game is deleted."""
        self._n_arms = checks.integer("n_arms", n_arms, at_least=1, at_most=checks.MOST_ARMS)
        checks.integer("horizon", horizon, at_least=1, at_most=checks.MOST_ROUNDS)
        self._rng = checks.generator("rng", rng)

    def _check_begun(self) -> None:
        if not hasattr(self, "_n_arms"):
            raise StepOutsideGameError(
                f"{type(self).__name__} has no game yet; call begin(n_arms=, horizon=, rng=) first."
            )

    def _read(self, observation: Any, *keys: str) -> tuple[Any, ...]:
        """Return parts of an observation, or raise if it lacks them."""
        try:
            return tuple(observation[key] for key in keys)
        except (KeyError, IndexError, TypeError):
            names = list(observation) if isinstance(observation, Mapping) else checks.kind_of(observation)
            way_out = "Pass env.step's own, without FlattenObservation."
            if "sum" in names:
                way_out = "Use LaplaceClipRescale or RandomizedResponse, or from_function, whose functions take sums."
            raise WrongObservationError(
                f"{type(self).__name__} learns from observations with {' and '.join(map(repr, keys))}; received"
                f" {names}. {way_out}"
            ) from None


class FunctionAgent(AdaptedAgent):
    """Plays the arm that a function of counts and sums returns.

    Most bandit algorithms use only counts and sums of each arm's gains, and every privacy wrapper releases enough to
    compute them. So one function plays above every wrapper, with constant memory. The round is `counts.sum() + 1` if no
    gains are withheld.
    """

    def __init__(self, choose: Choose) -> None:
        self._function = choose

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Begin a game with empty counts and sums."""
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)
        self._counts, self._sums = np.zeros(n_arms, np.int64), np.zeros(n_arms)

    def select_arm(self) -> int:
        """Call the function, on copies that it may modify."""
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
        """Add the released gains, or store the released sums."""
        self._check_begun()
        if isinstance(observation, Mapping) and "sum" in observation:
            sums, counts = self._read(observation, "sum", "count")
            self._counts, self._sums = counts.astype(np.int64), sums.astype(np.float64)
            return
        observed, gains = self._read(observation, "observed", "gain")
        self._counts += observed
        self._sums += np.where(observed, gains, 0.0)


def from_function(choose: Choose) -> Callable[[], FunctionAgent]:
    """Return a factory of agents that play the arms returned by a function.

    Args:
        choose: A function `choose(counts, sums, rng) -> arm`: the number of released gains of each arm, shape
            `(n_arms,)`, integers; their sums, shape `(n_arms,)`, which noise may move outside [0, count]; and the
            agent's own `numpy.random.Generator`. It returns an integer in [0, n_arms). It must keep no state between
            calls, so that games are independent.

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_function(choose), wrapping)`,
        `simulate` and `play(env, from_function(choose)())`.

    Raises:
        WrongTypeError: If it is not a function.
    """
    if not callable(choose) or isinstance(choose, type):
        raise WrongTypeError(
            f"choose must be a function choose(counts, sums, rng) of an arm; received {checks.kind_of(choose)}."
        )
    return functools.partial(FunctionAgent, choose)


class RewardAgent(AdaptedAgent, abc.ABC):
    """An agent that learns only from the released gain of the arm that it played.

    Steps with a withheld gain are skipped. Above batches, it learns the mean of each batch. On a feedback graph, gains
    of other arms are ignored. Running sums are refused: a noisy sum reveals little about the last gain.
    """

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Begin a game of `horizon` steps; state of the previous game is deleted."""
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)
        self._start(n_arms, int(rng.integers(2**31)))

    def select_arm(self) -> int:
        """Choose the next arm."""
        self._check_begun()
        return int(self._choose())

    def update(self, arm: int, observation: Mapping[str, NDArray[Any]]) -> None:
        """Learn the gain of `arm`, if it was released."""
        self._check_begun()
        arm = checks.arm(arm, self._n_arms)
        observed, gains = self._read(observation, "observed", "gain")
        if observed[arm]:
            self._learn(arm, float(gains[arm]))

    @abc.abstractmethod
    def _start(self, n_arms: int, seed: int) -> None:
        """Make the other package's object for a game; `seed` in [0, 2^31) determines its randomness."""

    @abc.abstractmethod
    def _choose(self) -> int:
        """Return the next arm."""

    @abc.abstractmethod
    def _learn(self, arm: int, gain: float) -> None:
        """Learn the gain of the arm played, in [0, 1]."""


CONTEXTUAL = ("LinGreedy", "LinTS", "LinUCB")


class MabWiserAgent(RewardAgent):
    """Plays a new `MAB` in each game.

    `MAB.predict` needs data first, so the agent begins by playing every arm in turn until its gain is released.
    """

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    def _start(self, n_arms: int, seed: int) -> None:
        mab = require("mabwiser.mab", extra="neighbours")
        self._mab = mab.MAB(arms=list(range(n_arms)), learning_policy=self._policy, seed=seed)
        self._untried = list(range(n_arms))
        self._is_fitted = False

    def _choose(self) -> int:
        if self._untried:
            return self._untried[0]
        arm: int = self._mab.predict()
        return arm

    def _learn(self, arm: int, gain: float) -> None:
        learn = self._mab.partial_fit if self._is_fitted else self._mab.fit
        learn([arm], [gain])
        self._is_fitted = True
        if arm in self._untried:
            self._untried.remove(arm)


def from_mabwiser(policy: Any) -> Callable[[], MabWiserAgent]:
    """Return a factory of agents that play a learning policy of MABWiser.

    Each game has its own `MAB`, seeded from the game's random stream.

    Args:
        policy: A `mabwiser.mab.LearningPolicy` without context, such as `LearningPolicy.UCB1(alpha=1.25)`. With
            `ThompsonSampling`, give a binarizer wherever released gains are not 0 or 1.

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_mabwiser(policy), wrapping)`,
        `simulate` and `play(env, from_mabwiser(policy)())`.

    Raises:
        ImportError: If mabwiser is not installed.
        WrongTypeError: If it is not a learning policy, or needs a context.
    """
    policies = require("mabwiser.mab", extra="neighbours").LearningPolicy
    kind = policy.__name__ if isinstance(policy, type) else type(policy).__name__
    if kind in CONTEXTUAL:
        raise WrongTypeError(
            f"policy must choose without a context, which these games do not have; received {kind}. Use UCB1,"
            " EpsilonGreedy, Softmax, Popularity or ThompsonSampling."
        )
    if isinstance(policy, type) or type(policy) is not getattr(policies, kind, None):
        raise WrongTypeError(
            "policy must be a learning policy of MABWiser, such as LearningPolicy.UCB1(alpha=1.25); received"
            f" {checks.kind_of(policy)}."
        )
    return functools.partial(MabWiserAgent, policy)


class RiverAgent(RewardAgent):
    """Plays a clone of a river policy in each game."""

    def __init__(self, policy: Any) -> None:
        self._template = policy
        self._takes_seed = "seed" in inspect.signature(type(policy)).parameters

    def _start(self, n_arms: int, seed: int) -> None:
        self._policy = self._template.clone({"seed": seed} if self._takes_seed else {})
        self._arms = list(range(n_arms))

    def _choose(self) -> int:
        arm: int = self._policy.pull(self._arms)
        return arm

    def _learn(self, arm: int, gain: float) -> None:
        self._policy.update(arm, gain)


def from_river(policy: Any) -> Callable[[], RiverAgent]:
    """Return a factory of agents that play a bandit policy of river.

    Each game has its own clone, with a seed from the game's random stream instead of the policy's. Policies without the
    parameter `seed` keep their own randomness.

    Args:
        policy: A policy of `river.bandit` without context: `UCB`, `EpsilonGreedy`, `Exp3`, `ThompsonSampling`, ...

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_river(policy), wrapping)`,
        `simulate` and `play(env, from_river(policy)())`.

    Raises:
        ImportError: If river is not installed.
        WrongTypeError: If it is not a policy, or needs a context.
    """
    base = require("river.bandit.base", extra="neighbours")
    if not isinstance(policy, base.Policy):
        raise WrongTypeError(
            "policy must be an object of river.bandit, such as river.bandit.UCB(delta=1); received"
            f" {checks.kind_of(policy)}."
        )
    if isinstance(policy, base.ContextualPolicy):
        raise WrongTypeError(
            f"policy must choose without a context, which these games do not have; received {checks.kind_of(policy)}."
            " Use UCB, EpsilonGreedy, Exp3 or ThompsonSampling."
        )
    return functools.partial(RiverAgent, policy)


OURS = ("--cb_explore", "--cb_explore_adf", "--random_seed")


class VowpalWabbitAgent(RewardAgent):
    """Draws arms from the probabilities that Vowpal Wabbit predicts, and reports 1 - gain as the cost.

    A pickled or deep copy starts with its next game, because a workspace cannot be copied.
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
    """Return a factory of agents that play Vowpal Wabbit's `--cb_explore K`, without context.

    The arm is drawn from the agent's own random stream, which also gives Vowpal Wabbit its seed.

    Args:
        arguments: More options of Vowpal Wabbit, such as `"--epsilon 0.1"` (there the exploration rate), `"--bag 5"`,
            `"--cover 3"` or `"--first 10"`.

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_vowpalwabbit(...), wrapping)`,
        `simulate` and `play(env, from_vowpalwabbit(...)())`.

    Raises:
        ImportError: If vowpalwabbit is not installed.
        WrongTypeError: If the arguments are not text.
        ValueError: If Vowpal Wabbit refuses them, or they are set here.
    """
    if not isinstance(arguments, str):
        raise WrongTypeError(f"arguments must be text, such as '--epsilon 0.1'; received {checks.kind_of(arguments)}.")
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


@checks.answers_wrong_calls
def from_sb3(model: Any, *, deterministic: bool = False) -> "Callable[[], Sb3Agent]":
    """Return a factory of agents that play a trained model without further training (`Sb3Agent`).

    The agents share the model and its random numbers, seeded from the random stream of the game that began last; so
    play one game after the other. Playing changes a model's state: to resume an interrupted `compare(folder=...)`, load
    the model from its file again.

    Args:
        model: A model of Stable-Baselines3 or sb3-contrib, trained on a DPBandit environment with Discrete actions,
            with or without privacy wrappers and `FlattenObservation`.
        deterministic: Whether to play the model's best arm instead of drawing one.

    Returns:
        A function without arguments that makes an agent, for `Algorithm("name", from_sb3(model), wrapping)`,
        `simulate` and `play(env, from_sb3(model)())`.

    Raises:
        ImportError: If Stable-Baselines3 is not installed.
        WrongTypeError: If it is not a model for arms.
    """
    checks.boolean("deterministic", deterministic)
    base = require("stable_baselines3.common.base_class", extra="sb3").BaseAlgorithm
    if not isinstance(model, base) or not hasattr(model.action_space, "n"):
        raise WrongTypeError(
            "model must be a model of Stable-Baselines3 with Discrete actions, such as PPO('MultiInputPolicy', env);"
            f" received {checks.kind_of(model)}."
        )
    from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent

    return functools.partial(Sb3Agent, model, deterministic=deterministic)
