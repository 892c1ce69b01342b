"""Checks of the lab on attackers: a lower bound on epsilon from counts, and which suspect it accuses."""

import math
from collections.abc import Callable
from typing import Any

from dp_bandit_envs.audits.event_bounds import least_epsilon
from dp_bandit_envs.course.checking import WrongAnswer, call, graded, kind, number, whole
from dp_bandit_envs.course.suspects import CONFIDENCE, DECLARED, GAMES, LETTERS, order, three_suspects
from dp_bandit_envs.optional import require

CASES = [
    (300, 100, 1000, 0.99),
    (6530, 2711, 20_000, 0.99),
    (30, 2, 50, 0.95),
    (700, 700, 1000, 0.99),
    (20, 0, 1000, 0.999),
    (0, 0, 100, 0.99),
    (1000, 250, 1000, 0.99),
]
"""Counts on both tables, games on each, and the confidence."""
TOLERANCE = 1e-6


def right(more: int, less: int, games: int, confidence: float) -> float:
    """Return the bound, at least 0."""
    return max(0.0, least_epsilon(more, less, games, 0.0, 1 - confidence))


def ends(hits: int, games: int, failure: float) -> tuple[float, float]:
    """Return Clopper and Pearson's lower and upper bound on a probability, each wrong with this probability."""
    beta = require("scipy.stats", extra="audits").beta
    low = float(beta.ppf(failure, hits, games - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - failure, hits + 1, games - hits)) if hits < games else 1.0
    return low, high


def _ratio(above: float, below: float) -> float:
    return math.log(above / below)


def _wald(hits: int, games: int, failure: float) -> tuple[float, float]:
    width = float(require("scipy.stats", extra="audits").norm.isf(failure)) * math.sqrt(
        hits / games * (1 - hits / games) / games
    )
    return hits / games - width, hits / games + width


EASY = CASES[:2]
BOTH = "Each of your two bounds holds with the confidence, but both together do not: split the failure probability."
MISTAKES: list[tuple[Callable[[int, int, int, float], float], str]] = [
    (
        lambda m, s, n, c: _ratio(m, s),
        "This is the ratio of the frequencies. Both are off by chance, so the truth can well be smaller: be cautious.",
    ),
    (lambda m, s, n, c: -_ratio(m, s), "The ratio is upside down: the event is more frequent on the first table."),
    (lambda m, s, n, c: _ratio(ends(m, n, 1 - c)[0], ends(s, n, 1 - c)[1]), BOTH),
    (
        lambda m, s, n, c: _ratio(ends(m, n, (1 - c) / 2)[1], ends(s, n, (1 - c) / 2)[0]),
        "Both bounds are on the wrong side: this is the largest epsilon that fits the counts, not the smallest.",
    ),
    (
        lambda m, s, n, c: _ratio(ends(m, n, 1 - c)[1], ends(s, n, 1 - c)[0]),
        "Both bounds are on the wrong side: this is the largest epsilon that fits the counts, not the smallest.",
    ),
    (
        lambda m, s, n, c: math.exp(least_epsilon(m, s, n, 0.0, 1 - c)),
        "This is the ratio of the probabilities, which is at most e to the epsilon.",
    ),
    (
        lambda m, s, n, c: least_epsilon(m, s, n, 0.0, 1 - c) / math.log(2),
        "Epsilon is measured with the natural logarithm.",
    ),
    (
        lambda m, s, n, c: least_epsilon(m, s, n, 0.0, 1 - c) / math.log(10),
        "Epsilon is measured with the natural logarithm.",
    ),
    (
        lambda m, s, n, c: _ratio(_wald(m, n, (1 - c) / 2)[0], _wald(s, n, (1 - c) / 2)[1]),
        "These are intervals by the normal distribution, which fail for small counts; use Clopper and Pearson's.",
    ),
    (
        lambda m, s, n, c: _ratio(ends(m, n, (1 - c) / 4)[0], ends(s, n, (1 - c) / 4)[1]),
        "Too cautious: only one end of each interval is used, so the failure probability is split in two, not four.",
    ),
    (
        lambda m, s, n, c: least_epsilon(m, s, n, 0.0, 0.01),
        "It holds for a confidence of 0.99 only: use the one that is given.",
    ),
]


