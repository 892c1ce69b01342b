"""Lab 3, switching costs: a check of the batch size at which a bound on regret is least."""

import math
from typing import Any, Final

import numpy as np

from dp_bandit_envs.course.checking import Mistakes, WrongAnswer, call, graded, number, refuse_mistakes

CASES: Final = ((10_000, 4), (1_000, 2), (1_000_000, 10), (50, 3))
"""Horizons and numbers of arms that are asked for."""
CLOSE: Final = 2e-3
"""How far an answer may be off, as a share."""
STEP: Final = 0.1
"""How far it may be off at most if that is more: a search on a grid of this step is right, a whole number is not."""


def load(n_arms: int) -> float:
    """Return (e - 1) K ln K."""
    return (math.e - 1) * n_arms * math.log(n_arms)


def bound(size: float, horizon: int, n_arms: int) -> float:
    """Return the bound on regret with batches of a size."""
    return 2 * math.sqrt(size * horizon * load(n_arms)) + horizon / size


def best(horizon: int, n_arms: int) -> float:
    """Return the size at which the bound is least, where its derivative sqrt(load T / size) - T / size^2 is 0."""
    return math.pow(horizon / load(n_arms), 1 / 3)


MISTAKES: Final[Mistakes] = (
    (
        lambda t, k: (t / load(k) / 4) ** (1 / 3),
        "There both terms are equal. That is near the least sum, but not there: look at how fast each of them changes.",
    ),
    (lambda t, k: bound(best(t, k), t, k), "That is the bound itself; the batch size is asked for."),
    (lambda t, k: math.sqrt(t / load(k)), "The power is wrong: one term grows as the root of the batch size."),
    (lambda t, k: (t / load(k)) ** (2 / 3), "The power is wrong: solve the equation for the batch size itself."),
    (lambda t, k: t / load(k), "There is a power missing: solve the equation for the batch size itself."),
    (lambda t, k: 1 / best(t, k), "It is upside down: with more rounds, should batches be longer or shorter?"),
    (lambda t, k: t / best(t, k), "That is the number of batches; the rounds of one batch are asked for."),
    (lambda t, k: t ** (1 / 3), "It does not depend on the arms; the first term does."),
    (lambda t, k: (t / (math.e - 1)) ** (1 / 3), "It does not depend on the arms; the first term does."),
    (lambda t, k: (t / (k * math.log(k))) ** (1 / 3), "The factor e - 1 is missing."),
    (lambda t, k: (t / ((math.e - 1) * k)) ** (1 / 3), "The factor ln K is missing."),
    (lambda t, k: (t / ((math.e - 1) * math.log(k))) ** (1 / 3), "The factor K is missing."),
    (lambda t, k: (t / ((math.e - 1) * k * math.log2(k))) ** (1 / 3), "ln is the natural logarithm, to the base e."),
    (lambda t, k: (4 * t / load(k)) ** (1 / 3), "The 2 before the root and the derivative of the root have to cancel."),
    (lambda t, k: (2 * t / load(k)) ** (1 / 3), "The 2 before the root and the derivative of the root have to cancel."),
    (lambda t, k: (t / load(k) / 2) ** (1 / 3), "The 2 before the root and the derivative of the root have to cancel."),
)


@graded
def check_best_batch(best_batch: Any) -> str:
    """Check the batch size with the least bound, (T / ((e - 1) K ln K))^(1/3). No false alarms."""
    answers = [number(call(best_batch, *case), f"best_batch({case[0]}, {case[1]})") for case in CASES]
    wanted = [best(*case) for case in CASES]
    right = np.abs(np.subtract(answers, wanted)) <= np.maximum(STEP, CLOSE * np.array(wanted))
    if right.all():
        return "So the regret is at most about 3 (e - 1)^(1/3) (K ln K)^(1/3) T^(2/3): no longer a square root of T."
    refuse_mistakes(MISTAKES, CASES, answers, relative=CLOSE)
    if all(answer.is_integer() and abs(answer - want) < 1 for answer, want in zip(answers, wanted, strict=True)):
        raise WrongAnswer("That is rounded: leave the number as it comes out.")
    if right.any():
        (t, k), (other_t, other_k) = (CASES[int(place)] for place in (right.argmax(), right.argmin()))
        raise WrongAnswer(f"It is right for T = {t:,} and K = {k}, but not for T = {other_t:,} and K = {other_k}.")
    if min(answers) <= 0:
        raise WrongAnswer("A batch has to have more than 0 rounds.")
    horizon, n_arms = CASES[0]
    least, yours = (bound(size, horizon, n_arms) for size in (wanted[0], answers[0]))
    raise WrongAnswer(
        f"For T = {horizon:,} and K = {n_arms} the bound is {yours:,.0f} with your batches of {answers[0]:.4g} rounds;"
        f" there are batches with {least:,.0f}. Draw the bound against the batch size."
    )
