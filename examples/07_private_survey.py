"""A private survey
================

A question that nobody would answer in public: which private learner finds the best rule from secret answers?

6,366 women told a magazine in 1974 about their marriage, and whether they ever had an affair (Fair 1978). Here 78
simple rules guess each answer in turn, such as "yes, if she rates her marriage 3 or lower". Her answer shows which
rules were right (full information), and must not show in the rules that are used for others. The data come with
statsmodels: `pip install statsmodels`.
"""

import functools

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import fair

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.envs.experts_env import ExpertsEnv


def rules() -> tuple[list[str], np.ndarray]:
    """Return the rules in words, and whether each is right about each woman: 1 or 0, shape `(women, rules)`."""
    answers = fair.load_pandas().data
    secret = answers.pop("affairs").to_numpy() > 0
    guesses = {"nobody": np.zeros(len(secret), bool), "everybody": np.ones(len(secret), bool)}
    for question in answers:
        for limit in sorted(set(answers[question]))[:-1]:
            low = answers[question].to_numpy() <= limit
            guesses[f"{question} <= {limit:g}"], guesses[f"{question} > {limit:g}"] = low, ~low
    right = np.column_stack([guess == secret for guess in guesses.values()])
    return list(guesses), right.astype(float)


class Survey(Adversary):
    """One woman a round, in a new random order in each game; a rule gains 1 if it is right about her."""

    def __init__(self, right: np.ndarray) -> None:
        super().__init__(n_arms=right.shape[1], horizon=len(right))
        self.right = right

    def begin(self, rng: np.random.Generator) -> None:
        """Shuffle the women."""
        self.order, self.asked = rng.permutation(self.horizon), 0

    def next_gains(self, rounds: int) -> np.ndarray:
        """Return which rules are right about the next women."""
        self.asked += rounds
        return self.right[self.order[self.asked - rounds : self.asked]]


def draw(worse: dict[str, float]) -> None:
    """Draw how many more guesses are wrong than with the best rule."""
    _, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    bars = axes.barh(list(worse), list(worse.values()), color=["#7F7F7F", *["#0072B2"] * (len(worse) - 2), "#7F7F7F"])
    axes.bar_label(bars, fmt="{:,.0f}", padding=3)
    axes.set(xlabel="more wrong guesses than the best rule (grey: not private, and at random)")
    axes.margins(x=0.12)
    axes.invert_yaxis()


def main(trials: int = 40, epsilon: float = 1.0) -> dict[str, float]:
    """Play the survey with each learner; return the mean number of wrong guesses more than the best rule's."""
    names, right = rules()
    shares = right.mean(axis=0)
    print(f"{len(names)} rules; the best one is right about {shares.max():.1%}: {names[shares.argmax()]}")
    print(f"guessing 'nobody' is right about {shares[0]:.1%}, and a random rule about {shares.mean():.1%}\n")
    learners = {
        "no privacy": make_algorithm("Hedge"),
        "epochs (answers come in random order)": make_algorithm("DP-Epochs", epsilon=epsilon),
        "Gaussian sums": make_algorithm("DP-FTRL", epsilon=epsilon),
        "few draws": make_algorithm("Lazy-Hedge", epsilon=epsilon),
        "sums with noise in their own norm": make_algorithm(
            "AS-FTRL", epsilon=epsilon, counter="k-ary", noise="own-norm"
        ),
        "the paper's sums": make_algorithm("AS-FTRL", epsilon=epsilon),
        "a random rule each time": make_algorithm("Uniform"),
    }
    results = simulate(functools.partial(ExpertsEnv, gains=Survey(right)), learners, trials=trials)
    worse = {name: float(outcome.external_regret[:, -1].mean()) for name, outcome in results.items()}
    for name, more in worse.items():
        print(f"{name:38s} {more:6.0f} more wrong guesses; {results[name].guarantee.numbers()}")
    print("\nEpochs win because the women come in random order; against gains in the worst order they have no bound.")
    draw(worse)
    return worse


if __name__ == "__main__":
    main()
    plt.show()
