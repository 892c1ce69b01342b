"""A gallery of broken mechanisms, each with its repaired twin, the audit that tells them apart, and the visible leak.

They are not in any table of mechanisms, so they cannot be selected by name, and all class names begin with Broken.

    from dp_bandit_envs.audits import exact_loss
    from dp_bandit_envs.audits.gallery import LESSONS

    lesson = LESSONS["hybrid budget"]
    exact_loss(lesson.broken(1.0), environment=lesson.game()).epsilon    # 2: it declares 1
    exact_loss(lesson.repaired(1.0), environment=lesson.game()).epsilon  # 1

`dp-bandit audit gallery` runs every audit on both.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym
import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.audits.exact import exact_loss
from dp_bandit_envs.audits.floats import float_loss
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.privacy.facts import InputFacts, Noise
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import draw, noise_scale
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, HybridSums, LaplaceClipRescale, block_sums
from dp_bandit_envs.privacy.mechanisms.counter_sums import in_steps
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray

ROUNDS = 16


def refuted_exactly(mechanism: Mechanism, game: Environment) -> bool:
    """Whether the exact loss of a mechanism exceeds its claim."""
    return not exact_loss(mechanism, environment=game).holds


def refuted_in_floats(mechanism: Mechanism, game: Environment) -> bool:
    """Whether some releases are impossible for another gain, with a confidence of 99 %."""
    return not float_loss(mechanism, confidence=0.99, games=1000).holds


def two_arms() -> Environment:
    """Return a game with two arms."""
    return BanditEnv(GainTable(np.zeros((ROUNDS, 2))))


def complete_graph() -> Environment:
    """Return a game that reveals the gains of all three arms in every round."""
    env: Any = GraphEnv("complete", n_arms=3, gains=GainTable(np.zeros((ROUNDS, 3))))
    return env  # type: ignore[no-any-return]


def payoffs_in_both_signs() -> Environment:
    """Return a game whose rounds reveal one payoff in [-1, 1]."""
    env: Environment = gym.make("DPBandit-Ball-v0", dimension=2, horizon=ROUNDS, feedback="bandit")
    return env


class Lesson(NamedTuple):
    """One fault.

    Attributes:
        broken_kind: Makes the broken mechanism for an `epsilon=`.
        repaired_kind: Makes its repaired twin, which satisfies its claim.
        seen: The attacker's view, in one sentence.
        game: Makes a game that exposes the fault.
        audit: Whether the audit for this fault refutes a mechanism in that game.
    """

    broken_kind: Callable[..., Mechanism]
    repaired_kind: Callable[..., Mechanism]
    seen: str
    game: Callable[[], Environment] = two_arms
    audit: Callable[[Mechanism, Environment], bool] = refuted_exactly

    def broken(self, epsilon: float) -> Mechanism:
        """Return the broken mechanism."""
        return self.broken_kind(epsilon=epsilon)

    def repaired(self, epsilon: float) -> Mechanism:
        """Return its repaired twin."""
        return self.repaired_kind(epsilon=epsilon)

    def rejects(self, mechanism: Mechanism) -> bool:
        """Whether the audit for this fault refutes a mechanism: exactly, or with a confidence of 99 %."""
        return self.audit(mechanism, self.game())


class BrokenHybridBudget(HybridSums):
    """A hybrid counter whose two parts get all of epsilon each, although they compose: they spend 2 epsilon."""

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, budget="paper")

    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Claim epsilon, as if the two parts did not compose."""
        return dataclasses.replace(super().guarantee(inputs), epsilon=self.epsilon)


class BrokenTreeLevels(CounterSums):
    """A binary counter that computes its levels with ln instead of lg: an item is in more nodes than paid for."""

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, counter="binary")

    def new_state(self, inputs: InputFacts) -> Any:
        """Return the state with the noise of ln T levels."""
        state = super().new_state(inputs)
        share = max(1.0, math.log(inputs.horizon)) / inputs.horizon.bit_length()
        return state._replace(
            counters=in_steps(state.counters, share, 1.0), together=in_steps(state.together, share, 1.0)
        )


class BrokenRange(LaplaceClipRescale):
    """Noise of scale 1 / epsilon for values in [-1, 1]: they differ by 2, so the two ends lie 2 epsilon apart."""

    def noise(self, inputs: InputFacts) -> Noise:
        """Return the scale for values in [0, 1]."""
        return super().noise(inputs)._replace(scale=noise_scale(1.0, self.epsilon))


class SharedState(NamedTuple):
    """Number of releases of each arm `(n_values,)`, all draws `(horizon,)`, their number `(1,)`, and the scale."""

    releases: IntArray
    draws: FloatArray
    drawn: IntArray
    scale: float


