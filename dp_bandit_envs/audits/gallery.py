"""A gallery of broken parts: each with its repaired twin, the audit that tells them apart, and what an attacker sees.

None of them is in a table of mechanisms or algorithms, so no name leads to one; each says that it is broken in its own.

    from dp_bandit_envs.audits import exact_loss
    from dp_bandit_envs.audits.gallery import LESSONS

    lesson = LESSONS["hybrid budget"]
    exact_loss(lesson.broken(1.0), env=lesson.game()).epsilon    # 2: it declares 1
    exact_loss(lesson.repaired(1.0), env=lesson.game()).epsilon  # 1

`dp-bandit audit --gallery` runs every audit on both.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.audits.broken_boundaries import (
    BrokenEnd,
    BrokenEpisodes,
    BrokenInfo,
    BrokenSeed,
    laplace_boundary,
    reads_info,
    reads_the_end,
    subtracts_episodes,
    subtracts_the_stream,
)
from dp_bandit_envs.audits.broken_draws import (
    BrokenLossForm,
    BrokenNoFloor,
    loss_form,
    no_floor,
    refuted_by_a_long_history,
)
from dp_bandit_envs.audits.broken_noise import (
    BrokenFirstMean,
    BrokenGraphNoise,
    BrokenHybridBudget,
    BrokenLastBatch,
    BrokenNoGrid,
    BrokenRange,
    BrokenRedraw,
    BrokenRepeat,
    BrokenSharedDraw,
    BrokenTreeLevels,
)
from dp_bandit_envs.audits.exact_audit import exact_loss
from dp_bandit_envs.audits.float_audit import float_loss
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, HybridSums, LaplaceClipRescale
from dp_bandit_envs.protocols import Environment

ROUNDS = 16


def refuted_exactly(part: Any, game: Environment) -> bool:
    """Whether the exact loss of a mechanism or an algorithm is above its claim."""
    return not exact_loss(part, env=game).holds


def refuted_in_floats(part: Any, game: Environment) -> bool:
    """Whether some releases are impossible for another gain, with a confidence of 99 %."""
    return not float_loss(part, confidence=0.99, games=1000).holds


def by(attack: Callable[[Any], bool]) -> Callable[[Any, Environment], bool]:
    """Return an audit of boundaries from an attack, which makes its own games."""
    return lambda part, game: attack(part)


class Lesson(NamedTuple):
    """One fault.

    Attributes:
        broken: Makes the broken part for an epsilon: a mechanism, an algorithm, or what puts a boundary around an
            environment.
        repaired: Makes its twin without the fault, which keeps what it claims.
        seen: What an attacker sees, in one sentence.
        game: Makes a game in which the fault shows.
        audit: Whether the audit for this fault refutes a part in that game.
        of: `"mechanism"`, `"algorithm"` or `"boundary"`.
    """

    broken: Callable[[float], Any]
    repaired: Callable[[float], Any]
    seen: str
    game: Callable[[], Environment]
    audit: Callable[[Any, Environment], bool] = refuted_exactly
    of: str = "mechanism"

    def rejects(self, part: Any) -> bool:
        """Whether the audit for this fault refutes a part: exactly, or with a confidence of 99 %."""
        return self.audit(part, self.game())


def two_arms() -> Environment:
    """Return a game with two arms."""
    return BanditEnv(GainTable(np.zeros((ROUNDS, 2))))


def four_rounds() -> Environment:
    """Return a game of two arms whose law can be worked out on all tables."""
    return BanditEnv(GainTable(np.zeros((4, 2))))


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
        refuted_in_floats,
    ),
    "redrawn noise": Lesson(
        lambda epsilon: BrokenRedraw(epsilon=epsilon),
        lambda epsilon: BlockSums(epsilon=epsilon, ratio=1),
        "A gain is released anew in every round that plays another arm, and the average of the releases shows it.",
        two_arms,
    ),
    "loss form": Lesson(
        lambda epsilon: loss_form(BrokenLossForm),
        lambda epsilon: loss_form(Exp3),
        "After 300 chosen rounds two games that differ in one loss play so differently that each draw loses 3.6.",
        four_rounds,
        refuted_by_a_long_history,
        "algorithm",
    ),
    "no floor": Lesson(
        lambda epsilon: no_floor(BrokenNoFloor),
        lambda epsilon: no_floor(Exp3),
        "An arm that is hardly ever drawn gets a gain divided by its probability, and is then drawn nearly always.",
        four_rounds,
        of="algorithm",
    ),
    "total in info": Lesson(
        lambda epsilon: lambda env: BrokenInfo(env, epsilon=epsilon),
        laplace_boundary,
        "The running total in info grows by the true gain of every round.",
        two_arms,
        by(reads_info),
        "boundary",
    ),
    "environment's seed": Lesson(
        lambda epsilon: lambda env: BrokenSeed(env, epsilon=epsilon),
        laplace_boundary,
        "Whoever runs default_rng(seed) with the seed that the log shows has the noise, and can subtract it.",
        two_arms,
        by(subtracts_the_stream),
        "boundary",
    ),
    "same noise again": Lesson(
        lambda epsilon: lambda env: BrokenEpisodes(env, epsilon=epsilon),
        laplace_boundary,
        "The releases of two episodes differ by the exact difference of their gains.",
        two_arms,
        by(subtracts_episodes),
        "boundary",
    ),
    "early end": Lesson(
        lambda epsilon: lambda env: BrokenEnd(env, epsilon=epsilon),
        laplace_boundary,
        "The game ends in the round of the first gain above .9, which no noise hides.",
        two_arms,
        by(reads_the_end),
        "boundary",
    ),
}
"""The lessons by the name of their fault."""
