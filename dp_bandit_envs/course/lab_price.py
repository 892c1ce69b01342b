"""Lab 2, the price of privacy: checks of the scale of Laplace noise on an average, and of the release itself."""

import math
from typing import Any, Final

import numpy as np

from dp_bandit_envs.course.checking import (
    ScriptedDraws,
    WrongAnswer,
    call,
    check_formula,
    graded,
    mistakes,
    number,
    some_epsilon,
    some_number,
)
from dp_bandit_envs.protocols import FloatArray

CASES: Final = ((1, 1.0), (10, 1.0), (1, 0.5), (10, 0.1), (7, 4.0), (100, 2.0))
"""Numbers of gains and epsilons of the tested scales."""
MISTAKES: Final = mistakes(
    "n, e",
    """\
1 / n | Your scale does not depend on epsilon. Less privacy loss has to take more noise.
e / n | Your scale grows with epsilon. Is a small epsilon more privacy, or less?
1 / e | That is enough noise for one gain. How far can one of n gains move their average?
n / e | Your scale grows with n. Does one gain move an average of many more, or less?
n * e | Your scale grows with n and with epsilon. What should more of either do to the noise?
2 / (n * e) ** 2 | That is the variance of the noise. The scale b is asked for: what is the variance of a draw of \
scale b?
math.sqrt(2) / (n * e) | That is the standard deviation of the noise; the scale b is asked for.
1 / (n * e) ** 2 | That is a square too much: the scale is in the units of the average.
1 / (n * e * e) | Epsilon is in it once too often: in the density, b and epsilon are in an exponent.
1 / (n * n * e) | n is in it once too often: how far can one of n gains move their average?
1 / (math.sqrt(n) * e) | A square root of n is right for what varies by chance; here one gain changes.
2 / (n * e) | It is private, but with twice the noise needed: gains lie in [0, 1], not in [-1, 1].
""",
)
DRAWS: Final = 5_000
SETTINGS: Final = (
    (1.0, (0.0, 1.0, 1.0, 0.5)),
    (0.2, (1.0, 0.4)),
    (2.0, (0.3, 0.4)),
    (1.0, (0.5, 0.5, 0.5)),
    (0.5, (0.0, 0.0)),
    (2.0, (1.0,)),
)
"""Epsilons and gains for `DRAWS` calls of the release each; in the last three all gains are equal."""
FAR, APART, REACH = 0.08, 0.035, 6.0
"""How far the mean size of noise, as a share, and its distribution may be from Laplace's; how many scales the largest
of `DRAWS` draws has to reach."""
FAR_OUT: Final = 30.0
"""Draws of `rng.laplace`, in scales, that are handed out to see whether they come through: chance has none so large."""


def noise_scale(n: int, epsilon: float) -> float:
    """Return the right scale."""
    return 1 / (n * epsilon)


@graded
def check_noise_scale(answer: Any, *, seed: int | None = None) -> str:
    """Check the scale of Laplace noise on an average of n gains, 1 / (n epsilon). No false alarms."""
    check_formula(
        answer,
        noise_scale,
        CASES,
        lambda rng: (some_number(rng, 2, 500), some_epsilon(rng)),
        seed,
        known_mistakes=MISTAKES,
        wrong="For n = {0} and epsilon = {1:g} your scale of {answer:g} is {side}.",
        sides=("too small: the release would not be private", "larger than needed"),
        what="The scale",
        rounded="Rounded down, it is not private.",
        partly=(
            (
                lambda n, e: e == 1,
                "It is right for epsilon = 1, and not for others: what does epsilon do to the noise?",
            ),
            (lambda n, e: n == 1, "It is right for a single gain, and not for averages of several."),
        ),
    )
    return (
        "One of n gains moves the average by at most 1 / n, and a draw of scale b that can be moved by that much loses"
        " 1 / (n b)."
    )


