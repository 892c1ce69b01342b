"""Many games at once
==================

A model of Stable-Baselines3 trains on 64 private games at once, played as arrays.
"""

from typing import Any

import gymnasium as gym
import matplotlib.pyplot as plt
import numpy as np
from stable_baselines3 import A2C

import dp_bandit_envs  # noqa: F401  (registers the environments)
from dp_bandit_envs.agents.stable_baselines3 import Sb3VecEnv
from dp_bandit_envs.wrappers.vector import LaplaceClipRescale

MEANS = [0.2, 0.2, 0.9, 0.2]


def private_envs(games: int, horizon: int) -> gym.vector.VectorEnv:
    """Make the games, each with its own Laplace noise."""
    envs = gym.make_vec("DPBandit-Stochastic-v0", num_envs=games, means=MEANS, horizon=horizon)
    return LaplaceClipRescale(envs, epsilon=2.0)


def draw(training: list[float]) -> None:
    """Draw the share of games that played the best arm, in each step of training."""
    _, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    axes.plot(range(1, len(training) + 1), training)
    axes.axhline(1 / len(MEANS), color="black", linestyle=":")
    axes.set(xlabel="step of training", ylabel="games on the best arm", ylim=(0, 1.05), title="Dotted: arms at random")
    axes.set_xscale("log")


def main(horizon: int = 500, seed: int = 0, steps: int = 64_000, games: int = 64) -> float:
    """Train, then play all games once; return the share of rounds in which the best arm was played."""
    training = Sb3VecEnv(private_envs(games, horizon))
    model = A2C("MultiInputPolicy", training, gamma=0.0, ent_coef=0.0, learning_rate=0.005, seed=seed)
    shares: list[float] = []

    def on_step(seen: dict[str, Any], _: dict[str, Any]) -> bool:
        shares.append(float((seen["actions"] == 2).mean()))
        return True

    model.learn(steps, callback=on_step)

    envs = private_envs(games, horizon)
    observation, _ = envs.reset(seed=seed)
    best = []
    for _ in range(horizon):
        arms, _ = model.predict(observation)
        observation, _, _, _, _ = envs.step(arms)
        best.append((arms == 2).mean())
    regret = envs.unwrapped.external_regret()
    print(f"mean regret of {games} games {regret.mean():,.1f}; uniform play would have {0.75 * 0.7 * horizon:,.1f}")
    print(f"best arm played in {np.mean(best):.0%} of all rounds; before training it was about 25%")
    draw(shares)
    return float(np.mean(best))


if __name__ == "__main__":
    main()
    plt.show()
