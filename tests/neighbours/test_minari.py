"""Minari's `DataCollector`, which records games: behind a boundary, what is released and nothing else."""

import gc
import warnings

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale
from tests.tools.boundary_games import PLANTED, find_planted, game
from tests.tools.refusals import refused

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its libraries warn of each other
    minari = pytest.importorskip("minari", reason="not installed; pip install 'dp-bandit-envs[neighbours]'")
    pytest.importorskip("jax", reason="Minari collects with it; pip install 'dp-bandit-envs[neighbours]'")

# Minari leaves its temporary folders to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
TABLE = np.full((12, 3), PLANTED)


@pytest.fixture(autouse=True)
def collected():
    """Let these folders go while their warnings are ignored."""
    yield
    gc.collect()


def recorded(env, folder, monkeypatch, games=2):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder))
    collector = minari.DataCollector(env, record_infos=True)
    for number in range(games):
        collector.reset(seed=number)
        ended = False
        while not ended:
            ended = collector.step(1)[2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the data set has no author, and so on
        dataset = collector.create_dataset(dataset_id="bandits/recorded-v0", algorithm_name="arm 1")
    collector.close()
    return dataset


@pytest.mark.thorough
def test_a_private_game_is_recorded_as_it_was_released(tmp_path, monkeypatch):
    dataset = recorded(LaplaceClipRescale(game(TABLE), epsilon=1.0), tmp_path, monkeypatch)
    env = LaplaceClipRescale(game(TABLE), epsilon=1.0)
    for number, episode in enumerate(minari.load_dataset("bandits/recorded-v0").iterate_episodes()):
        env.reset(seed=number)
        released = [env.step(1) for _ in range(12)]
        assert episode.rewards.tolist() == [step[1] for step in released]
        assert episode.observations["gain"][1:].tolist() == [step[0]["gain"].tolist() for step in released]
        assert episode.actions.tolist() == [1] * 12 and episode.terminations.tolist() == [False] * 11 + [True]
        assert episode.infos["round"].tolist() == list(range(13))
        assert not list(find_planted([episode.rewards, episode.observations, episode.infos]))
    assert dataset.total_episodes == 2 and dataset.total_steps == 24


@pytest.mark.thorough
def test_no_file_of_it_has_a_private_gain(tmp_path, monkeypatch):
    """Searched for the bytes of the planted number in both widths, and for its digits."""
    recorded(LaplaceClipRescale(game(TABLE), epsilon=1.0), tmp_path / "private", monkeypatch)
    recorded(game(TABLE), tmp_path / "bare", monkeypatch)
    marks = (np.float64(PLANTED).tobytes(), np.float32(PLANTED).tobytes(), repr(PLANTED)[:9].encode())
    found = {
        name: [
            path.name
            for path in (tmp_path / name).rglob("*")
            if path.is_file() and any(m in path.read_bytes() for m in marks)
        ]
        for name in ("private", "bare")
    }
    assert found["private"] == [] and found["bare"]


@pytest.mark.thorough
def test_a_collector_below_a_boundary_is_refused(tmp_path, monkeypatch):
    """It would write true gains to the disk."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    collector = minari.DataCollector(game(TABLE))
    with refused(TypeError, "DataCollector", "above"):
        LaplaceClipRescale(collector, epsilon=1.0)
    collector.close()


@pytest.mark.thorough
def test_the_environment_of_a_dataset_has_no_arguments(tmp_path, monkeypatch):
    """Arguments may be private gains: the specification that is stored is the boundary's public one."""
    env = LaplaceClipRescale(gym.make("DPBandit-Replay-v0", gains=TABLE), epsilon=1.0)
    dataset = recorded(env, tmp_path, monkeypatch)
    assert "0.1234567" not in str(dataset.storage.metadata) and not list(find_planted(dataset.spec.env_spec))
