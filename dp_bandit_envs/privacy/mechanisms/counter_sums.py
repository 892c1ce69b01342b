"""Running sums released by one counter for each arm, or by one counter on vectors."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.privacy.counters import COUNTERS, Counter, make_counter
from dp_bandit_envs.privacy.counters.scales import gaussian_form
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Below, Noise, Release
from dp_bandit_envs.privacy.mechanisms.counter_guarantee import distance_for, guarantee_for
from dp_bandit_envs.privacy.mechanisms.counter_releases import (
    NoTogether,
    State,
    noise_of_object,
    own_noise,
    pad,
    pad_exact,
    release,
    release_exact,
    settle_object,
    settle_own,
    settle_shared,
    shared_noise,
)
from dp_bandit_envs.privacy.mechanisms.secure_counters import (
    check_secure,
    exact_form,
    first_states,
    grid_and_factor,
    in_steps,
)
from dp_bandit_envs.privacy.mechanisms.weighed_counters import WEIGHED, pad_weighed, release_weighed
from dp_bandit_envs.privacy.node_noise import NORM_CODES, deviation, fill_own_norm
from dp_bandit_envs.privacy.secure_draws import ChoosesDraws


class CounterSums(ChoosesDraws):
    r"""Releases running sums, with one private counter for each arm, or one on vectors.

    Each counter has the full epsilon: a round's gain is added to the sum of the arm played only, so arms compose in
    parallel. Where one round reveals several values, the noise grows with the distance of neighbouring rounds' values:
    in L1 (sensitivity s), in their own norm, or in L2 (square root of s for gains in [0, 1]).

    Where every round reveals every value, as in games with expert advice, all coordinates share one position of one
    counter, whose nodes are vectors of noise; see `shared_noise` for why that is as private. Values are rounded to
    multiples of 2^-30, towards 0, so that sums below 2^22 are exact; see `privacy.items`.

    Args:
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS`; `dp-bandit counters` compares them.
        noise: `"laplace"`, independent draws for epsilon-DP; `"own-norm"`, less noise for epsilon-DP where every round
            reveals every value (K-norm mechanism, density :math:`e^{-\epsilon \lVert z \rVert / (m D)}` in a node if
            an item is in m of them and neighbours' values differ by at most D); `"gaussian"`, independent normal draws
            for (epsilon, delta)-DP. By default `"laplace"`; the square-root counter has `"gaussian"` only.
        delta: Privacy failure probability of Gaussian noise, in (0, 1), by default 1e-6, with what fast draws need of
            it; not for other noise. Games in which they need half of it or more are refused.
        pad_unplayed: Whether the counters of arms that a round does not reveal are fed a 0 in that round, so that all
            arms have the same noise (DP-UCB). Their counts do not change.
        draws: `"fast"`, repeatable; or `"secure"`, exact noise without a seed (`privacy.secure_draws`), not own-norm.
        options: Further arguments of the counter: `budget` of the hybrid one, `base` of the k-ary one.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2; Agarwal and Singh (2017),
    algorithm 2, for sums of vectors; Hardt and Talwar (2010) for own-norm noise.
    Differs from Agarwal and Singh in: noise scaled to the L1 distance of neighbours times the number of nodes, where
    they have the largest L1 norm and ln T (which is (2 ceil(log2 T) / ln T) epsilon-DP), and no padding of nodes.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import CounterSums
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
        self._made(1, 0)

    def _check_draws(self) -> None:
        if self._secure:
            check_secure(self.counter_name, self.noise_kind, self._plain_noise is not None)

    def counter(self, horizon: int) -> Counter:
        """Return the counter that each arm has one of.

        Args:
            horizon: The most gains of one arm.
        """
        return self._made(horizon, 0 if self._secure else 1)

    def _made(self, horizon: int, values: int) -> Counter:
        own = {} if self.delta is None else {"values": values}
        return make_counter(self.counter_name, epsilon=self.epsilon, horizon=horizon, **self.options, **own)

    def _counter(self, below: Below) -> Counter:
        """Return the counter of a game from a few that are kept, as some take long to make; nobody else gets these.

        Raises:
            WrongGameError: If fast draws need so much of delta that it cannot be kept.
        """
        options = self.options
        if self.delta is not None:
            # Above a guarantee the noise is post-processing, and delta is not promised.
            counted = not self._secure and not below.is_private
            options = {**options, "values": below.gains_in_a_round if counted else 0}
        return _kept_counter(COUNTERS[self.counter_name], self.epsilon, below.horizon, tuple(sorted(options.items())))

    @property
    def release(self) -> Release:
        """The module's `release` with this counter's noise."""
        return self._with_noise(self._forms[0])

    @property
    def idle(self) -> Release | None:
        """The module's `pad` with this counter's noise, or None."""
        return self._with_noise(self._forms[1]) if self.pad_unplayed else None

    @property
    def _forms(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The functions `release` and `pad` for these draws."""
        if self._weighs:
            return release_weighed, pad_weighed
        return (release_exact, pad_exact) if self._secure else (release, pad)

    @property
    def _weighs(self) -> bool:
        return self._secure and self.counter_name in WEIGHED

    def release_for(self, below: Below) -> Release:
        """Return `release` without the question of whether coordinates share a position."""
        if inspect.getattr_static(self, "release") is not vars(CounterSums)["release"]:
            return self.release  # that of a derived class
        joint = self._is_joint(below)
        noise_of, settle_noise = (shared_noise, settle_shared) if joint else (own_noise, settle_own)
        return self._with_noise(bind(self._forms[0], {"noise_of": noise_of, "settle_noise": settle_noise}))

    def new_state(self, below: Below) -> State:
        """Return counters before their first items."""
        counter, n_values, joint = self._counter(below), below.n_values, self._is_joint(below)
        factor, grid = self._factor_and_grid(counter, below)
        state = counter.new_state(1 if joint else n_values)
        norm = NORM_CODES.get(below.values.norm, 0)
        together = counter.new_joint_state(n_values if joint else 1, norm) if self._joint else None
        if self._secure:
            state, together = first_states(counter, state, together, factor, grid, n_values, self._weighs)
        elif factor != 1:
            state, together = in_steps(state, factor, 1.0), in_steps(together, factor, 1.0)
        return State(
            np.zeros(n_values),
            np.zeros(n_values, np.int64),
            state if self._plain_noise else (counter, state),
            NoTogether(np.zeros(1)) if together is None else together,
            joint,
            np.array([n_values], np.int64),
            np.zeros(1, np.int64),
            grid,
        )

    def _factor_and_grid(self, counter: Counter, below: Below) -> tuple[float, float]:
        """Return the multiplier of the counter's noise, and the step between sums that can be released."""
        factor = distance_for(self.noise_kind, below)
        if self._secure:
            grid, factor = grid_and_factor(counter, factor, below, l2=self.noise_kind == "gaussian")
            return factor, grid
        return factor, counter.grid_for(factor * deviation(self.noise_kind, below.values.norm, below.n_values))

    def noise(self, below: Below) -> Noise:
        """Return the factor of the noise; its scale differs from release to release.

        For own-norm noise it is that of Laplace noise, whose moments are larger.
        """
        return Noise(below.values.l2 if self.noise_kind == "gaussian" else below.sensitivity)

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Return the counter's guarantee, restated for rounds; or the guarantee below, if there is one.

        Raises:
            WrongGameError: If the noise is own-norm noise, and the game has no norm of its own.
        """
        counter = self._counter(below)
        factor, grid = self._factor_and_grid(counter, below)
        holds = guarantee_for(self.noise_kind, counter, factor, grid, below, secure=self._secure)
        return holds if self.delta is None or holds.model == "none" else dataclasses.replace(holds, delta=self.delta)

    def _is_joint(self, below: Below) -> bool:
        """Return whether all coordinates share one position, as padded counters do, too."""
        # Only where it is the same game to the last bit: one draw of each coordinate, in their order.
        padded = self.pad_unplayed and vars(COUNTERS[self.counter_name]).get("draws_once", False) and not self._secure
        return (below.values.complete or padded) and self._joint is not None and not self._weighs

    @property
    def _plain_noise(self) -> Callable[..., Any] | None:
        """The counter's noise, if it is a plain function that can be compiled."""
        return self._function("noise")

    @property
    def _joint(self) -> Callable[..., Any] | None:
        """The counter's joint noise, if it has one and both forms are plain functions."""
        return self._function("joint_noise") if self._plain_noise else None

    def _function(self, name: str) -> Callable[..., Any] | None:
        found = inspect.getattr_static(COUNTERS[self.counter_name], name, None)
        if not isinstance(found, staticmethod):
            return None
        plain: Callable[..., Any] = found.__func__
        if self._secure and not self._weighs:
            return exact_form(plain, self.noise_kind)
        if self.noise_kind == "own-norm":
            return bind(plain, {"fill": fill_own_norm})
        return gaussian_form(plain) if self.noise_kind == "gaussian" else plain

    def _with_noise(self, function: Callable[..., Any]) -> Release:
        plain, joint = self._plain_noise, self._joint
        if plain is None:
            # Not a plain function, so it runs in Python and is not compiled.
            return functools.partial(bind(function, {"settle": settle_object, "next_noise": noise_of_object}))
        parts = {"next_noise": plain, "insert_all": joint}
        if not self._secure:
            parts |= {"settle": self._function("settled"), "settle_all": self._function("joint_settled")}
        return bind(function, {name: part for name, part in parts.items() if part is not None})


@functools.lru_cache(maxsize=8)
def _kept_counter(kind: type[Counter], epsilon: float, horizon: int, options: tuple[tuple[str, Any], ...]) -> Counter:
    return kind(epsilon=epsilon, horizon=horizon, **dict(options))
