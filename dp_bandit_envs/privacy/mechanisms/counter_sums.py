"""Running sums released by one counter for each arm."""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters import COUNTERS, Counter, make_counter
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import to_grid
from dp_bandit_envs.privacy.mechanism import Below, Mechanism, Noise, Release, for_rounds
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.specialise import specialise


class State(NamedTuple):
    """The exact sums, and the counters' state.

    Attributes:
        exact: Sums of the gains so far, `(n_arms,)`.
        inserted: Numbers of gains so far, `(n_arms,)`.
        counters: The counters' own state.
        factor: Multiplier of the counters' noise: the sensitivity.
        grid: The step between sums that can be released; 0 without noise.
    """

    exact: FloatArray
    inserted: IntArray
    counters: Any
    factor: float
    grid: float


def next_noise(state: Any, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Placeholder; replaced by the counter's `noise`."""
    raise NotImplementedError


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Insert a gain into its arm's counter; release the sum if the counter does."""
    state.exact[arm] += gain
    state.inserted[arm] += 1
    noise, fresh = next_noise(state.counters, arm, rng)
    if not fresh:
        return 0.0, 0
    return to_grid(state.exact[arm] + state.factor * noise, state.grid), state.inserted[arm]


def pad(state: State, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Insert a 0 into the counter of an arm whose gain was not revealed; its number of gains does not change."""
    noise, fresh = next_noise(state.counters, arm, rng)
    if not fresh:
        return 0.0, 0
    return to_grid(state.exact[arm] + state.factor * noise, state.grid), state.inserted[arm]


class CounterSums(Mechanism):
    """Releases running sums, with one private counter for each arm.

    Each counter has the full epsilon: a round's gain is added to the sum of the arm played only, so arms compose in
    parallel. Where one round reveals several gains (sensitivity s > 1), the noise is s times as large.

    Args:
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS`; `dp-bandit counters` compares them.
        pad_unplayed: Whether the counters of arms that a round does not reveal are fed a 0 in that round, so that all
            arms have the same noise (DP-UCB). Their counts do not change.
        options: Further arguments of the counter: `budget` of the hybrid one, `base` of the k-ary one, `delta` of the
            square-root one.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.
    """

    releases_sums = True
    any_range = True
    example: ClassVar[dict[str, Any]] = {"counter": "k-ary", "epsilon": 1.0}

    def __init__(self, *, counter: str, epsilon: SupportsFloat, pad_unplayed: bool = False, **options: Any) -> None:
        self.counter_name = checks.known_name("counter", counter, COUNTERS)
        if "horizon" in options:
            raise TypeError("the counters take their horizon from the game; give horizon= to the environment.")
        if "rng" in options:
            raise TypeError("the noise comes from the game's own stream; rng cannot be given. Use reset(seed=...).")
        self.epsilon = checks.epsilon(epsilon)
        self.pad_unplayed = checks.boolean("pad_unplayed", pad_unplayed)
        self.options = options
        # Raises here, not at the first reset, if an option is wrong.
        self.counter(1)

    def counter(self, horizon: int) -> Counter:
        """Return the counter that each arm has one of.

        Args:
            horizon: The most gains of one arm.
        """
        return make_counter(self.counter_name, epsilon=self.epsilon, horizon=horizon, **self.options)

    def _counter(self, horizon: int) -> Counter:
        """Return the same from a few that are kept, as some take long to make; nobody else gets these."""
        options = tuple(sorted(self.options.items()))
        return _kept_counter(COUNTERS[self.counter_name], self.epsilon, horizon, options)

    @property
    def release(self) -> Release:
        """The module's `release` with this counter's noise."""
        return self._with_noise(release)

    @property
    def idle(self) -> Release | None:
        """The module's `pad` with this counter's noise, or None."""
        return self._with_noise(pad) if self.pad_unplayed else None

    def new_state(self, below: Below) -> State:
        """Return counters before their first items."""
        counter = self._counter(below.horizon)
        state = counter.new_state(below.n_values)
        return State(
            np.zeros(below.n_values),
            np.zeros(below.n_values, np.int64),
            state if self._plain_noise else (counter, state),
            below.sensitivity,
            # A sensitivity below 1 makes the noise smaller and so the grid finer; above 1 the counter's grid will do.
            counter.grid * min(1.0, 2.0 ** math.floor(math.log2(below.sensitivity))),
        )

    def noise(self, below: Below) -> Noise:
        """Return the factor of the noise; its scale differs from release to release."""
        return Noise(below.sensitivity)

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Return the counter's guarantee, restated for rounds; or the guarantee below, if there is one."""
        own = self._counter(below.horizon).guarantee
        return for_rounds(own, below.sensitivity, own.theorem)

    @property
    def _plain_noise(self) -> Callable[..., Any] | None:
        """The counter's noise, if it is a plain function that can be compiled."""
        found = inspect.getattr_static(COUNTERS[self.counter_name], "noise")
        return found.__func__ if isinstance(found, staticmethod) else None

    def _with_noise(self, function: Callable[..., Any]) -> Release:
        plain = self._plain_noise
        if plain is not None:
            return specialise(function, "next_noise", plain)
        # Not a plain function, so it runs in Python and is not compiled.
        return functools.partial(specialise(function, "next_noise", noise_of_object))


class HybridSums(CounterSums):
    """Releases running sums, with one hybrid counter for each arm.

    Each counter has the full epsilon: a round's gain is added to the sum of the arm played only, so arms compose in
    parallel. Where one round reveals several gains (sensitivity s > 1), the noise is s times as large.

    Args:
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        pad_unplayed: Whether the counters of arms that a round does not reveal are fed a 0 in that round, so that all
            arms have the same noise (DP-UCB). Their counts do not change.
        options: `budget`: `"split"`, or `"paper"`, which is 2 epsilon-DP.

    Protects: one round's gains of all arms, centrally.

    Source: Chan, Shi and Song (2011); Tossou and Dimitrakakis (2016), algorithms 1 and 2.
    """

    example: ClassVar[dict[str, Any]] = {"epsilon": 1.0}

    def __init__(self, *, epsilon: SupportsFloat, pad_unplayed: bool = False, **options: Any) -> None:
        super().__init__(counter="hybrid", epsilon=epsilon, pad_unplayed=pad_unplayed, **options)


@functools.lru_cache(maxsize=8)
def _kept_counter(kind: type[Counter], epsilon: float, horizon: int, options: tuple[tuple[str, Any], ...]) -> Counter:
    return kind(epsilon=epsilon, horizon=horizon, **dict(options))


def noise_of_object(state: tuple[Counter, Any], arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Return the next noise of a counter whose `noise` is a method, such as the square-root one."""
    counter, own = state
    noise, fresh = counter.noise(own, arm, rng)
    return float(noise), bool(fresh)
