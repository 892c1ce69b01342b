"""The bandit game as a Gymnasium environment: an agent plays an arm and sees its gain; the evaluator sees all."""

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, NoReturn, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.adversaries.memory_bounded import gain_counts
from dp_bandit_envs.adversaries.payoff import payments_of
from dp_bandit_envs.envs.registration import sized_adversaries
from dp_bandit_envs.envs.rendering import Scoreboard
from dp_bandit_envs.errors import (
    LateDataError,
    StepOutsideGameError,
    UnknownArgumentError,
    WrongGameError,
    WrongTypeError,
)
from dp_bandit_envs.privacy.admission import Admission, admission_to, public_seed, refuse
from dp_bandit_envs.privacy.facts import ValueRange, gains_of_arms
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation
from dp_bandit_envs.seeding import ADVERSARY, EpisodeStreams, checked_options, checked_seed

BlockListener = Callable[[IntArray, FloatArray, FloatArray], None]
FIRST_BLOCK: Final = 64
BLOCK_NUMBERS: Final = 2**18
"""The most gains that an environment draws at once; with many arms, blocks are shorter."""
NOT_A_BANDIT_ENV: Final = (
    "{} needs a DPBandit environment, which computes the regret; received {}. A bandit of another package is one with"
    " dp_bandit_envs.adapters.from_gymnasium(env, horizon=..., low=..., high=...)."
)
ORDERLESS: Final = (
    "arm_order must be 'given' for {}, whose begin draws no order; received 'random'. Let its begin call"
    " self.draw_order(rng), and arrange what it has for each arm by what that returns."
)
LATE: Final = (
    "{} must have its real data when it is made, before a seed is chosen; its begin made some, such as a Replay. Make"
    " them in __init__, and let begin only begin them."
)


class Spec(EnvSpec):
    """A specification whose `to_json` writes array arguments as lists, which the game accepts too."""

    def to_json(self) -> str:
        """Return JSON for `EnvSpec.from_json`."""
        plain = copy.copy(self)
        arrays = {name: value for name, value in self.kwargs.items() if hasattr(value, "__array__")}
        plain.kwargs = {**self.kwargs, **{name: np.asarray(value).tolist() for name, value in arrays.items()}}
        return EnvSpec.to_json(plain)


