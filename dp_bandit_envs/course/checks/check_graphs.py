"""Checks of the lab on graph feedback: what privacy costs on a graph, and a cover by cliques.

Both look at graphs that are fixed here, without chance: their rate of false alarms is 0.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.course.checking import WrongAnswer, call, graded, kind, number, plain
from dp_bandit_envs.protocols import IntArray


def matrix(n_arms: int, edges: list[tuple[int, int]], *, directed: bool = False) -> IntArray:
    """Return who reveals whom, `(n_arms, n_arms)`, 1 where playing the row's arm reveals the column's; 1 for itself."""
    found = np.eye(n_arms, dtype=np.int64)
    for one, other in edges:
        found[one, other] = 1
        if not directed:
            found[other, one] = 1
    return found


FOLLOWED = matrix(6, [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (5, 2)], directed=True)
"""Arm 5 reveals two others; arm 0 is revealed by four others and reveals none."""
STAR = matrix(7, [(0, arm) for arm in range(1, 7)])
CYCLE = matrix(9, [(arm, (arm + 1) % 9) for arm in range(9)])
GROUPS = matrix(7, [(0, 3), (0, 5), (3, 5), (1, 2), (4, 6)])
"""A triangle and two pairs, with shuffled numbers."""
KITE = matrix(6, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5)])
ALONE = matrix(4, [])
ALL = matrix(5, [(one, other) for one in range(5) for other in range(one)])
GRAPHS = (GROUPS, KITE, STAR, CYCLE, ALL, ALONE)
"""Undirected graphs."""

Factor = Callable[[IntArray], float]
MISTAKES: list[tuple[Factor, str]] = [
    (
        lambda reveals: float(reveals.sum(axis=1).mean()),
        "This is how many gains a round reveals on average. A promise has to hold for the worst round.",
    ),
    (
        lambda reveals: float(reveals.sum(axis=0).max()),
        "You count by how many arms one arm is revealed. Which gains change together if one round's data change?",
    ),
    (lambda reveals: float(reveals.sum(axis=1).max() - 1), "Does a round not reveal the gain of the arm played, too?"),
    (
        lambda reveals: float(len(reveals)),
        "This is enough on any graph, but more than needed on most: look at the graph.",
    ),
    (
        lambda reveals: float(reveals.sum()),
        "This counts what all arms reveal together, but only one arm is played in a round.",
    ),
    (lambda reveals: float(reveals.sum(axis=1).min()), "This is the fewest gains that a round can reveal."),
    (
        lambda reveals: float(np.sqrt(reveals.sum(axis=1).max())),
        "The root is for Gaussian noise. For Laplace noise, changes of several gains add up.",
    ),
    (lambda reveals: 1.0, "This is right if a round reveals one gain. Here it reveals more."),
]


@graded
def check_noise_factor(noise_factor: Any) -> str:
    """Check the factor by which Laplace noise grows on a graph: the most gains that one round reveals.

    Rate of false alarms: 0.

    Args:
        noise_factor: `noise_factor(reveals)`, what the student wrote; `reveals` is a matrix as `matrix` returns it.
    """
    graphs = (FOLLOWED, STAR, KITE, ALL, ALONE)
    given = [number(call(noise_factor, each), "noise_factor(reveals)") for each in graphs]
    if np.allclose(given, [each.sum(axis=1).max() for each in graphs]):
        return "If a round's data change, so many gains may change by 1 each, and noise has to cover all of them."
    for wrong, words in MISTAKES:
        if np.allclose(given, [wrong(each) for each in graphs]):
            raise WrongAnswer(words)
    if np.allclose(given[1:], [each.sum(axis=1).max() for each in graphs[1:]]):
        raise WrongAnswer(
            "It is right for edges in both directions. Row i of the matrix says what playing arm i reveals."
        )
    for found, each in zip(given, graphs, strict=True):
        right = each.sum(axis=1).max()
        if not np.isclose(found, right):
            side = "not enough" if found < right else "more than needed"
            raise WrongAnswer(f"For {len(each)} arms of which {_rows(each)}, {found:g} is {side}.")
    raise AssertionError("unreachable: all graphs agree")


def _rows(reveals: IntArray) -> str:
    busiest = int(reveals.sum(axis=1).argmax())
    others = np.flatnonzero(reveals[busiest])
    return f"arm {busiest} reveals {', '.join(map(str, others))}"


@graded
def check_clique_cover(clique_cover: Any) -> str:
    """Check a partition of the arms into cliques, of which no two can be merged.

    Both usual greedy ways pass on all graphs, in any order: first fit, and one largest possible clique after the other.
    Rate of false alarms: 0.

    Args:
        clique_cover: `clique_cover(reveals)`, what the student wrote; returns lists of arms.
    """
    numbers = []
    for reveals in GRAPHS:
        cover = _groups(call(clique_cover, reveals), len(reveals))
        for group in cover:
            for one in group:
                for other in group:
                    if not reveals[one, other]:
                        raise WrongAnswer(
                            f"Arms {one} and {other} are in one group, but playing arm {one} does not reveal arm"
                            f" {other}. In a clique every arm reveals every other, not only the first one."
                        )
        for place, group in enumerate(cover):
            for later in cover[place + 1 :]:
                both = [*group, *later]
                if reveals[np.ix_(both, both)].all():
                    raise WrongAnswer(f"The groups {group} and {later} together are a clique, too: one is enough.")
        numbers.append(len(cover))
    return (
        f"All are cliques and no two can be merged: {numbers[0]} for a triangle and two pairs, {numbers[-2]} for all."
    )


def _groups(answer: Any, n_arms: int) -> list[list[int]]:
    """Return groups of arms, each arm once, or raise `WrongAnswer`."""
    if isinstance(answer, (str, bytes, dict, int, float)) or not hasattr(answer, "__iter__"):
        raise WrongAnswer(f"Return a list of groups, each a list of arms; this is {kind(answer)}.")
    cover = []
    for group in answer:
        members = plain(sorted(group) if isinstance(group, (set, frozenset)) else group)
        if members is None or members.ndim != 1:
            raise WrongAnswer(f"Each group has to be a list of arms, such as [0, 2]; one of them is {kind(group)}.")
        if len(members):
            cover.append([int(arm) for arm in members])
    arms = [arm for group in cover for arm in group]
    strange = [arm for arm in arms if not 0 <= arm < n_arms]
    if strange:
        raise WrongAnswer(f"There are {n_arms} arms, numbered from 0; there is no arm {strange[0]}.")
    missing = sorted(set(range(n_arms)) - set(arms))
    if missing:
        raise WrongAnswer(f"On a graph of {n_arms} arms, arm {missing[0]} is in no group.")
    if len(arms) > n_arms:
        twice = next(arm for arm in arms if arms.count(arm) > 1)
        raise WrongAnswer(f"Arm {twice} is in two groups; once is enough.")
    return cover
