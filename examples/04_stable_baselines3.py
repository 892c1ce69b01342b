"""Stable-Baselines3
=================

An agent trained through the privacy boundary: it never sees a gain without noise.
"""

import gymnasium as gym
import matplotlib.pyplot as plt
from stable_baselines3 import A2C

from dp_bandit_envs import LaplaceClipRescale, play
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.agents.stable_baselines3 import Sb3Agent
from dp_bandit_envs.simulation import Game

MEANS = [0.2, 0.2, 0.9, 0.2]


def private_env(horizon: int) -> gym.Env:
    """Make the game behind Laplace noise."""
    return LaplaceClipRescale(gym.make("DPBandit-Stochastic-v0", means=MEANS, horizon=horizon), epsilon=2.0)


def draw(trained: Game, chance: Game) -> None:
    """Draw the regret of both games."""
    _, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    axes.plot(chance.pseudo_regret, label="arms at random")
    axes.plot(trained.pseudo_regret, label="the trained model")
    axes.set(xlabel="round", ylabel="pseudo-regret (gain)", title="One game behind Laplace noise, epsilon = 2")
    axes.legend()


def main(horizon: int = 500, seed: int = 0, steps: int = 10_000) -> float:
    """Train, then play one game; return the share of rounds in which the best arm was played."""
    model = A2C("MultiInputPolicy", private_env(horizon), gamma=0.0, ent_coef=0.0, learning_rate=0.005, seed=seed)
    model.learn(steps)

    env = private_env(horizon)
    game = play(env, Sb3Agent(model), seed=seed)
    share = float((game.arms == 2).mean())
    print(f"guarantee of every game played: {env.guarantee}")
    print(f"best arm played in {share:.0%} of {horizon} rounds; before training it was about 25%")
    draw(game, play(private_env(horizon), Uniform(), seed=seed))
    return share


if __name__ == "__main__":
    main()
    plt.show()
