"""Three algorithms that declare the same epsilon, one of which does not keep it: whom do the arms accuse?"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.course.arms_attack import Counts, attack, neighbours
from dp_bandit_envs.privacy.mechanisms import BlockSums
from dp_bandit_envs.wrappers import PrivacyBoundary

DECLARED: Final = 1.0
GAMES: Final = 20_000
CONFIDENCE: Final = 0.9999
"""The confidence of each bound, so that both honest suspects are cleared but for a probability of 2e-4."""
LETTERS: Final = ("A", "B", "C")


class Suspect(NamedTuple):
    """A suspect: its letter, and what an attacker counted."""

    letter: str
    counts: Counts


def half_the_noise() -> Algorithm:
    """AdaP-UCB with noise of half the scale that it needs, as if gains were in [0, 1/2]; broken on purpose.

    Its agent is that for epsilon = 1, which it also declares; a changed gain loses 2.
    """
    honest = make_algorithm("AdaP-UCB", epsilon=DECLARED)
    noise = BlockSums(epsilon=2 * DECLARED)
    return dataclasses.replace(honest, name="broken on purpose", wrapping=lambda env: PrivacyBoundary(env, noise))


def order(number: int) -> list[str]:
    """Return the letters of the broken one, of AdaP-UCB and of LDP-UCB-B, shuffled by a student's number."""
    return [LETTERS[place] for place in np.random.default_rng([number, 3]).permutation(3)]


def three_suspects(number: int) -> list[Suspect]:
    """Return the counts of the three for a student's number, by letter."""
    makers = (
        half_the_noise,
        lambda: make_algorithm("AdaP-UCB", epsilon=DECLARED),
        lambda: make_algorithm("LDP-UCB-B", epsilon=DECLARED),
    )
    pair = neighbours("both arms pay 1", 0)
    # The events are the same for all students, so that the probability of a wrong verdict is known.
    counted = [attack(make, pair, GAMES, 3 * number + place, choice=0) for place, make in enumerate(makers)]
    return sorted(Suspect(letter, counts) for letter, counts in zip(order(number), counted, strict=True))


def suspects_table(suspects: Sequence[Suspect], epsilon_bound: Callable[..., Any]) -> str:
    """Return the counts of the three, with a student's bound for each, in Markdown.

    Args:
        suspects: As of `three_suspects`.
        epsilon_bound: The student's function, which may raise or return anything.
    """
    lines = ["| suspect | more | less | your bound |", "| :-- | --: | --: | --: |"]
    for each in suspects:
        try:
            bound = f"{epsilon_bound(*each.counts[:3], CONFIDENCE):.3f}"
        except Exception:
            bound = "(solve task 1)"
        lines.append(f"| {each.letter} | {each.counts.more:,} | {each.counts.less:,} | {bound} |")
    return "\n".join(lines)
