"""TorchRL's `GymEnv(id)`, with ids of games and of private games."""

import warnings

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import register_private
from tests.tools.boundary_games import PLANTED, find_planted

TABLE = np.full((6, 3), PLANTED)


@pytest.fixture(scope="module")
def envs():
    """Return its environments; not imported above, as every worker that collects tests would take seconds for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its libraries warn of each other
        return pytest.importorskip("torchrl.envs", reason="not installed; pip install -c constraints.txt torchrl")


@pytest.fixture
def private_id():
    id_ = register_private(
        "PrivateTable-v0",
        game="DPBandit-Replay-v0",
        wrappers=["LaplaceClipRescale"],
        epsilon=1.0,
        env_kwargs={"gains": TABLE},
    )
    yield id_
    gym.registry.pop(id_)


def test_a_private_game_is_played_by_its_id_and_shows_released_values_only(envs, private_id):
    env = envs.GymEnv(private_id)
    env.set_seed(3)
    played = env.rollout(20)
    assert played.batch_size == (6,)
    assert not list(find_planted(played["next", "gain"].numpy()))
    assert not np.isclose(played["next", "reward"].numpy(), PLANTED, rtol=1e-6).any()
    assert played["next", "observed"].sum() > 0
