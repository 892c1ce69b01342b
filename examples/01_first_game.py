"""A first game
============

An agent that knows nothing against coins that hide a better arm.
"""

import gymnasium as gym
import matplotlib.pyplot as plt
import numpy as np

import dp_bandit_envs  # noqa: F401  (registers the environments)
from dp_bandit_envs.agents import Exp3


def draw(arms: list[int], means: np.ndarray) -> None:
    """Draw how often each arm was played, in blocks of rounds."""
    blocks = np.array_split(np.array(arms), 100)
    rounds = np.cumsum([len(block) for block in blocks])
    _, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    for arm, mean in enumerate(means):
        axes.plot(rounds, [(block == arm).mean() for block in blocks], label=f"arm {arm}, pays {mean:.2f} on average")
    axes.set(xlabel="round", ylabel="share of plays", ylim=(0, 1), title="EXP3 finds the better arm")
    axes.legend()


def main(horizon: int = 20_000, seed: int = 0) -> float:
    """Play one game and return the agent's regret over its bound."""
    env = gym.make("DPBandit-Stochastic-v0", n_arms=4, horizon=horizon)
    agent = Exp3()
    agent.begin(n_arms=4, horizon=horizon, rng=np.random.default_rng(seed))

    env.reset(seed=seed)
    arms, terminated = [], False
    while not terminated:
        arm = agent.select_arm()
        arms.append(arm)
        observation, _reward, terminated, _truncated, _info = env.step(arm)
        agent.update(arm, observation)

    regret = env.unwrapped.external_regret()
    bound = 2 * np.sqrt((np.e - 1) * horizon * 4 * np.log(4))
    print(f"collected {env.unwrapped.collected:,.0f} in {horizon:,} rounds")
    print(f"external regret {regret:,.1f}; theory promises at most {bound:,.1f} on average")
    draw(arms, env.unwrapped.adversary.means)
    return float(regret / bound)


if __name__ == "__main__":
    main()
    plt.show()
