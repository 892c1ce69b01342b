"""Laplace noise on every gain; noisy gains far outside the range are rejected or clipped, the others are rescaled."""

import math
from typing import NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.accounting import one_laplace
from dp_bandit_envs.privacy.facts import InputFacts, Noise, ValueRange
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import default_bound, noisy
from dp_bandit_envs.privacy.secure_draws import ChoosesDraws

OUTSIDE = ("reject", "clip")


class State(NamedTuple):
    """The parameters of `release`; none of them changes.

    Attributes:
        scale: Scale b of the Laplace noise, in units of gain; its variance is 2 b^2. 0 means no noise.
        grid: The step between noisy gains; 0 without noise.
        bound: How far outside [low, high] a noisy gain may fall, at least 0.
        reject: Whether a noisy gain outside [low - bound, high + bound] is withheld; otherwise it moves to the nearest
            end.
        low: The smallest possible gain.
        high: The largest possible gain.
    """

    scale: float
    grid: float
    bound: float
    reject: bool
    low: float
    high: float


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add noise to a gain, reject or clip it outside [low - bound, high + bound], and rescale that to [low, high].

    Everything after the noise is post-processing. Source: Tossou and Dimitrakakis (2017), algorithm 1 and theorem
    3.1, with the rescaling applied to the noisy gain (the theorem prints the true one).
    """
    least, most = state.low - state.bound, state.high + state.bound
    seen = noisy(gain, state.scale, state.grid, rng)
    if state.reject and (seen < least or seen > most):
        return 0.0, 0
    width = state.high - state.low
    share = (min(max(seen, least), most) - least) / (width + 2.0 * state.bound)
    # The min: adding b twice and adding 2 b once may round differently, and then the share exceeds 1.
    return state.low + width * min(share, 1.0), 1


class LaplaceClipRescale(ChoosesDraws):
    r"""Adds Laplace noise of scale sensitivity / epsilon to every revealed gain and rescales the result to [0, 1].

    The released gain is :math:`g' = (g + N + b) / (2b + 1)`, where :math:`g + N` is in :math:`[-b, 1 + b]`. Gains of
    another range, such as payoffs in [-1, 1], are rescaled to that range in the same way; 0 then stays 0.

    Between neighbouring games the values before noise differ by at most `sensitivity` in L1 (1 for one gain, 1 / tau
    for the average of a batch), so the noisy values are epsilon-DP. Each round influences one release only, and agents
    may adapt to earlier releases at no cost, because the noise does not depend on the data. Rejecting, clipping,
    rescaling and the agent itself are post-processing.

    If a privacy wrapper below already has a guarantee, this wrapper's noise is post-processing, and that guarantee
    stays.

    Args:
        epsilon: Privacy parameter, in (0, inf]; `math.inf` means no noise.
        bound: How far outside its range a noisy gain may fall (b, in units of gain, at least 0). By default the noise
            scale times ln(number of releases), which for a bare environment is ln(T) / epsilon.
        outside: Treatment of gains beyond the bound: `"reject"` withholds the gain, as in the paper; `"clip"` moves it
            to the nearest end, with a bias of at most :math:`\frac{s}{2} e^{-b / s}` at noise scale s.
        draws: `"fast"`, repeatable; or `"secure"`, exact noise without a seed (`privacy.secure_draws`).

    Protects: one round's gains of all arms. Local model, or central model above averages.

    Source: Tossou and Dimitrakakis (2017), algorithm 1 and theorem 3.2; above `MiniBatchAverage`, Asi, Raman and
    Talwar (2025).

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import Exp3, LaplaceClipRescale, play
        >>> env = LaplaceClipRescale(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000), epsilon=2)
        >>> game = play(env, Exp3(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of rounds, at epsilon = {env.guarantee.epsilon:g}")
        the best arm in 64% of rounds, at epsilon = 2
    """

    release = staticmethod(release)
    any_range = True
    draws_laplace = True

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        bound: SupportsFloat | None = None,
        outside: str = "reject",
        draws: str = "fast",
    ) -> None:
        self._use_draws(draws)
        self.epsilon = checks.epsilon(epsilon)
        self.bound = None if bound is None else checks.at_least("bound", bound, 0)
        self.outside = checks.one_of("outside", outside, OUTSIDE)
        # Without noise no gain is outside.
        self.withholds = outside == "reject" and not math.isinf(self.epsilon)

    def new_state(self, inputs: InputFacts) -> State:
        """Return the parameters of `release`."""
        noise = self.noise(inputs)
        if not math.isfinite(1 + 2 * noise.bound):
            raise ValueError(
                f"the bound for epsilon = {self.epsilon!r} is too large for a float; use a larger epsilon."
            )
        values = inputs.values
        grid = self._grid(noise.scale, most_of(values))
        return State(noise.scale, grid, noise.bound, self.outside == "reject", values.low, values.high)

    def noise(self, inputs: InputFacts) -> Noise:
        """Return the scale of the noise and the bound that the rescaling used."""
        scale = self._scale(inputs.sensitivity, most_of(inputs.values), inputs)
        bound = default_bound(scale, inputs.horizon) if self.bound is None else self.bound
        return Noise(inputs.sensitivity, scale, bound)

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return epsilon."""
        if math.isinf(self.epsilon):
            return PrivacyGuarantee.none("epsilon is inf, so there is no noise")
        scale = self.noise(inputs).scale
        grid = self._grid(scale, most_of(inputs.values))
        return PrivacyGuarantee(
            epsilon=self.epsilon,
            model="local",
            noise_law=one_laplace(self.epsilon),
            draw_distance=self._distance(scale, grid, inputs.gains_in_a_round),
            theorem=(
                f"Laplace mechanism on values of sensitivity {inputs.sensitivity:.4g}, each round in one release"
                " (Tossou and Dimitrakakis 2017, theorem 3.2)"
            ),
        )


def most_of(values: ValueRange) -> float:
    """Return the largest absolute value."""
    return max(-values.low, values.high)
