"""A gallery of broken mechanisms: each with its repaired twin, a game that shows the fault, and what an attacker sees.

None of them is in a table of mechanisms or algorithms, so no name leads to one; each says that it is broken in its own.

    from dp_bandit_envs.audits import exact_loss
    from dp_bandit_envs.audits.gallery import LESSONS

    lesson = LESSONS["hybrid budget"]
    exact_loss(lesson.broken(1.0), env=lesson.game()).epsilon    # 2: it declares 1
    exact_loss(lesson.repaired(1.0), env=lesson.game()).epsilon  # 1
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.audits.broken_noise import (
    BrokenFirstMean,
    BrokenGraphNoise,
    BrokenHybridBudget,
    BrokenLastBatch,
    BrokenNoGrid,
    BrokenRange,
    BrokenRepeat,
    BrokenSharedDraw,
    BrokenTreeLevels,
)
from dp_bandit_envs.audits.exact_audit import exact_loss
from dp_bandit_envs.audits.float_audit import float_loss
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, HybridSums, LaplaceClipRescale
from dp_bandit_envs.protocols import Environment

ROUNDS = 16


class Lesson(NamedTuple):
    """One fault.

    Attributes:
        broken: Makes the broken mechanism for an epsilon.
        repaired: Makes its twin without the fault, which keeps that epsilon.
        seen: What an attacker sees, in one sentence.
        game: Makes a game of 16 rounds in which the fault shows.
        in_floats: Whether the fault is in floating-point numbers, which `float_loss` finds and `exact_loss` does not.
    """

    broken: Callable[[float], Mechanism]
    repaired: Callable[[float], Mechanism]
    seen: str
    game: Callable[[], Environment]
    in_floats: bool = False

    def rejects(self, mechanism: Mechanism) -> bool:
        """Whether the audit for this fault refutes a mechanism: exactly, or with a confidence of 99 % in floats."""
        if self.in_floats:
            return not float_loss(mechanism, confidence=0.99, games=300).holds
        return not exact_loss(mechanism, env=self.game()).holds


def two_arms() -> Environment:
    """Return a game with two arms."""
    return BanditEnv(GainTable(np.zeros((ROUNDS, 2))))


def complete_graph() -> Environment:
    """Return a game in which every round reveals the gains of all three arms."""
    made: Any = GraphEnv("complete", n_arms=3, gains=GainTable(np.zeros((ROUNDS, 3))))
    env: Environment = made
    return env


def payoffs_in_both_signs() -> Environment:
    """Return a game whose rounds reveal one payoff in [-1, 1]."""
    env: Environment = gym.make("DPBandit-Ball-v0", dimension=2, horizon=ROUNDS, feedback="bandit")
    return env


LESSONS: dict[str, Lesson] = {
    "hybrid budget": Lesson(
        lambda epsilon: BrokenHybridBudget(epsilon=epsilon),
        lambda epsilon: HybridSums(epsilon=epsilon),
        "The logarithmic part and the tree each show the gain once, so the two together show it twice.",
        two_arms,
    ),
    "tree levels": Lesson(
        lambda epsilon: BrokenTreeLevels(epsilon=epsilon),
        lambda epsilon: CounterSums(epsilon=epsilon, counter="binary"),
        "The first gain is in five nodes of a tree over 16 items, and the noise is for ln 16 = 2.8 of them.",
        two_arms,
    ),
    "range": Lesson(
        lambda epsilon: BrokenRange(epsilon=epsilon),
        lambda epsilon: LaplaceClipRescale(epsilon=epsilon),
        "A payoff of 1 and one of -1 are twice as far apart as the noise was made for.",
        payoffs_in_both_signs,
    ),
    "shared draw": Lesson(
        lambda epsilon: BrokenSharedDraw(epsilon=epsilon),
        lambda epsilon: BlockSums(epsilon=epsilon, ratio=1),
        "The first release of arm 0 minus that of arm 1 is the exact difference of their gains.",
        two_arms,
    ),
    "last batch": Lesson(
        lambda epsilon: BrokenLastBatch(epsilon=epsilon, batch_size=5),
        lambda epsilon: BlockSums(epsilon=epsilon, lengths=[5]),
        "The last of 16 rounds is a batch of its own, so its gain has a fifth of the noise that it needs.",
        two_arms,
    ),
    "first mean": Lesson(
        lambda epsilon: BrokenFirstMean(epsilon=epsilon),
        lambda epsilon: BlockSums(epsilon=epsilon),
        "The first gain of each arm is released as it is.",
        two_arms,
    ),
    "repeated round": Lesson(
        lambda epsilon: BrokenRepeat(epsilon=epsilon),
        lambda epsilon: BlockSums(epsilon=epsilon, ratio=1, keep=True),
        "The sum counts each gain twice, so a changed gain moves it by 2.",
        two_arms,
    ),
    "graph": Lesson(
        lambda epsilon: BrokenGraphNoise(epsilon=epsilon),
        lambda epsilon: BlockSums(epsilon=epsilon),
        "A round of the complete graph enters three sums, each of which pays all of epsilon.",
        complete_graph,
    ),
    "no grid": Lesson(
        lambda epsilon: BrokenNoGrid(epsilon=epsilon),
        lambda epsilon: LaplaceClipRescale(epsilon=epsilon),
        "A release that 1 + noise cannot round to was made from the other gain, with certainty.",
        two_arms,
        in_floats=True,
    ),
}
"""The lessons by the name of their fault."""
