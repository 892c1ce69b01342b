"""Running sums: released by one counter per arm, by one counter on vectors, or exactly."""

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import bind, is_builtin
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.accounting import RADIUS, DominatingNoise, distance_of_all
from dp_bandit_envs.privacy.counters import COUNTERS, Counter, make_counter
from dp_bandit_envs.privacy.counters.counter import gaussian_form
from dp_bandit_envs.privacy.facts import STEP, InputFacts, Noise, distance_in_norm, distance_l1, distance_l2, to_item
from dp_bandit_envs.privacy.guarantee import REPLACE_ONE_ROUND, PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import to_grid
from dp_bandit_envs.privacy.mechanism import Mechanism, Release, for_rounds
from dp_bandit_envs.privacy.node_noise import NORM_CODES, deviation, equivalent_laplace_scale, fill_own_norm
from dp_bandit_envs.privacy.secure_draws import (
    ChoosesDraws,
    distance_on_grid,
    draw_normal_steps,
    draw_steps,
    fill_normal_steps,
    fill_steps,
    normal_distance,
    on_grid,
    secure_grid,
)
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The exact sums, and the counters' state.

    Attributes:
        exact: Sums of the gains, `(n_values,)`.
        inserted: Numbers of gains, `(n_values,)`.
        counters: The counters' own state, with a position for each arm; a dummy of one arm if `joint`.
        together: The counter's joint state; a dummy of one coordinate, or `NoJointState`, unless `joint`.
        joint: Whether all coordinates share one position.
        shared: The coordinate that used the shared position last, and whether it has a new release, `(2,)`.
        grid: The step between sums that can be released; 0 without noise.
        in_steps: Whether noise is counted in these steps, and sums are exact, as for secure draws.
    """

    exact: FloatArray
    inserted: IntArray
    counters: Any
    together: Any
    joint: bool
    shared: IntArray
    grid: float
    in_steps: bool


class NoJointState(NamedTuple):
    """Stands for the joint state of counters without one."""

    noise: FloatArray


def next_noise(state: Any, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Placeholder; replaced by the counter's `noise`."""
    raise NotImplementedError


def insert_all(state: Any, rng: np.random.Generator) -> bool:
    """Placeholder; replaced by the counter's `joint_noise`, if it has one."""
    raise NotImplementedError


def settle(state: Any, arm: int, noise: float) -> None:
    """Placeholder; replaced by the counter's `settled`, if it has one."""


def settle_all(state: Any, coordinate: int, noise: float) -> None:
    """Placeholder; replaced by the counter's `joint_settled`, if it has one."""


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Insert a gain into its arm's counter; release the sum if the counter does."""
    state.exact[arm] += to_item(gain)
    state.inserted[arm] += 1
    return pad(state, arm, rng)


def release_exact(state: State, arm: int, gain: float, rng: Any) -> tuple[float, int]:
    """Do as `release`, for secure draws, with items on the grid."""
    state.exact[arm] += on_grid(gain, state.grid) if state.grid > 0.0 else to_item(gain)
    state.inserted[arm] += 1
    return pad(state, arm, rng)


