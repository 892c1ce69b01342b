"""Lab 3, switching costs: a check of the batch size that minimises a regret bound."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dp_bandit_envs.course.checking import WrongAnswer, agree, check_formula, graded, mistakes, some_number

CASES: Final = ((10_000, 4), (1_000, 2), (1_000_000, 10), (50, 3))
"""The tested horizons and numbers of arms."""
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
    """Return the size that minimises the bound, the zero of its derivative sqrt(load T / size) - T / size^2."""
    return math.pow(horizon / load(n_arms), 1 / 3)


MISTAKES: Final = mistakes(
    "t, k",
    """\
(t / load(k) / 4) ** (1 / 3) | There both terms are equal. That is near the least sum, but not there: look at how \
fast each of them changes.
bound(best(t, k), t, k) | That is the bound itself; the batch size is asked for.
math.sqrt(t / load(k)) | The power is wrong: one term grows as the root of the batch size.
(t / load(k)) ** (2 / 3) | The power is wrong: solve the equation for the batch size itself.
t / load(k) | There is a power missing: solve the equation for the batch size itself.
1 / best(t, k) | It is upside down: with more rounds, should batches be longer or shorter?
t / best(t, k) | That is the number of batches; the rounds of one batch are asked for.
t ** (1 / 3) | It does not depend on the arms; the first term does.
(t / (math.e - 1)) ** (1 / 3) | It does not depend on the arms; the first term does.
(t / (k * math.log(k))) ** (1 / 3) | The factor e - 1 is missing.
(t / ((math.e - 1) * k)) ** (1 / 3) | The factor ln K is missing.
(t / ((math.e - 1) * math.log(k))) ** (1 / 3) | The factor K is missing.
(t / ((math.e - 1) * k * math.log2(k))) ** (1 / 3) | ln is the natural logarithm, to the base e.
(4 * t / load(k)) ** (1 / 3) | The 2 before the root and the derivative of the root have to cancel.
(2 * t / load(k)) ** (1 / 3) | The 2 before the root and the derivative of the root have to cancel.
(t / load(k) / 2) ** (1 / 3) | The 2 before the root and the derivative of the root have to cancel.
""",
    load=load,
    bound=bound,
    best=best,
)


def drawn_game(rng: np.random.Generator) -> tuple[int, int]:
    """Return rounds and arms whose best batch is not longer than in the notebook, where grids may end."""
    n_arms = some_number(rng, 2, 12)
    return int(load(n_arms) * rng.uniform(1.5, 28) ** 3), n_arms


def refuse_batches(answers: Sequence[float], wanted: Sequence[float]) -> None:
    """Raise for wrong batches with a known mistake."""
    if all(answer.is_integer() and abs(answer - want) < 1 for answer, want in zip(answers, wanted, strict=True)):
        raise WrongAnswer("That is rounded: leave the number as it comes out.")
    right = [agree(answer, want, relative=CLOSE, absolute=STEP) for answer, want in zip(answers, wanted, strict=True)]
    if any(right):
        (t, k), (other_t, other_k) = (CASES[right.index(one)] for one in (True, False))
        raise WrongAnswer(f"It is right for T = {t:,} and K = {k}, but not for T = {other_t:,} and K = {other_k}.")


def wrong_batch(case: tuple[int, int], answer: float, right: float) -> str:
    """Return the comment on any other batch."""
    return (
        f"For T = {case[0]:,} and K = {case[1]} the bound is {bound(answer, *case):,.0f} with your batches of"
        f" {answer:.4g} rounds; there are batches with {bound(right, *case):,.0f}. Draw it against the batch size."
    )


@graded
def check_best_batch(best_batch: Any, *, seed: int | None = None) -> str:
    """Check the batch size with the least bound, (T / ((e - 1) K ln K))^(1/3). No false alarms."""
    check_formula(
        best_batch,
        best,
        CASES,
        drawn_game,
        seed,
        known_mistakes=MISTAKES,
        wrong=wrong_batch,
        what="The batch size",
        refuse_more=refuse_batches,
        relative=CLOSE,
        absolute=STEP,
    )
    return "So the regret is at most about 3 (e - 1)^(1/3) (K ln K)^(1/3) T^(2/3): no longer a square root of T."