def release_with_shared_draw(state: SharedState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release a gain with the draw of that number, which all arms use."""
    number = state.releases[arm]
    if number == state.drawn[0]:
        state.draws[number] = draw(state.scale, rng)
        state.drawn[0] += 1
    state.releases[arm] += 1
    return gain + state.draws[number], 1


class BrokenSharedDraw(BlockSums):
    """One draw for all arms: the difference of two arms' releases has no noise at all."""

    release: Any = staticmethod(release_with_shared_draw)

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, ratio=1)

    def new_state(self, inputs: InputFacts) -> Any:
        """Return the state before the first draw."""
        numbers = np.zeros(inputs.n_values, np.int64), np.zeros(1, np.int64)
        return SharedState(numbers[0], np.zeros(inputs.horizon), numbers[1], self.noise(inputs).scale)


def release_first_exactly(
    state: block_sums.State, arm: int, gain: float, rng: np.random.Generator
) -> tuple[float, int]:
    """Release the first block of each arm without noise."""
    if state.block[arm] == 0:
        state = state._replace(scale=0.0, grid=0.0)
    return block_sums.release(state, arm, gain, rng)


class BrokenFirstMean(BlockSums):
    """The first mean of each arm, which initialises its index, has no noise: the first gain is released exactly."""

    release = staticmethod(release_first_exactly)


class BrokenGraphNoise(BlockSums):
    """Noise calibrated to one arm's sum although a round enters several: its sums together reveal its gains."""

    def _scale_and_grid(self, inputs: InputFacts) -> tuple[float, float]:
        """Return the scale for a sensitivity of 1."""
        scale = noise_scale(1.0, self.epsilon)
        return scale, self._grid(scale, inputs.horizon)


class BrokenNoGrid(LaplaceClipRescale):
    """Noise in plain doubles: some numbers can be released for one gain and never for another."""

    def new_state(self, inputs: InputFacts) -> Any:
        """Return the parameters without a grid."""
        return super().new_state(inputs)._replace(grid=0.0)


class RedrawState(NamedTuple):
    """The last gain of each arm and how many it had, `(n_values,)`, and the scale."""

    last: FloatArray
    counts: IntArray
    scale: float


def release_last(state: RedrawState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release a gain with a fresh draw."""
    state.last[arm] = gain
    state.counts[arm] += 1
    return gain + draw(state.scale, rng), state.counts[arm]


def draw_again(state: RedrawState, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Release an arm's last gain again, with a new draw."""
    return state.last[arm] + draw(state.scale, rng), state.counts[arm]


class BrokenRedraw(BlockSums):
    """Draws the noise of an arm's last release again in every round, as DP-UCB-INT is printed: the average is exact."""

    release: Any = staticmethod(release_last)
    idle: Any = staticmethod(draw_again)

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, ratio=1)

    def new_state(self, inputs: InputFacts) -> Any:
        """Return the state before the first gain."""
        return RedrawState(np.zeros(inputs.n_values), np.zeros(inputs.n_values, np.int64), self.noise(inputs).scale)


LESSONS = {
    "hybrid budget": Lesson(
        BrokenHybridBudget,
        HybridSums,
        "The logarithmic part and the tree each show the gain once, so the two together show it twice.",
    ),
    "tree levels": Lesson(
        BrokenTreeLevels,
        functools.partial(CounterSums, counter="binary"),
        "The first gain is in five nodes of a tree over 16 items, and the noise is for ln 16 = 2.8 of them.",
    ),
    "range": Lesson(
        BrokenRange,
        LaplaceClipRescale,
        "A payoff of 1 and one of -1 are twice as far apart as the noise was made for.",
        payoffs_in_both_signs,
    ),
    "shared draw": Lesson(
        BrokenSharedDraw,
        functools.partial(BlockSums, ratio=1),
        "The first release of arm 0 minus that of arm 1 is the exact difference of their gains.",
    ),
    "first mean": Lesson(BrokenFirstMean, BlockSums, "The first gain of each arm is released as it is."),
    "graph": Lesson(
        BrokenGraphNoise,
        BlockSums,
        "A round of the complete graph enters three sums, each of which pays all of epsilon.",
        complete_graph,
    ),
    "no grid": Lesson(
        BrokenNoGrid,
        LaplaceClipRescale,
        "A release that 1 + noise cannot round to was made from the other gain, with certainty.",
        audit=refuted_in_floats,
    ),
    "redrawn noise": Lesson(
        BrokenRedraw,
        functools.partial(BlockSums, ratio=1),
        "A gain is released anew in every round that plays another arm, and the average of the releases shows it.",
    ),
}
"""The lessons by the name of their fault."""