def pad(state: State, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Advance the counter of an arm; if its gain was not revealed, a 0 is inserted and its number of gains stays.

    For games of one kind, one of the two functions below replaces this one.
    """
    if state.joint:
        return pad_shared(state, arm, rng)
    return pad_own(state, arm, rng)


def pad_own(state: State, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Advance the arm's own counter."""
    noise, fresh = next_noise(state.counters, arm, rng)
    if not fresh:
        return 0.0, 0
    exact = state.exact[arm]
    total = exact + state.grid * noise if state.in_steps else to_grid(exact + noise, state.grid)
    settle(state.counters, arm, total - exact)
    return total, state.inserted[arm]


def pad_shared(state: State, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Take a coordinate's noise at the shared position; the first coordinate of a round advances it.

    Every driver passes a round's coordinates in ascending order. So a coordinate that is not above the previous
    coordinate begins a new round, and `insert_all` moves to the next position, with noise for all coordinates. Why this
    is private: between two advances the coordinates ascend, so each uses a position at most once, and positions only
    grow. A coordinate's releases are therefore the releases of its own counter, with a 0 at each position that it
    skips, as when a mechanism below withholds its gain. All values of one round are at one position, because only the
    first of them can advance it. So a changed round moves one vector of values in one node on each level, as the
    guarantee assumes. If all coordinates of a round are above the last coordinate of the previous round, both share a
    position. Their coordinates are then disjoint, and only one round is changed, so the argument still holds.
    """
    if arm <= state.shared[0]:
        state.shared[1] = 1 if insert_all(state.together, rng) else 0
    state.shared[0] = arm
    if state.shared[1] == 0:
        return 0.0, 0
    exact, noise = state.exact[arm], state.together.noise[arm]
    total = exact + state.grid * noise if state.in_steps else to_grid(exact + noise, state.grid)
    settle_all(state.together, arm, total - exact)
    return total, state.inserted[arm]


def settle_object(state: tuple[Counter, Any], arm: int, noise: float) -> None:
    """Settle the last release of a counter whose `noise` is a method."""
    counter, counter_state = state
    if counter.settled is not None:
        counter.settled(counter_state, arm, noise)


def noise_of_object(state: tuple[Counter, Any], arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Return the next noise of a counter whose `noise` is a method."""
    counter, counter_state = state
    noise, fresh = counter.noise(counter_state, arm, rng)
    return float(noise), bool(fresh)


class CounterSums(ChoosesDraws):
    r"""Releases running sums, with one private counter for each arm, or one on vectors.

    Each counter has the full epsilon: a round's gain is added to the sum of the arm played only (parallel composition).
    If a round reveals several values, the noise grows with the distance of neighbouring rounds' values. This is in L1
    (sensitivity s), in their own norm, or in L2 (square root of s for gains in [0, 1]). If every round reveals every
    value, as with expert advice, all coordinates share one position of one counter, whose nodes are vectors of noise;
    `pad_shared` explains why this is as private. Values are rounded to multiples of 2^-30, towards 0, so that sums
    below 2^22 are exact; see `privacy.facts`.

    Args:
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS`; `dp-bandit show counters` compares them.
        noise: `"laplace"`, independent draws for epsilon-DP; `"own-norm"`, smaller noise for epsilon-DP if every round
            reveals every value; `"gaussian"`, independent normal draws for (epsilon, delta)-DP. Own-norm noise is the
            K-norm mechanism: density :math:`e^{-\epsilon \lVert z \rVert / (m D)}` per node, for items in m nodes and
            neighbours at distance at most D. By default `"laplace"`; the square-root counter has `"gaussian"` only.
        delta: Privacy failure probability of Gaussian noise, in (0, 1), by default 1e-6, including the part of fast
            draws; not for other noise. Games in which fast draws need half of it or more are refused.
        pad_unplayed: Whether to feed a 0 to the counters of unrevealed arms, so that all arms have the same noise
            (DP-UCB). Counts do not change.
        draws: `"fast"`, repeatable; or `"secure"`, exact noise without a seed (`privacy.secure_draws`). Secure draws
            exclude own-norm noise and the counters `"honaker"` and `"square-root"`, which weight their draws.
        options: Further arguments of the counter: `budget` (hybrid), `base` (k-ary).

    Protects: one round's gains of all arms, in the central model.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2; Agarwal and Singh (2017),
    algorithm 2, for sums of vectors; Hardt and Talwar (2010) for own-norm noise.
    Differs from Agarwal and Singh in: noise scaled to the L1 distance of neighbours times the number of nodes (they use
    the largest L1 norm and ln T, which is (2 ceil(log2 T) / ln T) epsilon-DP); no padding of nodes.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs.wrappers import CounterSums
        >>> env = CounterSums(gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=9), counter="k-ary", epsilon=1)
        >>> observation, info = env.reset(seed=0)
        >>> [round(float(env.step(1)[0]["sum"][1]), 1) for _ in range(9)]
        [-3.3, -5.4, -6.7, -4.7, -3.3, -3.5, -3.2, -2.4, -1.4]
        >>> env.guarantee.epsilon, env.guarantee.model
        (1.0, 'central')
    """

    releases_sums = True
    any_range = True
    # Defaults of the class: a mechanism with Laplace noise keeps the streams that its other parameters determine.
    noise_kind: str = "laplace"
    delta: float | None = None
    example: ClassVar[dict[str, Any]] = {"counter": "k-ary", "epsilon": 1.0}

    def __init__(
        self,
        *,
        counter: str,
        epsilon: SupportsFloat,
        noise: str | None = None,
        delta: SupportsFloat | None = None,
        pad_unplayed: bool = False,
        draws: str = "fast",
        **options: Any,
    ) -> None:
        self._use_draws(draws)
        self.counter_name = checks.known_name("counter", counter, COUNTERS)
        if "horizon" in options:
            raise TypeError("the counters take their horizon from the game; give horizon= to the environment.")
        if "rng" in options:
            raise TypeError("the noise comes from the game's own stream; rng cannot be given. Use reset(seed=...).")
        if "values" in options:
            raise TypeError("the game says how many values a round reveals; values cannot be given.")
        self.epsilon = checks.epsilon(epsilon)
        kind = COUNTERS[self.counter_name]
        chosen = kind.noises[0] if noise is None else checks.one_of("noise", noise, kind.noises)
        if chosen != "laplace":
            self.noise_kind = chosen
        if delta is not None and self.noise_kind != "gaussian":
            raise TypeError(f"delta is for noise='gaussian'; received delta={delta!r} with noise={self.noise_kind!r}.")
        if self.noise_kind == "own-norm" and self._joint is None:
            raise TypeError(f"own-norm noise needs a counter with a joint form, which {self.counter_name} has not.")
        if self.noise_kind == "gaussian":
            self.delta = checks.delta(1e-6 if delta is None else delta)
        self._check_draws()
        self.pad_unplayed = checks.boolean("pad_unplayed", pad_unplayed)
        self.options = options if self.delta is None else {**options, "delta": self.delta}
        # Raises here, not at the first reset, if an option is wrong.
        self._make_counter(1, 0)

    def _check_draws(self) -> None:
        if not self._secure:
            return
        if self.noise_kind == "own-norm":
            raise ValueError(
                "draws='secure' is for noise='laplace' and noise='gaussian'; received noise='own-norm', whose draws are"
                " real vectors, of which no exact discrete form is known here."
            )
        if COUNTERS[self.counter_name].weighs_draws:
            raise ValueError(
                "draws='secure' is for counters that add up whole draws; received"
                f" counter={self.counter_name!r}, which multiplies them by fractions. Use CounterSums with"
                " counter='k-ary', for example."
            )
        if self._plain_noise is None:
            raise ValueError(
                "draws='secure' needs a counter whose noise is a plain function; received"
                f" counter={self.counter_name!r}."
            )

    def counter(self, horizon: int) -> Counter:
        """Return the counter of one arm.

        Args:
            horizon: The largest number of gains of one arm.
        """
        return self._make_counter(horizon, 0 if self._secure else 1)

    def _make_counter(self, horizon: int, values: int) -> Counter:
        for_delta = {} if self.delta is None else {"values": values}
        return make_counter(self.counter_name, epsilon=self.epsilon, horizon=horizon, **self.options, **for_delta)

    def _counter(self, inputs: InputFacts) -> Counter:
        """Return the game's counter from a small private cache, as some counters are slow to construct.

        Raises:
            WrongGameError: If fast draws need too much of delta.
        """
        options = self.options
        if self.delta is not None:
            # Above a guarantee the noise is post-processing, and delta is not promised.
            counted = not self._secure and not inputs.is_private
            options = {**options, "values": inputs.gains_in_a_round if counted else 0}
        return _kept_counter(COUNTERS[self.counter_name], self.epsilon, inputs.horizon, tuple(sorted(options.items())))

    @property
    def draws_laplace(self) -> bool:  # type: ignore[override]
        """Whether its counter belongs to this package and has Laplace noise."""
        return self.noise_kind == "laplace" and is_builtin(COUNTERS[self.counter_name])

    @property
    def release(self) -> Release:
        """The module's `release` with this counter's noise."""
        return self._with_noise(release_exact if self._secure else release)

    @property
    def idle(self) -> Release | None:
        """The module's `pad` with this counter's noise, or None."""
        return self._with_noise(pad) if self.pad_unplayed else None

    def release_for(self, inputs: InputFacts) -> Release:
        """Return a `release` that need not check whether coordinates share a position."""
        if self._has_own_release:
            return self.release
        kind = {"pad": pad_shared if self._is_joint(inputs) else pad_own}
        return self._with_noise(bind(release_exact if self._secure else release, kind))

    @property
    def _has_own_release(self) -> bool:
        return inspect.getattr_static(self, "release") is not vars(CounterSums)["release"]

    def new_state(self, inputs: InputFacts) -> State:
        """Return counters before their first items."""
        counter, n_values, joint = self._counter(inputs), inputs.n_values, self._is_joint(inputs)
        factor, grid = self._factor_and_grid(counter, inputs)
        state, together = counter.new_state(1 if joint else n_values), NoJointState(np.zeros(1))
        # Where `release_for` is all that is played, the other form's state would only take time to compile.
        if self._joint and (joint or self.pad_unplayed or self._has_own_release):
            norm = NORM_CODES.get(inputs.values.norm, 0)
            together = counter.new_joint_state(n_values if joint else 1, norm)
        if self._secure or factor != 1:
            step = grid if self._secure else 1.0
            state, together = in_steps(state, factor, step), in_steps(together, factor, step)
        return State(
            np.zeros(n_values),
            np.zeros(n_values, np.int64),
            state if self._plain_noise else (counter, state),
            together,
            joint,
            np.array([n_values, 0], np.int64),
            grid,
            self._secure,
        )

    def _factor_and_grid(self, counter: Counter, inputs: InputFacts) -> tuple[float, float]:
        """Return the multiplier of the counter's noise, and the step between sums that can be released."""
        factor, values = distance_for(self.noise_kind, inputs), inputs.values
        if not self._secure:
            return factor, counter.grid_for(factor * deviation(self.noise_kind, values.norm, inputs.n_values))
        largest = max((scale for scale, _ in counter.item_draws()), default=0.0)
        # Values are rounded to the grid itself, by less than a step, whatever the scale; so it is chosen first.
        grid = secure_grid(2 * largest * max(factor, STEP), inputs.horizon * max(-values.low, values.high))
        return distance_on_grid(factor, grid, inputs, l2=self.noise_kind == "gaussian"), grid

    def noise(self, inputs: InputFacts) -> Noise:
        """Return the factor of the noise; its scale differs from release to release.

        For own-norm noise it is the factor of Laplace noise, whose moments are larger.
        """
        return Noise(inputs.values.l2 if self.noise_kind == "gaussian" else inputs.sensitivity)

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return the counter's guarantee, restated for rounds; or the guarantee below, if there is one.

        Raises:
            WrongGameError: If the noise is own-norm noise, and the game has no norm of its own.
        """
        counter = self._counter(inputs)
        factor, grid = self._factor_and_grid(counter, inputs)
        guarantee = counter.guarantee
        noise_law = guarantee.noise_law
        if self.noise_kind == "own-norm" and noise_law is not None:
            noise_law = DominatingNoise(
                responses=noise_law.laplace or noise_law.responses
            )  # of a node's vector only the largest loss is known
        guarantee = dataclasses.replace(
            guarantee, draw_distance=self._off(counter, factor, grid, inputs), noise_law=noise_law
        )
        if guarantee.model == "none" or self.noise_kind == "laplace":
            return for_rounds(guarantee, inputs.sensitivity, guarantee.theorem)
        if self.noise_kind == "own-norm":
            reason = (
                "each node has one vector with density exp(-|z| / scale) in the norm of the values"
                f" ({inputs.values.norm}), in which a round changes them by at most {factor:.4g}, so the log-densities"
                " of an item's nodes change by at most epsilon together (Hardt and Talwar 2010)"
            )
        else:
            reason = (
                f"a round changes all values together by at most {factor:.4g} in L2, which multiplies the noise"
                if factor > 1
                else "a round influences the sum of one arm, so arms compose in parallel"
            )
        return dataclasses.replace(guarantee, neighbours=REPLACE_ONE_ROUND, theorem=f"{guarantee.theorem}; {reason}")

    def _off(self, counter: Counter, factor: float, grid: float, inputs: InputFacts) -> float:
        """Return the distance between the draws that one round influences and exact noise, in [0, 1]."""
        normal, values = self.noise_kind == "gaussian", inputs.gains_in_a_round
        longer = factor * equivalent_laplace_scale(self.noise_kind, inputs.values.norm, inputs.n_values)
        draws = [(scale * longer, number * values) for scale, number in counter.item_draws()]
        if self._secure:
            # Discrete Laplace noise is exact; normal noise is as far off as the law of its draws.
            return min(1.0, math.fsum(normal_distance(b / grid, n) for b, n in draws)) if normal and grid > 0 else 0.0
        off = distance_of_all(draws, grid, normal=normal, used_twice=counter.ahead_of_items)
        if self.noise_kind == "own-norm":
            off += RADIUS * sum(number for _, number in draws)
        return min(1.0, off)

    def _is_joint(self, inputs: InputFacts) -> bool:
        """Return whether all coordinates share one position; padded counters do too."""
        # Only where it is the same game to the last bit: one draw of each coordinate, in their order.
        padded = self.pad_unplayed and vars(COUNTERS[self.counter_name]).get("draws_once", False) and not self._secure
        return (inputs.values.complete or padded) and self._joint is not None

    @property
    def _plain_noise(self) -> Callable[..., Any] | None:
        """The counter's noise, if it is a plain function that can be compiled."""
        return self._function("noise")

    @property
    def _joint(self) -> Callable[..., Any] | None:
        """The counter's joint noise, if it has one and both forms are plain functions."""
        return self._function("joint_noise") if self._plain_noise else None

    def _function(self, name: str) -> Callable[..., Any] | None:
        function = inspect.getattr_static(COUNTERS[self.counter_name], name, None)
        if not isinstance(function, staticmethod):
            return None
        plain: Callable[..., Any] = function.__func__
        normal = self.noise_kind == "gaussian"
        if self._secure:
            draw, fill = (draw_normal_steps, fill_normal_steps) if normal else (draw_steps, fill_steps)
            return bind(plain, {"draw": draw, "fill": fill}, missing_ok=True)
        if self.noise_kind == "own-norm":
            return bind(plain, {"fill": fill_own_norm}, missing_ok=True)
        return gaussian_form(plain) if normal else plain

    def _with_noise(self, function: Callable[..., Any]) -> Release:
        plain = self._plain_noise
        if plain is None:
            # Not a plain function, so it runs in Python and is not compiled.
            return functools.partial(bind(function, {"settle": settle_object, "next_noise": noise_of_object}))
        parts = {"next_noise": plain, "insert_all": self._joint}
        if not self._secure:
            parts |= {"settle": self._function("settled"), "settle_all": self._function("joint_settled")}
        return bind(function, {name: part for name, part in parts.items() if part is not None})


@functools.lru_cache(maxsize=8)
def _kept_counter(kind: type[Counter], epsilon: float, horizon: int, options: tuple[tuple[str, Any], ...]) -> Counter:
    return kind(epsilon=epsilon, horizon=horizon, **dict(options))


def in_steps(state: Any, factor: float, grid: float) -> Any:
    """Return a counter's state with its scale, or scales, multiplied by a factor and counted in grid steps."""
    if not grid > 0 or isinstance(state, NoJointState):
        return state
    if hasattr(state, "scales"):
        return state._replace(scales=np.array([float(scale) * factor / grid for scale in state.scales]))
    return state._replace(scale=float(state.scale) * factor / grid)


def distance_for(noise: str, inputs: InputFacts) -> float:
    """Return the distance of neighbouring rounds' values in the norm of the noise.

    Args:
        noise: `"laplace"`, `"own-norm"` or `"gaussian"`.
        inputs: Public facts about the values.

    Raises:
        WrongGameError: If the noise is own-norm noise, and the game has no norm of its own.
    """
    if noise == "gaussian":
        return distance_l2(inputs)
    if noise == "laplace":
        return distance_l1(inputs)
    if not (inputs.values.complete and inputs.values.norm):
        raise WrongGameError(
            "own-norm noise needs a game in which every round reveals every value, such as DPBandit-Experts-v0;"
            " here it does not. Use noise='laplace' or noise='gaussian'."
        )
    return distance_in_norm(inputs)


class HybridSums(CounterSums):
    """Releases running sums, with one hybrid counter for each arm.

    Each counter has the full epsilon: a round's gain is added to the sum of the arm played only (parallel composition).
    If a round reveals several values, the noise is larger; see `CounterSums`.

    Args:
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        noise: `"laplace"`, `"own-norm"` or `"gaussian"`; see `CounterSums`.
        delta: Privacy failure probability of Gaussian noise, in (0, 1), by default 1e-6; not for other noise.
        pad_unplayed: Whether to feed a 0 to the counters of unrevealed arms, so that all arms have the same noise
            (DP-UCB). Counts do not change.
        draws: `"fast"` or `"secure"`; see `CounterSums`.
        options: `budget`: `"split"`, or `"paper"`, which is 2 epsilon-DP.

    Protects: one round's gains of all arms, in the central model.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import Ucb
        >>> from dp_bandit_envs.wrappers import HybridSums
        >>> env = HybridSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000), epsilon=10)
        >>> game = play(env, Ucb(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 98% of all rounds
    """

    example: ClassVar[dict[str, Any]] = {"epsilon": 1.0}

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        noise: str | None = None,
        delta: SupportsFloat | None = None,
        pad_unplayed: bool = False,
        draws: str = "fast",
        **options: Any,
    ) -> None:
        super().__init__(
            counter="hybrid",
            epsilon=epsilon,
            noise=noise,
            delta=delta,
            pad_unplayed=pad_unplayed,
            draws=draws,
            **options,
        )


class ExactState(NamedTuple):
    """Sum and number of each arm's gains, `(n_arms,)`."""

    exact: FloatArray
    inserted: IntArray


def release_exactly(state: ExactState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add a gain to its arm's sum, and release it."""
    state.exact[arm] += gain
    state.inserted[arm] += 1
    return state.exact[arm], state.inserted[arm]


class ExactSums(Mechanism):
    """Releases exact running sums, for agents such as `Ucb`; it adds no privacy.

    Above a wrapper that adds noise to each gain, such as `RandomizedResponse`, the sums are noisy, and that wrapper's
    guarantee holds: summing is post-processing.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import Ucb
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000))
        >>> game = play(env, Ucb(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 97% of all rounds
    """

    release = staticmethod(release_exactly)
    releases_sums = True
    any_range = True
    example: ClassVar[dict[str, Any]] = {}

    def new_state(self, inputs: InputFacts) -> ExactState:
        """Return empty sums."""
        return ExactState(np.zeros(inputs.n_values), np.zeros(inputs.n_values, np.int64))

    def noise(self, inputs: InputFacts) -> Noise:
        """Return the noise below; summing adds none."""
        return inputs.noise

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return no guarantee: summing adds none of its own."""
        return PrivacyGuarantee.none("sums without noise guarantee nothing")
