"""Lab 7, experts: games of Hedge with three kinds of noise, and checks of the noise and of the step of Hedge."""

import contextlib
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.course.checking import (
    MORE,
    WrongAnswer,
    agree,
    call,
    check_formula,
    graded,
    mistakes,
    numbers,
    some_epsilon,
    some_number,
)
from dp_bandit_envs.course.lab_counters import BY_WORDS, worst
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.simulation.results import Simulation
from dp_bandit_envs.wrappers import CounterSums

EXPERTS: Final = 10
TREE: Final = "binary tree"
BETTER: Final = "wide tree, joint noise"
ROUNDS: Final = "noise on rounds"
"""The names of the three private learners."""


def means(rounds: int) -> list[float]:
    """Return the experts' mean gains: the best is ahead by 2 sqrt(ln 10 / T), just detectable in T rounds."""
    half = math.sqrt(math.log(EXPERTS) / rounds)
    return [0.5 + half] + [0.5 - half] * (EXPERTS - 1)


def play_all(rounds: int, epsilon: float, trials: int) -> Simulation:
    """Return games of Hedge, without noise, with noise on sums from two trees, and with noise on rounds."""
    learners = [
        make_algorithm("Hedge"),
        make_algorithm("AS-FTRL", epsilon=epsilon, counter="binary", label=TREE),
        make_algorithm("AS-FTRL", epsilon=epsilon, counter="k-ary", noise="own-norm", label=BETTER),
        make_algorithm("Noisy-Hedge", epsilon=epsilon, label=ROUNDS),
    ]
    return played(learners, rounds, trials, seed=7)


def deviations(rounds: int) -> dict[str, float]:
    """Return the standard deviations of an expert's sum where it is noisiest, at epsilon = 1, in gains.

    A node's Laplace noise for ten gains is as wide as for ten items that all change together: 10 times the noise of lab
    4. Joint noise is a uniform point of a cube of half side R ~ Gamma(11, b), where b is the scale for a single gain.
      Its variance is E[R^2] / 3 = 44 b^2, compared with 2 b^2 for a Laplace draw.
    """
    binary, wide = (BY_WORDS[words] for words in ("binary tree", "tree with many children"))
    return {
        TREE: EXPERTS * worst(binary, rounds, 1.0),
        "wide tree": EXPERTS * worst(wide, rounds, 1.0),
        BETTER: math.sqrt((EXPERTS + 1) * (EXPERTS + 2) / 3 / 2) * worst(wide, rounds, 1.0),
        ROUNDS: EXPERTS * worst(BY_WORDS["noise on every item"], rounds, 1.0),
    }


def played(learners: list[Any], rounds: int, trials: int, seed: int) -> Simulation:
    """Return games of some learners."""
    return simulate(
        "DPBandit-Experts-v0",
        learners,
        horizon=rounds,
        trials=trials,
        env_kwargs={"means": means(rounds)},
        checkpoints=40,
        seed=seed,
    )


def last_regret(games: Simulation, name: str) -> float:
    """Return the mean pseudo-regret of a learner at the end."""
    regret = games[name].pseudo_regret
    assert regret is not None
    return float(regret[:, -1].mean())


def over_hedge(games: Simulation, name: str) -> float:
    """Return a learner's final regret over Hedge's."""
    return last_regret(games, name) / last_regret(games, "Hedge")


def play_own_step(probabilities: Callable[[FloatArray, float], Any]) -> Simulation:
    """Return ten games of 1,024 rounds of a student's step on private sums at epsilon = 10, of Hedge and of chance."""

    class OwnStep:
        feedback = "full"

        def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
            self.sums, self.rng = np.zeros(n_arms), rng
            self.rate = math.sqrt(8 * math.log(n_arms) / horizon)

        def select_arm(self) -> int:
            return int(self.rng.choice(len(self.sums), p=probabilities(self.sums, self.rate)))

        def update(self, arm: int, observation: Mapping[str, Any]) -> None:
            self.sums = observation["sum"]

    private = Algorithm(
        "your learner", OwnStep, lambda env: CounterSums(env, counter="k-ary", noise="own-norm", epsilon=10.0)
    )
    return played([private, "Hedge", "Uniform"], 1024, 10, seed=1)


SIZES: Final = ((10, 1.0), (10, 0.5), (4, 2.0), (2, 0.1), (100, 3.0))  # experts and epsilon
MISTAKES: Final = mistakes(
    "k, e",
    """\
k | This does not depend on epsilon: stronger privacy has to mean more noise.
k * e | This grows with epsilon. Which epsilon is the stronger promise, a small or a large one?
1 / e | That is enough for one published gain. How far can all gains of a round move together if it changes?
math.sqrt(k) / e | The square root is the L2 distance of two rounds, for normal noise. Laplace noise counts in L1.
2 * (k / e) ** 2 | That is the variance of the noise, which is 2 b^2; asked for is the scale b itself.
math.sqrt(2) * k / e | That is the standard deviation, which is sqrt(2) b; asked for is the scale b itself.
2 * k / e | That is private, but twice the noise that is needed: how far apart can two gains in [0, 1] be?
k / e ** 2 | Epsilon has entered twice: half the epsilon needs twice the noise, not four times.
""",
)


