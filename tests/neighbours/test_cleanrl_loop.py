"""A loop as in CleanRL: Gymnasium's own vector and statistics wrappers above, and REINFORCE on flat observations."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale

torch = pytest.importorskip("torch", reason="not installed; pip install 'dp-bandit-envs[sb3]'")

ARMS = 3


def make_env(index):
    def thunk():
        env = gym.make("DPBandit-Stochastic-v0", means=[0.05, 0.95, 0.05], horizon=200)
        env = LaplaceClipRescale(env, epsilon=20.0)
        env = gym.wrappers.FlattenObservation(env)
        env = gym.wrappers.RecordEpisodeStatistics(env)
        env.action_space.seed(index)
        return env

    return thunk


@pytest.mark.parametrize("kind", [gym.vector.SyncVectorEnv, gym.vector.AsyncVectorEnv])
def test_a_policy_learns_and_returns_are_those_of_released_rewards(kind):
    """The share of arm 1 rises from a third to above 0.7; the seed is fixed."""
    torch.manual_seed(0)
    envs = kind([make_env(index) for index in range(4)])
    weights = torch.zeros(2 * ARMS + 1, ARMS, requires_grad=True)
    optimiser = torch.optim.Adam([weights], lr=0.05)
    observations, _ = envs.reset(seed=1)
    returns, running, chosen = [], np.zeros(4), []
    for _ in range(3 * 201):
        inputs = torch.cat([torch.tensor(observations, dtype=torch.float32), torch.ones(4, 1)], dim=1)
        policy = torch.distributions.Categorical(logits=inputs @ weights)
        actions = policy.sample()
        observations, rewards, terminations, truncations, infos = envs.step(actions.numpy())
        loss = -(policy.log_prob(actions) * (torch.tensor(rewards, dtype=torch.float32) - 0.4)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        running += rewards
        chosen.append((actions == 1).float().mean().item())
        if terminations.all():
            assert not truncations.any()
            np.testing.assert_allclose(infos["episode"]["r"], running, rtol=1e-5)
            assert infos["episode"]["l"].tolist() == [200] * 4
            returns.append(running.mean())
            running[:] = 0.0
    envs.close()
    assert len(returns) == 3
    assert np.mean(chosen[-100:]) > 0.7
