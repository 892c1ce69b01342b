"""Your own agent
==============

Twenty lines: three methods, no base class, and private inside a wrapper.
"""

import matplotlib.pyplot as plt
import numpy as np

from dp_bandit_envs import Algorithm, LaplaceClipRescale, make_algorithm, simulate


class EpsilonGreedy:
    """Plays the best released average, and any arm in one round of ten."""

    def begin(self, *, n_arms, horizon, rng):
        """Start a game."""
        self.sums, self.counts, self.rng = np.zeros(n_arms), np.zeros(n_arms), rng

    def select_arm(self):
        """Choose the next arm."""
        if self.rng.random() < 0.1 or not self.counts.all():
            return int(self.rng.integers(len(self.sums)))
        return int(np.argmax(self.sums / self.counts))

    def update(self, arm, observation):
        """Learn from what was released."""
        self.sums += observation["gain"]
        self.counts += observation["observed"]


def draw(results):
    """Draw the regret of every game, and its mean."""
    _, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    for colour, (name, outcome) in zip(("#0072B2", "#D55E00"), results.items(), strict=True):
        axes.plot(results.checkpoints, outcome.external_regret.T, color=colour, alpha=0.25)
        axes.plot(results.checkpoints, outcome.external_regret.mean(axis=0), color=colour, label=name)
    axes.set(xlabel="round", ylabel="external regret (gain)", title="Both behind the same noise, epsilon = 1")
    axes.legend()


def main(horizon: int = 20_000, seed: int = 0, trials: int = 5) -> float:
    """Compare it with EXP3, both behind the same noise; return its regret over that of EXP3."""
    private = Algorithm("EpsilonGreedy", EpsilonGreedy, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    exp3 = make_algorithm("DP-EXP3-Lap", epsilon=1.0)
    results = simulate("DPBandit-Stochastic-v0", [private, exp3], horizon=horizon, trials=trials, seed=seed)
    for name, outcome in results.items():
        print(f"{name:14s} regret {outcome.external_regret[:, -1].mean():7,.1f}   {outcome.guarantee}")
    bound = exp3.regret_bound(n_arms=4, horizon=horizon)
    print(f"theory promises DP-EXP3-Lap at most {bound:,.0f} on average, and EpsilonGreedy nothing")
    draw(results)
    return float(
        results["EpsilonGreedy"].external_regret[:, -1].mean() / results["DP-EXP3-Lap"].external_regret[:, -1].mean()
    )


if __name__ == "__main__":
    main()
    plt.show()