@graded
def check_epsilon_bound(epsilon_bound: Any) -> str:
    """Check the lower confidence bound on epsilon, ln(p / q) with Clopper-Pearson bounds on both, at least 0.

    Where the bound is 0, any answer that is not above it will do. Rate of false alarms: 0.

    Args:
        epsilon_bound: `epsilon_bound(more, less, games, confidence)`, what the student wrote.
    """
    given = [number(call(epsilon_bound, *case), f"epsilon_bound{case}") for case in EASY]
    if not all(_agrees(found, right(*case)) for found, case in zip(given, EASY, strict=True)):
        for wrong, words in MISTAKES[:-1]:
            if all(_same(found, wrong(*case)) for found, case in zip(given, EASY, strict=True)):
                raise WrongAnswer(words)
    for case in CASES:
        answer = call(epsilon_bound, *case)
        found = _number(answer, case)
        if not _agrees(found, right(*case)):
            if case[3] != 0.99 and _same(found, MISTAKES[-1][0](*case)):
                raise WrongAnswer(MISTAKES[-1][1])
            more, less, games, confidence = case
            side = "too large, so it would accuse the innocent" if found > right(*case) else "smaller than it can be"
            of = f"For {more} and {less} of {games:,} games and confidence {confidence}"
            raise WrongAnswer(f"{of}, {found:.6g} is {side}.")
    return "If an algorithm keeps epsilon, your bound is above it with at most the failure probability."


def _number(answer: Any, case: tuple[int, int, int, float]) -> float:
    """Return a number; minus infinity is one where there is no bound above 0."""
    if isinstance(answer, float) and answer == -math.inf and right(*case) == 0:
        return 0.0
    return number(answer, f"epsilon_bound{case}")


def _same(found: float, other: float) -> bool:
    return math.isclose(found, other, rel_tol=TOLERANCE)


def _agrees(found: float, bound: float) -> bool:
    return _same(found, bound) or (bound == 0 and found <= 0)


@graded
def check_accused(accused: Any, student: Any) -> str:
    """Check which suspect a student accuses.

    Rate of false alarms: at most 1e-3. Whoever applies the right bound accuses an honest suspect with a probability of
    at most 1e-4 for each of the two, by Clopper and Pearson. Nobody is accused if the bound for the broken one is at
    most 1: the events are the same for all students, and with the probabilities measured in 2,000,000 games, 0.0415 and
    0.0059, the binomial distributions give this a probability of 8e-10.

    Args:
        accused: A letter.
        student: The number that the student's suspects were drawn with.
    """
    if accused is None or accused is ...:
        raise WrongAnswer("Nobody is accused yet: write a letter, such as 'A'.")
    if not isinstance(accused, str):
        raise WrongAnswer(f"Write one letter as text, such as 'A'; this is {kind(accused)}.")
    letter = accused.strip().upper()
    if letter not in LETTERS:
        raise WrongAnswer(f"The suspects are A, B and C; {accused!r} is none of them. Exactly one of them is broken.")
    own = whole(student, "Your number")
    if own < 0:
        raise WrongAnswer(f"Your number has to be at least 0; it is {own}.")
    broken = order(own)[0]
    if letter != broken:
        counts = next(each.counts for each in three_suspects(own) if each.letter == letter)
        bound = right(counts.more, counts.less, GAMES, CONFIDENCE)
        raise WrongAnswer(
            f"{letter}'s counts fit epsilon = {DECLARED:g}: with confidence {CONFIDENCE}, no more than {bound:.2f}"
            " can be shown. Frequencies alone accuse the innocent; whose bound is above the claim?"
        )
    return (
        f"{letter} has half the noise that it needs and loses 2. The other bounds clear nobody: they only accuse less."
    )
