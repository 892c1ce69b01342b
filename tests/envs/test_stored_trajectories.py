"""A stored game for each id: while an id ends on -v0, seed 0 and these arms give these gains.

If a change is meant to give other gains, the ids become -v1. To store a new id, run this file as a program: it
writes the games that are missing and leaves the others alone.
"""

import hashlib
import json
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.envs.registration import IDS
from tests.tools.plays import play

STORED = Path(__file__).with_name("trajectories.json")
ROUNDS = 1000
ARMS = [t // 5 % 4 for t in range(ROUNDS)]


def trajectory(id_):
    """Play ROUNDS rounds of seed 0: a few numbers to look at, and what identifies all of them.

    Gains are rounded to nine digits before they are hashed, so that another libm cannot change the answer.
    """
    env = gym.make(id_).unwrapped
    env.reset(seed=0)
    tables = []
    env.on_block = lambda arms, gains, table: tables.append(table.copy())
    rewards = [env.step(play(env, arm))[1] for arm in ARMS]
    env.report_block()
    table = np.concatenate(tables)
    digits = hashlib.sha256(np.round(np.column_stack([table, rewards]), 9).astype("<f8").tobytes())
    return {
        "gains of round 1": np.round(table[0], 9).tolist(),
        "gains of round 1000": np.round(table[-1], 9).tolist(),
        "sum of gains": np.round(table.sum(axis=0), 6).tolist(),
        "collected": round(env.collected, 6),
        "sha256": digits.hexdigest(),
    }


@pytest.mark.thorough
def test_seed_0_still_gives_the_stored_gains():
    for id_ in IDS:
        assert trajectory(id_) == json.loads(STORED.read_text(encoding="utf-8"))[id_]


def test_no_stored_id_has_disappeared():
    assert set(json.loads(STORED.read_text(encoding="utf-8"))) <= set(IDS)


def store_missing_trajectories():
    """Add the ids that are not stored yet; never rewrite one that is."""
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    stored |= {id_: trajectory(id_) for id_ in IDS if id_ not in stored}
    games = [f"{json.dumps(id_)}: {json.dumps(game)}" for id_, game in stored.items()]
    STORED.write_text("{\n" + ",\n".join(games) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    store_missing_trajectories()
