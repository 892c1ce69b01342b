"""Tsallis-INF, and HTINF, its form for losses with heavy tails such as noisy averages."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.draws import square
from dp_bandit_envs.protocols import FloatArray, Gains
from dp_bandit_envs.theory.adversarial_bounds import SKIP_SHARE

PAPER_SIGMA: Final = math.sqrt(6)
"""Root of the second moment of a noisy loss, as Asi, Raman and Talwar (2025) bound it."""


class State(NamedTuple):
    """The state of Tsallis-INF.

    Attributes:
        losses: Estimated cumulative loss of each arm.
        probabilities: Probability of each arm in the next round.
        round: The next round, from 1.
        sigma: Root of the second moment of the losses; the learning rate is 1 / (sigma sqrt(round)).
        skips: Whether losses beyond the threshold are skipped (HTINF).
        bound: A released gain v is read as the noisy gain v (2 bound + 1) - bound.
    """

    losses: FloatArray
    probabilities: FloatArray
    round: int
    sigma: float
    skips: bool
    bound: float


def start(n_arms: int, sigma: float, skips: bool, bound: float) -> State:
    """Return the state before the first round: equal probabilities."""
    return State(np.zeros(n_arms), np.full(n_arms, 1 / n_arms), 1, sigma, skips, bound)


def select(state: State, rng: np.random.Generator) -> int:
    """Draw an arm from the probabilities."""
    left = rng.random()
    last = len(state.probabilities) - 1
    for arm in range(last):
        left -= state.probabilities[arm]
        if left < 0.0:
            return arm
    return last


def update(state: State, arm: int, seen: Gains) -> State:
    """Add loss / probability to the estimate of the arm played, and compute the next probabilities."""
    losses, probabilities = state.losses, state.probabilities
    if seen.observed[arm] != 0:
        loss = 1.0 - (seen.gains[arm] * (2.0 * state.bound + 1.0) - state.bound)
        threshold = SKIP_SHARE * state.sigma * math.sqrt(state.round * probabilities[arm])
        if not state.skips or math.fabs(loss) <= threshold:
            losses[arm] += loss / probabilities[arm]
    following = state.round + 1
    normalise(losses, probabilities, 1.0 / (state.sigma * math.sqrt(following)))
    return State(losses, probabilities, following, state.sigma, state.skips, state.bound)


def normalise(losses: FloatArray, probabilities: FloatArray, rate: float) -> None:
    r"""Write :math:`x_i = (\eta (L_i - \lambda))^{-2}` into `probabilities`, with lambda such that they sum to 1.

    The sum is convex and increasing in lambda below the smallest loss L*, at least 1 at L* - 1/eta, and at most 1 at
    L* - sqrt(K)/eta. So Newton's method from the right end decreases to the root without overshooting.
    """
    n_arms = len(losses)
    smallest = losses[0]
    for arm in range(1, n_arms):
        smallest = min(smallest, losses[arm])
    # (L* - lambda) * eta: relative to the smallest loss, so that large losses cost no precision.
    below = 1.0
    for _ in range(50):
        total = 0.0
        slope = 0.0
        for arm in range(n_arms):
            root = 1.0 / (rate * (losses[arm] - smallest) + below)
            total += root * root
            slope += root * root * root
        step = (total - 1.0) / (2.0 * slope)
        below += step
        if step < 1e-13 * below:
            break
    total = 0.0
    for arm in range(n_arms):
        root = 1.0 / (rate * (losses[arm] - smallest) + below)
        probabilities[arm] = root * root
        total += root * root
    for arm in range(n_arms):
        probabilities[arm] /= total


class TsallisInf(FunctionalAgent):
    r"""Follow-the-regularised-leader with Tsallis entropy of index 1/2; needs no horizon.

    .. math:: x_t = \arg\min_x \langle \hat L, x \rangle - \frac{2}{\eta_t} \sum_i \sqrt{x_i}, \quad
              \eta_t = \frac{1}{\sqrt t}, \quad \hat L_i = \sum_s \frac{1 - g_{i,s}}{x_{i,s}} [I_s = i]

    Regret at most 4 sqrt(K T) + 1 against any oblivious adversary, and of order ln T for independent gains. A withheld
    gain changes only the learning rate.

    Source: Zimmert and Seldin (2021), Tsallis-INF: An Optimal Algorithm for Stochastic and Adversarial Bandits, JMLR
    22, with importance weighting (their learning rate 2 / sqrt(t) belongs to a regulariser twice as large).

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import TsallisInf
        >>> env = gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000)
        >>> game = play(env, TsallisInf(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 98% of all rounds
    """

    functions = Functions(select, update)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return start(n_arms, 1.0, False, 0.0)

    def probabilities(self) -> FloatArray:
        """Return the probability of each arm in the next step, shape `(n_arms,)`."""
        self._check_begun()
        return np.array(self._state.probabilities)

    def use_probability(self, arm: int, probability: float) -> None:
        """Divide the next loss by this probability, with which its arm was drawn: other losses may have come since.

        By the present one, which these made smaller, several late losses of an arm would grow without bound.

        Args:
            arm: The arm of the next `update`.
            probability: In (0, 1].
        """
        self._check_begun()
        self._state.probabilities[arm] = probability


class Htinf(TsallisInf):
    r"""HTINF: Tsallis-INF for noisy or heavy-tailed losses, which skips losses that are too large for their arm.

    It assumes :math:`E[\ell^2] \le \sigma^2`. The learning rate is :math:`1 / (\sigma \sqrt t)`, and a loss counts
    only if :math:`|\ell| \le \Theta \sigma \sqrt{t x_i}` with :math:`\Theta = 1 - 2^{-1/3}`.

    Above a `LaplaceClipRescale` it undoes the rescaling: a released gain v is read as v (2b + 1) - b, with b the bound
    of that wrapper. `play` and `simulate` pass it this bound and the scale of the noise through `see_noise`.

    Args:
        sigma: Root of the second moment of the noisy losses, greater than 0. None for sqrt(1 + 2 s^2) with s the scale
            of the noise, the smallest that covers a gain in [0, 1] with Laplace noise. Asi, Raman and Talwar (2025) use
            sqrt(6). If a round reveals several gains, the noise is larger, and sigma is raised to sqrt(1 + 2 s^2).

    Source: Huang, Dai and Huang (2022), Adaptive Best-of-Both-Worlds Algorithm for Heavy-Tailed Multi-Armed Bandits,
    ICML (HTINF, tail index 2). Theta and the rule for skipping were compared with a public re-implementation.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import Htinf
        >>> env = gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000)
        >>> game = play(env, Htinf(), seed=0)
        >>> print(f"the best arm in {(game.arms == 1).mean():.0%} of all rounds")
        the best arm in 95% of all rounds
    """

    def __init__(self, *, sigma: SupportsFloat | None = PAPER_SIGMA) -> None:
        self.sigma = None if sigma is None else checks.greater_than("sigma", sigma, 0)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        needed = checks.greater_than("sigma", math.sqrt(1 + 2 * square(self.noise.scale)), 0)
        sigma = needed if self.sigma is None else self.sigma
        return start(n_arms, max(sigma, needed) if self.noise.sensitivity > 1 else sigma, True, self.noise.bound)