def drawn_settings(rng: np.random.Generator) -> list[tuple[float, tuple[float, ...]]]:
    """Return one known setting, which tells an average from a median, and others; the last three have equal gains."""
    gains = [np.round(rng.uniform(0, 1, size), 3) for size in rng.integers(2, 9, 2)]
    gains += [np.full(rng.integers(1, 5), gain) for gain in (0.5, 0.0, 1.0)]
    return [SETTINGS[0], *((some_epsilon(rng), tuple(each.tolist())) for each in gains)]


@graded
def check_release(release: Any, *, seed: int | None = None) -> str:
    """Check by its draws that a release is the average with Laplace noise of scale 1 / (n epsilon).

    In each of six settings, of 5,000 draws of noise x:

    - The mean of |x| / b is within 8 % of 1: it is a sum of 5,000 exponential variables, and by Chernoff's bound,
      P(beyond a share r above) <= exp(-5000 (r - ln(1 + r))) < 2.6e-7, and below is less likely.
    - The distribution of x / b is within .035 of Laplace's everywhere: by the inequality of Dvoretzky, Kiefer,
      Wolfowitz and Massart, P(beyond) <= 2 exp(-2 5000 .035^2) < 9.6e-6.
    - The largest |x| / b reaches 6, so that noise cut at 4 or 5 scales is found: P(not) = (1 - e^-6)^5000 < 4.2e-6.
    - No release occurs more than twice and also two times as often as any other, so that noise left out in one call of
      a thousand is found: P(yes) < 2e-7 however releases are rounded, from the counts of a grid's cells.

    A false alarm for a right solution: at most 8.5e-5 in all. Extreme draws of `rng.laplace`, which must reach the
    release, are scripted. Releases rounded to two or more digits are as private, and accepted: their distribution is
    compared half way between two values, where rounding has no effect.

    Args:
        release: The student's function of gains, epsilon and rng.
        seed: The seed of the settings and of its random numbers; None for `SETTINGS`, and the seed 0.
    """
    for epsilon, gains in SETTINGS if seed is None else drawn_settings(np.random.default_rng(seed)):
        at = f"With the gains {list(gains)} at epsilon = {epsilon:g}"
        noise, half = draws(release, np.array(gains), epsilon, seed or 0, at)
        scale = 1 / (len(gains) * epsilon)
        size = float(np.abs(noise).mean()) / scale
        # A mean of 5,000 draws has a standard error of sqrt(2 / 5000) = .02 scales; .15 are more than seven of them.
        if abs(away := float(noise.mean()) / (size * scale)) > 0.15:
            side = "above" if away > 0 else "below"
            raise WrongAnswer(
                f"{at}, the releases are {side} the average on average: is it the average of the gains, and is the"
                " noise on both sides?"
            )
        sized = abs(size - 1) <= FAR
        if sized and distance_from_laplace(noise / scale, half / scale) <= APART:
            if (reach := float(np.abs(noise).max()) / scale) < REACH:
                raise WrongAnswer(f"{at}, the noise is cut off at {reach:.2g} times its scale. {NO_END}")
            check_far_out(release, np.array(gains), epsilon, at)
            continue
        if depends_on_gains(release, np.array(gains), epsilon, seed or 0, half):
            raise WrongAnswer(
                f"{at}, the noise depends on the gains: from equal rngs, other gains get other noise. Then its size"
                " gives the gains away; it may depend on n and epsilon only."
            )
        if distance_from_laplace(noise / (size * scale), half / (size * scale)) > APART:
            raise WrongAnswer(
                f"{at}, the noise {'has the right mean size, but' * sized or 'has'} another distribution than Laplace"
                " noise. Noise of another shape may lose more than epsilon, as normal noise does in its tails."
            )
        if size < 1:
            raise WrongAnswer(
                f"{at}, there is too little noise: {size:.2g} times what is needed. The release loses about"
                f" {epsilon / size:.2g} instead of {epsilon:g}."
            )
        hint = " You may have forgotten that one of n gains moves an average by less than a sum."
        hint *= math.isclose(size, len(gains), rel_tol=FAR)
        raise WrongAnswer(f"{at}, the noise is {size:.2g} times as large as it has to be.{hint}")
    return "It has the right mean, and noise of the right size and shape, at each epsilon tried."


