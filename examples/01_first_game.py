"""A first game
============

An agent that knows nothing against coins that hide a better arm.
"""

import gymnasium as gym
import numpy as np

import dp_bandit_envs  # noqa: F401  (registers the environments)
from dp_bandit_envs.agents import Exp3


def main(horizon: int = 20_000, seed: int = 0) -> float:
    """Play one game and return the agent's regret over its bound."""
    env = gym.make("DPBandit-Stochastic-v0", n_arms=4, horizon=horizon)
    agent = Exp3()
    agent.begin(n_arms=4, horizon=horizon, rng=np.random.default_rng(seed))

    env.reset(seed=seed)
    terminated = False
    while not terminated:
        arm = agent.select_arm()
        observation, _reward, terminated, _truncated, _info = env.step(arm)
        agent.update(arm, observation)

    regret = env.unwrapped.external_regret()
    bound = 2 * np.sqrt((np.e - 1) * horizon * 4 * np.log(4))
    print(f"collected {env.unwrapped.collected:,.0f} in {horizon:,} rounds")
    print(f"external regret {regret:,.1f}; theory promises at most {bound:,.1f} on average")
    return float(regret / bound)


if __name__ == "__main__":
    main()