@graded
def check_noise_scale(noise_scale: Any, *, seed: int | None = None) -> str:
    """Check the scale of the Laplace noise on each gain of a round, K / epsilon. No false alarms."""
    check_formula(
        noise_scale,
        lambda k, e: k / e,
        SIZES,
        lambda rng: (some_number(rng, 2, 500), some_epsilon(rng)),
        seed,
        known_mistakes=MISTAKES,
        wrong="For {0} experts at epsilon {1:g} your scale {answer:.4g} is {side}. How far do the gains of a round move"
        " in L1 if the round changes?",
        sides=("less noise than epsilon allows, so that it is not private", "too much noise"),
        what="The scale",
        rounded="Rounded down, it is not private.",
        partly=((lambda k, e: e == 1, "It is right at epsilon = 1, but not at other epsilons."),),
    )
    return "All K gains of a round can move by 1 each, K in L1: with 10 experts at epsilon 1, noise of scale 10."


RATES: Final = (0.3, 0.05, 1.0)
SUMS: Final = ((1.0, 2.0, 4.0), (-3.0, 0.5), (10.0, 11.0, 9.0, 10.5, 7.0), (5.0, 5.0))
FAR: Final = ((5000.0, 5001.0, 4000.0), (-9000.0, -9001.0), (0.0, 20_000.0))


@graded
def check_probabilities(probabilities: Any, *, seed: int | None = None) -> str:
    """Check the step of exponential weights, exp(a S_i) / sum_j exp(a S_j), `(n_experts,)`, each to a relative 1e-6.

    Sums have either sign, and are as large as 20,000. No false alarms.
    """
    rng = np.random.default_rng(seed)
    for sums in (*SUMS, *(tuple(rng.normal(0, 6, size).tolist()) for size in rng.integers(2, 12, MORE))):
        for rate in RATES:
            answer = numbers(call(probabilities, np.array(sums), rate), (len(sums),), "The vector of probabilities")
            right = softmax(np.array(sums), rate)
            if not same(answer, right):
                raise WrongAnswer(wrong_step(np.array(sums), rate, answer, right))
    for sums in FAR:
        far = None
        with contextlib.suppress(WrongAnswer), np.errstate(all="ignore"):
            far = numbers(call(probabilities, np.array(sums), 1.0), (len(sums),))
        if far is None or not same(far, softmax(np.array(sums), 1.0)):
            raise WrongAnswer(
                f"With sums {list(sums)} and rate 1 the exponentials leave the range of floats. Which number may be"
                " taken from all sums without changing any probability?"
            )
    return "Only differences of sums matter, and noise may make sums negative or large: your step copes with all of it."


def wrong_step(sums: FloatArray, rate: float, answer: FloatArray, right: FloatArray) -> str:
    """Return the error in the probabilities for moderate sums."""
    case = f"For sums {sums.tolist()} and rate {rate:g}"
    if same(answer, softmax(sums, -rate)):
        return f"{case} the expert with the smallest sum is the likeliest. Sums are gains: more is better."
    if same(answer, softmax(sums, 1.0)):
        return f"{case} the rate changes nothing. A small rate must stay close to equal probabilities."
    if same(answer, (answer == answer.max()) * 1.0) and answer.sum() == 1:
        return (
            f"{case} you always take the leader. Which expert leads may change with one person's gains; the"
            " exponential makes its probability change a little instead."
        )
    if sums.sum() and same(answer, sums / sums.sum()):
        return f"{case} the probabilities follow the sums themselves, and are negative where a noisy sum is."
    if not math.isclose(answer.sum(), 1.0, abs_tol=1e-6):
        return f"{case} your probabilities add up to {answer.sum():.4g}, not to 1."
    if answer.min() < 0:
        return f"{case} a probability is negative: {answer.min():.4g}."
    return f"{case} the ratio of two probabilities is not e to the rate times the difference of their sums."


def softmax(sums: FloatArray, rate: float) -> FloatArray:
    """Return the right answer."""
    weights = np.exp(rate * sums - np.max(rate * sums))
    probabilities: FloatArray = weights / weights.sum()
    return probabilities


def same(answer: Any, right: Any) -> bool:
    """Return whether two answers agree; probabilities may be as small as 1e-9."""
    return agree(answer, right, absolute=1e-9)