def draws(release: Any, gains: FloatArray, epsilon: float, seed: int, at: str) -> tuple[FloatArray, float]:
    """Return the noise of many releases, and half a unit of their last rounded digit, or 0.

    Two releases from equal generators must be equal; others rarely are.
    """
    first, second = (number(call(release, gains, epsilon, np.random.default_rng(seed)), "A release") for _ in range(2))
    if first != second:
        raise WrongAnswer("Two releases from the same rng differ: take all random numbers from rng.")
    rng = np.random.default_rng(seed)
    released = np.array([number(call(release, gains, epsilon, rng), "A release") for _ in range(DRAWS)])
    if np.ptp(released) == 0:
        where = "has no noise" if math.isclose(released[0], gains.mean()) else "is always the same number"
        raise WrongAnswer(f"{at}, the release {where}. What may an attacker learn who knows all gains but one?")
    for end in (released.min(), released.max()):
        if end % 0.5 == 0 and (released == end).sum() > 9:
            raise WrongAnswer(f"Releases are cut at {end:g}. {PRIVATE_BUT_WRONG}")
    second, most = np.sort(np.unique(released, return_counts=True)[1])[-2:]
    if most > 2 * second + 2:
        raise WrongAnswer(
            f"{at}, {most} of {DRAWS:,} releases are the very same number: was the noise left out? Noise that is"
            " missing in some calls protects nobody in these."
        )
    rounded = (digits for digits in range(7) if np.allclose(released, released.round(digits), rtol=0, atol=1e-12))
    half = 10.0 ** -next(rounded, math.inf) / 2
    if half > 0.005:
        raise WrongAnswer("Releases are rounded to tenths or more. That stays private, but leave two digits at least.")
    return np.asarray(released - gains.mean(), dtype=float), half


PRIVATE_BUT_WRONG: Final = "That stays private, but is wrong on average: leave them uncut."
NO_END: Final = (
    "Then there are releases that one value of a gain makes possible and another one does not, and no epsilon covers"
    " that. Laplace noise has no end."
)


def check_far_out(release: Any, gains: FloatArray, epsilon: float, at: str) -> None:
    """Refuse noise that is cut far out, if it uses `rng.laplace`."""
    for draw in (FAR_OUT, -FAR_OUT):
        # Zeros come after it, for those who draw again until it is small.
        try:
            end, other = (
                number(call(release, data, epsilon, ScriptedDraws([draw] * 100))) for data in (gains, 1 - gains / 2)
            )
        except WrongAnswer:
            return  # it gets its noise in another way
        if abs(size := (end - float(gains.mean())) * len(gains) * epsilon) < 0.9 * FAR_OUT:
            if end == other:
                raise WrongAnswer(f"Releases are cut at {end:g}. {PRIVATE_BUT_WRONG}")
            raise WrongAnswer(
                f"{at}, the noise is cut off: a draw of {draw:g} times the scale comes out as {size:.2g} times."
                f" {NO_END}"
            )


def depends_on_gains(release: Any, gains: FloatArray, epsilon: float, seed: int, half: float) -> bool:
    """Return whether equal generators give other noise for as many other gains, rounded or not, in a wrong release."""
    noise = [
        number(call(release, other, epsilon, np.random.default_rng(seed)), "A release") - float(other.mean())
        for other in (gains, gains / 2, 1 - gains)
    ]
    return not np.allclose(noise, noise[0], rtol=1e-6, atol=1e-9 + 2 * half)


def distance_from_laplace(noise: FloatArray, half: float = 0.0) -> float:
    """Return the largest distance between the distribution of draws and Laplace noise of scale 1.

    For rounded draws, only values half way between two of them are compared, at distance `half`.
    """

    def below(values: FloatArray) -> FloatArray:
        tail = np.exp(-np.abs(values)) / 2
        return np.where(values < 0, tail, 1 - tail)

    values, counts = np.unique(noise, return_counts=True)
    shares = np.concatenate([[0.0], np.cumsum(counts) / len(noise)])
    before, after = shares[:-1] - below(values - half), shares[1:] - below(values + half)
    return float(np.abs([before, after]).max())
