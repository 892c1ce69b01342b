"""Best arm identification
=======================

How many samples does it take to know the best arm, at epsilon?

Top-Two stops when it knows the best arm, up to a failure probability of 1 %. Its private forms stop later: the figure
shows the rounds until the stop against epsilon, beside what no algorithm can beat. The central model has two regimes:
below some epsilon privacy costs the samples (dotted line, by total variation), above it chance does (dashed line, by
the Kullback-Leibler divergence).
"""

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.theory.identification_bounds import (
    characteristic_time,
    identification_lower_bound,
    total_variation_time,
)

MEANS, BETA = (0.3, 0.8, 0.5), 0.01
CENTRAL, LOCAL = ("AdaP-TT", "DP-TT"), ("CTB-TT",)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def samples(name: str, epsilon: float, trials: int, seed: int) -> tuple[float, float]:
    """Return mean and standard error of the rounds until an algorithm stops, and check that it did."""
    algorithm = make_algorithm(name, epsilon=epsilon, failure_probability=BETA)
    least = algorithm.sample_lower_bound(means=MEANS)
    horizon = 2 ** math.ceil(math.log2(100 * least))
    game = f"Stochastic:means={list(MEANS)}".replace(" ", "")
    outcome = simulate(game, [algorithm], horizon=horizon, trials=trials, seed=seed, checkpoints=1)[name]
    rounds = outcome.last("rounds_until_stop")
    assert rounds.max() < horizon, (name, epsilon)
    assert outcome.last("error").mean() <= BETA
    return float(rounds.mean()), float(rounds.std(ddof=1) / math.sqrt(trials))


def draw(axes: Axes, names: Sequence[str], epsilons: Sequence[float], trials: int, seed: int) -> dict[str, np.ndarray]:
    """Draw the samples of some algorithms, and Top-Two's without privacy; return the means by name."""
    means = {}
    for name in names:
        rounds, errors = np.array([samples(name, epsilon, trials, seed) for epsilon in epsilons]).T
        axes.errorbar(epsilons, rounds, 2 * errors, marker="o", capsize=2, label=name)
        means[name] = rounds
    free = simulate("Stochastic:means=[0.3,0.8,0.5]", ["Top-Two"], horizon=2**14, trials=trials, seed=seed)["Top-Two"]
    axes.axhline(free.last("rounds_until_stop").mean(), color="grey", label="Top-Two, not private")
    axes.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="rounds until stop")
    return means


def main(epsilons: Sequence[float] = EPSILONS, trials: int = 100, seed: int = 0) -> dict[str, np.ndarray]:
    """Play, draw, and return by name the samples over the lower bound, at each epsilon."""
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
    central = draw(left, CENTRAL, epsilons, trials, seed)
    # The weakest answers take so many rounds that the plot would end in minutes of play.
    local_epsilons = [epsilon for epsilon in epsilons if epsilon >= 0.3]
    local = draw(right, LOCAL, local_epsilons, trials, seed)

    nats = identification_lower_bound(MEANS, BETA) / characteristic_time(MEANS)
    private = [identification_lower_bound(MEANS, BETA, epsilon) for epsilon in epsilons]
    answers = [identification_lower_bound(MEANS, BETA, epsilon, model="local") for epsilon in local_epsilons]
    left.plot(epsilons, private, color="black", label="lower bound")
    left.plot(epsilons, total_variation_time(MEANS) * nats / np.array(epsilons), ":k", label="by total variation")
    right.plot(local_epsilons, answers, color="black", label="lower bound")
    for axes, title in ((left, "central model"), (right, "local model")):
        axes.axhline(characteristic_time(MEANS) * nats, color="black", linestyle="--", label="by Kullback-Leibler")
        axes.set_title(f"{title}, {BETA:.0%} failures")
        axes.legend(fontsize=7)

    ratios = {name: rounds / np.array(private) for name, rounds in central.items()}
    ratios["CTB-TT"] = local["CTB-TT"] / np.array(answers)
    told = ", ".join(f"{name} {ratio[-1]:.1f}" for name, ratio in ratios.items())
    print(f"Samples at epsilon = {epsilons[-1]:g}, over what theory says that no algorithm can beat: {told}.")
    return ratios


if __name__ == "__main__":
    main()
    plt.show()
