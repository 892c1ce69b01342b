"""What the first gains of a process cost: no Numba for a short game, and none at all if it is switched off."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from dp_bandit_envs.adversaries import SwitchingCost
from dp_bandit_envs.envs.bandit_env import FIRST_BLOCK, BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.seeding import ADVERSARY, stream

SHORT = """
import gymnasium as gym, dp_bandit_envs, sys
for id_ in ("Stochastic", "Switching", "Oblivious"):
    env = gym.make(f"DPBandit-{id_}-v0")
    env.reset(seed=1)
    for t in range(100):
        env.step(t % 4)
print("numba" in sys.modules)
"""
LONG = """
import hashlib, sys
from dp_bandit_envs.adversaries import SwitchingCost, round_by_round
from dp_bandit_envs.envs.bandit_env import FIRST_BLOCK
from dp_bandit_envs.seeding import ADVERSARY, stream
round_by_round.SECONDS_TO_IMPORT = round_by_round.SECONDS_TO_COMPILE = 0.0
adversary = SwitchingCost(4, 3000)
adversary.begin(stream(2, role=ADVERSARY))
print(hashlib.sha256(adversary.next_gains(3000).tobytes()).hexdigest())
print(len(round_by_round.filler(SwitchingCost.next_round)._compiled))
"""


def run(program, **variables):
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **variables}, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_short_game_does_not_load_numba():
    assert run(SHORT) == ["False"]


@pytest.mark.parametrize(("switch", "compiled"), [("0", "1"), ("1", "0")])
def test_gains_are_the_same_with_numba_switched_off(switch, compiled):
    adversary = SwitchingCost(4, 3000)
    adversary.begin(stream(2, role=ADVERSARY))
    expected = hashlib.sha256(adversary.next_gains(3000).tobytes()).hexdigest()
    assert run(LONG, NUMBA_DISABLE_JIT=switch) == [expected, compiled]


class Counted(SwitchingCost):
    """Counts the rounds that are drawn."""

    drawn = 0

    def next_gains(self, rounds):
        """Return gains."""
        Counted.drawn += rounds
        return super().next_gains(rounds)


@pytest.mark.parametrize("many", [False, True])
def test_a_game_draws_at_most_four_times_what_it_plays(many):
    Counted.drawn = 0
    adversary = Counted(2, 100_000)
    env = BanditVectorEnv(1, adversary) if many else BanditEnv(adversary)
    env.reset(seed=0)
    for t in range(1, 9000):
        env.step(np.zeros(1, np.int64) if many else 0)
        assert t <= Counted.drawn <= max(FIRST_BLOCK, 4 * t)


def test_a_block_length_is_a_limit():
    Counted.drawn = 0
    env = BanditEnv(Counted(2, 50), block_length=7)
    env.reset(seed=0)
    for t in range(1, 51):
        env.step(0)
        assert Counted.drawn == min(-(-t // 7) * 7, 50)
