"""Sums of each arm's gains in batches that end for all arms together, each released once, with one draw of noise."""

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.privacy.facts import InputFacts, to_item
from dp_bandit_envs.privacy.gaussian import draw_normal
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import draw, to_grid
from dp_bandit_envs.privacy.mechanism import Release
from dp_bandit_envs.privacy.mechanisms.block_sums import checked_lengths
from dp_bandit_envs.privacy.mechanisms.sum_noise import SumNoise
from dp_bandit_envs.privacy.secure_draws import draw_normal_steps, draw_steps, on_grid
from dp_bandit_envs.protocols import FloatArray, IntArray


class State(NamedTuple):
    """The open batch, which is the same for all arms.

    Attributes:
        total, filled: Sum and number of an arm's gains in the open batch, `(n_arms,)`.
        rounds: Rounds of the open batch that have passed, `(n_arms,)`.
        batch: The number of the open batch, `(n_arms,)`.
        lengths: The lengths of the batches in rounds; the last length repeats. scale: Laplace scale, or standard
            deviation, of the noise in a sum.
        grid: The step between noisy sums; 0 without noise.
        normal: Whether the noise is Gaussian.
    """

    total: FloatArray
    filled: IntArray
    rounds: IntArray
    batch: IntArray
    lengths: IntArray
    scale: float
    grid: float
    normal: bool


def release(state: State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Add a gain to its arm's sum; release the sum if the batch ends."""
    state.total[arm] += to_item(gain)
    state.filled[arm] += 1
    return close(state, arm, rng)


def close(state: State, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Count a round for an arm; release its sum if the batch ends and contains gains of it."""
    state.rounds[arm] += 1
    if state.rounds[arm] < state.lengths[min(state.batch[arm], len(state.lengths) - 1)]:
        return 0.0, 0
    total, filled = state.total[arm], state.filled[arm]
    state.total[arm] = 0.0
    state.filled[arm] = 0
    state.rounds[arm] = 0
    state.batch[arm] += 1
    if filled == 0:
        return 0.0, 0
    return add_noise(total, state.scale, state.grid, state.normal, rng), filled


def add_noise(value: float, scale: float, grid: float, normal: bool, rng: np.random.Generator) -> float:
    """Return the value plus noise, on the grid; the value itself for scale 0."""
    noise = draw_normal(scale, rng) if normal else draw(scale, rng)
    return to_grid(value + noise, grid)


def add_exact_noise(value: float, scale: float, grid: float, normal: bool, rng: Any) -> float:
    """Return the value on the grid plus exact noise; replaces `add_noise` for secure draws."""
    if not scale > 0.0:
        return value
    steps = draw_normal_steps(scale / grid, rng) if normal else draw_steps(scale / grid, rng)
    return on_grid(value, grid) + grid * steps


class BatchSums(SumNoise):
    r"""Sums each arm's gains in a batch of rounds; at its end all of these sums are released, each with noise once.

    Batch lengths are fixed in advance, independent of the arms played, so an agent may divide a batch among the arms as
    it likes. A gain is in one sum of one batch, so no composition is needed. The noise of a sum is Laplace noise of
    scale sensitivity / epsilon. With `delta` it is Gaussian noise, and all releases together are rho-zCDP with
    :math:`\rho = 1 / (2 \sigma^2)`. An arm without gains in a batch has no new release.

    Args:
        epsilon: Privacy parameter of all releases together, in (0, inf]; `math.inf` means no noise.
        lengths: The lengths of the batches in rounds, each at least 1; the last length repeats.
        delta: Privacy failure probability of Gaussian noise, in (0, 1); by default the noise is Laplace noise.
        draws: `"fast"`, repeatable; or `"secure"`, exact noise without a seed (`privacy.secure_draws`).

    Protects: one round's gains of all arms, in the central model.

    Source: Hanna, Girgis, Fragouli and Diggavi (2022), for batches that the arms share; Azize and Basu (2023), for
    Gaussian noise.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs.wrappers import BatchSums
        >>> env = BatchSums(gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=20), epsilon=1, lengths=[2, 4])
        >>> observation, info = env.reset(seed=0)
        >>> [env.step(arm)[0]["count"].tolist() for arm in (0, 1, 1, 1, 1, 0)]
        [[0, 0], [1, 1], [1, 1], [1, 1], [1, 1], [1, 3]]
    """

    releases_sums = True
    example: ClassVar[dict[str, Any]] = {"epsilon": 1.0, "lengths": (2, 3)}

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        lengths: Iterable[int],
        delta: SupportsFloat | None = None,
        draws: str = "fast",
    ) -> None:
        self._use_draws(draws)
        self.epsilon = checks.epsilon(epsilon)
        self.lengths = checked_lengths(lengths)
        self.delta = None if delta is None else checks.delta(delta)

    @property
    def release(self) -> Release:
        """The module's `release`, with exact noise for secure draws."""
        return bind(release, {"close": self.idle}) if self._secure else release

    @property
    def idle(self) -> Any:
        """The module's `close` for arms that a round does not reveal."""
        return bind(close, {"add_noise": add_exact_noise}) if self._secure else close

    def release_for(self, inputs: InputFacts) -> Release:
        """Return `release`."""
        return self.release

    def new_state(self, inputs: InputFacts) -> State:
        """Return an empty batch."""
        scale, grid = self._scale_and_grid(inputs)
        zeros = np.zeros(inputs.n_values, np.int64)
        lengths = np.array([min(length, inputs.horizon + 1) for length in self.lengths], np.int64)
        total = np.zeros(inputs.n_values)
        return State(total, zeros, zeros.copy(), zeros.copy(), lengths, scale, grid, self.delta is not None)

    def first_release(self, inputs: InputFacts) -> int:
        """Return the length of the first batch."""
        return min(self.lengths[0], inputs.horizon + 1)

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return epsilon, because a gain is in one sum only; or the guarantee below, if there is one."""
        return self._guarantee_once(inputs, "a gain is in one batch, whose sums are released once")
