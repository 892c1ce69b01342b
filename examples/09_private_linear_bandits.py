"""Private linear bandits
======================

What does privacy cost where arms have public features?

Arms with public features: a gain of one arm says something of all. AS-EXP2 adds noise to every gain, DP-GOPE and
AdaC-GOPE once to each arm's sum of a batch, which they divide by an optimal design of the features. Regret against
epsilon, and against the number of arms.
"""

from collections.abc import Sequence

import gymnasium as gym
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from dp_bandit_envs import Algorithm, make_algorithm, simulate

GAME = "DPBandit-Linear-v0"
NAMES = ("DP-GOPE", "AdaC-GOPE", "AS-EXP2")
EPSILONS = (0.1, 0.3, 1.0, 3.0)
ARMS = (10, 30, 100, 300)


def regrets(
    algorithms: dict[str, Algorithm], n_arms: int, horizon: int, trials: int, seed: int
) -> dict[str, np.ndarray]:
    """Return the regret of each game, by algorithm."""
    game = {"n_arms": n_arms, "dimension": 3, "coins": True, "gap": 0.8}
    outcome = simulate(GAME, algorithms, horizon=horizon, trials=trials, seed=seed, checkpoints=1, env_kwargs=game)
    return {name: outcome[name].external_regret[:, -1] for name in algorithms}


def draw(axes: Axes, places: Sequence[float], outcomes: list[dict[str, np.ndarray]], label: str, horizon: int) -> None:
    """Draw mean and standard error of each algorithm."""
    for name in outcomes[0]:
        means = np.array([each[name].mean() for each in outcomes])
        errors = [each[name].std(ddof=1) / len(each[name]) ** 0.5 for each in outcomes]
        axes.errorbar(places, means / horizon, np.array(errors) / horizon, marker="o", capsize=2, label=name)
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="regret / T")


def main(horizon: int = 2**16, trials: int = 16, seed: int = 0) -> tuple[float, float]:
    """Play, draw, and return the regret of DP-GOPE at epsilon = 1 over its bound, and over that of AS-EXP2."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    by_epsilon = []
    for epsilon in EPSILONS:
        private = {name: make_algorithm(name, epsilon=epsilon) for name in NAMES}
        by_epsilon.append(regrets({"GOPE": make_algorithm("GOPE"), **private}, 10, horizon, trials, seed))
    draw(left, EPSILONS, by_epsilon, "epsilon (10 arms)", horizon)
    private = {name: make_algorithm(name, epsilon=1.0) for name in NAMES}
    players = {"GOPE": make_algorithm("GOPE"), **private}
    draw(right, ARMS, [regrets(players, k, horizon, trials, seed) for k in ARMS], "arms (epsilon = 1)", horizon)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)

    at_one = by_epsilon[EPSILONS.index(1.0)]
    game = gym.make(GAME, horizon=horizon, n_arms=10, dimension=3, coins=True, gap=0.8)
    bound = private["DP-GOPE"].regret_bound_in(game)
    regret, other = at_one["DP-GOPE"].mean(), at_one["AS-EXP2"].mean()
    print(f"At epsilon = 1 DP-GOPE's regret is {regret:.0f}, where theory promises at most {bound:.0f};", end=" ")
    print(f"that of AS-EXP2 is {other:.0f}.")
    return float(regret / bound), float(regret / other)


if __name__ == "__main__":
    main()
    plt.show()
