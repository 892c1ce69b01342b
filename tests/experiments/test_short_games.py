"""An algorithm that can release nothing in a game says so wherever its regret is shown."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import algorithm_names, compare, make_algorithm
from tests.tools.playable import BANDITS


@pytest.mark.parametrize("name", ["DP-SE", "GOPE", "DP-UCB-INT", "DP-GOPE", "UCB"])
def test_tables_and_reports_say_so(name, tmp_path):
    """With 60 rounds and five arms the first block of DP-SE and the first batch of GOPE are longer."""
    silent = name not in ("DP-UCB-INT", "UCB")
    played = compare("Stochastic:n_arms=5", [name], horizon=60, trials=2)
    words = "released nothing in 60 rounds"
    assert (words in played.table()) is (words in played.table(wide=True)) is silent
    assert (words in played.report(tmp_path / "out").text) is silent


@pytest.mark.parametrize("name", [name for name in algorithm_names() if name in BANDITS])
def test_the_first_release_comes_when_it_is_said_to(name):
    """Each algorithm's wrappers, one arm all the time: nothing before, something then."""
    algorithm = make_algorithm(name)
    game = gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=3000)
    first = algorithm.first_release_in(game)
    env = algorithm.wrap(game)
    env.reset(seed=0)
    steps = int(env.get_wrapper_attr("horizon"))
    batch = 3000 // steps
    for step in range(1, min(steps, 1 + first // batch) + 1):
        seen = env.step(0)[0]
        released = bool(np.any(seen["observed" if "observed" in seen else "count"]))
        assert released is (step * batch >= first)
        if released:
            return
    assert first > 3000