class ArmFacts:
    """Common base of games of arms and their vector forms: public facts, and the gain of the best fixed arm."""

    adversary_class: ClassVar[type[Adversary] | None] = None
    sensitivity: float = 1.0
    """L1 distance between observations in neighbouring games: bandit feedback reveals one gain in [0, 1]."""
    n_arms: int
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """The specification, set by `gym.make` or `gym.make_vec`; None without them."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = copy.copy(spec)
        if self._spec is not None:
            self._spec.__class__ = Spec

    @property
    def n_values(self) -> int:
        """Number of values that a round of one game can reveal."""
        return self.n_arms

    @property
    def values(self) -> ValueRange:
        """Public facts about the values that a round of one game reveals."""
        return gains_of_arms(self.sensitivity)

    @property
    def guarantee(self) -> NoReturn:
        """Nothing: only a privacy wrapper has one."""
        raise AttributeError(
            "a game without a privacy wrapper guarantees nothing; put one around it, as in"
            " dp_bandit_envs.LaplaceClipRescale(env, epsilon=1.0).guarantee, or ask an algorithm, as in"
            " make_algorithm('DP-KLUCB').guarantee(n_arms=4, horizon=1000)."
        )

    def best(self, totals: FloatArray) -> FloatArray:
        """Return the total gain of the best fixed arm, shape `(...)`, from summed gains `(..., n_arms)`."""
        largest: FloatArray = np.max(totals, axis=-1)
        return largest


class BanditEnv(ArmFacts, gym.Env[Observation, int]):
    """A game of `horizon` rounds against an adversary.

    ## Action Space
    `Discrete(n_arms)`: the arm to play in this round. `step` accepts members of `action_space`, such as `1`,
    `np.int64(1)` and `np.array(1)`, and refuses others, such as `1.0` and `np.array([1])`.

    ## Observation Space
    `Dict(gain=Box(0, 1, (n_arms,), float64), observed=MultiBinary(n_arms))`: the gain of each arm revealed in this
    round, 0 elsewhere, and a flag for each revealed arm: the arm played and, on a graph, its neighbours.

    ## Rewards
    The gain of the arm played, in [0, 1], larger is better. Against an adversary with memory m it counts only if the
    same arm was also played in the m rounds before (or in all earlier rounds if fewer); otherwise it is 0. If the
    adversary has a payoff function, the reward is its return value, and the observation shows it.

    ## Starting State
    Round 0, with an empty observation. The gains have their own random stream, so an agent may use the same seed.
    `reset(seed=s, options={"trial": i})` starts trial i of seed s; the default trial is 0.

    ## Episode End
    `terminated` after round `horizon`: the horizon is part of the problem. Never `truncated`. `info` is exactly
    `{"round": t}`, t from 1.

    For the evaluator only, on `env.unwrapped`: `external_regret()`, `policy_regret()`, `cumulative_gains`, `collected`.

    Args:
        adversary: The adversary that chooses the gains. A copy of it plays (`env.unwrapped.adversary`), so several
            environments may share one. The registered ids make it from the remaining arguments.
        arm_order: `"given"`: arms keep their numbers; `"random"`: each game numbers arms at random, with their
            features, graph and names. By default given if these, or the gains, are the user's own, and random if they
            are the package's.
        observe_charge: Whether the agent observes a charge for switching (a gain of 0), or only the reward contains it;
            with a payoff function, whether the agent observes payoffs or the gains behind them.
        render_mode: None, `"rgb_array"` or `"ansi"`.
        block_length: The most rounds of gains to fetch at once; it affects only speed and memory.
        arguments: Arguments of the registered id's adversary, such as `n_arms` and `horizon`.

    Example:
        >>> from dp_bandit_envs import BanditEnv
        >>> from dp_bandit_envs.adversaries import GainTable
        >>> env = BanditEnv(GainTable([[0.0, 1.0], [0.5, 0.25]]))
        >>> observation, info = env.reset(seed=0)
        >>> env.step(1)
        ({'gain': array([0., 1.]), 'observed': array([0, 1], dtype=int8)}, 1.0, False, False, {'round': 1})
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}  # type: ignore[misc]

    def __init_subclass__(cls) -> None:
        """Append missing headings to a subclass's docstring, from the nearest base class."""
        # Python 3.13 removes the indentation of docstrings, and no earlier one does.
        docs, first = inspect.cleandoc(cls.__doc__ or ""), "## Action Space"
        # Python drops docstrings with -OO.
        base = inspect.cleandoc(next((str(one.__doc__) for one in cls.__mro__[1:] if first in str(one.__doc__)), ""))
        _, heading, common = base.partition("## Starting State" if first in docs else first)
        shared = common.partition("For the evaluator only")[0].rstrip()
        cls.__doc__ = f"{docs}\n\n{heading}{shared}\n"

    def __init__(
        self,
        adversary: Adversary | None = None,
        *,
        arm_order: str | None = None,
        observe_charge: bool = True,
        render_mode: str | None = None,
        block_length: SupportsIndex = 4096,
        **arguments: Any,
    ) -> None:
        self.adversary = make_adversary(type(self), adversary, arguments, arm_order)
        if render_mode is not None:
            checks.one_of("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.horizon, self._width = self.adversary.horizon, self.adversary.n_arms
        self.data_use, self.is_real = self.adversary.data_use, self.adversary.is_real
        self._set_spaces(self._width)
        self.on_block: BlockListener | None = None
        self._admission: Admission | None = None
        """What pays the ledgers of the data before the first round."""
        self.observe_charge = checks.boolean("observe_charge", observe_charge)
        self._memory = self.adversary.memory
        self._payments = next(iter(payments_of(self.adversary)), None)
        self._block_length = checks.integer("block_length", block_length, at_least=1)
        self._block_length = min(self._block_length, max(1, BLOCK_NUMBERS // self._width))
        self._streams = EpisodeStreams(ADVERSARY)
        self._round = -1  # before the first reset
        self._rows, self._arms = list[list[float]](), list[int]()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game; see the class's headings Starting State and Episode End."""
        seed, options = checked_seed(seed), checked_options(options)
        super().reset(seed=public_seed(seed))
        # If the adversary refuses to begin, no game is in progress, and nothing of the one before is left to play.
        self._round, self._rows, self._arms = -1, [], []
        self._admission = admission_to(self.adversary, previous=self._admission)
        with checked_beginning(self.adversary):
            self.adversary.begin(self._streams.next(seed, options))
        self._begin(seed, options)
        self._round, self._collected = 0, 0.0
        self._totals_before_block = np.zeros(self._width)
        self._arm, self._run = -1, 0
        if self._payments is not None:
            self._payments.begin()
        self._block = np.empty((0, self._width))
        self._earned = list[float]()
        self._scoreboard = self._new_scoreboard() if self.render_mode else None
        return empty_observation(self.n_values), {"round": 0}

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play one round."""
        arm = action if type(action) is int and 0 <= action < self._n_plays else self._take(action)
        position = len(self._arms)
        if position == len(self._rows):
            self._next_block()
            position = 0
        row = self._rows[position]
        gain = row[arm] if self._point is None else self._payoff(row)
        self._round += 1
        if arm == self._arm:
            self._run += 1
        else:
            self._arm, self._run = arm, 1
        if self._payments is None:
            # Without memory, every round counts.
            earned = gain if self._memory == 0 or gain_counts(self._run, self._round, self._memory) else 0.0
        else:
            earned = self._payments.play(self._block[position], arm, self._round)
        self._collected += earned
        self._arms.append(arm)
        self._earned.append(earned)
        observation = self._reveal(arm, earned if self.observe_charge else gain)
        terminated = self._round == self.horizon
        if self._scoreboard is not None:
            self._scoreboard.add(self._round, arm, earned, self.external_regret)
        return observation, earned, terminated, False, {"round": self._round}

    _n_plays = 0
    """Number of arms; 0 where actions are points."""
    _point: list[float] | None = None  # the point played last, for which arm 0 stands

    def _set_spaces(self, width: int) -> None:
        """Set action and observation spaces, for gains with this many columns."""
        refuse_vectors(self.adversary)
        self.n_arms = self._n_plays = width
        self.action_space = spaces.Discrete(width)  # type: ignore[assignment]
        self.observation_space = observation_space(width)  # type: ignore[assignment]

    def _take(self, action: Any) -> int:
        return checks.arm(action, self.n_arms)

    def _payoff(self, gains: list[float]) -> float:
        raise NotImplementedError

    def _check_gains(self) -> None:
        """Raise if the block's gains break a rule beyond their range."""

    def _new_scoreboard(self) -> Any:
        return Scoreboard(self.n_arms, self.horizon, self._best_fixed_arm)

    def _best_fixed_arm(self) -> int:
        return int(np.argmax(self._totals_of_fixed_arms()))

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Start a subclass's additions to the game, such as its graph."""

    def _reveal(self, arm: int, gain: float) -> Observation:
        """Return the observation of this round: the arm played, with `gain` as the gain to show."""
        gains = np.zeros(self.n_arms)
        gains[arm] = gain
        observed = np.zeros(self.n_arms, np.int8)
        observed[arm] = 1
        return {"gain": gains, "observed": observed}

    def _shown(self) -> FloatArray:
        """Return each arm's observable value in the last round, shape `(n_arms,)`: its gain or its payoff."""
        payments = self._payments if self.observe_charge else None
        row: FloatArray = self._block[len(self._arms) - 1] if payments is None else payments.options
        return row

    @property
    def features(self) -> FloatArray:
        """Public feature vectors of the arms, shape `(n_arms, dimension)`, in games that have any."""
        if self.adversary.features is None:
            raise AttributeError(f"the arms of {type(self.adversary).__name__} have no features.")
        return self.adversary.features

    @property
    def cumulative_gains(self) -> FloatArray:
        """Each arm's total gain, shape `(n_arms,)`, before any charge or payoff. For the evaluator."""
        self._check_started()
        return self._totals(len(self._arms))

    @property
    def collected(self) -> float:
        """The agent's total reward. For the evaluator."""
        self._check_started()
        return self._collected

    def external_regret(self) -> float:
        """Return the total gain of the best fixed arm, minus the collected gain.

        For the evaluator. A fixed arm pays no charge; with a payoff function it replaces the last of the arms really
        played.
        """
        return float(self.best(self._totals_of_fixed_arms()) - self._collected)

    def _totals_of_fixed_arms(self) -> FloatArray:
        totals = self.cumulative_gains
        return totals if self._payments is None else self._payments.option_totals

    def policy_regret(self) -> float:
        """Return the total payoff of the best constant play, minus the collected gain. For the evaluator."""
        totals = self.cumulative_gains
        best = totals if self._payments is None else self._payments.constant_totals
        return float(self.best(best) - self._collected)

    def comparisons(self) -> tuple[FloatArray, FloatArray]:
        """Return the payoffs of each fixed arm, and of each arm under constant play, in each round of this block.

        Two arrays of shape `(rounds, n_arms)`; the same array without a payoff function. For the evaluator.
        """
        table = self._block[: len(self._arms)]
        if self._payments is None:
            return table, table
        return np.array(self._payments.option_rows), np.array(self._payments.constant_rows)

    def report_block(self) -> None:
        """Pass the rounds of the current block to `on_block`, if it is set.

        The game calls this before it fetches the next block; a listener must call it once more at the end.
        """
        if self.on_block is not None and self._arms:
            self.on_block(np.array(self._arms), np.array(self._earned), self._block[: len(self._arms)])

    def _totals(self, rounds: int) -> FloatArray:
        # Added row by row from the first, as in all other ways of playing, so that sums agree to the last bit.
        running: FloatArray = np.cumsum(np.vstack([self._totals_before_block, self._block[:rounds]]), axis=0)[-1]
        return running

    def render(self) -> Any:
        """Return a picture of the game: an array `(height, width, 3)` or text, by `render_mode`."""
        self._check_started()
        if self._scoreboard is None:
            gym.logger.warn("render() shows nothing: make the environment with render_mode='rgb_array' or 'ansi'.")
            return None
        title = f"{type(self.adversary).__name__} adversary"
        return self._scoreboard.render(self.render_mode, title=title, total="gain")

    def _check_started(self) -> None:
        if self._round < 0:
            raise StepOutsideGameError("the game has not begun; call reset() first.")

    def _next_block(self) -> None:
        self._check_started()
        if self._round == self.horizon:
            raise StepOutsideGameError(f"the game ended after round {self.horizon}; call reset() to start another.")
        self.report_block()
        self._totals_before_block = self._totals(len(self._arms))
        t, self._round = self._round, -1  # unpaid, or without valid gains, there is no game to continue
        if t == 0 and self._admission is not None:
            self._admission.pay()
        self._block = np.empty((next_length(t, self.horizon, self._block_length), self._width))
        self.adversary.fill(self._block, check=True)
        self._check_gains()
        self._round = t
        self._rows = self._block.tolist()
        self._arms.clear()
        self._earned.clear()
        if self._payments is not None:
            self._payments.clear()


def observation_space(n_values: int, low: float = 0.0, high: float = 1.0) -> spaces.Dict:
    """Return the space of one round: `gain` in [low, high] and `observed` in {0, 1}, each of shape `(n_values,)`."""
    gain = spaces.Box(low, high, (n_values,), np.float64)
    return spaces.Dict(gain=gain, observed=spaces.MultiBinary(n_values))


def empty_observation(n_values: int) -> Observation:
    """Return a fresh, empty observation."""
    return {"gain": np.zeros(n_values), "observed": np.zeros(n_values, np.int8)}


def refuse_vectors(adversary: Adversary) -> None:
    """Refuse gains below 0, which are coordinates of gain vectors, in a game of arms."""
    if adversary.lowest < 0:
        raise WrongGameError(f"{type(adversary).__name__} chooses gain vectors for points; arms need gains in [0, 1].")


def next_length(played: int, horizon: int, most: int) -> int:
    """Return the number of rounds of the next block: few at first, later at most three times the rounds played.

    So a short game draws little more than it plays, and a long game draws nearly all of its gains in long blocks.

    Args:
        played: Rounds played.
        horizon: Rounds of the game.
        most: The longest block.
    """
    return min(most, max(FIRST_BLOCK, 3 * played), horizon - played)


@contextlib.contextmanager
def checked_beginning(adversary: Adversary) -> Iterator[None]:
    """Check an adversary's `begin` in this `with` statement.

    Raises:
        LateDataError: If it adds real data, because the seed was chosen without them.
        WrongGameError: If it did not number arms at random although it should.
    """
    was_real = adversary.is_real
    yield
    if adversary.arm_order == "random" and adversary.order is None:
        raise WrongGameError(ORDERLESS.format(type(adversary).__name__))
    if not was_real and adversary.is_real:
        refuse(LateDataError(LATE.format(type(adversary).__name__)))


def make_adversary(
    env_class: type, adversary: Adversary | None, arguments: dict[str, Any], arm_order: str | None
) -> Adversary:
    """Return a copy of the given adversary, so that several environments may share it; or make one from its class."""
    adversary = _copied_or_new(env_class, adversary, arguments)
    if not hasattr(adversary, "horizon"):
        raise WrongTypeError(
            f"{type(adversary).__name__}.__init__ must first call super().__init__(n_arms=n_arms, horizon=horizon); it"
            " does not."
        )
    if arm_order is not None:
        adversary.arm_order = arm_order
    return adversary


def _copied_or_new(env_class: type, adversary: Adversary | None, arguments: dict[str, Any]) -> Adversary:
    adversary_class: type[Adversary] | None = env_class.adversary_class  # type: ignore[attr-defined]
    if adversary is not None:
        if not isinstance(adversary, Adversary):
            raise WrongTypeError(
                f"adversary must be an Adversary, such as dp_bandit_envs.adversaries.Stochastic(n_arms=10); received"
                f" {checks.kind_of(adversary)}. gymnasium.make('DPBandit-Stochastic-v0') makes a game by its name."
            )
        if arguments:
            raise WrongTypeError(f"an adversary was given, so give it these arguments: {', '.join(arguments)}.")
        return copy.copy(adversary)
    if adversary_class is None:
        raise WrongTypeError(
            f"{env_class.__name__} needs an adversary; for example BanditEnv(Stochastic(n_arms=10)), from"
            " dp_bandit_envs.adversaries."
        )
    parameters = list(inspect.signature(adversary_class).parameters)
    if unknown := [name for name in arguments if name not in parameters]:
        if not parameters:
            hint = "An adversary's __init__ passes it to super().__init__()."
            raise UnknownArgumentError(f"{env_class.__name__}()", unknown[0], hint)
        refuse_unknown(env_class, unknown, parameters)
    try:
        return adversary_class(**arguments)
    except WrongTypeError:
        raise
    except TypeError as error:
        # Gymnasium would raise it again with all arguments in its message, private gains among them.
        raise WrongTypeError(f"{adversary_class.__name__} cannot be made of these arguments: {error}") from error


def refuse_unknown(env_class: type, arguments: Iterable[str], of_adversary: Sequence[str] = ()) -> None:
    """Raise `UnknownArgumentError` for the first of these arguments, naming those that the class takes.

    Args:
        env_class: The environment.
        arguments: The unknown ones.
        of_adversary: What it takes for its adversary, which it makes itself.
    """
    for name in arguments:
        parameters = inspect.signature(env_class).parameters.items()
        of_game = [key for key, parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
        takes = dict.fromkeys([*of_adversary, *(key for key in of_game if not (of_adversary and key == "adversary"))])
        near = checks.near_names(name, takes)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"It takes {', '.join(takes)}."
        raise UnknownArgumentError(f"{env_class.__name__}()", name, hint)


def with_own_size(gains: Adversary, **sizes: SupportsIndex | None) -> Adversary:
    """Return an adversary, or raise ValueError if a size argument, such as `n_arms=3`, differs from its own."""
    for name, wanted in sizes.items():
        size = gains.horizon if name == "horizon" else gains.n_arms
        if wanted is not None and checks.integer(name, wanted, at_least=1) != size:
            raise ValueError(f"gains have their own {name} of {size}; received {name}={wanted}. Omit it.")
    return gains


def checked_adversary(gains: Any) -> Adversary:
    """Return an adversary, or raise `WrongTypeError`."""
    if isinstance(gains, Adversary):
        return gains
    raise WrongTypeError(
        f"gains must be a name, one of {', '.join(sized_adversaries())}, or an adversary, such as"
        f" dp_bandit_envs.adversaries.SwitchingCost(n_arms, horizon), or Replay(array) for numbers of your own;"
        f" received {checks.kind_of(gains)}."
    )


def named_adversary(name: str, n_arms: SupportsIndex, horizon: SupportsIndex) -> Adversary:
    """Return an adversary that needs a size only, by the name of its environment."""
    adversaries = sized_adversaries()
    return adversaries[checks.known_name("gains", name, adversaries)](n_arms=n_arms, horizon=horizon)
